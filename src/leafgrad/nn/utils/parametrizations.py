"""Parametrizations that are often wanted: weight and spectral normalisation, orthogonal matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import _missing
from leafgrad._core.tensor import wrap
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.nn import functional as F
from leafgrad.nn.modules.module import Module
from leafgrad.nn.utils import parametrize
from leafgrad.nn.utils.spectral_norm import output_dim
from leafgrad.nn.utils.weight_norm import norm_except_dim, of_length
from leafgrad.ops.creation.ranges import eye
from leafgrad.ops.random.functions import randn
from leafgrad.ops.shape.join import cat

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


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
                self._v.copy_(F.normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # which later steps do not change
        return weight / u.vdot(matrix.mv(v))

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
        dim = output_dim(module)
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


# -- orthogonal matrices ----------------------------------------------------------------------------------------------

MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """Makes a matrix with orthonormal columns (or rows, if these are fewer) of any matrix; with a `base`, one that is
    the base where the matrix is -1."""

    base: Any

    def __init__(self, weight: Any, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Any) -> Any:
        wide = x.shape[-2] < x.shape[-1]
        x = x.mT if wide else x
        made = self._by_reflections(x) if self.orthogonal_map == "householder" else self._of_skew(x)
        if hasattr(self, "base"):
            made = self.base @ made
        return made.mT if wide else made

    def _of_skew(self, x: Any) -> Any:
        """The exponential, or the Cayley transform, of a skew-symmetric matrix."""
        n, k = x.shape[-2:]
        lower = x.tril()
        if n != k:
            lower = cat.function([lower, x.new_zeros((*x.shape[:-2], n, n - k))], -1)
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            made = skew.matrix_exp()
        else:
            one = eye(n, dtype=x.dtype)
            made = _missing.part("linalg").solve(one - 0.5 * skew, one + 0.5 * skew)
        return made if n == k else made[..., :k]

    def _by_reflections(self, x: Any) -> Any:
        """A product of Householder reflections, by what is below the diagonal; on it are the signs."""
        n, k = x.shape[-2:]
        below = x.tril(-1)
        one = eye(n, dtype=x.dtype)
        made = one[:, :k].expand(*x.shape[:-2], n, k)
        scale = 2.0 / (1.0 + (below * below).sum(-2))
        for i in reversed(range(k)):
            mirror = (below[..., i] + one[i]).unsqueeze(-1)
            made = made - scale[..., i, None, None] * mirror @ (mirror.mT @ made)
        return made * x.detach().diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    def right_inverse(self, q: Any) -> Any:
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}."
            )
        wide = q.shape[-2] < q.shape[-1]
        tall = q.mT if wide else q
        n, k = tall.shape[-2:]
        with no_grad():
            if not hasattr(self, "base"):
                return self._reflections_of(tall, wide)
            if n != k:  # the base is a whole matrix
                tall = cat.function([tall, randn(*tall.shape[:-2], n, n - k, dtype=q.dtype)], -1)
            self.base = tall.clone() if n == k and _is_orthogonal(tall) else _made_orthogonal(tall)
            start = q.new_zeros(q.shape)
            start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return start

    def _reflections_of(self, tall: Any, wide: bool) -> Any:
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        raw, scale = np.linalg.qr(tall.detach().numpy(), mode="raw")
        found: Any = wrap(np.ascontiguousarray(np.swapaxes(raw, -1, -2)))
        diagonal = found.diagonal(dim1=-2, dim2=-1)
        diagonal.copy_(diagonal.sign() * wrap(np.where(scale == 0, -1.0, 1.0).astype(raw.dtype)))
        return found.mT if wide else found


def _is_orthogonal(q: Any) -> bool:
    n, k = q.shape[-2:]
    eps = 10 * n * float(np.finfo(q.array.dtype).eps)
    return bool((q.mH @ q - eye(k, dtype=q.dtype)).abs().max() <= eps + 1e-5)


def _made_orthogonal(a: Any) -> Any:
    """The first factor of a QR decomposition whose second has a positive diagonal."""
    q, r = np.linalg.qr(a.detach().numpy())
    return wrap(q * np.sign(np.diagonal(r, axis1=-2, axis2=-1))[..., None, :])


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """orthogonal(module, name='weight', orthogonal_map=None, *, use_trivialization=True): let a parameter be an
    orthogonal matrix, or one with orthonormal rows or columns; by 'matrix_exp', 'cayley' or 'householder'."""
    weight: Any = getattr(module, name, None)
    if not hasattr(weight, "detach"):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)
