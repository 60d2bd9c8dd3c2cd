"""The recorder: makes the graph.

A recorded operation gets a node (`make_node`). The result of one that is not recorded, although an input requires grad,
keeps the reason (`unrecorded`), which the error message of a later backward() needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from leafgrad._core import origin, thread_state
from leafgrad._core.events import concern, graph_break
from leafgrad._core.modes import recorded_in_modes, switches
from leafgrad._core.node import UNCHANGING, Node, Version, output_of, take_order
from leafgrad._core.op import NOTHING, OPTION, OUT, SHAPE, Op
from leafgrad._core.tensor import Array, RareFields, TensorBase, is_silent, links, ndarray, wrap

state: Final[Any] = thread_state.state
_f32: Final[Any] = np.dtype(np.float32)
_f64: Final[Any] = np.dtype(np.float64)


def needs_recording(tensors: tuple[Any, ...]) -> bool:
    """Is recording on, and does one of the tensors need a gradient?"""
    t: TensorBase | None
    needed = False
    for t in tensors:
        if t is not None:
            if t.rare is not None:
                settle(t)
            if t.needs_grad:
                needed = True
    if needed and switches.inference_used and only_inference(tensors):
        return False
    return bool(state.recording) and needed


def only_inference(tensors: tuple[Any, ...]) -> bool:
    """Were all of the tensors made in inference_mode? Then nothing is recorded, even of those that require grad."""
    return all([t is None or (t.rare is not None and t.rare.inference) for t in tensors])


def record(op: Op, tensors: tuple[Any, ...], arrays: Sequence[Array], options: tuple[Any, ...], out: Array) -> Any:
    """Record `out = op(*arrays, *options)`: `out` as a tensor whose `grad_fn` is a new node."""
    kind = out.dtype
    if kind is not _f32 and kind is not _f64 and kind.kind in "biu":
        return unrecorded(op, tensors, out)
    version: Version = [0, None]
    result: TensorBase = links.new(links.tensor_class)
    result.array = out
    result.node = make_node(op, tensors, arrays, options, (out,), (version,), out.shape, kind, 4)
    result.needs_grad = True
    result.version = version
    result._grad = None
    result.rare = None
    return result


def without_silent(edges: Sequence[Any]) -> list[Any]:
    """Edges without those to silent views (see `is_silent`): they get no gradient, so nothing is saved for them."""
    return [None if isinstance(edge, TensorBase) and is_silent(edge) else edge for edge in edges]


def record_many(
    op: Op, tensors: tuple[Any, ...], arrays: Sequence[Array], options: tuple[Any, ...], outs: Sequence[Array]
) -> list[Any]:
    """The same for several results. Integer results (indices) carry no gradient."""
    results: list[Any] = [wrap(out) for out in outs]
    shapes = tuple([out.shape for out in outs])
    kinds = tuple([out.dtype for out in outs])
    node = make_node(op, tensors, arrays, options, outs, [t.version for t in results], shapes, kinds, 4)
    for index, result in enumerate(results):
        if kinds[index].kind not in "biu":
            result.node = output_of(node, index, shapes[index], kinds[index])
            result.needs_grad = True
    return results


def make_node(
    op: Op,
    tensors: tuple[Any, ...],
    arrays: Sequence[Array],
    options: tuple[Any, ...],
    outs: Sequence[Array],
    out_versions: Sequence[Version],
    shape: Any,
    kind: Any,
    known_callers: int = 2,
) -> Node:
    """The node of an operation: the edges to where its inputs came from, and the values that its rule will need. At
    least so many callers are leafgrad's own, this function included."""
    frame = origin.user_frame(None, known_callers)
    t: TensorBase | None
    edges: list[Any] = []
    mask = silent = 0
    bit = 1
    for t in tensors:
        if t is not None and t.needs_grad:
            mask |= bit
            node = t.node
            edges.append(t if node is None else node)
            if node is None and t.rare is not None and is_silent(t):
                silent |= bit
        else:
            edges.append(None)
        bit <<= 1
    if silent and silent != mask:
        mask, edges = mask & ~silent, without_silent(edges)
    if kind is not _f32 and kind is not _f64 and op.conjugated is not None and is_complex(kind):
        op = op.conjugated
    plan = op.plans.get(mask)
    if plan is None:
        plan = op.plan(mask)
    saved: list[Any] = []
    versions: list[Any] = []
    freed = False  # does it save anything that a backward pass frees?
    for place in plan:
        if place >= OPTION:
            if place >= SHAPE:
                saved.append(arrays[place - SHAPE].shape)
                continue
            value = options[place - OPTION]
            saved.append(value)
            if type(value) is ndarray:  # an index, which is a copy and cannot change
                freed = True
        elif place >= 0:
            freed = True
            saved.append(arrays[place])
            t = tensors[place]
            if t is not None:  # a Python number cannot change
                if t.rare is not None and t.rare.inference:
                    raise inference_tensor_saved(t)
                version = t.version
                versions.append(version)
                versions.append(version[0])
        elif place == NOTHING:
            saved.append(None)
        else:
            freed = True
            version = out_versions[OUT - place]
            saved.append(outs[OUT - place])
            versions.append(version)
            versions.append(version[0])
    made = Node()  # `fill` written out: in plain Python a call with so many arguments is a tenth of all this
    made.op = op
    made.inputs = tuple(edges)
    made.saved = tuple(saved)
    made.versions = (tuple(versions) or UNCHANGING) if freed else None
    made.order = take_order()
    made.shape = shape
    made.dtype = kind
    made.code = frame.f_code
    made.lasti = frame.f_lasti
    made.hooks = None
    if state.recording is not True:
        recorded_in_modes(made, tensors, out_versions)
    return made


def inference_tensor_saved(t: Any) -> Exception:
    from leafgrad import errors

    error: Exception = errors.inference_saved(t)
    return error


def is_complex(kind: Any) -> bool:
    """Is this the dtype (or, for several results, are these the dtypes) of complex numbers?"""
    if isinstance(kind, tuple):
        return any([k.kind == "c" for k in kind])
    return bool(kind.kind == "c")


def edge(t: Any) -> Any:
    """The edge to `t`: the node that computed it, or `t` itself if it is a leaf. A node is its own edge."""
    if isinstance(t, Node):
        return t
    if t.rare is not None:
        settle(t)
    node = t.node
    if node is None:
        return t
    return node


def settle(t: TensorBase) -> None:
    """Bring the history of a view up to date: if its memory was changed through another tensor since, the view is
    recorded again from the present history of its base."""
    assert t.rare is not None
    view = t.rare.view
    if view is None:
        return
    if view.silent and not view.base.needs_grad:  # it required grad because the base did, which was detached since
        t.needs_grad = view.silent = False
    if view.node_version == t.version[0] and t.needs_grad:
        return
    # the result of a Function may be a view of a copy that the Function made
    if view.base.needs_grad or t.node is not None or view.restriction == "custom":
        links.replay_view(t, view)


def unrecorded(op: Op, tensors: tuple[Any, ...], out: Array) -> Any:
    """A result without a node. If an input requires grad, it keeps the event that ended its graph."""
    result: TensorBase = wrap(out)
    t: TensorBase | None
    event: Any = None
    for t in tensors:
        if t is not None and t.needs_grad:
            if event is None:
                mode = "inference_mode" if state.inference else "no_grad"
                event = graph_break(op.name if state.recording else mode, t)
            else:
                concern(event, t, t.node)
    if event is not None:
        if result.rare is None:
            result.rare = RareFields()
        result.rare.graph_break = event
        return result
    for t in tensors:
        if t is not None and t.rare is not None and t.rare.graph_break is not None:
            if result.rare is None:
                result.rare = RareFields()
            result.rare.graph_break = t.rare.graph_break
            return result
    return result
