"""`python -m leafgrad demo`: four questions about `backward()`, each a short program, shown, run and explained."""

from __future__ import annotations

import linecache
import textwrap
import warnings
from pathlib import Path
from typing import NamedTuple

from leafgrad.random import manual_seed


class Part(NamedTuple):
    """A question and the program that answers it."""

    question: str
    file: str
    program: str


PARTS = [
    Part(
        "Which leaves get a gradient, and why not the others?",
        "regression.py",
        """
        import leafgrad as torch
        from leafgrad import nn

        class Regression(nn.Module):
            def __init__(self):
                super().__init__()
                self.hidden = nn.Linear(1, 8)
                self.out = nn.Linear(8, 1)
                self.spare = nn.Linear(8, 1)
            def forward(self, x):
                return self.out(self.hidden(x).relu())

        X = torch.randn(100, 1)
        y = 2 * X + 1
        model = Regression()
        model.hidden.bias.requires_grad_(False)
        loss = nn.functional.mse_loss(model(X), y)
        print(torch.explain(loss, model))
        print()
        print(torch.graph(loss, model).text())
        torch.graph(loss, model).save(PICTURE)
        """,
    ),
    Part(
        "Why is this .grad None?",
        "metric.py",
        """
        import leafgrad as torch

        w = torch.ones(3, requires_grad=True)
        b = torch.zeros(1, requires_grad=True)
        x = torch.tensor([1.0, 2.0, 3.0])
        scores = w * x
        total = scores.sum().item()
        loss = ((total + b) ** 2).sum()
        loss.backward()
        print(w.grad, b.grad)
        print(torch.why(w))
        """,
    ),
    Part(
        "Why does it train badly, although nothing fails?",
        "silent.py",
        """
        import sys
        import leafgrad as torch
        from leafgrad import nn

        X = torch.linspace(-1, 1, 32).unsqueeze(1)
        y = 2 * X.squeeze(1)
        model = nn.Linear(1, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with torch.check(model, optimizer, file=sys.stdout):
            for step in range(3):
                loss = nn.functional.mse_loss(model(X), y)
                loss.backward()
                optimizer.step()
        """,
    ),
    Part(
        "What does backward(gradient=...) do?",
        "weights.py",
        """
        import leafgrad as torch

        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = torch.stack([x[0] ** 2, x[1] ** 2, x[0] * x[1]])
        v = torch.tensor([1.0, 0.1, 0.01])
        y.backward(gradient=v, retain_graph=True)
        print(torch.vjp_report(y, v))
        """,
    ),
]


def demo(picture: Path) -> None:
    """Show everything, and write the picture of the first graph."""
    manual_seed(0)
    for number, part in enumerate(PARTS, 1):
        program = textwrap.dedent(part.program).strip("\n")
        print(f"{number}. {part.question}\n")
        print(textwrap.indent(program, "    "))
        print(f"\n{'-' * 100}\n")
        run(part.file, program, picture)
        print(f"\n{'=' * 100}\n")
    print(f"The picture of the first graph: {picture}. Open it in a browser; modules open with a click.")


def run(file: str, program: str, picture: Path) -> None:
    """Run a program as if it were a file of the user's, whose lines can be named."""
    linecache.cache[file] = (len(program), None, program.splitlines(keepends=True), file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(program, file, "exec"), {"__name__": "__main__", "PICTURE": picture})
