"""Small programs that go wrong, for the tests of the error messages with and without PyTorch.

A comment `#@ at` at the end of a line is a mark: the message must have a row `at` that gives this line. Marks are taken
out before a program runs. A program finds `torch` (PyTorch or leafgrad), `nn` and `np`.
"""

from __future__ import annotations

import json
import re
import textwrap
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STORED = Path(__file__).resolve().parents[1] / "data" / "errors.json"
MARK = re.compile(r"\s*#@ (?P<labels>[\w ]+)$")


@dataclass
class Case:
    """A program, the lines that its message must name, and what else must be in the message."""

    name: str
    program: str
    says: tuple[str, ...] = ()
    lines: dict[str, list[int]] = field(default_factory=dict)  # by label

    @property
    def source(self) -> str:
        return "\n".join(MARK.sub("", line) for line in self.program.split("\n")) + "\n"

    def __post_init__(self) -> None:
        self.program = textwrap.dedent(self.program).strip("\n")
        for number, line in enumerate(self.program.split("\n"), 1):
            if marked := MARK.search(line):
                for label in marked["labels"].split():
                    self.lines.setdefault(label, []).append(number)


CASES: dict[str, Case] = {}


def case(name: str, program: str, *says: str) -> None:
    assert name not in CASES
    CASES[name] = Case(name, program, says)


@dataclass
class Outcome:
    """How a program ended: the error's (or warning's) type and message."""

    kind: str
    message: str

    @property
    def first_line(self) -> str:
        return re.sub(r" \(Triggered internally at .*\)$", "", self.message.split("\n", 1)[0]).rstrip()


def run(one: Case, torch: Any, folder: Path) -> Outcome:
    """Runs a program from a file, so that its lines can be read."""
    import numpy as np

    path = folder / (re.sub(r"\W+", "_", one.name) + ".py")
    path.write_text(one.source, encoding="utf-8")
    names = {"__name__": "program", "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(one.source, str(path), "exec"), names)
        except Exception as error:
            return Outcome(type(error).__name__, str(error))
    assert caught, f"{one.name}: neither an error nor a warning"
    return Outcome(caught[0].category.__name__, str(caught[0].message))


def stored() -> dict[str, Outcome]:
    return {name: Outcome(*both) for name, both in json.loads(STORED.read_text(encoding="utf-8"))["cases"].items()}


def store(torch_version: str, outcomes: dict[str, Outcome]) -> None:
    cases = {name: [outcome.kind, outcome.first_line] for name, outcome in outcomes.items()}
    text = json.dumps({"torch": torch_version, "cases": cases}, indent=1)
    STORED.write_text(text + "\n", encoding="utf-8")


# -- starting a backward pass -----------------------------------------------------------------------------------------

case(
    "backward of a vector",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 2  #@ recorded
    y.backward()  #@ at
    """,
    "'y', shape [3]",
    "y.sum().backward()",
    "y.mean().backward()",
    "y.backward(gradient=torch.ones_like(y))",
)
case(
    "backward of a vector without a name",
    """
    x = torch.ones(3, 2, requires_grad=True)
    (x * 2).backward()  #@ at
    """,
    "the result of mul, shape [3, 2]",
    "(x * 2).sum().backward()",
)
case(
    "grad of a vector",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 2  #@ recorded
    torch.autograd.grad(y, x)  #@ at
    """,
    "'y', shape [3]",
    "y.sum()",
)
case(
    "backward of a complex number",
    """
    x = torch.ones((), dtype=torch.complex64, requires_grad=True)
    y = x * 2  #@ recorded
    y.backward()  #@ at
    """,
    "'y', shape []",
    "y.abs().backward()",
)
case(
    "gradient of another shape",
    """
    x = torch.ones(3, 2, requires_grad=True)
    y = x * 2  #@ recorded
    g = torch.ones(2)
    y.backward(g)  #@ at
    """,
    "'g', shape [2]",
    "'y', shape [3, 2]",
    "torch.ones(3, 2)",
)
case(
    "grad_outputs of another shape",
    """
    x = torch.ones((), requires_grad=True)
    y = x * 2  #@ recorded
    torch.autograd.grad(y, x, torch.ones(1))  #@ at
    """,
    "shape [1]",
    "'y', shape []",
    "torch.ones(())",
)
case(
    "gradient that is complex",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 2  #@ recorded
    g = torch.ones(3, dtype=torch.complex64)
    y.backward(g)  #@ at
    """,
    "g.to(torch.float32)",
)
case(
    "gradient that is no tensor",
    """
    x = torch.ones(3, requires_grad=True)
    (x * 2).backward([1.0])  #@ at
    """,
)
case("backward of a number", "torch.autograd.backward([3.0])  #@ at")
case(
    "no inputs for backward",
    """
    x = torch.ones((), requires_grad=True)
    (x * 2).backward(inputs=[])  #@ at
    """,
)
case(
    "no inputs for grad",
    """
    x = torch.ones((), requires_grad=True)
    torch.autograd.grad(x * 2, [])  #@ at
    """,
)
case(
    "an input that is no tensor",
    """
    x = torch.ones((), requires_grad=True)
    torch.autograd.grad(x * 2, [3])  #@ at
    """,
)
case(
    "materialize_grads without allow_unused",
    """
    x = torch.ones((), requires_grad=True)
    torch.autograd.grad(x * 2, x, allow_unused=False, materialize_grads=True)
    """,
)

# -- no graph ---------------------------------------------------------------------------------------------------------

NO_GRAPH = "neither it nor what it was computed from requires grad"

case(
    "backward of data",
    """
    x = torch.ones(3)
    loss = x.sum()
    loss.backward()  #@ at
    """,
    f"'loss', shape []: {NO_GRAPH}",
    ".requires_grad_()",
)
case(
    "the second of two roots",
    """
    x = torch.ones((), requires_grad=True)
    data = torch.ones(())
    torch.autograd.backward([x * 2, data])  #@ at
    """,
    f"'data', shape []: {NO_GRAPH}",
)
case(
    "cut under no_grad",
    """
    w = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        y = w * 2  #@ cut
    loss = (y * y).sum()
    loss.backward()  #@ at
    """,
    "'loss', shape []: computed under no_grad()",
    "with torch.no_grad():",
    "with torch.enable_grad():",
)
case(
    "cut by a decorator",
    """
    w = torch.ones(3, requires_grad=True)
    @torch.no_grad()
    def predict(x):
        return x * w  #@ cut
    loss = predict(torch.ones(3)).sum()
    loss.backward()  #@ at
    """,
    "'loss', shape []: computed under no_grad()",
)
case(
    "cut under inference_mode",
    """
    w = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        loss = (w * 2).sum()  #@ cut
    loss.backward()  #@ at
    """,
    "'loss', shape []: computed under inference_mode()",
    "with torch.inference_mode():",
)
case(
    "cut by detach",
    """
    w = torch.ones(3, requires_grad=True)
    hidden = (w * 2).detach()  #@ cut
    loss = (hidden * 3).sum()
    loss.backward()  #@ at
    """,
    "'loss', shape []: its graph was cut by detach()",
    "(w * 2)   # without detach()",
)
case(
    "cut by detach_",
    """
    w = torch.ones(3, requires_grad=True)
    y = w * 2
    y.detach_()  #@ cut
    y.sum().backward()  #@ at
    """,
    "its graph was cut by detach()",
)
case(
    "cut by data",
    """
    w = torch.ones(3, requires_grad=True)
    loss = w.data.sum()  #@ cut
    loss.backward()  #@ at
    """,
    "'loss', shape []: its graph was cut by .data",
    "w   # without .data",
)
case(
    "cut by tensor",
    """
    a = torch.ones((), requires_grad=True)
    b = torch.ones((), requires_grad=True)
    loss = torch.tensor([a * 2, b]).sum()  #@ cut
    loss.backward()  #@ at
    """,
    "'loss', shape []: its graph was cut by tensor()",
    "torch.stack([a, b])",
)
case(
    "cut by argmax",
    """
    x = torch.ones(3, requires_grad=True)
    best = x.argmax()  #@ cut
    best.backward()  #@ at
    """,
    "'best', shape []: its graph ends at argmax",
)
case(
    "cut by a comparison",
    """
    x = torch.ones(3, requires_grad=True)
    hits = (x > 0)  #@ cut
    loss = 1 - hits.float().mean()
    loss.backward()  #@ at
    """,
    "'loss', shape []: its graph ends at gt",
    "comparisons have no gradient",
)
case(
    "cut by an integer",
    """
    x = torch.ones(3, requires_grad=True)
    loss = x.long().sum()  #@ cut
    loss.backward()  #@ at
    """,
    "integers",
)
case(
    "cut by item",
    """
    x = torch.ones(3, requires_grad=True)
    loss = torch.tensor((x * x).sum().item())
    loss.backward()  #@ at
    """,
    "'loss', shape []",
    ".item(), .numpy() and float() lead out of a graph",
)
case(
    "backward of integers",
    """
    counts = torch.arange(3).sum()
    counts.backward()  #@ at
    """,
    "'counts', shape []: it holds torch.int64",
)
case(
    "grad of data",
    """
    w = torch.ones(3, requires_grad=True)
    y = torch.ones(())
    torch.autograd.grad(y, w)  #@ at
    """,
    f"'y', shape []: {NO_GRAPH}",
)
case(
    "an input that does not require grad",
    """
    x = torch.ones(2, requires_grad=True)
    z = torch.ones(3)
    y = (x * x).sum()
    torch.autograd.grad(y, [x, z])  #@ at
    """,
    f"'z', shape [3]: {NO_GRAPH}",
    "z.requires_grad_()",
)
case(
    "an input of backward that does not require grad",
    """
    x = torch.ones(2, requires_grad=True)
    z = x.detach()  #@ cut
    (x * x).sum().backward(inputs=[z])  #@ at
    """,
    "'z', shape [2]: its graph was cut by detach()",
)
case(
    "an input that was not used",
    """
    x = torch.ones(2, requires_grad=True)
    z = torch.ones(3, requires_grad=True)
    y = (x * x).sum()
    torch.autograd.grad(y, [x, z])  #@ at
    """,
    "'z', shape [3]: no path leads from the outputs back to it",
    "torch.autograd.grad(y, [x, z], allow_unused=True)",
    "materialize_grads=True",
)
case(
    "an unused input that was computed",
    """
    x = torch.ones(2, requires_grad=True)
    h = x * 2  #@ recorded
    y = (x * x).sum()
    torch.autograd.grad(y, h)  #@ at
    """,
    "'h', shape [2]",
)
case(
    "retain_grad without a graph",
    """
    x = torch.ones(3)
    x.retain_grad()  #@ at
    """,
    "'x', shape [3]",
    "x.requires_grad_()",
)
case(
    "a hook without a graph",
    """
    x = torch.ones(3)
    x.register_hook(lambda g: g)  #@ at
    """,
    "'x', shape [3]",
    "x.requires_grad_()",
)

# -- a graph that was used before -------------------------------------------------------------------------------------

case(
    "the same backward twice",
    """
    x = torch.ones(3, requires_grad=True)
    loss = (x * x).sum()  #@ recorded
    loss.backward()  #@ freed
    loss.backward()  #@ at
    """,
    "'loss', shape []: its graph was used by an earlier backward",
    "loss.backward(retain_graph=True)",
)
case(
    "the same grad twice",
    """
    x = torch.ones((), requires_grad=True)
    y = x * x  #@ recorded
    torch.autograd.grad(y, x)  #@ freed
    torch.autograd.grad(y, x)  #@ at
    """,
    "'y', shape []",
    "torch.autograd.grad(y, x, retain_graph=True)",
)
case(
    "two losses on one trunk",
    """
    x = torch.ones(3, requires_grad=True)
    hidden = x.exp()  #@ recorded
    first = (hidden * 2).sum()
    second = (hidden * hidden).sum()
    first.backward()  #@ freed
    second.backward()  #@ at
    """,
    "'hidden', shape [3]: both backward passes go through it",
    "hidden.detach()",
    "first.backward(retain_graph=True)",
)
case(
    "targets that hang on the graph of the inputs",
    """
    x = torch.ones(4, 1, requires_grad=True)
    y = 2 * x + 1  #@ recorded
    w = torch.ones(1, 1, requires_grad=True)
    for epoch in range(2):
        loss = ((x * w - y) ** 2).mean()
        loss.backward()  #@ freed at
    """,
    "'y', shape [4, 1]: it belongs to a graph that an earlier backward has freed",
    "y = y.detach()",
    "loss.backward(retain_graph=True)",
)
case(
    "a hidden state that is carried on",
    """
    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x, h):
            return torch.tanh(self.linear(x) + h)  #@ recorded

    cell = Cell()
    h = torch.zeros(2)
    for step in range(2):
        h = cell(torch.ones(2), h)
        h.sum().backward()  #@ freed at
    """,
    "'h', shape [2]",
    "h = h.detach()",
)
case(
    "a hidden state that a module keeps",
    """
    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)
            self.hidden = torch.zeros(2)

        def forward(self, x):
            self.hidden = torch.tanh(self.linear(x) + self.hidden)  #@ recorded
            return self.hidden

    agent = Agent()
    for step in range(2):
        loss = agent(torch.ones(2)).sum()
        loss.backward()  #@ freed at
    """,
    "hidden', shape [2]",
    "hidden.detach()",
)
case(
    "a running total",
    """
    w = torch.ones(2, requires_grad=True)
    total = 0
    for step in range(2):
        loss = (w * w).sum()
        total = total + loss  #@ recorded
        total.backward()  #@ freed at
    """,
    "'total', shape []",
    "total = total.detach()",
)

# -- a graph whose values were changed --------------------------------------------------------------------------------

case(
    "a saved input that was changed",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = y * y  #@ saved
    y.add_(1)  #@ changed
    z.sum().backward()  #@ at
    """,
    "'y', shape [3]: an input of mul",
    "y = y.add(1)",
)
case(
    "a saved result that was changed",
    """
    x = torch.ones(3, requires_grad=True)
    y = x.exp()  #@ saved
    z = y.sum()
    y += 1  #@ changed
    z.backward()  #@ at
    """,
    "'y', shape [3]: the result of exp",
    "y = y + 1",
)
case(
    "a saved constant that was changed",
    """
    x = torch.ones(3, requires_grad=True)
    mask = torch.ones(3)
    z = (x * mask).sum()  #@ saved
    mask *= 1 - mask  #@ changed
    z.backward()  #@ at
    """,
    "'mask', shape [3]: an input of mul",
    "mask = mask * (1 - mask)",
)
case(
    "a saved tensor that was changed by assignment",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    z = y.sin().sum()  #@ saved
    y[0] = 5.0  #@ changed
    z.backward()  #@ at
    """,
    "'y', shape [3]: an input of sin",
    "y = y.clone()",
)
case(
    "a saved tensor that was changed through a view",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    z = y.sin().sum()  #@ saved
    y[:2].mul_(5.0)  #@ changed
    z.backward()  #@ at
    """,
    "'y', shape [3]: an input of sin",
)
case(
    "a leaf that was changed before backward",
    """
    w = torch.ones(3, requires_grad=True)
    loss = (w * w).sum()  #@ saved
    with torch.no_grad():
        w += 1  #@ changed
    loss.backward()  #@ at
    """,
    "'w', shape [3]: an input of mul",
    "backward() before that line",
)
case(
    "a step before the second backward",
    """
    first, second = nn.Linear(2, 1), nn.Linear(1, 1)
    optimizer = torch.optim.SGD(second.parameters(), lr=0.1)
    loss = second(first(torch.ones(1, 2))).sum()  #@ saved
    loss.backward(retain_graph=True)
    optimizer.step()  #@ changed
    loss.backward()  #@ at
    """,
    "'second.weight', shape [1, 1]: an input of linear",
)
case(
    "a saved double that was changed",
    """
    x = torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
    y = torch.sigmoid(x)  #@ saved
    y.mul_(2)  #@ changed
    y.sum().backward()  #@ at
    """,
    "'y', shape [2, 3]: the result of sigmoid",
    "y = y.mul(2)",
)
case(
    "a saved factor of a matrix product",
    """
    x = torch.ones(3, 3, requires_grad=True)
    w = torch.ones(3, 3)
    z = (x @ w).sum()  #@ saved
    w.zero_()  #@ changed
    z.backward()  #@ at
    """,
    "'w', shape [3, 3]",
    "w = w.clone()",
)

# -- changing in place ------------------------------------------------------------------------------------------------

case(
    "a leaf in place",
    """
    w = torch.ones(3, requires_grad=True)
    w -= 0.1  #@ at
    """,
    "'w', shape [3]",
    "with torch.no_grad(): w -= 0.1",
    "w = w - 0.1",
)
case(
    "a leaf in place by a method",
    """
    w = torch.ones(3, requires_grad=True)
    w.mul_(2)  # twice as much  #@ at
    """,
    "with torch.no_grad(): w.mul_(2)   #",
    "w = w.mul(2)",
)
case(
    "a parameter in place",
    """
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 1)

    model = Model()
    for parameter in model.parameters():
        parameter.zero_()  #@ at
    """,
    "'model.linear.weight', shape [1, 2]",
    "with torch.no_grad(): parameter.zero_()",
)
case(
    "an element of a leaf",
    """
    w = torch.ones(3, requires_grad=True)
    w[0] = 1.0  #@ at
    """,
    "'w', shape [3]",
    "with torch.no_grad(): w[0] = 1.0",
)
case(
    "a view of a leaf",
    """
    w = torch.ones(4, requires_grad=True)
    v = w.view(2, 2)
    v.mul_(2)  #@ at
    """,
    "'w', shape [4]",
    "with torch.no_grad(): v.mul_(2)",
    "w = w.clone()",
)
case(
    "one of many views",
    """
    x = torch.ones(4, requires_grad=True)
    a, b = (x * 1).split(2)  #@ recorded
    b += 1  #@ at
    """,
    "'b', shape [2]",
    "b = b + 1",
)
case(
    "an element of an iteration",
    """
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    for row in y:  #@ recorded
        row.mul_(2)  #@ at
    """,
    "'row', shape []",
    "'y', shape [4]",
)
case(
    "a view that was taken under no_grad",
    """
    x = torch.ones(4, requires_grad=True)
    y = x * 1
    with torch.no_grad():
        v = y[:2]
    v.mul_(2)  #@ at
    """,
    "'v', shape [2]",
    "'y', shape [4]",
)
case(
    "a larger shape in place",
    """
    x = torch.ones(3)
    x += torch.ones(2, 3)  #@ at
    """,
    "[3]",
    "[2, 3]",
    "x = x + torch.ones(2, 3)",
)
case(
    "a float into integers",
    """
    x = torch.ones(3, dtype=torch.int64)
    x += 0.5  #@ at
    """,
    "x = x + 0.5",
)
case(
    "a quotient into integers",
    """
    x = torch.ones(3, dtype=torch.int64)
    x.div_(2)  #@ at
    """,
    "x = x.div(2)",
)

# -- requires_grad ----------------------------------------------------------------------------------------------------

for call, fixed in {
    "torch.tensor([1, 2], requires_grad=True)": "torch.tensor([1, 2], dtype=torch.float32, requires_grad=True)",
    "torch.zeros(2, dtype=torch.int64, requires_grad=True)": "torch.zeros(2, dtype=torch.float32, requires_grad=True)",
    "torch.ones(2, dtype=torch.bool, requires_grad=True)": "torch.ones(2, dtype=torch.float32, requires_grad=True)",
    "torch.arange(2, requires_grad=True)": "torch.arange(2, dtype=torch.float32, requires_grad=True)",
    "torch.full((2,), 1, requires_grad=True)": "torch.full((2,), 1, dtype=torch.float32, requires_grad=True)",
    "nn.Parameter(torch.tensor([1, 2]))": "nn.Parameter(torch.tensor([1, 2]).float())",
}.items():
    case(call, f"x = {call}  #@ at", "shape [2]", fixed)
case(
    "requires_grad of integers",
    """
    x = torch.tensor([1, 2])
    x.requires_grad = True  #@ at
    """,
    "'x', shape [2], torch.int64",
    "x = x.float().requires_grad_()",
)
case(
    "requires_grad_ of integers",
    """
    x = torch.tensor([1, 2])
    x.requires_grad_()  #@ at
    """,
    "'x', shape [2], torch.int64",
    "x = x.float().requires_grad_()",
)
case(
    "requires_grad=False of a computed tensor",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 1  #@ recorded
    y.requires_grad = False  #@ at
    """,
    "'y', shape [3]",
    "y.detach()",
)
case(
    "requires_grad_(False) of a computed tensor",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 1  #@ recorded
    y.requires_grad_(False)  #@ at
    """,
    "'y', shape [3]",
    "y.detach()",
)
case(
    "requires_grad=True of a computed tensor",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 1  #@ recorded
    y.requires_grad = True  #@ at
    """,
    "'y', shape [3]",
)
case("requires_grad that is no bool", "x = torch.ones(3)\nx.requires_grad = 1  #@ at")
case("requires_grad_ that is no bool", "torch.ones(3).requires_grad_('yes')")
case("requires_grad argument that is no bool", "torch.ones(3, requires_grad=1)")

# -- .grad, .data, hooks ----------------------------------------------------------------------------------------------

case(
    "grad of a computed tensor",
    """
    w = torch.ones(3, requires_grad=True)
    b = torch.ones((), requires_grad=True)
    y = (w * w).sum() + b  #@ recorded
    y.backward()
    y.grad
    """,
    "'y', shape []",
    "'w', shape [3]",
    "'b', shape []",
    "y.retain_grad()",
)
case(
    "a grad of another shape",
    """
    x = torch.ones(3, requires_grad=True)
    g = torch.ones(3, 1)
    x.grad = g  #@ at
    """,
    "'x', shape [3]",
    "'g', shape [3, 1]",
    "x.grad = g.reshape([3])",
)
case(
    "a grad of another dtype",
    """
    x = torch.ones(3, requires_grad=True)
    g = torch.ones(3, dtype=torch.float64)
    x.grad = g  #@ at
    """,
    "'x', shape [3], torch.float32",
    "'g', shape [3], torch.float64",
    "x.grad = g.to(torch.float32)",
)
case("a grad that is no tensor", "x = torch.ones(3, requires_grad=True)\nx.grad = 3")
case("its own grad", "x = torch.ones(3, requires_grad=True)\nx.grad = x")
case("data that is no tensor", "x = torch.ones(3)\nx.data = 3  #@ at")
case(
    "data that is integer",
    """
    x = torch.ones(3, requires_grad=True)
    x.data = torch.arange(3)  #@ at
    """,
    "torch.int64",
)
case(
    "a hook that changes the shape",
    """
    def shorten(g):  #@ hook
        return g[:2]
    x = torch.ones(3, requires_grad=True)
    x.register_hook(shorten)
    x.sum().backward()  #@ at
    """,
    "shape [3], torch.float32",
    "shape [2], torch.float32",
)
case(
    "a hook of a computed tensor that changes the dtype",
    """
    def widen(g):  #@ hook
        return g.double()
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    y.register_hook(widen)
    y.sum().backward()  #@ at
    """,
    "shape [3], torch.float64",
)
case(
    "a hook that returns a number",
    """
    x = torch.ones(3, requires_grad=True)
    x.register_hook(lambda g: 2)  #@ hook
    x.sum().backward()  #@ at
    """,
)
case(
    "a hook after accumulation of a computed tensor",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 2  #@ recorded
    y.register_post_accumulate_grad_hook(print)  #@ at
    """,
    "'y', shape [3]",
    "y.register_hook",
)
case(
    "a view that is detached in place",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    v = y[:2]  #@ recorded
    v.detach_()  #@ at
    """,
    "'v', shape [2]",
    "'y', shape [3]",
    "v = v.detach()",
)
case(
    "a deep copy of a computed tensor",
    """
    import copy
    x = torch.ones(3, requires_grad=True)
    y = x * 1  #@ recorded
    copy.deepcopy(y)  #@ at
    """,
    "'y', shape [3]",
    "y.detach().clone()",
)

# -- conversions ------------------------------------------------------------------------------------------------------

case(
    "numpy of a leaf",
    """
    x = torch.ones(3, requires_grad=True)
    x.numpy()  #@ at
    """,
    "'x', shape [3]",
    "x.detach().numpy()",
)
case(
    "numpy of an expression",
    """
    x = torch.ones(3, requires_grad=True)
    (x * 2).numpy()  #@ at
    """,
    "(x * 2).detach().numpy()",
)
case(
    "asarray",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 2  #@ recorded
    np.asarray(y)  #@ at
    """,
    "'y', shape [3]",
    "y.detach().numpy()",
)
case(
    "a NumPy function",
    """
    x = torch.ones(3, requires_grad=True)
    np.sin(x)  #@ at
    """,
    "'x', shape [3]",
    "x.detach().numpy()",
)
case("dlpack", "x = torch.ones(3, requires_grad=True)\nnp.from_dlpack(x)")
case(
    "item of many",
    """
    x = torch.ones(3, requires_grad=True)
    y = x * 2  #@ recorded
    y.item()  #@ at
    """,
    "'y', shape [3]",
    "y.tolist()",
)
case("float of many", "x = torch.ones(3)\nfloat(x)  #@ at", "'x', shape [3]", "x.tolist()")
case("int of none", "x = torch.ones(0)\nint(x)  #@ at", "'x', shape [0]")
case("bool of many", "x = torch.ones(3)\nbool(x)  #@ at", "'x', shape [3]", "x.any()", "x.all()")
case("bool of none", "x = torch.ones(0)\nbool(x)  #@ at", "'x', shape [0]")
case("if of many", "x = torch.ones(3)\nif x > 0:  #@ at\n    pass", "shape [3]", "(x > 0).any()")
case("an index of many", "[1, 2][torch.ones(2, dtype=torch.int64)]")
case("an index that is a float", "[1, 2][torch.ones(())]")
case("len of a number", "len(torch.ones(()))")
case("iteration over a number", "list(torch.ones(()))")

# -- shapes -----------------------------------------------------------------------------------------------------------

for operator, (first, second), dimension in (
    ("matmul", ((2, 3), (4, 5)), "dimension 1 of the first is 3, but dimension 0 of the second is 4"),
    ("matmul", ((3,), (4,)), "3"),
    ("matmul", ((3,), (4, 5)), "4"),
    ("matmul", ((3, 4), (5,)), "dimension 1"),
    ("matmul", ((2, 3, 4), (2, 5, 6)), "dimension 2 of the first is 4, but dimension 1 of the second is 5"),
    ("matmul", ((2, 3, 4), (3, 4, 6)), "[2] and [3]"),
    ("matmul", ((2, 3, 4), (5, 6)), "dimension 2"),
    ("matmul", ((2, 3, 4), (5,)), "dimension 2"),
    ("matmul", ((), (5,)), ""),
    ("mm", ((2, 3), (4, 5)), "dimension 1 of the first is 3, but dimension 0 of the second is 4"),
    ("mm", ((2, 3, 4), (4, 5)), "two dimensions"),
    ("mv", ((2, 3), (4,)), "dimension 1"),
    ("mv", ((2, 3), (3, 4)), "vector"),
    ("dot", ((3,), (4,)), "4"),
    ("dot", ((3, 3), (4,)), "vector"),
    ("bmm", ((2, 3, 4), (2, 5, 6)), "dimension 2"),
    ("bmm", ((2, 3, 4), (3, 4, 6)), "dimension 0"),
    ("bmm", ((3, 4), (4, 6)), "three dimensions"),
    ("outer", ((3, 4), (4,)), "vectors"),
):
    shapes = [str(list(shape)) for shape in (first, second)]
    case(
        f"{operator} of {shapes[0]} and {shapes[1]}",
        f"a = torch.ones({first})\nb = torch.ones({second})\ntorch.{operator}(a, b)  #@ at",
        f"'a' {shapes[0]} and 'b' {shapes[1]}",
        operator,
        dimension,
    )
case(
    "the operator @",
    """
    x = torch.ones(2, 3)
    w = torch.ones(4, 3)
    x @ w  #@ at
    """,
    "'x' [2, 3] and 'w' [4, 3]",
    "dimension 1 of the first is 3, but dimension 0 of the second is 4",
)
case(
    "a product of two dtypes",
    """
    x = torch.ones(2, 3)
    w = torch.ones(3, 4, dtype=torch.float64)
    x @ w  #@ at
    """,
    "torch.float32",
    "torch.float64",
    ".to(torch.float64)",
)
case(
    "a layer for other features",
    """
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 4)
            self.second = nn.Linear(5, 2)

        def forward(self, x):
            return self.second(self.first(x))  #@ at

    model = Model()
    model(torch.ones(7, 3))
    """,
    "linear",
    "[7, 4]",
    "'self.second.weight' [2, 5]",
    "dimension 1 of the input is 4, but dimension 1 of the weight is 5",
)
case(
    "a layer of another dtype",
    "layer = nn.Linear(4, 5)\nx = torch.ones(2, 4, dtype=torch.float64)\nlayer(x)  #@ at",
    "'x' [2, 4]",
    "torch.float64",
)
for sign, name, first, second, sizes in (
    ("+", "add", (2, 3), (4,), "dimension 1: 3 and 4"),
    ("-", "sub", (5, 2, 3), (4, 1, 3), "dimension 0: 5 and 4"),
    ("*", "mul", (2, 3), (2,), "b.unsqueeze(-1)"),
    ("/", "div", (2, 3), (3, 2), "b.T"),
    ("**", "pow", (2, 3), (4,), "dimension 1: 3 and 4"),
    (">", "gt", (2, 3), (4,), "dimension 1: 3 and 4"),
    ("==", "eq", (2, 3), (4,), "dimension 1: 3 and 4"),
):
    case(
        f"broadcasting in {name}",
        f"a = torch.ones({first})\nb = torch.ones({second})\na {sign} b  #@ at",
        f"'a' {list(first)} and 'b' {list(second)}",
        name,
        sizes,
    )
case(
    "broadcasting of integers",
    "a = torch.ones(2, 3, dtype=torch.int64)\nb = torch.ones(4, dtype=torch.int64)\na + b  #@ at",
    "'a' [2, 3] and 'b' [4]",
)
case("broadcasting of two dtypes", "torch.ones(2, 3) + torch.ones(4, dtype=torch.float64)  #@ at", "[2, 3] and [4]")
case("broadcasting in maximum", "torch.maximum(torch.ones(2, 3), torch.ones(4))  #@ at", "maximum", "[2, 3] and [4]")
case(
    "broadcasting in where",
    "torch.where(torch.ones(2, 3) > 0, torch.ones(3), torch.ones(4))  #@ at",
    "where",
    "[2, 3] and [4]",
)
case("broadcasting in mse_loss", "F.mse_loss(torch.ones(2, 3), torch.ones(4, 3))  #@ at", "mse_loss", "[2, 3] and [4, 3]")
case("view", "x = torch.ones(2, 3)\nx.view(4, 2)  #@ at", "'x', shape [2, 3], 6 elements", "[4, 2], 8", "x.view(-1, 2)")
case("view with -1", "x = torch.ones(2, 3)\nx.view(4, -1)  #@ at", "'x', shape [2, 3], 6 elements", "[4, -1]")
case("view with -1 twice", "torch.ones(2, 3).view(-1, -1)  #@ at")
case("view with -2", "torch.ones(2, 3).view(-2, 3)  #@ at")
case("view of nothing", "torch.ones(0).view(0, -1)  #@ at")
case(
    "view of a transposed tensor",
    "x = torch.ones(2, 3).t()\nx.view(6)  #@ at",
    "'x', shape [3, 2], strides (1, 3)",
    "x.reshape(6)",
)
case("view as text", "torch.ones(2, 3).view('a')  #@ at", "'a'")
case("reshape", "x = torch.ones(2, 3)\nx.reshape(4, 2)  #@ at", "'x', shape [2, 3], 6 elements", "x.reshape(-1, 2)")
case("expand", "x = torch.ones(2, 3)\nx.expand(2, 4)  #@ at", "'x', shape [2, 3]", "[2, 4]: dimension 1 is 3")
case("expand to fewer dimensions", "x = torch.ones(2, 3)\nx.expand(6)  #@ at", "'x', shape [2, 3]", "[6]")
case("expand with a new -1", "x = torch.ones(2, 3)\nx.expand(-1, 2, 3)  #@ at", "dimension 0")
case("a dimension that is not there", "torch.ones(2, 3).transpose(0, 2)  #@ at")
case("a sum over a dimension that is not there", "torch.ones(2, 3).sum(2)  #@ at")
case(
    "cat",
    "a = torch.ones(2, 3)\nb = torch.ones(2, 4)\ntorch.cat([a, b])  #@ at",
    "cat",
    "[2, 3]",
    "[2, 4]",
    "dimension 1",
)
case("cat of different dimensions", "torch.cat([torch.ones(2, 3), torch.ones(2)])  #@ at", "cat", "[2, 3]", "[2]")
case("cat of nothing", "torch.cat([])  #@ at")
case("cat of numbers", "torch.cat([torch.ones(()), torch.ones(())])  #@ at", "stack")
case("cat of a number", "torch.cat([torch.ones(2), 3])")
case("stack", "torch.stack([torch.ones(2), torch.ones(3)])  #@ at", "[2]", "[3]")
case("stack of nothing", "torch.stack([])  #@ at")
case("an index out of bounds", "torch.ones(3)[5]  #@ at", "[3]")

# -- arguments --------------------------------------------------------------------------------------------------------

case("a number for a tensor", "torch.sigmoid(3)  #@ at", "torch.as_tensor")
case("a list for a tensor", "torch.exp([1, 2])  #@ at")
case("None for a tensor", "torch.mul(torch.ones(3), None)  #@ at")
case("a number for a matrix", "torch.mm(torch.ones(2, 3), 3)  #@ at")
case("a tensor plus text", "torch.ones(3) + 'a'")
case("a tensor plus a list", "torch.ones(3) + [1, 2, 3]")
case("a tensor plus None", "torch.ones(3) + None")
case("mean of integers", "torch.arange(3).mean()  #@ at", "float")
case("softmax of integers", "torch.arange(3).softmax(0)  #@ at")
case("the difference of bools", "torch.ones(3, dtype=torch.bool) - torch.ones(3, dtype=torch.bool)")
case("a dtype as text", "torch.ones(3, dtype='float32')")
case("a size as text", "torch.ones('a')")
case("a negative size", "torch.ones(2, -1)  #@ at")
case("a tensor of text", "torch.tensor('a')")
case("a tensor of lists of different length", "torch.tensor([[1, 2], [3]])")
case("a tensor of None", "torch.tensor(None)")
case("cuda", "torch.ones(3, device='cuda')  #@ at", "'cuda': leafgrad computes on the CPU only", "device='cpu'")
case("to cuda", "torch.ones(3).to('cuda:0')  #@ at", "'cuda:0'", "device='cpu'")
case("the method cuda", "torch.ones(3).cuda()  #@ at", "device='cpu'")
case("a module to cuda", "nn.Linear(2, 2).to('cuda')  #@ at", "device='cpu'")
case("a device that does not exist", "torch.ones(3, device='abacus')  #@ at", "'abacus'", "device='cpu'")
case("classes for another batch", "F.cross_entropy(torch.ones(2, 3), torch.ones(4, dtype=torch.int64))  #@ at")
case("a class that does not exist", "F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 7]))  #@ at", "3 classes")
case("optimising a computed tensor", "x = torch.ones(3, requires_grad=True)\ntorch.optim.SGD([x * 1], lr=0.1)")
case("optimising nothing", "torch.optim.SGD([], lr=0.1)")
