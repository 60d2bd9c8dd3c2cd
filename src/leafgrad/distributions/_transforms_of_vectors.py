"""Transforms of vectors and matrices, and of parts of tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import leafgrad as torch
from leafgrad.distributions import constraints
from leafgrad.distributions._transform import Transform, inside_unit_interval
from leafgrad.distributions.utils import _sum_rightmost, lazy_property, softplus, tril_matrix_to_vec, vec_to_tril_matrix


def check_dims(shape: Any, least: int) -> None:
    if len(shape) < least:
        raise ValueError("Too few dimensions on input")


def after_one(x: Any) -> Any:
    """Vectors with a one in front, in place of their last element."""
    return torch.cat([torch.ones_like(x[..., :1]), x[..., :-1]], -1)


class ReshapeTransform(Transform):
    """The last dimensions in another shape."""

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        self.in_shape = torch.Size(in_shape)
        self.out_shape = torch.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    def _with(self, cache_size: int) -> Any:
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    @staticmethod
    def _replaced(shape: Any, before: Any, after: Any) -> Any:
        check_dims(shape, len(before))
        cut = len(shape) - len(before)
        if shape[cut:] != before:
            raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {before}")
        return torch.Size(shape[:cut] + after)

    def forward_shape(self, shape: Any) -> Any:
        return self._replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._replaced(shape, self.out_shape, self.in_shape)


class SoftmaxTransform(Transform):
    """softmax along the last dimension; the inverse is one of many."""

    domain, codomain = constraints.real_vector, constraints.simplex
    is_function_of_type = True

    def _call(self, x: Any) -> Any:
        probs = (x - x.max(-1, True)[0]).exp()
        return probs / probs.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        check_dims(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """Numbers as shares: each breaks a piece off what is left of a stick of length one."""

    domain, codomain = constraints.real_vector, constraints.simplex
    bijective = is_function_of_type = True

    @staticmethod
    def _log_left(x: Any, pieces: int) -> Any:
        """log(pieces - 1), log(pieces - 2), ...: by these zeros become equal shares."""
        return (pieces - torch.arange(1, pieces, dtype=x.dtype)).log()

    def _call(self, x: Any) -> Any:
        share = inside_unit_interval(torch.sigmoid(x - self._log_left(x, x.shape[-1] + 1)))
        one = torch.ones_like(x[..., :1])
        return torch.cat([share, one], -1) * torch.cat([one, (1 - share).cumprod(-1)], -1)

    def _inverse(self, y: Any) -> Any:
        cropped = y[..., :-1]
        left = torch.clamp(1 - cropped.cumsum(-1), min=torch.finfo(y.dtype).tiny)
        return cropped.log() - left.log() + self._log_left(y, y.shape[-1])

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._log_left(x, x.shape[-1] + 1)
        return (-x + torch.nn.functional.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        check_dims(shape, 1)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Any) -> Any:
        check_dims(shape, 1)
        return shape[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(Transform):
    """Matrices without what is above the diagonal, and with exp of that."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky
    is_function_of_type = True

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """L @ L.mT, with the L of LowerCholeskyTransform."""

    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite
    is_function_of_type = True

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """Numbers as Cholesky factors of correlations: tanh gives partial correlations, which break off what is left of the
    unit length of each row."""

    domain, codomain = constraints.real_vector, constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = torch.finfo(x.dtype).eps
        partial = vec_to_tril_matrix(torch.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - partial**2).sqrt().cumprod(-1)
        return (partial + torch.eye(partial.shape[-1], dtype=x.dtype)) * after_one(left)

    def _inverse(self, y: Any) -> Any:
        left = after_one(1 - torch.cumsum(y * y, -1))
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        of_tanh = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return 0.5 * left.log().sum(-1) + of_tanh

    def forward_shape(self, shape: Any) -> Any:
        check_dims(shape, 1)
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (size, size)

    def inverse_shape(self, shape: Any) -> Any:
        check_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


class _Several(Transform):
    """Transforms of parts of a dimension."""

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    bijective = property(lambda self: all(t.bijective for t in self.transforms))

    def _check(self, name: str, x: Any, length: int, what: str) -> None:
        if not -x.dim() <= self.dim < x.dim():
            raise AssertionError(f"dim {self.dim} out of range for {name} with {x.dim()} dimensions")
        if x.size(self.dim) != length:
            raise AssertionError(f"x.size({self.dim}) = {x.size(self.dim)} must equal {what} {length}")

    def _parts(self, x: Any, name: str = "tensor") -> Any:
        raise NotImplementedError

    def _joined(self, parts: list[Any]) -> Any:
        raise NotImplementedError

    def _call(self, x: Any) -> Any:
        return self._joined([t(part) for t, part in zip(self.transforms, self._parts(x))])

    def _inverse(self, y: Any) -> Any:
        return self._joined([t.inv(part) for t, part in zip(self.transforms, self._parts(y))])


class CatTransform(_Several):
    """Parts of a dimension, with so many elements each, by transforms of their own."""

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    def _with(self, cache_size: int) -> Any:
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    @lazy_property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        """Of the dimension."""
        return sum(self.lengths)

    def _parts(self, x: Any, name: str = "tensor") -> Any:
        self._check(name, x, self.length, "length")
        return x.split(self.lengths, self.dim)

    def _joined(self, parts: list[Any]) -> Any:
        return torch.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        terms = [
            _sum_rightmost(t.log_abs_det_jacobian(before, after), self.event_dim - t.event_dim)
            for t, before, after in zip(self.transforms, self._parts(x, "x"), self._parts(y, "y"))
        ]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return torch.cat(terms, dim) if dim < 0 else sum(terms)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Several):
    """The slices of a dimension, by transforms of their own."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def _with(self, cache_size: int) -> Any:
        return StackTransform(self.transforms, self.dim, cache_size)

    def _parts(self, x: Any, name: str = "tensor") -> Any:
        self._check(name, x, len(self.transforms), "len(transforms)")
        return x.unbind(self.dim)

    def _joined(self, parts: list[Any]) -> Any:
        return torch.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        pairs = zip(self.transforms, self._parts(x, "x"), self._parts(y, "y"))
        return self._joined([t.log_abs_det_jacobian(before, after) for t, before, after in pairs])

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
