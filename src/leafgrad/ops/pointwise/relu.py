"""relu, and gradients of functions that are linear in pieces. They change from piece to piece only, so that their
derivative is zero; as in PyTorch they have one all the same, and require grad where the input does."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.node import Node
from leafgrad._core.tensor import links, wrap_node
from leafgrad._dtypes import BOOL, COMPLEX
from leafgrad.kernels.fused import basic as fused
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.pointwise.elementwise import Binary, Unary
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, ValuesOnly, pairs

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


def slope_of_leaky_relu(torch: Any, x: Any) -> Any:
    return torch.autograd.grad(torch.nn.functional.leaky_relu(x).sum(), x, create_graph=True)[0]


@op
class constant_in(Family):
    """constant_in(input, other, is_defined): input, as a function of other as well, by which its derivative is zero, or
    is not defined, as PyTorch says of some layers: None."""

    inputs = ("input", "other")
    options = ("is_defined",)
    node_name = "LeakyReluBackwardBackward0"  # or that of another function that is linear in pieces
    public_name = ""
    method = False
    jvp = "linear"
    vmap = "elementwise"
    samples = ValuesOnly(
        "nobody calls it",
        lambda t: [S(t(3, 4)), S(t(2, 0))],
        lambda torch, x: slope_of_leaky_relu(torch, x if x.requires_grad else x.clone().requires_grad_()),
    )

    def kernel(g: A, x: A, is_defined: bool) -> A:
        return g.copy()

    def vjp_input(g: A) -> A:
        return g

    def vjp_other(g: A, is_defined: A) -> A:
        return zeros_like(g) if is_defined else None


def as_function_of(g: Any, source: Any, is_defined: bool) -> Any:
    """The gradient of an input that came out of the node `source`, or that is the leaf `source`, recorded as a function
    of it."""
    if isinstance(source, Node):  # of which only the place in the graph counts
        shape: Any = source.shape
        source = wrap_node(np.broadcast_to(np.zeros((), source.dtype), shape), source)
    return constant_in.record(g, source, is_defined)


links.as_function_of = as_function_of
