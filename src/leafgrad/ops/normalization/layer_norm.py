"""layer_norm, group_norm and rms_norm: each sample is standardized by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._dtypes import float32, from_numpy_dtype
from leafgrad.ops.normalization.standardize import Layout, Normalization, check_dtypes, standardize
from leafgrad.ops.reduce.common import is_half, refused
from leafgrad.ops.registry import composite, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Shape, Tensor

A = Any  # an array, or a tensor under create_graph


@op
class layer_norm(Normalization):
    """layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05): (x - mean) / sqrt(var + eps) over the
    last dimensions, then times weight plus bias."""

    node_name = "NativeLayerNormBackward0"
    aten = "native_layer_norm"
    aten_function = "layer_norm"
    saved_as = {"input": "input", "layout": "", "statistics": "", "eps": ""}

    def call(
        input: Tensor,
        normalized_shape: Shape,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        eps: float = 1e-5,
        cudnn_enable: bool = True,
    ) -> Tensor:
        shape = check_shapes(input, normalized_shape, ("weight", weight), ("bias", bias))
        check_dtypes(input, "LayerNormKernelImpl", weight, bias)
        rows, columns = math.prod(input.array.shape[: input.array.ndim - len(shape)]), math.prod(shape)
        layout = Layout((rows, columns), (1,), (1, columns), shape)
        return standardize(layer_norm, (input, weight, bias), layout, eps)[0]

    samples = lambda t: [
        S(t(3, 4), (4,)),
        S(t(2, 3, 4), (3, 4), t(3, 4), t(3, 4)),
        S(t(5, 3), (3,), t(3), None, 0.1),
        S(t(4), (4,), None, t(4)),
        S(t(0, 3), (3,), t(3), t(3)),
    ]


def check_shapes(
    input: Any, normalized_shape: Sequence[int], *factors: tuple[str, Any], between: str = ", "
) -> tuple[int, ...]:
    """The shape over which is normalized, if it and the factors go with the input."""
    shape, own = tuple(normalized_shape), input.array.shape
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, factor in factors:
        if factor is not None and factor.array.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape "
                f"{errors.size(factor.array.shape)} and normalized_shape = {errors.size(shape)}"
            )
    if own[len(own) - len(shape) :] != shape or len(own) < len(shape):
        listed = ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={errors.size(shape)}, expected input with shape [*{between}{listed}], but got "
            f"input of size{errors.size(own)}"
        )
    return shape


@op
class group_norm(Normalization):
    """group_norm(input, num_groups, weight=None, bias=None, eps=1e-05): the channels, dimension 1, in groups, each of
    which is standardized by itself; weight and bias are those of channels."""

    node_name = "NativeGroupNormBackward0"
    aten = "native_group_norm"
    aten_function = "group_norm"

    def call(
        input: Tensor,
        num_groups: int,
        weight: Tensor | None = None,
        bias: Tensor | None = None,
        eps: float = 1e-5,
        cudnn_enabled: bool = True,
    ) -> Tensor:
        shape = input.array.shape
        if len(shape) < 2:
            raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
        if num_groups <= 0:
            raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
        batch, channels = shape[:2]
        if channels % num_groups:
            raise RuntimeError(
                "Expected number of channels in input to be divisible by num_groups, but got input of shape "
                f"{errors.size(shape)} and num_groups={num_groups}"
            )
        for name, factor in (("weight", weight), ("bias", bias)):
            if factor is not None and factor.array.shape != (channels,):
                raise RuntimeError(
                    f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} "
                    f"of shape {errors.size(factor.array.shape)} and input of shape {errors.size(shape)}"
                )
        check_dtypes(input, "GroupNormKernelImpl", weight, bias)
        each = channels // num_groups
        layout = Layout((batch, num_groups, each, math.prod(shape[2:])), (2, 3), (1, num_groups, each, 1), (channels,))
        return standardize(group_norm, (input, weight, bias), layout, eps)[0]

    samples = lambda t: [
        S(t(2, 4, 3), 2),
        S(t(2, 4, 3, 2), 2, t(4), t(4)),
        S(t(3, 6), 3, t(6), None, 0.1),
        S(t(2, 3, 2), 1, None, t(3)),
        S(t(0, 4, 3), 2, t(4), t(4)),
    ]


@composite(
    lambda t: [
        S(t(3, 4), (4,)),
        S(t(2, 3, 4), (3, 4), t(3, 4)),
        S(t(5, 3), (3,), t(3), 0.1),
        S(t(0, 3), (3,), t(3)),
    ],
    method=False,
)
def rms_norm(input: Tensor, normalized_shape: Shape, weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """rms_norm(input, normalized_shape, weight=None, eps=None): x / sqrt(mean(x**2) + eps) over the last dimensions,
    then times weight. Without an eps it is that of the dtype."""
    shape = check_shapes(input, normalized_shape, ("weight", weight), between="")
    kind = input.array.dtype
    if kind.kind in "biu":
        raise refused("rms_norm", input)
    own = from_numpy_dtype(kind)
    wide = input.to(float32) if is_half(kind) else input
    if eps is None:
        eps = float(np.finfo(wide.array.dtype).eps)
    dims = tuple(range(-len(shape), 0))
    out = wide * (wide.pow(2).mean(dims, keepdim=True) + eps).rsqrt()
    return (out if weight is None else out * weight).to(own).contiguous()


IMPROVED = "(Could this error message be improved?  If so, please report an enhancement request to PyTorch.)"

# -- with the statistics ----------------------------------------------------------------------------------------------


def statistics(x: Any, dims: tuple[int, ...], keepdim: bool, eps: float) -> tuple[Any, Any]:
    """The mean, and one over the standard deviation."""
    wide = x.to(float32) if is_half(x.array.dtype) else x
    found = wide.mean(dims, keepdim), (wide.var(dims, correction=0, keepdim=keepdim) + eps).rsqrt()
    return found[0].to(x.dtype), found[1].to(x.dtype)


def _both(name: str) -> Any:
    """All three results, of which the tests want to differentiate the first only."""
    return lambda torch, x, *args: [r if i == 0 else r.detach() for i, r in enumerate(getattr(torch, name)(x, *args))]


@composite(
    ValuesOnly(
        "returns statistics, which have no gradient",
        lambda t: [S(t(3, 4), (4,), t(4), t(4), 1e-5), S(t(2, 3, 2), (3, 2), None, None, 0.1)],
        _both("native_layer_norm"),
    ),
    method=False,
)
def native_layer_norm(
    input: Tensor, normalized_shape: Shape, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """native_layer_norm(input, normalized_shape, weight, bias, eps): layer_norm, the means, and one over the standard
    deviations."""
    out = layer_norm.function(input, normalized_shape, weight, bias, eps)
    ndim = input.array.ndim
    return out, *statistics(input.detach(), tuple(range(ndim - len(normalized_shape), ndim)), True, eps)


@composite(
    ValuesOnly(
        "computes the statistics in steps of their own, which are one operation in PyTorch",
        lambda t: [S(t(2, 4, 3), t(4), t(4), 2, 4, 3, 2, 1e-5), S(t(2, 3, 2, 2), None, None, 2, 3, 4, 1, 0.1)],
        lambda torch, *args: list(torch.native_group_norm(*args)),
    ),
    method=False,
)
def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """native_group_norm(input, weight, bias, N, C, HxW, group, eps): group_norm of N samples with C channels of HxW
    elements, the means, and one over the standard deviations."""
    if input.array.size != N * C * HxW:
        first = "Expected X.numel() == N * C * HxW to be true, but got false."
        raise errors.mistake(RuntimeError, f"{first}  {IMPROVED}")
    shape = input.array.shape
    fits = shape[:2] == (N, C)
    out = group_norm.function(input if fits else input.reshape((N, C, HxW)), group, weight, bias, eps)
    out = out if fits else out.reshape(shape)
    return out, *statistics(input.reshape((N, group, C // group * HxW)), (2,), False, eps)
