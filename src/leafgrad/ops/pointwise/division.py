"""Division, rounding, and subtraction the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.bind import TensorOperators, binary, bind
from leafgrad._core.overrides import operator_overridden
from leafgrad._core.tensor import TensorBase, with_layout_noted
from leafgrad._dtypes import BOOL, COMPLEX, FLOAT, INTEGER, from_numpy_dtype
from leafgrad._layouts import copy_in_format, in_common_order
from leafgrad.kernels import divide, native, subtract
from leafgrad.kernels.fused import elements as fused
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.out import ELEMENTWISE, SAME_DTYPE
from leafgrad.ops.pointwise.alpha import checked_alpha
from leafgrad.ops.pointwise.elementwise import Binary, Unary, mul, opposite, reciprocal, scaled, sub, true_div
from leafgrad.ops.promotion import OPERANDS, common_dtype
from leafgrad.ops.registry import Family, Operation, composite, op
from leafgrad.ops.samples import S, pairs
from leafgrad.ops.signature import Number, Rounding, Tensor

A = Any  # an array, or a tensor under create_graph
floored: Any = native(np.floor_divide)
integer_remainder: Any = native(np.remainder)
integer_fmod: Any = native(np.fmod)
truncated: Any = native(np.trunc)
rounded: Any = native(np.rint)


def refuse_zero(x: Any, y: Any) -> None:
    if x.dtype.kind in "iu" and not (y.all() if y.ndim else y):
        raise RuntimeError("ZeroDivisionError")


def floor_quotient(x: Any, y: Any) -> Any:
    refuse_zero(x, y)
    return fused.floor_quotient(x, y) if x.dtype.kind == "f" else floored(x, y)


def truncated_quotient(x: Any, y: Any) -> Any:
    refuse_zero(x, y)
    if x.dtype.kind not in "iu":
        return truncated(divide(x, y))
    quotient = floored(x, y)
    # one less than the truncated one where it is negative and not exact
    return quotient + ((quotient < 0) & (quotient * y != x)).astype(x.dtype)


class Rounded(Binary, family=True):
    """Quotients that are rounded, and what they leave."""

    samples: Any = staticmethod(pairs(0.3, 3))
    refuses = (BOOL, COMPLEX)


def _quotient(mode: str, kernel: Any, how: str) -> Any:
    """What div does with a rounding mode; its gradient is zero."""
    body = {
        "__module__": __name__,
        "__doc__": f"div_{mode}(input, other): input / other, rounded {how}.",
        "kernel": kernel,
        "wide_numbers": True,
        "takes_two_numbers": True,
        "node_name": "DivBackward2",
        "shows": {"rounding_mode": mode},
        "public_name": "",
        "reference": lambda torch, x, y: torch.div(x, y, rounding_mode=mode),
        "aten": "div",
        "vjp_input": zeros_like,
        "vjp_other": zeros_like,
    }
    return op(Operation(f"div_{mode}", Rounded, body))


div_floor = _quotient("floor", floor_quotient, "down")
div_trunc = _quotient("trunc", truncated_quotient, "towards zero")
_ROUNDINGS: dict[Any, Any] = {None: true_div, "floor": div_floor, "trunc": div_trunc}


@composite(
    lambda t: [S(t(3, 2), t(2, low=0.5)), S(t(3), 2.0), S(t(3), t(3, low=0.5), rounding_mode="floor")],
    in_place=true_div,
    aliases=("divide",),
    out=ELEMENTWISE,
    operators={"__truediv__": TensorOperators.__truediv__, "__div__": TensorOperators.__truediv__},
    in_python=("__rtruediv__", "__rdiv__"),
)
def div(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: Rounding | None = None) -> Tensor:
    """div(input, other, *, rounding_mode=None): input / other; rounded towards zero by 'trunc', down by 'floor'."""
    if rounding_mode not in _ROUNDINGS:
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found {rounding_mode!r}"
        )
    return _ROUNDINGS[rounding_mode].function(input, other)


@composite(lambda t: [S(t(3, 2), t(2, low=0.5)), S(t(3), 2.0)], in_place=true_div, out=ELEMENTWISE)
def true_divide(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """true_divide(input, other): input / other, in floating point."""
    return true_div.function(input, other)


@op
class floor_divide(Rounded):
    """floor_divide(input, other): input / other, rounded down. It has no derivative, as in PyTorch."""

    kernel = floor_quotient
    wide_numbers = True
    takes_two_numbers = True
    node_name = "NotImplemented"
    number_name = "NotImplemented(input)"
    operators = ("__floordiv__", "__rfloordiv__")
    in_python = ("__floordiv__", "__rfloordiv__")
    samples = staticmethod(
        lambda t: [
            S(t(3, 4, dtype="int64", low=1, high=9), t(4, dtype="int64", low=1, high=5)),
            S(t(0, dtype="int64", low=1, high=9), 3),
            S(t(dtype="int64", low=1, high=9), 3),
        ]
    )
    kernel_name = "div_floor_cpu"

    def vjp_input(g: A) -> A:
        raise RuntimeError("derivative for aten::floor_divide is not implemented")

    vjp_other = vjp_input


@op
class remainder(Rounded):
    """remainder(input, other): what floor division leaves, with the sign of the divisor."""

    def kernel(x: A, y: A) -> A:
        refuse_zero(x, y)
        return integer_remainder(x, y) if x.dtype.kind in "iu" else fused.remainder(x, y)

    node_name = "RemainderBackward1"
    number_name = "RemainderBackward0(input)"
    operators = ("__mod__", "__rmod__")
    in_python = ("__rmod__",)

    def vjp_input(g: A) -> A:
        return g

    def vjp_other(g: A, input: A, other: A) -> A:
        return -g * div_floor(input, other)


@op
class fmod(Rounded):
    """fmod(input, other): what division rounded towards zero leaves, with the sign of input."""

    def kernel(x: A, y: A) -> A:
        refuse_zero(x, y)
        return fused.fmod(x, y) if x.dtype.kind == "f" else integer_fmod(x, y)

    node_name = "FmodBackward1"
    number_name = "FmodBackward0(input)"
    takes = ("Tensor", "Tensor | Number")

    def vjp_input(g: A) -> A:
        return g

    def vjp_other(g: A, input: A, other: A) -> A:
        return -g * div_trunc(input, other)


@op
class rsub_same(Binary):
    """rsub_same(input, other): other - input; what `number - tensor` does."""

    def kernel(x: A, y: A) -> A:
        return subtract(y, x)

    node_name = "RsubBackward0"
    number_name = "RsubBackward1(input)"
    public_name = ""
    reference = "rsub"
    aten = "rsub"
    refuses = sub.refuses
    no_bool = sub.no_bool

    def vjp_input(g: A) -> A:
        return opposite(g)

    def vjp_other(g: A) -> A:
        return g


def subtract_from(self: Any, other: Any) -> Any:
    """`other - x`."""
    if other.__class__ is int or other.__class__ is float:
        return binary(rsub_same.by_number, self, other)  # the common case
    if not isinstance(other, OPERANDS):
        return operator_overridden("__rsub__", self, other)
    return rsub_same.function(self, other)


@composite(
    lambda t: [S(t(3, 2), t(2)), S(t(3), 2.0), S(t(3), 2.0, alpha=3)],
    method=False,
    operators={"__rsub__": subtract_from},
    in_python=("__rsub__",),
)
def rsub(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """rsub(input, other, *, alpha=1): other - alpha * input."""
    is_bool = input.array.dtype.kind == "b" or (isinstance(other, TensorBase) and other.array.dtype.kind == "b")
    if (alpha.__class__ is not int or alpha != 1) and not is_bool:  # bools are refused below
        input = scaled(input, checked_alpha(alpha, common_dtype(input, other)))
    result = rsub_same.function(input, other)
    if isinstance(other, TensorBase):  # it comes first in the subtraction, so it decides about the layout
        result.array = in_common_order((other.array, input.array), result.array)
        with_layout_noted(result)
    return result


def divide_into(self: Any, other: Any) -> Any:
    """`other / x`, by way of the reciprocal, as PyTorch computes it."""
    if not isinstance(other, OPERANDS):
        return operator_overridden("__rtruediv__", self, other)
    return mul.function(reciprocal.function(self), other)


METHODS = {"__rtruediv__": divide_into, "__rdiv__": divide_into}

# -- rounding: piecewise constant, so that the gradient is zero wherever there is one ----------------------------------


def _rounding(name: str, ufunc: np.ufunc, doc: str, **flags: Any) -> Any:
    loop = native(ufunc)

    def kernel(x: Any) -> Any:
        return copy_in_format(x) if x.dtype.kind in "iu" else loop(x)

    body = {
        "__module__": __name__,
        "__doc__": doc,
        "kernel": kernel,
        "vjp": zeros_like,
        "as_float": False,
        "keeps_zero": True,
        "out": SAME_DTYPE,
        "kernel_name": f"{name}_vml_cpu",
        "refuses": {BOOL: None, COMPLEX: (NotImplementedError, f"{name} is not supported for complex inputs")},
        **flags,
    }
    return op(Operation(name, Unary, body))


floor = _rounding("floor", np.floor, "floor(input): the largest integer not above each element.")
ceil = _rounding("ceil", np.ceil, "ceil(input): the smallest integer not below each element.")
trunc = _rounding("trunc", np.trunc, "trunc(input): each element without its fraction.", aliases=("fix",))


@op
class frac(Unary):
    """frac(input): the fraction of each element, with its sign."""

    keeps_zero = True
    as_float = False
    out = SAME_DTYPE
    refuses = (BOOL, INTEGER, COMPLEX)

    kernel = fused.fraction
    writes_into = True

    def vjp(g: A) -> A:
        return g


@op
class round_(Family):
    """round(input, *, decimals=0): each element rounded to so many decimals, halves to the even neighbour."""

    keeps_zero = True
    options = ("decimals",)
    jvp = "elementwise"
    vmap = "elementwise"
    follows_layout = True
    in_place = True
    node_names = ("RoundBackward1",)  # to decimals
    places = ("special.round",)
    out = SAME_DTYPE

    def kernel(x: A, decimals: int) -> A:
        if x.dtype.kind in "iu":
            return copy_in_format(x)
        if decimals == 0:
            return rounded(x)
        scale = x.dtype.type(10 ** abs(decimals))
        return np.rint(x * scale) / scale if decimals > 0 else np.rint(x / scale) * scale

    def call(input: Tensor, *, decimals: int = 0) -> Tensor:
        kind = from_numpy_dtype(input.array.dtype)
        if kind.category in (BOOL, COMPLEX) or (decimals and kind.category < FLOAT):
            raise NotImplementedError(
                f"\"round_{'cpu' if decimals else 'vml_cpu'}\" not implemented for '{kind.alias}'"
            )
        core = round_.named["RoundBackward1"] if decimals else round_.core
        return bind(core, (input,), (decimals,))

    def vjp(g: A) -> A:
        return zeros_like(g)

    samples = staticmethod(lambda t: [S(t(3, 2)), S(t(3), decimals=1), S(t(), decimals=-1), S(t(0))])
