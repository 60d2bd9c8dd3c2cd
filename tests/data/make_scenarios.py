"""Runs all scenarios with the installed PyTorch and stores what they show: python tests/data/make_scenarios.py"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import torch

from all_scenarios import ALL, STORED, as_json

seen = {name: as_json(scenario, torch) for name, scenario in sorted(ALL.items())}
STORED.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in seen.items()) + "\n}\n")
print(f"{len(seen)} scenarios, torch {torch.__version__}")
