"""Checkpointing by hooks for saved tensors: nothing is saved in the forward pass but a number for each value; when the
backward pass asks for one, the function is run again and all of them are there.

    forward    function(x)        a Frame counts what its operations want to save, and keeps x
    backward   a saved value?     function(x) once more; the n-th value that is saved now is the n-th of before

The second run ends as soon as the last value is there. Values belong to one backward pass: another pass (after
retain_graph=True, or over another part of the graph) runs the function again. The inputs are saved as an operation
would save them, so they go through the hooks that are in force outside: in a checkpoint inside another they are
themselves recomputed by the outer one.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from leafgrad import errors
from leafgrad._core.modes import switches
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state
from leafgrad.amp.autocast_mode import autocast_as_now
from leafgrad.autograd.function_saved import NO_RESULT, SavedTensor, save
from leafgrad.autograd.grad_mode import enable_grad
from leafgrad.autograd.saved_tensor_hooks import saved_tensors_hooks
from leafgrad.ops.random.distributions import default_generator
from leafgrad.utils.operator_log import OperatorLog, mismatch_with_logs

_TIP = (
    "\n  why  the function did something else when it was run again for the backward pass: it depends on a global "
    "variable, on random numbers (with preserve_rng_state=False), on how often it was called"
    "\n  fix  checkpoint(..., debug=True) or set_checkpoint_debug_enabled(True)   # shows the operations of both runs"
)


class CheckpointError(RuntimeError):
    """The function did not do the same when it was run again."""

    __module__ = "leafgrad.utils.checkpoint"  # where users know it


class _StopRecomputationError(Exception):
    """All values are there: leave the function."""


class GraphExecGroup:
    """GraphExecGroup(): backward passes inside share what is recomputed, so that several passes over different parts
    of a checkpointed function run it once. No value may be needed by two of them."""

    __module__ = "leafgrad.utils.checkpoint"

    current: ClassVar[GraphExecGroup | None] = None

    def __enter__(self) -> GraphExecGroup:
        other = GraphExecGroup.current
        if other is not None:
            raise RuntimeError(
                f"GraphExecGroup contexts cannot be nested. Already inside group {other}\n  at {errors.here()}"
            )
        GraphExecGroup.current = self
        return self

    def __exit__(self, *error: Any) -> None:
        GraphExecGroup.current = None

    @classmethod
    def _get_current_group(cls) -> GraphExecGroup | None:
        return cls.current


class Outside:
    """Stands for the backward pass when there is none: somebody looks at a saved value by hand."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class Holder:
    """What a node keeps in place of a value: which value of which frame."""

    frame: Frame
    index: int


@dataclass(eq=False)
class Frame:
    """One call of a checkpointed function."""

    function: Callable[..., Any]
    args: Sequence[Any]
    kwargs: dict[str, Any]
    early_stop: bool
    compare_forms: bool
    context: Any  # for the second run
    logs: tuple[OperatorLog, OperatorLog] | None
    rng_state: Any

    def __post_init__(self) -> None:
        switches.checkpoints[id(self)] = True  # first of all: saving the inputs may end the run of an outer checkpoint
        self.args = [save(a, NO_RESULT) if isinstance(a, TensorBase) else a for a in self.args]
        self.autocast = autocast_as_now()
        self.completed = False  # has the function returned? Gradients may be taken inside of it, before it has
        self.holders: list[weakref.ref[Holder]] = []
        self.forms: list[dict[str, Any]] = []
        self.recomputed: weakref.WeakKeyDictionary[Any, dict[int, Any]] = weakref.WeakKeyDictionary()

    def __del__(self) -> None:
        switches.checkpoints.pop(id(self), None)

    def pack(self, tensor: Any) -> Holder:
        """Forward: an operation wants to save a value."""
        holder = Holder(self, len(self.holders))
        self.holders.append(weakref.ref(holder))
        self.forms.append(form_of(tensor))
        return holder

    def unpack(self, holder: Holder) -> Any:
        """Backward: an operation needs its value again."""
        who = GraphExecGroup.current or (state.passes[-1] if state.passes else Outside())
        try:
            values = self.recomputed.get(who)
            if values is None:
                values = self.recomputed[who] = self.recompute()
            if holder.index not in values:
                raise already_unpacked()
        except CheckpointError as error:
            if self.logs is None:
                raise
            raise CheckpointError(mismatch_with_logs(*self.logs)) from error
        return values.pop(holder.index)

    def recompute(self) -> dict[int, Any]:
        """Run the function again. Returns the values that somebody still holds a number for."""
        args = [a.tensor(None) if isinstance(a, SavedTensor) else a for a in self.args]
        run = Recomputation(self)
        with (
            saved_tensors_hooks(run.pack, lambda tensor: tensor),
            enable_grad(),
            contextlib.suppress(_StopRecomputationError),
            self.autocast,
            self.context,
            from_state(self.rng_state),
        ):
            self.function(*args, **self.kwargs)
        run.check()
        return run.values


class Recomputation:
    """One repetition of a function."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.count = 0
        self.values: dict[int, Any] = {}
        self.forms: dict[int, dict[str, Any]] = {}

    def pack(self, tensor: Any) -> Any:
        frame = self.frame
        if self.count >= len(frame.holders):
            if not frame.completed:
                return tensor.detach()  # the second run is ahead of the first
            self.count += 1
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                f"forward pass.{_TIP}"
            )
        value = tensor.detach() if tensor.requires_grad else tensor
        if frame.holders[self.count]() is not None:
            self.values[self.count] = value
            self.forms[self.count] = form_of(tensor)
        self.count += 1
        if frame.early_stop and self.count == len(frame.holders):
            raise _StopRecomputationError
        return value

    def check(self) -> None:
        """Was it a repetition?"""
        frame = self.frame
        if self.count != len(frame.holders):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(frame.holders)}\nNumber of tensors "
                f"saved during recomputation: {self.count}.{_TIP}"
            )
        different = [i for i, form in self.forms.items() if form != frame.forms[i]] if frame.compare_forms else []
        if different:
            rows = [
                f"tensor at position {i}:\nsaved metadata: {frame.forms[i]}\nrecomputed metadata: {self.forms[i]}\n"
                for i in different
            ]
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{''.join(rows)}.{_TIP}"
            )


def form_of(tensor: Any) -> dict[str, Any]:
    """What must be the same in both runs."""
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


def already_unpacked() -> CheckpointError:
    grouped = ""
    if GraphExecGroup.current is not None:
        grouped = (
            "Performing two backward calls that overlap (i.e. require the same saved activation in order to compute "
            "gradients) is not allowed while under the torch.utils.checkpoint.GraphExecGroup context. "
        )
    return CheckpointError(
        f"torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. {grouped}If "
        "you are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an issue "
        f"with details on your use case.\n  at {errors.here()}"
    )


@contextlib.contextmanager
def from_state(rng_state: Any) -> Iterator[None]:
    """Random numbers as they were drawn from a certain state; afterwards the generator goes on where it was. With
    None, simply as they come."""
    if rng_state is None:
        yield
        return
    before = default_generator.get_state_array()
    default_generator.set_state_array(rng_state)
    try:
        yield
    finally:
        default_generator.set_state_array(before)
