"""Layers without convolution or recurrence: Linear, Identity, Flatten, Dropout."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad import _dtypes
from leafgrad._core.tensor import wrap
from leafgrad._device import check_device
from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn import init
from leafgrad.nn.modules.module import Module
from leafgrad.nn.parameter import Parameter
from leafgrad.ops.signature import Device, Dtype

__all__ = ["Dropout", "Flatten", "Identity", "Linear"]


class _Layer(Module):
    """Takes a tensor, returns a tensor."""

    if TYPE_CHECKING:

        def __call__(self, input: Tensor) -> Tensor: ...


class Linear(_Layer):
    """Linear(in_features, out_features, bias=True, device=None, dtype=None): y = x Wᵀ + b.

    W has the shape (out_features, in_features). Both start uniformly in ±1 / sqrt(in_features).
    """

    in_features: int
    out_features: int

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        check_device(device)
        self.in_features = in_features
        self.out_features = out_features
        self.weight = uninitialized((out_features, in_features), dtype)
        if bias:
            self.bias = uninitialized((out_features,), dtype)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """reset_parameters(): draw new numbers, the weight's before the bias's."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        parameters = self._parameters
        try:  # five times faster than self.weight, which Python looks for everywhere else first
            weight, bias = parameters["weight"], parameters["bias"]
        except KeyError:  # somebody has replaced one of them by a property or a tensor
            weight, bias = self.weight, self.bias
        return F.linear(input, weight, bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def uninitialized(shape: tuple[int, ...], dtype: Any) -> Parameter:
    """A parameter of this shape whose values are still to be drawn."""
    kind = _dtypes.get_default_dtype() if dtype is None else dtype
    parameter: Parameter = Parameter(wrap(np.empty(shape, kind.np)))
    return parameter


class Identity(_Layer):
    """Identity(): the input as it is. Whatever the constructor is given is ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Flatten(_Layer):
    """Flatten(start_dim=1, end_dim=-1): the dimensions from start_dim to end_dim become one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Dropout(_Layer):
    """Dropout(p=0.5, inplace=False): in training, each element is zero with probability p, else x / (1 - p)."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
