"""Dimensions and shapes as users write them: negative, -1 for what follows from the rest, one by one or in a tuple.

Compiled, because nearly every function that moves elements asks here: x.view(-1) takes a quarter less time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

from leafgrad import errors
from leafgrad._core.tensor import TensorBase


def wrap_dim(dim: Any, ndim: int) -> int:
    """A dimension counted from the front; negative ones count from the end."""
    if type(dim) is int:  # typed below, where there are no calls; NumPy's integers are taken as well
        place: int = dim
        if 0 <= place < ndim:
            return place
        if place < 0 and place + ndim >= 0 and ndim:
            return place + ndim
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise errors.dimension_range(dim, limit)
    return index(dim + limit if dim < 0 else dim)


def distinct_dims(dims: Sequence[Any], ndim: int, complaint: Any = None) -> tuple[Any, ...]:
    """Dimensions counted from the front, each named once only."""
    found: list[Any] = []
    for dim in dims:
        dim = wrap_dim(dim, ndim)
        if dim in found:
            first = complaint(dim) if complaint else f"dim {dim} appears multiple times in the list of dims"
            raise errors.mistake(RuntimeError, first)
        found.append(dim)
    return tuple(found)


def all_ints(values: tuple[Any, ...]) -> bool:
    for value in values:
        if type(value) is not int:
            return False
    return True


def shape_arguments(args: tuple[Any, ...], name: str = "", called: str = "") -> tuple[int, ...]:
    """view(2, 3), view((2, 3)) and view(Size) are all the same. `called` is what the argument is called that a function
    without arguments misses, if it misses one."""
    sizes = args
    if not args and called:
        raise TypeError(f'{name}() missing 1 required positional arguments: "{called}"\n  at {errors.here()}')
    if len(args) == 1:
        first = args[0]
        if type(first) is int:
            return args
        if isinstance(first, (tuple, list)):
            sizes = tuple(first)
    if all_ints(sizes):
        return sizes
    try:
        return tuple([index(a) for a in sizes])
    except TypeError:
        raise errors.not_sizes(name, args) from None


def fill_in(name: str, shape: tuple[int, ...], input: Any) -> tuple[int, ...]:
    """Replace the one -1 of a shape by what the number of elements asks for."""
    if not isinstance(input, TensorBase):
        raise errors.not_a_tensor(name, "input", 1, input)
    count: int = input.array.size
    if len(shape) == 1 and (shape[0] == -1 or shape[0] == count):
        return (count,)
    if shape:  # the usual cases: one -1 beside positive sizes, or no negative ones
        lowest, product = min(shape), math.prod(shape)
        if lowest >= 0 and product == count:
            return shape
        if lowest == -1 and product < 0 and count % product == 0 and shape.count(-1) == 1:
            missing = count // -product
            return tuple([missing if s == -1 else s for s in shape])
    if shape and min(shape) < -1:
        wrong = next(i for i, s in enumerate(shape) if s < -1)
        first = f"invalid shape dimension {shape[wrong]} at index {wrong} of shape {errors.size(shape)}"
        raise RuntimeError(f"{first}\n  at {errors.here()}")
    if -1 not in shape:
        if math.prod(shape) != count:
            raise errors.wrong_count(name, input, shape)
        return shape
    if shape.count(-1) > 1:
        raise RuntimeError(f"only one dimension can be inferred\n  at {errors.here()}")
    known = math.prod([s for s in shape if s != -1])
    if known == 0 and count == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {errors.size(shape)} because the unspecified dimension "
            f"size -1 can be any value and is ambiguous\n  at {errors.here()}"
        )
    if known == 0 or count % known:
        raise errors.wrong_count(name, input, shape)
    return tuple([count // known if s == -1 else s for s in shape])
