"""In-place forms that change how a tensor looks at memory, not what is there: t_, squeeze_, ..., set_, resize_.

The tensor keeps its identity and counts a change; its array and its history are those of the out-of-place form. Views
of it keep looking where they looked: `views.current_steps` finds out where that is in the new shape.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.inplace import count_change
from leafgrad._core.modes import current_modes, switches
from leafgrad._core.op import GradientRules, Op
from leafgrad._core.recorder import make_node
from leafgrad._core.tensor import TensorBase, View, links, wrap
from leafgrad._core.thread_state import state
from leafgrad._layouts import copy_in_format
from leafgrad.ops.arguments import checked
from leafgrad.ops.creation.fresh import fresh
from leafgrad.ops.inplace import check_writable, stand_in
from leafgrad.ops.public_forms import checked_methods
from leafgrad.ops.shape.strides import Geometry, as_strided, memory_of, offset_in_memory
from leafgrad.ops.shape.views import shape_arguments, squeeze, t, transpose, unsqueeze
from leafgrad.ops.signature import Dim, MemoryFormat, Shape, Sizes, Tensor, declared


def look_through(x: Any, operation: Any, *args: Any) -> Any:
    """Make `x` what the view `operation.function(x, *args)` is."""
    check_writable(x)
    old = stand_in(x)
    seen = operation.function(old, *args)
    x.array = array = seen.array
    switches.reshaped = True
    count_change(x)
    known = x.rare.view if x.rare is not None else None
    (step,) = seen.rare.view.steps
    if known is not None:
        steps = (*known.steps, step)
        if operation is as_strided:
            steps = ((as_strided, (Geometry.between(known.base.array, array),)),)
        x.rare.view = View(known.base, steps, known.restriction)
        x.rare.view.silent = known.silent
        if not state.recording:
            x.rare.view.node_version = known.node_version  # its history is out of date now
    if seen.node is not None and old.node is not None:
        names = [operation.core.node_name, *operation.named]  # the second half of them is for the in-place form
        in_place = operation.named[names[names.index(seen.node.op.node_name) + len(names) // 2]]
        seen.node.op = in_place.conjugated if in_place.conjugated and array.dtype.kind == "c" else in_place
        seen.node.op.gradient_rules()  # which are the same, but have to be read
        links.give_history(x, seen.node)
    for mode in current_modes():
        mode.reshaped(x, *step)
    return x


def view_in_place(name: str, operation: Any) -> Any:
    """The in-place form of a view, under the name `name`."""

    def method(self: Any, *args: Any) -> Any:
        if name != f"{operation.name}_":  # another name of it
            return METHODS[f"{operation.name}_"](self, *args)
        check_writable(self)
        if operation is t and self.array.ndim > 2:
            raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.array.ndim}D")
        return look_through(self, operation, *args)

    method.__doc__ = f"{name}(...): {name[:-1]}, in place."
    return checked(name, method, operation.declaration.as_method())


def swapaxes_(self: Tensor, axis0: Dim, axis1: Dim) -> Tensor:
    """swapaxes_(axis0, axis1): another name of transpose_."""
    return METHODS["transpose_"](self, axis0, axis1)


# -- other memory -----------------------------------------------------------------------------------------------------


def _not_implemented(*args: Any) -> Any:
    raise RuntimeError("derivative for set_ is not implemented")


_SET = Op("set_", "NotImplemented", lambda *arrays: arrays[0], GradientRules(_not_implemented, lambda mask: ()))


@declared()
def set_(
    self: Tensor,
    source: Tensor | None = None,
    storage_offset: int = 0,
    size: Shape | None = None,
    stride: Shape | None = None,
) -> Tensor:
    """set_(source=None, storage_offset=0, size=None, stride=None): show the memory of another tensor of the same dtype,
    as it does or in a shape of its own. No gradient flows through it."""
    if source is None:
        source = wrap(np.empty(0, self.array.dtype))
    if not isinstance(source, TensorBase):
        raise TypeError(
            f"set_() received an invalid combination of arguments - got ({type(source).__name__}), but expected "
            f"(Tensor source)\n  at {errors.here()}"
        )
    if source.array.dtype != self.array.dtype:
        own, other = [_dtypes.from_numpy_dtype(x.array.dtype).cpp for x in (self, source)]
        raise errors.mistake(RuntimeError, f"Could not set tensor of type {other} to a tensor of type {own}")
    check_writable(self)
    array = source.array
    if size is not None:
        shape = shape_arguments((size,), "set_")
        steps = row_major_steps(shape) if not stride else shape_arguments((stride,), "set_")
        array = sliced_memory(source.array, shape, steps, storage_offset)
    recording = state.recording and (self.needs_grad or source.needs_grad)
    old = stand_in(self)
    self.array = array
    switches.reshaped = True
    count_change(self)
    if recording:
        inputs = (old, source)
        links.give_history(self, make_node(_SET, inputs, (old.array, array), (), (), (), array.shape, array.dtype))
    return self


def row_major_steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([math.prod(shape[i + 1 :]) for i in range(len(shape))])


def sliced_memory(array: Any, shape: tuple[int, ...], steps: tuple[int, ...], start: int) -> Any:
    """An array over the memory of another, from element `start` of that memory on; grown if it does not suffice, in
    which case it is a copy."""
    memory, _ = memory_of(array)
    needed = 0 if 0 in shape else (start + sum([(n - 1) * s for n, s in zip(shape, steps, strict=True)]) + 1)
    if needed * array.itemsize > memory.size:
        grown = fresh("resize_", np.zeros, (needed * array.itemsize,), np.uint8)
        grown[: memory.size] = memory
        memory = grown
    if 0 in shape:
        return np.empty(shape, array.dtype)
    return np.ndarray(shape, array.dtype, memory, start * array.itemsize, [s * array.itemsize for s in steps])


@declared()
def resize_(self: Tensor, *size: Sizes, memory_format: MemoryFormat | None = None) -> Tensor:
    """resize_(*size): another shape in the same memory where that suffices; new elements are not set."""
    if not size:
        raise TypeError('resize_() missing 1 required positional arguments: "size"')
    shape = shape_arguments(size, "resize_")
    if self.requires_grad:
        raise errors.mistake(RuntimeError, "cannot resize variables that require grad")
    if any([s < 0 for s in shape]):
        raise errors.mistake(RuntimeError, "numel: integer multiplication overflow", ("size", errors.size(shape)))
    if shape != self.array.shape:
        start = offset_in_memory(self.array)
        self.array = sliced_memory(self.array, shape, row_major_steps(shape), start)
        switches.reshaped = True
        count_change(self)
    if memory_format is not None:
        self.array = copy_in_format(self.array, memory_format)
    return self


def resize_as_(self: Tensor, the_template: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
    """resize_as_(the_template): resize_ to the shape of another tensor."""
    return resize_(self, the_template.array.shape, memory_format=memory_format)


VIEWS: tuple[Any, ...] = (t, transpose, squeeze, unsqueeze, as_strided)
METHODS = {
    **{f"{name}_": view_in_place(f"{name}_", view) for view in VIEWS for name in (view.name, *view.aliases)},
    **checked_methods(swapaxes_, resize_as_),
    "set_": set_,
    "resize_": resize_,
}
