"""Reference counts of arrays: one that has no other references can be written to, or moved instead of copied."""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np

from leafgrad._core import thread_state
from leafgrad._core.node import Array
from leafgrad._core.tensor import SparseArrayBase, ndarray

Gradient = Any  # an ndarray or NumPy scalar; a tensor under create_graph
state: Final[Any] = thread_state.state
getrefcount: Final[Any] = sys.getrefcount
WORTH_REUSING: Final = 16_384  # elements


def is_free(saved: tuple[Any, ...], index: int, g: Gradient) -> bool:
    """Whether a saved array has the gradient's shape and dtype, is worth the question and has no other references. A
    rule asks before it gives the array a name, which is one."""
    if g.size < WORTH_REUSING or references(saved, index) != SAVED_ONLY:
        return False
    value = saved[index]
    return type(value) is ndarray and value.base is None and value.shape == g.shape and value.dtype is g.dtype


def references(saved: tuple[Any, ...], index: int) -> int:
    value = saved[index]
    return int(getrefcount(value))


# The count if only the saved values refer to it. It is not the same number in the compiled form.
SAVED_ONLY: Final[int] = references((object(),), 0)


def holders(view: Any) -> int:
    """How many references there are to the array that this is a view of."""
    return int(getrefcount(view.base))


HELD_ONCE: Final[int] = holders(np.zeros(1).view())


def movable(g: Gradient, form: Array) -> Any:
    """The array that a gradient is a view of, if it shows all of it and nothing else refers to it: it may become
    `.grad` as it is, as in PyTorch. None if the gradient has to be copied."""
    if type(g) is not ndarray or type(g.base) is not ndarray or g.base.shape != g.shape:
        return None
    if holders(g) > HELD_ONCE:
        return None
    memory = g.base
    whole = memory.base is None and memory.strides == g.strides and memory.dtype is g.dtype and memory.flags.writeable
    return memory if whole and (g.strides == form.strides or not state.keep_layout) else None


def last_view(g: Gradient) -> Gradient:
    """A new view of a gradient, for `movable`: a hook or Function that has kept the gradient refers to the array, or to
    another view of it, so the reference count of the array tells whether it may be moved."""
    return g.view() if type(g) is ndarray or isinstance(g, SparseArrayBase) else g
