"""leafgrad.optim.lr_scheduler and swa_utils beside PyTorch's: the same rates to the last bit, states and signatures."""

from __future__ import annotations

import gzip
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import leafgrad
import leafgrad.optim
from both_libraries import LIBRARIES, values
from schedule_cases import ALL, go_on, numbers, optimizer_of, rates, schedule_of

STORED = json.loads(gzip.decompress((Path(__file__).parents[1] / "data" / "schedules.json.gz").read_bytes()))


@pytest.mark.parametrize("tensors", [False, True])
@pytest.mark.parametrize("name", ALL)
def test_rates(name: str, tensors: bool) -> None:
    ours, theirs = rates(leafgrad, name, tensors), rates(torch, name, tensors)
    assert ours == theirs
    if not tensors:
        np.testing.assert_allclose(theirs, STORED[name], rtol=1e-12)


def plain(value: Any) -> Any:
    """A state without tensors and functions."""
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    return value.item() if hasattr(value, "item") else "a function" if callable(value) else value


@pytest.mark.parametrize("name", ALL)
def test_states(name: str) -> None:
    found = []
    for lib in LIBRARIES:
        optimizer = optimizer_of(lib, name)
        schedule = schedule_of(lib, name, optimizer)
        go_on(name, optimizer, schedule, range(4))
        found.append((schedule.state_dict(), optimizer.state_dict()["param_groups"]))
    assert plain(found[0]) == plain(found[1])
    for lib, (state, groups) in zip(LIBRARIES, reversed(found), strict=True):  # each goes on from the other's state
        optimizer = optimizer_of(lib, name)
        schedule = schedule_of(lib, name, optimizer)
        schedule.load_state_dict(dict(state))
        optimizer.load_state_dict({"state": {}, "param_groups": groups})
        go_on(name, optimizer, schedule, range(4, 8))
        found.append(numbers(optimizer))
    assert found[2] == found[3]


@pytest.mark.parametrize("place", ["lr_scheduler", "swa_utils"])
def test_signatures(place: str) -> None:
    ours, theirs = (getattr(lib.optim, place) for lib in LIBRARIES)
    for name in theirs.__all__:
        mine, their = (inspect.signature(getattr(each, name)).parameters for each in (ours, theirs))
        assert list(mine) == list(their), name
        for parameter in mine.values():
            assert parameter.default == their[parameter.name].default, name
            assert parameter.kind == their[parameter.name].kind, name


FUNCTIONS: dict[str, Any] = {
    "default": lambda lib: {},
    "swa": lambda lib: {"avg_fn": lib.optim.swa_utils.get_swa_avg_fn()},
    "ema": lambda lib: {"avg_fn": lib.optim.swa_utils.get_ema_avg_fn(0.9)},
    "swa multi": lambda lib: {"multi_avg_fn": lib.optim.swa_utils.get_swa_multi_avg_fn()},
    "ema multi": lambda lib: {"multi_avg_fn": lib.optim.swa_utils.get_ema_multi_avg_fn(0.9)},
}


@pytest.mark.parametrize("use_buffers", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_averages(name: str, use_buffers: bool) -> None:
    found = []
    for lib in LIBRARIES:
        lib.manual_seed(0)
        model = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.Tanh(), lib.nn.Linear(4, 2).double())
        kind = lib.float32 if name == "swa multi" else lib.int64  # of which PyTorch's function takes no mean
        model.register_buffer("count", lib.tensor(3, dtype=kind))
        model.register_buffer("scale", lib.tensor([1.5, 2.5]))
        average = lib.optim.swa_utils.AveragedModel(model, use_buffers=use_buffers, **FUNCTIONS[name](lib))
        for _ in range(5):
            average.update_parameters(model)
            with lib.no_grad():
                for p in model.parameters():
                    p.add_(lib.randn(p.shape, dtype=p.dtype))
            model.count += 5
            model.scale *= 1.1
        found.append({key: (str(value.dtype), values(value)) for key, value in average.state_dict().items()})
    assert list(found[0]) == list(found[1])
    for key, (kind, theirs) in found[1].items():
        assert found[0][key][0] == kind
        np.testing.assert_allclose(found[0][key][1], theirs, rtol=1e-6, atol=1e-7)
