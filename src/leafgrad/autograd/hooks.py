"""Hooks: functions that users register with tensors and nodes, to see or replace gradients in a backward pass.

For one node the order is PyTorch's: the hooks of the tensor that came out of it, in the order of registration; the
gradient is retained, if that was asked for; the pre-hooks of the node; its rule; the hooks of the node. For a leaf:
its tensor hooks; the pre-hooks of its AccumulateGrad; `.grad` is updated; its post-accumulate hooks; the hooks of its
AccumulateGrad.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from leafgrad import errors
from leafgrad._core.function import CallNode
from leafgrad._core.modes import restore, switches
from leafgrad._core.node import Freed, Node, Output
from leafgrad._core.tensor import RareFields, TensorBase, links, wrap
from leafgrad._core.thread_state import every_thread, state
from leafgrad._core.threads import RLock
from leafgrad._core.unbroadcast import unbroadcast
from leafgrad.autograd.composition import between, replace_between, sources_of

Registered = dict[int, Callable[..., Any]]
# Several threads may go back through the same graph, and add to the same retained gradient. One lock for one thread at
# a time, which may come here again: under create_graph the addition is recorded, and hooks may watch that.
retaining = RLock()


class RemovableHandle:
    """Returned when a hook is registered; `remove()` takes the hook away again. Also a context manager."""

    next_id = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)  # the handle keeps nothing alive
        with every_thread:
            self.id = RemovableHandle.next_id
            RemovableHandle.next_id += 1
        extras = extra_dict if isinstance(extra_dict, list) else [] if extra_dict is None else [extra_dict]
        self.extra_dict_ref = tuple([weakref.ref(d) for d in extras])

    def remove(self) -> None:
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            if (hooks := ref()) is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> Any:
        return (self.hooks_dict_ref(), self.id, tuple([ref() for ref in self.extra_dict_ref]))

    def __setstate__(self, saved: Any) -> None:
        # where the dictionary is gone, the hook is as well: an empty one stands for it
        hooks, self.id, extras = saved
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        self.extra_dict_ref = tuple([weakref.ref(OrderedDict() if d is None else d) for d in extras])
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: Any) -> None:
        self.remove()


def registered(
    hooks: OrderedDict[int, Any], hook: Any, prepend: bool = False, marks: Sequence[OrderedDict[int, bool]] = ()
) -> RemovableHandle:
    """Add a hook, last or first, and return the handle that removes it, also from the `marks` that it is put in."""
    handle = RemovableHandle(hooks, extra_dict=list(marks))
    hooks[handle.id] = hook
    for each in marks:
        each[handle.id] = True
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


class Detached:
    """The values of a tensor that was detached in place. As long as the node that it came from is alive, backward
    passes look for nodes that saved it."""

    def __init__(self, array: Any) -> None:
        self.array = weakref.ref(array)
        with every_thread:
            switches.detached += 1
            switches.checkpoints[id(self)] = True  # engine.backward_from is not used meanwhile

    def __del__(self) -> None:
        with every_thread:
            switches.detached -= 1
            switches.checkpoints.pop(id(self), None)


class Hooks:
    """What is attached to one tensor and its node: kept by the node, or by the tensor itself if it is a leaf."""

    def __init__(self) -> None:
        self.on_gradient: Any = None  # a dictionary, once there was one
        self.before: Any = OrderedDict()
        self.after: Any = OrderedDict()
        self.after_accumulation: Any = OrderedDict()
        self.results: dict[int, Hooks] = {}  # of an operation with several results: those of each, by its number
        self.keep_for: Any = None  # a weak reference to the tensor that wants its gradient retained
        self.detached: Detached | None = None  # was the tensor that came from this node detached in place?
        self.sequence: int | None = None  # the sequence number of the node, if the user has set one
        self.metadata: dict[Any, Any] = {}
        self.inner_metadata: dict[Any, dict[Any, Any]] = {}  # of the nodes that are part of this one
        self.tangents: dict[int, dict[int, Any]] = {}  # forward mode: of saved values, by their place and by level
        self.packed: dict[int, Any] = {}  # saved values that a pack hook has replaced, by their place among the saved

    # -- called by the engine -----------------------------------------------------------------------------------------

    def arrived(self, place: Node | TensorBase, g: Any, create_graph: bool) -> Any:
        """The gradient of the tensor is complete. Hooks run in the order of registration and may replace it."""
        if self.results:
            assert isinstance(place, Node)
            return self.results_arrived(place, g, create_graph)
        if self.on_gradient and g.__class__ is not list:
            tensor = None if g is None else wrap_raw(g)
            for hook in list(self.on_gradient.values()):
                returned = quietly(create_graph, hook, tensor)
                if returned is not None:
                    tensor = checked(returned, tensor, hook)
            g = tensor.array if tensor is not None and not (create_graph or isinstance(g, TensorBase)) else tensor
        if g is not None and self.keep_for is not None and (tensor := self.keep_for()) is not None:
            with retaining:
                if tensor._grad is None:
                    tensor._grad = g.clone() if create_graph else wrap(g.copy())
                else:
                    tensor._grad = tensor._grad + wrap_raw(g)
        return g

    def results_arrived(self, node: Node, g: Any, create_graph: bool) -> Any:
        """The same for several results, each of which has hooks of its own, in the order of registration."""
        gradients = [None] * len(node.shape) if g is None else list(g)
        for index, hooks in list(self.results.items()):
            gradients[index] = hooks.arrived(node, gradients[index], create_graph)
        return None if all([one is None for one in gradients]) else gradients

    def about_to_run(self, place: Node | TensorBase, g: Any, create_graph: bool) -> Any:
        """The pre-hooks of a node: they are given, and may replace, the gradients of all its results."""
        for hook in list(self.before.values()):
            before = as_list(place, g)
            given = tuple([None if one is None else wrap_raw(one) for one in before])
            returned = quietly(create_graph, hook, given)
            if returned is not None:
                raw = not create_graph and not any([isinstance(one, TensorBase) for one in before])
                kept = [plain(one, raw) for one in all_checked(returned, given, hook)]
                g = None if all([one is None for one in kept]) else for_all_results(place, kept)
        return g

    def ran(self, node: Node, results: Any, g: Any, saved: Any, late: bool = False) -> Any:
        """The hooks of a node: they are given what its rule made of the gradients and the saved values, and may replace
        that. Those that were registered while the rule ran are too `late` to see the gradients that it was given."""
        if not self.after:
            return results
        raw = not any([isinstance(one, TensorBase) for one in (*results, *as_list(node, g))])
        if isinstance(node, CallNode):  # all that backward has returned, wanted or not, for arguments that are tensors
            sources = [i for i, is_tensor in enumerate(node.context._record.is_tensor) if is_tensor]
            wrapped = [None if r is None else wrap_raw(r) for r in results]
        else:
            sources = [source for source, _ in sources_of(node)]
            wrapped = [None if r is None else wrap_raw(r) for r in fitting_results(node, results)]
        outer = tuple([None if one is None else wrap_raw(one) for one in as_list(node, g)])
        for hook in list(self.after.values()):
            given = tuple([between(node, source, wrapped, outer[0], saved) for source in sources])
            returned = quietly(not raw, hook, given, () if late else outer)
            if returned is not None:
                for source, one in zip(sources, all_checked(returned, given, hook), strict=True):
                    replace_between(node, source, wrapped, one)
        # views, because hooks may have kept the tensors: the engine must not take their memory for its own
        return [one.array.view() if raw and one is not None else one for one in wrapped]

    def accumulated(self, leaf: Any, g: Any, create_graph: bool) -> None:
        """`.grad` of a leaf has been updated."""
        for hook in list(self.after_accumulation.values()) if g is not None else ():
            returned = quietly(create_graph, hook, leaf)
            if returned is not None and returned is not leaf:  # p.add_(p.grad, alpha=-lr) is p
                is_tensor = isinstance(returned, TensorBase)
                raise errors.hook_returned_something(hook) if is_tensor else errors.hook_returned(hook, returned)
        for hook in list(self.after.values()):
            quietly(create_graph, hook, (), (None if g is None else wrap_raw(g),))

    def unpacked(self, node: Node, saved: Any, only: int | None = None) -> Any:
        """The values that a node saved, or `only` one of them, unpacked by the unpack hooks."""
        if not self.packed:
            return saved
        values = list(saved)
        for index, kept in self.packed.items():
            if only is None or index == only:
                values[index] = kept.unpack().array
        if isinstance(node.saved, Freed):
            self.packed = {}  # the graph is freed: they are not needed again
        return tuple(values)


def fitting_results(node: Node, results: Sequence[Any]) -> list[Any]:
    """The gradients that the rule of a node has returned, unbroadcast to its inputs, as hooks see them. (Without hooks
    the walk unbroadcasts them.) None for inputs that need no gradient."""
    fitting: list[Any] = []
    for r, place in zip(results, node.inputs, strict=False):
        if r is None or place is None:
            fitting.append(None)
            continue
        form = place if isinstance(place, Node) else place.array
        same = r.dtype is form.dtype and r.shape == form.shape
        fitting.append(r if same else unbroadcast(r, form.shape, form.dtype))
    return fitting


def is_several(place: Any) -> bool:
    """Has the operation several results? Then there is a shape for each."""
    return isinstance(place, Node) and bool(place.shape) and isinstance(place.shape[0], tuple)


def shown_results(place: Any) -> int:
    """How many results of a node can have gradients: the indices that come after the values cannot, and PyTorch's nodes
    have no place for them. Those of a Function have one for each result."""
    if not is_several(place):
        return 1
    if isinstance(place, CallNode):
        return len(place.shape)
    return sum([kind.kind in "fcV" for kind in place.dtype])


def as_list(place: Any, g: Any) -> list[Any]:
    """The gradients that a node shows: of all its results, or of those that can have one."""
    if g.__class__ is list:
        return g[: shown_results(place)]
    return [None] * shown_results(place) if g is None else [g]


def for_all_results(place: Any, shown: Sequence[Any]) -> Any:
    """What the rule of a node is given for the gradients that it shows."""
    return [*shown, *[None] * (len(place.shape) - len(shown))] if is_several(place) else shown[0]


def quietly(create_graph: bool, hook: Callable[..., Any], *args: Any) -> Any:
    """Call a hook: what it computes is recorded exactly if the backward pass is. What it switches, grad mode or hooks
    for saved tensors, is as before when it has ended."""
    before = bool(state.recording)
    modes = list(state.modes)
    state.record(create_graph)
    try:
        return hook(*args)
    finally:
        if state.modes != modes:
            restore(modes)
        state.record(before)


def wrap_raw(g: Any) -> Any:
    return g if isinstance(g, TensorBase) else wrap(g)


def plain(t: Any, raw: bool) -> Any:
    return t.array if raw and isinstance(t, TensorBase) else t


def checked(changed: Any, before: Any, hook: Any) -> Any:
    """What a hook returns takes the gradient's place, so it must have its shape and dtype."""
    if not isinstance(changed, TensorBase):
        raise errors.hook_returned(hook, changed)
    if before is None:
        raise RuntimeError(f"can't replace a None gradient with a non-None value\n  at {errors.here()}")
    if changed.array.dtype != before.array.dtype or changed.array.shape != before.array.shape:
        raise errors.hook_changed(hook, before.array, changed.array)
    return changed


def all_checked(returned: Any, given: tuple[Any, ...], hook: Any) -> list[Any]:
    """The same for a hook that is given several gradients at once."""
    if not isinstance(returned, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(returned).__name__}'\n  at {errors.here()}")
    if len(returned) != len(given):
        name = getattr(hook, "__name__", type(hook).__name__)
        raise RuntimeError(
            f"hook '{name}' has returned an incorrect number of values (got {len(returned)}, but expected "
            f"{len(given)})\n  at {errors.here()}"
        )
    values: list[Any] = []
    for new, old in zip(returned, given, strict=True):
        values.append(None if new is None else checked(new, old, hook))
    return values


# -- registering ------------------------------------------------------------------------------------------------------


def hooks_of(tensor: Any) -> Hooks:
    """What is attached to a tensor, made when it is first needed."""
    node = tensor.node
    if node is not None:
        return of_node(node)
    if tensor.rare is None:
        tensor.rare = RareFields()
    if tensor.rare.hooks is None:
        tensor.rare.hooks = Hooks()
        switches.leaf_hooks = True
    return tensor.rare.hooks  # type: ignore[no-any-return]


def on_gradient_of(tensor: Any) -> OrderedDict[int, Any]:
    """The dictionary of the hooks that `register_hook` adds."""
    hooks = hooks_of(tensor)
    if hooks.on_gradient is None:
        hooks.on_gradient = OrderedDict()
    return hooks.on_gradient  # type: ignore[no-any-return]


def of_node(node: Node) -> Hooks:
    if isinstance(node, Output):
        return of_node(node.parent).results.setdefault(node.index, Hooks())
    if node.hooks is None:
        node.hooks = Hooks()
    return node.hooks  # type: ignore[no-any-return]


def warn_if_has_hooks(tensor: Any) -> None:
    """warn_if_has_hooks(tensor): warn of each hook that will be missing when the tensor is saved."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            errors.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning"
            )


def give_history(tensor: Any, node: Node, reshaped: bool = False) -> None:
    """Make `node` the one that a tensor comes from. Hooks belong to the value that it had when they were registered;
    a gradient that is retained is that of the newest value, in the shape that it had before it was `reshaped`."""
    retained = not reshaped and tensor.rare is not None and tensor.rare.retains_grad
    if retained and tensor.node is not None:
        retaining_hooks(tensor).keep_for = None
    tensor.node = node
    tensor.needs_grad = True
    if retained:
        hooks_of(tensor).keep_for = weakref.ref(tensor)


def retaining_hooks(tensor: Any) -> Hooks:
    """The hooks in the care of which the gradient of a tensor is retained: those of its node or, after it was reshaped
    in place, of one before it."""
    node = tensor.node
    while True:
        hooks = of_node(node)
        if hooks.keep_for is not None and hooks.keep_for() is tensor:
            return hooks
        if isinstance(node, Output) or len(node.inputs) != 1 or not isinstance(node.inputs[0], Node):
            return of_node(tensor.node)
        node = node.inputs[0]


links.give_history = give_history
