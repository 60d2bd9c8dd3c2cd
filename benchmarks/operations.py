"""Single operations, on a thousand, a hundred thousand and ten million elements: forward, and forward with backward.
`python -m benchmarks operations --only softmax` times some of them alone."""

from __future__ import annotations

import functools
from typing import Any

from benchmarks.workload import Step, Workload, gradient_step

COUNTS = (1_000, 100_000, 10_000_000)
COLUMNS = 100

# x and y hold positive numbers, s numbers of both signs; m is s as a matrix with 100 columns, w one with 100 rows and
# columns, row has 100 elements; mask and index have as many as x. The gradient goes to x, y, s, m, w and row.
DIFFERENTIABLE = """
x + y
x - y
x * y
x * 2.0
x / y
x ** 2
x.exp()
x.log()
x.sqrt()
x.tanh()
x.sigmoid()
s.abs()
s.relu()
F.gelu(s)
F.silu(s)
s.clamp(-0.2, 0.2)
torch.where(mask, x, y)
torch.maximum(x, y)
x.sum()
x.mean()
x.std()
x.norm()
x.cumsum(0)
m.sum(0)
m.mean(1)
m.amax(1)
m.softmax(1)
m.log_softmax(1)
F.layer_norm(m, row.shape)
F.mse_loss(x, y)
F.dropout(x, 0.5)
m + row
m @ w
m.t().contiguous()
torch.cat([x, y])
x[index]
"""
OTHERS = """
x > y
m.argmax(1)
z.add_(y)
torch.randn(n)
"""


@functools.lru_cache(maxsize=1)  # of two sizes the larger ones would fill the memory
def tensors(torch: Any, n: int) -> dict[str, Any]:
    """What the expressions speak of, without gradients."""
    torch.manual_seed(0)
    made = {"x": torch.rand(n) + 0.1, "y": torch.rand(n) + 0.1, "z": torch.rand(n), "s": torch.rand(n) - 0.5}
    made |= {"m": made["s"].reshape(-1, COLUMNS), "w": torch.rand(COLUMNS, COLUMNS), "row": torch.rand(COLUMNS)}
    made |= {"mask": made["s"] > 0, "index": torch.randint(0, n, (n,))}
    return made


def step_of(torch: Any, expression: str, backward: bool, n: int) -> Step:
    """The expression as a function, or a function that computes its gradients as well and returns the first of them."""
    names = {"torch": torch, "F": torch.nn.functional, "n": n, **tensors(torch, n)}
    torch.manual_seed(0)
    if not backward:
        forward: Step = eval(f"lambda: {expression}", names)
        return forward
    code = compile(expression, "<operation>", "eval")
    leaves = [name for name in ("x", "y", "s", "m", "w", "row") if name in code.co_names]
    names.update({name: names[name].detach().requires_grad_() for name in leaves})
    return gradient_step(eval(f"lambda: {expression}", names), *[names[name] for name in leaves])


def operation_name(expression: str, backward: bool, n: int) -> str:
    return f"{expression}{' and backward' if backward else ''}, {n:,}"


GROUP = "Single operations"
OPERATIONS: dict[str, Workload] = {}
for n in COUNTS:
    for backward in (False, True):
        for expression in (DIFFERENTIABLE if backward else DIFFERENTIABLE + OTHERS).split("\n"):
            if expression:
                name = operation_name(expression, backward, n)
                size = {"expression": expression, "backward": backward, "n": n}
                OPERATIONS[name] = Workload(name, GROUP, step_of, size, {**size, "n": 2 * COLUMNS})
