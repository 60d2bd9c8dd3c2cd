"""Writes programs.json, what the programs of tests/programs/ print under the installed PyTorch:
python tests/data/make_programs.py"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import program_runs

outputs = {name: program_runs.with_torch(name) for name in program_runs.NAMES}
text = json.dumps({"torch": torch.__version__, "outputs": outputs}, indent=2)
program_runs.STORED.write_text(text + "\n", encoding="utf-8")
