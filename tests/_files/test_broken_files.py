"""Files that were changed at random, and processes that are killed while they save. The two programs in tests/support
run as processes of their own; with other numbers they are the long tests (CONTRIBUTING.md)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parents[1] / "support"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of memory and time, signals: POSIX only")


def run(program: str, *args: int) -> str:
    command = [sys.executable, str(SUPPORT / program), *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_mutated_files_run_nothing_and_come_to_an_end() -> None:
    said = run("mutated_files.py", 400, 1)
    assert said.startswith("400 files:") and "'UnpicklingError'" in said and "'RuntimeError'" in said


@pytest.mark.slow
def test_a_killed_process_leaves_a_whole_file() -> None:
    assert run("killed_saves.py", 20, 1).startswith("20 kills:")
