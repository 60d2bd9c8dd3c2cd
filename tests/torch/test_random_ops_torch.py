"""Random tensors against PyTorch: the same seed, the same numbers, in every memory order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import leafgrad
from compare import check, difference

METHODS = """
    normal_() normal_(1,2) uniform_() uniform_(-1,1) uniform_(to=3) random_() random_(5) random_(2,5) random_(to=5)
    bernoulli_() bernoulli_(.3) exponential_() exponential_(2.) cauchy_() log_normal_() geometric_(.5)
"""


def test_random_tensors() -> None:
    check(
        """
        torch.rand(3)
        torch.rand(3, dtype=torch.float64)
        torch.rand(3, dtype=torch.float16)
        torch.rand(3, dtype=torch.bfloat16)
        torch.rand(2, 3, out=torch.zeros(2, 3).t().contiguous().t())
        torch.rand(2, requires_grad=True)
        torch.randn(3)
        torch.randn(20)
        torch.randn(20, dtype=torch.float64)
        torch.randn(3, dtype=torch.complex64)
        torch.randint(5, (2,))
        torch.randint(2, 5, (2,))
        torch.randint(high=5, size=(2,))
        torch.randint(low=1, high=5, size=(2,))
        torch.randint(5, (2,), dtype=torch.float32)
        torch.randint(0, 2, (2,), dtype=torch.bool)
        torch.randint(5, (2,), out=torch.zeros(2))
        torch.randint(10, (0,))
        torch.randperm(5)
        torch.randperm(5, dtype=torch.int32)
        torch.randperm(0)
        torch.randperm(1000)
        torch.normal(0, 1, (3,))
        torch.normal(0., 1., size=(3,), dtype=torch.float64)
        torch.normal(torch.zeros(3), torch.ones(3))
        torch.normal(torch.zeros(3), 1)
        torch.normal(0, torch.ones(3))
        torch.normal(torch.zeros(3))
        torch.normal(torch.zeros(3, 1), torch.ones(2))
        torch.normal(torch.ones(4, 5), torch.full((5,), 2.))
        torch.normal(torch.ones(4, 5).double(), 2.)
        torch.normal(1., torch.full((20,), 2.))
        torch.normal(torch.zeros(3).double(), torch.ones(3))
        torch.normal(torch.zeros(3), torch.ones(3).double())
        torch.normal(mean=torch.arange(1., 4.), std=2)
        torch.normal(0, 1, (3,), requires_grad=True)
        torch.bernoulli(torch.tensor([.3, .5]))
        torch.bernoulli(torch.tensor([.3, .5]), p=.5)
        torch.bernoulli(torch.full((4, 3), .5).t())
        torch.ones(2, 3).bernoulli(.5)
        torch.multinomial(torch.tensor([.3, .7]), 1)
        torch.multinomial(torch.tensor([.3, .7]), 5, True)
        torch.multinomial(torch.tensor([[.3, .7, .5]]), 4, True)
        torch.multinomial(torch.tensor([.3, .7, .5]), 3)
        torch.rand_like(torch.ones(2, 3))
        torch.rand_like(torch.ones(2, 3), dtype=torch.float64, requires_grad=True)
        torch.rand_like(torch.ones(2, 3).t())
        torch.randn_like(torch.ones(4, 8).t())
        torch.randint_like(torch.ones(2, 3), 5)
        torch.randint_like(torch.ones(2, 3), 1, 5)
        torch.randint_like(torch.ones(2, 3), low=1, high=5, dtype=torch.int64)
        torch.rand(2, generator=torch.Generator().manual_seed(1))
        torch.Generator().manual_seed(5).get_state()
        torch.get_rng_state()
        """,
        seeded=True,
    )


@pytest.mark.parametrize(
    "layout", ["ones(30)", "ones(4, 8)", "ones(4, 8).t()", "ones(4, 8)[:, ::2]", "ones(2, 3, 4).permute(2, 0, 1)"]
)
def test_random_in_place(layout: str) -> None:
    """PyTorch fills in the order in which the elements lie in memory."""
    methods = METHODS.split()
    check("\n".join(f"torch.{layout}.{method}" for method in methods), seeded=True)
    check("\n".join(f"torch.{layout}.double().{method}" for method in methods), seeded=True)


def test_bernoulli_with_probabilities() -> None:
    check(
        """
        torch.ones(2, 3).bernoulli_(torch.full((2, 3), .5))
        torch.ones(2, 3).bernoulli_(torch.full((3,), .5))
        torch.ones(3, 2).t().bernoulli_(torch.full((3,), .5).double())
        torch.ones(6, dtype=torch.int64).bernoulli_(.5)
        """,
        seeded=True,
    )


def test_refused_random() -> None:
    check(
        """
        torch.manual_seed('a')
        torch.set_rng_state(torch.zeros(3))
        torch.rand(2, dtype=torch.int64)
        torch.randn(2, dtype=torch.int64)
        torch.rand(-2)
        torch.randint(5, 2, (2,))
        torch.randint(5, [2], requires_grad=True)
        torch.randperm(-1)
        torch.randperm(2.5)
        torch.normal(torch.zeros(3), -1)
        torch.normal(torch.zeros(3), -torch.ones(3))
        torch.normal(torch.zeros(3), torch.ones(2))
        torch.normal(torch.zeros(3).int(), torch.ones(3))
        torch.bernoulli(torch.tensor([1.3, .5]))
        torch.bernoulli(torch.tensor([1, 0]))
        torch.ones(2).bernoulli_(2)
        torch.ones(2).normal_(std=-2)
        torch.ones(2).uniform_(3, 1)
        torch.ones(2).uniform_(a=1)
        torch.ones(2, dtype=torch.int64).uniform_()
        torch.ones(2).random_(5, 2)
        torch.ones(2).exponential_(lambd=-1)
        torch.ones(2).geometric_(p=1.5)
        torch.ones(2, requires_grad=True).normal_()
        torch.multinomial(torch.tensor([.3, .7]), 5)
        """,
        messages=True,
    )


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, 3000),
    st.sampled_from(("float32", "float64")),
    st.sampled_from(("rand", "randn")),
    st.integers(0, 2**40),
)
def test_streams(size: int, dtype: str, name: str, seed: int) -> None:
    def draw(m: Any) -> Any:
        m.manual_seed(seed)
        return [getattr(m, name)(size, dtype=getattr(m, dtype)), m.randint(100, (3,)), m.rand(2)]

    assert not difference(draw)


def test_states_travel() -> None:
    """A state of PyTorch's generator continues in leafgrad, and the other way round."""
    torch.manual_seed(3)
    torch.randn(5)
    leafgrad.set_rng_state(leafgrad.from_numpy(torch.get_rng_state().numpy().copy()))
    assert np.array_equal(torch.randn(7).numpy(), leafgrad.randn(7).numpy())
    torch.set_rng_state(torch.from_numpy(leafgrad.get_rng_state().numpy().copy()))
    assert np.array_equal(torch.rand(7).numpy(), leafgrad.rand(7).numpy())


@pytest.mark.parametrize("p", [0.3, 1.0])
def test_dropout_of_dense_turned_and_gapped_tensors(p: float) -> None:
    views = ["", ".t()", "[:, ::2]", "[:, ::2].t()", "[0]", "[0, 0]", ".reshape(2, 3, 8).permute(2, 0, 1)"]
    dropout = "torch.nn.functional.dropout"
    for kind in ("float32", "float64", "float16", "bfloat16"):
        x = f"torch.arange(48.).reshape(6, 8).to(torch.{kind})"
        check("\n".join(f"{dropout}({x}{view}, {p})" for view in views if p < 1 or "::" not in view), seeded=True)
