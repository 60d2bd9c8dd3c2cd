"""Runs random programs with the installed PyTorch and stores what they show: python tests/data/make_fuzz.py"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import torch

from fuzz import STORED, STORED_SEEDS, Program, as_json

seen = {seed: as_json(Program(torch, seed).run()) for seed in STORED_SEEDS}
STORED.write_bytes(gzip.compress(json.dumps(seen).encode(), mtime=0))
print(f"{len(seen)} programs, torch {torch.__version__}, {STORED.stat().st_size:,} bytes")
