"""Changes in place that compute straight into the memory they change. Hot, compiled.

In general an in-place operation computes a new array and copies it (leafgrad/ops/inplace.py). Nearly all of them are
simpler: floats of one dtype, a result that has the shape of the target, no mode on. `change` does those. In all other
cases, errors included, it changes nothing and returns False, and the caller takes the general way.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from leafgrad._core import origin, overrides, thread_state
from leafgrad._core.bind import execute
from leafgrad._core.modes import switches
from leafgrad._core.op import Op
from leafgrad._core.recorder import make_node
from leafgrad._core.tensor import Array, TensorBase, conjugate_behind, constant, links, ndarray, number, wrap
from leafgrad.kernels import NATIVE, multiply

state: Final[Any] = thread_state.state
plain: Final[Any] = overrides.plain
shared_modes: Final[Any] = thread_state.shared_modes
_f32: Final[Any] = np.dtype(np.float32)
_f64: Final[Any] = np.dtype(np.float64)
_multiply: Final[Any] = multiply
_SURE: Final[float] = 3e38  # less than the largest float32
# NumPy's ufuncs take three times as long for a single element if they are given an array for the result
_SINGLE: Final[int] = -1 if NATIVE else 1


def change(op: Op, x: Any, b: Any, alpha: Any, by_number: Op) -> bool:
    """x = op(x), or op(x, b) with a tensor b or, if alpha is not None, alpha b, or by_number(x, b) with a number: done?

    The kernels take an array for the result as one more argument.
    """
    recording = state.recording  # first of all, see bind.execute
    if not isinstance(x, TensorBase) or (switches.modes and in_modes()):
        return False
    array = x.array
    kind = array.dtype
    if (kind is not _f32 and kind is not _f64) or 0 in array.strides:  # expanded: it may be refused
        return False
    y: Any = None
    other: TensorBase | None = None
    if b is not None:
        if isinstance(b, TensorBase):
            if b.__class__ not in plain:
                return False
            y = b.array
            if y.dtype is not kind or (b.version is x.version and b is not x):  # they may overlap
                return False
            other = b
        elif type(b) is float or type(b) is int:
            y = constant(b, kind)
            other = number
            op = by_number
        else:
            return False
        if other.rare is not None and (may_change(other) or conjugate_behind(other) is not None):
            return False
        if alpha is not None:
            if other is number or other.needs_grad or not (type(alpha) is float or type(alpha) is int):
                return False
            if alpha > _SURE or alpha < -_SURE:  # it may be refused
                return False
            y = _multiply(y, constant(alpha, kind))
    if x.rare is not None and (x.rare.inference or (recording and may_change(x)) or conjugate_behind(x) is not None):
        return False
    recorded = recording and (x.needs_grad or (other is not None and other.needs_grad))
    if recorded and (b is x or not may_record(x, other)):
        return False
    before = x  # what the rule takes for the input: its old values must survive if it needs them
    if recorded:
        mask = (1 if x.needs_grad else 0) + (2 if other is not None and other.needs_grad else 0)
        if 0 in op.plan(mask):
            before = wrap(array.copy())
            before.needs_grad = x.needs_grad
            before.node = x.node
    try:
        if not compute_into(op, array, y):
            return False
    except ValueError:  # shapes that do not fit, memory that is read-only
        return False
    count_change(x, 2, 1)
    if recorded:
        tensors = (before,) if other is None else (before, other)
        arrays = (before.array,) if other is None else (before.array, y)
        x.node = make_node(op, tensors, arrays, (), (array,), (x.version,), array.shape, kind)
        x.needs_grad = True
    return True


def compute_into(op: Op, array: Array, y: Any) -> bool:
    """array = op(array), or op(array, y): done?"""
    kernel = op.kernel
    if array.size == _SINGLE:
        if y is None:
            array[...] = kernel(array)
        elif y.ndim > array.ndim:  # an assignment would take it
            return False
        else:
            array[...] = kernel(array, y)
    elif y is None:
        kernel(array, array)
    else:
        kernel(array, y, array)
    return True


def may_record(x: TensorBase, other: TensorBase | None) -> bool:
    """Is a recorded change of x one that makes a node and nothing else?"""
    if x.needs_grad and x.node is None:
        return False
    if x.rare is not None and (x.rare.view is not None or x.rare.retains_grad or x.rare.hooks is not None):
        return False
    return other is None or other.rare is None or not other.rare.inference  # else saving it may be refused


def in_modes() -> bool:
    """Is any mode on in this thread, also one that only wants to see changes in place?"""
    return bool(state.modes) or bool(shared_modes)


def is_free(x: TensorBase, b: Any = None, c: Any = None) -> bool:
    """Does a change of x consist of writing and `count_change` only, because nothing is recorded and no mode is on? `b`
    and `c` are what the new values are computed from."""
    recording = state.recording  # first of all, see bind.execute
    if switches.modes and in_modes():
        return False
    array = x.array
    if type(array) is not ndarray or 0 in array.strides:
        return False
    if x.rare is not None and (x.rare.inference or (recording and may_change(x)) or conjugate_behind(x) is not None):
        return False
    if recording and x.needs_grad:
        return False
    return (b is None or is_constant(x, b, recording)) and (c is None or is_constant(x, c, recording))


def is_constant(x: TensorBase, b: Any, recording: Any) -> bool:
    """Is `b` a number, or a tensor without history that does not share the memory of x?"""
    if not isinstance(b, TensorBase):
        return True
    if type(b.array) is not ndarray or b.version is x.version:
        return False
    if b.rare is not None and conjugate_behind(b) is not None:  # it may have to be brought up to date first
        return False
    return not (recording and (b.needs_grad or (b.rare is not None and may_change(b))))


def assign(x: TensorBase, values: Array) -> None:
    """Write values, broadcast and converted, into the memory of x, and count the change."""
    execute(links.assign, (values,), (), x.array)
    count_change(x)


def write(x: TensorBase, op: Op, arguments: tuple[Any, ...]) -> None:
    """Write what an operation makes of arrays (and options) into the memory of an x that `is_free`, and count the
    change. No mode is on, so `execute` need not ask. The kernel takes an array for its result as one more argument."""
    kernel = op.kernel
    if len(arguments) == 1:  # a tenth of the time of zero_()
        kernel(arguments[0], x.array)
    else:
        kernel(*arguments, x.array)
    count_change(x)


def count_change(x: TensorBase, known: int = 1, methods: int = 0) -> None:
    """Increase the version counter of x, and note the user's line for the error message that it may cause. The numbers
    of callers are those of `user_frame`."""
    frame = origin.user_frame(None, known, methods)
    version = x.version
    version[0] += 1
    version[1] = (frame.f_code, frame.f_lasti)


def may_change(t: TensorBase) -> bool:
    """Is this a view whose history depends on what happens to its base?"""
    assert t.rare is not None
    view = t.rare.view
    return view is not None and (view.base.needs_grad or view.restriction == "custom")
