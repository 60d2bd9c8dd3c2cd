"""SparseAdam, which leafgrad does not have, because all of its tensors are dense."""

from __future__ import annotations

from leafgrad._tensor.tensor import Tensor
from leafgrad.optim.optimizer import Optimizer, Params


class SparseAdam(Optimizer):
    """SparseAdam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, maximize=False): refused; Adam does the same for
    gradients that are dense."""

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        raise NotImplementedError("SparseAdam is for sparse gradients; leafgrad has dense tensors only: use Adam")
