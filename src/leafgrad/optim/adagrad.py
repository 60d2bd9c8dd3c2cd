"""Adagrad: gradients divided by the root of the sum of their squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._tensor.tensor import Tensor
from leafgrad.kernels.language import Number, Updated, Vector, elementwise, sqrt
from leafgrad.nn.parameter import is_lazy, uninitialized_in
from leafgrad.ops.registry import op
from leafgrad.optim.functional import as_function
from leafgrad.optim.optimizer import Group, Optimizer, Params, check_options
from leafgrad.optim.sparse_adam import values_at_places
from leafgrad.optim.states import full_for, step_counter
from leafgrad.optim.update import Update, in_place, steps


@op
class adagrad_step(Update):
    """adagrad_step(param, grad, sum, lr, lr_decay, weight_decay, eps, maximize, step): s = s + g²;
    p = p - lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)."""

    inputs = ("param", "grad", "sum")
    options = ("lr", "lr_decay", "weight_decay", "eps", "maximize", "step")
    results = 2

    @elementwise
    def formula(
        p: Updated, g: Vector, s: Updated, lr: Number, lr_decay: Number, weight_decay: Number, eps: Number,
        maximize: Number, t: Number,
    ) -> Any:  # fmt: skip
        if maximize:
            g = -g
        if weight_decay:
            g = p * weight_decay + g
        s = s + g * g
        return p - g / (sqrt(s) + eps) * (lr / (1 + (t - 1) * lr_decay)), s

    kernel = in_place(formula, inputs)
    samples = steps(
        "Adagrad", {"lr": 0.1}, {"lr_decay": 0.5, "eps": 1e-3, "weight_decay": 0.1},
        {"initial_accumulator_value": 0.3, "maximize": True},
    )  # fmt: skip


class Adagrad(Optimizer):
    """Adagrad(params, lr=0.01, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, *,
    maximize=False)"""

    _update = adagrad_step

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_options(
            lr, lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value,
            epsilon=eps,
        )  # fmt: skip
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:  # the only optimiser whose state is there before the first step
            for p in group["params"]:
                if is_lazy(p):
                    raise uninitialized_in(type(self), type(p))
                self.state[p].update(step=step_counter(), sum=self._first("sum", p, group))

    def _first(self, name: str, p: Any, group: Group) -> Any:
        return full_for(p, self.defaults["initial_accumulator_value"])

    def _sparse_step(self, p: Any, gradient: Any, group: Group) -> None:
        if group["weight_decay"]:
            first = "weight_decay option is not compatible with sparse gradients"
            raise errors.mistake(RuntimeError, first, fix="weight_decay=0")
        state, count = self._prepare(p, (), group)
        at, g = values_at_places(-gradient if group["maximize"] else gradient)
        total = state["sum"].array
        total[at] += g * g
        rate = float(group["lr"]) / (1 + (count - 1) * group["lr_decay"])
        p.array[at] -= (rate * (g / (np.sqrt(total[at]) + group["eps"]))).astype(p.array.dtype)
        p.version[0] += 1


adagrad = as_function(
    Adagrad,
    {"state_sums": "sum", "state_steps": "step"},
    "fused grad_scale found_inf has_sparse_grad foreach differentiable has_complex",
    "lr weight_decay lr_decay eps maximize",
)
