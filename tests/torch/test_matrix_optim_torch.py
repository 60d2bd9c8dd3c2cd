"""LBFGS, Adafactor and Muon beside PyTorch's: their states go from one library to the other; signatures of all."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import torch

import leafgrad
import leafgrad.optim
from both_libraries import LIBRARIES, values
from optim_cases import OTHERS


def model_of(lib: Any) -> Any:
    lib.manual_seed(0)
    return lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.Tanh(), lib.nn.Linear(4, 2)).double()


def optimizer_of(lib: Any, model: Any, name: str, options: dict[str, Any]) -> Any:
    matrices = [p for p in model.parameters() if p.dim() == 2]
    return getattr(lib.optim, name)(matrices if name == "Muon" else model.parameters(), **options)


def train(lib: Any, model: Any, optimizer: Any, steps: int) -> None:
    lib.manual_seed(1)
    inputs = lib.randn(6, 3).double()

    def closure() -> Any:
        optimizer.zero_grad()
        loss = ((model(inputs) - 1) ** 2).mean()
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)


def converted(value: Any, lib: Any) -> Any:
    """A state with the tensors of another library."""
    if isinstance(value, dict):
        return {key: converted(entry, lib) for key, entry in value.items()}
    if isinstance(value, list):
        return [converted(entry, lib) for entry in value]
    return lib.from_numpy(value.numpy().copy()) if hasattr(value, "numpy") else value


def check(ours: Any, theirs: Any, precision: float) -> None:
    if isinstance(theirs, dict):
        assert set(ours) == set(theirs)
        for key, value in theirs.items():
            check(ours[key], value, precision)
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for mine, their in zip(ours, theirs, strict=True):
            check(mine, their, precision)
    elif isinstance(theirs, torch.Tensor):
        assert str(ours.dtype) == str(theirs.dtype) and tuple(ours.shape) == tuple(theirs.shape)
        np.testing.assert_allclose(values(ours), values(theirs), rtol=precision, atol=precision)
    else:
        assert ours == pytest.approx(theirs, rel=precision) if isinstance(theirs, float) else ours == theirs


@pytest.mark.parametrize("case", OTHERS)
def test_states_go_from_one_library_to_the_other(case: str) -> None:
    name, options = OTHERS[case]
    precision = 3e-3 if name == "Muon" else 1e-9  # Muon computes in bfloat16
    models = [model_of(lib) for lib in LIBRARIES]
    optimizers = [optimizer_of(lib, model, name, options) for lib, model in zip(LIBRARIES, models, strict=True)]
    for lib, model, optimizer in zip(LIBRARIES, models, optimizers, strict=True):
        train(lib, model, optimizer, 4)
    states = [optimizer.state_dict() for optimizer in optimizers]
    check(*states, precision)
    fresh = [optimizer_of(lib, model, name, {}) for lib, model in zip(LIBRARIES, models, strict=True)]
    for lib, model, optimizer, state in zip(LIBRARIES, models, fresh, reversed(states), strict=True):
        optimizer.load_state_dict(converted(state, lib))
        train(lib, model, optimizer, 2)
    check(*[optimizer.state_dict() for optimizer in fresh], precision)
    for mine, their in zip(*[model.parameters() for model in models], strict=True):
        np.testing.assert_allclose(values(mine), values(their), rtol=precision, atol=precision)


def test_signatures() -> None:
    for name in set(torch.optim.__all__) & set(leafgrad.optim.__all__):
        if inspect.isclass(getattr(torch.optim, name)):
            ours, theirs = (inspect.signature(getattr(lib.optim, name)).parameters for lib in LIBRARIES)
            assert list(ours) == list(theirs), name
            for parameter in ours.values():
                assert parameter.default == theirs[parameter.name].default, name
                assert parameter.kind == theirs[parameter.name].kind, name


def test_which_names_are_missing() -> None:
    assert set(torch.optim.__all__) - set(leafgrad.optim.__all__) == {"swap_in_optimizer_params_and_state"}
