"""relu, and its gradient, which depends on the result: as in PyTorch it can be differentiated again, to zeros."""

from __future__ import annotations

from typing import Any

from leafgrad._dtypes import BOOL, COMPLEX
from leafgrad.kernels.fused import basic as fused
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.pointwise.elementwise import Binary, Unary
from leafgrad.ops.registry import op
from leafgrad.ops.samples import pairs

A = Any  # an array, or a tensor under create_graph


@op
class relu(Unary):
    """relu(input): each element, but not less than zero."""

    keeps_zero = True
    kernel = fused.relu
    writes_into = True
    out = False
    as_float = False
    refuses = {
        BOOL: (RuntimeError, "Boolean inputs not supported for relu"),
        COMPLEX: (NotImplementedError, "clamp is not supported for complex types"),
    }

    def vjp(g: A, out: A) -> A:
        return relu_backward(g, out)


@op
class relu_backward(Binary):
    """relu_backward(input, other): the gradient `input` where `other`, the result of relu, is above zero; else zero."""

    node_name = "ThresholdBackwardBackward0"
    public_name = ""
    reference = lambda torch, g, out: torch.ops.aten.threshold_backward(g, out, 0)
    aten = "threshold_backward"
    in_place = False
    out = False
    holomorphic = False
    takes = ("Tensor", "Tensor")
    kernel = fused.relu_backward
    samples = pairs(numbers=False)

    def vjp_input(g: A, other: A) -> A:
        return relu_backward(g, other)

    def vjp_other(g: A) -> A:
        return zeros_like(g)
