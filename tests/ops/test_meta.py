"""Tensors without data: every operation finds the form of its results, and of its gradients, without computing them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad import nn
from leafgrad._core.tensor import with_layout_noted
from leafgrad.ops.meta.arrays import MetaArray
from leafgrad.ops.meta.results import broadcast, without_data
from op_checks import Case, Entry, cases, entries

every_op = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)

# What depends on the data, or is composed of what does, and how it is refused.
ITEM = (RuntimeError, "Tensor.item() cannot be called on meta tensors")
REFUSED: dict[str, tuple[type[Exception], str]] = {
    **dict.fromkeys(["nonzero", "argwhere", "index_put"], (NotImplementedError, "The register_meta function for")),
    **{name: (NotImplementedError, f"aten::{name}: attempted") for name in ("masked_select", "bincount")},
    **dict.fromkeys(["sorted_groups", "unique"], (NotImplementedError, "aten::_unique2: attempted")),
    **dict.fromkeys(["consecutive_groups", "unique_consecutive"], (NotImplementedError, "aten::unique_consecutive: ")),
    **dict.fromkeys(["repeated_indices", "repeat_interleave"], (RuntimeError, "cannot repeat_interleave a meta")),
    "combinations": (NotImplementedError, "aten::masked_select: attempted"),
    "one_hot": ITEM,
}


def steps(t: Any) -> Any:
    """The strides that matter."""
    return [step for step, size in zip(t.stride(), t.shape) if size > 1] if t.numel() else None


def form(t: Any) -> Any:
    return None if t is None else (tuple(t.shape), t.dtype, steps(t))


def without(t: Any) -> Any:
    return t.detach().to("meta")


def outcome(case: Case) -> list[Any] | None:
    for t in case.tensors:
        with_layout_noted(t)
    try:
        return case.outputs()
    except Exception:
        return None  # for other tests


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("layout", ["contiguous", "transposed"])
@every_op
def test_results_have_the_form_that_they_have_with_data(entry: Entry, layout: str, dtype: str) -> None:
    for case in cases(entry, dtype, layout):
        expected = outcome(case)
        if expected is None or any([t.is_sparse for t in case.tensors]):
            continue
        tensors = [without(t) for t in case.tensors]
        try:
            with without_data():
                found = case.outputs(tensors)
        except (RuntimeError, NotImplementedError) as error:
            kind, sentence = REFUSED[entry.name]
            assert type(error) is kind and str(error).startswith(sentence)
            continue
        assert [form(t) for t in found] == [form(t) for t in expected], case
        assert all([t.is_meta for t in found]) or not tensors


@pytest.mark.filterwarnings("ignore")
@every_op
def test_gradients_have_the_form_of_what_they_belong_to(entry: Entry) -> None:
    for case in cases(entry):
        expected = outcome(case)
        if expected is None or entry.name in REFUSED or any([t.is_sparse for t in case.tensors]):
            continue
        tensors = [without(t) for t in case.tensors]
        leaves = [tensors[i].requires_grad_() for i in case.variable()]
        with without_data():
            results = [t for t in case.outputs(tensors) if t.requires_grad]
        if not results or not leaves:
            continue
        try:
            found = torch.autograd.grad(results, leaves, [torch.ones_like(t) for t in results], allow_unused=True)
        except (RuntimeError, NotImplementedError) as error:
            assert "derivative" in str(error) or "backward" in str(error)
            continue
        for leaf, gradient in zip(leaves, found, strict=True):
            assert gradient is None or (
                gradient.is_meta and gradient.shape == leaf.shape and gradient.dtype == leaf.dtype
            )


# -- what it costs ----------------------------------------------------------------------------------------------------

HUGE: list[Callable[[Any], Any]] = [
    lambda x: x * 2 + x.sin(),
    lambda x: x.sum(),
    lambda x: x.view(10**6, -1).softmax(1),
    lambda x: x.view(10**6, -1).t().contiguous(),
    lambda x: x.view(10**6, -1).mean(0, keepdim=True),
    lambda x: x.view(10**6, -1) @ x.view(-1, 10**6),
    lambda x: x.view(10**6, -1).cumsum(1),
    lambda x: x.to(torch.float64),
    lambda x: x.zero_().normal_().add_(1),
    lambda x: torch.zeros_like(x),
    lambda x: nn.functional.linear(x.view(10**6, -1), torch.empty(7, 10**6, device="meta")),
    lambda x: nn.functional.conv1d(x.view(1, 10**3, -1), torch.empty(8, 10**3, 3, device="meta")),
    lambda x: nn.functional.dropout(x),
    lambda x: x[::2].reshape(-1, 10),
]


@pytest.mark.parametrize("function", HUGE)
def test_nothing_is_computed_and_no_memory_is_used(function: Callable[[Any], Any]) -> None:
    x = torch.empty(10**12, device="meta")
    function(torch.empty(10**6 * 10**6, device="meta"))  # what is imported and cached
    tracemalloc.start()
    result = function(x)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.is_meta
    assert used < 10**6


def test_what_has_to_be_computed_refuses_what_would_take_too_long() -> None:
    with pytest.raises(NotImplementedError, match="would take too long"):
        torch.empty(2**40, device="meta").max()


def test_random_numbers_are_not_drawn() -> None:
    torch.manual_seed(0)
    before = torch.get_rng_state()
    x = torch.rand(3, device="meta").normal_().uniform_()
    nn.functional.dropout(x)
    torch.multinomial(torch.empty(3, 4, device="meta"), 2)
    torch.randperm(5, device="meta")
    assert torch.equal(before, torch.get_rng_state())


# -- arrays -----------------------------------------------------------------------------------------------------------


def test_shapes_are_broadcast_as_those_of_arrays() -> None:
    for shapes in ([(3, 1), (4,)], [(), (2, 0)], [(1,), (1, 1)], [(2, 3)]):
        assert broadcast(shapes) == np.broadcast_shapes(*shapes)
    with pytest.raises(ValueError, match="cannot be broadcast"):
        broadcast([(2,), (3,)])


def test_arrays_are_not_converted() -> None:
    array = MetaArray.new((2, 3), np.float32)
    with pytest.raises(TypeError, match="can't convert meta device type tensor to numpy"):
        np.asarray(array)
    with pytest.raises(RuntimeError, match="cannot be called on meta tensors"):
        bool(array.sum() > 0)
    with pytest.raises(NotImplementedError, match="no data"):
        np.copyto(np.zeros((2, 3)), array)


def test_sizes_that_no_memory_could_have() -> None:
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        torch.empty(2**32, 2**32, device="meta")
