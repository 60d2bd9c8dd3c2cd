"""The engine: backward passes.

`walk` is the chain rule, node by node. It starts with the gradient of the result with respect to itself, one. Of the
nodes for which a gradient waits it takes the most recently recorded one: only nodes that were recorded later can send
it gradients, and those have run, so its gradient is complete. The node's rule returns a gradient for each input, which
is added to what waits at the node (or leaf) where that input came from. When no node is left, the leaves have theirs.

In an ordinary backward pass the gradients are plain NumPy arrays: nothing is wrapped and nothing recorded. With
`create_graph=True` they are tensors, the very same rules run on them, and so the backward pass itself becomes a
graph that can be differentiated again, to any order. Hooks, passes to some tensors only, gradients that are tensors and
modes are handled in leafgrad/_core/special.py.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any, Final

import numpy as np

from leafgrad._core import origin, thread_state
from leafgrad._core.bind import execute
from leafgrad._core.events import BACKWARD, event_at
from leafgrad._core.held import HELD_ONCE, holders, last_view, movable
from leafgrad._core.modes import accumulate_in_modes, in_vmap, pop, push, run_pass_in_modes, switches, want_tensors
from leafgrad._core.node import Edge, Freed, Node, Output
from leafgrad._core.origin import COMPILED, internal_files, this_thread
from leafgrad._core.reachable import edges_to_leaves, paths_to, reach
from leafgrad._core.recorder import edge
from leafgrad._core.saved import changed, messages, unusable
from leafgrad._core.sequence import put_in_sequence
from leafgrad._core.special import ORDINARY, STOP, Special, after_hooks
from leafgrad._core.tensor import SparseArrayBase, TensorBase, links, ndarray, wrap
from leafgrad._core.thread_state import Pass, in_new_thread
from leafgrad._core.threads import Lock
from leafgrad._core.unbroadcast import fitted, unbroadcast
from leafgrad.kernels import add, native

Gradient = Any  # an ndarray or NumPy scalar; a tensor under create_graph
state: Final[Any] = thread_state.state
add_arrays: Final[Any] = add
_getframe: Final[Any] = sys._getframe
_CALLER_DEPTH: Final = 1 if COMPILED else 2  # backward_from and the method or function `backward` lie between
scalar: Final[Any] = np.generic
plus: Final[Any] = native(np.add, operator.add)  # for tensors as well
SMALL: Final = 256  # elements
NESTED: Final = 20  # backward passes inside each other that share a stack

# Two threads may finish a backward pass over the same leaf at the same time; NumPy lets go of the interpreter lock.
_accumulating: Final = Lock()


def walk(
    roots: Sequence[Edge], gradients: Sequence[Gradient], freed: Freed | None, special: Special | None
) -> tuple[dict[Any, Gradient], set[Any]]:
    """Send `gradients` backward from `roots`. Returns the gradient of each leaf, and the leaves whose gradient is an
    array that nothing else refers to. `freed` replaces saved values, if the graph is not kept."""
    waiting: dict[Any, Gradient] = {}  # the gradients so far, by node or leaf; those of leaves stay to the end
    ours: set[Any] = set()  # nodes and leaves whose waiting array was made by this walk: it may be added to in place
    heap: list[tuple[int, Node]] = []  # the nodes in `waiting`, the most recently recorded first
    alone: Node | None = None  # most of the time only one node waits: it is here, not in the heap,
    for_alone: Gradient = None  # and this is its gradient
    consuming = special is None and freed is not None
    fits = special is not None and special.on_tensors  # `in_form` has unbroadcast them already
    g: Gradient = list(gradients)  # the gradient of the current node; a list for several results, as at the start
    targets: tuple[Any, ...] = tuple(roots) if special is None else special.wanted_among(tuple(roots))
    results: Any = special.in_form(targets, gradients) if special is not None and fits else gradients
    while True:
        position = -1  # not zip: to make one for every node costs a twentieth of the walk
        for target in targets:
            position += 1
            if target is None:
                continue
            r = results[position]  # None if the rule has no gradient for it; the node is visited all the same
            if isinstance(target, Node):
                if alone is None and not heap and r is not None:
                    alone = target
                    for_alone = r
                    continue
                if alone is not None:  # a second node waits: both go to the heap
                    send(waiting, ours, heap, alone, for_alone, fits)
                    alone = None
                send(waiting, ours, heap, target, r, fits)
                continue
            give(waiting, ours, target, r, g, fits)
        if special is not None:
            results, r, g, for_alone = (), None, None, None if alone is None else for_alone  # a leaf may take it now
            special.delivered(targets, waiting, ours)
        if alone is not None:
            node = alone
            alone = None
            if not fits and (for_alone.dtype is not node.dtype or for_alone.shape != node.shape):
                for_alone = unbroadcast(for_alone, node.shape, node.dtype)
            size: int = for_alone.size if consuming else 0  # and is it a new array? See `give`
            reusable = size > SMALL and for_alone is not g and for_alone.base is None and type(g) is not list
            g = for_alone
        elif heap:
            node = heappop(heap)[1]
            g = waiting.pop(node)
            reusable = consuming and node in ours
        else:
            return waiting, ours
        unusual = special if special is not None or (node.hooks is None and g is not None) else ORDINARY
        if unusual is not None and (g := unusual.arrived(node, g)) is STOP:
            targets = ()
            continue
        targets = node.inputs
        saved: Any = node.saved
        versions = node.versions
        if versions is None:
            if isinstance(node, Output):
                collect_output(waiting, heap, node, g)
                targets = ()
                continue
        elif (
            type(saved) is Freed
            or versions[0][0] != versions[1]
            or (len(versions) > 2 and (versions[2][0] != versions[3] or (len(versions) > 4 and changed(versions))))
        ):
            raise unusable(node, roots)
        elif freed is not None:
            node.saved = freed
        if unusual is not None:
            targets, results = unusual.run(node, g, saved)
        elif reusable and node.op.vjp_in_place is not None:
            results = node.op.vjp_in_place(g, saved, targets)
            g = None  # its memory may be one of the results now
        else:
            rule = node.op.backward  # in two steps: to find a function in a slot and to call it is slower in one
            results = rule(g, saved, targets)


def give(waiting: dict[Any, Gradient], ours: set[Any], leaf: Any, r: Gradient, g: Gradient, fits: bool) -> None:
    """Add a gradient to what waits at a leaf. `g` is what the rule was given that returned it."""
    if r is None:
        return
    if not fits:
        form = leaf.array
        if r.dtype is not form.dtype or r.shape != form.shape or leaf.rare is not None:
            r = fitted(leaf, r)
            if r is None:
                return
    sofar = waiting.get(leaf)
    if sofar is None:
        waiting[leaf] = r
        # Is it a new array? A rule makes one, or passes on what it was given, `g`, or a view of that.
        if r is not g and type(r) is ndarray and r.base is None:
            if type(g) is not list or not any([r is one for one in g]):  # one for each of several results
                ours.add(leaf)
    elif leaf in ours:
        # `add_up` written out: in plain Python the call takes a thirtieth of a backward pass
        if sofar.size > SMALL:
            add_arrays(sofar, r, sofar)
        else:
            waiting[leaf] = total = plus(sofar, r)
            if type(total) is not ndarray:
                ours.discard(leaf)
    else:
        add_up(waiting, ours, leaf, sofar, r)


def send(
    waiting: dict[Any, Gradient], ours: set[Any], heap: list[tuple[int, Node]], node: Node, r: Gradient, fits: bool
) -> None:
    """Add a gradient to what waits at a node, and put the node into the heap."""
    if not fits and r is not None and (r.dtype is not node.dtype or r.shape != node.shape):
        r = unbroadcast(r, node.shape, node.dtype)
    sofar = waiting.get(node)
    if sofar is not None:
        if r is not None:
            add_up(waiting, ours, node, sofar, r)
        return
    if node not in waiting:
        heappush(heap, (node.order, node))
    waiting[node] = r


def add_up(waiting: dict[Any, Gradient], ours: set[Any], target: Any, sofar: Gradient, r: Gradient) -> None:
    """Add another gradient to the one that waits at a node or leaf."""
    owned = target in ours
    # in place saves memory; for small arrays NumPy's checks cost more than a new one
    if owned and sofar.size > SMALL:
        add_arrays(sofar, r, sofar)
        return
    total = plus(sofar, r)
    waiting[target] = total
    if type(total) is not ndarray:
        ours.discard(target)  # a NumPy scalar, which nothing can be written to, or a tensor
    elif not owned:
        ours.add(target)


def collect_output(waiting: dict[Any, Gradient], heap: list[tuple[int, Node]], node: Output, g: Gradient) -> None:
    """Put the gradient of one of several results into the list of gradients of the operation's node."""
    parent = node.parent
    if parent not in waiting:
        heappush(heap, (parent.order, parent))
        waiting[parent] = None
    if g is None:
        return
    if waiting[parent] is None:
        waiting[parent] = [None] * len(parent.shape)
    sofar = waiting[parent][node.index]  # from another Output of the same result: see output_tensor
    waiting[parent][node.index] = g if sofar is None else sofar + g


# -- entry points -----------------------------------------------------------------------------------------------------


def backward(
    roots: Sequence[Any],
    gradients: Sequence[Gradient],
    keep_graph: bool,
    create_graph: bool,
    inputs: Sequence[Any] | None = None,
) -> None:
    """Add the gradient of `roots` to `.grad` of every leaf behind them, or of `inputs` alone."""
    starts = [edge(root) for root in roots]
    captured = None if inputs is None else {edge(t) for t in inputs}
    run(starts, gradients, keep_graph, create_graph, captured, deliver=True)


def backward_from(root: TensorBase, g: Any, keep_graph: bool) -> None:
    """`backward` in its most frequent form, without the questions of `run`: from one root to all leaves, the graph is
    freed, and no mode is on. Whatever else is asked for goes to `backward`."""
    thread: dict[str, Any] = state.__dict__  # at once: a single look at the state of a thread takes as long
    before = thread["recording"]
    if (
        keep_graph or thread["depth"] or (before is not True and before is not False)
        or switches.leaf_hooks or switches.checkpoints or switches.batched_graphs or switches.reordered
    ):  # fmt: skip
        backward((root,), (g,), keep_graph, False)
        return
    try:  # Python makes an object of every frame that is looked at, so those on the way are stepped over
        frame = _getframe(_CALLER_DEPTH)
    except ValueError:
        frame = None
    if frame is None or internal_files.get(frame.f_code.co_filename, True):
        frame = origin.user_frame(frame)
    code = frame.f_code
    lasti: int = frame.f_lasti
    event_at(BACKWARD, code, lasti)
    starts = (root.node or root,)
    callbacks: list[Any] = [starts]
    thread["callbacks"] = callbacks
    thread["recording"] = False
    thread["depth"] = 1
    try:
        arrived, ours = walk(starts, (g,), Freed(code, lasti), None)
    finally:
        thread["recording"] = before
        thread["depth"] = 0
        callbacks[0] = None
    others: list[Any] = []
    with _accumulating:  # once for nearly all leaves: one after the other takes a sixtieth of a small training step
        for leaf in arrived:  # not items(), which holds the last one
            if leaf in ours and leaf.rare is None and leaf.needs_grad and leaf.node is None:
                add_locked(leaf, arrived[leaf], True, False, False)
            else:
                others.append(leaf)
    for leaf in others:
        total = arrived[leaf]
        if leaf in ours:
            add_to_grad(leaf, total, True, False)
        else:
            arrived[leaf] = None
            memory = total.base  # of what was broadcast nothing can be moved
            if leaf._grad is None and (type(memory) is not ndarray or memory.shape == total.shape):
                memory = None
                total = last_view(total)
            add_to_grad(leaf, total, False, False)
    if len(callbacks) > 1:
        call_back(callbacks)


def call_back(callbacks: list[Any]) -> None:
    """Call what was queued for the end of a pass, including what these callbacks queue."""
    before, state.calling_back = state.calling_back, True
    try:
        callbacks[0] = None
        for callback in callbacks:
            if callback is not None:
                callback()
    finally:
        state.calling_back = before


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
    arrived = run(starts, gradients, keep_graph, create_graph, set(places), deliver=False)
    return [arrived.get(place) for place in places]


def run(
    starts: Sequence[Edge],
    gradients: Sequence[Gradient],
    keep_graph: bool,
    create_graph: bool,
    captured: set[Any] | None,
    deliver: bool,
) -> dict[Any, Gradient]:
    """A backward pass of any kind. Its own operations are recorded if `create_graph`. Rules run on tensors then, and
    while a mode wants to see their kernels, and in graphs that were recorded inside vmap."""
    batching = links.batching if switches.batched_graphs > 0 and not in_vmap() else None
    if batching is not None:
        push(batching)
    thread: dict[str, Any] = state.__dict__  # see backward_from
    before = bool(thread["recording"])
    outer = thread["callbacks"]
    callbacks: list[Any] = [starts]
    thread["callbacks"] = callbacks
    orders = put_in_sequence(list(reach(starts)[0].values())) if switches.reordered else []
    try:
        on_tensors = create_graph or want_tensors()
        if on_tensors and not create_graph:
            gradients = [wrap(g) if g is not None and not isinstance(g, TensorBase) else g for g in gradients]
        wanted, everything = (None, True) if captured is None else paths_to(starts, captured, deliver)
        expected = edges_to_leaves(starts, wanted) if switches.leaf_hooks else None
        special = None
        if on_tensors or not everything or expected is not None or thread["in_modes"] or switches.detached:
            special = Special(on_tensors, wanted, captured, expected, accumulate if deliver else None)
        state.record(create_graph)
        if thread["in_modes"]:
            arrived = run_pass_in_modes(
                starts, deliver, lambda: run_special(starts, gradients, keep_graph, special, wanted, deliver)
            )
        else:
            arrived = run_special(starts, gradients, keep_graph, special, wanted, deliver)
        if len(callbacks) > 1:
            call_back(callbacks)
        return arrived  # type: ignore[no-any-return]
    finally:
        callbacks[0] = None
        for node, order in orders:
            node.order = order
        thread["callbacks"] = outer
        if batching is not None:
            pop(batching)
        state.record(before)


def run_special(
    starts: Sequence[Edge],
    gradients: Sequence[Gradient],
    keep_graph: bool,
    special: Special | None,
    wanted: dict[Any, bool] | None,
    deliver: bool,
) -> dict[Any, Gradient]:
    """`walk`, and then return the gradients of leaves or add them to `.grad`. A rule may start a backward pass itself;
    every twentieth of such nested passes runs in a new thread, because a thread's stack is limited."""
    on_tensors = special is not None and special.on_tensors
    frame = origin.user_frame()
    if deliver:
        event_at(BACKWARD, frame.f_code, frame.f_lasti)
    freed = None if keep_graph else Freed(frame.f_code, frame.f_lasti)
    thread: dict[str, Any] = state.__dict__  # see backward_from
    depth: int = thread["depth"]
    if special is not None and special.on_tensors and depth % NESTED != NESTED - 1:  # in this thread
        special.line = (this_thread(), frame)
    depth += 1
    thread["depth"] = depth
    passes: list[Any] = thread["passes"]
    passes.append(Pass(starts, wanted, deliver, keep_graph))
    try:
        if wanted is not None and len(starts) == 1 and isinstance(starts[0], TensorBase) and starts[0] not in wanted:
            after_hooks(starts[0], gradients[0], on_tensors)  # called although it is not wanted: see paths_to
        if depth % NESTED:
            waiting, ours = walk(starts, gradients, freed, special)
        else:
            waiting, ours = in_new_thread(walk, starts, gradients, freed, special)
        arrived = {} if special is None else special.found
        for leaf in waiting:
            g = waiting[leaf]
            if deliver:
                owned = leaf in ours and wanted is None
                if not owned:
                    waiting[leaf] = None
                    g = last_view(g)
                accumulate(leaf, g, owned, on_tensors)
            else:
                arrived[leaf] = after_hooks(leaf, g, on_tensors)
        return arrived
    finally:
        passes.pop()
        thread["depth"] = depth - 1


def accumulate(leaf: TensorBase, g: Gradient, owned: bool, create_graph: bool) -> None:
    """Add a gradient to `leaf.grad`, seen by the modes that are on."""
    if state.in_modes:
        accumulate_in_modes(add_to_grad, leaf, g, owned, create_graph)
    else:
        add_to_grad(leaf, g, owned, create_graph)


def add_to_grad(leaf: TensorBase, g: Gradient, owned: bool, create_graph: bool) -> None:
    """Add a gradient to `leaf.grad`. The first one is moved there, not copied, if nobody else holds it."""
    hooks = None
    moved = kept = False
    if leaf.rare is None:
        if g is None:
            return
        if leaf.node is not None:
            raise messages().leaf_in_the_interior(leaf)
        if not leaf.needs_grad:
            return
    else:
        before = g
        g, wanted = run_leaf_hooks(leaf, g, create_graph)
        if not wanted:
            return
        hooks = leaf.rare.hooks
        if hooks is not None:
            fresh = g is not before or ((owned or type(g) is not ndarray) and not hooks.on_gradient)
            moved = fresh and leaf._grad is None and not create_graph
            kept = g is before  # perhaps by one of the hooks
            g = g if kept else last_view(g)
            owned = False
    if create_graph and not state.recording and type(g.array) is ndarray:
        create_graph = False  # a mode made the walk run on tensors; a gradient does not keep tangents
        g = g.array
    with _accumulating:
        add_locked(leaf, g, owned, kept, create_graph)
    if hooks is not None:  # of a gradient that PyTorch would have moved, they see what becomes of it in `.grad`
        hooks.accumulated(leaf, leaf._grad.array if moved else g, create_graph)


def add_locked(leaf: TensorBase, g: Gradient, owned: bool, kept: bool, create_graph: bool) -> None:
    """`add_to_grad` after the hooks, while the lock is held. Is the gradient kept by somebody who saw it?"""
    form = leaf.array
    sofar = leaf._grad
    if create_graph:
        leaf._grad = links.copied_gradient(g, leaf) if sofar is None else sofar + g
    elif (type(form) is not ndarray or (not owned and type(g) is not ndarray)) and one_is_sparse(g, form):
        links.add_sparse_gradient(leaf, g)
    elif sofar is None:
        if owned:
            fits = g.strides == form.strides or not state.keep_layout
        else:
            fits = isinstance(g, scalar)  # of which `wrap` makes an array of its own
        if fits:
            leaf._grad = wrap(g)
        elif not kept and g.base is not None and (memory := movable(g, form)) is not None:
            leaf._grad = wrap(memory)
        elif state.keep_layout or g.base is None or holders(g) > HELD_ONCE:
            leaf._grad = wrap(execute(links.copy_like, (form, g)))
        else:  # of a Function of the user's, who has not kept it
            leaf._grad = wrap(execute(links.clone, (g,)))
    else:
        if type(sofar.array) is not ndarray and isinstance(sofar.array, SparseArrayBase):
            sofar = leaf._grad = wrap(g + sofar.array)  # another tensor, a dense one
        elif switches.modes:  # somebody may want to see it
            execute(links.add, (sofar.array, g), (), sofar.array)
        else:
            add_arrays(sofar.array, g, sofar.array)
        sofar.version[0] += 1


def one_is_sparse(a: Any, b: Any) -> bool:
    return isinstance(a, SparseArrayBase) or isinstance(b, SparseArrayBase)


def run_leaf_hooks(leaf: TensorBase, g: Gradient, create_graph: bool) -> tuple[Gradient, bool]:
    """The gradient of a leaf with rare fields after its hooks, and whether it is to be added to `.grad`."""
    rare = leaf.rare
    assert rare is not None
    silent = rare.view is not None and rare.view.silent
    if leaf.node is not None and g is not None and not silent:
        raise messages().leaf_in_the_interior(leaf)
    hooks = rare.hooks
    wanted = leaf.needs_grad  # if not, it did when the graph was recorded, and its hooks are there
    if hooks is None or (silent and wanted):
        return g, wanted and not silent and g is not None
    g = hooks.about_to_run(leaf, hooks.arrived(leaf, g, create_graph), create_graph)
    if not wanted or g is None:
        hooks.accumulated(leaf, g, create_graph)
        return g, False
    return g, True
