"""Values that replace those of a tensor: fill, copy, zero. In place, `in_place` writes them into its memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.bind import bind, execute
from leafgrad._core.inplace import assign as assign_to
from leafgrad._core.inplace import count_change, is_free, write
from leafgrad._core.overrides import UNCHANGED, method_overridden, plain_tensors
from leafgrad._core.tensor import SparseArrayBase, TensorBase, constant, links, wrap
from leafgrad._device import contiguous_format
from leafgrad._layouts import empty_like_array, is_dense
from leafgrad.kernels.moving import filled, written
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.creation.from_data import copied
from leafgrad.ops.creation.numbers import fits
from leafgrad.ops.index.overwrite import converted
from leafgrad.ops.inplace import check_history, check_writable, in_place, replace
from leafgrad.ops.out import check_overlap
from leafgrad.ops.promotion import cast
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, real
from leafgrad.ops.signature import Number, Tensor

A = Any  # an array, or a tensor under create_graph


@op
class assign(Family):
    """assign(values): a copy of values; with an array for its result, values are broadcast and converted to that. Every
    change in place that is not computed straight into the memory of a tensor ends in it."""

    inputs = ("values",)
    public_name = ""
    aten = "clone"
    node_name = "CloneBackward0"
    jvp = "linear"
    writes_into = True
    samples = staticmethod(real())
    reference = "clone"

    def kernel(values: A, out: A = None) -> A:
        if out is None:
            return values.copy()
        if out.dtype is values.dtype:
            return written(out, values) if values.ndim else filled(out, values)
        np.copyto(out, values, casting="unsafe")
        return out

    def vjp(g: A) -> A:
        return g


@op
class copy_like(Family):
    """copy_like(like, gradient): a copy of a gradient in the memory layout of its leaf."""

    inputs = ("like", "gradient")
    public_name = ""
    aten = "clone"
    node_name = "CopyBackwards"
    jvp = "linear"
    samples = staticmethod(lambda t: [S(t(3, 2), t(3, 2)), S(t(), t()), S(t(0), t(0))])
    reference = lambda torch, like, gradient: gradient.clone()

    def kernel(like: A, gradient: A) -> A:
        if gradient.__class__ is np.ndarray is like.__class__ and like.flags.c_contiguous:
            return gradient.copy()  # nearly always, in a third of the time
        expanded = like.__class__ is np.ndarray and 0 in like.strides and like.size > 1  # it has no order of its own
        copy = np.empty(like.shape, gradient.dtype) if expanded else np.empty_like(like, gradient.dtype)
        copy[...] = gradient
        return copy

    def vjp_like(g: A) -> A:
        return zeros_like(g)

    def vjp_gradient(g: A) -> A:
        return g


def copied_gradient(gradient: Any, leaf: TensorBase) -> Any:
    """What `.grad` of a leaf becomes if the backward pass is recorded: a copy, which is recorded as well, in the memory
    layout of the leaf if that has no gaps."""
    if gradient.array.__class__ is not np.ndarray and isinstance(gradient.array, SparseArrayBase):
        return gradient.clone()
    if leaf.array.__class__ is not np.ndarray or not is_dense(leaf.array):
        return gradient.clone(memory_format=contiguous_format)
    return copy_like.record(wrap(leaf.array), gradient)


links.copied_gradient = copied_gradient
links.assign = assign.core
links.copy_like = copy_like.core


@op
class fill(Family):
    """fill(input, value): one value, a number or a tensor without dimensions, everywhere."""

    inputs = ("input", "value")
    jvp = "linear"
    node_names = ("FillBackward1", "FillBackward2", "FillBackward3")  # with a tensor; in place; both
    hides = {"FillBackward0": ("value",), "FillBackward2": ("value",)}
    method = False
    in_place_function = True

    def kernel(x: A, value: A) -> A:
        filled = empty_like_array(x)
        filled[...] = cast(value, _dtypes.from_numpy_dtype(x.dtype))
        return filled

    def call(input: Tensor, value: Tensor | Number) -> Tensor:
        core = fill.named["FillBackward1"] if isinstance(value, TensorBase) else fill.core
        return bind(core, (input, fill_value(input, value)))

    def in_place(self: Tensor, value: Tensor | Number) -> Tensor:
        """fill_(value): one value, a number or a tensor without dimensions, everywhere."""
        if fits(value, self.array.dtype) and is_free(self):  # the usual case
            write(self, assign.core, (constant(value, self.array.dtype),))
            return self
        check_history(self, (value,))
        made = fill_value(self, value)
        check_writable(self, made)
        if made is value:
            check_overlap(self.array, None, ())  # as PyTorch, which lets numbers pass
        if has_history(self) or has_history(made):
            return replace(self, fill_with_tensor if made is value else fill_with_number, made)
        return overwritten(self, cast(made.array, _dtypes.from_numpy_dtype(self.array.dtype)))

    def vjp_input(g: A) -> A:
        return zeros_like(g)

    def vjp_value(g: A) -> A:
        return g  # the engine sums it

    def vmap(batch: A, x: A, value: A) -> A:
        return np.zeros_like(x) + value.astype(x.dtype) if batch.holds(x) else NotImplemented

    samples = staticmethod(lambda t: [S(t(3, 2), 1.5), S(t(3, 2), t()), S(t(), 2), S(t(0), 1.0)])


def fill_with_number(input: TensorBase, value: TensorBase) -> Any:
    """What `fill_` does with a number."""
    return bind(fill.named["FillBackward2"], (input, value))


def fill_with_tensor(input: TensorBase, value: TensorBase) -> Any:
    """What `fill_` does with a tensor, and `x[...] =` with either."""
    return bind(fill.named["FillBackward3"], (input, value))


def has_history(t: TensorBase) -> bool:
    return t.needs_grad or t.rare is not None


def overwritten(t: Any, value: Any) -> Any:
    """A tensor that autograd has nothing to do with, with other values."""
    assign_to(t, value)
    return t


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
    return wrap(converted(value, input.array, rounds=input.array.size == 1))


@op
class copy_from(Family):
    """copy_from(input, other): the values of other in the shape and dtype of input; what `copy_` writes."""

    inputs = ("input", "other")
    node_name = "CopyBackwards"
    public_name = ""
    reference = lambda torch, x, other: x.clone().copy_(other)
    in_place_name = "copy_"
    aten = "copy"
    jvp = "linear"
    holomorphic = False

    def kernel(x: A, other: A) -> A:
        try:
            seen = np.broadcast_to(other, x.shape)
        except ValueError:
            raise errors.broadcast_mismatch("copy_", (x, other)) from None
        return cast(seen, _dtypes.from_numpy_dtype(x.dtype))

    def call(input: A, other: TensorBase) -> Any:
        if other.array.dtype.kind == "c" and input.array.dtype.kind not in "cb":
            errors.warn("Casting complex values to real discards the imaginary part")
        return copy_from.record(input, other)

    def in_place(self: Tensor, other: Tensor | Number, non_blocking: bool = False) -> Tensor:
        """copy_(other, non_blocking=False): take over the values of another tensor, broadcast and converted."""
        if other.__class__ in plain_tensors and is_free(self, None if other is self else other):  # the usual case
            given: Any = other
            own, given = self.array, given.array
            if own is given:  # nothing to write
                count_change(self)
                return self
            if own.dtype is given.dtype and own.shape == given.shape:
                assign_to(self, given)
                return self
        if (taken := method_overridden("copy_", self, other)) is not UNCHANGED:
            return taken
        if isinstance(other, (int, float, complex)):
            other = wrap(copied(other, None))
        if not isinstance(other, TensorBase):
            raise errors.not_a_tensor("copy_", "other", 1, other)
        if self.array.dtype.kind in "biu" and other.needs_grad:  # nothing to record, and no reason to refuse it
            other = wrap(other.array)
        shared = other.version is self.version or 0 in self.array.strides
        if shared or has_history(self) or has_history(other) or other.array.dtype.kind == "c":
            return in_place(self, copy_from.function, other)
        if other.array.shape != self.array.shape:
            return overwritten(self, execute(copy_from.core, (self.array, other.array), ()))
        return overwritten(self, other.array)

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
    in_place_name = "zero_"
    writes_into = True
    jvp = "linear"
    vmap = "elementwise"
    samples = staticmethod(real())

    def kernel(x: A, out: A = None) -> A:
        if out is None:
            return np.zeros(x.shape, x.dtype)
        return filled(out, np.zeros((), out.dtype))

    def in_place(self: Tensor) -> Tensor:
        """zero_(): zeros everywhere."""
        if is_free(self):  # the usual case
            write(self, zero.core, (self.array,))
            return self
        check_writable(self)
        return replace(self, zero.function) if has_history(self) else overwritten(self, np.zeros((), self.array.dtype))

    def vjp(g: A) -> A:
        return zeros_like(g)
