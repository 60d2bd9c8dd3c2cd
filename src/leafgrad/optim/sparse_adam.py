"""SparseAdam, which is for sparse gradients. leafgrad's are dense, and it refuses those, as PyTorch's does."""

from __future__ import annotations

from typing import Any

from leafgrad import errors
from leafgrad._tensor.tensor import Tensor
from leafgrad.optim.matrix import MatrixOptimizer
from leafgrad.optim.optimizer import Group, Params


class SparseAdam(MatrixOptimizer):
    """SparseAdam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, maximize=False): Adam for gradients that are sparse;
    those that are dense are refused."""

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
        places = [
            [i, k] for i, group in enumerate(self.param_groups) for k, p in enumerate(group["params"]) if p.is_complex()
        ]
        if places:
            raise ValueError(f"Complex params at indices {places}: SparseAdam does not support complex parameters")

    def _change(self, params: list[Any], group: Group) -> None:
        if params:
            raise errors.mistake(
                RuntimeError,
                "SparseAdam does not support dense gradients, please consider Adam instead",
                ("why", "leafgrad has no sparse tensors"),
            )
