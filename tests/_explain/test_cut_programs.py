"""Programs that lose their gradients on the way: the right tensor and line are named, and the fix, as it is printed,
makes them right."""

from __future__ import annotations

from pathlib import Path

import pytest

import broken_programs

PROGRAMS = broken_programs.read_programs("cut_programs.txt")
BROKEN = [name for name, one in PROGRAMS.items() if one.marked]
RIGHT = [name for name, one in PROGRAMS.items() if not one.marked]


@pytest.mark.parametrize("name", BROKEN)
def test_the_line_is_named_and_the_fix_makes_the_program_right(name: str, tmp_path: Path) -> None:
    one = PROGRAMS[name]
    before = broken_programs.run(one, tmp_path)
    assert not before.is_right, "the program is not broken"
    broken_programs.assert_labels(one, before.printed)
    for text in one.says:
        assert text in before.printed
    fixed = broken_programs.with_fixes(one, before.printed)
    after = broken_programs.run(one, tmp_path, fixed)
    assert "Error" not in after.printed, f"{fixed}\n{after.printed}"
    assert after.is_right, f"{fixed}\n{after.printed}"


@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_draw_no_complaint(name: str, tmp_path: Path) -> None:
    one = PROGRAMS[name]
    outcome = broken_programs.run(one, tmp_path)
    assert outcome.is_right, outcome.printed
    assert "Error" not in outcome.printed
    for word in ("fix", "cut"):
        assert f"{word}  " not in outcome.printed
    for text in one.says:
        assert text in outcome.printed
