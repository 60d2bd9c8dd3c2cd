"""Writes examples.json, what the examples print under the installed PyTorch: python tests/data/make_examples.py"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import example_runs

outputs = {name: example_runs.run("-c", example_runs.source_for_torch(name)) for name in example_runs.NAMES}
text = json.dumps({"torch": torch.__version__, "outputs": outputs}, indent=2)
example_runs.STORED.write_text(text + "\n", encoding="utf-8")
