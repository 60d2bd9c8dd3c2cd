"""Writes nn_programs.json.gz: what PyTorch computes in the programs of tests/support/nn_programs.py.

Run it with PyTorch installed: ``python tests/data/make_nn_programs.py``.
"""

from __future__ import annotations

import gzip
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
import torch.nn.utils.prune

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from nn_programs import PROGRAMS


def stored(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    return [float(f"{number:.13g}") for number in value.detach().reshape(-1).tolist()]


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    text = json.dumps({name: [stored(value) for value in run(torch)] for name, run in PROGRAMS.items()})
    (Path(__file__).parent / "nn_programs.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
