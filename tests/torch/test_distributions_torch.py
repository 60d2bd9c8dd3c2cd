"""Distributions compared with an installed PyTorch, also with other seeds than the stored ones."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import torch

import distribution_cases as cases
import leafgrad
from distribution_comparison import TOLERANCE, differences


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", cases.CASES)
def test_answers(name: str, dtype: str) -> None:
    expected = cases.answers(torch, cases.CASES[name], dtype)
    assert differences(name, expected, cases.answers(leafgrad, cases.CASES[name], dtype), TOLERANCE[dtype]) == []


@pytest.mark.parametrize("name", cases.CASES)
def test_samples_of_other_seeds(name: str) -> None:
    def drawn(library: Any, seed: int) -> Any:
        library.manual_seed(seed)
        dist = cases.CASES[name](library.distributions, lambda values: library.tensor(values), library)
        return dist.sample((50,)).tolist()

    with pytest.warns() if "Wishart" in name else contextlib.nullcontext():
        for seed in (1, 2, 3):
            assert differences(name, drawn(torch, seed), drawn(leafgrad, seed), 1e-5) == []


def test_the_same_names() -> None:
    assert set(leafgrad.distributions.__all__) == set(torch.distributions.__all__)


@pytest.mark.parametrize("name", ["constraints", "transforms", "utils", "kl", "constraint_registry"])
def test_the_same_names_in_modules(name: str) -> None:
    here, there = getattr(leafgrad.distributions, name), getattr(torch.distributions, name)
    assert set(there.__all__) - set(here.__all__) == set()


STREAMS: dict[str, Any] = {
    "poisson": lambda T, x: T.poisson(x * 20),
    "binomial": lambda T, x: T.binomial((x * 100).floor(), x),
    "gamma": lambda T, x: T._standard_gamma(x * 3),
    "dirichlet": lambda T, x: T._sample_dirichlet(x * 3),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", STREAMS)
def test_streams(name: str, dtype: str) -> None:
    """Numbers that are accepted or rejected one by one, and the state of the generator after them."""
    states, numbers = [], []
    for library in (torch, leafgrad):
        library.manual_seed(5)
        x = library.rand(37, 41, dtype=getattr(library, dtype)).t()
        numbers.append([STREAMS[name](library, x).tolist() for _ in range(2)])
        states.append(library.get_rng_state().tolist())
    assert states[0] == states[1]
    assert differences(name, *numbers, 1e-15) == []
