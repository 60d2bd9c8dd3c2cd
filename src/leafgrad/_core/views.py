"""How a view comes about: a tensor that shares memory and version counter with another, and knows how it sees it.

Views are the smallest steps of a program (x[0], x.t(), x.reshape(-1)) and compute nothing, so what they cost is what is
remembered of them. `bind_view` makes nearly all of them in one step; where there is more to remember, a view is bound
as other operations are and then linked to its base.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from leafgrad._core import origin, thread_state
from leafgrad._core.bind import bind_result, execute
from leafgrad._core.modes import current_modes
from leafgrad._core.node import Node
from leafgrad._core.op import OPTION, SHAPE, Op
from leafgrad._core.recorder import needs_recording, settle
from leafgrad._core.tensor import Array, Parts, RareFields, TensorBase, View, as_array, links, ndarray

Operation = Any  # of leafgrad.ops.registry: the steps of a view are these, each with its options

NO_GRAD_VIEW: Final = "no_grad"
INFERENCE_VIEW: Final = "inference"
MULTI_VIEW: Final = "multi"  # one of several results
CUSTOM_VIEW: Final = "custom"  # made by a Function of the user, whose backward must not be replaced
UNRECORDED_CUSTOM_VIEW: Final = "unrecorded custom"  # the same, of a tensor that needed no gradient

state: Final[Any] = thread_state.state
_f32: Final[Any] = np.dtype(np.float32)
_f64: Final[Any] = np.dtype(np.float64)


def bind_view(core: Op, operation: Operation, t: TensorBase, options: tuple[Any, ...]) -> Any:
    """Apply a view operation to a tensor; `core` is what is recorded: the operation's own, or one of another name."""
    recording = state.recording
    if recording is not True and recording is not False:
        recorded = needs_recording((t,))
        out = as_array(execute(core, (t.array,), options))
        return link(bind_result(core, (t,), options, (t.array,), out, recorded), t, operation, options, None)
    kernel = core.kernel
    # without unpacking, where there is one option: an eighth of the time of x[0]
    out = kernel(t.array, options[0]) if len(options) == 1 else kernel(t.array, *options)
    if type(out) is not ndarray:
        out = as_array(out)
    steps: tuple[Any, ...] = ((operation, options),)
    base = t
    restriction: str | None = None
    rare = t.rare
    if rare is not None:
        settle(t)
        if rare.graph_break is not None or rare.inference:
            return view_with_notes(core, operation, t, options, out)
        outer = rare.view
        if outer is not None:
            base = outer.base
            steps = outer.steps + steps
            restriction = outer.restriction
    node: Node | None = None
    if t.needs_grad:
        kind = out.dtype
        if not recording or (kind is not _f32 and kind is not _f64):
            return view_with_notes(core, operation, t, options, out)
        # `make_node` for the one input that a view has, whose values are not needed
        plan = core.plans.get(1)
        if plan is None:
            plan = core.plan(1)
        saved: list[Any] = []
        for place in plan:
            if place >= SHAPE:
                saved.append(t.array.shape)
            elif place >= OPTION:
                saved.append(options[place - OPTION])
            else:
                return view_with_notes(core, operation, t, options, out)
        frame = origin.user_frame()
        source = t.node
        edge: Any = t if source is None else source
        node = Node().fill(core, (edge,), tuple(saved), None, out.shape, kind, frame.f_code, frame.f_lasti)
    if not recording:
        restriction = INFERENCE_VIEW if state.inference else NO_GRAD_VIEW
    result: TensorBase = links.new(links.tensor_class)
    result.array = out
    result.node = node
    result.needs_grad = node is not None
    result.version = t.version
    result._grad = None
    result.rare = known = RareFields()
    known.view = View(base, steps, restriction)
    return result


def view_with_notes(core: Op, operation: Operation, t: TensorBase, options: tuple[Any, ...], out: Array) -> Any:
    """`bind_view` where there is more to remember: why there is no graph, complex numbers."""
    result = bind_result(core, (t,), options, (t.array,), out, needs_recording((t,)))
    return link(result, t, operation, options, None)


def link(result: Any, t: TensorBase, operation: Operation, options: tuple[Any, ...], restriction: str | None) -> Any:
    """Make `result` known as a view of `t` (or of what `t` is a view of)."""
    result.version = t.version
    if result.rare is None:
        result.rare = RareFields()
    result.rare.inference = t.rare is not None and t.rare.inference
    if result.rare.inference:
        return result  # nobody will ask what it is a view of
    outer = t.rare.view if t.rare is not None else None
    base = t if outer is None else outer.base
    steps = ((operation, options),) if outer is None else (*outer.steps, (operation, options))
    if not state.recording:
        restriction = INFERENCE_VIEW if state.inference else NO_GRAD_VIEW
    elif restriction is None and outer is not None:
        restriction = outer.restriction
    result.rare.view = View(base, steps, restriction)
    if t.needs_grad and not state.recording:
        result.needs_grad = result.rare.view.silent = True
    for mode in current_modes():
        mode.linked(result, t, operation, options)
    return result


def link_parts(results: list[Any], t: TensorBase, operation: Operation, options_of: Any) -> None:
    """`link` for all results of an operation that makes many views of `t`, each of which is also one of `operation`."""
    rare = t.rare
    if current_modes() or (rare is not None and rare.inference):
        for number in range(len(results)):
            link(results[number], t, operation, options_of(number), MULTI_VIEW)
        return
    outer = rare.view if rare is not None else None
    base = t if outer is None else outer.base
    parts = Parts(() if outer is None else outer.steps, operation, options_of)
    restriction: str = MULTI_VIEW
    if not state.recording:
        restriction = INFERENCE_VIEW if state.inference else NO_GRAD_VIEW
    silent: bool = t.needs_grad and not state.recording
    for number in range(len(results)):
        result: TensorBase = results[number]
        result.version = t.version
        known = result.rare
        if known is None:
            result.rare = known = RareFields()
        known.inference = False
        view = View(base, parts, restriction, number)
        known.view = view
        if silent:
            result.needs_grad = view.silent = True
