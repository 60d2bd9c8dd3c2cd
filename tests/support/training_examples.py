"""The examples that train, and those whose losses are compared with PyTorch's."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "training"
STORED = ROOT / "tests" / "data" / "training_curves.json"
HELPERS = {"data", "running"}
CURVES = ["classifier", "character_model", "lstm_waves"]
STEPS = 100
FIND = f"import sys; sys.path.insert(0, {str(FOLDER)!r})\n"
PROGRAM = """
import json
import leafgrad as torch
import {name}
torch.manual_seed(0)
print(json.dumps({name}.train({steps})[1]))
"""


def names() -> list[str]:
    return sorted({path.stem for path in FOLDER.glob("*.py")} - HELPERS)


def stored() -> dict[str, list[float]]:
    curves: dict[str, list[float]] = json.loads(STORED.read_text(encoding="utf-8"))
    return curves
