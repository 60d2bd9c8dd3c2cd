"""Modules that apply one function."""

from __future__ import annotations

from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn.modules.linear import _Layer

__all__ = ["LogSoftmax", "ReLU", "Sigmoid", "Softmax", "Tanh"]


class ReLU(_Layer):
    """ReLU(inplace=False): max(0, x), element by element."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Tanh(_Layer):
    """Tanh(): tanh(x), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class Sigmoid(_Layer):
    """Sigmoid(): 1 / (1 + exp(-x)), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


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


class LogSoftmax(_AlongDimension):
    """LogSoftmax(dim=None): x - log(sum(exp(x))) along one dimension."""

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)
