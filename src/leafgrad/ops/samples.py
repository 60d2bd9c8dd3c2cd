"""How an op's block writes down, for the tests, example calls and what they are in PyTorch.

`samples` is a function of `t`, the maker of tensors: `t(3, 4)` is a random tensor of that shape in whatever dtype and
memory layout the test is about, `t(5, low=0.1)` keeps it away from zero, `t(2, dtype="int64", high=5)` fixes the dtype.
It returns calls of the public function: `lambda t: [S(t(3, 4), dim=1), S(t(0))]`. Where a check of the tests asks too
much, a sample says `exempt_from(check)`, or the block `exempt = {check: why}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Maker = Callable[..., Any]
Samples = Callable[[Maker], list[Any]]


class S:
    """One call: positional and keyword arguments."""

    exempt: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs

    def exempt_from(self, *checks: str) -> S:
        """The same, which does not have to pass some of the tests' checks."""
        self.exempt = checks
        return self

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


class ValuesOnly:
    """Samples of an operation that cannot keep what the tests ask of all others, for a reason: those find no samples,
    and only results and gradients are compared with PyTorch's. `run(torch, *args)`, if nobody calls the operation by
    itself, is a program that uses it: the same one for PyTorch and, in its place, leafgrad."""

    def __init__(self, reason: str, samples: Samples, run: Callable[..., Any] | None = None) -> None:
        self.reason = reason
        self.samples = samples
        self.run = run

    def __call__(self, t: Maker) -> list[Any]:
        return []


# -- parts of references ----------------------------------------------------------------------------------------------


def through(x: Any, steps: Any) -> Any:
    """A tensor of PyTorch through the steps of a view, each an operation with its options."""
    for operation, options in steps:
        x = getattr(x, operation.name)(*options)
    return x


def transposed(torch: Any, linear: Callable[[Any], Any], shape: Any, x: Any) -> Any:
    """What PyTorch computes as the gradient of a linear function of a tensor of that shape if x is the gradient of its
    result."""
    point = torch.zeros(shape, dtype=x.dtype, requires_grad=True)
    with torch.enable_grad():
        return torch.autograd.grad(linear(point), point, x, create_graph=True)[0]
