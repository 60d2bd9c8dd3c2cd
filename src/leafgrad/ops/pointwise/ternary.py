"""Elementwise operations of three tensors: addcmul, addcdiv, lerp."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import BOOL, INTEGER, dtype, from_numpy_dtype
from leafgrad.kernels.fused import elements as fused
from leafgrad.ops.creation.numbers import to_array
from leafgrad.ops.out import ELEMENTWISE
from leafgrad.ops.pointwise.where import mismatched_pair
from leafgrad.ops.promotion import cast, common_dtype
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Number, Tensor

A = Any  # an array, or a tensor under create_graph
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
LARGE = 1e30  # numbers up to here are no problem for either


def factor(value: Any, kind: dtype) -> Any:
    """A number that multiplies tensors of a dtype, which must be able to hold it."""
    held = to_array(value, kind).item()
    return held if kind.category == INTEGER else value.real if not kind.is_complex else value


def broadcast(operation: Any, tensors: tuple[Any, ...], options: tuple[Any, ...], arrays: Sequence[Any]) -> Any:
    try:
        return bind(operation, tensors, options, arrays)
    except ValueError:
        raise errors.broadcast_mismatch(operation.name, mismatched_pair(list(arrays))) from None


# -- a product or a quotient added ------------------------------------------------------------------------------------


class Adding(Family, family=True):
    """input + value * f(tensor1, tensor2)."""

    inputs = ("input", "tensor1", "tensor2")
    options = ("value",)
    shows = {"value": ...}
    follows_layout = True
    vmap = "elementwise"
    jvp = "elementwise"
    in_place = True
    out = ELEMENTWISE

    def vjp_input(g: A) -> A:
        return g


def adding(operation: Any, input: Any, tensor1: Any, tensor2: Any, value: Any, integers: str = "") -> Any:
    """`integers` is said of two tensors of integers, if those are refused."""
    arrays = input.array, tensor1.array, tensor2.array
    tensors = input, tensor1, tensor2
    first, second, third = arrays[0].dtype, arrays[1].dtype, arrays[2].dtype
    if first is second is third and (first is F32 or first is F64):  # the common case
        if value.__class__ in (int, float) and -LARGE < value < LARGE:
            return broadcast(operation.core, tensors, (value,), arrays)
    if integers and second.kind in "biu" and third.kind in "biu":
        raise errors.mistake(RuntimeError, integers)
    kind = common_dtype(*tensors)
    operation.check(kind)
    return broadcast(operation.core, tensors, (factor(value, kind),), [cast(t.array, kind) for t in tensors])


@op
class addcmul(Adding):
    """addcmul(input, tensor1, tensor2, *, value=1): input + value * tensor1 * tensor2."""

    refuses = (BOOL,)
    kernel_name = "addcmul_cpu_out"

    kernel = fused.product_added
    writes_into = True

    def call(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        return adding(addcmul, input, tensor1, tensor2, value)

    def vjp_tensor1(g: A, tensor2: A, value: A) -> A:
        return g * (tensor2 * value)

    def vjp_tensor2(g: A, tensor1: A, value: A) -> A:
        return g * (tensor1 * value)

    samples = lambda t: [
        S(t(3, 2), t(3, 2), t(3, 2)),
        S(t(3, 2), t(2), t(3, 1), value=2),
        S(t(), t(2), t(), value=-1),
        S(t(0), t(0), t(0)),
    ]


INTEGER_QUOTIENT = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
    "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
    "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
    "float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), "
    "for all dtypes."
)


@op
class addcdiv(Adding):
    """addcdiv(input, tensor1, tensor2, *, value=1): input + value * tensor1 / tensor2."""

    kernel_name = "addcdiv_cpu_out"

    kernel = fused.quotient_added
    writes_into = True

    def call(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        return adding(addcdiv, input, tensor1, tensor2, value, INTEGER_QUOTIENT)

    def vjp_tensor1(g: A, tensor2: A, value: A) -> A:
        return g * (value / tensor2)

    def vjp_tensor2(g: A, tensor1: A, tensor2: A, value: A) -> A:
        return -g * (value * tensor1 / (tensor2 * tensor2))

    samples = lambda t: [
        S(t(3, 2), t(3, 2), t(3, 2, low=0.3)),
        S(t(3, 2), t(2), t(3, 1, low=0.3), value=2),
        S(t(), t(2), t(low=0.5), value=-1),
        S(t(0), t(0), t(0)),
    ]


# -- between two tensors ----------------------------------------------------------------------------------------------


class Between(Family, family=True):
    """What lerp_by_number and lerp share."""

    follows_layout = True
    vmap = "elementwise"

    def vjp_input(g: A, weight: A) -> A:
        return g * (1 - weight)

    def vjp_end(g: A, weight: A) -> A:
        return g * weight


@op
class lerp_by_number(Between):
    """lerp_by_number(input, end, weight): lerp, where the weight is a number."""

    inputs = ("input", "end")
    options = ("weight",)
    jvp = "elementwise"
    public_name = ""
    reference = "lerp"
    node_name = "LerpBackward0"
    aten = "lerp"

    def kernel(x: A, end: A, weight: Any) -> A:
        return fused.between(x, end, weight, abs(weight) >= 0.5)

    samples = lambda t: [S(t(3, 2), t(3, 2), 0.3), S(t(3, 1), t(2), 0.75), S(t(0), t(0), 1.5)]


@op
class lerp(Between):
    """lerp(input, end, weight): input + weight * (end - input)."""

    inputs = ("input", "end", "weight")
    node_name = "LerpBackward1"
    in_place = True
    out = ELEMENTWISE

    kernel = fused.between_by_weights
    writes_into = True

    def call(input: Tensor, end: Tensor, weight: Tensor | Number) -> Tensor:
        own = input.array.dtype
        if weight.__class__ is float and end.array.dtype is own and (own is F32 or own is F64):  # the common case
            return broadcast(lerp_by_number.core, (input, end), (weight,), (input.array, end.array))
        kind = from_numpy_dtype(own)
        by_tensor = isinstance(weight, TensorBase)
        given: list[tuple[str, Any]] = [("end", end), *([("weight", weight)] if by_tensor else [])]
        for name, other in given:
            given_kind = from_numpy_dtype(other.array.dtype)
            wider = given_kind.category >= kind.category
            if given_kind is not kind and not (name == "weight" and other.array.ndim == 0 and wider):
                first = f"expected dtype {kind.cpp} for `{name}` but got dtype {given_kind.cpp}"
                raise errors.mistake(RuntimeError, first)
        if kind.category <= INTEGER:
            which = "tensor" if by_tensor else "scalar"
            first = f"\"lerp_kernel_{which}\" not implemented for '{kind.alias}'"
            raise errors.mistake(NotImplementedError, first)
        if isinstance(weight, TensorBase):
            arrays = [input.array, end.array, cast(weight.array, kind)]
            return broadcast(lerp.core, (input, end, weight), (), arrays)
        options = (factor(weight, kind),)
        return broadcast(lerp_by_number.core, (input, end), options, [input.array, end.array])

    def vjp_weight(g: A, input: A, end: A) -> A:
        return g * (end - input)

    samples = lambda t: [
        S(t(3, 2), t(3, 2), t(3, 2)),
        S(t(3, 1), t(2), t()),
        S(t(3), t(3), 0.3),
        S(t(2), t(3, 2), 0.75),
        S(t(0), t(0), t(0)),
    ]
