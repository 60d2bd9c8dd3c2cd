"""Weights divided by their largest singular value, which is followed by power iteration."""

from __future__ import annotations

from typing import Any

from leafgrad.autograd.grad_mode import no_grad
from leafgrad.nn import functional as F
from leafgrad.nn.parameter import Parameter, is_lazy
from leafgrad.nn.utils.weight_norm import find

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook that divides a weight before each call."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """reshape_weight_to_matrix(weight): the dimension `dim`, and all others."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.ndim) if d != self.dim])
        return weight.reshape(weight.shape[0], -1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """compute_weight(module, do_power_iteration): the weight, after steps of the iteration or without."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = [getattr(module, f"{self.name}_{part}") for part in "uv"]
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # which later steps do not change
        return weight / u.dot(matrix.mv(v))

    def remove(self, module: Any) -> None:
        """remove(module): an ordinary parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for part in "uv":
            delattr(module, f"{self.name}_{part}")
        delattr(module, f"{self.name}_orig")
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """apply(module, name, n_power_iterations, dim, eps): divide a parameter from now on."""
        if find(module, SpectralNorm, name) is not None:
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy "
                "forward before applying spectral normalization"
            )
        with no_grad():
            matrix = hook.reshape_weight_to_matrix(weight)
            starts = [F.normalize(weight.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in matrix.shape]
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        setattr(module, name, weight.data)
        for part, start in zip("uv", starts, strict=True):
            module.register_buffer(f"{name}_{part}", start)
        module.register_forward_pre_hook(hook)
        return hook


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """spectral_norm(module, name='weight', n_power_iterations=1, eps=1e-12, dim=None): divide a parameter by its
    largest singular value in each call."""
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """remove_spectral_norm(module, name='weight'): an ordinary parameter again."""
    number = find(module, SpectralNorm, name)
    if number is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    module._forward_pre_hooks.pop(number).remove(module)
    return module
