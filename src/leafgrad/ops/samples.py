"""How an op's block writes down example calls for the tests.

`samples` is a function of `t`, the maker of tensors: `t(3, 4)` is a random tensor of that shape in whatever dtype and
memory layout the test is about, `t(5, low=0.1)` keeps it away from zero, `t(2, dtype="int64", high=5)` fixes the dtype.
It returns calls of the public function: `lambda t: [S(t(3, 4), dim=1), S(t(0))]`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Maker = Callable[..., Any]
Samples = Callable[[Maker], list[Any]]


class S:
    """One call: positional and keyword arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs

    def __repr__(self) -> str:
        return f"S({', '.join([*map(repr, self.args), *[f'{k}={v!r}' for k, v in self.kwargs.items()]])})"


def real(low: float = -2.0, high: float = 2.0) -> Samples:
    """Samples of a function of one tensor: several shapes, empty, without dimensions."""
    return lambda t: [S(t(*shape, low=low, high=high)) for shape in [(3, 4), (5,), (), (2, 0, 3), (1,)]]


def pairs(low: float = -2.0, high: float = 2.0, numbers: bool = True) -> Samples:
    """Samples of a function of two tensors: equal shapes, broadcasting both ways, empty, a Python number."""
    shapes = [((3, 4), (3, 4)), ((3, 1), (4,)), ((2, 3), ()), ((), ()), ((0, 3), (3,)), ((4,), (2, 1, 4))]
    return lambda t: [
        *[S(t(*a, low=low, high=high), t(*b, low=low, high=high)) for a, b in shapes],
        *[S(t(3, low=low, high=high), number) for number in (1.5, 2) if numbers],
    ]
