"""Switching recording on and off: context managers that are decorators as well, one state for each thread."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar

from leafgrad._core import state

F = TypeVar("F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """is_grad_enabled(): does this thread record?"""
    return bool(state.grad_enabled)


def is_inference_mode_enabled() -> bool:
    return bool(state.inference)


class Mode:
    """A context manager and decorator that sets this thread's recording for a while. Entering twice nests."""

    enabled = True
    inference: bool | None = None

    def __init__(self) -> None:
        self._before: list[tuple[bool, bool]] = []

    def __enter__(self) -> Self:
        self._before.append((state.grad_enabled, state.inference))
        state.grad_enabled = self.enabled
        if self.inference is not None:
            state.inference = self.inference
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        state.grad_enabled, state.inference = self._before.pop()

    def again(self) -> Mode:
        """A new one with the same setting: each call of a decorated function has its own, so recursion is safe."""
        return type(self)()

    def __call__(self, function: F) -> F:
        if inspect.isclass(function):
            raise TypeError("a mode decorates functions; decorate the methods of the class instead")
        if inspect.isgeneratorfunction(function):
            return self._decorate_generator(function)  # type: ignore[no-any-return]

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self.again():
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
                    with self.again():
                        item = send()
                except StopIteration as end:
                    return end.value
                try:
                    value = yield item
                except GeneratorExit:
                    with self.again():
                        generator.close()
                    raise
                except BaseException as error:
                    send = functools.partial(generator.throw, error)
                else:
                    send = functools.partial(generator.send, value)

        return inside


class _WithoutParentheses(Mode):
    """`@no_grad` works like `@no_grad()`."""

    def __new__(cls, function: Any = None) -> Any:
        made = super().__new__(cls)
        if function is None:
            return made
        Mode.__init__(made)
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
        self.enabled = bool(mode)
        self._outer = (state.grad_enabled, state.inference)
        state.grad_enabled = self.enabled

    def __enter__(self) -> Self:
        self._before.append(self._outer)
        state.grad_enabled = self.enabled
        return self

    def again(self) -> Mode:
        return set_grad_enabled(self.enabled)

    def __call__(self, function: F) -> F:
        state.grad_enabled = self._outer[0]  # as a decorator it must not change the state at once
        return super().__call__(function)


class inference_mode(Mode):
    """inference_mode(mode=True): no_grad, and results that never take part in a graph."""

    def __new__(cls, mode: Any = True) -> Any:
        made = super().__new__(cls)
        if isinstance(mode, bool):
            return made
        made.__init__()  # type: ignore[misc]
        return made(mode)

    def __init__(self, mode: Any = True) -> None:
        super().__init__()
        on = mode if isinstance(mode, bool) else True
        self.mode = on
        self.enabled = not on if on else True
        self.inference = on

    def __enter__(self) -> Self:
        if not self.mode:
            self.enabled = state.grad_enabled
        return super().__enter__()

    def again(self) -> Mode:
        return inference_mode(self.mode)
