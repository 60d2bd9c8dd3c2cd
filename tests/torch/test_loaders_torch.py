"""Loaders and samplers beside those of the installed PyTorch."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.data

import leafgrad
from loader_programs import PROGRAMS, outcome

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")
Point = namedtuple("Point", "x y")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_samples(name: str) -> None:
    assert outcome(leafgrad, name) == outcome(torch, name)


SAMPLES: dict[str, Any] = {
    "numbers": lambda t: [1, 2],
    "floats": lambda t: [1.5, 2.5],
    "bools": lambda t: [True, False],
    "texts": lambda t: ["a", "b"],
    "bytes": lambda t: [b"a", b"b"],
    "tensors": lambda t: [t.ones(2), t.zeros(2)],
    "arrays": lambda t: [np.ones(2), np.zeros(2)],
    "scalars": lambda t: [np.float32(1), np.float32(2)],
    "pairs": lambda t: [(1, "a"), (2, "b")],
    "lists": lambda t: [[1, 2.5], [2, 3.5]],
    "dictionaries": lambda t: [{"x": 1, "y": t.ones(1)}, {"x": 2, "y": t.zeros(1)}],
    "named": lambda t: [Point(1, 2.0), Point(3, 4.0)],
    "ranges": lambda t: [range(2), range(2)],
    "nested": lambda t: [{"a": (1, [t.ones(1)])}, {"a": (2, [t.ones(1)])}],
    "unequal": lambda t: [[1, 2], [1]],
    "shapes": lambda t: [t.ones(2), t.ones(3)],
    "objects": lambda t: [object(), object()],
    "array of texts": lambda t: [np.array(["a"]), np.array(["b"])],
}


def described(value: Any) -> Any:
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return {key: described(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [described(each) for each in value]
    return repr(value)


def outcome_of(library: Any, function: str, samples: Any) -> Any:
    try:
        return described(getattr(library.utils.data, function)(samples(library)))
    except Exception as error:
        return type(error), str(error).splitlines()[0]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("function", ["default_collate", "default_convert"])
def test_collating(name: str, function: str) -> None:
    if (name, function) == ("objects", "default_convert"):
        samples: Any = lambda t: ["the same", None]  # the text of an object has its address
    else:
        samples = SAMPLES[name]
    assert outcome_of(leafgrad, function, samples) == outcome_of(torch, function, samples)


MISTAKES = [
    {"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 2}, {"persistent_workers": True}, {"batch_size": 0},
    {"batch_size": 1.5}, {"shuffle": True, "sampler": [1]}, {"batch_sampler": [[1]], "batch_size": 2},
    {"batch_size": None, "drop_last": True}, {"multiprocessing_context": "fork"}, {"drop_last": 1},
    {"multiprocessing_context": "no", "num_workers": 1}, {"multiprocessing_context": 3, "num_workers": 1},
    {"prefetch_factor": -1, "num_workers": 1},
]  # fmt: skip


@pytest.mark.parametrize("options", MISTAKES, ids=str)
def test_mistakes(options: dict[str, Any]) -> None:
    raised = []
    for library in (torch, leafgrad):
        with pytest.raises((ValueError, TypeError)) as error:
            library.utils.data.DataLoader(range(3), **options)
        raised.append((type(error.value), str(error.value)))
    assert raised[0] == raised[1]


class Broken:
    def __init__(self, error: Any) -> None:
        self.error = error

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> int:
        if index == 2:
            raise self.error("no sample 2")
        return index


@pytest.mark.parametrize("error", [ValueError, KeyError, UnicodeDecodeError])
def test_an_exception_in_a_worker_looks_the_same(error: Any) -> None:
    raised = []
    for library in (torch, leafgrad):
        with pytest.raises(Exception) as found:
            list(library.utils.data.DataLoader(Broken(error), num_workers=1))
        lines = str(found.value).splitlines()
        raised.append((type(found.value), lines[0], lines[1], lines[-1]))
    assert raised[0] == raised[1]
