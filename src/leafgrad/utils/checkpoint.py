"""leafgrad.utils.checkpoint: less memory for more time. Values inside a checkpointed function are not saved for the
backward pass but computed again when it needs them.

    y = checkpoint(layer, x, use_reentrant=False)

There are two ways to do that, as in PyTorch. `use_reentrant=False` (leafgrad/utils/recomputing.py) records the function
as usual, and hooks stand in for what its operations save: everything that works without checkpoint works with it.
`use_reentrant=True`, here, hides the function behind one `autograd.Function`, whose backward runs it again and starts a
backward pass of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from leafgrad import autograd, errors
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state
from leafgrad.amp.autocast_mode import autocast_as_now
from leafgrad.autograd.function import Function
from leafgrad.autograd.grad_mode import enable_grad
from leafgrad.autograd.saved_tensor_hooks import saved_tensors_hooks
from leafgrad.ops.random.distributions import default_generator
from leafgrad.utils.operator_log import OperatorLog
from leafgrad.utils.recomputing import CheckpointError, Frame, GraphExecGroup, from_state
from leafgrad.utils.selective import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "checkpoint", "checkpoint_sequential", "CheckpointError", "CheckpointFunction", "check_backward_validity",
    "detach_variable", "get_device_states", "set_device_states", "noop_context_fn", "set_checkpoint_early_stop",
    "DefaultDeviceType", "set_checkpoint_debug_enabled", "CheckpointPolicy", "SelectiveCheckpointContext",
    "create_selective_checkpoint_contexts", "SAC_IGNORED_OPS", "GraphExecGroup",
]  # fmt: skip

DETERMINISM_CHECKS = ["default", "none"]
_PASS_EXPLICITLY = "the use_reentrant parameter should be passed explicitly. "
_RECOMMENDED = (
    "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass "
    "use_reentrant=True. Refer to docs for more details on the differences between the two variants."
)


class Settings:
    """What the context managers below have set; None leaves it to the arguments of checkpoint."""

    debug: bool | None = None
    early_stop: bool | None = None


@contextlib.contextmanager
def setting(name: str, value: bool | None) -> Iterator[None]:
    before = getattr(Settings, name)
    setattr(Settings, name, value)
    try:
        yield
    finally:
        setattr(Settings, name, before)


def set_checkpoint_debug_enabled(enabled: bool | None) -> contextlib.AbstractContextManager[None]:
    """set_checkpoint_debug_enabled(enabled): inside, checkpoint's `debug` is this, whatever is passed."""
    return setting("debug", enabled)


def set_checkpoint_early_stop(enable: bool) -> contextlib.AbstractContextManager[None]:
    """set_checkpoint_early_stop(enable): inside, checkpoint's `early_stop` is this, whatever is passed."""
    return setting("early_stop", enable)


def noop_context_fn() -> tuple[Any, Any]:
    """noop_context_fn(): two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """checkpoint(function, *args, use_reentrant, ...): function(*args, **kwargs), saving nothing of what happens
    inside but the inputs; the backward pass runs the function again.

        use_reentrant        False, the recommended form, or True; see above
        preserve_rng_state   shall the second run draw the same random numbers? (True)
        context_fn           returns two contexts, for the first run and for the others
        determinism_check    "default": values must have the same shape and dtype in both runs; "none"
        debug                if the runs differ, show the operations of both
        early_stop           the second run ends when the last value that is needed is there

    From preserve_rng_state apart, which belongs to both, these options are those of use_reentrant=False.
    """
    if use_reentrant is None:
        text = "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception."
        errors.warn(f"torch.utils.checkpoint: {_PASS_EXPLICITLY}{text} {_RECOMMENDED}")
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant is None or use_reentrant:
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        if context_fn is not noop_context_fn or debug:
            raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in DETERMINISM_CHECKS:
        raise ValueError(f"determinism_check should be one of {DETERMINISM_CHECKS}, but got {determinism_check}")
    logs = None
    if debug if Settings.debug is None else Settings.debug:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        logs = (OperatorLog(), OperatorLog())
    first, again = logs or context_fn()
    if not state.recording:
        return function(*args, **kwargs)  # nothing is saved, so nothing will be asked for
    stops = early_stop if Settings.early_stop is None else Settings.early_stop
    rng_state = default_generator.get_state_array() if preserve else None
    frame = Frame(function, args, kwargs, stops, determinism_check == "default", again, logs, rng_state)
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        result = function(*args, **kwargs)
    frame.completed = True
    return result


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """checkpoint_sequential(functions, segments, input, use_reentrant, preserve_rng_state=True): apply functions (a
    Sequential or a list) one after the other, in segments that are checkpointed, all but the last."""
    if use_reentrant is None:
        text = "In version 2.9 we will raise an exception if use_reentrant is not passed."
        name = "torch.utils.checkpoint.checkpoint_sequential"
        errors.warn(f"{name}: {_PASS_EXPLICITLY}{text} {_RECOMMENDED}")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    layers = list(functions.children()) if hasattr(functions, "children") else list(functions)

    def run(start: int, end: int) -> Callable[[Any], Any]:
        def forward(x: Any) -> Any:
            for layer in layers[start:end]:
                x = layer(x)
            return x

        return forward

    size = len(layers) // segments
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(run(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return run(end, len(layers))(input)


# -- use_reentrant=True -----------------------------------------------------------------------------------------------


class CheckpointFunction(Function):
    """A function whose backward runs it again and goes back through what that records."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.rng_state = default_generator.get_state_array() if preserve_rng_state else None
        ctx.autocast = autocast_as_now()
        ctx.others = [None if isinstance(a, TensorBase) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, TensorBase)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        if not all([each.delivers and each.wanted is None for each in state.passes]):
            raise errors.mistake(
                RuntimeError,
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument.",
                fix="checkpoint(..., use_reentrant=False)",
            )
        args = list(ctx.others)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[place] = tensor
        inputs = detach_variable(tuple(args))
        with from_state(ctx.rng_state), enable_grad(), ctx.autocast:
            outputs = ctx.run_function(*inputs)
        outputs = (outputs,) if isinstance(outputs, TensorBase) else outputs
        pairs = [(o, g) for o, g in zip(outputs, gradients) if requires_grad(o)]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        autograd.backward([o for o, _ in pairs], [g for _, g in pairs])
        return (None, None, *[a._grad if isinstance(a, TensorBase) else None for a in inputs])


def requires_grad(value: Any) -> bool:
    return isinstance(value, TensorBase) and bool(value.needs_grad)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """check_backward_validity(inputs): warn if no gradient can come out of a reentrant checkpoint."""
    if not any([requires_grad(i) for i in inputs]):
        errors.warn("None of the inputs have requires_grad=True. Gradients will be None")


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """detach_variable(inputs): tensors without their history, which require grad if they did; other things as is."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    return tuple([detached(i) if isinstance(i, TensorBase) else i for i in inputs])


def detached(tensor: Any) -> Any:
    return tensor.detach().requires_grad_(tensor.requires_grad)


# -- other devices, of which there are none ---------------------------------------------------------------------------


class DefaultDeviceType:
    """The type of device whose random state is kept where tensors do not tell. For programs that set it; the state of
    the CPU, the only device here, is kept in any case."""

    _default_device_type = "cpu"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        return DefaultDeviceType._default_device_type


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """get_device_states(*args): numbers and random states of the devices, beside the CPU, of these tensors: none."""
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: str | None = None) -> None:
    """set_device_states(devices, states): the counterpart; there must be none."""
    if len(devices) or len(states):
        raise RuntimeError("leafgrad computes on the CPU only, and states of other devices were given")
