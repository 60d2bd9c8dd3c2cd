"""leafgrad.autograd.graph: places in the graph, hooks for saved tensors and for several gradients."""

from __future__ import annotations

import abc
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from leafgrad import errors
from leafgrad._core.modes import Mode, switches
from leafgrad._core.node import Node as GraphNode
from leafgrad._core.node import Output, output_of
from leafgrad._core.reachable import reach
from leafgrad._core.recorder import edge
from leafgrad._core.tensor import TensorBase, is_silent
from leafgrad._core.thread_state import state
from leafgrad._core.threads import Lock
from leafgrad.autograd.composition import fused
from leafgrad.autograd.grown_nodes import is_grown
from leafgrad.autograd.hooks import RemovableHandle, on_gradient_of, registered
from leafgrad.autograd.public_nodes import AccumulateGrad, InnerNode, public_edge
from leafgrad.autograd.saved_tensor_hooks import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_override_stale_capture_stream",
    "set_warn_on_accumulate_grad_stream_mismatch",
]


class Node(abc.ABC):
    """What all nodes are, as `isinstance(tensor.grad_fn, Node)` tells; the context of a Function, which is its node, is
    one as well. No class derives from it: this page says what users may ask a node for."""

    @abc.abstractmethod
    def name(self) -> str:
        """name(): the name of the rule, "MulBackward0"."""

    @property
    @abc.abstractmethod
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """Where the inputs came from: pairs of a node and the number of its result."""

    @abc.abstractmethod
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own purposes."""

    @property
    @abc.abstractmethod
    def _input_metadata(self) -> Sequence[Any]:
        """Shape and dtype of each gradient that the node is given."""

    @abc.abstractmethod
    def register_hook(self, fn: Any) -> RemovableHandle:
        """register_hook(fn): call `fn(grad_inputs, grad_outputs)` after the rule has run; it may replace the first."""

    @abc.abstractmethod
    def register_prehook(self, fn: Any) -> RemovableHandle:
        """register_prehook(fn): call `fn(grad_outputs)` before the rule runs; it may replace them."""


Node.register(GraphNode)


class GradientEdge(NamedTuple):
    """A place in the graph that a gradient can be asked for: a node, and which of its results."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """get_gradient_edge(tensor): the place in the graph that this tensor comes from, without the tensor's memory."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients\n"
            f"  at {errors.here()}"
        )
    return GradientEdge(*public_edge(edge(tensor)))


def place_of(target: GradientEdge) -> Any:
    """The engine's own name for an edge: a node, an Output of it, or a leaf."""
    node = target.node
    if isinstance(node, AccumulateGrad):
        return node.variable
    if isinstance(node, InnerNode):
        raise fused(node.owner, f"{node.name()} is shown as PyTorch has it")
    if is_grown(node):
        raise fused(node, f"{node.name()} is shown as PyTorch has it", node.hooks.operation)
    shape: Any = node.shape
    if not shape or not isinstance(shape[0], tuple):
        return node
    return output_of(node, target.output_nr, shape[target.output_nr], node.dtype[target.output_nr])


def accumulates_since(target: Any) -> int:
    """From which order on edges lead to a leaf, or to the accumulator of an edge (see RareFields); 1: all of them."""
    if isinstance(target, GradientEdge):
        return target.node.since if isinstance(target.node, AccumulateGrad) else 1
    return 1 if target.rare is None else int(target.rare.accumulates_since)


def increment_version(tensor: Any) -> None:
    """increment_version(tensor): say that the memory of a tensor, or of several, was changed behind leafgrad's back."""
    for t in (tensor,) if isinstance(tensor, TensorBase) else tensor:
        t.version[0] += 1


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Accepted; a CPU has no streams."""


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Accepted; a CPU has no streams."""


# -- a hook for several tensors ---------------------------------------------------------------------------------------


class _MultiHandle(RemovableHandle):
    """Takes all hooks of a multi-grad hook away."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> Any:
        return self.handles

    def __setstate__(self, saved: Any) -> None:
        self.handles = saved


def register_multi_grad_hook(tensors: Sequence[Any], fn: Any, *, mode: str = "all") -> RemovableHandle:
    """register_multi_grad_hook(tensors, fn, *, mode="all"): call `fn` with the list of gradients once all of those
    tensors that the backward pass reaches have theirs (None for the others), or, with mode="any", with the first."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        tensors = [t for t in tensors if t.requires_grad]
    places = [edge(t) for t in tensors]
    for t in tensors:
        assert t.requires_grad and (mode == "any" or not is_silent(t)), "Expected gradient function to be set"
    calls: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # what came so far, for each pass
    lock = Lock()
    places = [edge(t) for t in tensors]

    def arrive(index: int, g: Any) -> None:
        current = state.passes[-1]
        with lock:
            is_first = current not in calls
            if is_first:
                calls[current] = ([None] * len(places), sum(reached(current, places)) if mode == "all" else 0)
            gradients, missing = calls[current]
            gradients[index] = g
            calls[current] = (gradients, missing - 1)
            if missing == 1:
                del calls[current]  # who comes later, because it was not expected, begins again
        if missing == 1 if mode == "all" else is_first:
            fn(gradients if mode == "all" else g)

    def listener(index: int) -> Any:
        return lambda g: arrive(index, g)

    switches.leaf_hooks = True  # so that every backward pass says who it is
    return _MultiHandle([registered(on_gradient_of(t), listener(i)) for i, t in enumerate(tensors)])


def reached(current: Any, places: Sequence[Any]) -> list[bool]:
    """Which of the places does a backward pass come to? To one of several results as soon as to another of them, and,
    as PyTorch sees it, not to the place where it begins, if that is the only one."""
    if current.wanted is None:
        nodes, leaves = reach(current.starts)
        found = {*nodes.values(), *leaves}
    else:
        found = {operation_behind(place) for place in current.wanted}
    if len(current.starts) == 1:
        found.discard(operation_behind(current.starts[0]))
    known = [operation_behind(place) in found for place in places]
    if not current.delivers and any([k and not isinstance(place, GraphNode) for k, place in zip(known, places)]):
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
            "currently not supported. If you need this feature, use backward(inputs=...) instead.\n"
            f"  at {errors.here()}"
        )
    return known


def operation_behind(place: Any) -> Any:
    return place.parent if isinstance(place, Output) else place


# -- changing what was saved ------------------------------------------------------------------------------------------


class Handle:
    """Stands for one saved tensor in the graph. When the last node that saved it is gone, so is what is kept for it."""

    __slots__ = ("__weakref__",)


class Mutation(Mode):
    """The tensors that were saved inside `allow_mutation_on_saved_tensors`, so that their values can be rescued: each
    as it is (`original`) while its memory is unchanged, as a copy (`cloned`) afterwards."""

    sees_operations = False

    def __init__(self) -> None:
        self.open = True
        self.cloned: weakref.WeakKeyDictionary[Handle, Any] = weakref.WeakKeyDictionary()
        self.original: weakref.WeakKeyDictionary[Handle, Any] = weakref.WeakKeyDictionary()
        # what was saved several times, by several nodes, has one handle: the same part of the same memory, unchanged
        self.tid_to_weakhandle: weakref.WeakValueDictionary[Any, Handle] = weakref.WeakValueDictionary()
        self.sid_to_tid: dict[int, set[Any]] = {}  # of each memory, by the identity of its version counter

    def clear(self) -> None:
        self.cloned.clear()
        self.original.clear()
        self.tid_to_weakhandle.clear()
        self.sid_to_tid.clear()

    def save(self, tensor: Any) -> Handle:
        array = tensor.array
        memory = id(tensor.version)
        tid = (memory, tensor.version[0], array.ctypes.data, array.dtype, array.shape, array.strides)
        handle = self.tid_to_weakhandle.get(tid)
        if handle is None:
            handle = self.tid_to_weakhandle[tid] = Handle()
            self.original[handle] = tensor.detach()
            self.sid_to_tid.setdefault(memory, set()).add(tid)
        return handle

    def about_to_change(self, x: Any) -> None:
        for tid in self.sid_to_tid.pop(id(x.version), ()):
            handle = self.tid_to_weakhandle.get(tid)
            if handle is None:
                continue
            tensor = self.original.get(handle)
            if tensor is not None and tensor.version is x.version:
                self.cloned[handle] = tensor.clone()
                del self.original[handle]


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[Mutation]:
    """allow_mutation_on_saved_tensors(): inside, tensors may be changed in place though they were saved; the values
    that the backward pass needs are copied just before."""
    if any([isinstance(mode, Mutation) for mode in state.modes]):
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = Mutation()

    def unpack(handle: Handle) -> Any:
        assert context.open, (
            "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
            "in which the graph was originally recorded."
        )
        copy = context.cloned.get(handle)
        return context.original[handle] if copy is None else copy

    try:
        with context, saved_tensors_hooks(context.save, unpack):
            yield context
    finally:
        context.open = False
        context.clear()
