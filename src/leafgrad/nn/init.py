"""leafgrad.nn.init: the numbers that parameters start with. Every function fills its tensor in place and returns it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad import _missing, errors
from leafgrad._core.tensor import is_meta, wrap
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.ops.creation import ranges
from leafgrad.ops.random.functions import randperm

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
    gains = {"sigmoid": 1, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}
    if nonlinearity in linear:
        return 1
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


# -- of special structure ---------------------------------------------------------------------------------------------


def trunc_normal_(
    tensor: Filled, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Filled:
    """trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0): N(mean, std²), of which only numbers in [a, b] are
    drawn."""
    if mean < a - 2 * std or mean > b + 2 * std:
        errors.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect."
        )
    if is_meta(tensor.array):
        return tensor
    inside = [math.erf((x - mean) / (std * math.sqrt(2.0))) / 2.0 for x in (a, b)]
    with no_grad():
        if inside[1] - inside[0] > 0.3:
            return _redrawn(tensor, mean, std, a, b, generator)
        return _accepted(tensor, mean, std, a, b, generator)


def _redrawn(tensor: Filled, mean: float, std: float, a: float, b: float, generator: Any) -> Filled:
    """Normal numbers; those outside of [a, b], in the precision of the tensor, are drawn again."""
    low, high = tensor.new_tensor(a).item(), tensor.new_tensor(b).item()
    result = tensor.normal_(mean, std, generator=generator)
    while (outside := (result < low) | (result > high)).any():
        result = tensor.new_empty(tensor.shape).normal_(mean, std, generator=generator).where(outside, result)
    return tensor if result is tensor else tensor.copy_(result)


def _accepted(tensor: Filled, mean: float, std: float, a: float, b: float, generator: Any) -> Filled:
    """Uniform numbers in [a, b], which are kept with a probability that is proportional to the density there: faster
    where few normal numbers are in [a, b]."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

    def rejected(x: Any) -> Any:
        log_density = ((x - mean) / std).pow(2) * -0.5 - peak
        return x.new_empty(x.shape).uniform_(generator=generator).log() > log_density

    result = tensor.uniform_(a, b, generator=generator)
    waiting = rejected(result)
    while waiting.any():
        fresh = tensor.new_empty(tensor.shape).uniform_(a, b, generator=generator)
        result = fresh.where(waiting, result)
        waiting = waiting & rejected(fresh)
    return tensor if result is tensor else tensor.copy_(result)


def orthogonal_(tensor: Filled, gain: float = 1, generator: Any = None) -> Filled:
    """orthogonal_(tensor, gain=1): orthonormal rows, or columns, whichever are fewer; dimensions from the second on
    count as one."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    if is_meta(tensor.array):
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    drawn = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
    array = drawn.numpy().T if rows < columns else drawn.numpy()
    q, r = np.linalg.qr(array)
    q = q * np.sign(np.diagonal(r))  # so that all of them are equally likely
    with no_grad():
        tensor.copy_(wrap(np.ascontiguousarray(q.T if rows < columns else q).reshape(tensor.shape)))
        return tensor.mul_(gain)


def sparse_(tensor: Filled, sparsity: float, std: float = 0.01, generator: Any = None) -> Filled:
    """sparse_(tensor, sparsity, std=0.01): N(0, std²), and in each column this part of the numbers is zero."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(0 if is_meta(tensor.array) else columns):
            tensor[randperm(rows)[:zeros], column] = 0
    return tensor


def dirac_(tensor: Filled, groups: int = 1) -> Filled:
    """dirac_(tensor, groups=1): the weight of a convolution that returns its input, as many channels as there are."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    each = tensor.shape[0] // groups
    middle = tuple([size // 2 for size in tensor.shape[2:]])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(each, tensor.shape[1])):
                tensor[(group * each + channel, channel, *middle)] = 1
    return tensor


def _deprecated(function: Any) -> Any:
    """The form of a function without an underscore, which it had long ago."""
    new = function.__name__
    old = new[:-1]

    def former(*args: Any, **kwargs: Any) -> Any:
        errors.warn(f"`nn.init.{old}` is now deprecated in favor of `nn.init.{new}`.", FutureWarning)
        return function(*args, **kwargs)

    former.__name__ = former.__qualname__ = old
    former.__doc__ = f"{old}(...): the former name of {new}."
    return former


uniform, normal, constant, eye = _deprecated(uniform_), _deprecated(normal_), _deprecated(constant_), _deprecated(eye_)
xavier_uniform, xavier_normal = _deprecated(xavier_uniform_), _deprecated(xavier_normal_)
kaiming_uniform, kaiming_normal = _deprecated(kaiming_uniform_), _deprecated(kaiming_normal_)
orthogonal, sparse, dirac = _deprecated(orthogonal_), _deprecated(sparse_), _deprecated(dirac_)


if not TYPE_CHECKING:  # for which what is not there is a mistake
    __getattr__ = _missing.attributes_of(__name__)
