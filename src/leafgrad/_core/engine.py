"""The engine: the one place where a graph is walked backward.

The chain rule, node by node. Start with the gradient of the result with respect to itself, one. Take the most
recently recorded node that has a gradient waiting; nothing recorded before it can add to that gradient any more, so
it is complete. Ask the node's rule what this means for each of its inputs, and let that wait at the nodes the inputs
came from. Gradients that meet at the same place add up. When no node is left, what arrived at the leaves is the
answer.

In an ordinary backward pass the gradients are plain NumPy arrays: nothing is wrapped and nothing recorded. With
`create_graph=True` they are tensors, the very same rules run on them, and so the backward pass itself becomes a
graph that can be differentiated again, to any order.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any, Final

import numpy as np

from leafgrad._core import origin
from leafgrad._core.node import Edge, Freed, Node, Output
from leafgrad._core.recorder import TensorBase, edge, late, state, wrap
from leafgrad._core.saved import changed, saved_tensors, unusable
from leafgrad._core.thread_state import Pass
from leafgrad._core.unbroadcast import copy_like, fit, fit_tensor
from leafgrad.kernels import add, fast

Gradient = Any  # an ndarray or NumPy scalar; a tensor under create_graph
ndarray: Final[Any] = np.ndarray
add_arrays: Final[Any] = add
plus: Final[Any] = fast(np.add, operator.add)  # for tensors as well
SMALL: Final = 256  # elements
NESTED: Final = 20  # backward passes inside each other that share a stack

# Two threads may finish a backward pass over the same leaf at the same time; NumPy lets go of the interpreter lock.
_accumulating: Final = threading.Lock()


def walk(
    roots: Sequence[Edge],
    gradients: Sequence[Gradient],
    keep_graph: bool,
    on_tensors: bool,
    wanted: dict[Any, bool] | None = None,
    captured: set[Any] | None = None,
    expected: dict[Any, int] | None = None,
) -> tuple[dict[Any, Gradient], set[Any]]:
    """Send `gradients` backward from `roots`. Returns what arrived at each leaf and at each node in `captured`, and
    the set of those whose array belongs to nobody else. `wanted` restricts the walk: see `paths_to`. `expected` says
    how many gradients each leaf will get: a leaf that has them all is given its gradient at once."""
    waiting: dict[Any, Gradient] = {}  # gradients on their way, by the place they wait at; at leaves, to the end
    ours: set[Any] = set()  # places where the waiting array was made by this walk, so that it may be added to in place
    arrived: dict[Any, Gradient] = {}
    heap: list[tuple[int, Node]] = []  # the nodes with a gradient waiting, the most recently recorded first,
    alone: Node | None = None  # or, most of the time, there is just one; then its gradient is `for_alone`
    for_alone: Gradient = None
    freed: Freed | None = None
    g: Gradient = list(gradients)  # what the current node was given; a list for several results, as at the start
    watch: Any = late.anomaly
    special = on_tensors or wanted is not None or watch is not None  # for every node; hooks make one node special
    consuming = not keep_graph and not special
    targets: Any = roots if wanted is None else [root if root in wanted else None for root in roots]
    results: Any = gradients
    while True:
        position = -1  # not zip: to make one for every node costs a twentieth of the walk
        for target in targets:
            position += 1
            if target is None:
                continue
            r = results[position]
            if r is None:
                continue
            if isinstance(target, Node):
                if on_tensors:
                    r = fit_tensor(r, target.shape, target.dtype)
                elif r.shape != target.shape or r.dtype is not target.dtype:
                    r = fit(r, target.shape, target.dtype)
                if alone is None and not heap:
                    alone = target
                    for_alone = r
                    continue
                if alone is not None:
                    # no longer alone, or a second gradient for the same node: both wait like all others
                    waiting[alone] = for_alone
                    heappush(heap, (alone.order, alone))
                    alone = None
                sofar = waiting.get(target)
                if sofar is None:
                    waiting[target] = r
                    heappush(heap, (target.order, target))
                    continue
            else:
                form = target.array
                if on_tensors:
                    r = fit_tensor(r, form.shape, form.dtype)
                elif r.shape != form.shape or r.dtype is not form.dtype:
                    r = fit(r, form.shape, form.dtype)
                sofar = waiting.get(target)
                if sofar is None:
                    waiting[target] = r
                    if not on_tensors and is_fresh(r, g):
                        ours.add(target)
                    continue
            # in place saves memory; for small arrays NumPy's checks cost more than a new one
            if target in ours and sofar.size > SMALL:
                add_arrays(sofar, r, sofar)
            else:
                waiting[target] = total = plus(sofar, r)
                if total.__class__ is ndarray:
                    ours.add(target)
                else:
                    ours.discard(target)  # a NumPy scalar, which nothing can be written to
        if expected is not None:
            for target in targets:
                if target in expected:
                    expected[target] -= 1
                    if expected[target] == 0 and target in waiting:
                        accumulate(target, waiting.pop(target), target in ours, on_tensors)
        if alone is not None:
            node = alone
            alone = None
            # is_fresh, written out, because it is asked for every node of a chain
            fresh = (
                consuming
                and for_alone.size > SMALL
                and for_alone is not g
                and for_alone.base is None
                and g.__class__ is not list
            )
            g = for_alone
        elif heap:
            node = heappop(heap)[1]
            g = waiting.pop(node)
            fresh = consuming and node in ours
        else:
            break
        hooks = node.hooks
        if special or hooks is not None:
            if wanted is not None:
                runs = wanted[node]
                if captured is not None and node in captured:
                    arrived[node] = g if runs or hooks is None else hooks.arrived(node, g, on_tensors)
                if not runs:
                    targets = ()
                    continue
            if hooks is not None:
                g = hooks.arrived(node, g, on_tensors)
        saved: Any = node.saved
        versions = node.versions
        if versions is not None:
            ok = versions[0][0] == versions[1] and saved.__class__ is not Freed
            if len(versions) > 2:  # `changed` for two tensors, written out, and for more
                ok = ok and versions[2][0] == versions[3] and (len(versions) == 4 or not changed(versions))
            if not ok:
                raise unusable(node, roots)
            if not keep_graph:
                if freed is None:
                    frame = origin.user_frame()
                    freed = Freed(frame.f_code, frame.f_lasti)
                node.saved = freed
        elif isinstance(node, Output):
            # one result of several: its gradient takes its place among the parent's
            parent = node.parent
            if parent not in waiting:
                waiting[parent] = [None] * len(parent.shape)
                heappush(heap, (parent.order, parent))
            sofar = waiting[parent][node.index]  # from another Output of the same result: see output_tensor
            waiting[parent][node.index] = g if sofar is None else sofar + g
            targets = ()
            continue
        targets = node.inputs
        op = node.op
        rule = op.backward
        if not special and hooks is None:
            consume = op.consume if fresh else None
            if consume is None:
                results = rule(g, saved, targets)
            else:
                results = consume(g, saved, targets)
                g = None  # its memory may be one of the results now
            continue
        if wanted is not None:  # rules need not compute what nobody asked for
            targets = tuple([t if t is not None and t in wanted else None for t in targets])
        if hooks is not None:
            g = hooks.about_to_run(node, g, on_tensors)
            if g is None:
                targets = ()
                continue
            saved = hooks.unpacked(node, saved)
        if on_tensors:
            saved = saved_tensors(node, saved)
        if watch is not None:
            results = watch(node, g, saved, targets)
        elif on_tensors and late.batched_rule is not None:
            results = late.batched_rule(node, g, saved, targets)
        else:
            results = rule(g, saved, targets)
        if hooks is not None:
            results = hooks.ran(node, results, g)
    arrived.update(waiting)
    return arrived, ours


def is_fresh(r: Any, g: Any) -> bool:
    """Is `r` a new array? A rule makes one, or passes on what it was given, `g`, or a view of that."""
    if r is g or r.__class__ is not ndarray or r.base is not None:
        return False
    return g.__class__ is not list or not any([r is one for one in g])  # a list: one for each of several results


# -- the two ways in --------------------------------------------------------------------------------------------------


def reach(roots: Sequence[Edge]) -> tuple[dict[int, Node], dict[Any, int]]:
    """Everything behind `roots`: the nodes by their order, and for each leaf how many edges lead to it."""
    nodes: dict[int, Node] = {}
    leaves: dict[Any, int] = {}
    stack = [root for root in roots if root is not None]
    while stack:
        place = stack.pop()
        if not isinstance(place, Node):
            leaves[place] = leaves.get(place, 0) + 1
        elif place.order not in nodes:
            nodes[place.order] = place
            stack.extend([i for i in place.inputs if i is not None])
    return nodes, leaves


def paths_to(roots: Sequence[Edge], targets: set[Any], targets_run: bool) -> dict[Any, bool]:
    """The part of the graph that leads from `roots` to `targets`: place -> must its rule run?"""
    reachable, leaves = reach(roots)
    wanted: dict[Any, bool] = {leaf: False for leaf in leaves if leaf in targets}
    for number in sorted(reachable, reverse=True):  # first recorded, first judged: inputs before results
        node = reachable[number]
        leads_on = any([i is not None and i in wanted for i in node.inputs])
        if leads_on or node in targets:
            wanted[node] = leads_on or targets_run
    return wanted


def backward(
    roots: Sequence[Any],
    gradients: Sequence[Gradient],
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Any] | None = None,
) -> None:
    """Add the gradient of `roots` to `.grad` of every leaf behind them, or of `inputs` alone."""
    starts = [edge(root) for root in roots]
    wanted = captured = None
    if inputs is not None:
        captured = {edge(t) for t in inputs}
        wanted = paths_to(starts, captured, True)
    expected = reach(starts)[1] if late.leaf_hooks and inputs is None else None
    run(starts, gradients, keep_graph, create_graph, wanted, captured, expected, deliver=True)


def backward_from(root: TensorBase, g: Any, keep_graph: bool) -> None:
    """`backward` in its most frequent form: from one root, to all leaves, nothing recorded."""
    if late.leaf_hooks or late.checkpoints or state.depth or late.batching or late.tangents is not None:
        backward((root,), (g,), keep_graph, False)
        return
    start = root.node
    before = state.grad_enabled
    state.grad_enabled = False
    state.depth = 1
    try:
        arrived, ours = walk((root if start is None else start,), (g,), keep_graph, False)
    finally:
        state.grad_enabled = before
        state.depth = 0
    give = add_to_grad if late.accumulation is None else accumulate
    for leaf, total in arrived.items():
        give(leaf, total, leaf in ours, False)


def grad(
    roots: Sequence[Any],
    gradients: Sequence[Gradient],
    inputs: Sequence[Any],
    keep_graph: bool,
    create_graph: bool,
) -> list[Gradient | None]:
    """The gradients of `roots` with respect to `inputs`; None for those that are not in the graph."""
    starts = [edge(root) for root in roots]
    places = [edge(t) for t in inputs]
    captured = set(places)
    arrived = run(starts, gradients, keep_graph, create_graph, paths_to(starts, captured, False), captured)
    return [arrived.get(place) for place in places]


def run(
    starts: Sequence[Edge],
    gradients: Sequence[Gradient],
    keep_graph: bool,
    create_graph: bool,
    wanted: dict[Any, bool] | None,
    captured: set[Any] | None,
    expected: dict[Any, int] | None = None,
    deliver: bool = False,
) -> dict[Any, Gradient]:
    """Walk with recording switched on exactly if the backward pass is to become a graph itself. Batches (vmap) and
    tangents (forward mode) are known to operations on tensors only. A rule may start a backward pass of its own; when
    such passes are nested deeply, a new thread gives them a new stack."""
    on_tensors = create_graph or late.batching > 0 or late.tangents is not None
    if on_tensors and not create_graph:
        gradients = [wrap(g) if g is not None and not isinstance(g, TensorBase) else g for g in gradients]
    before = state.grad_enabled
    state.grad_enabled = create_graph and state.on
    state.depth += 1
    state.passes.append(Pass(starts, wanted, deliver))
    try:
        task = (starts, gradients, keep_graph, on_tensors, wanted, captured, expected)
        if state.depth % NESTED:
            arrived, ours = walk(*task)
        else:
            arrived, ours = late.in_new_thread(walk, *task)
        for leaf, g in arrived.items():
            if not isinstance(leaf, Node):  # tensors that are no leaves retain theirs
                if deliver:
                    accumulate(leaf, g, leaf in ours and captured is None, on_tensors)
                elif leaf.extra is not None and leaf.extra.hooks is not None:
                    arrived[leaf] = leaf.extra.hooks.arrived(leaf, g, on_tensors)
        return arrived
    finally:
        state.passes.pop()
        state.depth -= 1
        state.grad_enabled = before


def accumulate(leaf: TensorBase, g: Gradient, owned: bool, create_graph: bool) -> None:
    """Add a gradient to `leaf.grad`; a profiler wants to know how long that takes."""
    if late.accumulation is None:
        add_to_grad(leaf, g, owned, create_graph)
    else:
        late.accumulation(add_to_grad, leaf, g, owned, create_graph)


def add_to_grad(leaf: TensorBase, g: Gradient, owned: bool, create_graph: bool) -> None:
    """Add a gradient to `leaf.grad`. The first one is moved there, not copied, if nobody else holds it."""
    extra = leaf.extra
    if not leaf.needs_grad or (extra is not None and extra.view is not None and extra.view.silent):
        return  # it did need a gradient when the graph was recorded
    hooks = None if extra is None else extra.hooks
    if hooks is not None:
        g = hooks.about_to_run(leaf, hooks.arrived(leaf, g, create_graph), create_graph)
        owned = False
        if g is None:
            return
    if create_graph and not state.grad_enabled and g.array.__class__ is ndarray:
        create_graph = False  # tangents made the walk run on tensors; a gradient does not keep them
        g = g.array
    with _accumulating:
        sofar = leaf._grad
        if create_graph:
            leaf._grad = g.clone() if sofar is None else sofar + g
        elif sofar is None:
            leaf._grad = wrap(g if owned and g.strides == leaf.array.strides else copy_like(g, leaf.array))
        else:
            add_arrays(sofar.array, g, sofar.array)
            sofar.version[0] += 1
    if hooks is not None:
        hooks.accumulated(leaf, g, create_graph)
