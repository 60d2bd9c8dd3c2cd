"""layer_norm, group_norm and rms_norm: each sample is standardized by itself."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind_finding
from leafgrad._core.fused import only_values
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import BOOL, INTEGER, float32, from_numpy_dtype
from leafgrad.kernels.fused import normalization as fused
from leafgrad.ops.conv.layout import in_format_of
from leafgrad.ops.normalization.standardize import Layout, Normalization, check_dtypes, layout_by, standardize
from leafgrad.ops.reduce.common import F32, F64, is_half, refused
from leafgrad.ops.registry import Family, composite, op
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
    shows = {"normalized_shape": lambda node: layout_in(node.saved).shape}

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
        layout = layout_of_rows(input.array.shape, shape)
        return bind_finding(layer_norm.core, (input, weight, bias), (layout, eps))

    samples = lambda t: [
        S(t(3, 4), (4,)),
        S(t(2, 3, 4), (3, 4), t(3, 4), t(3, 4)),
        S(t(5, 3), (3,), t(3), None, 0.1),
        S(t(4), (4,), None, t(4)),
        S(t(0, 3), (3,), t(3), t(3)),
    ]


def layout_in(saved: Sequence[Any]) -> Layout:
    return next(value for value in saved if isinstance(value, Layout))


def counted_in_groups(node: Any) -> tuple[int, ...]:
    """Samples, groups, channels of a group and elements of a channel."""
    return layout_in(node.saved).form


@functools.lru_cache(maxsize=256)  # made anew for each call it was a fifth of the time of a small one
def layout_of_rows(own: tuple[int, ...], shape: tuple[int, ...]) -> Layout:
    """A matrix whose rows are what is normalized over."""
    columns = math.prod(shape)
    return layout_by((math.prod(own[: len(own) - len(shape)]), columns), (1,), (1, columns), shape)


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

    row_major = False
    node_name = "NativeGroupNormBackward0"
    shows = {
        "N": lambda node: counted_in_groups(node)[0],
        "C": lambda node: counted_in_groups(node)[1] * counted_in_groups(node)[2],
        "HxW": lambda node: counted_in_groups(node)[3],
        "group": lambda node: counted_in_groups(node)[1],
    }
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
        channels = shape[1]
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
        layout = layout_of_groups(shape, num_groups)
        return standardize(group_norm, (input, weight, bias), layout, eps)[0]

    samples = lambda t: [
        S(t(2, 4, 3), 2),
        S(t(2, 4, 3, 2), 2, t(4), t(4)),
        S(t(3, 6), 3, t(6), None, 0.1),
        S(t(2, 3, 2), 1, None, t(3)),
        S(t(0, 4, 3), 2, t(4), t(4)),
    ]


@functools.lru_cache(maxsize=256)
def layout_of_groups(own: tuple[int, ...], groups: int) -> Layout:
    batch, channels, *rest = own
    each = channels // groups
    return layout_by((batch, groups, each, math.prod(rest)), (2, 3), (1, groups, each, 1), (channels,))


WITHOUT_WEIGHT = "MulBackward0(input, RsqrtBackward0(AddBackward1(MeanBackward1(PowBackward0(input)))))"


@op
class rows_by_rms(Family):
    """rows_by_rms(input, weight, shape, eps): rms_norm in one step, for single and double precision."""

    inputs = ("input", "weight")
    options = ("shape", "eps")
    finds = "rate"  # one over the root of the mean of squares
    public_name = ""
    refuses = (BOOL, INTEGER)
    reference = lambda torch, x, weight, shape, eps: torch.nn.functional.rms_norm(x, shape, weight, eps)
    node_name = f"MulBackward0({WITHOUT_WEIGHT}, weight)"
    node_names = (WITHOUT_WEIGHT,)
    aten = "mul"
    saved_as = {"input": "", "weight": "", "shape": "", "eps": "", "rate": ""}

    def kernel(x: A, weight: A, shape: Any, eps: float) -> tuple[A, Any]:
        if not x.size:
            return x.copy(), None
        rows = in_rows_of(x, shape)
        if weight is None:
            out, rate = fused.divided_by_rms(rows, eps)
        else:
            out, rate = fused.rms_norm(rows, weight.reshape(-1), eps)
        return in_format_of(x, out if out.shape == x.shape else out.reshape(x.shape)), rate

    def call(input: Any, weight: Any, shape: Sequence[int], eps: float) -> Any:
        core = rows_by_rms.core if weight is not None else rows_by_rms.named[WITHOUT_WEIGHT]
        return bind_finding(core, (input, weight), (tuple(shape), eps))

    def vjp_all(g: A, needs: A, input: A, weight: A, shape: A, eps: A, rate: A) -> A:
        if not math.prod(input.shape):
            return input * 0, None if weight is None else weight * 0
        rows, of_result = in_rows_of(input, shape), in_rows_of(g, shape)
        if isinstance(input, TensorBase) and not only_values(input):  # then it depends on the input
            rate = ((rows * rows).mean(-1, True) + eps).rsqrt()
        of_weight = None
        if weight is None:
            of_input = fused.divided_by_rms_backward(of_result, rows, rate)
        else:
            of_input, of_weight = fused.rms_norm_backward(of_result, rows, weight.reshape((-1,)), rate)
        if len(shape) > 1:
            of_input = of_input.reshape(input.shape)
            of_weight = of_weight if of_weight is None else of_weight.reshape(shape)
        return of_input if needs[0] else None, of_weight if needs[1] else None

    samples = lambda t: [
        S(t(3, 4), t(4), (4,), 1e-5),
        S(t(3, 4), None, (4,), 0.1),
        S(t(2, 3, 4), t(3, 4), (3, 4), 0.1),
        S(t(2, 3, 4), None, (3, 4), 0.1),
        S(t(2, 3, 4), t(4), (4,), 0.1),
    ]


def in_rows_of(x: A, shape: Sequence[int]) -> A:
    """An input whose last dimension is what is normalized over."""
    return x if len(shape) == 1 else x.reshape((-1, math.prod(shape)))


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
    # for the weight alone, the gradient asks for what was normalized, and not for the input
    for_weight_alone = weight is not None and weight.needs_grad and not input.needs_grad
    if (kind is F32 or kind is F64) and (weight is None or weight.array.dtype is kind) and not for_weight_alone:
        return rows_by_rms.call(input, weight, shape, eps)
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
