"""The node that a `Function` leaves behind, and what it saved.

Users see one object, `ctx` in their methods and `grad_fn` on their tensors. Here they are two: the node belongs to the
graph, and the context, which the node holds, takes whatever attributes the user sets without getting in the node's way
(`ctx.shape = ...` is common). The node shows the attributes of its context as its own.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

import leafgrad.errors.functions as refusals
from leafgrad import errors
from leafgrad._core import recorder
from leafgrad._core.node import UNCHANGING, Freed, Node, Output, output_of
from leafgrad._core.op import OPTION, GradientRules, Op
from leafgrad._core.origin import user_frame
from leafgrad._core.tensor import TensorBase, wrap, wrap_node
from leafgrad.autograd import public_nodes
from leafgrad.autograd.public_nodes import check_hooks
from leafgrad.autograd.saved_tensor_hooks import Packed, innermost
from leafgrad.ops.pointwise.convert import clone


class Record:
    """What leafgrad itself remembers of one call of a Function; `ctx._record`."""

    def __init__(self) -> None:
        self.is_tensor: tuple[bool, ...] = ()  # which arguments of forward were tensors
        self.forms: list[tuple[Any, Any] | None] = []  # shape and dtype of each result; None for what is no tensor
        self.saved: list[SavedTensor] = []
        self.freed: Freed | None = None  # the backward pass that freed them
        self.node: Any = None  # a weak reference to the node, which holds the context
        self.saved_for_forward: tuple[Any, ...] | None = None
        self.for_jvp: tuple[Any, ...] | None = None  # the same, while jvp runs: then those are the saved tensors
        self.without_gradient: set[int] = set()  # the numbers of the results that are no tensors or not differentiable
        self.materialize = True


class FunctionNode(Node):
    """The node of a call of a Function. Each Function has a subclass of it, named after it."""

    context: Any

    def __getattr__(self, name: str) -> Any:
        if name != "context":
            # not getattr, because the context in turn asks the node for what it does not have
            try:
                return object.__getattribute__(self.context, name)
            except AttributeError:
                pass
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self.context)})

    @property
    def next_functions(self) -> tuple[Any, ...]:
        tensors = self.context._record.is_tensor
        return tuple([public_nodes.public_edge(e) for e, is_one in zip(self.inputs, tensors, strict=True) if is_one])

    def name(self) -> str:
        return self.op.node_name


def node_class(name: str) -> type[FunctionNode]:
    """The class of the nodes of one Function."""
    own = {"__slots__", "__getattr__", "__call__", "__dir__", "name", "next_functions"}
    members = {key: value for key, value in public_nodes.members().items() if key not in own}
    return type(name, (FunctionNode,), members)


def operation(cls: Any, name: str) -> Op:
    """What the engine knows of a Function."""
    op = Op(cls.__name__, name, cls.forward, GradientRules(run_backward, lambda mask: (OPTION,)))
    op.node_class = cls._node_class
    return op


def make_node(cls: Any, ctx: Any, edges: tuple[Any, ...], forms: Sequence[tuple[Any, Any] | None]) -> Any:
    """The node of one call. What a call saves can be freed, so it has a version, although one that never changes."""
    node = cls._node_class()
    frame = user_frame()
    shapes = tuple([() if form is None else form[0] for form in forms])
    kinds = tuple([np.dtype(np.float32) if form is None else form[1] for form in forms])
    node.fill(cls._op, edges, (ctx,), UNCHANGING, shapes, kinds, frame.f_code, frame.f_lasti)
    node.context = ctx
    ctx._record.forms = list(forms)
    ctx._record.node = weakref.ref(node)
    return node


# -- saved tensors ----------------------------------------------------------------------------------------------------


class SavedTensor(public_nodes.SavedTensor):
    """One tensor that was given to save_for_backward: enough of it to have it again, connected to the same history.

    A leaf is kept as it is. Of others the array and the node are kept, because the tensor may get another history, one
    that leads here. A result is kept as an array and a number: to hold its node would be to hold what holds this.
    """

    def __init__(self, tensor: Any, result: int | None) -> None:
        self.result = result  # the number of the result it is
        self.leaf = self.array = self.node = self.version = None
        self.itself: Any = None  # a weak reference to a tensor that is no leaf
        self.count = 0
        self.packed: Packed | None = None  # if hooks take care of it
        if tensor is None:
            return
        if tensor.extra is not None and tensor.extra.inference:
            raise errors.inference_saved(tensor)
        self.version, self.count = tensor.version, tensor.version[0]
        if tensor.node is None and result is None:
            self.leaf = tensor
        else:
            self.array = tensor.array
            self.node = tensor.node if result is None else None
            self.itself = weakref.ref(tensor)
        if (hooks := innermost()) is not None:
            self._pack(tensor, hooks.pack_hook, hooks.unpack_hook)

    def _pack(self, tensor: Any, pack_hook: Any, unpack_hook: Any) -> None:
        self.packed = Packed(tensor, pack_hook, unpack_hook)
        if self.leaf is not None:
            self.node = self.leaf if self.leaf.needs_grad else None
        self.leaf = self.array = None

    def register_hooks(self, pack_hook: Any, unpack_hook: Any) -> None:
        """register_hooks(pack_hook, unpack_hook): keep what `pack_hook` makes of the tensor instead of the tensor."""
        check_hooks(pack_hook, unpack_hook, self.packed is not None)
        if self.version is None:
            raise RuntimeError(
                f"Calling register_hooks on a saved tensor with value None is forbidden\n  at {errors.here()}"
            )
        tensor = self.leaf
        if tensor is None:
            tensor = wrap(self.array)
            tensor.version = self.version
        self._pack(tensor, pack_hook, unpack_hook)

    def tensor(self, node: Any) -> Any:
        """The tensor; `node` is the one that saved it."""
        if self.version is None:
            return None
        if self.packed is not None:
            made = self.packed.unpack()
            return self._connected(made.array, made.version, node)
        if self.version[0] != self.count:
            raise refusals.saved_changed(node, self)
        if self.leaf is not None:
            return self.leaf
        itself = self.itself()
        if itself is not None and self.result is None and itself.node is self.node and itself.array is self.array:
            return itself
        return self._connected(self.array, self.version, node)

    def _connected(self, array: Any, version: Any, node: Any) -> Any:
        """An array as a tensor with the history that the saved one had."""
        if self.result is not None:
            tensor = wrap_node(array, output_of(node, self.result, array.shape, array.dtype))
        elif self.node is None:
            tensor = wrap(array)
        elif isinstance(self.node, Node):
            tensor = wrap_node(array, self.node)
        elif self.node.array is array:
            return self.node
        else:  # other values for a leaf, which its gradient goes to all the same
            copied = recorder.make_node(clone.core, (self.node,), (array,), (), (), (), array.shape, array.dtype)
            tensor = wrap_node(array, copied)
        tensor.version = version
        return tensor


def saved_tensors(ctx: Any) -> tuple[Any, ...]:
    """What ctx.saved_tensors is: the tensors again, or the error that tells why they cannot be had."""
    record: Record = ctx._record
    if record.for_jvp is not None:
        return record.for_jvp
    node: Any = None if record.node is None else record.node()
    if record.freed is not None:
        raise errors.graph_was_freed(node, record.freed)
    return tuple([saved.tensor(node) for saved in record.saved])


# -- the backward pass ------------------------------------------------------------------------------------------------


def run_backward(gs: list[Any], saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> list[Any]:
    """The rule of every Function: call the user's backward with tensors, whatever the engine works with."""
    ctx = saved[0]
    record: Record = ctx._record
    raw = not any([isinstance(g, TensorBase) for g in gs])
    gradients = []
    for g, form in zip(gs, record.forms, strict=True):
        if g is None and form is not None and record.materialize:
            g = np.zeros(*form)
        if g is not None and not isinstance(g, TensorBase):
            # the engine's own arrays may be read-only, and users may write to what they are given
            g = wrap(g if getattr(g, "flags", None) is not None and g.flags.writeable else np.array(g))
        gradients.append(g)
    node = record.node()
    freed = node.saved if node is not None and isinstance(node.saved, Freed) else None
    if freed is not None:
        # As in PyTorch a Function can be run again after it was freed; what fails is to ask for saved tensors.
        node.saved, node.versions = (ctx,), None
    try:
        returned = ctx._forward_cls._gradient_rule()(ctx, *gradients)
    except BaseException:
        if freed is not None:
            node.versions = UNCHANGING  # not used up
        raise
    if freed is not None:
        record.freed, record.saved = freed, []
    return checked(ctx, returned, inputs, raw)


def checked(ctx: Any, returned: Any, inputs: tuple[Any, ...], raw: bool) -> list[Any]:
    """One gradient for each argument of forward, each of a form that fits it."""
    results = list(returned) if isinstance(returned, tuple) else [returned]
    if all([r is None for r in results[len(inputs) :]]):
        results = results[: len(inputs)]
    if len(results) != len(inputs):
        raise refusals.gradient_count(ctx, len(inputs), len(results))
    kept: list[Any] = []
    number = 0  # PyTorch numbers the gradients of tensors only
    for position, (r, edge, is_tensor) in enumerate(zip(results, inputs, ctx._record.is_tensor, strict=True)):
        if r is not None and not is_tensor:
            raise refusals.gradient_unasked(ctx, position)
        if r is not None and not isinstance(r, TensorBase):
            raise refusals.gradient_kind(ctx, position, r)
        if edge is None:
            r = None
        elif r is None:
            r = materialized(edge, raw)
        else:
            place = edge if isinstance(edge, Node) else edge.array
            if r.array.shape != place.shape and not broadcasts_to(place.shape, r.array.shape):
                raise refusals.gradient_shape(ctx, number, position, r.array.shape, place.shape)
            if r.array.dtype.kind == "c" and place.dtype.kind != "c":
                raise refusals.gradient_complex(ctx, position)
        # a view, because the user may have kept the tensor: the engine must not take its memory for its own
        kept.append(r.array.view() if raw and isinstance(r, TensorBase) else r)
        number += is_tensor
    return kept


def materialized(edge: Any, raw: bool) -> Any:
    """A backward that returns None ends the way of the gradient, unless it leads straight to another Function that
    wants zeros in place of what is missing."""
    if isinstance(edge, Output) and isinstance(edge.parent, FunctionNode) and edge.parent.context._record.materialize:
        zeros = np.zeros(edge.shape, edge.dtype)
        return zeros if raw else wrap(zeros)
    return None


def broadcasts_to(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """Could a tensor of shape `small` have been broadcast to `large`?"""
    lead = len(large) - len(small)
    return lead >= 0 and all([s in (1, n) for s, n in zip(small, large[lead:], strict=True)])
