"""Stores what PyTorch says to the calls of tests/support/refused_calls.py: python tests/data/make_refused_calls.py"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from refused_calls import STORED, calls, said

STORED.write_text(json.dumps({call: said(torch, call) for call in calls()}, indent=1) + "\n", encoding="utf-8")
