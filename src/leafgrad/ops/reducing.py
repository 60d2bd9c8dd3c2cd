"""What all reductions share: how they are called, how arrays are summed, how a gradient is spread out again."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import _core, errors
from leafgrad._core import TensorBase
from leafgrad.dtypes import from_numpy_dtype
from leafgrad.ops.registry import Family, Operation
from leafgrad.ops.views import expand, wrap_dim

A = Any  # an array, or a tensor under create_graph
Dims = tuple[int, ...]

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
empty: Any = np.empty
add_reduce: Any = np.add.reduce
max_reduce: Any = np.maximum.reduce
min_reduce: Any = np.minimum.reduce

# -- arguments --------------------------------------------------------------------------------------------------------

NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}  # PyTorch takes NumPy's names of these arguments as well


class Reduction(Family):
    """Operations over dimensions of one tensor: what they share is how they are called."""

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        call: Callable[..., Any] = body["call"]
        call.__name__ = call.__qualname__ = operation.name
        return taking_numpy_names(call, operation.name, operation.doc)


def taking_numpy_names(call: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    """The public function: `call`, which also knows the arguments by the names that NumPy gives them."""

    def function(input: TensorBase, *args: Any, **options: Any) -> Any:
        if not isinstance(input, TensorBase):
            raise errors.not_a_tensor(name, "input", 1, input)
        if options:
            options = {NUMPY_NAMES.get(key, key): value for key, value in options.items()}
        return call(input, *args, **options)

    return described(function, call, name, doc)  # type: ignore[no-any-return]


def described(function: Any, call: Callable[..., Any], name: str, doc: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.__wrapped__ = call  # whose signature help() shows
    return function


class Total(Reduction):
    """sum and mean: of a whole float tensor, by far the most frequent call, without a detour."""

    jvp = "linear"

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        general, core, unary = Reduction.public(operation, body), operation.core, _core.unary

        def function(input: TensorBase, *args: Any, **options: Any) -> Any:
            if not args and not options and isinstance(input, TensorBase):
                kind = input.array.dtype
                if kind is F32 or kind is F64:
                    return unary(core, input)
            return general(input, *args, **options)

        return described(function, body["call"], operation.name, operation.doc)  # type: ignore[no-any-return]


def one_dim(dim: Any, ndim: int, name: str) -> int:
    """A single dimension, counted from the front."""
    if isinstance(dim, bool) or not hasattr(dim, "__index__"):
        raise TypeError(f"{name}(): argument 'dim' must be int, not {type(dim).__name__}\n  at {errors.here()}")
    return wrap_dim(dim.__index__(), ndim)


def dims_of(dim: Any, ndim: int, name: str) -> Dims:
    """The dimensions that `dim` names, counted from the front: of an int, a sequence of ints, or None for all."""
    if dim is None:
        return tuple(range(ndim))
    if not isinstance(dim, bool) and hasattr(dim, "__index__"):
        place = wrap_dim(dim.__index__(), ndim)
        return (place,) if ndim else ()
    if not isinstance(dim, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'dim' must be int or tuple of ints, not {type(dim).__name__}\n  at {errors.here()}"
        )
    found: list[int] = []
    for d in dim:
        place = one_dim(d, ndim, name)
        if place in found:
            raise RuntimeError(f"dim {place} appears multiple times in the list of dims\n  at {errors.here()}")
        found.append(place)
    return tuple(found) if ndim else ()


def all_if_empty(dims: Dims, ndim: int) -> Dims:
    """Most reductions take an empty tuple of dimensions for all of them."""
    return dims or tuple(range(ndim))


def count_of(shape: Dims, dims: Dims) -> int:
    """How many elements are reduced to one."""
    return math.prod([shape[d] for d in dims])


def refused(kernel: str, t: TensorBase) -> NotImplementedError:
    alias = from_numpy_dtype(t.array.dtype).alias
    return NotImplementedError(f"\"{kernel}\" not implemented for '{alias}'\n  at {errors.here()}")


# -- for kernels and rules --------------------------------------------------------------------------------------------


def raw(x: A) -> Any:
    """The array of a tensor, or the array itself: for what has no gradient, such as comparisons."""
    return x.array if isinstance(x, TensorBase) else x


def is_half(kind: Any) -> bool:
    """float16 or bfloat16? They are accumulated in float32."""
    return bool(kind.itemsize == 2 and kind.kind in "fV")


def restore(g: A, shape: Dims, dims: Dims, keepdim: bool) -> A:
    """The gradient of a reduction with the reduced dimensions back in place, with size 1."""
    if keepdim or not dims:
        return g
    return g.reshape(tuple([1 if i in dims else s for i, s in enumerate(shape)]))


def spread(g: A, shape: Dims) -> A:
    """A gradient repeated along the dimensions that were reduced."""
    if isinstance(g, TensorBase):
        return expand(g, shape)
    if math.prod(shape) > 4096:
        return np.broadcast_to(g, shape)
    copy = empty(shape, g.dtype)  # for few elements copying is faster than making a view
    copy[...] = g
    return copy


BLOCK = 512


def total(x: Any, dims: Any, keepdim: bool) -> Any:
    """The sum of an array over `dims` (None: all), in its own dtype."""
    kind = x.dtype
    if is_half(kind):
        return add_reduce(x, dims, F32, None, keepdim).astype(kind)
    if kind.char in "fF" and x.size > 65536 and dims is not None and x.flags.c_contiguous:
        rows = count_of(x.shape, dims)
        if rows > 2 * BLOCK and dims == tuple(range(len(dims))) and len(dims) < x.ndim:
            return _sum_rows(x, rows).reshape((1,) * len(dims) * keepdim + x.shape[len(dims) :])
    return add_reduce(x, dims, kind, None, keepdim)


def _sum_rows(x: Any, rows: int) -> Any:
    """The sum over leading dimensions, in blocks. NumPy would add row after row, and in single precision each
    addition to a sum that has become large loses digits."""
    flat = x.reshape(rows, -1)
    whole = rows // BLOCK * BLOCK
    parts = add_reduce(flat[:whole].reshape(-1, BLOCK, flat.shape[1]), 1)
    return add_reduce(parts, 0) + add_reduce(flat[whole:], 0)


def sum_of_squares(x: Any) -> Any:
    """The sum of x**2 over all elements of a float32 or float64 array, at the speed of a dot product."""
    flat = x.reshape(-1)
    if flat.size <= 16384:
        return np.dot(flat, flat)
    whole = flat.size // 16384 * 16384  # in blocks, because a long dot product loses digits
    blocks, rest = flat[:whole].reshape(-1, 16384), flat[whole:]
    return add_reduce(np.vecdot(blocks, blocks)) + np.dot(rest, rest)
