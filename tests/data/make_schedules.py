"""Writes schedules.json.gz: the learning rates and momentums that PyTorch's schedules give over 50 epochs
(tests/support/schedule_cases.py), for tests that run without PyTorch.

Run it with PyTorch installed: ``python tests/data/make_schedules.py``.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from schedule_cases import ALL, rates

if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(rates(torch, name))}" for name in ALL]
    text = "{" + ",\n".join(lines) + "}\n"
    (Path(__file__).parent / "schedules.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
