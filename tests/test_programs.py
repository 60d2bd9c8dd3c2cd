"""Whole programs, as people write them for PyTorch, print with leafgrad what they print there."""

from __future__ import annotations

import os

import pytest

import program_runs
import seed_blocks

EXPECTED = program_runs.stored()


def test_every_program_has_its_output() -> None:
    assert set(program_runs.NAMES) == set(EXPECTED)


@pytest.mark.slow
@pytest.mark.parametrize("name", program_runs.NAMES)
def test_prints_what_torch_prints(name: str) -> None:
    before = os.times().children_user
    printed = program_runs.with_leafgrad(name)
    assert os.times().children_user - before < 10  # seconds of computing, however busy the machine is
    seed_blocks.assert_same_output(printed, EXPECTED[name])


def test_they_are_programs_of_pytorch() -> None:
    """They know nothing of leafgrad, and print figures of enough digits to tell a mistake."""
    for name in program_runs.NAMES:
        assert "leafgrad" not in (program_runs.PROGRAMS / f"{name}.py").read_text(encoding="utf-8")
        assert len([word for word in EXPECTED[name].split() if "." in word and word.strip(".,()").count(".")]) >= 5
