"""Muon: momentum whose singular values are all made about one."""

from __future__ import annotations

import math
from typing import Any

from leafgrad.ops.shape.join import stack
from leafgrad.optim.matrix import MatrixOptimizer
from leafgrad.optim.optimizer import Group, Params
from leafgrad.optim.states import zeros_for

AT_ONCE = 262144  # elements of a stack


class Muon(MatrixOptimizer):
    """Muon(params, lr=0.001, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=(3.4445, -4.775, 2.0315),
    eps=1e-07, ns_steps=5, adjust_lr_fn=None): for matrices only. The steps of the Newton-Schulz iteration are made in
    bfloat16. adjust_lr_fn is 'original' (the same as None) or 'match_rms_adamw'."""

    def __init__(
        self,
        params: Params,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        self._check_rate(lr)
        if momentum < 0.0:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def _change(self, params: list[Any], group: Group) -> None:
        lr, momentum = float(group["lr"]), group["momentum"]
        updates = []
        for p in params:
            g, state = p.grad, self.state[p]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = zeros_for(g)
            average = state["momentum_buffer"].lerp_(g, 1 - momentum)
            updates.append(g.lerp(average, momentum) if group["nesterov"] else average)
        for numbers in stacks(updates):
            matrices = stack.function([updates[i] for i in numbers])
            changes = orthogonal(matrices, group["ns_coefficients"], group["ns_steps"], group["eps"])
            for i, change in zip(numbers, changes):
                p = params[i]
                rows, columns = p.shape
                if group["adjust_lr_fn"] == "match_rms_adamw":
                    factor = 0.2 * math.sqrt(max(rows, columns))
                else:
                    factor = math.sqrt(max(1, rows / columns))
                p.mul_(1 - lr * group["weight_decay"])
                p.add_(change, alpha=-lr * factor)


def stacks(matrices: list[Any]) -> list[list[int]]:
    """The numbers of matrices of one shape and dtype, as many together as fit into the cache: a product of a stack of
    small matrices takes a third of the time of as many products."""
    found: list[list[int]] = []
    open_ones: dict[Any, list[int]] = {}
    for i, matrix in enumerate(matrices):
        kind = matrix.dtype, matrix.shape
        numbers = open_ones.get(kind)
        if numbers is None or (len(numbers) + 1) * matrix.numel() > AT_ONCE:
            numbers = open_ones[kind] = []
            found.append(numbers)
        numbers.append(i)
    return found


def orthogonal(matrices: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """Matrices with the singular vectors of others, and singular values near one: x = a x + (b + c x xᵀ) x xᵀ x, over
    and over."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    high = matrices.size(1) > matrices.size(2)
    x = matrices.bfloat16()
    x = x.mT if high else x
    norms = x.norm(dim=(1, 2), keepdim=True).clamp(min=eps)
    x = (x.float() / norms.float()).bfloat16()  # the same numbers as x / norms, in a sixth of the time
    for _ in range(steps):
        squares = x @ x.mT
        # which is its own transpose: half of the product has to be computed
        x = x.baddbmm(squares.baddbmm(squares, squares.mT, beta=b, alpha=c), x, beta=a)
    x = x.float()
    return x.mT if high else x
