"""torch.futures: results that are not there yet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")


class Future(Generic[T]):
    """Future(*, devices=None): a result that somebody will set, and others wait for. Devices have no meaning here."""

    def __init__(self, *, devices: Sequence[Any] | None = None) -> None:
        self._set = threading.Condition()
        self._done = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Any], Any]] = []

    def done(self) -> bool:
        """done(): is there a result, or an error?"""
        return self._done

    def wait(self) -> T:
        """wait(): the result, as soon as it is there; an error is raised."""
        with self._set:
            self._set.wait_for(self.done)
        return self.value()

    def value(self) -> T:
        """value(): the result, which must be there; an error is raised."""
        if not self._done:
            raise RuntimeError("Future is not completed")
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[no-any-return]

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """then(callback): the future of `callback(self)`, which is called when this one is done."""
        following: Future[Any] = Future()

        def run(done: Future[T]) -> None:
            try:
                following.set_result(callback(done))
            except Exception as error:
                first = f"Got the following error when running the callback: {type(error).__name__}: {error}"
                following.set_exception(RuntimeError(first))

        self.add_done_callback(run)
        return following

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """add_done_callback(callback): call `callback(self)` when this one is done, or now if it is."""
        with self._set:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback(self)

    def set_result(self, result: T) -> None:
        """set_result(result): this is it. It can be set once."""
        self._finish(result, None)

    def set_exception(self, result: BaseException) -> None:
        """set_exception(result): those who wait get this error."""
        if not isinstance(result, Exception):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._finish(None, result)

    def _finish(self, result: Any, error: BaseException | None) -> None:
        with self._set:
            if self._done:
                raise RuntimeError("Future can only be marked completed once")
            self._result, self._error, self._done = result, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._set.notify_all()
        for callback in callbacks:
            callback(self)


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """collect_all(futures): a future that is done when all of these are; its result is their list."""
    together: Future[list[Future[Any]]] = Future()
    missing, lock = len(futures), threading.Lock()

    def one_less(done: Future[Any]) -> None:
        nonlocal missing
        with lock:
            missing -= 1
            last = not missing
        if last:
            together.set_result(futures)

    for future in futures:
        future.add_done_callback(one_less)
    if not futures:
        together.set_result([])
    return together


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """wait_all(futures): their results, when all are there; the first error is raised."""
    return [future.wait() for future in collect_all(futures).wait()]
