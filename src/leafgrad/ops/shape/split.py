"""Several parts of a tensor at once, and its diagonals. All of them are views that share memory with their input.

The pieces of split, chunk and unbind come out of one node. PyTorch does not allow to change such a piece in place,
because the others would have to change their history as well; single slices have no such restriction.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import index as as_index
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind_many
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._core.views import link_parts
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.kernels.moving import native_move
from leafgrad.ops.arguments import matched
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.index.slices import select, slice_
from leafgrad.ops.public_forms import function_of
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.view_history import ViewFamily, view_of
from leafgrad.ops.signature import Dim, Shape, Tensor

A = Any  # an array, or a tensor under create_graph

_ALL = slice(None)


class Part(ViewFamily, family=True):
    """A part of a tensor. Numbers are moved, not computed with, so the rules serve complex ones as they are."""

    holomorphic = False


def at(dim: int, what: Any) -> tuple[Any, ...]:
    """The index that takes `what` of one dimension. The dots make NumPy return a view even of a single number."""
    return (_ALL,) * dim + (what, ...)


def range_of(dim: int, start: int, length: int) -> tuple[Any, ...]:
    return at(dim, slice(start, start + length))


@op
class diagonal(Part):
    """diagonal(input, offset=0, dim1=0, dim2=1): the diagonal of two dimensions, as the last one of the result."""

    options = ("offset", "dim1", "dim2")
    vmap = "dims"

    def kernel(x: A, offset: int, dim1: int, dim2: int) -> A:
        found = x.diagonal(offset, dim1, dim2) if x.__class__ is np.ndarray else np.diagonal(x, offset, dim1, dim2)
        if x.flags.writeable:
            found.flags.writeable = True  # NumPy's caution; ours is the version counter
        return found

    def call(input: Tensor, offset: int = 0, dim1: Dim = 0, dim2: Dim = 1) -> Tensor:
        ndim = input.array.ndim
        one, two = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
        if one == two:
            raise errors.mistake(RuntimeError, f"diagonal dimensions cannot be identical {dim1}, {dim2}")
        return view_of(diagonal, input, offset, one, two)

    def vjp(g: A, offset: A, dim1: A, dim2: A, input_shape: A) -> A:
        return put_diagonal(g, offset, dim1, dim2, input_shape)

    samples = lambda t: [S(t(3, 4)), S(t(3, 4), 1), S(t(3, 4), -2), S(t(2, 3, 4), 0, 2, 0), S(t(3, 2), 5), S(t(0, 2))]


@op
class put_diagonal(Family):
    """put_diagonal(input, offset, dim1, dim2, shape): zeros of the given shape, but for the diagonal: that is input."""

    options = ("offset", "dim1", "dim2", "shape")
    vmap = "dims"
    public_name = ""
    reference = lambda torch, x, offset, dim1, dim2, shape: torch.zeros(shape, dtype=x.dtype).diagonal_scatter(
        x, offset, dim1, dim2
    )
    aten = "diagonal_scatter"
    node_name = "DiagonalBackwardBackward0"
    holomorphic = False
    jvp = "linear"

    def kernel(x: A, offset: int, dim1: int, dim2: int, shape: Any) -> A:
        out = np.zeros(shape, x.dtype)
        diagonal(out, offset, dim1, dim2)[...] = x
        return out

    def vjp(g: A, offset: A, dim1: A, dim2: A) -> A:
        return diagonal(g, offset, dim1, dim2)

    samples = lambda t: [S(t(3), 0, 0, 1, (3, 4)), S(t(2, 3), 1, 1, 2, (2, 3, 5))]


# -- several parts at once --------------------------------------------------------------------------------------------


def _filled(g: list[Any], shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """The gradients of all pieces; those that never came are zeros: arrays beside arrays, tensors beside tensors."""
    known = next(piece for piece in g if piece is not None)
    if isinstance(known, TensorBase):
        return [wrap(np.zeros(s, known.array.dtype)) if piece is None else piece for piece, s in zip(g, shapes)]
    return [np.zeros(s, known.dtype) if piece is None else piece for piece, s in zip(g, shapes)]


def pieces_of(operation: Any, input: TensorBase, dim: int, sizes: tuple[int, ...]) -> tuple[Any, ...]:
    """Apply an operation whose results are consecutive pieces of its input, all of them views."""
    results = bind_many(operation.core, (input,), (dim, sizes))
    starts: list[int] = []

    def options_of(number: int) -> tuple[Any, ...]:
        if not starts:
            starts.extend(accumulate(sizes, initial=0))
        return (range_of(dim, starts[number], sizes[number]),)

    link_parts(results, input, slice_, options_of)
    return tuple(results)


@native_move("pieces")
def pieces(x: A, dim: int, sizes: Sequence[int]) -> list[A]:
    """Consecutive pieces of an array along a dimension, as views."""
    ends = accumulate(sizes)
    return [x[range_of(dim, end - size, size)] for end, size in zip(ends, sizes)]


@native_move("unbound")
def unbound(x: A, dim: int) -> list[A]:
    """All slices of an array along a dimension, which they do not have, as views."""
    return [x[at(dim, i)] for i in range(x.shape[dim])]


class Pieces(Part, family=True):
    """Operations with as many results as the input has pieces."""

    options = ("dim", "sizes")
    vmap = "dims"
    results = 0

    kernel = pieces

    def vjp(g: A, dim: A, sizes: A, input_shape: A) -> A:
        from leafgrad.ops.shape.join import cat

        return cat(*_filled(g, [(*input_shape[:dim], size, *input_shape[dim + 1 :]) for size in sizes]), dim, sizes)


@op
class split_with_sizes(Pieces):
    """split_with_sizes(input, split_sizes, dim=0): consecutive pieces of the given sizes."""

    saved_as = {"sizes": "split_sizes"}
    node_names = ("UnsafeSplitWithSizesBackward0",)

    def call(input: Tensor, split_sizes: Shape, dim: Dim = 0) -> tuple[Tensor, ...]:
        return pieces_of(split_with_sizes, input, *given_pieces(input, split_sizes, dim))

    samples = lambda t: [S(t(5, 2), [2, 3]), S(t(2, 4), [1, 0, 3], 1), S(t(3), [3])]


# As the function that it is under `leafgrad`: PyTorch's messages about the sizes of `split` count from there.
_split_with_sizes = function_of(split_with_sizes, "split_with_sizes", False)


def given_pieces(input: Any, split_sizes: Any, dim: int) -> tuple[int, tuple[int, ...]]:
    """The dimension to split, counted from the front, and the sizes of the pieces that the user wants."""
    sizes = tuple(split_sizes)
    wrapped, size = _split_dim("split", input, dim)
    listed = f"split_sizes={errors.size(sizes)}"
    if any(s < 0 for s in sizes):
        first = f"split_with_sizes expects split_sizes have only non-negative entries, but got {listed}"
        raise errors.mistake(RuntimeError, first)
    if sum(sizes) != size:
        raise errors.mistake(
            RuntimeError,
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension "
            f"{dim}), but got {listed}",
            ("tensor", errors.describe(input)),
            ("mismatch", f"the sizes add up to {sum(sizes)}, dimension {wrapped} is {size}"),
        )
    return wrapped, sizes


def equal_pieces(tensor: Any, step: int, dim: int) -> tuple[int, tuple[int, ...]]:
    """The same for pieces of one size."""
    if step < 0 and tensor.array.ndim:
        raise errors.mistake(RuntimeError, f"split expects split_size be non-negative, but got split_size={step}")
    dim, size = _split_dim("split", tensor, dim)
    if step == 0 and size != 0:
        raise errors.mistake(
            RuntimeError, f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
        )
    return dim, _equal_sizes(size, step)


def _split_dim(name: str, input: Any, dim: int) -> tuple[int, int]:
    """The dimension to split, counted from the front, and its size."""
    shape = input.array.shape
    if not shape:
        raise errors.mistake(RuntimeError, f"{name} expects at least a 1-dimensional tensor")
    dim = wrap_dim(dim, len(shape))
    return dim, shape[dim]


def size_of_pieces(sizes: Sequence[int]) -> Any:
    """What the user asked for. A single piece does not tell."""
    return sizes[0] if len(sizes) > 1 else NotImplemented


@op
class split(Pieces):
    """split(tensor, split_size_or_sections, dim=0): pieces of one size (the last may be smaller), or of given sizes."""

    shows = {"split_size": lambda node: size_of_pieces(node.saved[1])}
    saved_as = {"sizes": ""}
    node_names = ("UnsafeSplitBackward0",)
    in_python = ("function", "method")
    checked = False  # what is no size is taken for several, by split_with_sizes, as in PyTorch
    signatures = (
        "(tensor: Tensor, split_size_or_sections: int | Shape, dim: Dim = 0) -> tuple[Tensor, ...]",
        "(tensor: Tensor, *, split_size: int | Shape, dim: Dim = 0) -> tuple[Tensor, ...]",
    )

    def call(
        tensor: Tensor,
        split_size_or_sections: int | Shape | None = None,
        dim: Dim = 0,
        *,
        split_size: int | Shape | None = None,
    ) -> tuple[Tensor, ...]:
        step: Any = split_size_or_sections if split_size is None else split_size
        try:
            step = as_index(step)
        except TypeError:  # not one size but several
            return _split_with_sizes(tensor, step, dim)  # type: ignore[no-any-return]
        return pieces_of(split, tensor, *equal_pieces(tensor, step, dim))

    samples = lambda t: [S(t(5, 2), 2), S(t(2, 4), 2, 1), S(t(5), [2, 3]), S(t(3, 2), 7, dim=-2), S(t(0, 2), 0)]


def _equal_sizes(size: int, step: int) -> tuple[int, ...]:
    if size == 0:
        return (0,)
    whole, rest = divmod(size, step)
    return (step,) * whole + ((rest,) if rest else ())


@composite(lambda t: [S(t(5, 2), 2), S(t(2, 6), 4, 1), S(t(3), 9), S(t(0, 2), 3)])
def chunk(input: Tensor, chunks: int, dim: Dim = 0) -> tuple[Tensor, ...]:
    """chunk(input, chunks, dim=0): at most `chunks` pieces of equal size; the last may be smaller."""
    operation, place, sizes = chunks_of(input, chunks, dim, split, split_with_sizes)
    return pieces_of(operation, input, place, sizes)


def chunks_of(input: Any, chunks: int, dim: int, equal: Any, given: Any) -> tuple[Any, int, tuple[int, ...]]:
    """Which of two operations makes the chunks, one for equal sizes or one for given ones, where, and the sizes."""
    if chunks <= 0 and input.array.ndim:
        raise errors.mistake(RuntimeError, f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    place, size = _split_dim("chunk", input, dim)
    step = -(-size // chunks)
    if step == 0:  # an empty dimension gives as many empty pieces as were asked for
        return given, place, (0,) * chunks
    return equal, place, _equal_sizes(size, step)


# -- pieces that nobody knows to be views -----------------------------------------------------------------------------


class UnsafePieces(Pieces, family=True):
    """Pieces in the memory of the input that are no views of it, so that they may be changed in place: the input's
    values change as well, and no gradient knows of that."""


@op
class unsafe_split_with_sizes(UnsafePieces):
    """unsafe_split_with_sizes(input, split_sizes, dim=0): split_with_sizes, but the pieces do not count as views."""

    saved_as = {"sizes": "split_sizes"}

    def call(input: Tensor, split_sizes: Shape, dim: Dim = 0) -> tuple[Tensor, ...]:
        return tuple(bind_many(unsafe_split_with_sizes.core, (input,), given_pieces(input, split_sizes, dim)))

    samples = lambda t: [S(t(5, 2), [2, 3]), S(t(2, 4), [1, 0, 3], 1), S(t(3), [3])]


@op
class unsafe_split(UnsafePieces):
    """unsafe_split(tensor, split_size, dim=0): split by a size, but the pieces do not count as views."""

    shows = {"split_size": lambda node: size_of_pieces(node.saved[1])}
    saved_as = {"sizes": ""}

    def call(tensor: Tensor, split_size: int, dim: Dim = 0) -> tuple[Tensor, ...]:
        return tuple(bind_many(unsafe_split.core, (tensor,), equal_pieces(tensor, split_size, dim)))

    samples = lambda t: [S(t(5, 2), 2), S(t(2, 4), 2, 1), S(t(3, 2), 7, dim=-2), S(t(0, 2), 0)]


@composite(lambda t: [S(t(5, 2), 2), S(t(2, 6), 4, 1), S(t(3), 9), S(t(0, 2), 3)])
def unsafe_chunk(input: Tensor, chunks: int, dim: Dim = 0) -> tuple[Tensor, ...]:
    """unsafe_chunk(input, chunks, dim=0): chunk, but the pieces do not count as views."""
    operation, place, sizes = chunks_of(input, chunks, dim, unsafe_split, unsafe_split_with_sizes)
    return tuple(bind_many(operation.core, (input,), (place, sizes)))


@op
class unbind(Part):
    """unbind(input, dim=0): all slices along a dimension, which disappears."""

    saved_as = {"input_shape": ""}
    options = ("dim",)
    vmap = "dims"
    results = 0

    kernel = unbound

    def call(input: Tensor, dim: Dim = 0) -> tuple[Tensor, ...]:
        ndim = input.array.ndim
        if not ndim:
            wrap_dim(dim, 0)
            raise errors.mistake(IndexError, "Dimension specified as 0 but tensor has no dimensions")
        dim = wrap_dim(dim, ndim)
        results = bind_many(unbind.core, (input,), (dim,))
        link_parts(results, input, select, lambda number: (at(dim, number),))
        return tuple(results)

    def vjp(g: A, dim: A, input_shape: A) -> A:
        from leafgrad.ops.shape.join import stack

        return stack(*_filled(g, [input_shape[:dim] + input_shape[dim + 1 :]] * len(g)), dim)

    samples = lambda t: [S(t(3, 2)), S(t(2, 3), -1), S(t(4)), S(t(0, 2)), S(t(2, 0))]


@composite(
    lambda t: [S(t(5, 2), 3), S(t(2, 6), (1, 4), 1), S(t(3), 5), S(t(5), (3, 1))],
    signatures=(
        "(input: Tensor, indices_or_sections: int | Shape | Tensor, dim: Dim = 0) -> tuple[Tensor, ...]",
        "(input: Tensor, *, indices: Shape, dim: Dim = 0) -> tuple[Tensor, ...]",
        "(input: Tensor, *, sections: int, dim: Dim = 0) -> tuple[Tensor, ...]",
    ),
)
def tensor_split(
    input: Tensor,
    indices_or_sections: int | Shape | Tensor | None = None,
    dim: Dim = 0,
    *,
    indices: Shape | None = None,
    sections: int | None = None,
) -> tuple[Tensor, ...]:
    """tensor_split(input, indices_or_sections, dim=0): pieces of almost equal size, or cut at the given indices."""
    given: Any = next((v for v in (indices_or_sections, indices, sections) if v is not None), None)
    if given is None:
        matched(tensor_split, (), {})  # which raises
    shape = input.array.shape
    if not shape:
        raise errors.mistake(
            RuntimeError, "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    dim = wrap_dim(dim, len(shape))
    size = shape[dim]
    if isinstance(given, TensorBase):
        given = _cuts_of(given.array)
    if isinstance(given, (int, np.integer)):
        if given <= 0:
            raise errors.mistake(RuntimeError, f"number of sections must be larger than 0, got {given}")
        small, larger = divmod(size, int(given))
        cuts = [i * small + min(i, larger) for i in range(1, int(given))]
    else:
        cuts = [as_index(i) for i in given]
    pieces = []
    for start, end in zip([0, *cuts], [*cuts, size], strict=True):
        start, end, _ = slice(start, end).indices(size)  # as Python's slices: clipped, negative from the end
        pieces.append(view_of(slice_, input, range_of(dim, start, max(end - start, 0))))
    return tuple(pieces)


def _named_split(name: str, dim: int, least: int, what: str, samples: Any) -> Any:
    """tensor_split along a dimension that the name tells, and into pieces of equal size only."""

    def function(input: Tensor, sections: int | Shape | None = None, *, indices: Shape | None = None) -> Any:
        cuts = sections if indices is None else indices
        if cuts is None or (sections is not None and indices is not None):
            matched(made, (sections,), {} if indices is None else {"indices": indices})  # which raises
        shape = input.array.shape
        if len(shape) < least:
            raise errors.mistake(
                RuntimeError,
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {len(shape)} "
                "dimensions!",
            )
        along = dim if len(shape) > dim else 0
        if isinstance(cuts, int) and (cuts == 0 or shape[along] % cuts):
            raise errors.mistake(
                RuntimeError,
                f"torch.{name} attempted to split along dimension {along}, but the size of the dimension "
                f"{shape[along]} is not divisible by the split_size {cuts}!",
            )
        return tensor_split(input, cuts, along)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}(input, indices_or_sections): {what}, cut at indices, or in pieces of equal size."
    forms = (
        "(input: Tensor, sections: int) -> tuple[Tensor, ...]",
        "(input: Tensor, indices: Shape) -> tuple[Tensor, ...]",
    )
    made = composite(samples, signatures=forms)(function)
    return made


hsplit = _named_split(
    "hsplit", 1, 1, "pieces of columns, or of a vector", lambda t: [S(t(2, 4), 2), S(t(6), 3), S(t(3, 4), (1, 3))]
)
vsplit = _named_split("vsplit", 0, 2, "pieces of rows", lambda t: [S(t(4, 2), 2), S(t(3, 4), [1, 1])])
dsplit = _named_split(
    "dsplit", 2, 3, "pieces along the third dimension", lambda t: [S(t(1, 2, 4), 2), S(t(2, 1, 3), (-1,))]
)


def _cuts_of(given: Any) -> Any:
    if given.ndim > 1:
        raise errors.mistake(
            RuntimeError,
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but "
            f"got a tensor with {given.ndim} dims",
        )
    if given.dtype != np.int64:
        raise errors.mistake(
            RuntimeError,
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{from_numpy_dtype(given.dtype).alias}",
        )
    return given.tolist()
