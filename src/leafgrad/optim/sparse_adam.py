"""SparseAdam, which is for sparse gradients: of parameters and of what it keeps for them, only the elements that a
gradient holds change."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._tensor.tensor import Tensor
from leafgrad.optim.matrix import MatrixOptimizer
from leafgrad.optim.optimizer import Group, Params
from leafgrad.optim.states import zeros_for


class SparseAdam(MatrixOptimizer):
    """SparseAdam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, maximize=False): Adam for gradients that are sparse;
    those that are dense are refused."""

    _takes_sparse = True

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i in (0, 1):
            if not 0.0 <= betas[i] < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        every = [[i, k, p] for i, group in enumerate(self.param_groups) for k, p in enumerate(group["params"])]
        if sparse := [[i, k] for i, k, p in every if p.is_sparse]:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        places = [
            [i, k] for i, group in enumerate(self.param_groups) for k, p in enumerate(group["params"]) if p.is_complex()
        ]
        if places:
            raise ValueError(f"Complex params at indices {places}: SparseAdam does not support complex parameters")

    def _change(self, params: list[Any], group: Group) -> None:
        if any([not p.grad.is_sparse for p in params]):
            first = "SparseAdam does not support dense gradients, please consider Adam instead"
            raise errors.mistake(RuntimeError, first)
        self._note_change(params)
        for p in params:
            state = self.state[p]
            if not state:
                state.update(step=0, exp_avg=zeros_for(p), exp_avg_sq=zeros_for(p))
            state["step"] += 1
            at, g = values_at_places(-p.grad if group["maximize"] else p.grad)
            beta1, beta2 = [float(beta) for beta in group["betas"]]
            first, second = state["exp_avg"].array, state["exp_avg_sq"].array
            first[at] += (g - first[at]) * (1 - beta1)
            second[at] += (g * g - second[at]) * (1 - beta2)
            rate = float(group["lr"]) * math.sqrt(1 - beta2 ** state["step"]) / (1 - beta1 ** state["step"])
            p.array[at] -= rate * (first[at] / (np.sqrt(second[at]) + group["eps"]))


def values_at_places(gradient: Any) -> tuple[Any, Any]:
    """The places of a sparse gradient, as an index, and its values there."""
    array = gradient.coalesce().array
    return tuple(array.indices), array.values
