"""Every wrong call is refused with PyTorch's error and explained: the tensor, the lines, the fix."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import error_cases
import leafgrad
import leafgrad.nn
import leafgrad.optim
from error_cases import CASES, Case

STORED = error_cases.stored()


def test_what_torch_says_is_stored_for_every_program() -> None:
    assert list(STORED) == list(CASES), "run tests/data/make_errors.py"


@pytest.mark.parametrize("name", CASES)
def test_the_type_and_the_first_sentence_are_torchs(name: str, tmp_path: Path) -> None:
    outcome = error_cases.run(CASES[name], leafgrad, tmp_path)
    assert (outcome.kind, outcome.first_line) == (STORED[name].kind, STORED[name].first_line)


@pytest.mark.parametrize("name", CASES)
def test_the_message_explains(name: str, tmp_path: Path) -> None:
    one = CASES[name]
    message = error_cases.run(one, leafgrad, tmp_path).message
    for text in one.says:
        assert text in message
    assert_lines(one, message)
    explanation = message.split("\n")[1:]
    assert len(explanation) <= 7
    assert all(line.startswith("  ") and len(line) <= 160 for line in explanation)


def assert_lines(one: Case, message: str) -> None:
    """Each marked line is given in a row of its label, with its text."""
    source = one.source.split("\n")
    for label, numbers in one.lines.items():
        row = re.search(rf"^  (?:.*, )?{label} .*$", message, re.MULTILINE)
        assert row, f"no row `{label}` in:\n{message}"
        spots = [rf"{re.escape(file_name(one))}:{number}\s+{re.escape(source[number - 1].strip())}" for number in numbers]
        assert any(re.search(spot, row[0]) for spot in spots), f"`{label}` is not one of {numbers} in:\n{message}"


def file_name(one: Case) -> str:
    return re.sub(r"\W+", "_", one.name) + ".py"
