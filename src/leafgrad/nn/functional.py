"""leafgrad.nn.functional: what layers compute, as functions. Most are ops; here is what they need around them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from leafgrad import _core
from leafgrad._core import TensorBase
from leafgrad.ops.registry import composites, registry


def _op(name: str) -> Any:
    """The public function of an op."""
    entry: Any = registry.get(name) or composites.get(name)
    if entry is None:
        from leafgrad._missing import missing_attribute

        def missing(*args: Any, **kwargs: Any) -> Any:
            raise missing_attribute(__name__, name)

        return missing
    return entry.function


linear = _op("linear")
tanh = _op("tanh")
sigmoid = _op("sigmoid")
mse_loss = _op("mse_loss")
l1_loss = _op("l1_loss")
nll_loss = _op("nll_loss")
cross_entropy = _op("cross_entropy")
one_hot = _op("one_hot")
embedding = _op("embedding")

_relu = _op("relu")
_softmax = _op("softmax")
_log_softmax = _op("log_softmax")


def relu(input: Any, inplace: bool = False) -> Any:
    """relu(input, inplace=False): max(0, x), element by element."""
    return input.relu_() if inplace else _relu(input)


def relu_(input: Any) -> Any:
    """relu_(input): relu, in place."""
    return input.relu_()


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """softmax(input, dim=None, dtype=None): exp(x) / sum(exp(x)) along `dim`."""
    dim = implicit_dim("softmax", input, _stacklevel) if dim is None else dim
    return _softmax(input, dim) if dtype is None else _softmax(input, dim, dtype)


def log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """log_softmax(input, dim=None, dtype=None): x - log(sum(exp(x))) along `dim`."""
    dim = implicit_dim("log_softmax", input, _stacklevel) if dim is None else dim
    return _log_softmax(input, dim) if dtype is None else _log_softmax(input, dim, dtype)


def implicit_dim(name: str, input: TensorBase, stacklevel: int) -> int:
    """The dimension that PyTorch chooses, with a warning, if none is named."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if input.array.ndim in (0, 1, 3) else 1


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """dropout(input, p=0.5, training=True, inplace=False): zero with probability p, else x / (1 - p)."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or input.array.size == 0:
        return input
    kept = _core.wrap(dropout_mask(input.array, p))
    return input.mul_(kept) if inplace else input * kept


def dropout_mask(x: Any, p: float) -> Any:
    """Zeros, and 1 / (1 - p) for what is kept. Drawn in the order of memory, as PyTorch does."""
    from leafgrad.random import bernoulli_p

    mask = np.empty_like(x)
    if p == 1:
        mask.fill(0)  # without drawing
        return mask
    by_stride = sorted(range(x.ndim), key=lambda d: -mask.strides[d])
    in_memory_order = mask.transpose(by_stride)
    in_memory_order[...] = bernoulli_p(None, in_memory_order.shape, x.dtype, 1 - p)
    mask /= x.dtype.type(1 - p)
    return mask


def legacy_reduction(size_average: bool | None, reduce: bool | None) -> str:
    """What `size_average` and `reduce` mean as a `reduction`."""
    mean = size_average is None or size_average
    reduction = "none" if reduce is False else "mean" if mean else "sum"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.", stacklevel=4
    )
    return reduction


def __getattr__(name: str) -> Any:
    from leafgrad._missing import missing_attribute

    raise missing_attribute(__name__, name)
