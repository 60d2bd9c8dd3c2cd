"""torch.utils._pytree: nested containers, taken apart into their leaves and put together again."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from leafgrad import _missing, errors
from leafgrad.func import trees
from leafgrad.func.trees import Spec as TreeSpec

__all__ = [
    "Context", "KeyPath", "LeafSpec", "PyTree", "TreeSpec", "key_get", "keystr", "register_pytree_node", "tree_all",
    "tree_any", "tree_flatten", "tree_flatten_with_path", "tree_is_leaf", "tree_iter", "tree_leaves",
    "tree_leaves_with_path", "tree_map", "tree_map_", "tree_map_only", "tree_map_with_path", "tree_structure",
    "tree_unflatten",
]  # fmt: skip

PyTree = Any
Context = Any
IsLeaf = Callable[[Any], bool] | None


def flattened(tree: Any, is_leaf: IsLeaf) -> tuple[list[Any], TreeSpec]:
    """Leaves and structure, where `is_leaf` may say of a container that it is one."""
    if is_leaf is None:
        return trees.flatten(tree)
    found = None if is_leaf(tree) else trees.children_of(tree)
    if found is None:
        return [tree], trees.LEAF
    parts = [flattened(part, is_leaf) for part in found[2]]
    return [leaf for leaves, _ in parts for leaf in leaves], TreeSpec(found[0], found[1], [spec for _, spec in parts])


def tree_flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """tree_flatten(tree, is_leaf=None): the leaves from left to right, and the structure."""
    return flattened(tree, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """tree_unflatten(leaves, treespec): a structure with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "tree_unflatten(leaves, treespec): Expected `treespec` to be instance of "
            f"TreeSpec but got item of type {type(treespec)}."
        )
    leaves = list(leaves)
    if len(leaves) != treespec.count:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
            f"holds {treespec.count} items ({treespec})."
        )
    return trees.unflatten(leaves, treespec)


def tree_leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """tree_leaves(tree, is_leaf=None): the leaves from left to right."""
    return flattened(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: IsLeaf = None) -> TreeSpec:
    """tree_structure(tree, is_leaf=None): the structure without the leaves."""
    return flattened(tree, is_leaf)[1]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """tree_map(func, tree, *rests, is_leaf=None): the same structure with `func` of the leaves, those of `rests` as
    further arguments."""
    leaves, spec = flattened(tree, is_leaf)
    others = []
    for rest in rests:
        found, other = flattened(rest, is_leaf)
        if other != spec:
            raise ValueError(f"Node type mismatch; expected {spec}, but got {other}.")
        others.append(found)
    return trees.unflatten([func(*each) for each in zip(leaves, *others)], spec)


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """tree_map_(func, tree, *rests): calls `func` of the leaves for what it does to them, and returns the tree."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(kinds: Any, func: Callable[[Any], Any], tree: Any, is_leaf: IsLeaf = None) -> Any:
    """tree_map_only(kinds, func, tree): `func` of the leaves of some classes, or for which a predicate holds."""
    is_wanted = kinds if callable(kinds) and not isinstance(kinds, type) else lambda leaf: isinstance(leaf, kinds)
    return tree_map(lambda leaf: func(leaf) if is_wanted(leaf) else leaf, tree, is_leaf=is_leaf)


def tree_all(predicate: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """tree_all(predicate, tree): does it hold for all leaves?"""
    return all([predicate(leaf) for leaf in tree_leaves(tree, is_leaf)])


def tree_any(predicate: Callable[[Any], bool], tree: Any, is_leaf: IsLeaf = None) -> bool:
    """tree_any(predicate, tree): does it hold for one of the leaves?"""
    return any([predicate(leaf) for leaf in tree_leaves(tree, is_leaf)])


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Any, Any]],
    unflatten_fn: Callable[[Any, Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[Any, Any]] | None = None,
) -> None:
    """register_pytree_node(cls, flatten_fn, unflatten_fn, *, flatten_with_keys_fn=None): a class of containers, by the
    functions that take one apart into a list and a context, and put these together again. `vmap` and the like look
    into it from then on. (The other arguments are for structures that are written to files, which is not done here.)"""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    trees.registered[cls] = flatten_fn, unflatten_fn
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


def _register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Any, Any]],
    unflatten_fn: Callable[[Any, Any], Any],
    to_str_fn: Any = None,
    maybe_from_str_fn: Any = None,
    **kwargs: Any,
) -> None:
    """The former name of register_pytree_node."""
    errors.warn(
        "`torch.utils._pytree._register_pytree_node` is deprecated. "
        "Please use `torch.utils._pytree.register_pytree_node` instead.",
        FutureWarning,
    )
    register_pytree_node(cls, flatten_fn, unflatten_fn, **kwargs)


# -- leaves and the ways to them --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SequenceKey:
    """A step of a way to a leaf: by a number."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """get(sequence): the part that it leads to."""
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """A step of a way to a leaf: by the key of a dictionary."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """get(mapping): the part that it leads to."""
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """A step of a way to a leaf: by an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """get(obj): the part that it leads to."""
        return getattr(obj, self.name)


KeyEntry = SequenceKey | MappingKey | GetAttrKey
KeyPath = tuple[Any, ...]


def keyed_children(tree: Any) -> list[tuple[Any, Any]] | None:
    """The steps to the parts of a container, with the parts; None for a leaf."""
    found = trees.children_of(tree)
    if found is None:
        return None
    kind, _, parts = found
    definition = SUPPORTED_NODES.get(kind)
    if definition is not None and definition.flatten_with_keys_fn is not None:
        return list(definition.flatten_with_keys_fn(tree)[0])
    if kind in trees.registered:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn argument to "
            "register_pytree_node."
        )
    return keyed_parts(tree, parts)


def keyed_parts(tree: Any, parts: list[Any]) -> list[tuple[Any, Any]]:
    """The parts of one of Python's own containers, after the steps to them."""
    if trees.is_namedtuple(tree):
        return [(GetAttrKey(name), part) for name, part in zip(tree._fields, parts)]
    if isinstance(tree, dict):
        return [(MappingKey(key), part) for key, part in zip(tree, parts)]
    return [(SequenceKey(number), part) for number, part in enumerate(parts)]


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """tree_leaves_with_path(tree, is_leaf=None): the leaves from left to right, each after the way to it."""
    found = None if is_leaf is not None and is_leaf(tree) else keyed_children(tree)
    if found is None:
        return [((), tree)]
    return [((key, *path), leaf) for key, part in found for path, leaf in tree_leaves_with_path(part, is_leaf)]


def tree_flatten_with_path(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """tree_flatten_with_path(tree, is_leaf=None): the leaves after the ways to them, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf = None) -> Any:
    """tree_map_with_path(func, tree, *rests, is_leaf=None): like tree_map, with the way to the leaf as the first
    argument of `func`."""
    paths = iter([path for path, _ in tree_leaves_with_path(tree, is_leaf)])
    return tree_map(lambda *leaves: func(next(paths), *leaves), tree, *rests, is_leaf=is_leaf)


def keystr(kp: KeyPath) -> str:
    """keystr(kp): a way as it is written in Python, ['a'][0]."""
    return "".join([str(key) for key in kp])


def key_get(obj: Any, kp: KeyPath) -> Any:
    """key_get(obj, kp): what lies at the end of a way."""
    for key in kp:
        obj = key.get(obj)
    return obj


def tree_iter(tree: Any, is_leaf: IsLeaf = None) -> Iterator[Any]:
    """tree_iter(tree, is_leaf=None): the leaves, one by one."""
    yield from tree_leaves(tree, is_leaf)


def tree_is_leaf(tree: Any, is_leaf: IsLeaf = None) -> bool:
    """tree_is_leaf(tree, is_leaf=None): is it no container, or one of which `is_leaf` says that it is a leaf?"""
    return (is_leaf is not None and is_leaf(tree)) or trees.children_of(tree) is None


def _get_node_type(tree: Any) -> Any:
    """The key in SUPPORTED_NODES of a container: its class, or `namedtuple`."""
    return namedtuple if type(tree) not in SUPPORTED_NODES and trees.is_namedtuple(tree) else type(tree)


class NodeDef(NamedTuple):
    """How containers of a class are taken apart and put together."""

    type: Any
    flatten_fn: Callable[[Any], tuple[Any, Any]]
    unflatten_fn: Callable[[Any, Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[Any, Any]] | None = None


def built_in(kind: Any) -> NodeDef:
    def taken_apart(value: Any) -> tuple[Any, Any]:
        found = trees.children_of(value)
        assert found is not None
        return found[2], found[1]

    def put_together(parts: Any, context: Any) -> Any:
        parts = list(parts)
        return trees.unflatten(parts, TreeSpec(kind, context, [trees.LEAF] * len(parts)))

    def with_keys(value: Any) -> tuple[Any, Any]:
        found = trees.children_of(value)
        assert found is not None
        return keyed_parts(value, found[2]), found[1]

    return NodeDef(kind, taken_apart, put_together, with_keys)


BUILTIN_TYPES = frozenset({tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque})
SUPPORTED_NODES: dict[Any, NodeDef] = {
    kind: built_in(kind) for kind in (tuple, list, dict, namedtuple, OrderedDict, defaultdict, deque)
}
_dict_flatten, _dict_unflatten, _dict_flatten_with_keys = SUPPORTED_NODES[dict][1:]
_list_flatten, _list_unflatten, _list_flatten_with_keys = SUPPORTED_NODES[list][1:]


class LeafType(type):
    """isinstance(spec, LeafSpec): is it that of a leaf?"""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, TreeSpec) and value.kind is None

    def __call__(cls) -> TreeSpec:
        return trees.LEAF


class LeafSpec(metaclass=LeafType):
    """LeafSpec(): the structure of a leaf."""


__getattr__ = _missing.attributes_of(__name__)
