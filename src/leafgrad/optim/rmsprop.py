"""RMSprop: gradients divided by their usual size."""

from __future__ import annotations

from typing import Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.kernels.language import Number, Updated, Vector, elementwise, sqrt
from leafgrad.ops.registry import op
from leafgrad.optim.functional import as_function
from leafgrad.optim.optimizer import Optimizer, Params, check_options
from leafgrad.optim.update import Update, in_place, steps


@op
class rmsprop_step(Update):
    """rmsprop_step(param, grad, square_avg, momentum_buffer, grad_avg, lr, alpha, eps, weight_decay, momentum,
    centered, maximize): v = α v + (1 - α) g²;  b = momentum b + g / (sqrt(v) + eps);  p = p - lr b.

    Centered, v is a variance: v - m² with m = α m + (1 - α) g takes its place.
    """

    inputs = ("param", "grad", "square_avg", "momentum_buffer", "grad_avg")
    options = ("lr", "alpha", "eps", "weight_decay", "momentum", "centered", "maximize")
    results = 4

    @elementwise
    def formula(
        p: Updated, g: Vector, v: Updated, b: Updated, m: Updated, lr: Number, alpha: Number, eps: Number,
        weight_decay: Number, momentum: Number, centered: Number, maximize: Number,
    ) -> Any:  # fmt: skip
        if maximize:
            g = -g
        if weight_decay:
            g = p * weight_decay + g
        v = v * alpha + g * (1 - alpha) * g
        size = v
        if centered:
            m = m + (g - m) * (1 - alpha)
            size = v - m * m
        change = g / (sqrt(size) + eps)
        if momentum:
            change = b = b * momentum + change
        return p - change * lr, v, b, m

    kernel = in_place(formula, inputs, only_if={"momentum_buffer": "momentum", "grad_avg": "centered"})
    samples = steps(
        "RMSprop", {"lr": 0.1}, {"alpha": 0.7, "eps": 1e-3, "weight_decay": 0.1}, {"momentum": 0.9, "maximize": True},
        {"lr": 0.1, "alpha": 0.5, "centered": True, "momentum": 0.5},
    )  # fmt: skip


class RMSprop(Optimizer):
    """RMSprop(params, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0, momentum=0, centered=False, maximize=False)"""

    _update = rmsprop_step

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr, epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)


rmsprop = as_function(
    RMSprop,
    {
        "square_avgs": "square_avg",
        "grad_avgs": "grad_avg",
        "momentum_buffer_list": "momentum_buffer",
        "state_steps": "step",
    },
    "foreach maximize differentiable capturable has_complex",
    "lr alpha eps weight_decay momentum centered",
)
