"""How nodes look to users: `tensor.grad_fn`, with PyTorch's names and attributes.

The recorder makes plain nodes. The first look at one gives it a class of its own, named MulBackward0 or the like.
"""

from __future__ import annotations

import functools
import gc
import weakref
from typing import Any

from leafgrad import errors
from leafgrad._core.modes import switches
from leafgrad._core.node import Freed, Node, Output, plan_of
from leafgrad._core.op import NOTHING, OPTION, SHAPE
from leafgrad._core.origin import line_of
from leafgrad._core.saved import changed, is_number, saved_tensors, unusable
from leafgrad._core.sequence import sequence_number
from leafgrad._core.tensor import TensorBase, is_silent, wrap
from leafgrad.autograd.composition import (
    Part,
    between,
    check_hook,
    first_seen,
    fused,
    inputs_behind,
    is_transposed,
    sources_of,
    visible_name,
)
from leafgrad.autograd.grown_nodes import grown, is_grown, transposed
from leafgrad.autograd.hooks import (
    RemovableHandle,
    for_all_results,
    hooks_of,
    is_several,
    of_node,
    registered,
    shown_results,
)


def shown(node: Node) -> Node:
    """A node under the class name that PyTorch users know."""
    if type(node) is Node:
        op = node.op
        if is_grown(node):
            node.__class__ = _grown_class()
            return node
        name = visible_name(node)
        if name != op.node_name:
            if name not in _other_classes:
                _other_classes[name] = type(name, (Node,), members())
            node.__class__ = _other_classes[name]
            return node
        if op.node_class is None:
            op.node_class = type(name, (Node,), members())
        node.__class__ = op.node_class
    return node


_other_classes: dict[str, Any] = {}  # of nodes whose name is not that of their operation


@functools.cache
def _grown_class() -> Any:
    """The class of nodes that were put between others: see grown_nodes.py."""
    changed = {
        "__call__": lambda node, g: transposed(g),
        "_input_metadata": property(lambda node: (InputMetadata(node.shape[::-1], node.dtype),)),
    }
    return type("TBackward0", (Node,), {**members(), **changed})


def members() -> dict[str, Any]:
    """What a node has when it is shown to users."""
    return {
        "__slots__": (),
        "__module__": "builtins",  # <class 'MulBackward0'>
        "__repr__": lambda node: f"<{type(node).__name__} object at {id(node):#x}>",
        "__call__": _call,
        "__getattr__": _saved_attribute,
        "__dir__": _dir,
        "name": _name,
        "next_functions": property(_next_functions),
        "origin": property(lambda node: line_of(node.code, node.lasti)),
        "metadata": property(lambda node: of_node(node).metadata),
        "requires_grad": property(lambda node: True),
        "register_hook": _register_hook,
        "register_prehook": lambda node, hook: registered(of_node(node).before, hook),
        "_sequence_nr": sequence_number,
        "_set_sequence_nr": _set_sequence_nr,
        "_input_metadata": property(_input_metadata),
    }


def _name(node: Node) -> str:
    name = type(node).__name__
    is_rule = "Backward" in name and name.removesuffix("_copy")[-1] in "0123456789"
    return name if is_rule else f"torch::autograd::{name}"


def _next_functions(node: Node) -> tuple[Any, ...]:
    return tuple([edge_from(node, *source) for source in sources_of(node)])


def edge_from(node: Node, source: Any, number: int) -> tuple[Any, int]:
    """One of the edges that a node shows: to where an input came from, or to a node that PyTorch has in between."""
    if not isinstance(source, Part):
        place = node.inputs[source]
        return public_edge(place.inputs[0] if is_grown(place) else place)
    behind = [node.inputs[i] for i in inputs_behind(source)]
    if all([place is None for place in behind]):
        return (None, 0)
    if is_transposed(source) and is_grown(behind[0]):
        return (shown(behind[0]), 0)
    return (inner_node(node, source), number)


def _call(node: Node, *gradients: Any) -> Any:
    """Run the rule of one node by hand, on tensors, and without its hooks."""
    expected = shown_results(node)
    if len(gradients) != expected:
        raise TypeError(f"expected {expected} arguments, got {len(gradients)} instead\n  at {errors.here()}")
    for i, one in enumerate(gradients):
        if one is not None and not isinstance(one, TensorBase):
            raise TypeError(f"argument {i} is not a Variable\n  at {errors.here()}")
    check_usable(node)
    check_hook(node)
    saved: Any = node.saved
    missing = all([one is None for one in gradients])
    g: Any = None if missing else for_all_results(node, gradients)
    if node.hooks is not None:
        saved = node.hooks.unpacked(node, saved)
    results: Any = [None] * len(node.inputs)
    if g is not None:
        results = node.op.backward(g, saved_tensors(node, saved), node.inputs)
    wanted = [r if node.inputs[i] is not None else None for i, r in enumerate(results)]
    kept = [between(node, source, wanted, g, saved) for source, _ in sources_of(node)]
    return kept[0] if len(kept) == 1 else tuple(kept)


def _register_hook(node: Node, hook: Any) -> RemovableHandle:
    check_hook(node)
    return registered(of_node(node).after, hook)


def _set_sequence_nr(node: Node, number: int) -> None:
    of_node(node).sequence = number
    switches.reordered = True


class InputMetadata:
    """Shape and dtype of the gradient that a node is given for one result."""

    def __init__(self, shape: Any, kind: Any) -> None:
        from leafgrad._device import device
        from leafgrad._dtypes import from_numpy_dtype

        self.shape = list(shape)
        self.dtype = from_numpy_dtype(kind)
        self.device = device("cpu")
        self.is_nested_tensor = self.is_cpp_nested_tensor = False


def _input_metadata(node: Any) -> tuple[InputMetadata, ...]:
    forms = zip(node.shape, node.dtype, strict=True) if is_several(node) else [(node.shape, node.dtype)]
    return tuple([InputMetadata(shape, kind) for shape, kind in forms][: shown_results(node)])


# -- saved values -----------------------------------------------------------------------------------------------------


def saved_names(node: Node) -> list[str]:
    """What PyTorch calls the values that a node saves, in their order; "" for what it does not show. Tensors that were
    not needed this time are shown as None."""
    names = []
    everything = node.op.plan((1 << len(node.inputs)) - 1)
    for name, place, full in zip(node.op.gradient_rules().saved_names, plan_of(node), everything, strict=False):
        is_tensor = full != NOTHING and full < OPTION
        names.append("" if place == NOTHING and not is_tensor else name)
    return names


def _saved_attribute(node: Any, name: str) -> Any:
    for prefix in ("_saved_", "_raw_saved_"):
        if name.startswith(prefix) and name[len(prefix) :] in (names := saved_names(node)):
            index = names.index(name[len(prefix) :])
            if prefix == "_saved_" and plan_of(node)[index] == NOTHING:
                return None
            return saved_value(node, index) if prefix == "_saved_" else SavedTensor._of(node, index)
    if name.startswith("_saved_") and (value := shown_value(node, name[7:])) is not NotImplemented:
        return value
    raise AttributeError(f"'{type(node).__name__}' object has no attribute '{name}'")


def _dir(node: Any) -> list[str]:
    names = [n for n in saved_names(node) if n]
    places = dict(zip(saved_names(node), plan_of(node), strict=False))
    raw = [f"_raw_saved_{n}" for n in names if places[n] < OPTION]
    shown = node.op.gradient_rules().shown
    besides = [n for n in shown if isinstance(node.saved, Freed) or shown_value(node, n) is not NotImplemented]
    return sorted({*object.__dir__(node), *[f"_saved_{n}" for n in [*names, *besides]], *raw})


def shown_value(node: Any, name: str) -> Any:
    """What a node shows besides what its rule asks for, or NotImplemented."""
    value = node.op.gradient_rules().shown.get(name, NotImplemented)
    if not callable(value):
        return value
    check_usable(node)
    return value(node)


def check_usable(node: Node) -> None:
    """Raise if the saved values of a node are gone, or are no longer what they were."""
    if node.versions is not None and (isinstance(node.saved, Freed) or changed(node.versions)):
        raise unusable(node, (node,))


def saved_value(node: Any, index: int) -> Any:
    """One of the values that a node saved, as the tensor it was."""
    check_usable(node)
    saved = node.saved
    if node.hooks is not None:
        saved = node.hooks.unpacked(node, saved, index)
    place = plan_of(node)[index]
    value = saved_tensors(node, saved)[index]
    if place >= OPTION:
        if value.__class__ is str and node.op.gradient_rules().saved_names[index] == "reduction":
            return ("none", "mean", "sum").index(value)  # PyTorch has numbers for them
        return wrap(value) if place < SHAPE and hasattr(value, "dtype") else value
    if node.hooks is None or index not in node.hooks.packed:
        version = version_of(node, index)
        if place >= 0 and (same := tensor_with(saved[index], node.inputs[place], version)) is not None:
            return same
        if version is not None and (place < 0 or value is not node.inputs[place]):
            value.version = version
    return value


def version_of(node: Any, index: int) -> Any:
    """The version counter of one saved tensor. None for Python numbers, which have none."""
    counters = iter(node.versions[::2])
    for position, place in enumerate(plan_of(node)):
        if place < OPTION and place != NOTHING:
            value = node.saved[position]
            skipped = value is None or (place >= 0 and node.inputs[place] is None and is_number(value))
            counter = None if skipped else next(counters, None)
            if position == index:
                return counter
    return None


def tensor_with(array: Any, origin: Any, version: Any) -> Any:
    """The tensor that was saved, if the program still has it. Nodes hold arrays only, and so the tensor is looked for
    among those who hold the array: to ask this costs more than to save, but few ask."""
    for holder in gc.get_referrers(array):
        if isinstance(holder, TensorBase) and holder.array is array and holder.version is version:
            if (holder if holder.node is None and holder.needs_grad else holder.node) is origin:
                return holder
    return None


def check_hooks(pack_hook: Any, unpack_hook: Any, has_hooks: bool) -> None:
    """Hooks of a saved tensor are two functions, and there is one pair at the most."""
    if not callable(pack_hook) or not callable(unpack_hook):
        raise TypeError(f"register_hooks(): incompatible function arguments.\n  at {errors.here()}")
    if has_hooks:
        raise RuntimeError(
            "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks "
            f"is allowed at a time.\n  at {errors.here()}"
        )


class SavedTensor:
    """One saved tensor of a node, for those who want to keep it in a form of their own."""

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @classmethod
    def _of(cls, node: Node, index: int) -> SavedTensor:
        made = cls.__new__(cls)
        made._node, made._index = node, index
        return made

    _node: Node
    _index: int

    def register_hooks(self, pack_hook: Any = None, unpack_hook: Any = None) -> None:
        """register_hooks(pack_hook, unpack_hook): keep what `pack_hook` makes of the tensor instead of the tensor, and
        ask `unpack_hook` for it when it is needed."""
        from leafgrad.autograd.saved_tensor_hooks import pack_one

        if isinstance(self._node.saved, Freed):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
                "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
                "to backward through the graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        check_hooks(pack_hook, unpack_hook, self._packed() is not None)
        pack_one(self._node, self._index, saved_value(self._node, self._index), pack_hook, unpack_hook)

    @property
    def data(self) -> Any:
        """What is kept: the tensor; without its history, if it is a result; what a pack hook made of it."""
        packed = self._packed()
        if packed is not None:
            return packed.form
        tensor = self.unpack()
        return tensor.detach() if plan_of(self._node)[self._index] < 0 else tensor

    @property
    def unpack_hook(self) -> Any:
        """The hook that will make a tensor of it again, or None."""
        packed = self._packed()
        return None if packed is None else packed.unpack_hook

    def unpack(self) -> Any:
        """The tensor, with its history."""
        return saved_value(self._node, self._index)

    def _packed(self) -> Any:
        return None if self._node.hooks is None else self._node.hooks.packed.get(self._index)


# -- where the graph arrives at leaves --------------------------------------------------------------------------------


class AccumulateGrad(Node):
    """What `next_functions` shows where the graph arrives at a leaf. The engine itself uses the leaf."""

    __slots__ = ("__weakref__", "since", "variable")

    variable: Any
    since: int  # see `accumulates_since` of RareFields

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    @property
    def next_functions(self) -> tuple[Any, ...]:
        return ()

    @property
    def metadata(self) -> dict[Any, Any]:
        return hooks_of(self.variable).metadata

    def register_hook(self, hook: Any) -> RemovableHandle:
        """register_hook(hook): call `hook((), (gradient,))` after `.grad` of the leaf was updated."""
        return registered(hooks_of(self.variable).after, hook)

    def register_prehook(self, hook: Any) -> RemovableHandle:
        """register_prehook(hook): call `hook((gradient,))` before `.grad` of the leaf is updated."""
        return registered(hooks_of(self.variable).before, hook)

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at {id(self.variable):#x}>"


_arrivals: weakref.WeakValueDictionary[int, AccumulateGrad] = weakref.WeakValueDictionary()


def arrival_at(leaf: Any) -> AccumulateGrad:
    """The one that stands for a leaf, as long as somebody holds it (and so its leaf, whose id is the key)."""
    found = _arrivals.get(id(leaf))
    since = 1 if leaf.rare is None else leaf.rare.accumulates_since
    if found is None or found.since != since:
        found = _arrivals[id(leaf)] = AccumulateGrad()
        found.variable, found.since = leaf, since
    return found


def public_edge(place: Any) -> tuple[Any, int]:
    """An edge as PyTorch shows it: (node, number of the node's result)."""
    place = first_seen(place)
    if place is None or (isinstance(place, TensorBase) and is_silent(place)):
        return (None, 0)
    if isinstance(place, Output):
        return (shown(place.parent), place.index)
    return (shown(place) if isinstance(place, Node) else arrival_at(place), 0)


# -- nodes that PyTorch has where leafgrad has one ---------------------------------------------------------------------


class InnerNode(Node):
    """A node of PyTorch's that is part of `owner` here: to be seen, but nothing happens at it. Transpositions become
    nodes of their own when hooks are registered: see grown_nodes.py."""

    __slots__ = ("__weakref__", "owner", "part")

    owner: Node
    part: Part

    def name(self) -> str:
        return self.part.name

    @property
    def next_functions(self) -> tuple[Any, ...]:
        return tuple([edge_from(self.owner, *source) for source in self.part.sources])

    @property
    def metadata(self) -> dict[Any, Any]:
        found: dict[Any, Any] = of_node(self.owner).inner_metadata.setdefault(self.part, {})
        return found

    @property
    def origin(self) -> tuple[str, int]:
        return line_of(self.owner.code, self.owner.lasti)

    @property
    def requires_grad(self) -> bool:
        return True

    def _sequence_nr(self) -> int:
        return sequence_number(self.owner)

    def _refuse(self) -> NotImplementedError:
        return fused(self.owner, f"{self.part.name} is shown as PyTorch has it")

    def __call__(self, *gradients: Any) -> Any:
        raise self._refuse()

    def _grown(self) -> Any:
        if not is_transposed(self.part):
            raise self._refuse()
        return shown(grown(self.owner, self.part))

    def register_hook(self, hook: Any) -> RemovableHandle:
        """register_hook(hook): call `hook(grad_inputs, grad_outputs)` after the gradient has passed."""
        return self._grown().register_hook(hook)  # type: ignore[no-any-return]

    def register_prehook(self, hook: Any) -> RemovableHandle:
        """register_prehook(hook): call `hook(grad_outputs)` before the gradient passes."""
        return self._grown().register_prehook(hook)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<{self.part.name} object at {id(self):#x}>"


_inner_classes: dict[str, Any] = {}
_inner_nodes: weakref.WeakValueDictionary[tuple[int, int], InnerNode] = weakref.WeakValueDictionary()


def inner_node(owner: Node, part: Part) -> InnerNode:
    """The one that stands for a part of an expression, as long as somebody holds it (and so its owner)."""
    key = (id(owner), id(part))
    found = _inner_nodes.get(key)
    if found is None:
        if part.name not in _inner_classes:
            _inner_classes[part.name] = type(part.name, (InnerNode,), {"__slots__": ()})
        found = _inner_nodes[key] = _inner_classes[part.name]()
        found.owner, found.part = owner, part
    return found
