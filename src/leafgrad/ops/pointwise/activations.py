"""Activations: elementwise functions between layers, of floats only. Kernels and rules are in kernels/fused, from where
they also run on tensors, so that gradients can be differentiated again."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import BOOL, COMPLEX, FLOAT, INTEGER, finfo, from_numpy_dtype
from leafgrad.kernels.fused import activations as fused
from leafgrad.ops.creation.fresh import zero_like
from leafgrad.ops.creation.numbers import to_array
from leafgrad.ops.inplace import in_place
from leafgrad.ops.out import ELEMENTWISE, SAME_DTYPE
from leafgrad.ops.pointwise.select import bounded
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.public_forms import checked_functions
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import Family, Operation, composite, op
from leafgrad.ops.samples import S, real
from leafgrad.ops.signature import Number, Tensor

A = Any  # an array, or a tensor under create_graph


F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


class Activation(Family, family=True):
    """f(x[i], *options). What its rule asks for is the argument and the options."""

    public_name = ""
    method: Any = False
    jvp = "elementwise"
    vmap = "elementwise"
    follows_layout = True
    refuses: Any = (BOOL, INTEGER, COMPLEX)
    samples: Any = staticmethod(real())


def apply(operation: Any, input: TensorBase, *options: Any) -> Any:
    dtype = input.array.dtype
    if dtype is not F32 and dtype is not F64:  # which none of them refuses
        operation.check(from_numpy_dtype(dtype))
    return bind(operation.core, (input,), options)


# -- exponential ------------------------------------------------------------------------------------------------------


SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@op
class elu(Activation):
    """elu(input, alpha=1.0): x above zero, alpha (exp(x) - 1) below."""

    options = ("alpha", "scale", "input_scale")
    node_names = ("EluBackward1",)  # in place
    kernel = fused.elu
    samples = staticmethod(lambda t: [S(t(3, 4)), S(t(5), 0.7), S(t()), S(t(0))])

    def call(input: Tensor, alpha: Number = 1.0) -> Tensor:
        return apply(elu, input, alpha, 1.0, 1.0)

    def vjp(g: A, input: A, alpha: A, scale: A, input_scale: A) -> A:
        return fused.elu_backward(g, input, alpha, scale, input_scale)


@composite(real(), method=False)
def selu(input: Tensor) -> Tensor:
    """selu(input): elu with two constants that keep mean and variance through layers."""
    return apply(elu, input, SELU_ALPHA, SELU_SCALE, 1.0)


def refuse_zero(alpha: Number) -> None:
    if alpha == 0:
        raise errors.mistake(RuntimeError, "ZeroDivisionError: alpha cannot be 0 for CELU")


@op
class celu(Activation):
    """celu(input, alpha=1.0): x above zero, alpha (exp(x / alpha) - 1) below."""

    options = ("alpha",)
    node_names = ("CeluBackward1",)  # in place
    public_name = "celu"
    kernel_name = "elu_cpu"
    samples = staticmethod(lambda t: [S(t(3, 4)), S(t(5), 0.7), S(t()), S(t(0))])

    def kernel(x: A, alpha: float) -> A:
        return fused.elu(x, alpha, 1.0, 1 / alpha)

    def call(input: Tensor, alpha: Number = 1.0) -> Tensor:
        refuse_zero(alpha)
        return apply(celu, input, alpha)

    def vjp(g: A, input: A, alpha: A) -> A:
        # divided by alpha in single precision, as in PyTorch
        return fused.elu_backward(g, input, alpha, 1.0, 1 / float(np.float32(alpha)))


@op
class softplus(Activation):
    """softplus(input, beta=1, threshold=20): log(1 + exp(beta x)) / beta, and x where beta x is above the threshold."""

    options = ("beta", "threshold")
    kernel = fused.softplus
    out = True
    places = ("nn.functional.softplus",)
    samples = staticmethod(lambda t: [S(t(3, 4)), S(t(5), 2.0, 1.0), S(t(), beta=0.5), S(t(0))])

    def call(input: Tensor, beta: Number = 1, threshold: Number = 20) -> Tensor:
        return apply(softplus, input, beta, threshold)

    def vjp(g: A, input: A, beta: A, threshold: A) -> A:
        return fused.softplus_backward(g, input, beta, threshold)


# -- gates ------------------------------------------------------------------------------------------------------------


@op
class silu(Activation):
    """silu(input): x times sigmoid(x)."""

    kernel = fused.silu
    refuses = (BOOL, INTEGER)

    def call(input: Tensor) -> Tensor:
        return apply(silu, input)

    def vjp(g: A, input: A) -> A:
        return fused.silu_backward(g, input)


@op
class mish(Activation):
    """mish(input): x times tanh(softplus(x))."""

    kernel = fused.mish

    def call(input: Tensor) -> Tensor:
        return apply(mish, input)

    def vjp(g: A, input: A) -> A:
        return fused.mish_backward(g, input)


@op
class gelu(Activation):
    """gelu(input, *, approximate='none'): x times the probability that a standard normal variable is below x."""

    options = ("approximate",)
    kernel_name = "GeluKernelImpl"
    out = True
    places = ("nn.functional.gelu",)
    samples = staticmethod(lambda t: [S(t(3, 4)), S(t(5), approximate="tanh"), S(t()), S(t(0))])

    def kernel(x: A, approximate: str) -> A:
        return fused.gelu(x) if approximate == "none" else fused.gelu_tanh(x)

    def call(input: Tensor, *, approximate: str = "none") -> Tensor:
        if approximate not in ("none", "tanh"):
            raise errors.mistake(RuntimeError, "approximate argument must be either none or tanh.")
        return apply(gelu, input, approximate)

    def vjp(g: A, input: A, approximate: A) -> A:
        return (fused.gelu_backward if approximate == "none" else fused.gelu_tanh_backward)(g, input)


# -- piecewise linear -------------------------------------------------------------------------------------------------


@op
class hardtanh(Activation):
    """hardtanh(input, min_val=-1.0, max_val=1.0): x, but not below min_val and not above max_val."""

    piecewise_linear = True
    options = ("min_val", "max_val")
    refuses = {
        BOOL: (RuntimeError, "Bool inputs not supported for hardtanh"),
        COMPLEX: (NotImplementedError, "clamp is not supported for complex types"),
    }
    samples = staticmethod(lambda t: [S(t(3, 4)), S(t(5), -0.5, 1.5), S(t()), S(t(0))])

    def kernel(x: A, min_val: Any, max_val: Any) -> A:
        if x.dtype is F32 or x.dtype is F64:
            return bounded(x, float(min_val), float(max_val))
        kind = from_numpy_dtype(x.dtype)
        return bounded(x, to_array(min_val, kind), to_array(max_val, kind))

    def call(input: Tensor, min_val: Number = -1.0, max_val: Number = 1.0) -> Tensor:
        kind = input.array.dtype
        if kind.kind in "iu":
            min_val, max_val = int(min_val.real), int(max_val.real)
            if kind.kind == "u" and (min_val < 0 or max_val < 0):
                raise errors.mistake(RuntimeError, "cannot do hardtanh on an unsigned type with negative limits")
        return apply(hardtanh, input, min_val, max_val)

    def vjp(g: A, input: A, min_val: A, max_val: A) -> A:
        return where((input <= min_val) | (input >= max_val), zero_like(g), g)


@op
class hardswish(Activation):
    """hardswish(input): x times hardsigmoid(x)."""

    kernel = fused.hardswish
    samples = real(-4, 4)

    def call(input: Tensor) -> Tensor:
        return apply(hardswish, input)

    def vjp(g: A, input: A) -> A:
        return fused.hardswish_backward(g, input)


A_SIXTH = float(np.float32(1 / 6))  # of which PyTorch has no more digits


@op
class hardsigmoid(Activation):
    """hardsigmoid(input): x / 6 + 1 / 2, but not below 0 and not above 1."""

    derivatives = 1  # which is all that PyTorch has to compare with

    kernel = fused.hardsigmoid
    samples = real(-4, 4)

    def call(input: Tensor) -> Tensor:
        return apply(hardsigmoid, input)

    def vjp(g: A, input: A) -> A:
        return fused.hardsigmoid_backward(g, input, A_SIXTH)


@op
class leaky_relu(Activation):
    """leaky_relu(input, negative_slope=0.01): x above zero, negative_slope * x below."""

    piecewise_linear = True
    options = ("negative_slope",)
    node_names = ("LeakyReluBackward1",)  # in place
    kernel = fused.leaky_relu
    samples = staticmethod(lambda t: [S(t(3, 4)), S(t(5), 0.3), S(t()), S(t(0))])

    def call(input: Tensor, negative_slope: Number = 0.01) -> Tensor:
        return apply(leaky_relu, input, negative_slope)

    def vjp(g: A, input: A, negative_slope: A) -> A:
        return fused.leaky_relu_backward(g, input, negative_slope)


@op
class threshold_(Activation):
    """threshold(input, threshold, value): x above the threshold, `value` elsewhere."""

    piecewise_linear = True
    options = ("threshold", "value")
    node_names = ("ThresholdBackward1",)  # in place
    public_name = "threshold"
    refuses = (BOOL, COMPLEX)
    out = ELEMENTWISE
    samples = staticmethod(lambda t: [S(t(3, 4), 0.2, 3.0), S(t(5), -1, 1), S(t(), 0, 0.0), S(t(0), 0, 0)])

    def kernel(x: A, threshold: Any, value: Any) -> A:
        kind = from_numpy_dtype(x.dtype)
        limit, other = [to_array(v if kind.category == FLOAT else int(v), kind) for v in (threshold, value)]
        if x.dtype.itemsize == 2 and kind.category == FLOAT:  # numbers of 16 bits are compared as those of 32
            return np.where(x.astype(np.float32) <= np.float32(threshold), other, x)
        return np.where(x <= limit, other, x)

    def call(input: Tensor, threshold: Number, value: Number) -> Tensor:
        return apply(threshold_, input, threshold, value)

    def vjp(g: A, input: A, threshold: A) -> A:
        return where(input <= threshold, zero_like(g), g)


# -- shrinking --------------------------------------------------------------------------------------------------------


def rounded(limit: Any, kind: Any) -> Any:
    """A number as one of 16 bits, if that is what it is compared with."""
    return float(np.asarray(limit, kind)) if kind.itemsize == 2 else limit


def shrinking(name: str, kernel_name: str, kernel: Any, doc: str, **facts: Any) -> Any:
    """softshrink or hardshrink: zero between -lambd and lambd."""

    def call(input: Tensor, lambd: Number = 0.5) -> Tensor:
        kind = from_numpy_dtype(input.array.dtype)
        made.check(kind)
        largest = float(finfo(kind).max)
        if name == "softshrink" and not 0 <= lambd.real <= largest:
            first = f"lambda must be in range [0, {largest:g}] for input dtype {kind.alias}, but found {lambd:g}"
            raise errors.mistake(RuntimeError, first)
        return bind(made.core, (input,), (rounded(lambd, input.array.dtype) if name == "hardshrink" else lambd,))

    def vjp(g: A, input: A, lambd: A) -> A:
        return fused.shrink_backward(g, input, rounded(lambd, raw(input).dtype))

    body = {
        "__module__": __name__,
        "__doc__": f"{name}(input, lambd=0.5): {doc}",
        "options": ("lambd",),
        "piecewise_linear": True,
        "kernel": kernel,
        "kernel_name": kernel_name,
        "call": call,
        "vjp": vjp,
        "out": SAME_DTYPE,
        "places": (f"nn.functional.{name}",),
        "samples": lambda t: [S(t(3, 4)), S(t(5), 0.3), S(t()), S(t(0))],
        **facts,
    }
    made = op(Operation(name, Activation, body))
    return made


softshrink = shrinking(
    "softshrink",
    "softshrink_check",
    fused.softshrink,
    "each element moved towards zero by lambd, at most to zero.",
)
hardshrink = shrinking(
    "hardshrink",
    "hardshrink_cpu",
    fused.hardshrink,
    "each element, or zero where it is between -lambd and lambd.",
    public_name="hardshrink",
    method=True,
)


# -- in place: functions, but no methods ------------------------------------------------------------------------------


def changed(operation: Any, input: TensorBase, *options: Any) -> Any:
    """An activation in place, which has a node of its own in PyTorch's graph."""
    operation.check(from_numpy_dtype(input.array.dtype))
    twin = operation.named[operation.node_names[0]]

    def function(x: TensorBase) -> Any:
        return bind(twin, (x,), options)

    return in_place(input, function)


def elu_(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """elu_(input, alpha=1.0): elu, in place."""
    return changed(elu, input, alpha, 1.0, 1.0)


def selu_(input: Tensor) -> Tensor:
    """selu_(input): selu, in place."""
    return changed(elu, input, SELU_ALPHA, SELU_SCALE, 1.0)


def celu_(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """celu_(input, alpha=1.0): celu, in place."""
    refuse_zero(alpha)
    return changed(celu, input, alpha)


def leaky_relu_(input: Tensor, negative_slope: Number = 0.01) -> Tensor:
    """leaky_relu_(input, negative_slope=0.01): leaky_relu, in place."""
    return changed(leaky_relu, input, negative_slope)


def _threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """threshold_(input, threshold, value): threshold, in place."""
    return changed(threshold_, input, threshold, value)


_threshold_.__name__ = "threshold_"
FUNCTIONS = checked_functions(selu_, celu_, _threshold_)
