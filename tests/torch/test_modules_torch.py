"""The stored values of modules (tests/support/module_cases.py) are what the installed PyTorch computes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from module_cases import CASES, trained

TESTS = Path(__file__).parent.parent


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_stored_values(name: str) -> None:
    file, _, row = name.partition(": ")
    stored = json.loads(gzip.decompress((TESTS / "data" / "modules" / f"{file}.json.gz").read_bytes()))[row]["float64"]
    found = trained(torch, CASES[name], "float64")
    assert (found["printed"], found["state"]) == (stored["printed"], stored["state"])
    np.testing.assert_allclose(found["final"], stored["final"], 1e-9, 1e-11)
    np.testing.assert_allclose(found["evaluated"], stored["evaluated"], 1e-9, 1e-11)
