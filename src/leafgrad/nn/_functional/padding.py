"""Padding."""

from __future__ import annotations

from leafgrad import errors
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.arguments import declared_and_checked
from leafgrad.ops.conv.padding import constant_pad_nd, pad_with_own
from leafgrad.ops.signature import Shape, Tensor

__all__ = ["pad"]


@overridable
@declared_and_checked
def pad(input: Tensor, pad: Shape, mode: str = "constant", value: float | None = None) -> Tensor:
    """pad(input, pad, mode='constant', value=None): more elements around the last dimensions, pad = (left, right, top,
    bottom, ...): `value`, or own elements, with mode 'reflect', 'replicate' or 'circular'."""
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise errors.mistake(NotImplementedError, f"Unrecognised padding mode {mode}")
    if len(pad) % 2:
        raise errors.mistake(RuntimeError, "Padding length must be divisible by 2")
    if len(pad) > 2 * input.array.ndim:
        raise errors.mistake(
            RuntimeError,
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.array.ndim}",
            ("input", errors.describe(input)),
        )
    if mode == "constant":
        return constant_pad_nd.function(input, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise errors.mistake(RuntimeError, f'Padding mode "{mode}" doesn\'t take in value argument')
    return pad_with_own.function(input, pad, mode)
