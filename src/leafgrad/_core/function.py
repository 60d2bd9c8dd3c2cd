"""The fields of one call of a `Function` of the user's own. Hot, compiled.

Users see one object, `ctx` in their methods and `grad_fn` on their tensors. Here they are two: the node belongs to the
graph, and the context, which the node holds, takes whatever attributes the user sets without getting in the node's way
(`ctx.shape = ...` is common). What leafgrad itself remembers of the call is a third, the record, for the same reason.
"""

from __future__ import annotations

from typing import Any

from leafgrad._build import mypyc_attr
from leafgrad._core.node import Freed, Node, output_of


@mypyc_attr(allow_interpreted_subclasses=True)
class Context:
    """What every `ctx` has beside the attributes that the user sets. Its methods: leafgrad/autograd/function.py."""

    # What was given to save_for_backward and the like, until `apply` has dealt with it.
    to_save: Any = None
    saved_for_forward: Any = None
    dirty_tensors: Any = None
    non_differentiable: Any = None
    needs_input_grad: Any = ()
    _materialize_non_diff_grads: Any = True  # shall backward get zeros for results that are not differentiable?
    _is_pure_view: Any = False  # does the user say that the result is a view, and backward only that of the view?
    _record: Record


class Record:
    """What leafgrad itself remembers of one call of a Function; `ctx._record`."""

    is_tensor: Any = ()  # which arguments of forward were tensors
    forms: Any = None  # if there are several results: shape and dtype of each, None for what is no tensor
    saved: Any = ()  # what was given to save_for_backward, as SavedTensors
    freed: Freed | None = None  # the backward pass that freed them
    node: Any = None  # a weak reference to the node, which holds the context
    saved_for_forward: Any = None
    for_jvp: Any = None  # the same, while jvp runs: then those are the saved tensors
    without_gradient: Any = ()  # the numbers of the results that are no tensors or not differentiable
    materialize: bool = True
    edges: Any = None  # where the arguments came from
    hooks: Any = None  # that were registered before there was a node
    accessed: bool = False  # were the saved tensors asked for that can be had only once?


@mypyc_attr(allow_interpreted_subclasses=True)
class CallNode(Node):
    """The node of a call of a Function: one that holds its context."""

    context: Context


def result_of(node: CallNode, index: int, array: Any) -> Node:
    """The node of a result: that of the call, or one Output of it if there are several results."""
    if node.context._record.forms is None:
        return node
    return output_of(node, index, array.shape, array.dtype)
