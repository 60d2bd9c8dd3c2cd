"""Modes: objects that see operations while they run, and may compute them in another way.

A thread has a stack of modes, the innermost last, and a few are shared by all threads. While there are none, the hot
path asks a single question (`state.recording`) and runs the kernel. While there are some, every kernel goes through
`execute_in_modes`: the innermost mode is given (op, arrays, options, out) and returns a result of its own or calls
`below`, the next mode; at the bottom the kernel runs. Gradient rules go through `run_rule_in_modes` in the same way. If
a mode has `wants_tensors`, backward passes run their rules on tensors, so that the kernels of rules are seen as well.

    tangents (forward mode)     leafgrad.autograd.forward_ad            sees results
    batching (vmap)             leafgrad.func                           replaces kernels and rules
    hooks for saved tensors     leafgrad.autograd.saved_tensor_hooks    sees nodes
    anomaly detection           leafgrad.autograd.anomaly_mode          sees nodes, runs rules
    profiles                    leafgrad._profiler                      sees kernels, rules, calls
    observers                   `Observer`, below: selective checkpoints, logs, a list of all kernels
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from leafgrad._build import mypyc_attr
from leafgrad._core.op import Op
from leafgrad._core.thread_state import every_thread, refresh_all, shared_modes, state

Below = Callable[[Op, Sequence[Any], tuple[Any, ...], Any], Any]
Rule = Callable[[Any, Any, Any, Any], Sequence[Any]]


class Switches:
    """Facts about the whole process that the shortcuts of the hot path depend on."""

    __slots__ = (
        "autocasts",
        "batched_graphs",
        "checkpoints",
        "conjugated",
        "detached",
        "inference",
        "inference_used",
        "leaf_hooks",
        "modes",
        "reordered",
        "reshaped",
    )

    def __init__(self) -> None:
        self.autocasts: int = 0  # threads that compute in mixed precision, counted once for each `with autocast`
        self.modes: int = 0  # modes that are on in any thread: to look up those of this thread takes much longer
        self.reordered: bool = False  # was a sequence number of a node ever set by hand?
        self.reshaped: bool = False  # was a tensor ever reshaped in place? Then the steps of views have to be checked
        self.conjugated: bool = False  # was conj() ever called? Its copies may have to be brought up to date
        self.leaf_hooks: bool = False  # has a leaf ever had a hook? Then it matters when the leaf gets its gradient
        self.checkpoints: dict[int, bool] = {}  # while there are any, backward passes are listed in `state.passes`
        self.detached: int = 0  # nodes that are alive though a tensor that came from them was detached in place
        self.inference: int = 0  # threads in inference_mode
        self.inference_used: bool = False  # was any ever? Then there may be tensors of that mode that require grad
        self.batched_graphs: int = 0  # parts of graphs that were recorded inside vmap and are still alive


switches: Final = Switches()


@mypyc_attr(allow_interpreted_subclasses=True)
class Mode:
    """The base class: a mode overrides what it wants to see. As a context manager it is on in this thread."""

    sees_operations: ClassVar[bool] = True  # False: it sees changes in place only, and the executor does not call it
    asked_first: ClassVar[bool] = False  # is it asked before all others of its thread, whichever was switched on last?
    wants_tensors: ClassVar[bool] = False  # must gradient rules run on tensors while it is on?
    batches: ClassVar[bool] = False  # is it a vmap?
    transforms: ClassVar[bool] = False  # is it a function that leafgrad.func is transforming?
    keeps_saved: ClassVar[bool] = False  # does it hold on to the memory of saved tensors?

    def execute(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        """Compute an operation on arrays (into `out`, if that is given), or let `below` do so."""
        return below(op, arrays, options, out)

    def run_rule(self, node: Any, g: Any, saved: Any, inputs: Any, below: Rule) -> Sequence[Any]:
        """Run the gradient rule of a node, or let `below` do so."""
        return below(node, g, saved, inputs)

    def call(self, owner: Any, name: str, is_operation: bool, below: Callable[[], Any]) -> Any:
        """Something with a name is called that runs operations: a Function of the user's, which is an operation
        itself, or a step of an optimiser, which is not. `below` calls it."""
        return below()

    def run_pass(self, starts: Sequence[Any], delivers: bool, below: Callable[[], Any]) -> Any:
        """A backward pass starts at these nodes and leaves, and `below` runs it. Does it deliver to `.grad`?"""
        return below()

    def applied(
        self, op: Op, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
    ) -> None:
        """An operation was applied to tensors, and `results` are the tensors that came out of it."""

    def recorded(self, node: Any, tensors: Sequence[Any], out_versions: Sequence[Any]) -> None:
        """A node was recorded. `out_versions` are the versions of its results."""

    def found_unusable(self, node: Any) -> None:
        """A backward pass ends at a node whose saved values are gone, or are no longer what they were."""

    def linked(self, result: Any, t: Any, operation: Any, options: tuple[Any, ...]) -> None:
        """`result` was made a view of `t`."""

    def stood_in(self, old: Any, x: Any) -> None:
        """`old` is `x` as it was before a change in place that is about to happen."""

    def reshaped(self, x: Any, operation: Any, options: tuple[Any, ...]) -> None:
        """`x` was made, in place, what the view `operation(x, *options)` shows."""

    def changed(self, x: Any, result: Any) -> None:
        """The memory of `x` was given the values of the tensor `result` (None: a constant)."""

    def changed_part(self, x: Any, index: Any, part: Any) -> None:
        """The same for `x[index] = part`."""

    def about_to_change(self, x: Any) -> None:
        """The memory of a tensor is about to change."""

    def asked(self, what: str, x: Any) -> None:
        """A program calls `requires_grad_` or `backward` of a tensor: an exception refuses that."""

    def cut(self, reason: str) -> None:
        """The graph of a result ends here, though something that it was computed from requires grad."""

    def compared(self, x: Any, target: Any) -> None:
        """A loss compares two tensors whose shapes differ."""

    def accumulate(self, add: Callable[..., None], leaf: Any, *args: Any) -> None:
        """A gradient arrives at a leaf: `add(leaf, *args)` adds it to `.grad`."""
        add(leaf, *args)

    def __enter__(self) -> Any:
        push(self)
        return self

    def __exit__(self, *error: Any) -> None:
        pop(self)


@mypyc_attr(allow_interpreted_subclasses=True)
class Observer(Mode):
    """A mode that sees each operation once, and not the operations that its kernel is computed with."""

    wants_tensors: ClassVar[bool] = True

    def __init__(self) -> None:
        self.inside = False

    def observe(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        """The result of an operation: that of `below`, or another one."""
        return below(op, arrays, options, out)

    def execute(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        if self.inside:
            return below(op, arrays, options, out)
        self.inside = True
        try:
            return self.observe(op, arrays, options, out, below)
        finally:
            self.inside = False


def push(mode: Mode) -> None:
    """Switch a mode on in this thread, inside of those that are on."""
    place = len(state.modes)
    while place > 0 and state.modes[place - 1].asked_first and not mode.asked_first:
        place -= 1
    state.modes.insert(place, mode)
    with every_thread:
        switches.modes += 1
    state.refresh()


def pop(mode: Mode) -> None:
    """Switch a mode off again. Modes end in any order, as generators may make them do."""
    for i in range(len(state.modes) - 1, -1, -1):
        if state.modes[i] is mode:
            del state.modes[i]
            with every_thread:
                switches.modes -= 1
            break
    state.refresh()


def restore(modes: list[Any]) -> None:
    """Make `modes` those of this thread again: what a hook has switched on or off ends with it."""
    with every_thread:
        switches.modes += len(modes) - len(state.modes)
    state.modes[:] = modes
    state.refresh()


def share(mode: Mode, on: bool) -> None:
    """Switch a mode on or off in all threads."""
    with every_thread:
        if on != (mode in shared_modes):
            if on:
                shared_modes.append(mode)
                switches.modes += 1
            else:
                shared_modes.remove(mode)
                switches.modes -= 1
        refresh_all()


def current_modes() -> list[Any]:
    """The modes that are on in this thread, the innermost last."""
    return [*shared_modes, *state.modes]


def in_transform() -> bool:
    """Is this thread inside of a function that leafgrad.func is transforming?"""
    return any([mode.transforms for mode in state.modes])


def in_vmap() -> bool:
    """Is this thread inside of a vmap?"""
    return any([mode.batches for mode in state.modes])


def want_tensors() -> bool:
    """Must gradient rules run on tensors now?"""
    return any([mode.wants_tensors for mode in current_modes()])


# -- calling the modes ------------------------------------------------------------------------------------------------


def execute_in_modes(bottom: Below, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any) -> Any:
    """Compute an operation: the innermost mode is asked first, `bottom` last."""
    modes: list[Any] = state.seeing
    if len(modes) == 1:  # as a rule; and in a vmap a fiftieth of the time
        return modes[0].execute(op, arrays, options, out, bottom)
    return _next_execute(modes, bottom)(op, arrays, options, out)


def _next_execute(modes: list[Any], bottom: Below) -> Below:
    if not modes:
        return bottom
    mode = modes[-1]
    below = _next_execute(modes[:-1], bottom)
    return lambda op, arrays, options, out: mode.execute(op, arrays, options, out, below)


def run_rule_in_modes(bottom: Rule, node: Any, g: Any, saved: Any, inputs: Any) -> Sequence[Any]:
    """Run the gradient rule of a node in the same way."""
    return _next_rule(state.seeing, bottom)(node, g, saved, inputs)


def _next_rule(modes: list[Any], bottom: Rule) -> Rule:
    if not modes:
        return bottom
    mode = modes[-1]
    below = _next_rule(modes[:-1], bottom)
    return lambda node, g, saved, inputs: mode.run_rule(node, g, saved, inputs, below)


def call_in_modes(owner: Any, name: str, is_operation: bool, function: Callable[[], Any]) -> Any:
    """Call a function of which the modes are told."""
    for mode in current_modes():
        function = _named_call(mode, owner, name, is_operation, function)
    return function()


def _named_call(mode: Any, owner: Any, name: str, is_operation: bool, function: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: mode.call(owner, name, is_operation, function)


def run_pass_in_modes(starts: Sequence[Any], delivers: bool, function: Callable[[], Any]) -> Any:
    """Run a backward pass of which the modes are told."""
    for mode in current_modes():
        function = _pass(mode, starts, delivers, function)
    return function()


def _pass(mode: Any, starts: Sequence[Any], delivers: bool, function: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: mode.run_pass(starts, delivers, function)


def applied_in_modes(
    op: Op, tensors: Sequence[Any], arrays: Sequence[Any], options: tuple[Any, ...], results: Sequence[Any]
) -> None:
    for mode in state.seeing:
        mode.applied(op, tensors, arrays, options, results)


def recorded_in_modes(node: Any, tensors: Sequence[Any], out_versions: Sequence[Any]) -> None:
    for mode in state.seeing:
        mode.recorded(node, tensors, out_versions)


def about_to_change(x: Any) -> None:
    """Modes may copy the old values of a tensor, or refuse the change."""
    for mode in current_modes():
        mode.about_to_change(x)


def asked_in_modes(what: str, x: Any) -> None:
    for mode in current_modes():
        mode.asked(what, x)


def cut_in_modes(reason: str) -> None:
    for mode in current_modes():
        mode.cut(reason)


def compared_in_modes(x: Any, target: Any) -> None:
    for mode in current_modes():
        mode.compared(x, target)


def changed_in_modes(x: Any, result: Any) -> None:
    for mode in current_modes():
        mode.changed(x, result)


def accumulate_in_modes(add: Callable[..., None], leaf: Any, *args: Any) -> None:
    for mode in current_modes():  # the innermost last, so that it comes first
        add = _accumulation(mode, add)
    add(leaf, *args)


def _accumulation(mode: Any, add: Callable[..., None]) -> Callable[..., None]:
    return lambda leaf, *args: mode.accumulate(add, leaf, *args)
