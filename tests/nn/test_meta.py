"""Modules without data: built, converted, given their values, and asked for the shapes of their results."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import pytest

import leafgrad as torch
from leafgrad import nn
from module_cases import CASES, Case, prepared, tensors_in

# They look at values: at indices to find groups of them, at lengths, at a counter, at masks.
LOOK = ("CTCLoss", "AdaptiveLogSoftmaxWithLoss", "means of all batches", "TransformerDecoder", "TransformerEncoder")


def without(value: Any) -> Any:
    """The same without data, also the tensors in lists and tuples."""
    if isinstance(value, torch.Tensor):
        return value if value.is_sparse else value.detach().to("meta").requires_grad_(value.requires_grad)
    if value.__class__ in (tuple, list):
        return value.__class__([without(each) for each in value])
    return value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_modules_have_results_of_the_form_that_they_have_with_data(name: str) -> None:
    case: Case = CASES[name]
    module, inputs = prepared(torch, case, "float32")
    expected = tensors_in(case.call(module, *inputs))
    with torch.device("meta"):
        other = case.make(nn)
    try:
        found = tensors_in(case.call(other, *[without(each) for each in inputs]))
    except RuntimeError as error:
        assert any([each in name for each in LOOK])
        assert "meta" in str(error)
        return
    assert [(t.shape, t.dtype, t.stride()) for t in found] == [(t.shape, t.dtype, t.stride()) for t in expected]
    assert all([t.is_meta for t in (*found, *other.parameters(), *other.buffers())])
    assert [(k, v.shape) for k, v in other.state_dict().items() if hasattr(v, "shape")] == [
        (k, v.shape) for k, v in module.state_dict().items() if hasattr(v, "shape")
    ]
    loss = sum([t.abs().sum() for t in found if t.requires_grad])
    if isinstance(loss, torch.Tensor):
        loss.backward()
    assert all([p.grad is None or (p.grad.is_meta and p.grad.shape == p.shape) for p in other.parameters()])


def network() -> Any:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))


def losses(module: Any) -> list[float]:
    torch.manual_seed(1)
    x, y = torch.randn(8, 3), torch.randn(8, 2)
    optimizer = torch.optim.Adam(module.parameters(), lr=0.1)
    found = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(module(x), y)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


def test_values_from_elsewhere() -> None:
    torch.manual_seed(0)
    original = network()
    state = copy.deepcopy(original.state_dict())
    with torch.device("meta"):
        assigned = network()
    copied = copy.deepcopy(assigned).to_empty(device="cpu")
    assert not any([t.is_meta for t in (*copied.parameters(), *copied.buffers())])
    copied.load_state_dict(state)
    before = assigned[0].weight
    assigned.load_state_dict(copy.deepcopy(state), assign=True)
    assert assigned[0].weight is not before
    assert type(assigned[0].weight) is nn.Parameter
    assert assigned[0].weight.requires_grad
    assert losses(original) == losses(copied) == losses(assigned)


def test_copying_into_it_does_nothing_and_says_so() -> None:
    module = nn.Linear(2, 3, device="meta")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module.load_state_dict(nn.Linear(2, 3).state_dict())
    assert [str(w.message).partition(",")[0] for w in caught] == [
        f"for {name}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current model"
        for name in ("weight", "bias")
    ]
    assert module.weight.is_meta


def test_conversions() -> None:
    module = network()
    weight = module[0].weight
    assert module.to("meta") is module
    assert module[0].weight is not weight
    assert module[0].weight.is_meta
    assert module.double()[0].weight.dtype is torch.float64
    assert module[1].num_batches_tracked.dtype is torch.int64
    for convert in (lambda: module.to("cpu"), lambda: module.to(torch.ones(1)), module.cpu):
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
            convert()
    with pytest.raises(NotImplementedError, match=r"Please use torch.nn.Module.to_empty\(\) instead"):
        module.to("cpu")
    assert module.to_empty(device="cpu")[0].weight.dtype is torch.float64
    outer = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2))).to("meta")
    outer.to_empty(device="cpu", recurse=False)
    assert outer[0].weight.is_meta


def test_devices_of_layers() -> None:
    for made in (
        nn.Linear(2, 3, device="meta"), nn.Conv2d(2, 3, 3, device="meta"), nn.LSTM(2, 3, device="meta"),
        nn.Embedding(4, 2, padding_idx=1, device="meta"), nn.MultiheadAttention(4, 2, device="meta"),
        nn.LayerNorm(3, device="meta"), nn.PReLU(device="meta"), nn.Bilinear(2, 2, 2, device="meta"),
        nn.BatchNorm2d(3, device="meta"), nn.Transformer(4, 2, 1, 1, 4, batch_first=True, device="meta"),
        nn.GRUCell(2, 3, device="meta"),
    ):  # fmt: skip
        assert all([t.is_meta for t in (*made.parameters(), *made.buffers())])
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        nn.Linear(2, 3, device="cuda")
    lazy = nn.LazyLinear(3, device="meta")
    lazy(torch.empty(4, 2, device="meta"))
    assert lazy.weight.is_meta
    assert lazy.weight.shape == (3, 2)


def test_initial_values_are_not_drawn() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    with torch.device("meta"):
        network()
    skipped = nn.utils.skip_init(nn.Linear, 3, 2)
    assert not skipped.weight.is_meta
    assert torch.equal(torch.rand(3), expected)
    init = nn.init
    for fill in (
        init.xavier_uniform_,
        init.kaiming_normal_,
        init.orthogonal_,
        init.eye_,
        init.trunc_normal_,
        init.ones_,
    ):
        weight = torch.empty(3, 4, device="meta")
        assert fill(weight) is weight
    assert init.sparse_(torch.empty(3, 4, device="meta"), 0.5).is_meta
    assert init.dirac_(torch.empty(3, 4, 5, device="meta")).is_meta


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop])
def test_steps_of_optimisers_count_and_compute_nothing(kind: Any) -> None:
    module = nn.Linear(3, 2, device="meta")
    optimizer = kind(module.parameters(), lr=0.1)
    module(torch.empty(4, 3, device="meta")).sum().backward()
    norm = nn.utils.clip_grad_norm_(module.parameters(), 1.0)
    assert norm.is_meta
    before = module.weight._version
    optimizer.step()
    assert module.weight._version == before + 1
    state = optimizer.state[module.weight]
    assert all([t.is_meta for name, t in state.items() if name != "step" and t is not None])
