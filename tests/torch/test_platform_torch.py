"""What programs ask of the machine is answered as PyTorch, built for the CPU, answers it."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

CASES = runpy.run_path(str(Path(__file__).parents[1] / "test_platform.py"))
# what leafgrad refuses, or says, in words of its own
OURS = ("leafgrad does not", "torch.mps", "'_OpNamespace'")
OTHER_WORDS = {"cuda.Stream()"}


@pytest.mark.parametrize(("question", "answer"), CASES["ANSWERS"])
@pytest.mark.filterwarnings("ignore")
def test_answers_are_pytorchs(question: str, answer: Any) -> None:
    if question.startswith(("jit.", "nn.parallel.data_parallel")):
        return  # which PyTorch has deprecated, or only with a GPU
    program = question if question.startswith("is") and "torch." in question else f"torch.{question}"
    assert eval(program, {"torch": torch}) == answer


@pytest.mark.parametrize(
    ("program", "error", "first"),
    [case for case in CASES["REFUSED"] if not case[2].startswith(OURS) and case[0] not in OTHER_WORDS],
)
@pytest.mark.filterwarnings("ignore")
def test_refusals_are_pytorchs(program: str, error: type[BaseException], first: str) -> None:
    with pytest.raises(error) as caught:
        eval(f"torch.{program}", {"torch": torch})
    assert str(caught.value).startswith(first)


def test_a_typical_program_prints_the_same(tmp_path: Path) -> None:
    for arguments in ([], ["--amp"]):
        command = [sys.executable, "-W", "ignore", str(CASES["TYPICAL"]), *arguments]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert result.stdout == CASES["PRINTED"], result.stderr
