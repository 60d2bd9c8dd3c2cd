"""Modules that apply one function."""

from __future__ import annotations

from typing import Any

from leafgrad import errors
from leafgrad._missing import moved
from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn import init
from leafgrad.nn.modules._own_names import named_by_subclass
from leafgrad.nn.modules.linear import _Layer, uninitialized
from leafgrad.ops.signature import Device, Dtype

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax", "Softmax2d",
    "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip

# -- without options --------------------------------------------------------------------------------------------------


class Tanh(_Layer):
    """Tanh(): tanh(x), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class Sigmoid(_Layer):
    """Sigmoid(): 1 / (1 + exp(-x)), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class LogSigmoid(_Layer):
    """LogSigmoid(): log(1 / (1 + exp(-x))), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class Softsign(_Layer):
    """Softsign(): x / (1 + |x|), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(_Layer):
    """Tanhshrink(): x - tanh(x), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


# -- with `inplace` ---------------------------------------------------------------------------------------------------


@named_by_subclass("__init__")
class _InPlace(_Layer):
    """`inplace` is all that it prints, if it is set."""

    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""

    def shown(self, *options: str) -> str:
        """These options, then `inplace`."""
        parts = [f"{name}={getattr(self, name)}" for name in options]
        return ", ".join([*parts, "inplace=True"] if self.inplace else parts)


class ReLU(_InPlace):
    """ReLU(inplace=False): max(0, x), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class SELU(_InPlace):
    """SELU(inplace=False): elu with two constants that keep mean and variance through layers."""

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class SiLU(_InPlace):
    """SiLU(inplace=False): x times sigmoid(x), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(_InPlace):
    """Mish(inplace=False): x times tanh(softplus(x)), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class _Hard(_InPlace):
    """Prints nothing, as in PyTorch."""

    def extra_repr(self) -> str:
        return ""


class Hardsigmoid(_Hard):
    """Hardsigmoid(inplace=False): x / 6 + 1 / 2, but not below 0 and not above 1."""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)


class Hardswish(_Hard):
    """Hardswish(inplace=False): x times hardsigmoid(x), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


@named_by_subclass("__init__")
class _WithAlpha(_InPlace):
    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def extra_repr(self) -> str:
        return self.shown("alpha")


class ELU(_WithAlpha):
    """ELU(alpha=1.0, inplace=False): x above zero, alpha (exp(x) - 1) below."""

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)


class CELU(_WithAlpha):
    """CELU(alpha=1.0, inplace=False): x above zero, alpha (exp(x / alpha) - 1) below."""

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)


class LeakyReLU(_InPlace):
    """LeakyReLU(negative_slope=0.01, inplace=False): x above zero, negative_slope * x below."""

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return self.shown("negative_slope")


class RReLU(_InPlace):
    """RReLU(lower=1/8, upper=1/3, inplace=False): x above zero; below, x times a slope that is random in training."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return self.shown("lower", "upper")


class Threshold(_InPlace):
    """Threshold(threshold, value, inplace=False): x above the threshold, `value` elsewhere."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return self.shown("threshold", "value")


class Hardtanh(_InPlace):
    """Hardtanh(min_val=-1.0, max_val=1.0, inplace=False): x, but not below min_val and not above max_val."""

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__(inplace)
        for old, new, given in (("min_value", "min_val", min_value), ("max_value", "max_val", max_value)):
            if given is not None:
                errors.warn(f"keyword argument `{old}` is deprecated and renamed to `{new}`", category=FutureWarning)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return self.shown("min_val", "max_val")


class ReLU6(Hardtanh):
    """ReLU6(inplace=False): x, but not below 0 and not above 6."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return self.shown()


# -- with other options -----------------------------------------------------------------------------------------------


class GELU(_Layer):
    """GELU(approximate='none'): x times the probability that a standard normal variable is below x."""

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Softplus(_Layer):
    """Softplus(beta=1.0, threshold=20.0): log(1 + exp(beta x)) / beta, and x where beta x is above the threshold."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


@named_by_subclass("__init__")
class _Shrink(_Layer):
    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return str(self.lambd)


class Softshrink(_Shrink):
    """Softshrink(lambd=0.5): each element moved towards zero by lambd, at most to zero."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class Hardshrink(_Shrink):
    """Hardshrink(lambd=0.5): each element, or zero where it is between -lambd and lambd."""

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class PReLU(_Layer):
    """PReLU(num_parameters=1, init=0.25, device=None, dtype=None): x above zero, weight * x below; the weights, one
    for all or one for each channel, are learned."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Device | None = None, dtype: Dtype | None = None
    ) -> None:
        self.num_parameters = num_parameters
        super().__init__()
        self.init = init
        self.weight = uninitialized((num_parameters,), dtype, device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """reset_parameters(): all weights as at the beginning."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


# -- along a dimension ------------------------------------------------------------------------------------------------


@named_by_subclass("__init__")
class _AlongDimension(_Layer):
    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongDimension):
    """Softmax(dim=None): exp(x) / sum(exp(x)) along one dimension."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class Softmin(_AlongDimension):
    """Softmin(dim=None): the softmax of -x along one dimension."""

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class LogSoftmax(_AlongDimension):
    """LogSoftmax(dim=None): x - log(sum(exp(x))) along one dimension."""

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


class Softmax2d(_Layer):
    """Softmax2d(): softmax over the channels of images, (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)


class GLU(_AlongDimension):
    """GLU(dim=-1): one half of x along a dimension times the sigmoid of the other."""

    dim: Any

    def __init__(self, dim: int = -1) -> None:
        super().__init__(dim)

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)


__getattr__ = moved(__name__, {"MultiheadAttention": "nn.modules.attention"})
