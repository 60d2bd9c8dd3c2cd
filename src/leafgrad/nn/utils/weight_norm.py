"""Weights as a length and a direction: w = g v / |v|."""

from __future__ import annotations

from typing import Any

from leafgrad import errors
from leafgrad.nn.parameter import Parameter, is_lazy

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


def norm_except_dim(v: Any, dim: int) -> Any:
    """The norms of the slices along a dimension, in a shape that goes with v; -1: the norm of all."""
    if dim == -1:
        return v.norm(2)
    others = [d for d in range(v.ndim) if d != dim % v.ndim]
    return v.norm(2, others, True) if others else v.abs()


def of_length(v: Any, g: Any, dim: int) -> Any:
    """v with the lengths g."""
    return v * (g / norm_except_dim(v, dim))


class WeightNorm:
    """The hook that computes a weight of its two parts before each call."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """compute_weight(module): the weight."""
        return of_length(getattr(module, f"{self.name}_v"), getattr(module, f"{self.name}_g"), self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """apply(module, name, dim): divide a parameter into its parts."""
        if find(module, WeightNorm, name) is not None:
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying weight normalization"
            )
        del module._parameters[name]
        module.register_parameter(f"{name}_g", Parameter(norm_except_dim(weight, hook.dim).detach()))
        module.register_parameter(f"{name}_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        """remove(module): one parameter again."""
        weight = self.compute_weight(module).detach()
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"]
        del module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def find(module: Any, kind: type, name: str) -> int | None:
    """The number of the hook of this kind on a parameter."""
    hooks = module._forward_pre_hooks.items()
    return next((number for number, hook in hooks if isinstance(hook, kind) and hook.name == name), None)  # type: ignore[attr-defined]


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """weight_norm(module, name='weight', dim=0): learn the lengths and the directions of the slices along a dimension
    (None: of all) instead of the parameter."""
    errors.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """remove_weight_norm(module, name='weight'): one parameter again."""
    number = find(module, WeightNorm, name)
    if number is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    module._forward_pre_hooks.pop(number).remove(module)
    return module
