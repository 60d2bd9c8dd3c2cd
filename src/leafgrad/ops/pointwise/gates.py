"""Activations with weights (prelu), with noise (rrelu), and of halves (glu)."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind, execute
from leafgrad._core.op import Op
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._dtypes import BOOL, COMPLEX, HALF, INTEGER, bfloat16, from_numpy_dtype
from leafgrad.kernels.fused import elements as fused
from leafgrad.ops.creation.fresh import fresh, zero_like
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.inplace import in_place
from leafgrad.ops.pointwise.activations import Activation, leaky_relu
from leafgrad.ops.pointwise.elementwise import sigmoid
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.public_forms import checked_functions
from leafgrad.ops.random.drawing import Drawing, for_samples, numbers, program
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.join import cat
from leafgrad.ops.signature import Dim, Number, Tensor

A = Any  # an array, or a tensor under create_graph
REFUSED = (BOOL, INTEGER, COMPLEX)

# -- with weights -----------------------------------------------------------------------------------------------------


@op
class prelu_kernel(Activation):
    """prelu_kernel(input, weight): x above zero, weight * x below; the two are broadcast."""

    piecewise_linear = True
    inputs = ("input", "weight")
    node_name = "PreluKernelBackward0"
    kernel_name = "prelu_cpu"
    aten = "_prelu_kernel"
    reference = lambda torch, x, weight: torch._prelu_kernel(x, weight)
    samples = staticmethod(lambda t: [S(t(3, 4), t(1, 4)), S(t(5), t(1)), S(t(), t()), S(t(0), t(1))])

    kernel = fused.weighted_below

    def call(input: Tensor, weight: Tensor) -> Tensor:
        prelu_kernel.check(from_numpy_dtype(input.array.dtype))
        return bind(prelu_kernel.core, (input, weight))

    def vjp_input(g: A, input: A, weight: A) -> A:
        return where(input > 0, g, g * weight)

    def vjp_weight(g: A, input: A) -> A:
        return where(input > 0, zero_like(g), g * input)


@composite(
    lambda t: [S(t(3, 4), t(4)), S(t(2, 3, 2), t(1)), S(t(5), t(1)), S(t(3), t()), S(t(2, 0), t(1))],
    places=("nn.functional.prelu",),
    aten="prelu",
    autocast="lower",
)
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """prelu(input, weight): x above zero, weight * x below; one weight for all, or one for each channel."""
    x, w = input.array, weight.array
    if x.dtype != w.dtype:
        first, second = [from_numpy_dtype(v.dtype).alias for v in (x, w)]
        raise errors.mistake(RuntimeError, f"prelu: Type promoting not supported. Got {first} and {second}")
    if w.size != 1:
        if not x.ndim:
            raise errors.mistake(RuntimeError, "Not allow zero-dim input tensor.")
        channels = x.shape[1] if x.ndim > 1 else 1
        if channels != w.size:
            raise errors.mistake(
                RuntimeError,
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{w.size} and channel size = {channels}.",
            )
    if w.ndim > 1:
        raise errors.mistake(
            RuntimeError, f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {w.ndim}"
        )
    if x.ndim != w.ndim:
        weight = weight.view([w.size if i == 1 else 1 for i in range(x.ndim)])
    return prelu_kernel.function(input, weight)


# -- with noise -------------------------------------------------------------------------------------------------------


@op
class rrelu_noise(Drawing):
    """rrelu_noise(input, lower, upper): a slope from [lower, upper) for each element up to zero, one for the others."""

    options = ("lower", "upper")
    aten = "uniform"
    samples = program(lambda torch, x: torch.rrelu(x, training=True))

    @staticmethod
    def kernel(input: A, lower: float, upper: float) -> A:
        below = input <= 0
        noise = np.ones(input.shape, input.dtype)
        # drawn in double precision, row by row, and for these elements only
        noise[below] = numbers().uniform(None, (int(below.sum()),), np.dtype(np.float64), lower, upper)
        return noise


@op
class rrelu_with_noise(Activation):
    """rrelu_with_noise(input, noise, lower, upper, training): rrelu with slopes that have been drawn."""

    piecewise_linear = True
    inputs = ("input", "noise")
    options = ("lower", "upper", "training")
    node_names = ("RreluWithNoiseBackward1",)  # in place
    reference = lambda torch, x, *args: torch.ops.aten.rrelu_with_noise(x, *args)
    constants = ("noise",)
    follows_layout = False
    row_major = True
    refuses = (*REFUSED, HALF)  # in training, but for bfloat16
    kernel_name = "rrelu_with_noise_out_cpu"
    samples = program(lambda torch, x: torch.rrelu(x, 0.2, 0.4, training=True))

    def kernel(x: A, noise: A, lower: float, upper: float, training: bool) -> A:
        return x * noise if training else leaky_relu.kernel(x, (lower + upper) / 2)

    def vjp_input(g: A, input: A, noise: A, lower: A, upper: A, training: A) -> A:
        if training and upper - lower > 1e-6:
            return g * noise
        return where(input > 0, g, g * ((lower + upper) / 2))


@composite(
    lambda t: [S(t(3, 4)), S(t(5), 0.2, 0.5), S(t()), S(t(0))],
    method=False,
)
def rrelu(input: Tensor, lower: Number = 1 / 8, upper: Number = 1 / 3, training: bool = False) -> Tensor:
    """rrelu(input, lower=1/8, upper=1/3, training=False): x above zero; below, x times a random slope, or the mean of
    the slopes if it is not training."""
    return _rrelu(rrelu_with_noise.core, input, lower, upper, training)


def _rrelu(core: Op, input: TensorBase, lower: Any, upper: Any, training: bool) -> Any:
    for name, bound in (("lower", lower), ("upper", upper)):
        if not np.isfinite(bound):
            raise errors.mistake(RuntimeError, f"rrelu: {name} bound must be finite, got {bound:g}")
    if lower > upper:
        raise errors.mistake(RuntimeError, "Lower bound should be less than or equal to the upper bound")
    kind = from_numpy_dtype(input.array.dtype)
    (rrelu_with_noise if training and kind is not bfloat16 else leaky_relu).check(kind)
    if training:
        if for_samples() is not None:  # each sample would want as many numbers as it has elements up to zero
            raise RuntimeError("vmap: we do not yet support aten::rrelu. Please file an issue")
        noise = execute(rrelu_noise.core, (input.array,), (float(lower), float(upper)))
    else:
        noise = fresh("zeros", np.zeros, input.array.shape, input.array.dtype)
    return bind(core, (input, wrap(noise)), (lower, upper, training))


def rrelu_(input: Tensor, lower: Number = 1 / 8, upper: Number = 1 / 3, training: bool = False) -> Tensor:
    """rrelu_(input, lower=1/8, upper=1/3, training=False): rrelu, in place."""
    core = rrelu_with_noise.named["RreluWithNoiseBackward1"]
    return in_place(input, lambda x: _rrelu(core, x, lower, upper, training))


FUNCTIONS = checked_functions(rrelu_)

# -- of halves --------------------------------------------------------------------------------------------------------


def halves(x: A, dim: int) -> tuple[A, A]:
    before, half = (slice(None),) * dim, x.shape[dim] // 2
    return x[(*before, slice(0, half))], x[(*before, slice(half, None))]


@op
class glu(Family):
    """glu(input, dim=-1): one half of input along a dimension times the sigmoid of the other."""

    options = ("dim",)
    public_name = ""
    method = False
    vmap = "dims"
    refuses = REFUSED
    samples = staticmethod(lambda t: [S(t(3, 4)), S(t(4, 3), 0), S(t(2, 6, 2), dim=1), S(t(2, 0))])

    @staticmethod
    def kernel(x: A, dim: int) -> A:
        return fused.gated(*halves(x, dim))

    def call(input: Tensor, dim: Dim = -1) -> Tensor:
        x = input.array
        if not x.ndim:
            raise errors.mistake(RuntimeError, "glu does not support scalars because halving size must be even")
        dim = wrap_dim(dim, x.ndim)
        if x.shape[dim] % 2:
            raise errors.mistake(
                RuntimeError, f"Halving dimension must be even, but dimension {dim} is size {x.shape[dim]}"
            )
        glu.check(from_numpy_dtype(x.dtype))
        return bind(glu.core, (input,), (dim,))

    def vjp(g: A, input: A, dim: A) -> A:
        first, second = halves(input, dim)
        gate = sigmoid(second)
        parts = g * gate, g * (first * (gate * (1 - gate)))
        return cat(*parts, dim, tuple([part.shape[dim] for part in parts]))
