"""NAdam: Adam with Nesterov's momentum."""

from __future__ import annotations

from typing import Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.kernels.language import Number, Pair, Updated, Vector, elementwise, sqrt
from leafgrad.ops.registry import op
from leafgrad.optim.functional import as_function
from leafgrad.optim.optimizer import Group, Optimizer, Params, State, check_betas, check_options
from leafgrad.optim.states import step_counter, zeros_for
from leafgrad.optim.update import Update, in_place, steps


@op
class nadam_step(Update):
    """nadam_step(param, grad, exp_avg, exp_avg_sq, lr, betas, eps, weight_decay, momentum_decay,
    decoupled_weight_decay, maximize, step): m = β1 m + (1 - β1) g;  v = β2 v + (1 - β2) g²;
    p = p - lr ((1 - μₜ) / (1 - Πμ) g + μₜ₊₁ / (1 - μₜ₊₁ Πμ) m) / (sqrt(v / (1 - β2ᵗ)) + eps)

    with a momentum that rises: μₜ = β1 (1 - 0.96^(t momentum_decay) / 2). The last option is t with Πμ, the product of
    all momentums so far.
    """

    inputs = ("param", "grad", "exp_avg", "exp_avg_sq")
    options = (
        "lr", "betas", "eps", "weight_decay", "momentum_decay", "decoupled_weight_decay", "maximize", "step",
    )  # fmt: skip
    results = 3

    @elementwise
    def formula(
        p: Updated, g: Vector, m: Updated, v: Updated, lr: Number, betas: Pair, eps: Number, weight_decay: Number,
        momentum_decay: Number, decoupled: Number, maximize: Number, step: Pair,
    ) -> Any:  # fmt: skip
        beta1, beta2 = betas
        t, product = step
        if maximize:
            g = -g
        if weight_decay and decoupled:
            p = p * (1 - lr * weight_decay)
        elif weight_decay:
            g = p * weight_decay + g
        present = beta1 * (1 - 0.5 * 0.96 ** (t * momentum_decay))
        coming = beta1 * (1 - 0.5 * 0.96 ** ((t + 1) * momentum_decay))
        m = m + (g - m) * (1 - beta1)
        v = v * beta2 + g * (1 - beta2) * g
        size = sqrt(v / (1 - beta2**t)) + eps
        change = g * (lr * (1 - present) / (1 - product)) + m * (lr * coming / (1 - product * coming))
        return p - change / size, m, v

    kernel = in_place(formula, inputs)
    samples = steps(
        "NAdam", {"lr": 0.1}, {"betas": (0.5, 0.7), "eps": 1e-3, "weight_decay": 0.1}, {"momentum_decay": 0.5},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    )  # fmt: skip


def momentum(beta1: Any, decay: Any, t: Any) -> Any:
    return beta1 * (1.0 - 0.5 * 0.96 ** (t * decay))


class NAdam(Optimizer):
    """NAdam(params, lr=0.002, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, momentum_decay=0.004,
    decoupled_weight_decay=False, *, maximize=False)"""

    _update = nadam_step

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr, epsilon=eps)
        check_betas(betas)
        check_options(lr, weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _prepare(self, p: Any, kept: tuple[str, ...], group: Group) -> tuple[State, Any]:
        """The state of a parameter; how many steps it has had and the product of their momentums."""
        state = self.state[p]
        if not state:
            state.update(step=step_counter(), mu_product=step_counter(1.0), exp_avg=zeros_for(p))
            state["exp_avg_sq"] = zeros_for(p)
        _, t = super()._prepare(p, kept, group)
        product = state["mu_product"].array
        product *= product.dtype.type(momentum(group["betas"][0], group["momentum_decay"], t))
        return state, (t, product.item())


nadam = as_function(
    NAdam,
    {"exp_avgs": "exp_avg", "exp_avg_sqs": "exp_avg_sq", "mu_products": "mu_product", "state_steps": "step"},
    "decoupled_weight_decay foreach capturable differentiable has_complex maximize",
    "beta1 beta2 lr weight_decay momentum_decay eps",
)
