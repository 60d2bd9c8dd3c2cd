"""Single operations, written once for both libraries: `python benchmarks/run.py --operations` times them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Step = Callable[[], Any]

# x, y and z hold positive numbers, s numbers of both signs, mask is a condition, leaf needs a gradient.
EXPRESSIONS = """
x + y
x * 2
x / y
x > y
x.exp()
x.tanh()
x.sigmoid()
s.relu()
s.clamp(0.1, 0.9)
x ** 2
x.sqrt()
torch.where(mask, x, y)
torch.maximum(x, y)
x.sum()
x.mean()
x.max()
x.argmax()
x.std(correction=0)
x.norm()
x.cumsum(0)
x.softmax(0)
torch.dot(x, y)
x.sort()
z.add_(y)
z.mul_(1.0)
z.zero_()
x.clone()
x[0]
x[1:]
x.reshape(-1)
x.unsqueeze(0)
x.view(-1, 1).t()
x.flip(0)
torch.cat([x, y])
torch.zeros(n)
torch.tensor([1.0, 2.0, 3.0])
torch.rand(n)
torch.randn(n)
(leaf * y).sum().backward()
leaf.relu().sum().backward()
leaf.softmax(0).sum().backward()
"""


def operation(torch: Any, expression: str, n: int) -> Step:
    """One expression on tensors of n elements."""
    torch.manual_seed(0)
    names = {"torch": torch, "n": n, "x": torch.rand(n) + 0.1, "y": torch.rand(n) + 0.1, "z": torch.rand(n)}
    names["s"] = torch.rand(n) - 0.5
    names["mask"] = names["s"] > 0
    names["leaf"] = (torch.rand(n) - 0.5).requires_grad_()
    step: Step = eval(f"lambda: {expression}", names)
    return step


# name -> (function, its arguments, steps in one timing), as in workloads.py
OPERATIONS: dict[str, tuple[Callable[..., Step], tuple[Any, ...], int]] = {
    f"{expression}, {n:,}": (operation, (expression, n), 500 if n < 10_000 else 5)
    for n in (1, 1_000, 1_000_000)
    for expression in EXPRESSIONS.strip().splitlines()
}
