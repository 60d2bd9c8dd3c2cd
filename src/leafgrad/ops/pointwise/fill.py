"""Values that replace those of a tensor: fill, copy, zero. In place, `in_place` writes them into its memory."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase, links, wrap
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.index.overwrite import converted
from leafgrad.ops.promotion import cast
from leafgrad.ops.registry import Family, op, renamed
from leafgrad.ops.samples import S, real

A = Any  # an array, or a tensor under create_graph


@op
class assign(Family):
    """assign(values): a copy of values; with an array for its result, values are broadcast and converted to that. Every
    change in place that is not computed straight into the memory of a tensor ends in it."""

    inputs = ("values",)
    public_name = ""
    jvp = "linear"
    writes_into = True
    samples = staticmethod(real())
    reference = "clone"

    def forward(values: A, *out: A) -> A:
        if not out:
            return values.copy()
        target = out[0]
        if target.dtype is values.dtype:
            target[...] = values  # half the time of copyto
        else:
            np.copyto(target, values, casting="unsafe")
        return target

    def call(values: A) -> Any:
        return assign.record(values)

    def vjp(g: A) -> A:
        return g


@op
class copy_like(Family):
    """copy_like(gradient, like): a copy of a gradient in the memory layout of its leaf."""

    inputs = ("gradient", "like")
    public_name = ""
    jvp = "linear"
    samples = staticmethod(lambda t: [S(t(3, 2), t(3, 2)), S(t(), t()), S(t(0), t(0))])
    reference = lambda torch, gradient, like: gradient.clone()

    def forward(gradient: A, like: A) -> A:
        copy = np.empty_like(like)
        copy[...] = gradient
        return copy

    def call(gradient: A, like: A) -> Any:
        return copy_like.record(gradient, like)

    def vjp_gradient(g: A) -> A:
        return g


links.assign = assign.core
links.copy_like = copy_like.core


@op
class fill(Family):
    """fill(input, value): one value, a number or a tensor without dimensions, everywhere."""

    inputs = ("input", "value")
    jvp = "linear"
    method = False

    def forward(x: A, value: A) -> A:
        return np.full(x.shape, cast(value, _dtypes.from_numpy_dtype(x.dtype)))

    def call(input: A, value: Any) -> Any:
        core = _fill_with_tensor if isinstance(value, TensorBase) else fill.core
        return bind(core, (input, fill_value(input, value)))

    def vjp_input(g: A) -> A:
        return zeros_like(g)

    def vjp_value(g: A) -> A:
        return g  # the engine sums it

    def vmap(batch: A, x: A, value: A) -> A:
        return np.zeros_like(x) + value.astype(x.dtype) if batch.holds(x) else NotImplemented

    samples = staticmethod(lambda t: [S(t(3, 2), 1.5), S(t(3, 2), t()), S(t(), 2), S(t(0), 1.0)])


_fill_with_tensor = renamed(fill.core, "FillBackward1")
_with_number = renamed(fill.core, "FillBackward2", hidden=(1,))
_with_tensor = renamed(fill.core, "FillBackward3")


def fill_with_number(input: TensorBase, value: TensorBase) -> Any:
    """What `fill_` does with a number."""
    return bind(_with_number, (input, value))


def fill_with_tensor(input: TensorBase, value: TensorBase) -> Any:
    """What `fill_` does with a tensor, and `x[...] =` with either."""
    return bind(_with_tensor, (input, value))


def fill_value(input: TensorBase, value: Any) -> Any:
    """The value of a fill as a tensor without dimensions; a number has to fit into the dtype of the input."""
    if isinstance(value, TensorBase):
        if value.array.ndim:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {value.array.ndim} dimensions."
            )
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, (int, float, complex)):
        raise TypeError(f"fill_(): argument 'value' must be Tensor or Number, not {type(value).__name__}")
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise OverflowError("int too big to convert" if value > 0 else "can't convert negative int to unsigned")
    return wrap(converted(value, input.array))


@op
class copy_from(Family):
    """copy_from(input, other): the values of other in the shape and dtype of input; what `copy_` writes."""

    inputs = ("input", "other")
    node_name = "CopyBackwards"
    public_name = ""
    reference = lambda torch, x, other: x.clone().copy_(other)
    jvp = "linear"
    holomorphic = False

    def forward(x: A, other: A) -> A:
        try:
            seen = np.broadcast_to(other, x.shape)
        except ValueError:
            raise errors.broadcast_mismatch("copy_", (x, other)) from None
        return cast(seen, _dtypes.from_numpy_dtype(x.dtype))

    def call(input: A, other: TensorBase) -> Any:
        if other.array.dtype.kind == "c" and input.array.dtype.kind not in "cb":
            warnings.warn("Casting complex values to real discards the imaginary part", UserWarning, stacklevel=4)
        return copy_from.record(input, other)

    def vjp_input(g: A) -> A:
        return zeros_like(g)

    def vjp_other(g: A) -> A:
        return g  # the engine undoes the broadcast and the cast

    samples = staticmethod(lambda t: [S(t(3, 2), t(3, 2)), S(t(3, 2), t(2)), S(t(3), t())])


@op
class zero(Family):
    """zero(input): zeros in the shape of input; what `zero_` writes."""

    public_name = ""
    reference = lambda torch, x: x.clone().zero_()
    jvp = "linear"
    vmap = "elementwise"
    samples = staticmethod(real())

    def forward(x: A) -> A:
        return np.zeros(x.shape, x.dtype)

    def call(input: A) -> Any:
        return zero.record(input)

    def vjp(g: A) -> A:
        return zeros_like(g)
