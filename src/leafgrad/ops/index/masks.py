"""Masks: reading and writing where a bool tensor is True; positions of elements; triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind, bind_many
from leafgrad._core.tensor import TensorBase, is_meta
from leafgrad._core.views import bind_view
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.kernels.fused import basic as fused
from leafgrad.kernels.moving import native_move
from leafgrad.ops.creation.fresh import zero_like
from leafgrad.ops.index.checks import alias, outside
from leafgrad.ops.index.gather import index, index_sum
from leafgrad.ops.index.overwrite import (
    Overwriting,
    expanded_warning,
    fill_where,
    on_a_copy,
    same_dtype,
    value_tensor,
    zero,
)
from leafgrad.ops.index.scatter import scattered
from leafgrad.ops.index.slices import around
from leafgrad.ops.out import Apart
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.promotion import cast
from leafgrad.ops.reduce.common import F32, F64, raw
from leafgrad.ops.registry import Family, Operation, composite, op, unseen, with_kernel
from leafgrad.ops.samples import S
from leafgrad.ops.shape.views import expand
from leafgrad.ops.signature import Number, Prepared, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any

ONE = np.array(1)

# -- where a mask says so ---------------------------------------------------------------------------------------------


def check_mask(mask: Any, message: str) -> None:
    if mask.array.dtype.kind != "b":
        raise errors.mistake(RuntimeError, message)


def broadcast_with(input: TensorBase, mask: TensorBase, name: str) -> tuple[Any, Any]:
    """A tensor and a mask in their common shape."""
    if input.array.shape == mask.array.shape:
        return input, mask
    try:
        shape = np.broadcast_shapes(input.array.shape, mask.array.shape)
    except ValueError:
        raise errors.broadcast_mismatch(name, (mask.array, input.array)) from None
    wide = input if input.array.shape == shape else bind_view(unseen(expand), expand, input, (shape,))
    return wide, mask if mask.array.shape == shape else expand.function(mask, shape)


@on_a_copy
def _fill(x: Array, mask: Array, value: Array) -> None:
    if mask.__class__ is np.ndarray and mask.shape == x.shape and value.dtype is x.dtype:
        fill_where(x, mask, value)
    else:
        np.putmask(x, mask, cast(value, from_numpy_dtype(x.dtype)))


def with_values_chosen(x: Array, mask: Array, value: Array, *out: Array) -> Array:
    """The kernel of masked_fill. A copy of floats is made and filled in one go, in a fifth of the time."""
    kind = x.dtype
    if not out and (kind is F32 or kind is F64) and value.dtype is kind and mask.__class__ is np.ndarray:
        if mask.shape == x.shape and x.flags.c_contiguous and mask.flags.c_contiguous:
            return fused.select(mask, value, x)
    return _fill(x, mask, value, *out)


@op
class masked_fill(Overwriting):
    """masked_fill(input, mask, value): value where the mask is True, input elsewhere."""

    inputs = ("input", "mask", "value")
    node_names = ("MaskedFillBackward1",)  # with a tensor
    warns_of_expanded = expanded_warning("masked_fill_", "tensor[mask] = scalar")
    reads_elsewhere = False
    hides = {"MaskedFillBackward0": ("value",)}

    kernel = with_values_chosen

    def prepare(input: Tensor, mask: Tensor, value: Tensor | Number) -> Prepared:
        if mask.array.dtype.kind != "b":
            kind = from_numpy_dtype(mask.array.dtype).cpp
            check_mask(mask, f"masked_fill_ only supports boolean masks, but got mask with dtype {kind}")
        made = value_tensor("masked_fill", input, value)
        name = ("MaskedFillBackward1",) if isinstance(value, TensorBase) else ()
        return (*broadcast_with(input, mask, "masked_fill"), made), (), *name

    def vjp_input(g: A, mask: A) -> A:
        return masked_fill(g, mask, zero(g))

    def vjp_value(g: A, mask: A) -> A:
        return where(mask, g, zero_like(g))

    def vmap(batch: A, x: A, mask: A, value: A) -> A:
        return np.where(mask, value.astype(x.dtype), x)

    samples = lambda t: [
        S(t(3, 4), t(3, 4, dtype="bool"), 1.5),
        S(t(3, 4), t(4, dtype="bool"), t()),
        S(t(4), t(2, 1, dtype="bool"), 0),
        S(t(), t(dtype="bool"), t()),
        S(t(0, 2), t(2, dtype="bool"), 1),
    ]


@op
class masked_scatter(Overwriting):
    """masked_scatter(input, mask, source): the elements of source, one after the other, where the mask is True."""

    shows = {"source_sym_sizes": ...}
    inputs = ("input", "mask", "source")
    reads_elsewhere = False

    @on_a_copy
    def kernel(x: Array, mask: Array, source: Array) -> None:
        x[mask] = source.reshape(-1)[: np.count_nonzero(mask)]

    def prepare(input: Tensor, mask: Tensor, source: Tensor) -> Prepared:
        check_mask(mask, f"masked_scatter_ only supports boolean masks, but got mask with dtype {alias(mask.array)}")
        message = "masked_scatter: expected self and source to have same dtypes but got{} and {}"
        same_dtype(input.array, source.array, message)
        input, mask = broadcast_with(input, mask, "masked_scatter")
        if not is_meta(mask.array) and np.count_nonzero(mask.array) > source.array.size:
            raise errors.mistake(RuntimeError, "Number of elements of source < number of ones in mask")
        return (input, mask, source), ()

    def vjp_input(g: A, mask: A) -> A:
        return masked_fill(g, mask, zero(g))

    def vjp_source(g: A, mask: A, source_shape: A) -> A:
        at = np.flatnonzero(raw(mask))
        size = int(np.prod(source_shape))
        return around(index(g, 0, len(g.shape), at), (size,), (slice(0, at.size),)).reshape(source_shape)

    samples = lambda t: [
        S(t(3, 4), t(3, 4, dtype="bool"), t(3, 4)),
        S(t(3, 4), t(4, dtype="bool"), t(20)),
        S(t(), t(dtype="bool"), t(2)),
    ]


@op
class masked_select(Family):
    """masked_select(input, mask): the elements where the mask is True, in one dimension."""

    saved_as = {"input_shape": ""}
    inputs = ("input", "mask")
    holomorphic = False
    meta = "refused"
    out = Apart("masked_select(): self and result must have the same scalar type")
    exempt = {"vmap": "masked_select"}

    def kernel(x: A, mask: A) -> A:
        # positions first: NumPy's x[mask] stumbles over every change between True and False
        return x.reshape(-1).take(np.flatnonzero(mask))

    def call(input: Tensor, mask: Tensor) -> Tensor:
        check_mask(mask, "masked_select: expected BoolTensor for mask")
        return masked_select.record(*broadcast_with(input, mask, "masked_select"))

    def vjp_input(g: A, input_shape: A, mask: A) -> A:
        return index_sum(g, input_shape, 0, len(input_shape), np.flatnonzero(raw(mask)))

    def vmap(batch: A, x: A, mask: A) -> A:
        if batch.holds(mask):
            raise RuntimeError(
                "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because "
                "for each batch this would return a differently shaped Tensor. Please file an issue at "
                "https://github.com/pytorch/pytorch/issues if you need this feature.\n"
                "  fix: torch.where(mask, x, 0) keeps the shape of x"
            )
        return batch.by_sample()

    samples = lambda t: [
        S(t(3, 4), t(3, 4, dtype="bool")),
        S(t(3, 4), t(4, dtype="bool")),
        S(t(4), t(2, 1, dtype="bool")),
        S(t(), t(dtype="bool")),
        S(t(0, 2), t(2, dtype="bool")),
    ]


# -- positions --------------------------------------------------------------------------------------------------------


@op
class nonzero(Family):
    """nonzero(input, *, as_tuple=False): the positions of the elements that are not zero, one row for each; with
    as_tuple one vector for each dimension."""

    out = "nonzero: Expected out tensor to have scalar type Long but got scalar type{given.alias}"
    exempt = {"vmap": "dynamic shape"}
    signatures = (
        "(input: Tensor, *, as_tuple: Literal[False] = False) -> Tensor",
        "(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]",
    )
    differentiable = False
    samples = lambda t: [S(t(3, 4)), S(t(3, 4, dtype="bool"), as_tuple=True), S(t()), S(t(0, 3))]

    def meta(x: A, *size: int) -> A:
        if size:  # see nonzero_static
            return np.broadcast_to(np.int64(0), (size[0], x.ndim))
        raise errors.mistake(
            NotImplementedError,
            "The register_meta function for torch.nonzero() raises unimplemented by default, as a correct "
            "data-independent implementation does not exist.",
        )

    def kernel(x: A) -> A:
        return np.argwhere(x)

    def call(input: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
        if not as_tuple:
            return nonzero.record(input)
        return tuple(bind_many(_positions, (input,)))

    def vmap(batch: A, x: A, *options: A) -> A:
        raise batch.dynamic_shape()


def _rows_of_positions(x: A, size: int, fill_value: int) -> A:
    found = np.argwhere(x)[:size]
    rows = np.full((size, found.shape[1]), fill_value, np.int64)
    rows[: len(found)] = found
    return rows


places_of_mask = with_kernel(nonzero.core, lambda mask: mask.reshape(-1).nonzero()[0])  # in the flat array
# by dimension; NumPy's are columns of one array
_positions = with_kernel(nonzero.core, lambda x: [at.copy() for at in np.nonzero(np.atleast_1d(x))])
_static = with_kernel(nonzero.core, _rows_of_positions)


@composite(lambda t: [S(t(3, 4)), S(t())], exempt={"vmap": "dynamic shape"})
def argwhere(input: Tensor) -> Tensor:
    """argwhere(input): the positions of the elements that are not zero, one row for each."""
    return nonzero.function(input)


@composite(
    lambda t: [S(t(3, 4), size=5), S(t(2, dtype="bool"), size=0), S(t(), size=2)], exempt={"vmap": "dynamic shape"}
)
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """nonzero_static(input, *, size, fill_value=-1): exactly `size` rows of nonzero, filled up or cut off."""
    if size < 0:
        raise errors.mistake(RuntimeError, "nonzero_static: 'size' must be an non-negative integer")
    return bind(_static, (input,), (size, fill_value))


@op
class one_hot(Family):
    """one_hot(tensor, num_classes=-1): for each index a vector of zeros with a one at that index."""

    options = ("num_classes",)
    differentiable = False
    public_name = ""  # nn.functional has it
    row_major = True
    samples = lambda t: [S(t(3, 2, dtype="int64", low=0, high=4)), S(t(dtype="int64", low=0, high=3), 5)]

    def kernel(x: A, num_classes: Any) -> A:
        if x.__class__ is not np.ndarray:
            return (x[..., None] == np.arange(num_classes)).astype(np.int64)
        out = np.zeros((x.size, num_classes), np.int64)
        scattered(out, x.reshape(-1, 1), ONE, 1, False)
        return out.reshape(*x.shape, num_classes)

    def call(tensor: Tensor, num_classes: int = -1) -> Tensor:
        x = tensor.array
        if x.dtype != np.int64:
            raise errors.mistake(RuntimeError, "one_hot is only applicable to index tensor of type LongTensor.")
        if not x.size and num_classes <= 0:
            raise errors.mistake(RuntimeError, "Can not infer total number of classes from empty tensor.")
        if num_classes == -1:
            num_classes = int(x.max()) + 1
        wrong = None if is_meta(x) else outside(x, 0, num_classes)
        if wrong is not None and x.min() < 0:
            raise errors.mistake(RuntimeError, "Class values must be non-negative.")
        if wrong is not None:
            raise errors.mistake(RuntimeError, "Class values must be smaller than num_classes.")
        return one_hot.record(tensor, num_classes)


# -- triangles --------------------------------------------------------------------------------------------------------


class Triangle(Family, family=True):
    """Matrices with zeros on one side of a diagonal."""

    row_major = True
    options = ("diagonal",)
    vmap = "dims"
    holomorphic = False
    jvp = "linear"
    in_place = True
    in_place_function = False
    out = True
    samples = lambda t: [S(t(3, 4)), S(t(4, 3), 1), S(t(2, 3, 3), -1), S(t(3, 3), diagonal=7), S(t(0, 3))]

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        def call(input: Tensor, diagonal: int = 0) -> Tensor:
            if input.array.ndim < 2:
                first = f"{operation.name}: input tensor must have at least 2 dimensions"
                raise errors.mistake(RuntimeError, first, ("tensor", errors.describe(input)))
            return operation.record(input, diagonal)

        return Family.public(operation, {"call": call})


@op
class tril(Triangle):
    """tril(input, diagonal=0): the lower triangle of matrices, zero above `diagonal`."""

    kernel = native_move("lower_part")(np.tril)

    def vjp(g: A, diagonal: A) -> A:
        return tril(g, diagonal)


@op
class triu(Triangle):
    """triu(input, diagonal=0): the upper triangle of matrices, zero below `diagonal`."""

    kernel = native_move("upper_part")(np.triu)

    def vjp(g: A, diagonal: A) -> A:
        return triu(g, diagonal)
