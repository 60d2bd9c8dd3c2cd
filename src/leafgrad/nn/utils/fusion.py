"""A layer and the batch normalisation after it as one layer, for evaluation."""

from __future__ import annotations

import copy
from typing import Any

from leafgrad.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _fused(
    weight: Any, bias: Any, mean: Any, variance: Any, eps: float, factor: Any, shift: Any, shape: list[int]
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a layer that does both; `shape` is that of factors of its outputs beside its weight."""
    scale = (variance + eps).rsqrt()
    scale = scale if factor is None else factor * scale
    before = mean.new_zeros(mean.shape) if bias is None else bias
    after = (before - mean) * scale
    after = after if shift is None else after + shift
    new = (weight * scale.reshape(shape)).to(weight.dtype)
    return (
        Parameter(new, weight.requires_grad),
        Parameter(
            after.to(weight.dtype if bias is None else bias.dtype),
            weight.requires_grad if bias is None else bias.requires_grad,
        ),
    )


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> tuple[Parameter, Parameter]:
    """fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False): the weight and the bias
    of a convolution that does what a convolution and a batch normalisation do."""
    shape = [1, -1] if transpose else [-1, 1]
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape + [1] * (conv_w.ndim - 2))


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Parameter, Parameter]:
    """fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b): the same for a linear layer."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _check(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Expected bn.running_mean and bn.running_var to be set.")


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """fuse_conv_bn_eval(conv, bn, transpose=False): a convolution that does what both modules do."""
    _check(conv, bn)
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """fuse_linear_bn_eval(linear, bn): a linear layer that does what both modules do."""
    _check(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused
