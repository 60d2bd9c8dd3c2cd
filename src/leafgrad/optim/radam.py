"""RAdam: Adam that waits until the size of the gradients is known well enough."""

from __future__ import annotations

from typing import Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.kernels.language import Number, Pair, Updated, Vector, elementwise, sqrt
from leafgrad.ops.registry import op
from leafgrad.optim.functional import as_function
from leafgrad.optim.optimizer import Group, Optimizer, Params, State, check_betas, check_options
from leafgrad.optim.update import Update, in_place, steps


@op
class radam_step(Update):
    """radam_step(param, grad, exp_avg, exp_avg_sq, lr, betas, eps, weight_decay, decoupled_weight_decay, maximize,
    step): m = β1 m + (1 - β1) g;  v = β2 v + (1 - β2) g²;  p = p - lr m' r sqrt(1 - β2ᵗ) / (sqrt(v) + eps)

    where m' = m / (1 - β1ᵗ). The last option is t with r, the rectification; while that is 0, p = p - lr m'.
    """

    inputs = ("param", "grad", "exp_avg", "exp_avg_sq")
    options = ("lr", "betas", "eps", "weight_decay", "decoupled_weight_decay", "maximize", "step")
    results = 3

    @elementwise
    def formula(
        p: Updated, g: Vector, m: Updated, v: Updated, lr: Number, betas: Pair, eps: Number, weight_decay: Number,
        decoupled: Number, maximize: Number, step: Pair,
    ) -> Any:  # fmt: skip
        beta1, beta2 = betas
        t, rectification = step
        if maximize:
            g = -g
        if weight_decay and decoupled:
            p = p * (1 - lr * weight_decay)
        elif weight_decay:
            g = p * weight_decay + g
        m = m + (g - m) * (1 - beta1)
        v = v * beta2 + g * (1 - beta2) * g
        rate = lr / (1 - beta1**t)
        if rectification:
            change = m / (sqrt(v) + eps) * (rate * (1 - beta2**t) ** 0.5 * rectification)
        else:
            change = m * rate
        return p - change, m, v

    kernel = in_place(formula, inputs)
    samples = steps(
        "RAdam", {"lr": 0.1}, {"betas": (0.5, 0.99), "eps": 1e-3, "weight_decay": 0.1}, {"maximize": True},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True},
    )  # fmt: skip


class RAdam(Optimizer):
    """RAdam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, decoupled_weight_decay=False, *,
    maximize=False)"""

    _update = radam_step

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr, epsilon=eps)
        check_betas(betas)
        check_options(lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _prepare(self, p: Any, kept: tuple[str, ...], group: Group) -> tuple[State, Any]:
        """The state of a parameter; how many steps it has had and the rectification."""
        state, t = super()._prepare(p, kept, group)
        beta2 = group["betas"][1]
        # how many gradients v is an average of: in the end, and now
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * t * beta2**t / (1 - beta2**t)
        if length <= 5:
            return state, (t, 0)
        ratio = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        return state, (t, ratio**0.5)


radam = as_function(
    RAdam,
    {"exp_avgs": "exp_avg", "exp_avg_sqs": "exp_avg_sq", "state_steps": "step"},
    "decoupled_weight_decay foreach differentiable capturable has_complex maximize",
    "beta1 beta2 lr weight_decay eps",
)
