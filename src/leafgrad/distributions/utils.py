"""What distributions share: parameters of one shape, probabilities and their logits, triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any, Generic, TypeVar, overload

import leafgrad as torch
from leafgrad import Tensor
from leafgrad.overrides import is_tensor_like

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip

euler_constant = 0.57721566490153286060  # that of Euler and Mascheroni

R = TypeVar("R")


class lazy_property(Generic[R]):
    """An attribute that is computed when it is first asked for, with its graph even under no_grad, and then kept."""

    def __init__(self, wrapped: Callable[[Any], R]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    @overload
    def __get__(self, instance: None, owner: Any = None) -> lazy_property[R]: ...
    @overload
    def __get__(self, instance: object, owner: Any = None) -> R: ...
    def __get__(self, instance: object | None, owner: Any = None) -> R | lazy_property[R]:
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def is_own(cls: type) -> bool:
    """Is it a class of this package? (`python -m leafgrad run` gives them PyTorch's names.)"""
    return cls.__module__.startswith(("leafgrad.distributions.", "torch.distributions."))


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Numbers and tensors as tensors of one shape. Numbers get the dtype of the first tensor."""
    if not all(is_tensor_like(value) or isinstance(value, Number) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    dtype = next((value.dtype for value in values if isinstance(value, Tensor)), torch.get_default_dtype())
    tensors = [value if is_tensor_like(value) else torch.tensor(value, dtype=dtype) for value in values]
    return tuple(torch.broadcast_tensors(*tensors))


def _standard_normal(shape: Sequence[int], dtype: Any, device: Any) -> Tensor:
    """Numbers of the standard normal distribution."""
    return torch.empty(shape, dtype=dtype, device=device).normal_()


def all_true(checked: Tensor) -> bool:
    """Is it true everywhere? Inside of vmap for all samples, where a tensor has no truth value of its own."""
    array: Any = checked.array
    while hasattr(array, "batch_size"):
        array = array.value
    return bool(array.all())


def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x)), for large x as well."""
    return torch.logaddexp(x, torch.zeros_like(x))


def _sum_rightmost(value: Tensor, dims: int) -> Tensor:
    """The sum over the last so many dimensions."""
    return value if dims == 0 else value.reshape((*value.shape[:-dims], -1)).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of logarithms of odds, or of unnormalised logarithms along the last dimension."""
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities that have a logarithm, and whose complements have one."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Logarithms of odds, or of probabilities."""
    clamped = clamp_probs(probs)
    return torch.log(clamped) - torch.log1p(-clamped) if is_binary else torch.log(clamped)


def triangle(size: int, diag: int) -> Tensor:
    """Where a matrix is below a diagonal or on it."""
    return torch.ones(size, size, dtype=torch.bool).tril(diag)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """What stands in matrices below a diagonal and on it, row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., triangle(n, diag)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Matrices with these numbers below a diagonal and on it, and zeros elsewhere."""
    count, odd = vec.shape[-1], 1 + 2 * diag
    n = (-odd + (odd**2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(n) - n > torch.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    mat = vec.new_zeros((*vec.shape[:-1], round(n), round(n)))
    mat[..., triangle(round(n), diag)] = vec
    return mat
