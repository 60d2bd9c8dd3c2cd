"""Switching recording on and off: context managers that are decorators as well, one state for each thread."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from leafgrad import errors
from leafgrad._core.modes import switches
from leafgrad._core.thread_state import every_thread, state

F = TypeVar("F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """is_grad_enabled(): does this thread record?"""
    return bool(state.asked if state.inference else state.recording)


def is_multithreading_enabled() -> bool:
    """is_multithreading_enabled(): what set_multithreading_enabled was told; leafgrad's results do not depend on it."""
    return bool(state.multithreading)


class Switch:
    """Sets a switch of this thread at once; as a context manager, until its end."""

    switch: str

    def __init__(self, mode: bool) -> None:
        self._before = getattr(state, self.switch)
        setattr(state, self.switch, bool(mode))

        self.mode = bool(mode)

    def __enter__(self) -> None:
        setattr(state, self.switch, self.mode)

    def __exit__(self, *error: Any) -> None:
        setattr(state, self.switch, self._before)

    def __call__(self, function: F) -> F:
        """As a decorator: while the function runs."""
        setattr(state, self.switch, self._before)

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.mode):
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]


class set_multithreading_enabled(Switch):
    """set_multithreading_enabled(mode): accepted and remembered; a backward pass runs in the thread that asked for it
    in any case."""

    switch = "multithreading"


class _force_original_view_tracking(Switch):
    """_force_original_view_tracking(mode): is the history of a view whose memory was changed made of the steps that led
    to the view (True), or of a single one?"""

    switch = "replay_views"


def is_view_replay_enabled() -> bool:
    """is_view_replay_enabled(): what _force_original_view_tracking was told."""
    return bool(state.replay_views)


class enforce_grad_layout_policy(Switch):
    """enforce_grad_layout_policy(enable=True): must a gradient that is moved into `.grad` lie in memory as its leaf
    does? With False it stays as it is."""

    switch = "keep_layout"

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)


def is_inference_mode_enabled() -> bool:
    return bool(state.inference)


class _DecoratorContextManager:
    """The base of context managers that are decorators as well, of functions and of generators."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any:
        raise NotImplementedError

    def clone(self) -> Self:
        """A new one with the same setting: each call of a decorated function has its own, so recursion is safe."""
        return type(self)()

    def __call__(self, function: F) -> F:
        if inspect.isclass(function):
            errors.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
                "functions or methods. To preserve the current behavior of class decoration, you can directly decorate "
                "the `__init__` method and nothing else.",
                FutureWarning,
            )
            setattr(function, "__init__", self(function.__init__))  # noqa: B010  a class is what it decorates
            return function
        if inspect.isgeneratorfunction(function):
            return self._decorate_generator(function)  # type: ignore[no-any-return]

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]

    def _decorate_generator(self, function: Any) -> Any:
        """The mode holds while the generator runs, not while its caller does."""

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            send: Any = functools.partial(next, generator)
            while True:
                try:
                    with self.clone():
                        item = send()
                except StopIteration as end:
                    return end.value
                try:
                    value = yield item
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    send = functools.partial(generator.throw, error)
                else:
                    send = functools.partial(generator.send, value)

        return inside


class Mode(_DecoratorContextManager):
    """A context manager and decorator that sets this thread's recording for a while. Entering twice nests. Inside
    inference_mode nothing is recorded, whatever else is asked for."""

    enabled = True
    inference: bool | None = None
    parentheses = True  # False: applied as @mode instead of @mode()

    def __init__(self) -> None:
        self._before: list[tuple[bool, bool, bool, bool]] = []

    def __enter__(self) -> None:
        self._before.append((state.recording, state.inference, state.asked, state.forward_mode))
        state.asked = self.enabled
        if self.inference is not None:
            state.inference = self.inference
            state.forward_mode = not self.inference
            with every_thread:
                switches.inference += self.inference
                switches.inference_used = True
        state.record(self.enabled and not state.inference)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        enabled, state.inference, state.asked, state.forward_mode = self._before.pop()
        state.record(bool(enabled))
        if self.inference is not None:
            with every_thread:
                switches.inference -= self.inference


class _WithoutParentheses(Mode):
    """`@no_grad` works like `@no_grad()`."""

    @overload
    def __new__(cls, function: F) -> F: ...  # type: ignore[misc]
    @overload
    def __new__(cls, function: None = None) -> Self: ...
    def __new__(cls, function: Any = None) -> Any:
        made = super().__new__(cls)
        if function is None:
            return made
        Mode.__init__(made)
        made.parentheses = False
        return made(function)

    def __init__(self, function: Any = None) -> None:
        super().__init__()


class no_grad(_WithoutParentheses):
    """no_grad(): nothing is recorded inside."""

    enabled = False


class enable_grad(_WithoutParentheses):
    """enable_grad(): recording is on inside, also within no_grad."""

    enabled = True


class set_grad_enabled(Mode):
    """set_grad_enabled(mode): sets recording at once; as a context manager, until its end."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.enabled = mode
        self._outer = (state.recording, state.inference, state.asked, state.forward_mode)
        state.asked = mode
        state.record(mode and not state.inference)

    def __enter__(self) -> None:
        super().__enter__()
        self._before[-1] = self._outer

    def clone(self) -> Self:
        return type(self)(self.enabled)

    def __call__(self, function: F) -> F:
        state.record(bool(self._outer[0]))  # as a decorator it must not change the state at once
        return super().__call__(function)


class _unsafe_preserve_version_counter:
    """_unsafe_preserve_version_counter(tensors): changes in place of these tensors inside are not counted, so that
    nobody notices them."""

    def __init__(self, tensors: Any) -> None:
        self.tensors = tensors if isinstance(tensors, tuple) else (tensors,)
        self._counts = [t._version for t in self.tensors]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        for t, count in zip(self.tensors, self._counts, strict=True):
            t.version[0] = count


class inference_mode(Mode):
    """inference_mode(mode=True): nothing is recorded inside, not even under enable_grad; with False, as outside."""

    @overload
    def __new__(cls, mode: F) -> F: ...  # type: ignore[misc]
    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    def __new__(cls, mode: Any = True) -> Any:
        made = super().__new__(cls)
        if isinstance(mode, bool):
            return made
        made.__init__()  # type: ignore[misc]
        return made(mode)

    def __init__(self, mode: Any = True) -> None:
        super().__init__()
        self.inference = mode if isinstance(mode, bool) else True
        self.enabled = not self.inference

    def clone(self) -> Self:
        return type(self)(self.inference)
