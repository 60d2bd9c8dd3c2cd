"""Dimensions and shapes as users write them, and what computes without a graph what is composed with one."""

from __future__ import annotations

import numpy as np
import pytest

import leafgrad as torch
from leafgrad.ops.dimensions import all_ints, distinct_dims, fill_in, shape_arguments, wrap_dim


@pytest.mark.parametrize("kind", [int, np.int64, np.int32])
def test_a_dimension_may_be_any_integer(kind):
    assert [wrap_dim(kind(dim), 3) for dim in (-3, -1, 0, 2)] == [0, 2, 0, 2]
    assert [wrap_dim(kind(dim), 0) for dim in (-1, 0)] == [0, 0]
    for dim, ndim in ((3, 3), (-4, 3), (1, 0), (-2, 0)):
        with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be in range of \["):
            wrap_dim(kind(dim), ndim)
    assert distinct_dims((kind(-1), kind(0)), 2) == (1, 0)
    assert torch.zeros(2, 3).transpose(kind(0), kind(-1)).shape == (3, 2)


def test_shapes_one_by_one_and_in_a_tuple():
    x = torch.zeros(2, 6)
    for args in ((3, 4), ((3, 4),), ([3, 4],), (torch.Size([3, 4]),), (np.int64(3), 4), (-1, 4), ((3, -1),)):
        assert fill_in("view", shape_arguments(args), x) == (3, 4)
    assert shape_arguments((5,)) == (5,) and all_ints(shape_arguments((np.int32(5),)))
    assert all_ints(()) and not all_ints((1, True)) and not all_ints((1.0,))
    assert x.view(-1).shape == x.view(12).shape == (12,) and torch.zeros(0, 3).view(-1).shape == (0,)
    with pytest.raises(TypeError, match="missing 1 required positional arguments"):
        x.view()
    with pytest.raises(TypeError):
        x.view(1.5)
    with pytest.raises(TypeError, match="reshape"):
        torch.reshape([1], (1,))


LAYOUTS = [lambda x: x, lambda x: x.t(), lambda x: x[::2, 1:], lambda x: x[:0], lambda x: x[:1].expand(3, 6)]


@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_kron_is_the_same_with_and_without_a_graph(left, right):
    x, y = torch.arange(30.0).reshape(5, 6), 1 - torch.arange(30.0).reshape(5, 6) / 7
    y[1, 2], y[0, 1] = float("nan"), -0.0
    without = torch.kron(left(x), right(y))
    recorded = torch.kron(left(x.clone().requires_grad_()), right(y))
    assert without.grad_fn is None and recorded.grad_fn is not None
    np.testing.assert_array_equal(without.numpy(), recorded.detach().numpy())
    assert without.stride() == recorded.stride()
    assert torch.kron(x[0], y).shape == (5, 36) and torch.kron(x.int(), y).dtype == torch.float32


def test_the_diagonal_is_copied_with_and_without_a_graph():
    x = torch.arange(12.0).reshape(3, 4)
    for t in (x, x.t(), x[::2], x[:0], x[:1].expand(3, 4)):
        for offset in (-5, -1, 0, 2):
            found = torch.diag(t, offset)
            recorded = torch.diag(t.detach().requires_grad_(), offset)
            assert found.equal(recorded.detach()) and found.equal(t.diagonal(offset)) and found.is_contiguous()
            assert type(recorded.grad_fn).__name__ == "DiagonalBackward0_copy"
    copy = x.diag()
    copy.zero_()
    assert x[1, 1] == 5


def test_equal_compares_all_elements():
    x = torch.arange(1000.0)
    assert torch.equal(x, x.clone()) and torch.equal(x.reshape(10, 100).t(), x.reshape(10, 100).t().clone())
    for place in (0, 500, 999):
        other = x.clone()
        other[place] = -1
        assert not torch.equal(x, other) and not torch.equal(x.reshape(10, 100).t(), other.reshape(10, 100).t())
    nan = torch.tensor(float("nan"))
    assert not torch.equal(nan, nan) and torch.equal(torch.tensor(0.0), torch.tensor(-0.0))
    assert torch.equal(x[:0], x[:0]) and not torch.equal(x[:0], x[:0].reshape(0, 2)) and not torch.equal(x, x[1:])


@pytest.mark.parametrize("layout", LAYOUTS[:4])
@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.float16, torch.int64])
def test_masked_fill_keeps_what_is_special(layout, kind):
    x = torch.arange(30.0).reshape(5, 6)
    if kind.is_floating_point:
        x[1, 1], x[2, 3], x[4, 5] = float("nan"), float("inf"), -0.0
    x, mask = layout(x.to(kind)), layout(torch.arange(30).reshape(5, 6) % 3 == 0)
    for value in (0, -1.0) if kind.is_floating_point else (0, -1):
        expected = np.where(mask.numpy(), np.array(value, x.numpy().dtype), x.numpy())
        found = x.masked_fill(mask, value)
        np.testing.assert_array_equal(found.numpy(), expected)
        np.testing.assert_array_equal(np.signbit(found.double().numpy()), np.signbit(expected.astype(np.float64)))
        np.testing.assert_array_equal(x.clone().masked_fill_(mask, value).numpy(), expected)
    assert x.masked_fill(mask[:1], 1).shape == x.shape


KINDS = [torch.bool, torch.uint8, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64]


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_dtypes_are_promoted_the_same_the_second_time(first, second):
    x, y = torch.tensor([0, 1, 1]).to(first), torch.tensor([1, 0, 1]).to(second)
    common = torch.promote_types(first, second)
    for _ in range(2):
        assert (x + y).dtype == (x * y).dtype == torch.maximum(x, y).dtype == common
        assert (x + y).tolist() == (x.to(common) + y.to(common)).tolist()
        assert (x / y).dtype == (common if common.is_floating_point else torch.get_default_dtype())
        torch.set_default_dtype(torch.float64)
        try:
            assert (x / y).dtype == (common if common.is_floating_point else torch.float64)
        finally:
            torch.set_default_dtype(torch.float32)
        assert (x + y[0]).dtype == torch.result_type(x, y[0])
        with pytest.raises(RuntimeError, match="must match the size of tensor b"):
            x + torch.ones(2).to(second)
        if torch.bool in (first, second):
            with pytest.raises(RuntimeError, match="Subtraction, the `-` operator"):
                x - y
