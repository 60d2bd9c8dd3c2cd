"""A tensor whose gradient is refused, where to treat it as a constant, silently, would be wrong; or goes no further."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NoReturn

from leafgrad._core.bind import bind, bind_many
from leafgrad._core.op import GradientRules, Op


def delayed_error(t: Any, message: str) -> Any:
    """The tensor with a history that cannot be gone back through: an error with this message."""
    return bind(_refusal(message), (t,))


def delayed_errors(tensors: Sequence[Any], message: str) -> tuple[Any, ...]:
    """The same for several, some of which may be None: they have one history."""
    if len(tensors) == 1:
        return (delayed_error(tensors[0], message),)
    made = iter(bind_many(_refusal(message, several=True), tuple(tensors)))
    return tuple([None if t is None else next(made) for t in tensors])


@functools.cache
def _refusal(message: str, several: bool = False) -> Op:
    def refuse(*args: Any) -> NoReturn:
        raise RuntimeError(message)

    def kernel(*arrays: Any) -> Any:
        views = [x.view() for x in arrays if x is not None]
        return views if several else views[0]

    return Op("delayed_error", "Error", kernel, GradientRules(refuse, lambda mask: ()))


def undefined_gradient(t: Any) -> Any:
    """The tensor with a history in which the backward pass goes on without a gradient."""
    return bind(_UNDEFINED, (t,))


_UNDEFINED = Op(
    "undefined_grad",
    "UndefinedGradBackward",
    lambda x: x.view(),
    GradientRules(lambda g, saved, inputs: (None,), lambda mask: ()),
)
