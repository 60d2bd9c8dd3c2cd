"""Small programs that go wrong, for the tests of the error messages with and without PyTorch.

They are in tests/data/error_programs.txt, each in this form:

    == the name of the case
    x = torch.ones(3, requires_grad=True)
    y = x * 2  #@ recorded
    y.backward()  #@ at
    -- 'y', shape [3]
    -- y.sum().backward()

`#@ at` marks a line: the message must have a row `at` that gives it. Marks are taken out before a program runs. What
follows `--` must be in the message. A program finds `torch` (PyTorch or leafgrad), `nn`, `F` and `np`.
"""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[1] / "data"
STORED = DATA / "errors.json"
MARK = re.compile(r"\s*#@ (?P<labels>[\w ]+)$")


@dataclass
class Case:
    """A program, what must be in its message, and the lines that must be given there, by label."""

    name: str
    source: str = ""
    says: list[str] = field(default_factory=list)
    lines: dict[str, list[int]] = field(default_factory=dict)

    @property
    def file_name(self) -> str:
        return re.sub(r"\W+", "_", self.name) + ".py"


def read_cases() -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for line in (DATA / "error_programs.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            one = Case(line.removeprefix("== "))
            assert one.name not in cases, f"two cases are called {one.name}"
            cases[one.name] = one
        elif line.startswith("-- "):
            one.says.append(line.removeprefix("-- "))
        elif cases and not one.says:
            if marked := MARK.search(line):
                for label in marked["labels"].split():
                    one.lines.setdefault(label, []).append(one.source.count("\n") + 1)
            one.source += MARK.sub("", line) + "\n"
    return cases


CASES = read_cases()


@dataclass
class Outcome:
    """How a program ended: the type and the message of its error, or of its first warning."""

    kind: str
    message: str

    @property
    def first_line(self) -> str:
        return re.sub(r" \(Triggered internally at .*\)$", "", self.message.split("\n", 1)[0]).rstrip()


def run(one: Case, torch: Any, folder: Path) -> Outcome:
    """Runs a program from a file, so that its lines can be read."""
    import numpy as np

    path = folder / one.file_name
    path.write_text(one.source, encoding="utf-8")
    names = {"__name__": "program", "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(one.source, str(path), "exec"), names)
        except Exception as error:
            # with its notes, as a traceback shows it
            return Outcome(type(error).__name__, "\n".join([str(error), *getattr(error, "__notes__", ())]))
    assert caught, f"{one.name}: neither an error nor a warning"
    return Outcome(caught[0].category.__name__, str(caught[0].message))


def stored() -> dict[str, Outcome]:
    """What PyTorch says to each of the programs: type and first line."""
    return {name: Outcome(*both) for name, both in json.loads(STORED.read_text(encoding="utf-8"))["cases"].items()}


def store(torch_version: str, outcomes: dict[str, Outcome]) -> None:
    cases = {name: [outcome.kind, outcome.first_line] for name, outcome in outcomes.items()}
    text = json.dumps({"torch": torch_version, "cases": cases}, indent=1)
    STORED.write_text(text + "\n", encoding="utf-8")
