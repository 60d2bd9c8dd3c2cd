"""Powers. PyTorch tells three cases apart, and so do the names of their nodes: a tensor to the power of a number, of a
tensor, and a number to the power of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.overrides import UNCHANGED, method_overridden, operator_overridden, plain
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import INTEGER, complex128, float64, from_numpy_dtype
from leafgrad.kernels import multiply, square_root
from leafgrad.kernels.fused import basic as fused
from leafgrad.kernels.fused.elements import cube
from leafgrad.ops.creation.fresh import zero_like, zeros_like
from leafgrad.ops.creation.numbers import refuse_overflow, to_array
from leafgrad.ops.inplace import in_place
from leafgrad.ops.out import ELEMENTWISE
from leafgrad.ops.pointwise.elementwise import Binary, log
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.promotion import NUMBERS, OPERANDS, common_dtype, mixed_binary
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S, pairs, real
from leafgrad.ops.signature import Number, Tensor

A = Any  # an array, or a tensor under create_graph
FLOAT_POWER_OUT = (
    "the output given to float_power has dtype {given.alias} but the operation's result requires dtype {wanted.alias}"
)


def power_of_arrays(x: Any, y: Any) -> Any:
    if x.dtype.kind == "b":
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if x.dtype.kind == "i" and y.size and y.min() < 0:
        # as PyTorch: 1 and -1 keep their meaning, everything else rounds to zero
        odd = np.where(y % 2 == 0, 1, x)
        return np.where(y >= 0, np.power(x, np.abs(y)), np.where(np.abs(x) == 1, odd, 0)).astype(x.dtype)
    if y.size == 1 and y.dtype.kind == "f" and y.item() == 0.5:
        y = np.full(np.broadcast_shapes(x.shape, y.shape), y)  # of one exponent NumPy would make a square root
    return np.power(x, y)


@op
class pow_tensor(Binary):
    """pow_tensor(input, exponent): a tensor (or number) to the power of a tensor."""

    inputs = ("input", "exponent")
    kernel = power_of_arrays
    node_name = "PowBackward1"
    node_names = ("PowBackward2",)  # a number to the power of a tensor
    hides = {"PowBackward2": ("input",)}
    public_name = ""
    reference = "pow"
    aten = "pow"
    samples = pairs(0.3, 2.5)

    def vjp_input(g: A, input: A, exponent: A) -> A:
        # 0 * x**-1 is not a number at x = 0, but the derivative of the constant x**0 is zero there too
        return where(exponent == 0, zero_like(g), g * (exponent * pow_tensor(input, exponent - 1)))

    def vjp_exponent(g: A, input: A, exponent: A, out: A) -> A:
        slope = out * log(input)
        if input.__class__ is np.ndarray and input.all():
            return g * slope
        # 0**y is constantly zero for y >= 0, although its logarithm is not finite
        return g * where((input == 0) & (exponent.real >= 0), zero_like(out), slope)


def _shortcut(x: Any, exponent: Any) -> Any:
    """x**exponent. The usual exponents take a shorter way than the general power."""
    if exponent == 2:
        return multiply(x, x)
    if exponent == 1:
        return x.copy("K")
    if x.dtype.kind in "fcV":  # V: bfloat16
        if exponent == 3:
            return cube(x) if x.dtype.kind == "f" else multiply(multiply(x, x), x)
        if x.dtype.char != "e":  # the root of -0.0 is -0.0, but in float16 PyTorch takes the general power, 0.0
            if exponent == 0.5:
                return square_root(x)
            if exponent == -0.5:
                return np.reciprocal(np.sqrt(x))
        if exponent == -1:
            return np.reciprocal(x)
        if exponent == -2:
            return np.reciprocal(x * x)
    elif x.dtype.kind == "b":
        return x | (not exponent)  # only ever to the power of a bool: 0**0 is 1
    return np.power(x, np.asarray(exponent, x.dtype))


@op
class pow_number(Family):
    """pow_number(input, exponent): a tensor to the power of a number."""

    options = ("exponent",)
    kernel = _shortcut
    jvp = "elementwise"
    vmap = "elementwise"
    follows_layout = True
    node_name = "PowBackward0"
    public_name = ""
    reference = "pow"
    aten = "pow"

    def call(input: A, exponent: Any) -> Any:
        own = input.array.dtype
        if own.kind not in "fc" or isinstance(exponent, complex):
            kind = common_dtype(input, exponent)
            if kind.category <= INTEGER and exponent < 0:
                raise RuntimeError("Integers to negative integer powers are not allowed.")
            if kind.category == INTEGER:
                to_array(exponent, kind)  # an error if it does not fit
            if own != kind.np:
                input = input.to(kind)
        if own.itemsize == 2:
            refuse_overflow(exponent, from_numpy_dtype(own))
        return bind(pow_number.core, (input,), (exponent,))

    def vjp(g: A, input: A, exponent: A) -> A:
        if exponent == 0:
            return zeros_like(g)
        if not isinstance(input, TensorBase):  # shorter ways, which a recorded pass does not take:
            if exponent == 2:  # in PyTorch even the second derivative of a square has a graph behind it
                return fused.square_backward(g, input)
            if exponent == 1:
                return g
        return g * scaled(pow_number(input, exponent - 1), exponent)

    samples = staticmethod(
        lambda t: [
            *[S(t(3, 2, low=0.3, high=2.5), e) for e in (2, 3, 0.5, -1, -2, 1, 0, 1.7)],
            S(t(3), 2),
            S(t(), 3),
            S(t(0), 2.5),
        ]
    )


def scaled(x: A, number: Any) -> A:
    """number * x. Beside an array of half precision NumPy would round the number first."""
    if isinstance(x, TensorBase) or x.dtype.itemsize != 2 or x.dtype.kind == "i":
        return number * x
    return (x * np.float32(number)).astype(x.dtype)


def power(self: Any, exponent: Any) -> Any:
    """`x ** exponent`."""
    kind = self.array.dtype
    if (exponent.__class__ is int or exponent.__class__ is float) and kind.kind == "f" and kind.itemsize > 2:
        return bind(pow_number.core, (self,), (exponent,))  # the common case
    return pow(self, exponent) if isinstance(exponent, OPERANDS) else operator_overridden("__pow__", self, exponent)


def power_of(self: Any, base: Any) -> Any:
    """`base ** x`."""
    return pow(base, self) if isinstance(base, OPERANDS) else operator_overridden("__rpow__", self, base)


@composite(
    lambda t: [S(t(3, low=0.3), 2), S(t(3, low=0.3), exponent=t(3)), S(t(3, 1, low=0.3), t(2)), S(2.0, t(3))],
    in_place=True,
    out=ELEMENTWISE,
    operators={"__pow__": power, "__rpow__": power_of},
    in_python=("__pow__", "__rpow__", "__ipow__"),
    checked=False,
)
def pow(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """pow(input, exponent): input to the power of exponent, either of them a tensor or a number."""
    if isinstance(exponent, NUMBERS):
        if isinstance(input, TensorBase):
            return pow_number.function(input, exponent.item() if isinstance(exponent, np.generic) else exponent)
        raise errors.no_tensor("pow", input, exponent)
    if exponent.__class__ not in plain and (taken := method_overridden("pow", input, exponent)) is not UNCHANGED:
        return taken
    if isinstance(input, NUMBERS) and isinstance(exponent, TensorBase):
        return mixed_binary(pow_tensor.named["PowBackward2"], input, exponent)
    if not isinstance(input, (TensorBase, np.ndarray)):
        raise errors.not_a_tensor("pow", "input", 1, input)
    if not isinstance(exponent, (TensorBase, np.ndarray)):
        raise errors.not_a_tensor("pow", "exponent", 2, exponent)
    return pow_tensor.function(input, exponent)


@composite(real(), in_place=True, in_place_function=True, out=ELEMENTWISE, keeps_zero=True)
def square(input: Tensor) -> Tensor:
    """square(input): each element times itself."""
    return pow_number.function(input, 2)


def _doubled(value: Any) -> Any:
    """An operand in double precision."""
    if not isinstance(value, TensorBase):
        return value
    return value.to(complex128 if value.array.dtype.kind == "c" else float64)  # type: ignore[attr-defined]


def _float_power_(self: Tensor, exponent: Tensor | Number) -> Tensor:
    """float_power_(exponent): float_power, in place: of double precision only."""
    given, wanted = from_numpy_dtype(self.array.dtype), common_dtype(_doubled(self), _doubled(exponent))
    if given is not wanted:
        raise errors.mistake(
            RuntimeError,
            f"the base given to float_power_ has dtype {given.alias} but the operation's result requires dtype "
            f"{wanted.alias}",
        )
    return in_place(self, pow, _doubled(exponent))


@composite(
    lambda t: [S(t(3, low=0.3), 2), S(t(3, low=0.3), exponent=t(3)), S(t(3, 1, low=0.3), t(2)), S(2.0, t(3))],
    in_place=_float_power_,
    out=FLOAT_POWER_OUT,
    exempt={"dtype": "results are in double precision"},
)
def float_power(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """float_power(input, exponent): input to the power of exponent, computed in double precision."""
    return pow(_doubled(input), _doubled(exponent))
