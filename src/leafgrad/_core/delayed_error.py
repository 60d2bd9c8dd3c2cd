"""A tensor whose gradient is refused: where to treat it as a constant, silently, would be wrong."""

from __future__ import annotations

import functools
from typing import Any, NoReturn

from leafgrad._core.bind import bind
from leafgrad._core.op import GradientRules, Op


def delayed_error(t: Any, message: str) -> Any:
    """The tensor with a history that cannot be gone back through: an error with this message."""
    return bind(_refusal(message), (t,))


@functools.cache
def _refusal(message: str) -> Op:
    def refuse(*args: Any) -> NoReturn:
        raise RuntimeError(message)

    return Op("delayed_error", "Error", lambda x: x.view(), GradientRules(refuse, lambda mask: ()))
