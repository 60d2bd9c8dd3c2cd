"""Questions about the backward pass that runs in this thread, for hooks that are called by it."""

from __future__ import annotations

import itertools
import sys
from typing import Any

from leafgrad import errors
from leafgrad._core.function import Context
from leafgrad._core.node import Node, Output
from leafgrad._core.reachable import reach
from leafgrad._core.thread_state import Pass, state
from leafgrad.autograd.composition import first_seen
from leafgrad.autograd.graph import reached
from leafgrad.autograd.public_nodes import AccumulateGrad, InnerNode, arrival_at, shown

_numbers = itertools.count()


def current_pass(asked: str) -> Pass:
    """The innermost pass. The shortest way through the engine has none; all that it knows is where it began."""
    if not state.depth:
        raise RuntimeError(f"{asked} should only be called during the backward pass\n  at {errors.here()}")
    starts = state.callbacks[0]
    if state.passes and state.passes[-1].starts is starts:
        return state.passes[-1]  # type: ignore[no-any-return]
    return Pass(starts, None, True, False)


def _current_graph_task_id() -> int:
    """_current_graph_task_id(): a number that this backward pass has for itself, larger than those of passes before; -1
    outside of all."""
    if not state.depth:
        return -1
    for callbacks, number in state.numbered:
        if callbacks is state.callbacks:
            return number  # type: ignore[no-any-return]
    # those that have ended are forgotten: a pass takes away where it began
    state.numbered = [known for known in state.numbered if known[0][0] is not None]
    state.numbered.append((state.callbacks, next(_numbers)))
    return state.numbered[-1][1]  # type: ignore[no-any-return]


def _current_autograd_node() -> Any:
    """_current_autograd_node(): the node whose rule is running, or None."""
    if state.evaluating is not None:
        place = state.evaluating
        return shown(place) if isinstance(place, Node) else arrival_at(place)
    if not state.depth:
        return None
    # in an ordinary pass the only rules that can ask are those of users, whose frames begin with their context
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        if isinstance(first, Context) and first._record.node is not None:
            return first._record.node()
        frame = frame.f_back
    return None


def _will_engine_execute_node(node: Any) -> bool:
    """_will_engine_execute_node(node): does the backward pass that is running go through this node?"""
    if not isinstance(node, Node):
        raise RuntimeError(
            f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}\n  at {errors.here()}"
        )
    running = current_pass("_get_should_execute_nodes")
    if isinstance(node, InnerNode):
        node = node.owner
    place = node.variable if isinstance(node, AccumulateGrad) else node
    return reached(running, [place])[0]


def _current_graph_task_execution_order() -> list[Any]:
    """_current_graph_task_execution_order(): the nodes of the backward pass that is running, in the order in which it
    goes through them. To be asked while multithreading is disabled."""
    running = current_pass("_current_graph_task_execution_order")
    if state.multithreading:
        raise RuntimeError(
            "get_current_graph_task_execution_order expects the current backward to be executed with multithreading "
            f"disabled, e.g. by running:\n\nwith torch.autograd.set_multithreading_enabled(False):\n    ...\n  at "
            f"{errors.here()}"
        )
    wanted = running.wanted
    nodes = [node for _, node in sorted(reach(running.starts)[0].items()) if wanted is None or node in wanted]
    missing: dict[Any, int] = {}  # for each leaf, how many edges to it are still ahead
    for place in itertools.chain(running.starts, *[node.inputs for node in nodes]):
        if place is not None and not isinstance(place, Node) and (wanted is None or place in wanted):
            missing[place] = missing.get(place, 0) + 1
    order: list[Any] = [arrival_at(leaf) for leaf in running.starts if leaf in missing]
    for node in nodes:
        if not isinstance(node, Output) and first_seen(node) is node:
            order.append(shown(node))
        for place in node.inputs:
            if place in missing:
                missing[place] -= 1
                if missing[place] == 0:
                    order.append(arrival_at(place))
    return order
