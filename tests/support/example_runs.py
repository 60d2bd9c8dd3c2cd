"""Runs the examples and compares what they print, for the tests with and without PyTorch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
STORED = ROOT / "tests" / "data" / "examples.json"
NAMES = ["hessian", "meta_learning", "neural_ode", "per_sample_gradients"]


def source_for_torch(name: str) -> str:
    """The program as a user of PyTorch would have written it: the same but for the imports."""
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    lines = []
    for line in text.splitlines():
        if line.startswith(("import leafgrad", "from leafgrad")):
            line = line.replace("import leafgrad as torch", "import torch").replace("leafgrad", "torch")
        lines.append(line)
    return "\n".join(lines) + "\n"


def run(*arguments: str) -> str:
    """What a Python process prints; it must end well."""
    # one thread: those of PyTorch wait for each other at full speed, for minutes where tests run beside each other
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "OMP_NUM_THREADS": "1"}
    process = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return process.stdout


def stored() -> dict[str, str]:
    """What PyTorch printed."""
    outputs: dict[str, str] = json.loads(STORED.read_text(encoding="utf-8"))["outputs"]
    return outputs
