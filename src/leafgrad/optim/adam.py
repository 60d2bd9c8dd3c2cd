"""Adam and AdamW: steps that are measured by how large the gradients usually are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from leafgrad._core.tensor import TensorBase
from leafgrad.kernels import add, divide, maximum, multiply, subtract
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


class Adam(Optimizer):
    """Adam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, amsgrad=False, *, maximize=False)"""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_options(lr, epsilon=eps)
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        check_options(lr, weight_decay=weight_decay)
        if [type(beta) for beta in betas] != [float, float] and not all(isinstance(b, TensorBase) for b in betas):
            raise ValueError("betas must be either both floats or both Tensors")
        defaults = {
            "lr": lr,
            "betas": betas if differentiable else (float(betas[0]), float(betas[1])),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def recorded_step(self, p: Any, group: Group) -> None:
        from leafgrad.optim import differentiable

        differentiable.adam(p, self.state[p], group)

    def prepare(self, p: Any, group: Group) -> tuple[Sequence[Array], float]:
        state = self.state[p]
        if not state:
            state["step"] = step_counter()
            state["exp_avg"] = zeros_for(p)
            state["exp_avg_sq"] = zeros_for(p)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_for(p)
        count = count_step(state)
        if group["amsgrad"]:
            return (state["exp_avg"].array, state["exp_avg_sq"].array, state["max_exp_avg_sq"].array), count
        return (state["exp_avg"].array, state["exp_avg_sq"].array), count

    def coefficients(self, group: Group, count: float) -> tuple[float, ...]:
        beta1, beta2 = group["betas"]
        lr = float(group["lr"])
        correction = math.sqrt(1 - beta2**count)
        # sqrt(v) / correction + eps, multiplied by the correction: one pass over the memory less
        step, eps = lr / (1 - beta1**count) * correction, group["eps"] * correction
        return 1 - beta1, beta2, 1 - beta2, step, eps, lr * float(group["weight_decay"])

    def change(
        self, p: Array, g: Array, buffers: Sequence[Array], scratch: Sequence[Array], numbers: Numbers, group: Group
    ) -> Array:
        """m = β1 m + (1 - β1) g;  v = β2 v + (1 - β2) g²;  p = p - lr m' / (sqrt(v') + eps)

        where m' = m / (1 - β1ᵗ) and v' = v / (1 - β2ᵗ) make up for starting at zero. amsgrad takes the largest v so
        far. Decoupled weight decay subtracts lr weight_decay p instead of changing g.
        """
        rest1, beta2, rest2, step, eps, decay = numbers
        _, s, t = scratch
        m, v = buffers[0], buffers[1]
        add(m, multiply(subtract(g, m, s), rest1, t), m)
        multiply(multiply(g, rest2, s), g, t)
        add(multiply(v, beta2, s), t, v)
        if group["amsgrad"]:
            v = maximum(buffers[2], v, out=buffers[2])
        change = multiply(divide(m, add(sqrt(v, s), eps, t), s), step, t)
        if group["decoupled_weight_decay"] and group["weight_decay"]:
            change = add(multiply(p, decay, s), change, t)
        return change


class AdamW(Adam):
    """AdamW(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01, amsgrad=False, *, maximize=False):
    Adam with decoupled weight decay."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )
