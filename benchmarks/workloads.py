"""The workloads, written once for both libraries: each function takes the module (`torch` or `leafgrad`) and returns a
step to be timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Step = Callable[[], Any]
Workloads = dict[str, tuple[Callable[..., Step], tuple[Any, ...], int]]  # see WORKLOADS


def chain(torch: Any, n: int) -> Step:
    """x times a number, twenty times over, then backward to x."""
    torch.manual_seed(0)
    x = torch.rand(n, requires_grad=True)
    ones = torch.ones(n)

    def step() -> None:
        y = x
        for _ in range(20):
            y = y * 1.01
        y.backward(ones)
        x.grad = None

    return step


def chain_by_data(torch: Any, n: int) -> Step:
    """x times a tensor w without gradient, twenty times over, then backward to x."""
    torch.manual_seed(0)
    x = torch.rand(n, requires_grad=True)
    w = torch.rand(n) + 0.5
    ones = torch.ones(n)

    def step() -> None:
        y = x
        for _ in range(20):
            y = y * w
        y.backward(ones)
        x.grad = None

    return step


def chain_two_leaves(torch: Any, n: int) -> Step:
    """The same chain, backward to x and w: every product is saved, and the gradient of w is a sum of twenty."""
    torch.manual_seed(0)
    x = torch.rand(n, requires_grad=True)
    w = (torch.rand(n) + 0.5).requires_grad_()
    ones = torch.ones(n)

    def step() -> None:
        y = x
        for _ in range(20):
            y = y * w
        y.backward(ones)
        x.grad = w.grad = None

    return step


def square(torch: Any) -> Step:
    """(x * x).backward() of one number."""
    x = torch.tensor(2.0, requires_grad=True)

    def step() -> None:
        (x * x).backward()
        x.grad = None

    return step


def regression(torch: Any) -> Step:
    """One training step of the linear regression in examples/regression.py."""
    torch.manual_seed(0)
    inputs = torch.randn(100, 1, requires_grad=True)
    targets = (2 * inputs + 1 + torch.randn(100, 1) * 0.1).detach()
    model = torch.nn.Linear(1, 1)
    criterion = torch.nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        loss = criterion(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def classifier(torch: Any, optimizer: str) -> Step:
    """One training step of a 784-128-10 classifier on a batch of 64."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    images, labels = torch.rand(64, 784), torch.randint(0, 10, (64,))
    criterion = torch.nn.CrossEntropyLoss()
    update = getattr(torch.optim, optimizer)(model.parameters(), lr=1e-3)

    def step() -> None:
        loss = criterion(model(images), labels)
        update.zero_grad()
        loss.backward()
        update.step()

    return step


# name -> (function, its arguments, steps in one timing)
WORKLOADS: Workloads = {
    "chain of 20, 1 element": (chain, (1,), 50),
    "chain of 20, 1,000": (chain, (1_000,), 50),
    "chain of 20, 65,536": (chain, (65_536,), 10),
    "chain of 20, 1,048,576": (chain, (1_048_576,), 5),
    "chain by data, 1": (chain_by_data, (1,), 50),
    "chain by data, 1,000": (chain_by_data, (1_000,), 50),
    "chain by data, 65,536": (chain_by_data, (65_536,), 10),
    "chain by data, 1,048,576": (chain_by_data, (1_048_576,), 5),
    "chain to x and w, 1": (chain_two_leaves, (1,), 50),
    "chain to x and w, 1,000": (chain_two_leaves, (1_000,), 50),
    "chain to x and w, 65,536": (chain_two_leaves, (65_536,), 10),
    "chain to x and w, 1,048,576": (chain_two_leaves, (1_048_576,), 5),
    "(x*x).backward()": (square, (), 200),
    "regression step": (regression, (), 50),
    "784-128-10 step, SGD": (classifier, ("SGD",), 20),
    "784-128-10 step, Adam": (classifier, ("Adam",), 20),
}
