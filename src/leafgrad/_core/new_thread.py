"""Backward passes inside backward passes, thousands deep: a new thread now and then has a stack of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from leafgrad._core.recorder import late, state


def in_new_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a new thread with the modes of this one, and wait for it."""
    modes = dict(state.__dict__)
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def work() -> None:
        state.__dict__.update(modes)
        try:
            outcome.append(function(*args))
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]


late.in_new_thread = in_new_thread
