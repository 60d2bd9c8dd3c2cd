"""batch_norm and instance_norm: channels are standardized, over all samples or in each."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import execute
from leafgrad._core.fused import only_values, run_on_tensors
from leafgrad._core.tensor import TensorBase, is_batched
from leafgrad._core.thread_state import shared_modes, silence_numpy, state
from leafgrad.ops.conv.layout import in_format_of
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.loss.options import refuse_gradient
from leafgrad.ops.normalization.layer_norm import statistics
from leafgrad.ops.normalization.standardize import (
    Layout,
    Normalization,
    check_dtypes,
    gradients_by_known,
    gradients_of_factors,
    in_layout,
    layout_by,
    reciprocal_deviation,
    scaled,
    scaled_channels,
    standardize,
)
from leafgrad.ops.out import has_tangent
from leafgrad.ops.pointwise.elementwise import rsqrt
from leafgrad.ops.reduce.common import refused
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph


@op
class batch_norm(Normalization):
    """batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled): the channels,
    dimension 1, each with the mean 0 and the variance 1, then times weight plus bias. In training these are the mean
    and the variance of the input, and the running ones follow them; otherwise the running ones."""

    row_major = False
    node_name = "NativeBatchNormBackward0"
    shows = {"training": True}
    aten = "native_batch_norm"
    aten_function = "batch_norm"
    reference = lambda torch, *args: torch.batch_norm(*args)  # nn.functional has another order

    def call(
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        running_mean: Tensor | None,
        running_var: Tensor | None,
        training: bool,
        momentum: float,
        eps: float,
        cudnn_enabled: bool,
    ) -> Tensor:
        if not input.array.size:
            check_kinds(input, weight, bias, running_mean, running_var)
            return of_nothing(input, weight, bias)
        check_sizes(input, training, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
        check_kinds(input, weight, bias, running_mean, running_var)
        wrap_dim(1, input.array.ndim)  # which must be there
        refuse_tangents(input, running_mean, running_var)
        if not training:
            return batch_norm_evaluated.call(input, weight, bias, running_mean, running_var, eps)
        refuse_gradient("native_batch_norm", running_mean=running_mean, running_var=running_var)
        layout = channels_of(input.array.shape)
        out, (mean, _, variance) = standardize(batch_norm, (input, weight, bias), layout, eps)
        follow(running_mean, mean, momentum)
        if running_var is not None:
            n = input.array.size // layout.form[1]
            follow(running_var, variance * np.divide(n, n - 1, dtype=variance.dtype), momentum)  # Bessel's correction
        return out

    samples = lambda t: [
        S(t(5, 3), None, None, None, None, True, 0.1, 1e-5, False),
        S(t(2, 3, 4), t(3), t(3), None, None, True, 0.1, 1e-3, False),
        S(t(2, 3, 2, 2), t(3), None, None, None, True, 0.1, 1e-5, False),
        S(t(4, 2), None, t(2), None, None, True, 0.1, 1e-5, False),
    ]


@functools.lru_cache(1000)
def channels_of(shape: tuple[int, ...]) -> Layout:
    """Numbers of a channel share a mean and a variance."""
    channels = shape[1]
    form = (shape[0], channels, math.prod(shape[2:]))
    return layout_by(form, (0, 2), (1, channels, 1), (channels,))


@op
class batch_norm_evaluated(Family):
    """batch_norm_evaluated(input, weight, bias, running_mean, running_var, eps): batch_norm by a known mean
    and variance."""

    piecewise_linear = "undefined"
    inputs = ("input", "weight", "bias", "running_mean", "running_var")
    options = ("eps",)
    public_name = ""
    constants = ("running_mean", "running_var")
    node_name = "NativeBatchNormBackward0"
    aten = "native_batch_norm"
    saved_as = {"input": "input"}
    shows = {"training": False}
    reference = lambda torch, x, w, b, mean, variance, eps: torch.nn.functional.batch_norm(
        x, mean, variance, w, b, False, 0.0, eps
    )

    def call(
        input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor, running_var: Tensor, eps: float
    ) -> Tensor:
        refuse_gradient("native_batch_norm", running_mean=running_mean, running_var=running_var)
        silence_numpy()
        return batch_norm_evaluated.record(input, weight, bias, running_mean, running_var, eps)

    def kernel(x: A, weight: A, bias: A, mean: A, variance: A, eps: float) -> A:
        layout = channels_of(x.shape)
        wide, mean = in_layout(x, layout), mean.reshape(layout.factors)
        rstd = reciprocal_deviation(variance, eps, layout)
        batched = any([is_batched(each) for each in (x, weight, bias, mean, variance)])
        if layout.of_channels and wide.dtype.kind == "f" and not batched:
            out = scaled_channels(wide, mean, rstd, weight, bias, layout)
        else:
            out = scaled((wide - mean) * rstd, weight, bias, layout)
        return in_format_of(x, out.reshape(x.shape).astype(x.dtype, copy=False))

    def vjp_all(g: A, needs: A, input: A, weight: A, running_mean: A, running_var: A, eps: A) -> A:
        layout = channels_of(input.shape)
        arguments = (g, input, weight, running_mean, running_var, eps, needs, layout)
        tensors = [each for each in arguments if isinstance(each, TensorBase)]
        if layout.of_channels and not tensors and g.dtype.kind != "c":
            return *gradients_by_known(*arguments), None, None
        if layout.of_channels and tensors and only_values(*tensors) and not g.is_complex():
            return *run_on_tensors(gradients_by_known, gradients_by_known, arguments), None, None
        g = in_layout(g, layout)
        rstd = rsqrt(running_var.reshape(layout.factors) + eps)
        standard = (in_layout(input, layout) - running_mean.reshape(layout.factors)) * rstd
        of_input = None
        if needs[0]:
            factor = rstd if weight is None else rstd * weight.reshape(layout.factors)
            of_input = (g * factor).reshape(input.shape)
        return of_input, *gradients_of_factors(g, standard, needs, layout), None, None

    samples = lambda t: [
        S(t(2, 3, 4), t(3), t(3), t(3), t(3, low=0.1), 1e-5),
        S(t(2, 2, 2, 3), t(2), None, t(2), t(2, low=0.1), 1e-5),
        S(t(5, 2), None, None, t(2), t(2, low=0.1), 0.1),
    ]


def of_nothing(input: Any, weight: Any, bias: Any) -> Any:
    """What PyTorch makes of an input without elements."""
    out = input.clone()
    out = out if weight is None else out * weight[0]
    return out if bias is None else out + bias[0]


# -- running statistics -----------------------------------------------------------------------------------------------


@op
class running_average(Family):
    """running_average(running, new, momentum): momentum * new + (1 - momentum) * running."""

    inputs = ("running", "new")
    options = ("momentum",)
    public_name = ""
    aten = "batch_norm_update_stats"
    node_name = "NotImplemented"
    vmap = "elementwise"
    reference = lambda torch, running, new, momentum: momentum * new + (1 - momentum) * running

    def kernel(running: A, new: A, momentum: float) -> A:
        return (momentum * new + (1 - momentum) * running).astype(running.dtype)

    def vjp_running(g: A, momentum: A) -> A:
        return g * (1 - momentum)

    def vjp_new(g: A, momentum: A) -> A:
        return g * momentum

    samples = lambda t: [S(t(3), t(3), 0.1), S(t(2, 3), t(2, 3), 1.0)]


def follow(running: Any, new: Any, momentum: float) -> None:
    """Let a running mean or variance follow that of an input. As in PyTorch this does not count as a change of it: a
    graph that has saved it does not notice."""
    if running is None:
        return
    own = running.array
    if is_batched(new) and not is_batched(own):
        raise RuntimeError(
            "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in "
            "place, were not batched.\nIf you are using modules and do not need eval mode, please set "
            "`track_running_stats` to be False."
        )
    execute(running_average.core, (own, new.reshape(own.shape).astype(own.dtype)), (momentum,), own)


# -- checks -----------------------------------------------------------------------------------------------------------


def check_sizes(input: TensorBase, training: bool, **parameters: Any) -> None:
    """All parameters have one number for each channel; to evaluate, the running ones must be there."""
    shape = input.array.shape
    channels = shape[1] if len(shape) > 1 else 0
    for name in ("running_mean", "running_var", "weight", "bias"):
        parameter = parameters[name]
        if parameter is not None and parameter.array.size != channels:
            raise errors.mistake(
                RuntimeError,
                f"{name} should contain {channels} elements not {parameter.array.size}",
                ("input", errors.describe(input)),
            )
        if parameter is None and not training and name.startswith("running"):
            raise errors.mistake(RuntimeError, f"{name} must be defined in evaluation mode")


def refuse_tangents(input: TensorBase, *running: Any) -> None:
    """Forward mode does not go through running statistics."""
    if shared_modes and state.forward_mode and has_tangent(input):
        if any([each is not None and has_tangent(each) for each in running]):
            raise RuntimeError(
                "batch_norm is not differentiable wrt running_mean and running_var, they cannot have forward grad "
                "defined"
            )


def check_kinds(input: TensorBase, *parameters: Any) -> None:
    """Inputs are floats, and so are parameters: of the same dtype, or single where the input is half."""
    if input.array.dtype.kind in "biuc":
        raise refused("batch_norm", input)
    check_dtypes(input, "batch_norm", *parameters)


# -- with the statistics ----------------------------------------------------------------------------------------------


@composite(
    ValuesOnly(
        "returns statistics, which have no gradient",
        lambda t: [
            S(t(4, 3), t(3), t(3), None, None, True, 0.1, 1e-5),
            S(t(2, 3, 2), None, None, None, None, True, 0.1, 1),
        ],
        lambda torch, x, *args: [r if i == 0 else r.detach() for i, r in enumerate(torch.native_batch_norm(x, *args))],
    ),
    method=False,
)
def native_batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps): batch_norm, and in
    training the means and one over the standard deviations."""
    out = batch_norm.function(input, weight, bias, running_mean, running_var, training, momentum, eps, True)
    if not training:
        return out, input.new_empty(0), input.new_empty(0)
    dims = tuple([d for d in range(input.array.ndim) if d != 1])
    return out, *statistics(input.detach(), dims, False, eps)


# -- instance_norm ----------------------------------------------------------------------------------------------------


@composite(
    lambda t: [
        S(t(2, 3, 4), None, None, None, None, True, 0.1, 1e-5, False),
        S(t(2, 3, 4), t(3), t(3), None, None, True, 0.1, 1e-3, False),
        S(t(2, 2, 3, 2), t(2), None, None, None, True, 0.1, 1e-5, False),
    ],
    method=False,
    reference=lambda torch, *args: torch.instance_norm(*args),
)
def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled):
    batch_norm of each sample by itself."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    samples, channels = input.shape[0], input.shape[wrap_dim(1, input.ndim)]
    repeated: list[Any] = [None if t is None else t.repeat(samples) for t in (weight, bias, running_mean, running_var)]
    # all samples as channels of one
    joined = input.contiguous().view(1, samples * channels, *input.shape[2:])
    out = batch_norm.function(joined, *repeated, use_input_stats, momentum, eps, cudnn_enabled)
    for own, found in zip((running_mean, running_var), repeated[2:], strict=True):
        if own is not None:
            own.detach().copy_(found.view(samples, channels).mean(0))
    return out.view(input.shape)
