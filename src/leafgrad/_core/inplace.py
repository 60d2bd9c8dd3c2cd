"""In-place operations that compute straight into the memory they change. Hot, compiled.

In general an in-place operation computes its result elsewhere and copies it (leafgrad/ops/inplace.py), which is always
right. Nearly all of them are simpler: floats of one dtype, a result that has the shape of the target, nobody who has
to be told. `change` does those; where anything is unusual, also anything that is an error, it leaves everything as it
was and returns False, and the general way is taken.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from leafgrad._core import origin
from leafgrad._core.op import Op
from leafgrad._core.recorder import TensorBase, constant, late, make_node, ndarray, number, state, wrap
from leafgrad.kernels import NATIVE, multiply

_f32: Final[Any] = np.dtype(np.float32)
_f64: Final[Any] = np.dtype(np.float64)
_multiply: Final[Any] = multiply
# NumPy's ufuncs take three times as long for a single element if they are given an array for the result
_SINGLE: Final[int] = -1 if NATIVE else 1


def change(op: Op, kernel: Any, x: Any, b: Any, alpha: Any) -> bool:
    """x = op(x), or op(x, b) with a tensor or number b, or with alpha (if not None) times a tensor b: done?

    `kernel` is what op computes with. It takes an array for its result as one more argument.
    """
    recording = state.grad_enabled  # first of all, see _core.single
    if not isinstance(x, TensorBase):
        return False
    if op.forward is not kernel or late.intercepting or late.transforms != 0:  # somebody watches
        return False
    if late.tangents is not None or late.mutation is not None:
        return False
    array = x.array
    kind = array.dtype
    if (kind is not _f32 and kind is not _f64) or 0 in array.strides:  # expanded: it may be refused
        return False
    y: Any = None
    other: TensorBase | None = None
    if b is not None:
        if isinstance(b, TensorBase):
            y = b.array
            if y.dtype is not kind or (b.version is x.version and b is not x):  # they may overlap
                return False
            other = b
        elif b.__class__ is float or b.__class__ is int:
            y = constant(b, kind)
            other = number
        else:
            return False
        if other.extra is not None and may_change(other):
            return False
        if alpha is not None:
            if other is number or other.needs_grad or not (alpha.__class__ is float or alpha.__class__ is int):
                return False
            y = _multiply(y, constant(alpha, kind))
    if x.extra is not None and (x.extra.inference or (recording and may_change(x))):
        return False
    recorded = False
    if recording and (x.needs_grad or (other is not None and other.needs_grad)):
        if recording is not True or b is x or (x.needs_grad and x.node is None):
            return False
        if x.extra is not None and (x.extra.view is not None or x.extra.retains_grad or x.extra.hooks is not None):
            return False
        if other is not None and other.extra is not None and other.extra.inference:  # saving it may be refused
            return False
        recorded = True
    before = x  # what the rule takes for the input: its old values must survive if it needs them
    if recorded:
        mask = (1 if x.needs_grad else 0) + (2 if other is not None and other.needs_grad else 0)
        if 0 in op.plan(mask):
            before = wrap(array.copy())
            before.needs_grad = x.needs_grad
            before.node = x.node
    try:
        if array.size == _SINGLE:
            if other is None:
                array[...] = kernel(array)
            elif y.ndim > array.ndim:  # an assignment would take it
                return False
            else:
                array[...] = kernel(array, y)
        elif other is None:
            kernel(array, array)
        else:
            kernel(array, y, array)
    except ValueError:  # shapes that do not fit, memory that is read-only
        return False
    count_change(x)
    if recorded:
        tensors = (before,) if other is None else (before, other)
        arrays = (before.array,) if other is None else (before.array, y)
        x.node = make_node(op, tensors, arrays, (), (array,), (x.version,), array.shape, kind)
        x.needs_grad = True
    return True


def is_free(x: TensorBase, b: Any = None, c: Any = None) -> bool:
    """Is there nothing to do about a change of x but to write, and to count it (`count_change`)? That is, is nothing
    recorded and does nobody have to be told. `b` and `c` are what the new values come from, if those are tensors."""
    recording = state.grad_enabled  # first of all, see _core.single
    if late.intercepting or late.transforms != 0 or late.tangents is not None or late.mutation is not None:
        return False
    array = x.array
    if array.__class__ is not ndarray or 0 in array.strides:
        return False
    if x.extra is not None and (x.extra.inference or (recording and may_change(x))):
        return False
    if recording and x.needs_grad:
        return False
    return (b is None or is_constant(x, b, recording)) and (c is None or is_constant(x, c, recording))


def is_constant(x: TensorBase, b: Any, recording: Any) -> bool:
    """Is `b` a number, or a tensor without history that does not share the memory of x?"""
    if not isinstance(b, TensorBase):
        return True
    if b.array.__class__ is not ndarray or b.version is x.version:
        return False
    return not (recording and (b.needs_grad or (b.extra is not None and may_change(b))))


def count_change(x: TensorBase) -> None:
    """Count a change of the memory behind x, and remember the line for the error message it may cause."""
    frame = origin.user_frame()
    version = x.version
    version[:] = [version[0] + 1, frame.f_code, frame.f_lasti]


def may_change(t: TensorBase) -> bool:
    """Is this a view whose history depends on what happens to its base?"""
    assert t.extra is not None
    view = t.extra.view
    return view is not None and (view.base.needs_grad or view.restriction == "custom")
