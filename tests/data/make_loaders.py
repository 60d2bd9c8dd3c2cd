"""Writes tests/data/loaders.json with the installed PyTorch: the samples of tests/support/loader_programs.py.

python tests/data/make_loaders.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
import torch.utils.data

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "support"))

from loader_programs import PROGRAMS, outcome  # noqa: E402

if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(outcome(torch, name))}" for name in PROGRAMS]
    (HERE / "loaders.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
