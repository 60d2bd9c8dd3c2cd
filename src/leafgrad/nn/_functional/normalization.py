"""Normalisation: the arguments of layers in the order of nn.functional."""

from __future__ import annotations

import math
from collections.abc import Sequence

from leafgrad._core.tensor import links
from leafgrad._device import Size
from leafgrad.nn._functional.overridable import overridable
from leafgrad.ops.normalization import batch_norm as channels
from leafgrad.ops.normalization import layer_norm as samples
from leafgrad.ops.signature import Tensor, declared

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "normalize", "rms_norm"]

_batch_norm = channels.batch_norm.function
_instance_norm = channels.instance_norm
_layer_norm = samples.layer_norm.function
_group_norm = samples.group_norm.function
_rms_norm = samples.rms_norm


def _check_several(shape: Sequence[int], printed: object) -> None:
    """A single number per channel has no variance."""
    if shape[0] * math.prod(shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {printed}")


@overridable
@declared()
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    channels (dimension 1) standardized over all samples: in training by the statistics of the input, which the running
    ones follow, otherwise by the running ones."""
    if training:
        _check_several(input.shape, Size(input.shape))
        if eps <= 0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    return _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, False)


@overridable(refusal=".size")
@declared()
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
    momentum=0.1, eps=1e-05): channels (dimension 1) standardized in each sample."""
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    if use_input_stats and math.prod(input.shape[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {Size(input.shape)}")
    return _instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, False)


@overridable
@declared()
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05): standardized over the last dimensions."""
    if isinstance(normalized_shape, (Size, list)):  # what the operation would do, after a longer look at it
        normalized_shape = tuple(normalized_shape)
    return _layer_norm(input, normalized_shape, weight, bias, eps, False)


@overridable(refusal=".dim")
@declared()
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """group_norm(input, num_groups, weight=None, bias=None, eps=1e-05): channels (dimension 1) standardized in groups,
    in each sample."""
    shape = tuple(input.shape)
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    size = [shape[0] * shape[1] // num_groups, num_groups, *shape[2:]]
    _check_several(size, size)
    return _group_norm(input, num_groups, weight, bias, eps, False)


@overridable
@declared()
def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """rms_norm(input, normalized_shape, weight=None, eps=None): x / sqrt(mean(x**2) + eps) over the last dimensions."""
    if isinstance(normalized_shape, (Size, list)):
        normalized_shape = tuple(normalized_shape)
    return _rms_norm(input, normalized_shape, weight, eps)


@overridable(refusal=".norm")
@declared()
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """normalize(input, p=2.0, dim=1, eps=1e-12, out=None): vectors along a dimension divided by their p-norm, which
    counts as eps at least."""
    lengths = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / lengths if out is None else links.functions["div"](input, lengths, out=out)
