"""Adadelta: steps as large as the steps before, for gradients as large as those before."""

from __future__ import annotations

from typing import Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.kernels.language import Number, Updated, Vector, elementwise, sqrt
from leafgrad.ops.registry import op
from leafgrad.optim.functional import as_function
from leafgrad.optim.optimizer import Optimizer, Params, check_options
from leafgrad.optim.update import Update, in_place, steps


@op
class adadelta_step(Update):
    """adadelta_step(param, grad, square_avg, acc_delta, lr, rho, eps, weight_decay, maximize): v = ρ v + (1 - ρ) g²;
    Δ = sqrt(d + eps) / sqrt(v + eps) g;  d = ρ d + (1 - ρ) Δ²;  p = p - lr Δ."""

    inputs = ("param", "grad", "square_avg", "acc_delta")
    options = ("lr", "rho", "eps", "weight_decay", "maximize")
    results = 3

    @elementwise
    def formula(
        p: Updated, g: Vector, v: Updated, d: Updated, lr: Number, rho: Number, eps: Number, weight_decay: Number,
        maximize: Number,
    ) -> Any:  # fmt: skip
        if maximize:
            g = -g
        if weight_decay:
            g = p * weight_decay + g
        v = v * rho + g * (1 - rho) * g
        change = sqrt(d + eps) / sqrt(v + eps) * g
        d = d * rho + change * (1 - rho) * change
        return p - change * lr, v, d

    kernel = in_place(formula, inputs)
    samples = steps(
        "Adadelta", {}, {"lr": 0.1, "rho": 0.5, "eps": 1e-3, "weight_decay": 0.1}, {"lr": 0.1, "maximize": True}
    )


class Adadelta(Optimizer):
    """Adadelta(params, lr=1.0, rho=0.9, eps=1e-06, weight_decay=0, *, maximize=False)"""

    _update = adadelta_step

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_options(lr, epsilon=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)


adadelta = as_function(
    Adadelta,
    {"square_avgs": "square_avg", "acc_deltas": "acc_delta", "state_steps": "step"},
    "capturable foreach differentiable has_complex",
    "lr rho eps weight_decay maximize",
)
