"""What can be timed: a function for either library, in the sizes that are measured and in one that tests can afford."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Step = Callable[[], Any]
Make = Callable[..., Step]  # make(torch, **size) builds everything, and returns the step that is timed


@dataclass(frozen=True)
class Workload:
    name: str
    group: str
    make: Make
    size: Mapping[str, Any]
    tiny: Mapping[str, Any]  # for the tests
    trains: bool = False  # its peak of memory is measured too
    # Other forms of the same step that PyTorch has, by name: what `make` is given in addition.
    rivals: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


WORKLOADS: dict[str, Workload] = {}


def workload(
    group: str,
    name: str,
    *sizes: Mapping[str, Any],
    tiny: Mapping[str, Any] | None = None,
    trains: bool = False,
    rivals: Mapping[str, Mapping[str, Any]] | None = None,
) -> Callable[[Make], Make]:
    """Register a function in each of the sizes, under a name that may mention them: "chain of 20, {n:,}"."""

    def register(make: Make) -> Make:
        for size in sizes or ({},):
            title = name.format(**size)
            assert title not in WORKLOADS, title
            WORKLOADS[title] = Workload(title, group, make, size, {**size, **(tiny or {})}, trains, rivals or {})
        return make

    return register


def sizes(key: str, *values: Any) -> Sequence[Mapping[str, Any]]:
    """The same size by one name: sizes("n", 1, 1_000)."""
    return [{key: value} for value in values]


def training_step(
    torch: Any, loss: Callable[[], Any], parameters: Any, optimizer: str = "Adam", **options: Any
) -> Step:
    """The usual four lines; the loss is returned, so that a test can compare it."""
    update = getattr(torch.optim, optimizer)(parameters, **{"lr": 1e-3, **options})

    def step() -> Any:
        result = loss()
        update.zero_grad()
        result.backward()
        update.step()
        return result

    return step


def gradient_step(result: Callable[[], Any], *leaves: Any) -> Step:
    """Forward, backward with ones, and the gradients taken away again. Returns the gradient of the first leaf."""
    ones = result().detach() * 0 + 1

    def step() -> Any:
        result().backward(ones)
        gradient = leaves[0].grad
        for leaf in leaves:
            leaf.grad = None
        return gradient

    return step
