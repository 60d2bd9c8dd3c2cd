"""Tables of vectors, one for each word."""

from __future__ import annotations

from typing import Any, Self

from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.nn import functional as F
from leafgrad.nn import init
from leafgrad.nn.modules.linear import uninitialized
from leafgrad.nn.modules.module import Module
from leafgrad.nn.parameter import Parameter
from leafgrad.ops.signature import Device, Dtype

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """`num_embeddings` vectors with `embedding_dim` elements each."""

    padding_idx: int | None

    def _make_weight(
        self,
        shape: tuple[int, int],
        padding_idx: int | None,
        given: Any,
        freeze: bool,
        device: Device | None,
        dtype: Dtype | None,
    ) -> None:
        self.num_embeddings, self.embedding_dim = shape
        if padding_idx is not None:
            if not -shape[0] <= padding_idx < max(shape[0], 1):
                first = "P" if isinstance(self, Embedding) else "p"  # as PyTorch writes it
                raise AssertionError(f"{first}adding_idx must be within num_embeddings")
            padding_idx = padding_idx + shape[0] if padding_idx < 0 else padding_idx
        self.padding_idx = padding_idx
        if given is not None:
            if tuple(given.shape) != shape:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(given, requires_grad=not freeze)
        else:
            self.weight = uninitialized(shape, dtype, device).requires_grad_(not freeze)
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """reset_parameters(): new vectors from N(0, 1); zeros for the padding."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


def sizes_of(embeddings: Tensor) -> tuple[int, int]:
    """The number of vectors in a table that is there already, and their length."""
    if embeddings.ndim != 2:
        raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
    rows, columns = embeddings.shape
    return rows, columns


class Embedding(_Table):
    """Embedding(num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
    scale_grad_by_freq=False, sparse=False, device=None, dtype=None): a vector for each index; that of `padding_idx` is
    zero and learns nothing."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._make_weight((num_embeddings, embedding_dim), padding_idx, _weight, _freeze, device, dtype)
        self.sparse = sparse

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        shown = [f"{self.num_embeddings}", f"{self.embedding_dim}"]
        shown += [f"padding_idx={self.padding_idx}"] if self.padding_idx is not None else []
        return ", ".join([*shown, *limits(self)])

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """from_pretrained(embeddings, freeze=True, padding_idx=None, ...): a table that is there already."""
        return cls(
            *sizes_of(embeddings),
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
            _weight=embeddings,
            _freeze=freeze,
        )


def limits(table: Any) -> list[str]:
    """What the printed form says of the options that tables have in common, where they are not the usual ones."""
    shown = [f"max_norm={table.max_norm}"] if table.max_norm is not None else []
    shown += [f"norm_type={table.norm_type}"] if table.norm_type != 2 else []
    return shown + (["scale_grad_by_freq=True"] if table.scale_grad_by_freq else [])


class EmbeddingBag(_Table):
    """EmbeddingBag(num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode='mean',
    sparse=False, include_last_offset=False, padding_idx=None, device=None, dtype=None): the sum, mean or maximum of the
    vectors of each bag of indices."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Any = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._make_weight((num_embeddings, embedding_dim), padding_idx, _weight, False, device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None) -> Tensor:
        return F.embedding_bag(
            input,
            self.weight,
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    def extra_repr(self) -> str:
        shown = [f"{self.num_embeddings}", f"{self.embedding_dim}", *limits(self), f"mode={self.mode!r}"]
        return ", ".join([*shown, *([f"padding_idx={self.padding_idx}"] if self.padding_idx is not None else [])])

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:
        """from_pretrained(embeddings, freeze=True, max_norm=None, ...): a table that is there already."""
        made = cls(
            *sizes_of(embeddings),
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        made.weight.requires_grad = not freeze
        return made
