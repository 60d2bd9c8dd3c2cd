"""Results lie in memory as PyTorch's do, whatever view they come from, and random numbers come in the same order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import leafgrad
from leafgrad.nn import functional as _  # noqa: F401  so that leafgrad.nn is there

KINDS = ["permute", "skip", "from 1", "unsqueeze", "expand", "expand in front"]
FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "empty_like": lambda m, x: m.zeros_like(x),
    "rand_like": lambda m, x: m.rand_like(x),
    "dropout": lambda m, x: m.nn.functional.dropout(x, 0.5).bool(),
    "bernoulli": lambda m, x: m.bernoulli(x / 200),
    "clone": lambda m, x: x.clone(),
    "double": lambda m, x: x.double(),
    "contiguous": lambda m, x: x.contiguous(),
    "flip": lambda m, x: x.flip(0),
    "sort": lambda m, x: x.sort(-1)[0],
}


def seen(module: Any, shape: list[int], steps: list[tuple[str, int]]) -> Any:
    """Numbers from 1 on in a shape, seen through some views."""
    count = 1
    for size in shape:
        count *= size
    x = module.arange(1.0, count + 1).reshape(shape)
    for kind, choice in steps:
        dims = x.dim()
        at = choice % dims
        if kind == "permute":
            x = x.permute(*[(d * (1 if choice % 2 else -1) + at) % dims for d in range(dims)])
        elif kind == "skip":
            x = x[(slice(None),) * at + (slice(None, None, 2),)]
        elif kind == "from 1" and x.shape[at] > 1:
            x = x[(slice(None),) * at + (slice(1, None),)]
        elif kind == "unsqueeze":
            x = x.unsqueeze(at)
        elif kind == "expand":
            x = x.expand(*[3 if size == 1 else size for size in x.shape])
        elif kind == "expand in front":
            x = x.expand(2, *x.shape)
    return x


@pytest.mark.parametrize("name", FUNCTIONS)
@given(
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    steps=st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 11)), max_size=4),
)
def test_the_same_strides_and_values(name: str, shape: list[int], steps: list[tuple[str, int]]) -> None:
    found = []
    for module in (torch, leafgrad):
        module.manual_seed(0)
        result = FUNCTIONS[name](module, seen(module, shape, steps))
        strides = [stride for stride, size in zip(result.stride(), result.shape, strict=True) if size > 1]
        found.append((strides, result.tolist()))
    assert found[1] == found[0]
