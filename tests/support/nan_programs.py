"""Programs whose loss is finite (or should be) and whose gradient is nan or inf: what makes it, and in which line.

Each has `x`, the leaf, and `loss`. The fix that a report prints must make the gradient finite and leave a finite loss
as it was.
"""

from __future__ import annotations

from typing import NamedTuple

HEAD = """\
import leafgrad as torch
import leafgrad.nn.functional as F
x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
"""


class NanProgram(NamedTuple):
    name: str
    lines: str  # after HEAD, so that the first is line 4
    operation: str
    line: int
    gradient: list[float] | None  # after the fix; None if there is none that can be printed


PROGRAMS = [
    NanProgram("where", "loss = torch.where(x > 0, x.sqrt(), x).sum()", "sqrt", 4, [1, 0.5, 0.25]),
    NanProgram("function", "loss = torch.where(x > 0, torch.sqrt(x), 0 * x).sum()", "sqrt", 4, [0, 0.5, 0.25]),
    NanProgram("other branch", "loss = torch.where(x <= 0, x, x.sqrt()).sum()", "sqrt", 4, [1, 0.5, 0.25]),
    NanProgram("method", "loss = x.sqrt().where(x > 0, x).sum()", "sqrt", 4, [1, 0.5, 0.25]),
    NanProgram("power", "loss = torch.where(x > 0, x ** 0.5, x).sum()", "pow", 4, [1, 0.5, 0.25]),
    NanProgram("division", "loss = torch.where(x != 0, 1 / x, x).sum()", "reciprocal", 4, [1, -1, -0.0625]),
    NanProgram("quotient", "loss = torch.where(x != 0, x / x, x).sum()", "div", 4, [1, 0, 0]),
    NanProgram("something between", "loss = torch.where(x > 0, 3 * x.sqrt() + 1, x).sum()", "sqrt", 4, [1, 1.5, 0.75]),
    NanProgram("two lines", "s = x.sqrt()\nloss = torch.where(x > 0, s, x).sum()", "sqrt", 4, [1, 0.5, 0.25]),
    NanProgram("three lines", "m = x > 0\ns = x.sqrt()\nloss = torch.where(m, s, x).sum()", "sqrt", 5, [1, 0.5, 0.25]),
    NanProgram("mask of the result", "d = x.sqrt()\nloss = torch.where(d > 0, d, 0.).sum()", "sqrt", 4, [0, 0.5, 0.25]),
    NanProgram("masked_fill", "loss = x.log().masked_fill(x <= 0, 0.).sum()", "log", 4, [0, 1, 0.25]),
    NanProgram(
        "masked_fill later", "m = x <= 0\ny = x.log()\nloss = y.masked_fill(m, 0.0).sum()", "log", 5, [0, 1, 0.25]
    ),
    NanProgram("product", "loss = (x.sqrt() * (x > 0)).sum()", "sqrt", 4, [0, 0.5, 0.25]),
    NanProgram("product of floats", "m = (x > 0).float()\nloss = (m * x.sqrt()).sum()", "sqrt", 5, [0, 0.5, 0.25]),
    NanProgram("selection", "loss = x.sqrt()[x > 0].sum()", "sqrt", 4, [0, 0.5, 0.25]),
    NanProgram("clamp", "loss = x.log().clamp(min=-100.).sum()", "log", 4, [0, 1, 0.25]),
    NanProgram("clamp function", "y = x.log()\nloss = torch.clamp(y, min=-5.).sum()", "log", 4, [0, 1, 0.25]),
    NanProgram("relu", "loss = torch.relu(x.sqrt() - 1.5).sum()", "sqrt", 4, [0, 0, 0.25]),
    NanProgram("entropy", "loss = torch.where(x > 0, x * x.log(), 0.).sum()", "log", 4, [0, 1, 2.3862944]),
    NanProgram(
        "in a function",
        "def root(v):\n    return v.sqrt()\nloss = torch.where(x > 0, root(x), x).sum()",
        "sqrt",
        5,
        [1, 0.5, 0.25],
    ),
    NanProgram(
        "in a module",
        "class Root(torch.nn.Module):\n    def forward(self, v):\n        s = torch.sqrt(v)\n"
        "        return torch.where(v > 0, s, v)\nloss = Root()(x).sum()",
        "sqrt",
        6,
        [1, 0.5, 0.25],
    ),
    NanProgram(
        "several lines",
        "y = torch.where(\n    x > 0,\n    x.sqrt(),\n    x,\n)\nloss = y.sum()",
        "sqrt",
        6,
        [1, 0.5, 0.25],
    ),
    NanProgram(
        "an argument on several lines",
        "y = torch.where(x > 0, (x +\n    0).sqrt(), x)\nloss = y.sum()",
        "sqrt",
        5,
        None,
    ),
    NanProgram(
        "an attribute that changes",
        "class State: pass\nself = State()\nself.m = x >= 0\ns = x.sqrt()\nself.m = x > 0\n"
        "loss = torch.where(self.m, s, x).sum()",
        "sqrt",
        7,
        [1, 0.5, 0.25],
    ),
    NanProgram("a comment", "y = x.sqrt()  # roots\nloss = y.where(x > 0, x).sum()", "sqrt", 4, [1, 0.5, 0.25]),
    NanProgram("setitem", "y = x.log()\ny[x <= 0] = 0.0\nloss = y.sum()", "log", 4, [0, 1, 0.25]),
    NanProgram("maximum", "loss = torch.maximum(x.log(), torch.tensor(-5.0)).sum()", "log", 4, [0, 1, 0.25]),
    NanProgram("nothing at all", "loss = (0 * x.sqrt()).sum()", "sqrt", 4, [0, 0, 0]),
    NanProgram("sinc", "loss = torch.where(x == 0, 1.0, x.sin() / x).sum()", "div", 4, [0, -0.3011687, -0.1161074]),
    NanProgram("keywords", "loss = torch.where(x > 0, input=x.sqrt(), other=x).sum()", "sqrt", 4, [1, 0.5, 0.25]),
    NanProgram("lambda", "f = lambda v: torch.where(v > 0, v.sqrt(), v)\nloss = f(x).sum()", "sqrt", 4, [1, 0.5, 0.25]),
    NanProgram(
        "a constant denominator",
        "b = torch.tensor([0.0, 2.0, 1.0])\nr = x / b\nloss = torch.where(b > 0, r, x).sum()",
        "div",
        5,
        [1, 0.5, 1],
    ),
    NanProgram(
        "a mask that is stretched",
        "m = torch.tensor([False, True])\nroots = torch.stack([x, x + 1]).sqrt()\n"
        "loss = torch.where(m[:, None], roots, 0.0).sum()",
        "sqrt",
        5,
        [0.5, 0.5 / 2**0.5, 0.5 / 5**0.5],
    ),
    NanProgram(
        "a mask that stretches",
        "m = torch.tensor([[False, True, True], [False, True, False]])\nloss = torch.where(m, x.sqrt(), 0.0).sum()",
        "sqrt",
        5,
        [0, 1, 0.25],
    ),
    NanProgram(
        "a loop",
        "loss = 0.0\nfor i in range(3):\n    loss = loss + torch.where(x > 0, x.sqrt() * i, x).sum()",
        "sqrt",
        6,
        [3, 1.5, 0.75],
    ),
    NanProgram(
        "distances",
        "d = ((x[:, None] - x[None]) ** 2).sqrt()\nloss = torch.where(d > 0, d, torch.zeros_like(d)).sum()",
        "sqrt",
        4,
        [-4, 0, 4],
    ),
    NanProgram(  # two of them in one line
        "cross entropy by hand",
        "p, y = x / 4, torch.tensor([0.0, 1.0, 1.0])\nloss = -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()",
        "log",
        5,
        [1 / 12, -1 / 3, -1 / 12],
    ),
    # the infinite slope is used
    NanProgram("norm at zero", "loss = ((x * 0) ** 2).sum().sqrt()", "sqrt", 4, [0, 0, 0]),
    NanProgram("root of zero", "y = torch.sqrt(x)\nloss = y.sum()", "sqrt", 4, [5e5, 0.5, 0.25]),
    NanProgram("logarithm of zero", "loss = -torch.log(x).mean()", "log", 4, [-1e12 / 3, -1 / 3, -1 / 12]),
]
