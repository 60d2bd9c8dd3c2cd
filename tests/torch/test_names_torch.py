"""The stored names of PyTorch (src/leafgrad/torch_names.txt) are those of the PyTorch that is installed."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "make_torch_names.py"


def test_stored_names_are_up_to_date() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # modules of PyTorch that are on their way out
        made = runpy.run_path(str(TOOL))
        text = "".join(made["lines"]())
    assert made["FILE"].read_text(encoding="utf-8") == text, "run python tools/make_torch_names.py"
