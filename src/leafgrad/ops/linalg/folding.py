"""How PyTorch composes a product of more than two dimensions, which leafgrad computes in one step.

It folds the larger operand into a tall matrix if that takes no copy, or if the other one, which would have to be
repeated for the whole batch, needs a gradient. Otherwise both become batches of matrices. What it reshapes, transposes
and copies on the way is what its graph shows.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np


class Operand(NamedTuple):
    """What decides of an operand: shape, strides, is a gradient wanted for it; and how the graph shows it."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]  # in elements
    needs_grad: bool
    shown: str

    def transposed(self, node: str) -> Operand:
        shape, strides = self.shape, self.strides
        return Operand(
            (*shape[:-2], shape[-1], shape[-2]), (*strides[:-2], strides[-1], strides[-2]),
            self.needs_grad, f"{node}({self.shown})",
        )  # fmt: skip


def composition(a: Any, a_needs: bool, b: Any, b_needs: bool) -> str:
    """The nodes of `a @ b`, of which one has more than two dimensions."""
    return _composition(a.itemsize, a.shape, a.strides, a_needs, b.shape, b.strides, b_needs)


@functools.lru_cache(1024)
def _composition(size: int, a: Any, a_strides: Any, a_needs: bool, b: Any, b_strides: Any, b_needs: bool) -> str:
    first = Operand(a, tuple([step // size for step in a_strides]), a_needs, "input")
    return product(first, Operand(b, tuple([step // size for step in b_strides]), b_needs, "other"))


def product(a: Operand, b: Operand) -> str:
    larger_first = len(a.shape) >= len(b.shape)
    if larger_first:
        large, small = a, b
    else:
        large, small = b.transposed("TransposeBackward0"), a.transposed("TBackward0") if len(a.shape) == 2 else a
    if len(small.shape) <= 2 and folds(large, small, len(a.shape) == 2):
        return folded(large, small, larger_first)
    if len(a.shape) == 3 == len(b.shape) and a.shape[0] != b.shape[0]:
        if a.shape[0] == 1 and a.needs_grad:
            return product(without_batch(a), b)
        if b.shape[0] == 1 and b.needs_grad:
            return product(a, without_batch(b))
    return batched(a, b)


def folds(large: Operand, small: Operand, is_matrix_first: bool) -> bool:
    if small.needs_grad:
        return True
    if is_matrix_first:
        return False
    shape, strides = large.shape, large.strides
    return 0 in shape or all([strides[i] == strides[i + 1] * shape[i + 1] for i in range(len(shape) - 2)])


def folded(large: Operand, small: Operand, larger_first: bool) -> str:
    tall = reshaped(large, (math.prod(large.shape[:-1]), large.shape[-1]))
    if len(small.shape) == 1:
        return f"UnsafeViewBackward0(MvBackward0({tall}, {small.shown}))"
    found = f"UnsafeViewBackward0(MmBackward0({tall}, {small.shown}))"
    if larger_first:
        return found
    found = f"TransposeBackward0({found})"
    return found if lies_in_rows(large.shape[:-2] + (small.shape[1], large.shape[-2])) else f"CloneBackward0({found})"


def lies_in_rows(shape: tuple[int, ...]) -> bool:
    """Are matrices of this shape row by row in memory if they are transposed ones that are? Those with one row are."""
    return 0 in shape or 1 in shape[-2:]


def without_batch(operand: Operand) -> Operand:
    return Operand(operand.shape[1:], operand.strides[1:], operand.needs_grad, f"SqueezeBackward1({operand.shown})")


def batched(a: Operand, b: Operand) -> str:
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    rows, columns = a.shape[-2] if len(a.shape) > 1 else 1, a.shape[-1]
    if len(b.shape) == 1:
        b = Operand((*b.shape, 1), (*b.strides, 1), b.needs_grad, f"UnsqueezeBackward0({b.shown})")
        found = "UnsafeViewBackward0(SqueezeBackward1(BmmBackward0({}, {})))"
    else:
        found = "UnsafeViewBackward0(BmmBackward0({}, {}))"
    return found.format(
        repeated(a, (*batch, rows, columns), len(batch)), repeated(b, (*batch, *b.shape[-2:]), len(batch))
    )


def repeated(operand: Operand, shape: tuple[int, ...], batch: int) -> str:
    """An operand for every matrix of a batch, whose dimensions become one."""
    missing = len(shape) - len(operand.shape)
    strides = [0] * missing + [
        step if size == wide else 0
        for step, size, wide in zip(operand.strides, operand.shape, shape[missing:], strict=True)
    ]
    wide = Operand(shape, tuple(strides), operand.needs_grad, f"ExpandBackward0({operand.shown})")
    return reshaped(wide, (math.prod(shape[:batch]), *shape[batch:]))


def reshaped(operand: Operand, shape: tuple[int, ...]) -> str:
    """As a view where that is possible, which NumPy is asked, and as a copy otherwise."""
    memory = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), operand.shape, operand.strides)
    if memory.flags.c_contiguous:
        return f"ViewBackward0({operand.shown})"
    try:
        memory.reshape(shape, copy=False)
    except ValueError:
        return f"UnsafeViewBackward0(CloneBackward0({operand.shown}))"
    return f"ReshapeAliasBackward0({operand.shown})"
