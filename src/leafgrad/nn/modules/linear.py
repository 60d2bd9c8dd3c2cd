"""Linear layers, and the layer that does nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad import _dtypes
from leafgrad._core.overrides import modes_of_all_threads
from leafgrad._core.tensor import wrap
from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.nn import functional as F
from leafgrad.nn import init
from leafgrad.nn.modules.lazy import LazyModuleMixin
from leafgrad.nn.modules.module import Module
from leafgrad.nn.parameter import Parameter, UninitializedParameter
from leafgrad.ops.creation.factories import empty, not_negative
from leafgrad.ops.signature import Device, Dtype

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear"]


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
        self.in_features = in_features
        self.out_features = out_features
        self.weight = uninitialized((out_features, in_features), dtype, device)
        if bias:
            self.bias = uninitialized((out_features,), dtype, device)
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


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, under the name that PyTorch prints for the last projection of an attention."""


class LazyLinear(LazyModuleMixin, Linear):
    """LazyLinear(out_features, bias=True, device=None, dtype=None): a Linear that takes in_features from its first
    input."""

    cls_to_become = Linear
    weight: Any
    bias: Any

    def __init__(
        self, out_features: int, bias: bool = True, device: Device | None = None, dtype: Dtype | None = None
    ) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:  # all shapes are known, from a state that was loaded
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from "
                    f"self.weight: {self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]


class Bilinear(Module):
    """Bilinear(in1_features, in2_features, out_features, bias=True, device=None, dtype=None): y = x1ᵀ A x2 + b.

    A has the shape (out_features, in1_features, in2_features). Both start uniformly in ±1 / sqrt(in1_features).
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got ({in1_features=})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = uninitialized((out_features, in1_features, in2_features), dtype, device)
        if bias:
            self.bias = uninitialized((out_features,), dtype, device)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """reset_parameters(): draw new numbers, the weight's before the bias's."""
        bound = 1 / math.sqrt(self.weight.shape[1])
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


def uninitialized(shape: tuple[int, ...], dtype: Any, device: Any = None) -> Parameter:
    """A parameter of this shape whose values are still to be drawn."""
    kind = _dtypes.get_default_dtype() if dtype is None else dtype
    parameter: Parameter
    if device is not None or modes_of_all_threads:  # of which one may be that of `with torch.device(...)`
        parameter = Parameter(empty(shape, dtype=kind, device=device))
        return parameter
    parameter = Parameter(wrap(np.empty(not_negative("empty", shape), kind.np)))
    return parameter


class Identity(_Layer):
    """Identity(): the input as it is. Whatever the constructor is given is ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input
