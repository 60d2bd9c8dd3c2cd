"""Runs the programs of tests/programs/, which import torch, with leafgrad in its place or with PyTorch."""

from __future__ import annotations

import json
from pathlib import Path

from example_runs import ROOT, run

PROGRAMS = ROOT / "tests" / "programs"
STORED = Path(__file__).resolve().parents[1] / "data" / "programs.json"
NAMES = sorted([path.stem for path in PROGRAMS.glob("*.py")])


def path_of(name: str) -> str:
    return str(PROGRAMS / f"{name}.py")


def with_leafgrad(name: str) -> str:
    return run("-m", "leafgrad", "run", path_of(name))


def with_torch(name: str) -> str:
    """In one thread, because sums of several threads are rounded in another way."""
    start = f"import runpy, torch; torch.set_num_threads(1); runpy.run_path({path_of(name)!r}, run_name='__main__')"
    return run("-c", f"import sys; sys.argv = [{path_of(name)!r}]; {start}")


def stored() -> dict[str, str]:
    """What they printed with PyTorch."""
    outputs: dict[str, str] = json.loads(STORED.read_text(encoding="utf-8"))["outputs"]
    return outputs
