"""Creation functions and random tensors against PyTorch, expression by expression."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compare import DTYPES, check, difference
from hypothesis import given, settings
from hypothesis import strategies as st


def test_tensor() -> None:
    check(
        """
        torch.tensor(np.float64(1.0))
        torch.tensor([np.float64(1.0)])
        torch.tensor([np.float32(1.0), 2.0])
        torch.tensor([np.int32(1), 2])
        torch.tensor([np.int32(1), np.int32(2)])
        torch.tensor(np.int8(1))
        torch.tensor([np.bool_(True)])
        torch.tensor(np.array(3.))
        torch.tensor([np.array([1.]), [2.]])
        torch.tensor([[], []])
        torch.tensor([])
        torch.tensor(())
        torch.tensor(range(4))
        torch.tensor(bytearray(b'ab'))
        torch.tensor([True, 2])
        torch.tensor([True, 2.0])
        torch.tensor([1, 2.0, 1j])
        torch.tensor([[1, 2], (3, 4)])
        torch.tensor(data=3)
        torch.tensor(True, dtype=torch.float32)
        torch.tensor([torch.tensor(1.), torch.tensor(2)])
        torch.tensor([1.], dtype=float)
        torch.tensor([1.], dtype=int)
        torch.tensor([2], dtype=torch.bool)
        torch.tensor([0.5], dtype=torch.bool)
        torch.tensor([1.5], dtype=torch.int32)
        torch.tensor(-1, dtype=torch.uint8)
        torch.tensor([1e40])
        torch.tensor(1e40, dtype=torch.float16)
        torch.tensor([70000], dtype=torch.float16)
        torch.tensor([2.00049, 1e-8, 65519.99], dtype=torch.float16)
        torch.tensor([1.0, 2.0], requires_grad=True)
        torch.as_tensor(torch.ones(2))
        torch.as_tensor(np.arange(3), dtype=torch.float32)
        torch.scalar_tensor(3)
        torch.asarray([1, 2])
        torch.asarray(np.ones(2), copy=True)
        torch.asarray(3.5)
        torch.asarray(np.ones(2), requires_grad=True)
        torch.asarray(bytearray(b'abcd'), dtype=torch.uint8)
        """
    )


def test_refused_data() -> None:
    check(
        """
        torch.tensor([[1, 2], [3]])
        torch.tensor([[1, 2], 3])
        torch.tensor([1, [2, 3]])
        torch.tensor([[[1, 2], [3, 4]], [[1, 2], [3]]])
        torch.tensor('a')
        torch.tensor(['a'])
        torch.tensor([[1, 2, 3], [4, 'x', 6]])
        torch.tensor(b'ab')
        torch.tensor(None)
        torch.tensor([None])
        torch.tensor({1: 2})
        torch.tensor({1, 2})
        torch.tensor(x for x in [1])
        torch.tensor(2**63)
        torch.tensor([2**70])
        torch.tensor(300, dtype=torch.uint8)
        torch.tensor([-300], dtype=torch.uint8)
        torch.tensor([300.5], dtype=torch.uint8)
        torch.tensor(nan, dtype=torch.int64)
        torch.tensor(1e20, dtype=torch.int64)
        torch.tensor([1j], dtype=torch.float32)
        torch.tensor([torch.ones(2), torch.zeros(2)])
        torch.tensor([1, 2], requires_grad=True)
        torch.tensor(1., requires_grad=1)
        torch.tensor([1.], dtype='float32')
        torch.tensor([1.], dtype=np.float32)
        torch.tensor(1, 2)
        torch.tensor([1.], foo=3)
        torch.tensor([1.], pin_memory=True)
        torch.tensor(np.arange(3)[::-1])
        torch.tensor(np.array([1, 2], dtype='>i4'))
        torch.tensor([np.array(1.), np.array(2.)])
        torch.asarray([1, 2], dtype=torch.float64, copy=False)
        torch.asarray(torch.ones(2), dtype=torch.int32, copy=False)
        torch.from_numpy(np.arange(3)[::-1])
        torch.from_numpy([1])
        torch.from_numpy(np.float32(3))
        torch.from_numpy(np.array([1], dtype='>i4'))
        torch.from_numpy(np.zeros(3, dtype=[('a', 'i1'), ('b', 'i4')])['b'])
        torch.frombuffer(bytearray(b'abcde'), dtype=torch.int32)
        torch.frombuffer(bytearray(b''), dtype=torch.int32)
        torch.frombuffer(bytearray(b'abcd'), dtype=torch.uint8, offset=5)
        torch.frombuffer(bytearray(b'abcd'), dtype=torch.uint8, count=5)
        torch.frombuffer([1], dtype=torch.uint8)
        """,
        messages=True,
    )


def test_warnings() -> None:
    check(
        """
        torch.tensor(torch.ones(2))
        torch.ones(2).new_tensor(torch.ones(2))
        torch.as_tensor(torch.ones(2))
        """,
        messages=True,
    )


numbers = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.complex_numbers())
nested = st.recursive(numbers, lambda part: st.lists(part, max_size=3), max_leaves=8)


@settings(max_examples=300, deadline=None)
@given(nested)
def test_nested_data(data: Any) -> None:
    assert not difference(lambda m: m.tensor(data))


@settings(max_examples=200, deadline=None)
@given(nested, st.sampled_from(DTYPES))
def test_nested_data_with_dtype(data: Any, dtype: str) -> None:
    assert not difference(lambda m: m.tensor(data, dtype=getattr(m, dtype)))


def test_shapes_and_values() -> None:
    check(
        """
        torch.zeros(torch.tensor(2))
        torch.zeros(np.int32(2))
        torch.zeros((np.int64(2), torch.tensor(1)))
        torch.zeros(torch.Size([2]))
        torch.zeros(size=(1,))
        torch.zeros((2, True))
        torch.zeros(2, dtype=int)
        torch.zeros(2, 2, out=torch.ones(3))
        torch.zeros(2, out=torch.ones(2), requires_grad=True)
        torch.ones(2, 0, 3)
        torch.full((2,), 1)
        torch.full((2,), 1.)
        torch.full((2,), True)
        torch.full((2,), 1j)
        torch.full([], 2.)
        torch.full((2,), torch.tensor(3))
        torch.full((2,), -1, dtype=torch.uint8)
        torch.full((2,), 1.5, dtype=torch.int64)
        torch.full((2,), 3, out=torch.ones(2))
        torch.full((2,), np.float64(3))
        torch.full(size=(2,), fill_value=2)
        torch.eye(2)
        torch.eye(2, 3)
        torch.eye(n=2, m=3, dtype=torch.int64)
        torch.eye(2, dtype=torch.bool)
        torch.eye(2, out=torch.zeros(2, 2))
        torch.zeros_like(torch.ones(2, requires_grad=True))
        torch.zeros_like(torch.ones(2, 3).t())
        torch.zeros_like(torch.ones(2, 3).t(), memory_format=torch.contiguous_format)
        torch.zeros_like(torch.ones(1, 3).expand(2, 3))
        torch.zeros_like(torch.ones(4, 4)[:, ::2])
        torch.zeros_like(torch.ones(4, 2, 3).permute(2, 0, 1))
        torch.zeros_like(torch.ones(2, 3, 4, 5), memory_format=torch.channels_last)
        torch.full_like(torch.ones(2), 3)
        torch.full_like(torch.ones(2, dtype=torch.int64), 3.5)
        torch.full_like(torch.ones(2), torch.tensor(3))
        torch.ones_like(torch.ones(2), dtype=torch.int32)
        torch.ones(2).new_tensor([1, 2])
        torch.ones(2).new_tensor(1, dtype=torch.int64)
        torch.ones(2).new_zeros(2, 3)
        torch.ones(2).new_zeros((2, 3), dtype=torch.int64)
        torch.ones(2).new_full((2,), 3)
        torch.ones(2, dtype=torch.int64).new_full((2,), 3.5)
        torch.ones(2).new_ones(2, requires_grad=True)
        torch.ones(2).new_empty(0)
        torch.ones(2).new_empty_strided((2, 3), (1, 2)).stride()
        torch.empty_strided((2, 3), (1, 2)).stride()
        torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).stride()
        torch.ones(2).new([1, 2])
        torch.Tensor(2, 3).shape
        torch.Tensor([1, 2])
        torch.Tensor()
        torch.Tensor((2, 3))
        torch.Tensor(torch.Size([2, 3])).shape
        torch.Tensor(np.array([1, 2]))
        torch.Tensor(torch.tensor([1, 2]))
        torch.LongTensor([1.5])
        torch.BoolTensor([1, 0, 2])
        isinstance(torch.ones(2), torch.FloatTensor)
        isinstance(torch.ones(2), torch.LongTensor)
        torch.tril_indices(3, 3)
        torch.triu_indices(2, 4, 1)
        torch.tril_indices(3, 3, -1, dtype=torch.int32)
        torch.meshgrid(torch.arange(2), torch.arange(3), indexing='ij')
        torch.meshgrid(torch.arange(2), torch.arange(3), indexing='xy')
        torch.meshgrid([torch.arange(2), torch.tensor(3)], indexing='ij')
        torch.complex(torch.ones(2), torch.arange(2.))
        torch.complex(torch.ones(2, 1).double(), torch.arange(3.).double())
        torch.view_as_real(torch.complex(torch.ones(2), torch.arange(2.)))
        torch.view_as_complex(torch.arange(6.).view(3, 2))
        torch.frombuffer(bytearray(b'abcd'), dtype=torch.int32)
        torch.frombuffer(bytearray(b'abcd'), dtype=torch.uint8, count=2, offset=1)
        """
    )


def test_refused_shapes_and_values() -> None:
    check(
        """
        torch.zeros()
        torch.zeros(-1)
        torch.zeros(2, -3, 4)
        torch.empty(-1)
        torch.zeros(2.5)
        torch.zeros((2, 2.5))
        torch.zeros('a')
        torch.zeros(2, (3,))
        torch.zeros(True)
        torch.zeros(None)
        torch.zeros([[2, 3]])
        torch.zeros(np.array([2, 3]))
        torch.zeros(torch.tensor([2, 3]))
        torch.zeros(2, dtype=torch.int64, requires_grad=True)
        torch.zeros(2, layout=3)
        torch.zeros(2, foo=1)
        torch.zeros(2, out=torch.ones(2, requires_grad=True))
        torch.zeros(2, 2, out=torch.ones(0), dtype=torch.int64)
        torch.full(2, 1)
        torch.full((2,), torch.tensor(3., requires_grad=True))
        torch.full((2,), 'a')
        torch.full((2,), 300, dtype=torch.uint8)
        torch.full((2,), 2**63)
        torch.full((2,), 1j, dtype=torch.float32)
        torch.full_like(torch.ones(2), 1j)
        torch.ones_like([1])
        torch.eye(-1)
        torch.eye(2, -1)
        torch.eye(2.5)
        torch.ones(2).new_ones(-2)
        torch.Tensor(3.5)
        torch.Tensor('a')
        torch.Tensor(True)
        torch.Tensor(-1)
        torch.Tensor([[1, 2], [3]])
        torch.ByteTensor([300])
        torch.tril_indices(-3, 3)
        torch.complex(torch.ones(2), torch.ones(2).double())
        torch.complex(torch.ones(2).int(), torch.ones(2).int())
        torch.view_as_real(torch.ones(2))
        torch.view_as_complex(torch.ones(3, 3))
        torch.view_as_complex(torch.ones(3, 2, dtype=torch.int64))
        torch.view_as_complex(torch.ones(2, 3).t())
        torch.meshgrid()
        torch.meshgrid(torch.ones(2), torch.ones(2).int(), indexing='ij')
        torch.meshgrid(torch.ones(2), indexing='a')
        torch.empty_strided((2,), (1, 2))
        torch.empty(2, memory_format=torch.preserve_format)
        """,
        messages=True,
    )


RANGES = """
    torch.arange(3)
    torch.arange(3.)
    torch.arange(2.5)
    torch.arange(1, 4)
    torch.arange(1, 4.)
    torch.arange(1, end=4)
    torch.arange(end=4)
    torch.arange(start=1, end=4)
    torch.arange(1, 2, 0.3)
    torch.arange(5, 0, -2)
    torch.arange(1, 0, -0.1)
    torch.arange(0)
    torch.arange(True)
    torch.arange(1.7, 5.2, dtype=torch.int64)
    torch.arange(0, 5, 1.5, dtype=torch.int64)
    torch.arange(0, 5, 1.5, dtype=torch.int32)
    torch.arange(300, dtype=torch.uint8)
    torch.arange(0, 1, 0.1, dtype=torch.float16)
    torch.arange(2**53, 2**53 + 3)
    torch.arange(2**63 - 3, 2**63 - 1)
    torch.arange(torch.tensor(3))
    torch.arange(torch.tensor(1), torch.tensor(3.))
    torch.arange(np.int32(3))
    torch.arange(3, out=torch.zeros(3))
    torch.arange(3., requires_grad=True)
    torch.linspace(0, 1, 5)
    torch.linspace(0, 1, 1)
    torch.linspace(0, 1, 0)
    torch.linspace(0, 10, 4, dtype=torch.int64)
    torch.linspace(-7, 7, 12, dtype=torch.int16)
    torch.linspace(0, 1j, 3)
    torch.linspace(0, 1, 3, dtype=torch.complex64)
    torch.linspace(torch.tensor(0.), 1, 3)
    torch.linspace(5, 1, 3, out=torch.zeros(5))
    torch.linspace(-3.7, 9.1, 101)
    torch.linspace(-3.7, 9.1, 101, dtype=torch.float64)
    torch.linspace(0, 1, 7, dtype=torch.float16)
    torch.linspace(0, 3, 40, dtype=torch.float16)
    torch.linspace(0, 3, 40, dtype=torch.bfloat16)
    torch.logspace(0, 2, 3)
    torch.logspace(0, 2, 3, 2)
    torch.logspace(0, 2, 3, base=2.5, dtype=torch.float64)
    torch.logspace(0, 2, 1)
    torch.logspace(-3, 3, 20)
    torch.logspace(0, 3, 4, dtype=torch.int64)
    torch.logspace(0, 1j, 3)
"""


def test_ranges() -> None:
    check(RANGES, tolerance=1e-6)


def test_refused_ranges() -> None:
    check(
        """
        torch.arange(0, 3, -1)
        torch.arange(3, 0)
        torch.arange(-3)
        torch.arange(0, 3, 0)
        torch.arange(inf)
        torch.arange(nan)
        torch.arange(0, 5, 0.5, dtype=torch.int64)
        torch.arange(3, dtype=torch.bool)
        torch.arange(3, dtype=torch.complex64)
        torch.arange(3j)
        torch.arange(start=2)
        torch.arange(2**63)
        torch.arange(3, requires_grad=True)
        torch.arange(3, out=torch.zeros(0, dtype=torch.int64), dtype=torch.float32)
        torch.linspace(0, 1, -1)
        torch.linspace(0, 1, 5, dtype=torch.bool)
        torch.linspace(0, 1j, 3, dtype=torch.float32)
        torch.linspace(torch.tensor([0.]), 1, 3)
        torch.logspace(0, 2, -3)
        """,
        messages=True,
    )


@settings(max_examples=200, deadline=None)
@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(-7, 7), st.sampled_from(("int64", "int32", "float32")))
def test_arange_of_integers(start: int, end: int, step: int, dtype: str) -> None:
    assert not difference(lambda m: m.arange(start, end, step, dtype=getattr(m, dtype)))


# -- random tensors ---------------------------------------------------------------------------------------------------


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
    methods = """
        normal_() normal_(1,2) uniform_() uniform_(-1,1) uniform_(to=3) random_() random_(5) random_(2,5) random_(to=5)
        bernoulli_() bernoulli_(.3) exponential_() exponential_(2.) cauchy_() log_normal_() geometric_(.5)
    """.split()
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
    import leafgrad
    import torch

    torch.manual_seed(3)
    torch.randn(5)
    leafgrad.set_rng_state(leafgrad.from_numpy(torch.get_rng_state().numpy().copy()))
    assert np.array_equal(torch.randn(7).numpy(), leafgrad.randn(7).numpy())
    torch.set_rng_state(torch.from_numpy(leafgrad.get_rng_state().numpy().copy()))
    assert np.array_equal(torch.rand(7).numpy(), leafgrad.rand(7).numpy())
