"""as_strided: a view described by its place in memory, and the memory behind an array.

Every other view says which elements it takes; `as_strided` says which memory. A `Geometry` translates: it knows, for
each element of the view, which element of the input lies at that place, so that gradients need no memory layout.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind_result, execute
from leafgrad._core.recorder import needs_recording
from leafgrad._core.tensor import TensorBase, is_batched, is_meta
from leafgrad._core.views import link
from leafgrad._layouts import is_dense, steps_of
from leafgrad.ops.registry import op, with_kernel
from leafgrad.ops.samples import S
from leafgrad.ops.shape.view_history import ViewFamily, address, put_back
from leafgrad.ops.signature import Shape, Tensor

A = Any  # an array, or a tensor under create_graph


# -- memory -----------------------------------------------------------------------------------------------------------


def owner_of(array: Any) -> Any:
    """The array whose memory this one shows."""
    while True:
        base = array.base
        if base is not None and not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)  # NumPy's as_strided puts an object of its own in between
        if not isinstance(base, np.ndarray):
            return array
        array = base


def memory_of(array: Any) -> tuple[Any, int]:
    """All the memory that an array shows a part of, as bytes, and the offset of the array's first element in it."""
    if is_meta(array):
        return array.all_of_it(), array.offset
    owner = owner_of(array)
    if not is_dense(owner):
        raise NotImplementedError("the memory of this tensor belongs to another library and has gaps: clone() it first")
    return owner.ravel(order="K").view(np.uint8), address(array) - address(owner)


def placed(array: Any, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    """An array over the same memory; `offset`, in elements, counts from the first element of `array`."""
    if is_batched(array) or is_meta(array):
        return array.placed(placed, size, stride, offset)
    memory, start = memory_of(array)
    return array_on(memory, array.dtype, size, stride, start + offset * array.itemsize)


def array_on(memory: Any, kind: Any, size: tuple[int, ...], stride: tuple[int, ...], start: int) -> Any:
    """An array over memory given as bytes, from byte `start` on. Where there is nothing to show, it may begin behind
    the end."""
    if is_meta(memory):
        return memory.typed(kind, size, [s * kind.itemsize for s in stride], start)
    if 0 in size:
        start = min(start, memory.size)
    return np.ndarray(size, kind, memory, start, [s * kind.itemsize for s in stride])


def offset_in_memory(array: Any) -> int:
    """Where in its memory an array begins, in elements."""
    if is_meta(array):
        return int(array.offset) // int(array.itemsize)
    return (address(array) - address(owner_of(array))) // int(array.itemsize)


def bytes_needed(shape: Any, steps: Any, start: int, itemsize: int) -> int:
    """How much memory reaches as far as a tensor does; PyTorch's refusal if that is more than an integer can say."""
    needed = (start + sum([(n - 1) * s for n, s in zip(shape, steps, strict=True)]) + 1) * itemsize
    if needed >= 2**63:
        first = f"Storage size calculation overflowed with sizes={errors.size(shape)} and strides={errors.size(steps)}"
        raise errors.mistake(RuntimeError, first)
    return int(needed)


def positions(size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    """The place in memory of each element."""
    total: Any = np.full(size, offset, np.int64)
    for dim, (n, step) in enumerate(zip(size, stride, strict=True)):
        total += (np.arange(n) * step).reshape([n if d == dim else 1 for d in range(len(size))])
    return total


class Geometry:
    """How a view lies in memory, seen from its input: shape and strides of both, and the distance between their first
    elements. All in elements."""

    def __init__(
        self,
        own_shape: tuple[int, ...],
        own_steps: tuple[int, ...],
        size: tuple[int, ...],
        stride: tuple[int, ...],
        offset: int,
        given_offset: int | None = None,
    ) -> None:
        self.own_shape = own_shape
        self.own_steps = own_steps
        self.size = size
        self.stride = stride
        self.offset = offset
        self.given_offset = given_offset  # by the user, who counts from the beginning of the memory

    @staticmethod
    def between(array: Any, part: Any) -> Geometry:
        """How `part` lies in the memory of `array`."""
        distance = address(part) - address(array)
        return Geometry(array.shape, steps_of(array), part.shape, steps_of(part), distance // array.itemsize)

    def fits(self, array: Any) -> bool:
        """Does an array have the shape and the strides of the input? The stride of a single element means nothing."""
        if array.shape != self.own_shape:
            return False
        pairs = zip(array.shape, steps_of(array), self.own_steps, strict=True)
        return all([size <= 1 or step == own for size, step, own in pairs])

    @cached_property
    def places(self) -> Any:
        """For each element of the view, the number of the input's element at that place; -1 if there is none."""
        wanted = positions(self.size, self.stride, self.offset).reshape(-1)
        have = positions(self.own_shape, self.own_steps, 0).reshape(-1)
        if not have.size:
            return np.full(wanted.shape, -1)
        order = np.argsort(have, kind="stable")
        found = np.minimum(np.searchsorted(have, wanted, sorter=order), have.size - 1)
        return np.where(have[order[found]] == wanted, order[found], -1)

    @cached_property
    def is_inside(self) -> bool:
        """Does the view show elements of the input only?"""
        return bool((self.places >= 0).all())


# -- operations -------------------------------------------------------------------------------------------------------


@op
class as_strided(ViewFamily):
    """as_strided(input, size, stride, storage_offset=None): the memory of input under any shape and strides; the
    offset counts from the beginning of the memory, by default it is input's own."""

    shows = {
        "size": lambda node: node.saved[0].size,
        "stride": lambda node: node.saved[0].stride,
        "storage_offset": lambda node: node.saved[0].given_offset,
    }
    saved_as = {"geometry": ""}
    options = ("geometry",)
    holomorphic = False  # elements are only chosen
    node_names = ("AsStridedBackward1",)  # in place

    def kernel(x: A, geometry: Any) -> A:
        # what a view's steps are applied to has the layout that they were made for; a gradient has any
        if geometry.fits(x) and geometry.is_inside:
            return placed(x, geometry.size, geometry.stride, geometry.offset)
        chosen = np.append(np.asarray(x).reshape(-1), x.dtype.type(0))[geometry.places]  # the last one is for -1
        return chosen.reshape(geometry.size)

    def call(input: Tensor, size: Shape, stride: Shape, storage_offset: int | None = None) -> Tensor:
        geometry = checked_geometry(input.array, size, stride, storage_offset)
        out = execute(_memory_view, (input.array,), (geometry,))
        result = bind_result(as_strided.core, (input,), (geometry,), (input.array,), out, needs_recording((input,)))
        return link_strided(result, input, geometry)

    def vjp(g: A, geometry: A) -> A:
        return put_back(g, ((as_strided, (geometry,)),), (geometry.own_shape, None, None))

    samples = lambda t: [
        S(t(6, contiguous=True), (2, 3), (3, 1)),
        S(t(12, contiguous=True), (3, 3), (2, 1), 1),  # some elements twice
        S(t(2, 3, contiguous=True), (2,), (0,)),
        S(t(4, contiguous=True), (), (), 2),
    ]


def _placed_as(x: A, geometry: Any) -> A:
    return placed(x, geometry.size, geometry.stride, geometry.offset)


# Of the tensor itself, whose memory may reach further than what it shows.
_memory_view = with_kernel(as_strided.core, _placed_as, "kernel")


def link_strided(result: Any, input: TensorBase, geometry: Geometry) -> Any:
    """Make an as_strided result known as a view. It may show more than its input does, but not more than the base.
    (The real numbers of a complex base, and the other way round, have no place in it that strides could name.)"""
    result = link(result, input, as_strided, (geometry,), None)
    known = result.rare.view
    if known is not None and known.base is not input and known.base.array.dtype == result.array.dtype:
        known.steps = ((as_strided, (Geometry.between(known.base.array, result.array),)),)
    return result


def checked_geometry(array: Any, shape: Any, steps: Any, storage_offset: int | None) -> Geometry:
    """The arguments of as_strided in PyTorch's form, or PyTorch's refusal."""
    own = offset_in_memory(array)
    start = own if storage_offset is None else storage_offset
    if len(shape) != len(steps):
        raise errors.mistake(RuntimeError, "mismatch in length of strides and shape")
    if any([s < 0 for s in steps]):
        first = f"as_strided: Negative strides are not supported at the moment, got strides: {errors.size(steps)}"
        raise errors.mistake(RuntimeError, first)
    if any([s < 0 for s in shape]):
        first = f"Storage size calculation overflowed with sizes={errors.size(shape)} and strides={errors.size(steps)}"
        raise errors.mistake(RuntimeError, first)
    if start < 0:
        raise errors.mistake(RuntimeError, f"Tensor: invalid storage offset {start}")
    have = memory_of(array)[0].size
    needed = 0 if 0 in shape else bytes_needed(shape, steps, start, array.itemsize)
    if needed > have:
        raise errors.mistake(
            RuntimeError,
            f"setStorage: sizes {errors.size(shape)}, strides {errors.size(steps)}, storage offset {start}, and "
            f"itemsize {array.itemsize} requiring a storage size of {needed} are out of bounds for storage of size "
            f"{have}",
        )
    return Geometry(array.shape, steps_of(array), shape, steps, start - own, storage_offset)
