"""Functions that users hang on tensors, to look at gradients or change them as they pass."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from leafgrad import errors
from leafgrad._core import Extra, TensorBase, wrap
from leafgrad.autograd.graph import Node, Output


class RemovableHandle:
    """Returned when a hook is registered; `remove()` takes the hook away again. Also a context manager."""

    next_id = 0

    def __init__(self, hooks: dict[int, Any]) -> None:
        self.hooks = hooks
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self) -> None:
        self.hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: Any) -> None:
        self.remove()


class Hooks:
    """The hooks of one tensor: kept by its node, or by the tensor itself if it is a leaf."""

    def __init__(self) -> None:
        self.on_gradient: dict[int, Callable[[Any], Any]] = {}
        self.after_accumulation: dict[int, Callable[[Any], Any]] = {}
        self.keep_for: Any = None  # a weak reference to the tensor that wants its gradient retained

    def arrived(self, place: Node | TensorBase, g: Any, create_graph: bool) -> Any:
        """The gradient of the tensor is complete. Hooks run in the order of registration and may replace it."""
        if self.on_gradient:
            g = self._run(place, g)
        if self.keep_for is not None and (tensor := self.keep_for()) is not None:
            if tensor._grad is None:
                kept = g.clone() if create_graph else wrap(g.copy())
            else:
                kept = tensor._grad + wrap_raw(g)
            tensor._grad = kept
        return g

    def _run(self, place: Node | TensorBase, g: Any) -> Any:
        raw = not isinstance(g, TensorBase)
        tensor = wrap(g) if raw else g
        for hook in list(self.on_gradient.values()):
            changed = hook(tensor)
            if changed is not None:
                tensor = checked(changed, tensor, hook)
        return tensor.array if raw else tensor

    def ran(self, node: Node, gradients: Any, g: Any) -> Any:
        """The rule of the node has run."""
        return gradients

    def accumulated(self, leaf: TensorBase) -> None:
        for hook in list(self.after_accumulation.values()):
            if (returned := hook(leaf)) is not None and not isinstance(returned, TensorBase):
                raise errors.hook_returned(hook, returned)


def wrap_raw(g: Any) -> Any:
    return g if isinstance(g, TensorBase) else wrap(g)


def checked(changed: Any, before: TensorBase, hook: Any) -> Any:
    """What a hook returns takes the gradient's place, so it must have its shape and dtype."""
    if not isinstance(changed, TensorBase):
        raise errors.hook_returned(hook, changed)
    if changed.array.dtype != before.array.dtype or changed.array.shape != before.array.shape:
        raise errors.hook_changed(hook, before.array, changed.array)
    return changed


def hooks_of(tensor: Any) -> Hooks:
    """The hooks of a tensor, made when they are first needed."""
    node = tensor.node
    if node is not None:
        if node.hooks is None:
            node.hooks = Hooks()
        return node.hooks  # type: ignore[no-any-return]
    if tensor.extra is None:
        tensor.extra = Extra()
    if tensor.extra.hooks is None:
        tensor.extra.hooks = Hooks()
    return tensor.extra.hooks  # type: ignore[no-any-return]


def give_history(tensor: Any, node: Node) -> None:
    """Make `node` the one that a tensor comes from. Hooks belong to the value that it had when they were registered;
    a gradient that is retained is always that of the newest value."""
    retained = tensor.extra is not None and tensor.extra.retains_grad
    if retained and tensor.node is not None and tensor.node.hooks is not None:
        tensor.node.hooks.keep_for = None
    tensor.node = node
    tensor.needs_grad = True
    if retained:
        hooks_of(tensor).keep_for = weakref.ref(tensor)


class AccumulateGrad:
    """What `next_functions` shows where the graph arrives at a leaf. The engine itself uses the leaf."""

    __slots__ = ("__weakref__", "variable")

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    @property
    def next_functions(self) -> tuple[Any, ...]:
        return ()

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {id(self.variable):#x}>"


_arrivals: weakref.WeakValueDictionary[int, AccumulateGrad] = weakref.WeakValueDictionary()


def arrival_at(leaf: Any) -> AccumulateGrad:
    """The one that stands for a leaf, as long as somebody holds it (and so its leaf, whose id is the key)."""
    found = _arrivals.get(id(leaf))
    if found is None:
        found = _arrivals[id(leaf)] = AccumulateGrad(leaf)
    return found


def public_edge(place: Any) -> tuple[Any, int]:
    """An edge as PyTorch shows it: (node, number of the node's result)."""
    if place is None:
        return (None, 0)
    if isinstance(place, Output):
        return (shown(place.parent), place.index)
    return (shown(place) if isinstance(place, Node) else arrival_at(place), 0)


def shown(node: Node) -> Node:
    """A node under the class name that PyTorch users know: MulBackward0, ... The recorder makes plain nodes; the
    first look at one gives it its class."""
    if type(node) is Node:
        op = node.op
        if op.node_class is None:
            op.node_class = type(op.node_name, (Node,), members())
        node.__class__ = op.node_class
    return node


def members() -> dict[str, Any]:
    """What a node has when it is shown to users."""
    return {
        "__slots__": (),
        "__repr__": _repr,
        "name": _name,
        "next_functions": property(_next_functions),
        "origin": property(_origin),
    }


def _name(node: Node) -> str:
    name = node.op.node_name
    return name if "Backward" in name and name[-1] in "0123456789" else f"torch::autograd::{name}"


def _next_functions(node: Node) -> tuple[Any, ...]:
    hidden = node.op.hidden
    return tuple([public_edge(source) for i, source in enumerate(node.inputs) if i not in hidden])


def _origin(node: Node) -> tuple[str, int]:
    from leafgrad.autograd.origin import line_of

    return line_of(node.code, node.lasti)


def _repr(node: Node) -> str:
    return f"<{node.op.node_name} object at {id(node):#x}>"
