"""Saved values of nodes: were they changed in place, and how they become tensors in a backward pass on tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leafgrad._core.modes import current_modes
from leafgrad._core.node import UNCHANGING, Edge, Freed, Node, Output, output_of, plan_of
from leafgrad._core.op import NOTHING, OPTION, OUT
from leafgrad._core.tensor import RareFields, links, ndarray, state, wrap, wrap_node


def changed(versions: tuple[Any, ...]) -> bool:
    """Was one of the saved tensors changed in place after it was saved?"""
    return any([versions[i][0] != versions[i + 1] for i in range(0, len(versions), 2)])


def messages() -> Any:
    from leafgrad import errors

    return errors


def unusable(node: Node, roots: Sequence[Edge]) -> RuntimeError:
    """The error for a node whose saved values are gone, or are no longer what they were."""
    for mode in current_modes():
        mode.found_unusable(node)
    if isinstance(node.saved, Freed):
        freed: RuntimeError = messages().graph_was_freed(node, node.saved, roots)
        return freed
    assert node.versions is not None
    stale = [i for i in range(0, len(node.versions), 2) if node.versions[i][0] != node.versions[i + 1]]
    changed: RuntimeError = messages().saved_tensor_changed(node, stale[0] // 2)
    return changed


def refuse_detached(node: Node, saved: tuple[Any, ...]) -> None:
    """Raise if a saved input was detached in place since, so that the node's edge is no longer its history. What hooks
    have packed is None here: they may keep what they want."""
    for place, value in zip(plan_of(node), saved):
        if (
            0 <= place < OPTION
            and value is not None
            and was_detached(node.inputs[place], value)
            and links.saves_itself(node, place)
        ):
            raise messages().saved_tensor_detached(node)


def was_detached(source: Edge, array: Any) -> bool:
    """Was the tensor with this array (or with a conversion of it) that `source` computed detached in place?"""
    if isinstance(source, Output):
        hooks = None if source.parent.hooks is None else source.parent.hooks.results.get(source.index)
    else:
        hooks = source.hooks if isinstance(source, Node) else None
    if hooks is None or hooks.detached is None:
        return False
    detached = hooks.detached.array()
    return detached is array or (detached is not None and detached.dtype != array.dtype)


def saved_tensors(node: Node, saved: tuple[Any, ...]) -> tuple[Any, ...]:
    """The saved arrays as tensors. If rules are recorded, they have the history and share the version counter of the
    tensors that were saved, because the nodes of the rules may save them again."""
    tensors: list[Any] = []
    recording = bool(state.recording)
    plan = plan_of(node)
    versions = UNCHANGING if node.versions is None else node.versions
    next_version = 0 if versions is not UNCHANGING else len(versions)
    for i in range(len(plan)):
        place = plan[i]
        value = saved[i]
        if place >= OPTION or place == NOTHING or value is None:
            tensors.append(value)
        elif not recording:
            tensors.append(wrap(value))
        else:
            origin = node.inputs[place] if place >= 0 else None
            t = tensor_at(value, origin) if place >= 0 else output_tensor(node, OUT - place, value)
            tensors.append(t)
            if next_version < len(versions) and (place < 0 or origin is not None or not is_number(value)):
                if t is not origin:
                    t.version = versions[next_version]
                next_version += 2
    if node.hooks is not None and node.hooks.tangents:
        for index, kept in node.hooks.tangents.items():
            tensors[index] = with_tangents(tensors[index], kept)
    return tuple(tensors)


def is_number(value: Any) -> bool:
    """Was a saved value without history a Python number? Its array is read-only, and has no version counter."""
    flags = getattr(value, "flags", None)
    return flags is not None and not flags.writeable


def with_tangents(t: Any, kept: dict[int, Any]) -> Any:
    """A saved tensor with the tangents it had. A leaf that was made dual is another tensor than the leaf itself."""
    if t.node is None and t.needs_grad:
        t = alias_of_leaf(t)
    if t.rare is None:
        t.rare = RareFields()
    t.rare.tangents = kept
    return t


def alias_of_leaf(leaf: Any) -> Any:
    """Another tensor with the value of a leaf, whose gradient goes to the leaf if that is recorded. It knows nothing of
    the leaf's tangents, so it must not know that it is a view of it."""
    if not state.recording:
        alias = wrap(leaf.array)
        alias.version = leaf.version
        return alias
    before, state.forward_mode = state.forward_mode, False
    try:
        alias = leaf.view_as(leaf)
    finally:
        state.forward_mode = before
    alias.rare.view = alias.rare.tangents = None
    return alias


def tensor_at(array: Any, origin: Edge) -> Any:
    """An array as a tensor whose gradient goes to `origin`."""
    if origin is None:
        return wrap(array)
    if isinstance(origin, Node):
        return wrap_node(array, origin)
    return origin if origin.array is array else origin._with_array(array)


def output_tensor(node: Node, index: int, array: Any) -> Any:
    """A saved result as a tensor with `node` as its grad_fn. It is not the result itself, so nodes that save it can
    still be used after the result was detached in place."""
    if state.recording and type(array) is ndarray:
        array = array.view()
    if isinstance(node.shape, tuple) and node.shape and isinstance(node.shape[0], tuple):
        return wrap_node(array, output_of(node, index, array.shape, array.dtype))
    return wrap_node(array, node)
