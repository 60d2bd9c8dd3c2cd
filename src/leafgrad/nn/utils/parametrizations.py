"""Parametrizations that are often wanted: weight and spectral normalisation, orthogonal matrices."""

from __future__ import annotations

from typing import Any

from leafgrad.autograd.grad_mode import no_grad
from leafgrad.nn import functional as F
from leafgrad.nn.modules.module import Module
from leafgrad.nn.utils import parametrize
from leafgrad.nn.utils.weight_norm import norm_except_dim, of_length

__all__ = ["spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return of_length(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> Any:
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """weight_norm(module, name='weight', dim=0): learn the lengths (`original0`) and the directions (`original1`) of
    the slices along a dimension instead of the parameter."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def from_hooks(state_dict: Any, prefix: str, *rest: Any) -> None:
        """States of modules that have the old form, with hooks, can be loaded."""
        for old, new in ((f"{prefix}{name}_g", "original0"), (f"{prefix}{name}_v", "original1")):
            if old in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.{new}"] = state_dict.pop(old)

    module._register_load_state_dict_pre_hook(from_hooks)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        n = weight.ndim
        if not -n <= dim < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{n}, {n - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % n
        self.eps = eps
        if n > 1:
            self.n_power_iterations = n_power_iterations
            with no_grad():
                matrix = self._matrix(weight)
                starts = [matrix.new_empty(size).normal_(0, 1) for size in matrix.shape]
                for name, start in zip(("_u", "_v"), starts, strict=True):
                    self.register_buffer(name, F.normalize(start, dim=0, eps=eps))
                self._iterate(matrix, 15)

    def _matrix(self, weight: Any) -> Any:
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.ndim) if d != self.dim])
        return weight.flatten(1)

    def _iterate(self, matrix: Any, steps: int) -> None:
        with no_grad():
            for _ in range(steps):
                self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(matrix.t().mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # which later steps do not change
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value: Any) -> Any:
        return value  # of all weights with this direction


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """spectral_norm(module, name='weight', n_power_iterations=1, eps=1e-12, dim=None): divide a parameter by its
    largest singular value."""
    weight = getattr(module, name, None)
    if weight is None or not hasattr(weight, "detach"):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if type(module).__name__.startswith("ConvTranspose") else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
