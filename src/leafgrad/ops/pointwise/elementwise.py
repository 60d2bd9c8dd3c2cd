"""Elementwise operations: one tensor, or two that are broadcast against each other."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import TensorOperators, binary, bind
from leafgrad._core.fused import run_on_tensors
from leafgrad._core.held import is_free
from leafgrad._core.overrides import UNCHANGED, handling, is_reflected, method_overridden, plain, takes_over
from leafgrad._core.tensor import TensorBase, links
from leafgrad._dtypes import BOOL, COMPLEX, FLOAT, HALF, from_numpy_dtype
from leafgrad.kernels import language, multiply, native, negative, one_over
from leafgrad.kernels.complex_numbers import sign_of_complex
from leafgrad.kernels.fused import basic as fused
from leafgrad.kernels.fused import elements
from leafgrad.ops.arguments import names_in_call
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.inplace import in_place
from leafgrad.ops.out import ELEMENTWISE, SAME_DTYPE
from leafgrad.ops.pointwise.alpha import ALPHA, alpha_in_front, checked_alpha
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.promotion import NUMBERS, common_dtype, float_input, mixed_binary, not_an_operand
from leafgrad.ops.registry import Family, Operation, op, registry, unseen
from leafgrad.ops.samples import pairs, real
from leafgrad.ops.signature import Deprecated, Number, Tensor

A = Any  # an array, or a tensor under create_graph
language.on_tensors = run_on_tensors
# `g * x`, `g - x` and `-g` for rules: on arrays as on tensors
times: Any = native(np.multiply, operator.mul)
minus: Any = native(np.subtract, operator.sub)
opposite: Any = native(np.negative, operator.neg)

# Constants of kernels: NumPy takes a zero-dimensional array much faster than a Python number.
_FAST = (np.dtype(np.float32), np.dtype(np.float64))
_FLOATS = (np.dtype(np.float16), *_FAST)
LIMITS = {kind: (np.full((), -np.inf, kind), np.full((), np.inf, kind)) for kind in _FLOATS}

# -- one tensor -------------------------------------------------------------------------------------------------------


class Unary(Family, family=True):
    """y[i] = f(x[i])."""

    checked: Any = "function"
    jvp = "elementwise"
    vmap = "elementwise"
    follows_layout = True
    samples: Any = staticmethod(real())
    as_float = True
    in_place: Any = True
    out: Any = ELEMENTWISE

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        core, as_float, no_floats = operation.core, operation.as_float, {FLOAT, HALF} & {*operation.refuses}

        def function(input: Tensor) -> Tensor:
            kind = input.array.dtype
            if kind.kind != "f" or no_floats:
                operation.check(from_numpy_dtype(kind))
                if as_float:
                    input = float_input(input)
            return bind(core, (input,))

        return function


NEGATED_BOOL = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the "
    "`~` or `logical_not()` operator instead."
)


@op
class neg(Unary):
    """neg(input): each element with its sign changed."""

    out = SAME_DTYPE
    kernel = negative
    writes_into = True
    as_float = False
    aliases = ("negative",)
    operators = {"__neg__": TensorOperators.__neg__}
    refuses = {BOOL: (RuntimeError, NEGATED_BOOL)}

    def vjp(g: A) -> A:
        return opposite(g)


@op
class exp(Unary):
    """exp(input): e to the power of each element."""

    kernel = native(np.exp)

    def vjp(g: A, out: A) -> A:
        return g * out


@op
class log(Unary):
    """log(input): the natural logarithm of each element."""

    kernel = native(np.log)
    samples = real(0.1, 4)

    def vjp(g: A, input: A) -> A:
        return g / input


@op
class sqrt(Unary):
    """sqrt(input): the square root of each element."""

    keeps_zero = True
    kernel = native(np.sqrt)
    samples = real(0.1, 4)

    def vjp(g: A, out: A) -> A:
        return fused.sqrt_backward(g, out)


@op
class sin(Unary):
    """sin(input): the sine of each element."""

    keeps_zero = True
    kernel = native(np.sin)

    def vjp(g: A, input: A) -> A:
        return g * cos(input)


@op
class cos(Unary):
    """cos(input): the cosine of each element."""

    kernel = native(np.cos)

    def vjp(g: A, input: A) -> A:
        return g * -sin(input)


@op
class tanh(Unary):
    """tanh(input): the hyperbolic tangent of each element."""

    keeps_zero = True
    kernel = native(np.tanh)

    def vjp(g: A, out: A) -> A:
        return fused.tanh_backward(g, out)


@op
class sigmoid(Unary):
    """sigmoid(input): 1 / (1 + exp(-x)) of each element."""

    kernel = fused.sigmoid
    writes_into = True
    places = ("special.expit",)

    def vjp(g: A, out: A) -> A:
        return fused.sigmoid_backward(g, out)


def _sign(x: Any) -> Any:
    if x.dtype.kind in "biu":
        return x.copy(order="K") if x.dtype.kind == "b" else np.sign(x)
    return elements.sign(x)  # unlike np.sign, zero for nan


SIGN_OF_COMPLEX = "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."


@op
class sign(Unary):
    """sign(input): -1, 0 or 1 for each element."""

    keeps_zero = True
    out = SAME_DTYPE
    kernel = _sign
    in_place_function = False
    as_float = False
    refuses = {COMPLEX: (NotImplementedError, SIGN_OF_COMPLEX)}

    def vjp(g: A) -> A:
        return zeros_like(g)


def is_complex(x: A) -> bool:
    """Does an array or a tensor hold complex numbers?"""
    return bool((x.array if isinstance(x, TensorBase) else x).dtype.kind == "c")


def _sgn(x: Any) -> Any:
    return sign_of_complex(x) if x.dtype.kind == "c" else _sign(x)


@op
class sgn(Unary):
    """sgn(input): sign(input), and for complex numbers x / abs(x)."""

    keeps_zero = True
    out = SAME_DTYPE
    kernel = _sgn
    in_place_function = False
    as_float = False
    holomorphic = False
    jvp = "transpose"

    def vjp(g: A, input: A, out: A) -> A:
        if not is_complex(input):
            return zeros_like(g)
        size = abs(input)
        zero = size == 0
        return where(zero, zeros_like(g), (g - out * out * g.conj()) / where(zero, 1.0, size * 2))


@op
class abs(Unary):
    """abs(input): the distance of each element from zero."""

    keeps_zero = True
    kernel = native(np.abs)
    out = SAME_DTYPE
    as_float = False
    aliases = ("absolute",)
    operators = ("__abs__",)
    refuses = (BOOL,)
    holomorphic = False
    jvp = "transpose"
    exempt = {"complex in place": "absolute values are real, and PyTorch refuses it too"}

    def in_place(self: Tensor) -> Tensor:
        """abs_(): abs, in place; not for complex numbers, whose absolute values are real."""
        if self.array.dtype.kind == "c":
            raise RuntimeError("In-place abs is not supported for complex tensors.")
        return in_place(self, abs.function)

    def vjp(g: A, input: A) -> A:
        if is_complex(input) or isinstance(input, TensorBase):
            return g * sgn(input)
        return fused.abs_backward(g, input)


@op
class reciprocal(Unary):
    """reciprocal(input): one divided by each element."""

    kernel = one_over
    writes_into = True
    samples = real(0.3, 3)

    def vjp(g: A, out: A) -> A:
        return fused.reciprocal_backward(g, out)


@op
class rsqrt(Unary):
    """rsqrt(input): one divided by the square root of each element."""

    kernel = fused.rsqrt
    samples = real(0.3, 3)

    def vjp(g: A, out: A) -> A:
        return fused.rsqrt_backward(g, out)


# -- two tensors ------------------------------------------------------------------------------------------------------


def broadcast_binary(core: Any, a: Any, b: Any) -> Any:
    """The executor's `binary`, with an error that names both shapes."""
    try:
        return binary(core, a, b)
    except ValueError:
        if isinstance(b, TensorBase):
            raise errors.broadcast_mismatch(registry[core.name].aten, (a.array, b.array)) from None
        raise


class Binary(Family, family=True):
    """y[i] = f(a[i], b[i]) with broadcasting and promotion. `takes` says what they may be; `apply` gets the operation
    and the operands, of which the first is a tensor."""

    checked: Any = False
    inputs = ("input", "other")
    is_pair = True
    jvp = "elementwise"
    vmap = "elementwise"
    follows_layout = True
    samples: Any = staticmethod(pairs())
    takes = ("Tensor | Number", "Tensor | Number")
    takes_two_numbers = False  # may both be numbers? PyTorch makes a tensor of one of them, if there is no form for it
    apply: Any = staticmethod(broadcast_binary)
    in_place = True
    out: Any = ELEMENTWISE

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        core, by_number, apply = operation.core, operation.by_number, body["apply"]
        one_name, number_by = by_number is core, operation.number_by
        tensor_needed = not (body["takes_two_numbers"] or operation.takes_alpha)

        def function(input: Tensor | Number, other: Tensor | Number) -> Tensor:
            if other.__class__ not in plain:
                taken = overridden_by(operation.name, input, other)
                if taken is not UNCHANGED:
                    return taken
            if isinstance(input, TensorBase):
                result = apply(core if one_name or isinstance(other, TensorBase) else by_number, input, other)
            else:
                if tensor_needed and isinstance(input, NUMBERS) and isinstance(other, NUMBERS):
                    raise errors.no_tensor(operation.name, input, other)
                result = mixed_binary(number_by, input, other)
            if result is NotImplemented:
                raise not_an_operand(operation.name, input, other)
            return result

        first, second = body["takes"]
        operation.checked = second == "Tensor"
        function.__annotations__.update(input=first, other=second)
        return _with_alpha(operation, function) if operation.takes_alpha else function

    @staticmethod
    def operator(operation: Operation, name: str, body: dict[str, Any]) -> Callable[..., Any]:
        core, by_number, apply = operation.core, operation.by_number, body["apply"]
        if is_reflected(name):
            return lambda self, other: mixed_binary(core, other, self)
        if by_number is core:
            return lambda self, other: apply(core, self, other)
        return lambda self, other: apply(core if isinstance(other, TensorBase) else by_number, self, other)


def overridden_by(name: str, input: Any, other: Any, **options: Any) -> Any:
    """What becomes of a method whose second operand takes the call over; otherwise UNCHANGED."""
    if handling.inside is not None and not hasattr(links.tensor_class, name):  # an operation of our own
        return UNCHANGED
    if takes_over(other) and "other" in names_in_call(2):
        return method_overridden(name, input, other=other, **options)
    return method_overridden(name, input, other, **options)


def as_many_as_elements(shapes: Sequence[Any]) -> int:
    """The flops of add and mul, which PyTorch counts by the first operand."""
    return math.prod(shapes[0])


def scaled(operand: TensorBase, alpha: Number) -> Any:
    """An operand of a sum times its factor, which is part of the sum in PyTorch's graph."""
    return broadcast_binary(unseen(mul), operand, alpha)


def _with_alpha(operation: Operation, without: Callable[..., Any]) -> Callable[..., Any]:
    """add and sub take `alpha`, a factor for the second operand."""

    def function(
        input: Tensor | Number, other: Tensor | Number, deprecated: Deprecated = None, *, alpha: Number = 1
    ) -> Tensor:
        if deprecated is not None:
            alpha, other = alpha_in_front(operation.name, input, other, deprecated)
        if alpha.__class__ is not int or alpha != 1:
            taken = overridden_by(operation.name, input, other, alpha=alpha)
            if taken is not UNCHANGED:
                return taken
            kind = common_dtype(input, other)
            tensors = [t for t in (input, other) if isinstance(t, TensorBase)]
            if operation.no_bool and any([t.array.dtype.kind == "b" for t in tensors]):
                return without(input, other)  # which refuses them
            alpha = checked_alpha(alpha, kind)
            if isinstance(other, TensorBase):
                other = scaled(other, alpha)
            else:
                other = bool(other * alpha) if kind.category == BOOL else other * alpha
        return without(input, other)

    return function


@op
class add(Binary):
    """add(input, other, *, alpha=1): input + alpha * other."""

    shows = {"alpha": 1}  # others are recorded as products
    kernel = native(np.add)
    takes_alpha = True
    signatures = ALPHA
    flops = as_many_as_elements
    operators = {"__add__": TensorOperators.__add__, "__radd__": TensorOperators.__radd__}

    def vjp_input(g: A) -> A:
        return g

    def vjp_other(g: A) -> A:
        return g


TWO_BOOLS = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. "
    "Use the `^` or `logical_xor()` operator instead."
)


@op
class sub(Binary):
    """sub(input, other, *, alpha=1): input - alpha * other."""

    shows = {"alpha": 1}  # others are recorded as products
    kernel = native(np.subtract)
    takes_alpha = True
    signatures = ALPHA
    aliases = ("subtract",)
    operators = {"__sub__": TensorOperators.__sub__}
    refuses = {BOOL: (RuntimeError, TWO_BOOLS)}
    no_bool = (
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
        "the `~` or `logical_not()` operator instead."
    )

    def vjp_input(g: A) -> A:
        return g

    def vjp_other(g: A) -> A:
        return opposite(g)


BY_A_NUMBER = "MulBackward1(input)"  # that is no argument, as in a loss


@op
class mul(Binary):
    """mul(input, other): input * other."""

    kernel = native(np.multiply)
    wide_numbers = True
    takes_two_numbers = True
    aliases = ("multiply",)
    flops = as_many_as_elements
    operators = {"__mul__": TensorOperators.__mul__, "__rmul__": TensorOperators.__rmul__}
    node_names = (BY_A_NUMBER,)

    def vjp_input(g: A, other: A) -> A:
        return times(g, other)

    def vjp_other(g: A, input: A) -> A:
        return times(g, input)

    def vjp_in_place(g: A, saved: A, inputs: A) -> A:
        """The same rules, in the memory of g and, for a second gradient, of the saved input if that is free."""
        if inputs[1] is None:
            return multiply(g, saved[1], g), None
        if inputs[0] is None:
            return None, multiply(g, saved[0], g)
        second = multiply(g, saved[0], saved[0]) if is_free(saved, 0, g) else multiply(g, saved[0])
        return multiply(g, saved[1], g), second


@op
class true_div(Binary):
    """true_div(input, other): input / other, in floating point; what `/` and `div` do."""

    kernel = native(np.true_divide)
    wide_numbers = True
    takes_two_numbers = True
    as_float = True
    node_name = "DivBackward0"
    node_names = ("DivBackward1(input)",)  # by a number that is no argument, as in the mean of a loss
    public_name = ""
    reference = "div"
    aten = "div"
    samples = pairs(0.3, 3)

    def vjp_input(g: A, other: A) -> A:
        return g / other

    def vjp_other(g: A, input: A, other: A) -> A:
        return fused.division_backward(g, input, other)


links.neg = neg.core
links.add = add.core
links.sub = sub.core
links.mul = mul.core
links.div = true_div.core
links.negative = neg.function
