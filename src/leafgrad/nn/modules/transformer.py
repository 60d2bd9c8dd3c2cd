"""Transformers: layers of attention and feed-forward networks, stacks of them, and an encoder with a decoder."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import wrap
from leafgrad._core.thread_state import state
from leafgrad._dtypes import get_default_dtype
from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn import init
from leafgrad.nn.modules._own_names import named_by_subclass
from leafgrad.nn.modules.attention import MultiheadAttention
from leafgrad.nn.modules.container import ModuleList
from leafgrad.nn.modules.dropout import Dropout
from leafgrad.nn.modules.linear import Linear
from leafgrad.nn.modules.module import Module
from leafgrad.nn.modules.normalization import LayerNorm
from leafgrad.ops.signature import Device, Dtype

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = str | Callable[[Any], Any]

# -- layers -----------------------------------------------------------------------------------------------------------


@named_by_subclass("__init__")
class _TransformerLayer(Module):
    """What the layers of encoder and decoder have in common: one or two attentions and a feed-forward network, each
    with dropout, a shortcut around it and a LayerNorm, before it (`norm_first`) or after the shortcut."""

    attentions: tuple[str, ...]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        made: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        for name in self.attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, **made))
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        parts = range(1, len(self.attentions) + 2)
        for k in parts:
            setattr(self, f"norm{k}", LayerNorm(d_model, eps=layer_norm_eps, **made))
        for k in parts:
            setattr(self, f"dropout{k}", Dropout(dropout))
        self._activate_by(function_called(activation) if isinstance(activation, str) else activation)

    def _activate_by(self, activation: Callable[[Any], Any]) -> None:
        self.activation = activation

    def _around(self, x: Any, k: int, part: Callable[[Any], Any]) -> Any:
        """One of the parts with its LayerNorm, its dropout and the shortcut around it."""
        norm, dropout = getattr(self, f"norm{k}"), getattr(self, f"dropout{k}")
        return x + dropout(part(norm(x))) if self.norm_first else norm(x + dropout(part(x)))

    def _feed_forward(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


def function_called(name: str) -> Callable[[Any], Any]:
    if name not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {name}")
    function: Callable[[Any], Any] = getattr(F, name)
    return function


def attended(
    attention: Any, x: Any, memory: Any, mask: Any, padding: Any, is_causal: bool, need_weights: bool = False
) -> Any:
    """What an attention finds, without its weights; `memory` is None where a sequence attends to itself."""
    others = x if memory is None else memory
    options = {"attn_mask": mask, "key_padding_mask": padding, "is_causal": is_causal}
    return attention(x, others, others, need_weights=need_weights, **options)[0]


class TransformerEncoderLayer(_TransformerLayer):
    """TransformerEncoderLayer(d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=relu, layer_norm_eps=1e-05,
    batch_first=False, norm_first=False, bias=True): attention of a sequence to itself, then a network of two linear
    layers."""

    attentions = ("self_attn",)

    activation_relu_or_gelu: int  # 1 for relu, 2 for gelu, 0 for another activation

    def _activate_by(self, activation: Callable[[Any], Any]) -> None:
        name = getattr(activation, "__name__", type(activation).__name__).lower()
        self.activation_relu_or_gelu = {"relu": 1, "gelu": 2}.get(name, 0)
        super()._activate_by(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Any:
        own, padding = self.self_attn, src_key_padding_mask
        plainly = self.activation_relu_or_gelu != 0 and own._finds_nan(src, padding, src_mask)
        attend = lambda x: attended(own, x, None, src_mask, padding, is_causal, plainly)
        return self._around(self._around(src, 1, attend), 2, self._feed_forward)


class TransformerDecoderLayer(_TransformerLayer):
    """TransformerDecoderLayer(d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=relu, layer_norm_eps=1e-05,
    batch_first=False, norm_first=False, bias=True): attention of a sequence to itself, then to what an encoder has made
    of another one, then a network of two linear layers."""

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        own = lambda x: attended(self.self_attn, x, None, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = lambda x: attended(
            self.multihead_attn, x, memory, memory_mask, memory_key_padding_mask, memory_is_causal
        )
        return self._around(self._around(self._around(tgt, 1, own), 2, other), 3, self._feed_forward)


# -- stacks -----------------------------------------------------------------------------------------------------------


def copies(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


def is_causal_mask(mask: Any, known: bool | None, length: int) -> bool:
    """Does a mask hide from each place those after it, and nothing else? Asked only if nobody said it."""
    if known is not None or mask is None:
        return known is True
    return tuple(mask.shape) == (length, length) and bool((mask == subsequent_mask(length, mask.dtype)).all())


def subsequent_mask(length: int, kind: Any) -> Any:
    mask = np.triu(np.full((length, length), -np.inf), 1)
    return wrap(mask.astype(np.bool_) if kind.np.kind == "b" else mask.astype(kind.np))


def length_of(x: Any, batch_first: bool) -> int:
    length: int = x.shape[1 if x.dim() == 3 and batch_first else 0]
    return length


class TransformerEncoder(Module):
    """TransformerEncoder(encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True): copies of a
    layer, one after the other, and a last norm."""

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        why_not = reason_against_nesting(encoder_layer) if enable_nested_tensor else ""
        self.use_nested_tensor = enable_nested_tensor and not why_not
        if why_not:
            errors.warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because encoder_layer{why_not}"
            )

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Any:
        length = length_of(src, self.layers[0].self_attn.batch_first)
        causal = is_causal_mask(mask, is_causal, length)
        x: Any = src
        padding: Any = src_key_padding_mask
        forgets = padding is not None and self._forgets_padding(src, mask, padding)
        if forgets:
            padding = padding_at_the_end(padding)
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if forgets:
            x = x.masked_fill(padding.unsqueeze(-1), 0.0)
        return x if self.norm is None else self.norm(x)

    def _forgets_padding(self, src: Any, mask: Any, padding: Any) -> bool:
        """In evaluation PyTorch leaves out what is padding, if it can, and the result is zero there."""
        if not self.use_nested_tensor or self.layers[0].training or src.dim() != 3 or mask is not None:
            return False
        hidden = padding.array != 0
        at_the_end = bool((hidden[:, 1:] >= hidden[:, :-1]).all())
        parameters = self.layers[0].parameters()
        records = state.recording and (src.requires_grad or any([p.requires_grad for p in parameters]))
        return (at_the_end or not self.mask_check) and not records


def padding_at_the_end(padding: Any) -> Any:
    """A mask that hides as much of each sequence as another one, at its end."""
    hidden = padding.array != 0
    if hidden.all():
        raise RuntimeError("to_padded_tensor: at least one constituent tensor should have non-zero numel")
    return wrap(np.sort(hidden, 1))


def reason_against_nesting(layer: Any) -> str:
    """Why PyTorch would not leave out padding in layers like this one; "" if it would."""
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    attention: Any = layer.self_attn
    reasons = {
        ".norm_first was True": layer.norm_first,
        ".self_attn.batch_first was not True(use batch_first for better inference performance)": (
            not attention.batch_first
        ),
        ".self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        ".self_attn was passed bias=False": attention.in_proj_bias is None,
        ".activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        ".norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        ".self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


class TransformerDecoder(Module):
    """TransformerDecoder(decoder_layer, num_layers, norm=None): copies of a layer, one after the other, and a last
    norm."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        length = length_of(tgt, self.layers[0].self_attn.batch_first)
        options: dict[str, Any] = {
            "tgt_mask": tgt_mask,
            "memory_mask": memory_mask,
            "tgt_key_padding_mask": tgt_key_padding_mask,
            "memory_key_padding_mask": memory_key_padding_mask,
            "tgt_is_causal": is_causal_mask(tgt_mask, tgt_is_causal, length),
            "memory_is_causal": memory_is_causal,
        }
        x = tgt
        for layer in self.layers:
            x = layer(x, memory, **options)
        return x if self.norm is None else self.norm(x)


class Transformer(Module):
    """Transformer(d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1,
    activation=relu, custom_encoder=None, custom_decoder=None, layer_norm_eps=1e-05, batch_first=False,
    norm_first=False, bias=True): an encoder of one sequence, and a decoder of another that attends to it."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first)
        made: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        if custom_encoder is None:
            first, norm = TransformerEncoderLayer(*layer, **made), LayerNorm(d_model, eps=layer_norm_eps, **made)
            custom_encoder = TransformerEncoder(first, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            second, norm = TransformerDecoderLayer(*layer, **made), LayerNorm(d_model, eps=layer_norm_eps, **made)
            custom_decoder = TransformerDecoder(second, num_decoder_layers, norm)
        self.decoder = custom_decoder
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Device | None = None, dtype: Dtype | None = None) -> Any:
        """generate_square_subsequent_mask(sz, device=None, dtype=None): a mask that hides later places: -inf there, 0
        elsewhere."""
        return subsequent_mask(sz, get_default_dtype() if dtype is None else dtype).to(device)
