"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.kernels.language import Number, Updated, Vector, copied, detached, elementwise
from leafgrad.ops.registry import op
from leafgrad.optim.functional import as_function
from leafgrad.optim.optimizer import Group, Optimizer, Params, State, check_options
from leafgrad.optim.states import zeros_for
from leafgrad.optim.update import Update, in_place, steps


@op
class sgd_step(Update):
    """sgd_step(param, grad, momentum_buffer, lr, momentum, dampening, weight_decay, nesterov, maximize, first):
    v = momentum v + (1 - dampening) g;  p = p - lr v  (with nesterov: p - lr (g + momentum v)).

    Without momentum v is g. The first v is g as well, without its history.
    """

    inputs = ("param", "grad", "momentum_buffer")
    options = ("lr", "momentum", "dampening", "weight_decay", "nesterov", "maximize", "first")
    results = 2

    @elementwise
    def formula(
        p: Updated, g: Vector, v: Updated, lr: Number, momentum: Number, dampening: Number, weight_decay: Number,
        nesterov: Number, maximize: Number, first: Number,
    ) -> Any:  # fmt: skip
        if maximize:
            g = -g
        if weight_decay:
            g = p * weight_decay + g
        change = g
        if momentum:
            if first:
                v = copied(detached(g))
            else:
                v = v * momentum + (g * (1 - dampening) if dampening else g)
            change = v * momentum + g if nesterov else v
        return p - change * lr, v

    kernel = in_place(formula, inputs, only_if={"momentum_buffer": "momentum"})
    samples = steps(
        "SGD", {"lr": 0.1}, {"momentum": 0.9, "dampening": 0.2}, {"weight_decay": 0.1, "maximize": True},
        {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    )  # fmt: skip


class SGD(Optimizer):
    """SGD(params, lr=0.001, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False)"""

    _update = sgd_step

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _prepare(self, p: Any, kept: tuple[str, ...], group: Group) -> tuple[State, Any]:
        """The state of a parameter, and whether this is its first step."""
        state = self.state[p]
        first = state.get("momentum_buffer") is None
        if first:
            state["momentum_buffer"] = zeros_for(p)
        return state, first

    def _sparse_step(self, p: Any, gradient: Any, group: Group) -> None:
        with no_grad():
            change = -gradient if group["maximize"] else gradient
            if group["weight_decay"]:
                change = change.add(p, alpha=group["weight_decay"])
            if momentum := group["momentum"]:
                state = self.state[p]
                buffer = state.get("momentum_buffer")
                if buffer is None:
                    buffer = state["momentum_buffer"] = change.detach().clone()
                else:
                    buffer.mul_(momentum).add_(change, alpha=1 - group["dampening"])
                change = change.add(buffer, alpha=momentum) if group["nesterov"] else buffer
            p.add_(change, alpha=-float(group["lr"]))


sgd = as_function(
    SGD,
    {"momentum_buffer_list": "momentum_buffer"},
    "has_sparse_grad foreach fused grad_scale found_inf",
    "weight_decay momentum lr dampening nesterov maximize",
    grads="d_p_list",
)
