"""Chains of operations: what recording and walking a graph costs."""

from __future__ import annotations

from typing import Any

from benchmarks.workload import Step, gradient_step, sizes, workload

CHAINS = "Chains of operations"


@workload(CHAINS, "chain of 20, {n:,}", *sizes("n", 1, 1_000, 65_536, 1_048_576), tiny={"n": 3})
def chain(torch: Any, n: int) -> Step:
    """x times a number, twenty times over, then backward to x."""
    torch.manual_seed(0)
    x = torch.rand(n, requires_grad=True)

    def result() -> Any:
        y = x
        for _ in range(20):
            y = y * 1.01
        return y

    return gradient_step(result, x)


@workload(CHAINS, "chain of 20 by data, {n:,}", *sizes("n", 1_000, 1_048_576), tiny={"n": 3})
def chain_by_data(torch: Any, n: int) -> Step:
    """x times a tensor w without gradient, twenty times over, then backward to x."""
    torch.manual_seed(0)
    x = torch.rand(n, requires_grad=True)
    w = torch.rand(n) + 0.5

    def result() -> Any:
        y = x
        for _ in range(20):
            y = y * w
        return y

    return gradient_step(result, x)


@workload(CHAINS, "chain of 20 to x and w, {n:,}", *sizes("n", 1_000, 1_048_576), tiny={"n": 3})
def chain_to_both(torch: Any, n: int) -> Step:
    """The same, backward to x and w: every product is saved, and the gradient of w is a sum of twenty."""
    torch.manual_seed(0)
    x = torch.rand(n, requires_grad=True)
    w = (torch.rand(n) + 0.5).requires_grad_()

    def result() -> Any:
        y = x
        for _ in range(20):
            y = y * w
        return y

    return gradient_step(result, w, x)


@workload(CHAINS, "(x * x).backward()")
def square(torch: Any) -> Step:
    """The shortest graph of one number."""
    x = torch.tensor(2.0, requires_grad=True)

    def step() -> Any:
        (x * x).backward()
        gradient = x.grad
        x.grad = None
        return gradient

    return step
