"""nn.init and nn.utils in short programs, against what PyTorch returned (tests/data/nn_programs.json.gz)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import leafgrad
import leafgrad.optim
from nn_programs import PROGRAMS

STORED = json.loads(gzip.decompress((Path(__file__).parent.parent / "data" / "nn_programs.json.gz").read_bytes()))


def test_each_program_has_values() -> None:
    assert list(PROGRAMS) == list(STORED)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_program(name: str) -> None:
    for got, expected in zip(PROGRAMS[name](leafgrad), STORED[name], strict=True):
        if isinstance(expected, str):
            assert str(got).partition("\n  ")[0] == expected.partition("\n  ")[0]
        else:
            tolerance = 1e-6 if got.dtype == leafgrad.float32 else 1e-9
            np.testing.assert_allclose(got.detach().reshape(-1).tolist(), expected, tolerance, tolerance)
