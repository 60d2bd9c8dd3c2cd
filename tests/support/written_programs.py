"""Programs as files, for tests of what is said about the lines of a program: written, run, mended as a report says."""

from __future__ import annotations

import re
import runpy
import textwrap
from pathlib import Path
from typing import Any


def run(path: Path, source: str) -> dict[str, Any]:
    """Write a program to `path`, run it and return its variables."""
    text = textwrap.dedent(source)
    path.write_text(text, encoding="utf-8")
    return runpy.run_path(str(path), run_name="__main__")


def fixes_in(report: str) -> list[tuple[int, str]]:
    """The lines that a report tells to write, `fix   y = ...   # train.py:3`: the number of each and its new text."""
    found = re.findall(r"^\s*(?:fix\s+)?(\S.*?)   # \w+\.py:(\d+)$", report, re.MULTILINE)
    return [(int(line), text) for text, line in found]


def mended(source: str, report: str) -> str:
    """A program with the lines of a report's fix in the place of its own."""
    lines = textwrap.dedent(source).split("\n")
    fixes = fixes_in(report)
    assert fixes, f"no fix in:\n{report}"
    for number, text in fixes:
        old = lines[number - 1]
        lines[number - 1] = old[: len(old) - len(old.lstrip())] + text
    return "\n".join(lines)
