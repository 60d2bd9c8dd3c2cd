"""Programs with a silent mistake and the explanation that they must get, whose fix, applied as it is printed, makes the
program right.

They are in tests/data/broken_programs.txt, each in this form:

    == the name of the case
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with leafgrad.check(model, optimizer):
        ...
        loss.backward()  #@
    -- 2 backward calls since the last zero_grad
    ?? abs(model.weight.item() - 2) < 0.1

`#@` marks the line that must be named, `#@ cut` one that must be named in a row with this label. What follows `--` must
be in what is printed. The condition behind `??` is false after the broken program, and true after the program with the
fix. Programs without a marked line are right and must draw no complaint. A program finds `torch` (leafgrad),
`leafgrad`, `nn`, `F`, `np` and `math`.

A fix is code for the line that the explanation names. `# before train.py:7`, `# after train.py:7` and `# train.py:7`
behind it name another place, and `remove train.py:7 ...` removes a line.

tests/data/cut_programs.txt has more of them, in the same form: programs that lose their gradients on the way.
"""

from __future__ import annotations

import ast
import contextlib
import io
import math
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import leafgrad
import leafgrad.nn.functional as F
from leafgrad import nn
from leafgrad._core.events import Event, kinds

DATA = Path(__file__).resolve().parents[1] / "data"
MARK = re.compile(r"\s*#@(?: (?P<label>\w+))?$")
SPOT = r"(?P<file>[\w.\[\]]+):(?P<line>\d+)"


@dataclass
class Program:
    """A program, the lines that must be named, what must be said, and what is true once it is right."""

    name: str
    source: str = ""
    marked: list[int] = field(default_factory=list)
    labels: list[tuple[int, str]] = field(default_factory=list)  # of marked lines
    says: list[str] = field(default_factory=list)
    right: str = ""

    @property
    def file_name(self) -> str:
        return re.sub(r"\W+", "_", self.name) + ".py"


def read_programs(file: str = "broken_programs.txt") -> dict[str, Program]:
    programs: dict[str, Program] = {}
    for line in (DATA / file).read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            one = Program(line.removeprefix("== "))
            assert one.name not in programs, f"two programs are called {one.name}"
            programs[one.name] = one
        elif line.startswith("-- "):
            one.says.append(line.removeprefix("-- "))
        elif line.startswith("?? "):
            one.right = line.removeprefix("?? ")
        elif programs and not one.right and (line or one.source):
            if mark := MARK.search(line):
                one.marked.append(one.source.count("\n") + 1)
                one.labels += [(one.marked[-1], mark["label"])] if mark["label"] else []
            one.source += MARK.sub("", line) + "\n"
    return programs


@dataclass
class Outcome:
    """What a program printed, explanations and error included, and its variables afterwards."""

    printed: str
    variables: dict[str, Any]
    is_right: bool


def run(one: Program, folder: Path, source: str = "") -> Outcome:
    """Run a program, or another version of it, from a file of its name."""
    source = source or one.source
    path = folder / one.file_name
    path.write_text(source, encoding="utf-8")
    space = {"torch": leafgrad, "leafgrad": leafgrad, "nn": nn, "F": F, "np": np, "math": math, "__name__": "__main__"}
    printed = io.StringIO()
    forget()
    leafgrad.manual_seed(0)
    with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(source, str(path), "exec"), space)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    try:
        is_right = bool(eval(one.right, space)) if one.right else True
    except Exception:
        is_right = False
    return Outcome(printed.getvalue(), space, is_right)


def forget() -> None:
    """What other programs did is none of the next one's business."""
    for kind in kinds.values():
        kind.lines.clear()
        kind.last = Event(kind.reason, None, -1)


def with_fixes(one: Program, printed: str) -> str:
    """The program with the fixes of the first explanation that names its marked line."""
    edits: list[tuple[int, str, str]] = []
    for text in explanations(printed):
        if any([re.search(rf"{re.escape(one.file_name)}:{number}\b", text) for number in one.marked]):
            edits = [edit(one, line, text) for line in fixes_in(text)]
            if edits:
                break
    assert edits, f"no fix in:\n{printed}"
    lines: list[list[str]] = [[line] for line in one.source.split("\n")]
    for number, where, code in edits:
        own = lines[number - 1]
        original = one.source.split("\n")[number - 1]
        new = [original[: len(original) - len(original.lstrip())] + code] if code else []
        if where == "before":
            lines[number - 1] = new + own
        elif where == "":
            lines[number - 1 : last_line(one.source, number)] = [new, *[[]] * (last_line(one.source, number) - number)]
        elif where == "after":
            lines[number - 1] = own + new
    return "\n".join([line for group in lines for line in group])


def last_line(source: str, line: int) -> int:
    """Where the statement ends that begins at a line; of a compound one, where its first line does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and node.lineno == line and not hasattr(node, "body"):
            return node.end_lineno or line
    return line


def assert_labels(one: Program, printed: str) -> None:
    """Each line with a label is given in a row of that label."""
    for number, label in one.labels:
        text = one.source.split("\n")[number - 1].strip()
        rows = [re.sub(r"(:\d+) +", r"\1   ", row) for row in re.findall(rf"^\s*{label} .*$", printed, re.MULTILINE)]
        assert any([f"{one.file_name}:{number}   {text}" in row for row in rows]), (
            f"{label} is not {number}:\n{printed}"
        )


def explanations(printed: str) -> list[str]:
    """What was printed, in parts that have a blank line between them."""
    return [part for part in printed.split("\n\n") if part.strip()]


def fixes_in(text: str) -> list[str]:
    """The fix of an explanation: the line with the label, and those below it that have none."""
    lines = text.split("\n")
    at = [i for i, line in enumerate(lines) if re.match(r"\s+fix\s", line)]
    if not at:
        return []
    first = lines[at[0]]
    column = first.index("fix") + len("fix") + len(re.match(r"\s*", first[first.index("fix") + 3 :])[0])  # type: ignore[index]
    found = [first[column:]]
    for line in lines[at[0] + 1 :]:
        if line[:column].strip() or not line.strip():
            break
        found.append(line[column:])
    return found


def edit(one: Program, fix: str, text: str) -> tuple[int, str, str]:
    """A fix as (line, "before", "after" or "", code)."""
    removed = re.match(rf"remove {SPOT}", fix)
    if removed:
        return int(removed["line"]), "", ""
    elsewhere = re.search(rf"\s+# (?P<where>before |after |){SPOT}$", fix)
    if elsewhere:
        return int(elsewhere["line"]), elsewhere["where"].strip(), fix[: elsewhere.start()]
    code = re.sub(r"\s{2,}#.*$", "", fix)
    own = re.search(rf"^(?:\s*\w+\s+)?{re.escape(one.file_name)}:(\d+) ", text, re.MULTILINE)
    assert own, text
    return int(own[1]), "", code
