"""Keeping gradients small."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.fused import clip_together, scale_together
from leafgrad._core.inplace import count_change
from leafgrad._core.tensor import TensorBase, is_meta, wrap


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """clip_grad_norm_(parameters, max_norm, norm_type=2.0): scale all gradients so that their norm, taken together as
    one vector, is at most `max_norm`. Returns the norm before."""
    parameters = as_list(parameters)
    gradients = [p._grad for p in parameters if p._grad is not None]
    total = get_total_norm(gradients, norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_norm(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """clip_grad_norm(parameters, max_norm, norm_type=2.0): the former name of clip_grad_norm_."""
    errors.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.", FutureWarning
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Any:
    """get_total_norm(tensors, norm_type=2.0): the norm of all tensors taken together as one vector."""
    norm_type = float(norm_type)
    arrays = [elements(t) for t in as_list(tensors)]
    if not arrays:
        return wrap(np.zeros((), np.float32))
    kind = np.result_type(*arrays)
    if is_meta(arrays[0]):
        return as_list(tensors)[0].new_zeros(())
    total = norms([norms(arrays, norm_type, kind)], norm_type, kind).reshape(())
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return wrap(total)


def norms(arrays: list[Any], order: float, kind: Any) -> Any:
    """The norm of each array as a vector. `vdot` makes the square of the usual one a single call of BLAS."""
    arrays = [a.astype(np.float32) if a.dtype.itemsize == 2 else a for a in arrays]
    real = np.empty(0, kind).real.dtype
    if order == 2:
        wide = np.float32 if real.itemsize == 2 else real
        return np.sqrt(np.array([np.vdot(a, a).real for a in arrays], wide)).astype(real, copy=False)
    return np.array([np.linalg.norm(a.reshape(-1), order) if a.size else 0 for a in arrays], real)


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None) -> None:
    """clip_grads_with_norm_(parameters, max_norm, total_norm): g *= min(1, max_norm / (total_norm + 1e-6))."""
    if isinstance(total_norm, TensorBase) and is_meta(total_norm.array):
        return
    factor = float(max_norm) / (float(total_norm) + 1e-6)
    if isinstance(total_norm, TensorBase) and total_norm.array.dtype.itemsize == 2:
        with np.errstate(over="ignore"):
            factor = float(total_norm.array.dtype.type(factor))
    if factor >= 1:  # as it is not if it is nan
        return
    for g in scale_together(gradients_of(parameters), factor):
        if g.array.dtype.itemsize == 2:
            g.array[...] = g.array.astype(np.float32) * np.float32(factor)
        else:
            g.array *= g.array.dtype.type(factor)
        count_change(g)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """clip_grad_value_(parameters, clip_value): every element of every gradient into [-clip_value, clip_value]."""
    limit = float(clip_value)
    gradients = gradients_of(parameters)
    for g in gradients if math.isnan(limit) else clip_together(gradients, limit):
        np.clip(g.array, -limit, limit, out=g.array)
        count_change(g)


def elements(t: Any) -> Any:
    """The array of a tensor; of a sparse one that of its values, coalesced."""
    return t.coalesce().array.values if t.is_sparse else t.array


def gradients_of(parameters: Any) -> list[Any]:
    """The gradients, of those that are sparse the values, on the same memory."""
    found = [p._grad for p in as_list(parameters) if p._grad is not None]
    return [g._values() if g.is_sparse else g for g in found]


def as_list(tensors: TensorBase | Iterable[Any]) -> list[Any]:
    return [tensors] if isinstance(tensors, TensorBase) else list(tensors)
