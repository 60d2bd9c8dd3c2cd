"""Writes tests/data/files/*.pt with the installed PyTorch: what leafgrad has to be able to load.

python tests/data/make_files.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "support"))

from stored_objects import OBJECTS, described  # noqa: E402

for name, make in OBJECTS.items():
    torch.save(make(torch), HERE / "files" / f"{name}.pt")
    assert described(torch.load(HERE / "files" / f"{name}.pt")) == described(make(torch))
torch.manual_seed(0)
torch.save(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU()), HERE / "files" / "module.pt")
torch.save(torch.ones(3), HERE / "files" / "old_format.pt", _use_new_zipfile_serialization=False)
