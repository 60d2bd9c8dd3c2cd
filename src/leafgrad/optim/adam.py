"""Adam: steps that are measured by how large the gradients usually are."""

from __future__ import annotations

from typing import Any

from leafgrad._core.tensor import TensorBase
from leafgrad._tensor.tensor import Tensor
from leafgrad.kernels.language import Number, Pair, Updated, Vector, elementwise, maximum, sqrt
from leafgrad.ops.registry import op
from leafgrad.optim.functional import as_function
from leafgrad.optim.optimizer import Optimizer, Params, State, check_betas, check_options
from leafgrad.optim.update import Update, in_place, steps


@op
class adam_step(Update):
    """adam_step(param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq, lr, betas, eps, weight_decay, amsgrad, maximize,
    decoupled_weight_decay, step): m = β1 m + (1 - β1) g;  v = β2 v + (1 - β2) g²;  p = p - lr m' / (sqrt(v') + eps)

    where m' = m / (1 - β1ᵗ) and v' = v / (1 - β2ᵗ) make up for starting at zero. amsgrad takes the largest v so far.
    Decoupled weight decay subtracts lr weight_decay p instead of changing g.
    """

    inputs = ("param", "grad", "exp_avg", "exp_avg_sq", "max_exp_avg_sq")
    options = ("lr", "betas", "eps", "weight_decay", "amsgrad", "maximize", "decoupled_weight_decay", "step")
    results = 4

    @elementwise
    def formula(
        p: Updated, g: Vector, m: Updated, v: Updated, largest: Updated, lr: Number, betas: Pair, eps: Number,
        weight_decay: Number, amsgrad: Number, maximize: Number, decoupled: Number, t: Number,
    ) -> Any:  # fmt: skip
        beta1, beta2 = betas
        if maximize:
            g = -g
        if weight_decay and not decoupled:
            g = p * weight_decay + g
        m = m + (g - m) * (1 - beta1)
        v = v * beta2 + g * (1 - beta2) * g
        size = v
        if amsgrad:
            size = largest = maximum(largest, v)
        # sqrt(v) / correction + eps, multiplied by the correction: one pass over the memory less
        correction = (1 - beta2**t) ** 0.5
        change = m / (sqrt(size) + eps * correction) * (lr / (1 - beta1**t) * correction)
        if weight_decay and decoupled:
            change = p * (lr * weight_decay) + change
        return p - change, m, v, largest

    kernel = in_place(formula, inputs, only_if={"max_exp_avg_sq": "amsgrad"})
    samples = steps(
        "Adam", {"lr": 0.1}, {"betas": (0.5, 0.7), "eps": 1e-3, "weight_decay": 0.1}, {"amsgrad": True},
        {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True},
    )  # fmt: skip


class Adam(Optimizer):
    """Adam(params, lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, amsgrad=False, *, maximize=False)"""

    _update = adam_step
    _instead_for_sparse = ", please consider SparseAdam instead"

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-3,
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
        for what, value in (("lr", lr), ("betas[0]", betas[0]), ("betas[1]", betas[1])):
            if isinstance(value, TensorBase):
                if foreach and not capturable:
                    raise ValueError(f"{what} as a Tensor is not supported for capturable=False and foreach=True")
                if value.array.size != 1:
                    raise ValueError(f"Tensor {what} must be 1-element")
        check_options(lr, epsilon=eps)
        check_betas(betas)
        check_options(lr, weight_decay=weight_decay)
        if [type(beta) for beta in betas] != [float, float] and not all(isinstance(b, TensorBase) for b in betas):
            raise ValueError("betas must be either both floats or both Tensors")
        defaults = {
            "lr": lr, "betas": betas if differentiable else (float(betas[0]), float(betas[1])), "eps": eps,
            "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _recorded_count(self, state: State, count: Any) -> Any:
        # PyTorch's corrections are as precise as the number of the step, a tensor: float32 as a rule
        return state["step"].clone()


ADAM_LISTS = {
    "exp_avgs": "exp_avg", "exp_avg_sqs": "exp_avg_sq", "max_exp_avg_sqs": "max_exp_avg_sq", "state_steps": "step",
}  # fmt: skip
adam = as_function(
    Adam,
    ADAM_LISTS,
    "foreach capturable differentiable fused grad_scale found_inf has_complex decoupled_weight_decay",
    "amsgrad beta1 beta2 lr weight_decay eps maximize",
)
