"""Functions between layers: activations."""

from __future__ import annotations

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad._device import contiguous_format
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.inplace import in_place
from leafgrad.ops.out import into_out
from leafgrad.ops.pointwise import activations, gates
from leafgrad.ops.pointwise import relu as rectifier
from leafgrad.ops.pointwise.division import div
from leafgrad.ops.public_forms import overridable_function
from leafgrad.ops.reduce import softmax as reduce_softmax
from leafgrad.ops.signature import Dtype, Number, Tensor, declared

__all__ = [
    "celu", "celu_", "elu", "elu_", "glu", "gumbel_softmax", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_",
    "leaky_relu", "leaky_relu_", "log_softmax", "mish", "normalize", "relu", "relu6", "relu_", "rrelu",
    "rrelu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin", "softsign", "tanh", "tanhshrink", "threshold",
    "threshold_",
]  # fmt: skip

glu = overridable(gates.glu.function, refusal=".dim")
celu_ = overridable_function(activations.celu_)
elu_ = overridable_function(activations.elu_)
leaky_relu_ = overridable_function(activations.leaky_relu_)
selu_ = overridable_function(activations.selu_)
threshold_ = overridable_function(activations.FUNCTIONS["threshold_"])
rrelu_ = overridable_function(gates.rrelu_)

_relu = rectifier.relu.function
_softmax = reduce_softmax.softmax.function
_log_softmax = reduce_softmax.log_softmax.function


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """relu(input, inplace=False): max(0, x), element by element."""
    return input.relu_() if inplace else _relu(input)


relu = overridable(relu, short=_relu)


@declared()
def sigmoid(input: Tensor) -> Tensor:
    """sigmoid(input): 1 / (1 + exp(-x)) of each element."""
    return input.sigmoid()


@declared()
def tanh(input: Tensor) -> Tensor:
    """tanh(input): the hyperbolic tangent of each element."""
    return input.tanh()


@overridable
def relu_(input: Tensor) -> Tensor:
    """relu_(input): relu, in place."""
    return input.relu_()


# -- of elements ------------------------------------------------------------------------------------------------------


def _applied(function: object, input: Tensor, inplace: bool, *options: object) -> Tensor:
    return in_place(input, function, *options) if inplace else function(input, *options)  # type: ignore[arg-type, operator]


@overridable
@declared()
def elu(input: Tensor, alpha: Number = 1.0, inplace: bool = False) -> Tensor:
    """elu(input, alpha=1.0, inplace=False): x above zero, alpha (exp(x) - 1) below."""
    return activations.elu_(input, alpha) if inplace else activations.elu.function(input, alpha)


@overridable
@declared()
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """selu(input, inplace=False): elu with two constants that keep mean and variance through layers."""
    return activations.selu_(input) if inplace else activations.selu(input)


@overridable
@declared()
def celu(input: Tensor, alpha: Number = 1.0, inplace: bool = False) -> Tensor:
    """celu(input, alpha=1.0, inplace=False): x above zero, alpha (exp(x / alpha) - 1) below."""
    return activations.celu_(input, alpha) if inplace else activations.celu.function(input, alpha)


@overridable
@declared()
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """silu(input, inplace=False): x times sigmoid(x)."""
    return _applied(activations.silu.function, input, inplace)


@overridable
@declared()
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """mish(input, inplace=False): x times tanh(softplus(x))."""
    return _applied(activations.mish.function, input, inplace)


@overridable
@declared()
def hardtanh(input: Tensor, min_val: Number = -1.0, max_val: Number = 1.0, inplace: bool = False) -> Tensor:
    """hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False): x, but not below min_val and not above max_val."""
    if min_val > max_val:  # type: ignore[operator]
        raise errors.mistake(ValueError, "min_val cannot be greater than max_val")
    return _applied(activations.hardtanh.function, input, inplace, min_val, max_val)


@overridable_function
@declared()
def hardtanh_(input: Tensor, min_val: Number = -1.0, max_val: Number = 1.0) -> Tensor:
    """hardtanh_(input, min_val=-1.0, max_val=1.0): hardtanh, in place."""
    return in_place(input, activations.hardtanh.function, min_val, max_val)


@overridable
@declared()
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """relu6(input, inplace=False): x, but not below 0 and not above 6."""
    return _applied(activations.hardtanh.function, input, inplace, 0.0, 6.0)


@overridable
@declared()
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """hardswish(input, inplace=False): x times hardsigmoid(x)."""
    return _applied(activations.hardswish.function, input, inplace)


@overridable
@declared()
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """hardsigmoid(input, inplace=False): x / 6 + 1 / 2, but not below 0 and not above 1."""
    return _applied(activations.hardsigmoid.function, input, inplace)


@overridable
@declared()
def leaky_relu(input: Tensor, negative_slope: Number = 0.01, inplace: bool = False) -> Tensor:
    """leaky_relu(input, negative_slope=0.01, inplace=False): x above zero, negative_slope * x below."""
    change = activations.leaky_relu_ if inplace else activations.leaky_relu.function
    return change(input, negative_slope)


@overridable
@declared()
def rrelu(
    input: Tensor, lower: Number = 1 / 8, upper: Number = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """rrelu(input, lower=1/8, upper=1/3, training=False, inplace=False): x above zero, x times a random slope below."""
    return (gates.rrelu_ if inplace else gates.rrelu)(input, lower, upper, training)


@overridable
@declared()
def threshold(input: Tensor, threshold: Number, value: Number, inplace: bool = False) -> Tensor:
    """threshold(input, threshold, value, inplace=False): x above the threshold, `value` elsewhere."""
    return _applied(activations.threshold_.function, input, inplace, threshold, value)


@overridable(refusal=".abs")
def softsign(input: Tensor) -> Tensor:
    """softsign(input): x / (1 + |x|) of each element."""
    return input / (input.abs() + 1)


@overridable(refusal=".tanh")
def tanhshrink(input: Tensor) -> Tensor:
    """tanhshrink(input): x - tanh(x) of each element."""
    return input - input.tanh()


# -- along a dimension ------------------------------------------------------------------------------------------------


@overridable(refusal=".softmax")
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """softmax(input, dim=None, dtype=None): exp(x) / sum(exp(x)) along `dim`."""
    return _softmax(input, implicit_dim("softmax", input, _stacklevel) if dim is None else dim, dtype)


@overridable(refusal=".softmax")
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """softmin(input, dim=None, dtype=None): the softmax of -input along `dim`."""
    return _softmax(-input, implicit_dim("softmin", input, _stacklevel) if dim is None else dim, dtype)


@overridable(refusal=".log_softmax")
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """log_softmax(input, dim=None, dtype=None): x - log(sum(exp(x))) along `dim`."""
    return _log_softmax(input, implicit_dim("log_softmax", input, _stacklevel) if dim is None else dim, dtype)


def implicit_dim(name: str, input: TensorBase, stacklevel: int = 3) -> int:
    """The dimension that PyTorch chooses, with a warning, if none is named."""
    errors.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        further=stacklevel - 3,
    )
    return 0 if input.array.ndim in (0, 1, 3) else 1


@overridable
def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """gumbel_softmax(logits, tau=1, hard=False, dim=-1): the softmax of (logits + Gumbel noise) / tau; with `hard` a
    one-hot sample, whose gradient is that of the softmax."""
    if eps != 1e-10:
        errors.warn("`eps` parameter is deprecated and has no effect.")
    noise = -logits.detach().clone(memory_format=contiguous_format).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = logits.detach().clone().zero_().scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft


@overridable(refusal=".norm")
def normalize(
    input: Tensor, p: float = 2.0, dim: int | tuple[int, ...] = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """normalize(input, p=2.0, dim=1, eps=1e-12, out=None): input divided by its p-norms along `dim`, or by eps where
    these are smaller."""
    lengths = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / lengths if out is None else into_out("div", div, (input, lengths), {}, out)
