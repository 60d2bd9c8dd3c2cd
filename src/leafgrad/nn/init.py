"""leafgrad.nn.init: the numbers that parameters start with. Every function fills its tensor in place and returns it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from leafgrad import _missing, errors
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.ops.creation import ranges

Filled = Any  # a tensor


def uniform_(tensor: Filled, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Filled:
    """uniform_(tensor, a=0.0, b=1.0): U(a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Filled, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Filled:
    """normal_(tensor, mean=0.0, std=1.0): N(mean, std²)."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor: Filled, val: float) -> Filled:
    """constant_(tensor, val): the same number everywhere."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Filled) -> Filled:
    """ones_(tensor): ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Filled) -> Filled:
    """zeros_(tensor): zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Filled) -> Filled:
    """eye_(tensor): the identity matrix."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(ranges.eye(*tensor.shape, dtype=tensor.dtype))


# -- scaled by the number of connections ------------------------------------------------------------------------------


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """calculate_gain(nonlinearity, param=None): by how much weights must be larger if this function follows."""
    linear = ["linear", *(f"conv{'_transpose' * transposed}{n}d" for transposed in (0, 1) for n in (1, 2, 3))]
    gains = {"sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}
    if nonlinearity in linear:
        return 1.0
    if nonlinearity in gains:
        return gains[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
        raise ValueError(f"negative_slope {param} not a valid number")
    slope = 0.01 if param is None else param
    return math.sqrt(2 / (1 + slope**2))


def _calculate_fan_in_and_fan_out(tensor: Filled) -> tuple[int, int]:
    """With how many numbers an output is connected, and with how many an input."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    outputs, inputs, *window = tensor.shape
    return inputs * math.prod(window), outputs * math.prod(window)


def _calculate_correct_fan(tensor: Filled, mode: str) -> int:
    mode = mode.lower()
    modes = ["fan_in", "fan_out"]
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]


def xavier_uniform_(tensor: Filled, gain: float = 1.0, generator: Any = None) -> Filled:
    """xavier_uniform_(tensor, gain=1.0): U(-a, a) with a = gain sqrt(6 / (fan_in + fan_out))."""
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Filled, gain: float = 1.0, generator: Any = None) -> Filled:
    """xavier_normal_(tensor, gain=1.0): N(0, std²) with std = gain sqrt(2 / (fan_in + fan_out))."""
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    return normal_(tensor, 0.0, std, generator)


def kaiming_uniform_(
    tensor: Filled, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Filled:
    """kaiming_uniform_(tensor, a=0, mode='fan_in', nonlinearity='leaky_relu'): U(-b, b) with b = gain sqrt(3 / fan)."""
    if 0 in tensor.shape:
        errors.warn("Initializing zero-element tensors is a no-op")
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    bound = math.sqrt(3.0) * std  # in this order: the product decides the last bit of every number
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Filled, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Filled:
    """kaiming_normal_(tensor, a=0, mode='fan_in', nonlinearity='leaky_relu'): N(0, std²), std = gain / sqrt(fan)."""
    if 0 in tensor.shape:
        errors.warn("Initializing zero-element tensors is a no-op")
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return normal_(tensor, 0.0, std, generator)


if not TYPE_CHECKING:  # for which what is not there is a mistake
    __getattr__ = _missing.attributes_of(__name__)
