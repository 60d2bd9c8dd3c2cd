"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leafgrad.kernels import add, multiply
from leafgrad.optim.optimizer import Array, Group, Numbers, Optimizer, check_options, zeros_for


class SGD(Optimizer):
    """SGD(params, lr=0.001, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False)"""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
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
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def recorded_step(self, p: Any, group: Group) -> None:
        from leafgrad.optim import differentiable

        differentiable.sgd(p, self.state[p], group)

    def prepare(self, p: Any, group: Group) -> tuple[Sequence[Array], float]:
        if not group["momentum"]:
            return (), 1
        state = self.state[p]
        velocity = state.get("momentum_buffer")
        if velocity is None:
            velocity = state["momentum_buffer"] = zeros_for(p)
            return (velocity.array,), 1
        return (velocity.array,), 2  # or more: only the first step is different

    def coefficients(self, group: Group, count: float) -> tuple[float, ...]:
        momentum = float(group["momentum"])
        taken = 1.0 if count == 1 else 1.0 - float(group["dampening"])  # the first gradient is taken in full
        return float(group["lr"]), momentum, taken

    def change(
        self, p: Array, g: Array, buffers: Sequence[Array], scratch: Sequence[Array], numbers: Numbers, group: Group
    ) -> Array:
        """v = momentum v + (1 - dampening) g;  p = p - lr v  (with nesterov: p - lr (g + momentum v))

        Without momentum v is g.
        """
        lr, momentum, taken = numbers
        _, s, t = scratch
        if not buffers:
            return multiply(g, lr, s)
        (v,) = buffers
        add(multiply(v, momentum, s), multiply(g, taken, t) if group["dampening"] else g, v)
        if not group["nesterov"]:
            return multiply(v, lr, s)
        return multiply(add(multiply(v, momentum, s), g, t), lr, s)
