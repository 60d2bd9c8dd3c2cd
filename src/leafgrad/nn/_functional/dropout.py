"""Dropout, of elements and of channels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import errors
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.random.dropout import dropped as _dropped
from leafgrad.ops.signature import Tensor, declared

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]


def _check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@overridable
@declared()
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout(input, p=0.5, training=True, inplace=False): zero with probability p, else x / (1 - p)."""
    _check_probability(p)
    return _dropped(input, p, inplace) if training else input


@overridable
@declared()
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout(input, p=0.5, training=False, inplace=False): dropout that keeps mean 0 and variance 1."""
    _check_probability(p)
    return _dropped(input, p, inplace, alpha=True) if training else input


@overridable
@declared()
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """feature_alpha_dropout(input, p=0.5, training=False, inplace=False): alpha_dropout of whole channels."""
    _check_probability(p)
    return _dropped(input, p, inplace, features=True, alpha=True) if training else input


def _of_one_sample(input: Any, inplace: bool, drop: Callable[[Any], Any]) -> Any:
    """Dropout of channels for an input that is a single sample."""
    several = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = drop(several)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def _warn_of_dimensions(name: str, ndim: int, spatial: int) -> None:
    if ndim not in (spatial + 1, spatial + 2):
        errors.warn(
            f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a future "
            "release. To retain the behavior and silence this warning, please use dropout instead. Note that "
            f"{name} exists to provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel "
            f"dimension, and an optional batch dimension (i.e. {spatial + 1}D or {spatial + 2}D inputs)."
        )


@overridable(refusal=".dim")
@declared()
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout1d(input, p=0.5, training=True, inplace=False): dropout of the channels of (N, C, L) or (C, L)."""
    _check_probability(p)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    drop: Any = lambda x: _dropped(x, p, inplace, features=True) if training else x
    return drop(input) if input.ndim == 3 else _of_one_sample(input, inplace, drop)


@overridable(refusal=".dim")
@declared()
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout2d(input, p=0.5, training=True, inplace=False): dropout of the channels of (N, C, H, W)."""
    _check_probability(p)
    _warn_of_dimensions("dropout2d", input.ndim, 2)
    if input.ndim == 3:
        errors.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
            "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain "
            "the 1D channel-wise dropout behavior, please switch to using dropout1d instead."
        )
    return _dropped(input, p, inplace, features=True) if training else input


@overridable(refusal=".dim")
@declared()
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout3d(input, p=0.5, training=True, inplace=False): dropout of the channels of (N, C, D, H, W) or
    (C, D, H, W)."""
    _check_probability(p)
    _warn_of_dimensions("dropout3d", input.ndim, 3)
    drop: Any = lambda x: _dropped(x, p, inplace, features=True) if training else x
    return drop(input) if input.ndim == 5 else _of_one_sample(input, inplace, drop)
