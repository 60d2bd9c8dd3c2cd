"""Nested containers, with the ways to their leaves."""

from __future__ import annotations

from collections import deque, namedtuple
from typing import Any

import pytest

import leafgrad as torch
from leafgrad import _missing

pytree: Any = _missing.part("utils._pytree")
Pair = namedtuple("Pair", "a b")


def test_ways_to_leaves() -> None:
    tree = {"x": [1, (2,)], "y": Pair(3, deque([4], maxlen=2))}
    found = {pytree.keystr(path): leaf for path, leaf in pytree.tree_leaves_with_path(tree)}
    assert found == {"['x'][0]": 1, "['x'][1][0]": 2, "['y'].a": 3, "['y'].b[0]": 4}
    for path, leaf in pytree.tree_flatten_with_path(tree)[0]:
        assert pytree.key_get(tree, path) == leaf
    named = pytree.tree_map_with_path(lambda path, leaf: (len(path), leaf), [1, [2]], is_leaf=None)
    assert named == [(1, 1), [(2, 2)]]
    assert repr(pytree.tree_leaves_with_path([1])) == "[((SequenceKey(idx=0),), 1)]"
    assert pytree.tree_map(lambda leaf: leaf + 1, tree)["y"].b == deque([5], maxlen=2)


def test_structures_say_what_they_are() -> None:
    leaves, spec = pytree.tree_flatten([1, {"a": 2}])
    assert (spec.type, spec.num_leaves, spec.num_nodes, spec.num_children) == (list, 2, 4, 2)
    assert isinstance(spec.child(0), pytree.LeafSpec) and not isinstance(spec, pytree.LeafSpec)
    assert spec.unflatten(leaves) == [1, {"a": 2}] and spec.child(0).is_leaf()
    assert pytree.tree_is_leaf(1) and not pytree.tree_is_leaf([1]) and list(pytree.tree_iter([1, [2]])) == [1, 2]


def test_a_class_with_keys_of_its_own() -> None:
    class Box:
        def __init__(self, inside: Any) -> None:
            self.inside = inside

    take = pytree.register_pytree_node
    take(
        Box,
        lambda box: ([box.inside], None),
        lambda parts, _: Box(*parts),
        flatten_with_keys_fn=lambda box: ([(pytree.GetAttrKey("inside"), box.inside)], None),
    )
    assert pytree.keystr(pytree.tree_leaves_with_path([Box(torch.ones(2))])[0][0]) == "[0].inside"
    assert pytree.SUPPORTED_NODES[Box].type is Box
    with pytest.raises(ValueError, match="already registered"):
        take(Box, list, list)
    definition = pytree.SUPPORTED_NODES[dict]
    assert definition.unflatten_fn(*definition.flatten_fn({"a": 1})) == {"a": 1}
