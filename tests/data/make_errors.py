"""Stores what PyTorch says to the programs of tests/support/error_cases.py: python tests/data/make_errors.py"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import error_cases

with tempfile.TemporaryDirectory() as folder:
    outcomes = {name: error_cases.run(one, torch, Path(folder)) for name, one in error_cases.CASES.items()}
error_cases.store(torch.__version__.split("+")[0], outcomes)
print(f"{len(outcomes)} programs stored in {error_cases.STORED.name}")
