"""leafgrad._C._functions: nodes that programs make or name themselves."""

from __future__ import annotations

from typing import Any

from leafgrad import _missing
from leafgrad._core.bind import bind
from leafgrad._core.delayed_error import delayed_error
from leafgrad._core.node import Node
from leafgrad._core.op import GradientRules, Op
from leafgrad.autograd.public_nodes import AccumulateGrad

__all__ = ["AccumulateGrad", "DelayedError", "UndefinedGrad"]
__getattr__ = _missing.attributes_of(__name__)

_no_gradient = Op(
    "undefined_grad",
    "UndefinedGradBackward",
    lambda x: x.view(),
    GradientRules(lambda g, saved, inputs: (None,), lambda mask: ()),
)


class UndefinedGrad(Node):
    """UndefinedGrad()(tensor): the tensor with a history that no gradient comes back through, not even zeros."""

    def __call__(self, tensor: Any) -> Any:
        return bind(_no_gradient, (tensor,))


class DelayedError(Node):
    """DelayedError(message, num_inputs)(*tensors): the tensors with a history that refuses to be gone back through."""

    def __init__(self, message: str, num_inputs: int) -> None:
        self.message = message
        self.num_inputs = num_inputs

    def __call__(self, *tensors: Any) -> Any:
        made = [delayed_error(t, self.message) for t in tensors]
        return made[0] if len(made) == 1 else tuple(made)
