"""Transformers: layers, stacks of them, and an encoder with a decoder."""

from __future__ import annotations

from typing import Any

from module_cases import Case

SMALL = {"dim_feedforward": 6, "dropout": 0.2}


def padded(module: Any, x: Any) -> Any:
    """Of two sequences of three places the last place of the second is padding."""
    mask = x.new_zeros(2, 3).bool()
    mask[1, 2] = True
    return module(x, src_key_padding_mask=mask)


def padded_without_recording(module: Any, x: Any) -> Any:
    """The same, and in evaluation as programs do it: what is padding becomes zero."""
    if module.training:
        return padded(module, x)
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return padded(module, x.detach())


def causal(module: Any, x: Any, *others: Any) -> Any:
    length = x.shape[1 if getattr(module, "batch_first", False) else 0]
    mask = x.new_full((length, length), float("-inf")).triu(1)
    return module(x, *others, mask)


def of_both(module: Any, src: Any, tgt: Any) -> Any:
    length = tgt.shape[1 if module.batch_first else 0]
    return module(src, tgt, tgt_mask=module.generate_square_subsequent_mask(length, dtype=tgt.dtype))


ROWS = {
    "TransformerEncoderLayer": Case(lambda nn: nn.TransformerEncoderLayer(4, 2, **SMALL), (3, 2, 4)),
    "TransformerEncoderLayer norm first": Case(
        lambda nn: nn.TransformerEncoderLayer(4, 2, 5, 0.0, nn.Tanh(), norm_first=True, bias=False), (3, 2, 4),
        call=causal,
    ),
    "TransformerEncoderLayer with padding": Case(
        lambda nn: nn.TransformerEncoderLayer(4, 2, **SMALL, batch_first=True), (2, 3, 4), call=padded
    ),
    "TransformerDecoderLayer": Case(
        lambda nn: nn.TransformerDecoderLayer(4, 2, **SMALL), (3, 2, 4), (5, 2, 4), call=causal
    ),
    "TransformerDecoderLayer norm first": Case(
        lambda nn: nn.TransformerDecoderLayer(4, 1, **SMALL, norm_first=True, batch_first=True), (2, 3, 4), (2, 5, 4)
    ),
    "TransformerEncoder": Case(
        lambda nn: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(4, 2, **SMALL, batch_first=True), 2, nn.LayerNorm(4)
        ), (2, 3, 4), call=padded,
    ),
    "TransformerEncoder forgets padding": Case(
        lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, **SMALL, batch_first=True), 2),
        (2, 3, 4), call=padded_without_recording,
    ),
    "TransformerDecoder": Case(
        lambda nn: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, **SMALL), 2), (3, 2, 4), (5, 2, 4),
        call=causal,
    ),
    "Transformer": Case(
        lambda nn: nn.Transformer(8, 2, 1, 1, 4, norm_first=True), (3, 2, 8), (2, 2, 8), call=of_both
    ),
    "Transformer of one sequence": Case(
        lambda nn: nn.Transformer(4, 2, 1, 1, 6, 0.0, batch_first=True, norm_first=False, layer_norm_eps=1e-3),
        (3, 4), (2, 4),
    ),
}  # fmt: skip
