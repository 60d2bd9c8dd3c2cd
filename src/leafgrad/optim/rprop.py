"""Rprop: each element has a step size of its own, which depends on the signs of its gradients only."""

from __future__ import annotations

from typing import Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.kernels.language import Number, Pair, Updated, Vector, elementwise, maximum, minimum, sign
from leafgrad.ops.registry import op
from leafgrad.optim.functional import as_function
from leafgrad.optim.optimizer import Group, Optimizer, Params, check_options
from leafgrad.optim.states import full_for
from leafgrad.optim.update import Update, in_place, steps

LARGE = 1e38  # larger than any gradient, and a float32


@op
class rprop_step(Update):
    """rprop_step(param, grad, prev, step_size, lr, etas, step_sizes, maximize): where the gradient has the sign that it
    had before, the step is longer by η+; where it has the other one, shorter by η-, and nothing is done this time:
    p = p - size sign(g). The learning rate is the first size."""

    inputs = ("param", "grad", "prev", "step_size")
    options = ("lr", "etas", "step_sizes", "maximize")
    results = 3

    @elementwise
    def formula(
        p: Updated, g: Vector, before: Updated, size: Updated, lr: Number, etas: Pair, limits: Pair, maximize: Number,
    ) -> Any:  # fmt: skip
        if maximize:
            g = -g
        change = sign(g * before)
        same = (change * change + change) * 0.5  # one or zero
        other = (change * change - change) * 0.5
        shorter, longer = etas
        size = size * (same * longer + other * shorter + (1 - same - other))
        smallest, largest = limits
        # The number first: gcc (12) vectorises it so, and not the other way round.
        size = minimum(largest, maximum(smallest, size))
        bound = (1 - other) * LARGE  # not g (1 - other), which is nan where a gradient is infinite
        g = minimum(bound, maximum(-bound, g))
        return p - sign(g) * size, g, size

    kernel = in_place(formula, inputs)
    samples = steps(
        "Rprop", {"lr": 0.1}, {"etas": (0.3, 1.7), "step_sizes": (0.02, 0.03)}, {"lr": 0.1, "maximize": True}
    )


class Rprop(Optimizer):
    """Rprop(params, lr=0.01, etas=(0.5, 1.2), step_sizes=(1e-06, 50), *, maximize=False)"""

    _update = rprop_step

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_options(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _first(self, name: str, p: Any, group: Group) -> Any:
        return full_for(p, group["lr"] if name == "step_size" else 0)


rprop = as_function(
    Rprop,
    {"prevs": "prev", "step_sizes": "step_size", "state_steps": "step"},
    "foreach capturable maximize differentiable has_complex",
    "step_size_min step_size_max etaminus etaplus",
)
