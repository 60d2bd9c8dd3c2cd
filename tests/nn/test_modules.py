"""Every module of nn against what PyTorch printed and computed for the same seed (tests/data/modules)."""

from __future__ import annotations

import copy
import functools
import gzip
import io
import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad
import leafgrad.optim
from module_cases import CASES, DTYPES, numbers, prepared, tensors_in, trained

TESTS = Path(__file__).parent.parent

TOLERANCES = {"float32": (2e-5, 2e-6), "float64": (1e-9, 1e-11)}
# Where rounding counts more: if only the parameters are off by half a unit in the last place, the gradients of this one
# (in double precision) change by up to 7e-6; PyTorch's own, in single precision, are 9e-6 from those in double.
SENSITIVE = {"transformer: TransformerDecoderLayer norm first": 2e-5}


@functools.cache
def stored(file: str) -> Any:
    return json.loads(gzip.decompress((TESTS / "data" / "modules" / f"{file}.json.gz").read_bytes()))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_values(name: str, dtype: str) -> None:
    file, _, row = name.partition(": ")
    expected, got = stored(file)[row][dtype], trained(leafgrad, CASES[name], dtype)
    assert got["printed"] == expected["printed"]
    assert got["state"] == expected["state"]
    relative, absolute = TOLERANCES[dtype]
    absolute = SENSITIVE.get(name, absolute) if dtype == "float32" else absolute
    for what in ("initial", "outputs", "gradients", "final", "evaluated"):
        own, theirs = [[v] if what != "outputs" else v for v in (got[what], expected[what])]
        for mine, its in zip(own, theirs, strict=True):
            np.testing.assert_allclose(mine, its, relative, absolute, err_msg=what)


def test_each_row_has_values() -> None:
    """and no values are there of rows that are gone"""
    files = {path.name.partition(".")[0] for path in (TESTS / "data" / "modules").glob("*.json.gz")}
    assert sorted(CASES) == sorted(f"{file}: {row}" for file in files for row in stored(file))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.copies])
def test_copies(name: str) -> None:
    """deepcopy, pickle and save make modules that print and compute the same."""

    def output(module: Any) -> list[float]:
        leafgrad.manual_seed(1)
        return numbers(tensors_in(case.call(module, *inputs)))

    case = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module, inputs = prepared(leafgrad, case, "float64")
        file = io.BytesIO()
        leafgrad.save(module, file)
        file.seek(0)
        copies = [copy.deepcopy(module), pickle.loads(pickle.dumps(module)), leafgrad.load(file, weights_only=False)]
        for made in copies:
            assert repr(made) == repr(module)
            assert list(made.state_dict()) == list(module.state_dict())
        if not any(leafgrad.nn.parameter.is_lazy(p) for p in module.parameters()):
            expected = output(module)
            for made in copies:
                assert output(made) == expected
