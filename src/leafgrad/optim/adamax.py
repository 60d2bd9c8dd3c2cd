"""Adamax: Adam with the largest gradient so far in place of the usual one."""

from __future__ import annotations

from typing import Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.kernels.language import Number, Pair, Updated, Vector, abs, elementwise, maximum
from leafgrad.ops.registry import op
from leafgrad.optim.functional import as_function
from leafgrad.optim.optimizer import Optimizer, Params, check_betas, check_options
from leafgrad.optim.update import Update, in_place, steps


@op
class adamax_step(Update):
    """adamax_step(param, grad, exp_avg, exp_inf, lr, betas, eps, weight_decay, maximize, step):
    m = β1 m + (1 - β1) g;  u = max(β2 u, |g| + eps);  p = p - lr / (1 - β1ᵗ) m / u."""

    inputs = ("param", "grad", "exp_avg", "exp_inf")
    options = ("lr", "betas", "eps", "weight_decay", "maximize", "step")
    results = 3

    @elementwise
    def formula(
        p: Updated, g: Vector, m: Updated, u: Updated, lr: Number, betas: Pair, eps: Number, weight_decay: Number,
        maximize: Number, t: Number,
    ) -> Any:  # fmt: skip
        beta1, beta2 = betas
        if maximize:
            g = -g
        if weight_decay:
            g = p * weight_decay + g
        m = m + (g - m) * (1 - beta1)
        u = maximum(u * beta2, abs(g) + eps)
        return p - m / u * (lr / (1 - beta1**t)), m, u

    kernel = in_place(formula, inputs)
    samples = steps(
        "Adamax", {"lr": 0.1}, {"betas": (0.5, 0.7), "eps": 1e-3, "weight_decay": 0.1}, {"lr": 0.1, "maximize": True}
    )


class Adamax(Optimizer):
    """Adamax(params, lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, *, maximize=False)"""

    _update = adamax_step

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(lr, epsilon=eps)
        check_betas(betas)
        check_options(lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)


adamax = as_function(
    Adamax,
    {"exp_avgs": "exp_avg", "exp_infs": "exp_inf", "state_steps": "step"},
    "foreach maximize differentiable capturable has_complex",
    "eps beta1 beta2 lr weight_decay",
)
