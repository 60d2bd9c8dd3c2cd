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
from leafgrad.ops.samples import S
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
