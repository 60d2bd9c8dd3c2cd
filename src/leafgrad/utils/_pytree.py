"""torch.utils._pytree: nested containers, taken apart into their leaves and put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from leafgrad import _missing
from leafgrad.func import trees
from leafgrad.func.trees import Spec as TreeSpec

__all__ = [
    "PyTree", "TreeSpec", "register_pytree_node", "tree_all", "tree_any", "tree_flatten", "tree_leaves", "tree_map",
    "tree_map_", "tree_map_only", "tree_structure", "tree_unflatten",
]  # fmt: skip

PyTree = Any
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
) -> None:
    """register_pytree_node(cls, flatten_fn, unflatten_fn): a class of containers, by the functions that take one apart
    into a list and a context, and put these together again. `vmap` and the like look into it from then on."""
    if cls in trees.registered:
        raise ValueError(f"{cls} is already registered as pytree node.")
    trees.registered[cls] = flatten_fn, unflatten_fn


__getattr__ = _missing.attributes_of(__name__)
