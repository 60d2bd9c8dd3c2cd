"""The stored results of tests/support/nn_programs.py are those of the installed PyTorch."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.utils.prune

from nn_programs import PROGRAMS

STORED = json.loads(gzip.decompress((Path(__file__).parent.parent / "data" / "nn_programs.json.gz").read_bytes()))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_stored_results(name: str) -> None:
    for value, stored in zip(PROGRAMS[name](torch), STORED[name], strict=True):
        if isinstance(value, str):
            assert value == stored
        else:
            np.testing.assert_allclose(value.detach().reshape(-1).tolist(), stored, 1e-9, 1e-11)
