"""where: choosing between the elements of two tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase, constant
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.kernels.fused import basic as fused
from leafgrad.kernels.language import F32, F64
from leafgrad.ops.arguments import matched
from leafgrad.ops.creation.fresh import zero_like
from leafgrad.ops.creation.numbers import to_array
from leafgrad.ops.out import Elementwise
from leafgrad.ops.promotion import cast, common_dtype, operand
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Number, Tensor

A = Any  # an array, or a tensor under create_graph


@op
class where(Family):
    """where(condition, input, other): elements of input where the condition holds, of other elsewhere."""

    inputs = ("condition", "input", "other")
    vmap = "elementwise"
    follows_layout = True
    out = Elementwise("Expected out type to be {wanted.alias} but got {given.alias}")

    kernel = fused.select
    signatures = (
        "(condition: Tensor) -> tuple[Tensor, ...]",
        "(condition: Tensor, input: Tensor | Number, other: Tensor | Number) -> Tensor",
    )

    def call(
        condition: Tensor, input: Tensor | Number | None = None, other: Tensor | Number | None = None
    ) -> Tensor | tuple[Tensor, ...]:
        if input is None and other is None:
            return condition.nonzero(as_tuple=True)
        if input is None or other is None:
            matched(where.function, (input,), {})  # which raises
        mask = _mask(condition)
        if isinstance(input, TensorBase) and isinstance(other, TensorBase) and mask is condition.array:
            if input.array.dtype == other.array.dtype:
                try:  # the common case, without a look at promotion
                    return bind(where.core, (condition, input, other))
                except ValueError:
                    pass  # shapes that do not fit together: below are the words for it
        if isinstance(input, TensorBase) and other.__class__ is float and mask is condition.array:
            own = input.array.dtype
            if own is F32 or own is F64:  # as common
                try:
                    return bind(where.core, (condition, input, None), (), (mask, input.array, constant(other, own)))
                except ValueError:
                    pass
        kind = common_dtype(input, other)
        tensors = [v if isinstance(v, TensorBase) else None for v in (input, other)]
        arrays = [mask, *[_in_dtype(v, kind) for v in (input, other)]]
        try:
            return bind(where.core, (condition, *tensors), (), arrays)
        except ValueError:
            raise errors.broadcast_mismatch("where", mismatched_pair(arrays)) from None

    def method(self: Tensor, condition: Tensor, other: Tensor | Number) -> Tensor:
        """where(condition, other): this tensor's elements where the condition holds, of other elsewhere."""
        return where.function(condition, self, other)

    def vjp_input(g: A, condition: A) -> A:
        return where(condition, g, zero_like(g))

    def vjp_other(g: A, condition: A) -> A:
        return where(condition, zero_like(g), g)

    samples = staticmethod(
        lambda t: [
            S(t(3, 4, dtype="bool"), t(3, 4), t(3, 4)),
            S(t(4, dtype="bool"), t(3, 1), t()),
            S(t(3, dtype="bool"), t(3), 1.5),
            S(t(0, dtype="bool"), t(0), t(0)),
        ]
    )


def _mask(condition: TensorBase) -> Any:
    """The condition as an array of bools."""
    array = condition.array
    if array.dtype == np.bool_:
        return array
    if array.dtype != np.uint8:
        alias = from_numpy_dtype(array.dtype).alias
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {alias}")
    errors.warn(
        "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version "
        "of PyTorch. Use a boolean condition instead."
    )
    return array != 0


def _in_dtype(value: Any, kind: Any) -> Any:
    """An operand in the common dtype; a number has to fit into it."""
    if isinstance(value, TensorBase):
        return cast(value.array, kind)
    found = operand(value)
    if found is None:
        raise errors.not_a_tensor("where", "other", 3, value)
    return to_array(value, kind) if isinstance(value, (int, float, complex)) else cast(found[1], kind)


def mismatched_pair(arrays: list[Any]) -> tuple[Any, Any]:
    for i in range(len(arrays)):
        for j in range(i):
            try:
                np.broadcast_shapes(arrays[j].shape, arrays[i].shape)
            except ValueError:
                return arrays[j], arrays[i]
    return arrays[-2], arrays[-1]
