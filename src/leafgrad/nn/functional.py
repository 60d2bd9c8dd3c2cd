"""leafgrad.nn.functional: what layers compute, as functions. Most are ops; here is what they need around them."""

from __future__ import annotations

import functools

from leafgrad import _missing, errors
from leafgrad._core.bind import execute
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.ops.index import masks
from leafgrad.ops.index.embedding import embedding as embedding_op
from leafgrad.ops.linalg import affine
from leafgrad.ops.loss import binary
from leafgrad.ops.loss import cross_entropy as classification
from leafgrad.ops.loss import elementwise as distances
from leafgrad.ops.loss.elementwise import in_total, weighted
from leafgrad.ops.loss.options import checked_reduction, legacy_reduction, of_one_shape
from leafgrad.ops.pointwise import relu as rectifier
from leafgrad.ops.public_forms import overridable_function
from leafgrad.ops.random.dropout import dropout_mask as _dropout_mask
from leafgrad.ops.reduce import softmax as reduce_softmax
from leafgrad.ops.signature import Dtype, Tensor, declared

overridable = functools.partial(overridable_function, in_python=True)

linear = affine.linear.function  # which asks by itself
embedding = overridable(embedding_op.function)
one_hot = overridable_function(masks.one_hot.function)
mse_loss = overridable(distances.mse_loss.function)
smooth_l1_loss = overridable(distances.smooth_l1_loss.function)
huber_loss = overridable(distances.huber_loss.function)
nll_loss = overridable(classification.nll_loss.function)
cross_entropy = overridable(classification.cross_entropy.function)
logsigmoid = overridable_function(binary.logsigmoid.function)
binary_cross_entropy = overridable(binary.binary_cross_entropy.function)
binary_cross_entropy_with_logits = overridable(binary.binary_cross_entropy_with_logits.function)

_relu = rectifier.relu.function
_softmax = reduce_softmax.softmax.function
_log_softmax = reduce_softmax.log_softmax.function


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """relu(input, inplace=False): max(0, x), element by element."""
    return input.relu_() if inplace else _relu(input)


relu = overridable(relu, short=_relu)


@declared()
def sigmoid(input: Tensor) -> Tensor:
    """sigmoid(input): 1 / (1 + exp(-x)) of each element."""
    return input.sigmoid()


@declared()
def tanh(input: Tensor) -> Tensor:
    """tanh(input): the hyperbolic tangent of each element."""
    return input.tanh()


@overridable
def relu_(input: Tensor) -> Tensor:
    """relu_(input): relu, in place."""
    return input.relu_()


@overridable
def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """softmax(input, dim=None, dtype=None): exp(x) / sum(exp(x)) along `dim`."""
    return _softmax(input, implicit_dim("softmax", input, _stacklevel) if dim is None else dim, dtype)


@overridable
def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None) -> Tensor:
    """log_softmax(input, dim=None, dtype=None): x - log(sum(exp(x))) along `dim`."""
    return _log_softmax(input, implicit_dim("log_softmax", input, _stacklevel) if dim is None else dim, dtype)


def implicit_dim(name: str, input: TensorBase, stacklevel: int = 3) -> int:
    """The dimension that PyTorch chooses, with a warning, if none is named."""
    errors.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        further=stacklevel - 3,
    )
    return 0 if input.array.ndim in (0, 1, 3) else 1


@overridable
@declared()
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """dropout(input, p=0.5, training=True, inplace=False): zero with probability p, else x / (1 - p)."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or input.array.size == 0:
        return input
    if input.array.dtype.kind in "biu" and p < 1:
        own = input.dtype.alias
        raise RuntimeError(f"result type Float can't be cast to the desired output type {own}\n  at {errors.here()}")
    kept = wrap(execute(_dropout_mask.core, (input.array,), (float(p),)))
    return input.mul_(kept) if inplace else input * kept


@overridable
@declared()
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """l1_loss(input, target, reduction='mean', weight=None): |input - target|, its mean, its sum, or itself."""
    input, target = of_one_shape("l1_loss", input, target)
    if size_average is not None or reduce is not None:
        reduction = legacy_reduction(size_average, reduce)
    losses = (input - target).abs()
    if weight is not None:
        return weighted(losses, weight, input, reduction)
    return in_total(losses, checked_reduction(reduction))


__all__ = [
    "linear", "embedding", "one_hot",
    "relu", "relu_", "tanh", "sigmoid", "softmax", "log_softmax", "dropout",
    "mse_loss", "l1_loss", "nll_loss", "cross_entropy", "smooth_l1_loss", "huber_loss", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "logsigmoid",
]  # fmt: skip


__getattr__ = _missing.attributes_of(__name__)
