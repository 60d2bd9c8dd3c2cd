"""Steps that are recorded: `differentiable=True`, for optimisers that are themselves part of what is differentiated.

The formulas are those of the optimisers, written with tensors and in place: after the step each parameter has a history
that leads through its gradient, the learning rate and earlier steps. So a parameter cannot be a leaf here; it is a
computed tensor, such as a clone, whose `.grad` was set or retained. Numbers like the learning rate may be tensors.
"""

from __future__ import annotations

from typing import Any

from leafgrad._core.tensor import TensorBase
from leafgrad.optim.optimizer import step_counter, zeros_for

Group = dict[str, Any]
State = dict[str, Any]


def effective_gradient(p: Any, group: Group) -> Any:
    """The gradient with sign and weight decay."""
    g = -p.grad if group["maximize"] else p.grad
    decay = group["weight_decay"]
    if group.get("decoupled_weight_decay") or (not isinstance(decay, TensorBase) and decay == 0):
        return g
    # a copy, because the parameter changes before the step is differentiated
    return g + p.clone() * decay if isinstance(decay, TensorBase) else g.add(p, alpha=decay)


def sgd(p: Any, state: State, group: Group) -> None:
    """v = momentum v + (1 - dampening) g;  p = p - lr v. The first v is g without its history, as in PyTorch."""
    g = effective_gradient(p, group)
    momentum = group["momentum"]
    if momentum:
        velocity = state.get("momentum_buffer")
        if velocity is None:
            velocity = state["momentum_buffer"] = g.detach().clone()
        else:
            velocity.mul_(momentum).add_(g, alpha=1 - group["dampening"])
        # a copy, because the next step changes the velocity in place
        g = g.add(velocity, alpha=momentum) if group["nesterov"] else velocity.clone()
    p.sub_(g * group["lr"])


def adam(p: Any, state: State, group: Group) -> None:
    """m = β1 m + (1 - β1) g;  v = β2 v + (1 - β2) g²;  p = p - lr m' / (sqrt(v') + eps), as in leafgrad.optim.adam."""
    g = effective_gradient(p, group)
    if not state:
        state["step"] = step_counter()
        for name in ("exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else [])):
            state[name] = zeros_for(p)
    state["step"] += 1
    count = state["step"].clone()  # PyTorch's corrections are as precise as this tensor: float32 as a rule
    lr, (beta1, beta2) = group["lr"], group["betas"]
    if group["decoupled_weight_decay"] and group["weight_decay"]:
        p.mul_(1 - lr * group["weight_decay"])
    m, v = state["exp_avg"], state["exp_avg_sq"]
    m.add_((g - m) * (1 - beta1))
    v.mul_(beta2).add_(g * g * (1 - beta2))
    if group["amsgrad"]:
        v = state["max_exp_avg_sq"]
        v.copy_(v.clone().maximum(state["exp_avg_sq"].clone()))
    size = v.clone().sqrt() / (1 - beta2**count) ** 0.5 + group["eps"]
    p.sub_(m.clone() / size * (lr / (1 - beta1**count)))


def rmsprop(p: Any, state: State, group: Group) -> None:
    """v = α v + (1 - α) g²;  b = momentum b + g / (sqrt(v) + eps);  p = p - lr b, as in leafgrad.optim.rmsprop."""
    g = effective_gradient(p, group)
    if not state:
        state["step"] = step_counter()
        state["square_avg"] = zeros_for(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_for(p)
        if group["centered"]:
            state["grad_avg"] = zeros_for(p)
    state["step"] += 1
    alpha, lr = group["alpha"], group["lr"]
    v = state["square_avg"]
    v.mul_(alpha).add_(g * g * (1 - alpha))
    size = v.clone()
    if group["centered"]:
        mean = state["grad_avg"]
        mean.add_((g - mean) * (1 - alpha))
        size = size - mean.clone().square()
    direction = g / (size.sqrt() + group["eps"])
    if group["momentum"] > 0:
        direction = state["momentum_buffer"].mul_(group["momentum"]).add_(direction).clone()
    p.sub_(direction * lr)
