"""In-place forms that change how a tensor looks at memory, not what is there: t_, squeeze_, ..., set_, resize_.

The tensor keeps its identity and counts a change; its array and its history are those of the out-of-place form. Views
of it keep looking where they looked: `views.current_steps` finds out where that is in the new shape.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.gradient import accumulate_anew
from leafgrad._core.inplace import count_change
from leafgrad._core.modes import current_modes, switches
from leafgrad._core.op import GradientRules, Op
from leafgrad._core.recorder import make_node
from leafgrad._core.tensor import TensorBase, View, is_meta, links, with_layout_noted, wrap
from leafgrad._core.thread_state import state
from leafgrad._device import preserve_format
from leafgrad._layouts import check_format, format_of, order_of, row_major_steps
from leafgrad.ops.arguments import checked
from leafgrad.ops.creation.fresh import fresh
from leafgrad.ops.dimensions import shape_arguments
from leafgrad.ops.inplace import check_writable, stand_in
from leafgrad.ops.pointwise.complex import view_as_complex, view_as_real
from leafgrad.ops.public_forms import checked_functions, checked_methods
from leafgrad.ops.shape.storage import StorageBase, shown_by
from leafgrad.ops.shape.strides import Geometry, array_on, as_strided, bytes_needed, memory_of, offset_in_memory
from leafgrad.ops.shape.views import squeeze, t, transpose, unsqueeze
from leafgrad.ops.signature import Dim, MemoryFormat, Shape, Sizes, Tensor, declared


def look_through(x: Any, operation: Any, *args: Any) -> Any:
    """Make `x` what the view `operation.function(x, *args)` is."""
    check_writable(x, only_shape=True)
    old = stand_in(x)
    if old.rare is not None:
        old.rare.inference = False  # of tensors made in inference_mode, nobody says what they are a view of
    seen = operation.function(old, *args)
    x.array = array = seen.array
    switches.reshaped = True
    count_change(x)
    known = x.rare.view if x.rare is not None else None
    (step,) = seen.rare.view.steps
    if known is not None:
        steps = (*known.steps, step)
        if operation is as_strided:
            steps = steps_between(known.base.array, array)
        x.rare.view = View(known.base, steps, known.restriction)
        x.rare.view.silent = known.silent
        if not state.recording:
            x.rare.view.node_version = known.node_version  # its history is out of date now
    if seen.node is not None and old.node is not None:
        names = [operation.core.node_name, *operation.named]  # the second half of them is for the in-place form
        in_place = operation.named[names[names.index(seen.node.op.node_name) + len(names) // 2]]
        seen.node.op = in_place.conjugated if in_place.conjugated and array.dtype.kind == "c" else in_place
        seen.node.op.gradient_rules()  # which are the same, but have to be read
        links.give_history(x, seen.node, True)
    with_layout_noted(x)
    for mode in current_modes():
        mode.reshaped(x, *step)
    return x


def steps_between(array: Any, part: Any) -> tuple[Any, ...]:
    """The steps of a view that shows `part`, which lies in the memory of `array`; if only one of them is complex, by
    way of the real numbers that it consists of."""
    if array.dtype == part.dtype:
        return ((as_strided, (Geometry.between(array, part),)),)
    if array.dtype.kind == "c":
        return ((view_as_real, ()), *steps_between(view_as_real.kernel(array), part))
    return (*steps_between(array, view_as_real.kernel(part)), (view_as_complex, ()))


def view_in_place(name: str, operation: Any) -> Any:
    """The in-place form of a view, under the name `name`."""

    def method(self: Any, *args: Any) -> Any:
        if name != f"{operation.name}_":  # another name of it
            return METHODS[f"{operation.name}_"](self, *args)
        check_writable(self, only_shape=True)
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


@declared(
    "(self: Tensor) -> Tensor",
    "(self: Tensor, source: Any) -> Tensor",
    "(self: Tensor, source: Any, storage_offset: int, size: Shape, stride: Shape = ()) -> Tensor",
)
def set_(
    self: Tensor,
    source: Any = None,
    storage_offset: int | None = None,
    size: Shape | None = None,
    stride: Shape | None = None,
) -> Tensor:
    """set_(source=None, storage_offset=0, size=None, stride=None): show the memory of another tensor of the same dtype,
    as it does or in a shape of its own, or that of a storage. No gradient flows through it."""
    kind = _dtypes.from_numpy_dtype(self.array.dtype)
    shape: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    start, needed = storage_offset or 0, 0
    if size is not None:
        shape = shape_arguments((size,), "set_")
        steps = row_major_steps(shape) if not stride else shape_arguments((stride,), "set_")
        needed = 0 if 0 in shape else bytes_needed(shape, steps, start, kind.itemsize)
    if start < 0:
        raise errors.mistake(RuntimeError, f"Tensor: invalid storage offset {start}")
    if source is None or isinstance(source, StorageBase):
        source = wrap(np.empty(0, kind.np) if source is None else shown_by(source, kind, needed))
    if not isinstance(source, TensorBase) or (size is None and storage_offset is not None):
        raise errors.mistake(
            TypeError,
            "set_() received an invalid combination of arguments",
            ("fix", "x.set_(source) or x.set_(source, storage_offset, size, stride)   # source: a tensor or a storage"),
        )
    if source.array.dtype != self.array.dtype:
        own, other = [_dtypes.from_numpy_dtype(x.array.dtype).cpp for x in (self, source)]
        raise errors.mistake(RuntimeError, f"Could not set tensor of type {other} to a tensor of type {own}")
    check_writable(self)
    array = source.array if size is None else sliced_memory(source.array, shape, steps, start)
    recording = state.recording and (self.needs_grad or source.needs_grad)
    old = stand_in(self)
    self.array = array
    switches.reshaped = True
    count_change(self)
    accumulate_anew(self)
    if recording:
        inputs = (old, source)
        links.give_history(self, make_node(_SET, inputs, (old.array, array), (), (), (), array.shape, array.dtype))
    return self


def sliced_memory(array: Any, shape: tuple[int, ...], steps: tuple[int, ...], start: int) -> Any:
    """An array over the memory of another, from element `start` of that memory on; grown if it does not suffice, in
    which case it is a copy."""
    memory, _ = memory_of(array)
    needed = 0 if 0 in shape else bytes_needed(shape, steps, start, array.itemsize)
    if needed > memory.size:
        grown = memory.grown(needed) if is_meta(memory) else fresh("resize_", np.zeros, (needed,), np.uint8)
        grown[: memory.size] = memory
        memory = grown
    return array_on(memory, array.dtype, shape, steps, start * array.itemsize)


@declared()
def resize_(self: Tensor, *size: Sizes, memory_format: MemoryFormat | None = None) -> Tensor:
    """resize_(*size): another shape in the same memory where that suffices; new elements are not set."""
    if not size:
        raise TypeError('resize_() missing 1 required positional arguments: "size"')
    shape = shape_arguments(size, "resize_")
    if self.requires_grad and not state.inference:
        raise errors.mistake(RuntimeError, "cannot resize variables that require grad")
    if any([s < 0 for s in shape]) or (0 not in shape and math.prod(shape) >= 2**63):
        raise errors.mistake(RuntimeError, "numel: integer multiplication overflow", ("size", errors.size(shape)))
    if check_format(memory_format) is preserve_format and memory_format is not None:
        raise errors.mistake(RuntimeError, "Unsupported memory formatPreserve")
    if shape != self.array.shape or memory_format is not None:
        start = offset_in_memory(self.array)
        order = range(len(shape)) if memory_format is None else order_of(len(shape), memory_format)
        in_order = row_major_steps(tuple([shape[d] for d in order]))
        if max(in_order, default=0) >= 2**63:
            raise errors.mistake(RuntimeError, f"Stride calculation overflowed, of size {errors.size(shape)}")
        steps = [0] * len(shape)
        for step, dim in zip(in_order, order, strict=True):
            steps[dim] = step
        self.array = sliced_memory(self.array, shape, tuple(steps), start)
        switches.reshaped = True
        count_change(self)
    return self


def resize_as_(self: Tensor, the_template: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
    """resize_as_(the_template, memory_format=None): resize_ to the shape of another tensor; with preserve_format also
    to its memory format."""
    if memory_format is preserve_format:
        memory_format = format_of(the_template.array)
    return resize_(self, the_template.array.shape, memory_format=memory_format)


VIEWS: tuple[Any, ...] = (t, transpose, squeeze, unsqueeze, as_strided)
METHODS = {
    **{f"{name}_": view_in_place(f"{name}_", view) for view in VIEWS for name in (view.name, *view.aliases)},
    **checked_methods(swapaxes_, resize_as_),
    "set_": set_,
    "resize_": resize_,
}


def resized_as(input: Tensor, the_template: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """resize_as_(input, the_template, *, memory_format=None): Tensor.resize_as_ as a function."""
    return resize_as_(input, the_template, memory_format)


resized_as.__name__ = resized_as.__qualname__ = "resize_as_"
FUNCTIONS = checked_functions(resized_as)
