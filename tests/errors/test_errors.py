"""Every wrong call is refused with PyTorch's error and explained: the tensor, the lines, the fix."""

from __future__ import annotations

import re
import subprocess
import sys
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
        spots = [f"{one.file_name}:{number}   {source[number - 1].split('  #')[0].strip()}" for number in numbers]
        given = re.sub(r"(:\d+) +", r"\1   ", row[0])
        assert any(spot in given for spot in spots), f"`{label}` is not one of {numbers} in:\n{message}"


def test_bfloat16_without_its_package_names_the_install_line() -> None:
    program = """
import sys
sys.modules["ml_dtypes"] = None  # as if it were not installed
import leafgrad as torch
torch.ones(2).to(torch.bfloat16)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "ImportError: torch.bfloat16 needs the package ml_dtypes, which is not installed" in done.stderr
    assert "pip install 'leafgrad[bf16]'" in done.stderr
