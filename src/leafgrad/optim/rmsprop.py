"""RMSprop: gradients divided by their usual size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leafgrad.kernels import add, divide, multiply, subtract
from leafgrad.kernels import square_root as sqrt
from leafgrad.optim.optimizer import (
    Array,
    Group,
    Numbers,
    Optimizer,
    check_options,
    count_step,
    step_counter,
    zeros_for,
)


class RMSprop(Optimizer):
    """RMSprop(params, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0, momentum=0, centered=False, maximize=False)"""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
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
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def recorded_step(self, p: Any, group: Group) -> None:
        from leafgrad.optim import differentiable

        differentiable.rmsprop(p, self.state[p], group)

    def prepare(self, p: Any, group: Group) -> tuple[Sequence[Array], float]:
        state = self.state[p]
        if not state:
            state["step"] = step_counter()
            state["square_avg"] = zeros_for(p)
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros_for(p)
            if group["centered"]:
                state["grad_avg"] = zeros_for(p)
        count_step(state)
        names = ["square_avg"]
        if group["centered"]:
            names.append("grad_avg")
        if group["momentum"] > 0:
            names.append("momentum_buffer")
        return [state[name].array for name in names], 0  # the coefficients are the same in every step

    def coefficients(self, group: Group, count: float) -> tuple[float, ...]:
        alpha = group["alpha"]
        return alpha, 1 - alpha, float(group["lr"]), group["eps"], float(group["momentum"])

    def change(
        self, p: Array, g: Array, buffers: Sequence[Array], scratch: Sequence[Array], numbers: Numbers, group: Group
    ) -> Array:
        """v = α v + (1 - α) g²;  b = momentum b + g / (sqrt(v) + eps);  p = p - lr b

        Centered, v is a variance: v - m² with m = α m + (1 - α) g takes its place.
        """
        alpha, rest, lr, eps, momentum = numbers
        _, s, t = scratch
        v = buffers[0]
        multiply(multiply(g, rest, s), g, t)
        add(multiply(v, alpha, s), t, v)
        if group["centered"]:
            m = buffers[1]
            add(m, multiply(subtract(g, m, s), rest, t), m)
            v = subtract(v, multiply(m, m, s), t)
        direction = divide(g, add(sqrt(v, s), eps, t), s)
        if group["momentum"] > 0:
            b = buffers[-1]
            direction = add(multiply(b, momentum, t), direction, b)
        return multiply(direction, lr, t)
