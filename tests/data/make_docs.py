"""Writes into the pages of docs/ what their programs print now: `python tests/data/make_docs.py`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import documents

for path in documents.PAGES:
    text = path.read_text(encoding="utf-8")
    new = documents.with_outputs(text)
    if new != text:
        path.write_text(new, encoding="utf-8")
        print("wrote", path)
