"""The workloads of benchmarks/ do the same work with PyTorch: what their steps return has the same values."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import leafgrad

sys.path.append(str(Path(__file__).parents[2]))

from benchmarks.operations import OPERATIONS
from benchmarks.workloads import WORKLOADS

SMALLEST = {name: operation for name, operation in OPERATIONS.items() if operation.size["n"] == 1_000}
EVERY = {**WORKLOADS, **SMALLEST}


@pytest.mark.parametrize("name", sorted(EVERY))
def test_a_step_returns_what_it_returns_with_pytorch(name: str) -> None:
    workload = EVERY[name]
    own, theirs = (workload.make(library, **workload.tiny) for library in (leafgrad, torch))
    for _ in range(3):
        ours, expected = own(), theirs()
        np.testing.assert_allclose(ours.detach().numpy(), expected.detach().numpy(), rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("name", sorted(name for name in WORKLOADS if WORKLOADS[name].rivals))
def test_the_forms_that_pytorch_has_are_there(name: str) -> None:
    workload = WORKLOADS[name]
    usual = workload.make(torch, **workload.tiny)()
    for rival in workload.rivals.values():
        step = workload.make(torch, **workload.tiny, **rival)
        np.testing.assert_allclose(step().detach().numpy(), usual.detach().numpy(), rtol=1e-4, atol=1e-6)
