"""ASGD: gradient descent with smaller and smaller steps, and the average of the parameters."""

from __future__ import annotations

from typing import Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.kernels.language import Number, Pair, Updated, Vector, copied, elementwise
from leafgrad.ops.registry import op
from leafgrad.optim.functional import as_function
from leafgrad.optim.optimizer import Group, Optimizer, Params, State, check_options
from leafgrad.optim.states import step_counter, zeros_for
from leafgrad.optim.update import Update, in_place, steps


@op
class asgd_step(Update):
    """asgd_step(param, grad, ax, lr, lambd, weight_decay, maximize, step): p = p (1 - lambd η) - η g;
    a = a + (p - a) μ.  The last option is η with μ; while that is 0, a = p."""

    inputs = ("param", "grad", "ax")
    options = ("lr", "lambd", "weight_decay", "maximize", "step")
    results = 2

    @elementwise
    def formula(
        p: Updated, g: Vector, a: Updated, lr: Number, lambd: Number, weight_decay: Number, maximize: Number,
        step: Pair,
    ) -> Any:  # fmt: skip
        eta, mu = step
        if maximize:
            g = -g
        if weight_decay:
            g = p * weight_decay + g
        p = p * (1 - lambd * eta) - g * eta
        return p, a + (p - a) * mu if mu else copied(p)

    kernel = in_place(formula, inputs)
    samples = steps(
        "ASGD",
        {"lr": 0.1},
        {"lambd": 0.1, "alpha": 0.5, "t0": -1.0, "weight_decay": 0.1},
        {"lr": 0.1, "maximize": True},
    )


class ASGD(Optimizer):
    """ASGD(params, lr=0.01, lambd=0.0001, alpha=0.75, t0=1000000.0, weight_decay=0, maximize=False): the average, which
    begins after t0 steps, is `state[p]['ax']`."""

    _update = asgd_step

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_options(lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _prepare(self, p: Any, kept: tuple[str, ...], group: Group) -> tuple[State, Any]:
        """The state of a parameter; the rate of this step and the weight in the average. Those of the next one are in
        the state."""
        state, lr = self.state[p], float(group["lr"])
        if not state:
            state.update(step=step_counter(), eta=step_counter(lr), mu=step_counter(1.0), ax=zeros_for(p))
        _, t = super()._prepare(p, kept, group)
        eta, mu = state["eta"].array, state["mu"].array
        present = eta.item(), 0 if mu == 1 else mu.item()
        eta[()] = lr / (1 + group["lambd"] * lr * t) ** group["alpha"]
        mu[()] = 1 / max(1, t - group["t0"])
        return state, present


asgd = as_function(
    ASGD,
    {"axs": "ax", "mus": "mu", "etas": "eta", "state_steps": "step"},
    "foreach maximize differentiable capturable has_complex",
    "lambd lr t0 alpha weight_decay",
)
