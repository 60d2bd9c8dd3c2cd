"""Runs the code blocks of `examples/seeds` and compares what they print, for the tests with and without PyTorch."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT / "examples" / "seeds"
STORED = ROOT / "tests" / "data" / "seeds.json"
NAMES = sorted(path.stem for path in SEEDS.glob("*.py"))

# The numbers are printed with four digits; the last one may round either way.
TOLERANCE = 1.01e-4  # a little more than 1e-4, as 0.2101 - 0.21 is in floating point
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?|\bnan\b|-?\binf\b")
# Where a block prints a caught error, the lines that follow PyTorch's sentence are leafgrad's explanation.
PRINTED_ERROR = ("Error: ", "RuntimeError: ")

WITH_TORCH = """
import runpy, sys, torch
torch.manual_seed(0)
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@dataclass
class Outcome:
    """What a block printed and, if it ended with an uncaught error, which."""

    stdout: str
    error: str | None = None  # the type's name
    message: str | None = None  # all of it

    @property
    def first_line(self) -> str | None:
        return None if self.message is None else self.message.split("\n", 1)[0]


def run_with_torch(name: str) -> Outcome:
    return _outcome(_python("-c", WITH_TORCH, str(SEEDS / f"{name}.py")))


def run_with_leafgrad(name: str) -> Outcome:
    return _outcome(process_with_leafgrad(name))


def process_with_leafgrad(name: str) -> subprocess.CompletedProcess[str]:
    return _python("-m", "leafgrad", "run", "--seed", "0", str(SEEDS / f"{name}.py"))


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )


def _outcome(process: subprocess.CompletedProcess[str]) -> Outcome:
    if process.returncode == 0:
        return Outcome(process.stdout)
    # An uncaught error ends the traceback: `Type: message`, at the start of a line.
    raised = re.search(r"^(?P<type>[A-Za-z_.]+): (?P<message>.*)\Z", process.stderr, re.MULTILINE | re.DOTALL)
    assert raised, f"exit status {process.returncode} and no traceback:\n{process.stderr}"
    return Outcome(process.stdout, raised["type"], raised["message"].rstrip("\n"))


def stored() -> dict[str, Outcome]:
    blocks = json.loads(STORED.read_text(encoding="utf-8"))["blocks"]
    return {name: Outcome(**block) for name, block in blocks.items()}


def store(torch_version: str, outcomes: dict[str, Outcome]) -> None:
    blocks = {}
    for name, outcome in outcomes.items():
        blocks[name] = asdict(Outcome(outcome.stdout, outcome.error, outcome.first_line))
    text = json.dumps({"torch": torch_version, "seed": 0, "blocks": blocks}, indent=2)
    STORED.write_text(text + "\n", encoding="utf-8")


def assert_same_output(actual: str, expected: str) -> None:
    """Numbers within the tolerance, everything else exactly; explanations below a printed error are passed over."""
    remaining = actual.splitlines()
    explaining = False
    for line in expected.splitlines():
        while explaining and remaining and difference(remaining[0], line):
            remaining.pop(0)
        assert remaining, f"missing line {line!r} in:\n{actual}"
        problem = difference(remaining.pop(0), line)
        assert problem is None, f"{problem}\n--- expected\n{expected}\n--- actual\n{actual}"
        explaining = line.startswith(PRINTED_ERROR)
    assert explaining or not remaining, f"unexpected lines {remaining} in:\n{actual}"


def difference(actual: str, expected: str) -> str | None:
    """How two lines differ, or None."""
    if NUMBER.split(actual) != NUMBER.split(expected):
        return f"the text differs: {actual!r}, expected {expected!r}"
    for mine, theirs in zip(NUMBER.findall(actual), NUMBER.findall(expected)):
        if mine != theirs and not abs(float(mine) - float(theirs)) <= TOLERANCE * max(1.0, abs(float(theirs))):
            return f"{mine} is not {theirs} in {actual!r}"
    return None
