"""The examples that train: each runs by one command, with a bar or without, and learns as PyTorch does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import training_examples
from training_examples import FIND, FOLDER, ROOT


def run(*arguments: str) -> str:
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # small matrices need no more
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=ROOT,
        env=one_thread,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", training_examples.names())
def test_it_runs_by_one_command(name: str, tmp_path: Path) -> None:
    printed = run(str(FOLDER / f"{name}.py"), "--steps", "2", "--plot", str(tmp_path / "plot.png"))
    plotted = (tmp_path / "plot.png").exists()
    assert ("no plot: matplotlib is not installed" in printed) != plotted


# Packages that do not exist, or pretend to: what the examples do with and without them.
WITHOUT = "import sys; sys.modules['tqdm'] = sys.modules['matplotlib'] = None\n"
WITH_A_BAR = """
import sys, types
class bar:
    def __init__(self, total): print("a bar of", total)
    def set_postfix(self, loss): print("loss", loss)
    def update(self): print("on")
    def close(self): print("end")
sys.modules["tqdm"] = types.SimpleNamespace(tqdm=bar)
"""
USE = """
from running import Progress, save_plot
progress = Progress(2)
for step in progress:
    progress.note(0.5 - step / 8)
save_plot("unused.png", progress.losses)
"""


def test_without_a_bar_lines_are_printed() -> None:
    printed = run("-c", FIND + WITHOUT + USE).splitlines()
    assert printed[0] == "step    1 of 2: loss 0.5000" and printed[-1] == "no plot: matplotlib is not installed"


def test_with_a_bar_it_is_moved() -> None:
    without_plot = "sys.modules['matplotlib'] = None\n"
    printed = run("-c", FIND + WITH_A_BAR + without_plot + USE).splitlines()
    assert printed[:6] == ["a bar of 2", "loss 0.5000", "on", "loss 0.3750", "on", "end"]


@pytest.mark.slow
@pytest.mark.parametrize("name", training_examples.CURVES)
def test_the_losses_are_those_of_torch(name: str) -> None:
    """A hundred steps from the same seed: the same data, weights and gradients, but for rounding."""
    program = training_examples.PROGRAM.format(name=name, steps=training_examples.STEPS)
    losses = json.loads(run("-c", FIND + program))
    assert losses == pytest.approx(training_examples.stored()[name], rel=1e-4)
    assert losses[-1] < 0.8 * losses[0]
