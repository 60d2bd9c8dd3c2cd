"""leafgrad._C._functions: nodes that programs make or name themselves."""

from __future__ import annotations

from typing import Any

from leafgrad import _missing, errors
from leafgrad._core.node import Node
from leafgrad._core.refused_gradient import delayed_errors, undefined_gradient
from leafgrad.autograd.public_nodes import AccumulateGrad

__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]
__getattr__ = _missing.attributes_of(__name__)


class UndefinedGrad(Node):
    """UndefinedGrad()(tensor): the tensor with a history that no gradient comes back through, not even zeros."""

    def __call__(self, tensor: Any) -> Any:
        return undefined_gradient(tensor)


class DelayedError(Node):
    """DelayedError(message, num_inputs)(*tensors): the tensors with a history that refuses to be gone back through."""

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message = message
        self.num_inputs = num_inputs

    def __call__(self, *tensors: Any) -> Any:
        if len(tensors) != self.num_inputs:
            raise TypeError(f"expected {self.num_inputs} arguments, got {len(tensors)} instead\n  at {errors.here()}")
        made = delayed_errors(tensors, self.message)
        return made[0] if len(made) == 1 else made
