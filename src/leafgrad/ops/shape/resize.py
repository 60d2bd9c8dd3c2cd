"""In-place forms that change how a tensor looks at memory, not what is there: t_, squeeze_, ..., set_, resize_.

The tensor keeps its identity and counts a change; its array and its history are those of the out-of-place form. Views
of it keep looking where they looked: `views.current_steps` finds out where that is in the new shape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.inplace import count_change
from leafgrad._core.modes import current_modes
from leafgrad._core.op import GradientRules, Op
from leafgrad._core.recorder import make_node
from leafgrad._core.tensor import TensorBase, View, wrap
from leafgrad._core.thread_state import state
from leafgrad._layouts import copy_in_format
from leafgrad.autograd.hooks import give_history
from leafgrad.ops.inplace import check_writable, stand_in
from leafgrad.ops.shape.strides import Geometry, as_strided, checked_geometry, memory_of, offset_in_memory, placed
from leafgrad.ops.shape.views import bases, distinct_dims, shape_arguments, squeeze, t, transpose, unsqueeze, wrap_dim
from leafgrad.ops.signature import Dim, DimOrDims, MemoryFormat, Shape, Sizes, Tensor, declared


def look_through(x: Any, operation: Any, node_name: str, options: tuple[Any, ...], array: Any) -> Any:
    """Make `x` what the view `operation(x, *options)` is, whose memory is `array`."""
    old, before = stand_in(x), x.array
    x.array = array
    bases.reshaped = True
    count_change(x)
    known = x.rare.view if x.rare is not None else None
    if known is not None:
        steps = (*known.steps, (operation, options))
        if operation is as_strided:
            steps = ((as_strided, (Geometry.between(known.base.array, array),)),)
        x.rare.view = View(known.base, steps, known.restriction)
        x.rare.view.silent = known.silent
        if not state.recording:
            x.rare.view.node_version = known.node_version  # its history is out of date now
    if old.needs_grad and state.recording and old.node is not None:
        core = operation.named[node_name]
        give_history(x, make_node(core, (old,), (before,), options, (), (), array.shape, array.dtype))
    for mode in current_modes():
        mode.reshaped(x, operation, options)
    return x


@declared()
def t_(self: Tensor) -> Tensor:
    """t_(): t, in place."""
    check_writable(self)
    if self.array.ndim > 2:
        raise RuntimeError(f"t_() expects a tensor with <= 2 dimensions, but self is {self.array.ndim}D")
    return look_through(self, t, "TBackward1", (), t.kernel(self.array))


@declared()
def transpose_(self: Tensor, dim0: Dim, dim1: Dim) -> Tensor:
    """transpose_(dim0, dim1): transpose, in place."""
    check_writable(self)
    dims = wrap_dim(dim0, self.array.ndim), wrap_dim(dim1, self.array.ndim)
    return look_through(self, transpose, "TransposeBackward1", dims, transpose.kernel(self.array, *dims))


@declared()
def swapaxes_(self: Tensor, axis0: Dim, axis1: Dim) -> Tensor:
    """swapaxes_(axis0, axis1): another name of transpose_."""
    return transpose_(self, axis0, axis1)


@declared()
def swapdims_(self: Tensor, dim0: Dim, dim1: Dim) -> Tensor:
    """swapdims_(dim0, dim1): another name of transpose_."""
    return transpose_(self, dim0, dim1)


@declared()
def squeeze_(self: Tensor, dim: DimOrDims | None = None) -> Tensor:
    """squeeze_(dim=None): squeeze, in place."""
    check_writable(self)
    shape = self.array.shape
    dims: Sequence[int] = range(len(shape)) if dim is None else [dim] if isinstance(dim, int) else dim
    chosen = tuple([d for d in distinct_dims(dims, len(shape)) if shape and shape[d] == 1])
    node_name = "SqueezeBackward3" if dim is None else f"SqueezeBackward{4 if isinstance(dim, int) else 5}"
    return look_through(self, squeeze, node_name, (chosen,), squeeze.kernel(self.array, chosen))


@declared()
def unsqueeze_(self: Tensor, dim: Dim) -> Tensor:
    """unsqueeze_(dim): unsqueeze, in place."""
    check_writable(self)
    at = wrap_dim(dim, self.array.ndim + 1)
    return look_through(self, unsqueeze, "UnsqueezeBackward1", (at,), unsqueeze.kernel(self.array, at))


@declared()
def as_strided_(self: Tensor, size: Shape, stride: Shape, storage_offset: int | None = None) -> Tensor:
    """as_strided_(size, stride, storage_offset=None): as_strided, in place."""
    check_writable(self)
    geometry = checked_geometry("as_strided_", self.array, size, stride, storage_offset)
    array = placed(self.array, geometry.size, geometry.stride, geometry.offset)
    return look_through(self, as_strided, "AsStridedBackward1", (geometry,), array)


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
    bases.reshaped = True
    count_change(self)
    if recording:
        inputs = (old, source)
        give_history(self, make_node(_SET, inputs, (old.array, array), (), (), (), array.shape, array.dtype))
    return self


def row_major_steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([math.prod(shape[i + 1 :]) for i in range(len(shape))])


def sliced_memory(array: Any, shape: tuple[int, ...], steps: tuple[int, ...], start: int) -> Any:
    """An array over the memory of another, from element `start` of that memory on; grown if it does not suffice, in
    which case it is a copy."""
    memory, _ = memory_of(array)
    needed = 0 if 0 in shape else (start + sum([(n - 1) * s for n, s in zip(shape, steps, strict=True)]) + 1)
    if needed * array.itemsize > memory.size:
        grown = np.zeros(needed * array.itemsize, np.uint8)
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
        bases.reshaped = True
        count_change(self)
    if memory_format is not None:
        self.array = copy_in_format(self.array, memory_format)
    return self


@declared()
def resize_as_(self: Tensor, the_template: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
    """resize_as_(the_template): resize_ to the shape of another tensor."""
    if not isinstance(the_template, TensorBase):
        raise errors.not_a_tensor("resize_as_", "the_template", 1, the_template)
    return resize_(self, the_template.array.shape, memory_format=memory_format)


METHODS = {
    f.__name__: f
    for f in (t_, transpose_, swapaxes_, swapdims_, squeeze_, unsqueeze_, as_strided_, set_, resize_, resize_as_)
}
