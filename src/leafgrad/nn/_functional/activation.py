"""Functions between layers: activations."""

from __future__ import annotations

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.loss import binary
from leafgrad.ops.pointwise import relu as rectifier
from leafgrad.ops.public_forms import overridable_function
from leafgrad.ops.reduce import softmax as reduce_softmax
from leafgrad.ops.signature import Dtype, Tensor, declared

__all__ = ["log_softmax", "logsigmoid", "relu", "relu_", "sigmoid", "softmax", "tanh"]

logsigmoid = overridable_function(binary.logsigmoid.function)

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
