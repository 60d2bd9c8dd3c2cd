"""Functions that read, write and order elements: values against loops and NumPy, gradients against differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
import leafgrad.nn.functional as F
from differences import check_gradients, differences, leaf, longs, numbers, rng


def test_gather_and_scatter_against_loops() -> None:
    x, index = numbers(3, 4, 2), rng.integers(0, 4, (2, 5, 2))
    for dim, high in ((0, 3), (1, 4), (2, 2)):
        at = index % high
        if dim != 1:
            at = at[:, :4]
        found = lg.from_numpy(x).gather(dim, lg.from_numpy(at)).numpy()
        src = numbers(*at.shape)
        added = lg.from_numpy(x).scatter_add(dim, lg.from_numpy(at), lg.from_numpy(src)).numpy()
        expected = x.copy()
        for place in np.ndindex(at.shape):
            source = list(place)
            source[dim] = at[place]
            assert found[place] == x[tuple(source)]
            expected[tuple(source)] += src[place]
        np.testing.assert_allclose(added, expected, rtol=1e-12)


def test_small_results() -> None:
    x = lg.arange(6.0).reshape(2, 3)
    assert x.index_select(1, longs(2, 0)).tolist() == [[2, 0], [5, 3]]
    assert x.take(longs(-1, 0)).tolist() == [5, 0]
    assert lg.take_along_dim(x, longs([[1], [0]]), 1).tolist() == [[1], [3]]
    assert x.masked_fill(x > 3, -1).tolist() == [[0, 1, 2], [3, -1, -1]]
    assert x.masked_select(x > 3).tolist() == [4, 5]
    assert x.masked_scatter(x > 3, lg.tensor([7.0, 8.0, 9.0])).tolist() == [[0, 1, 2], [3, 7, 8]]
    assert x.index_fill(1, longs(0, -1), 9).tolist() == [[9, 1, 9], [9, 4, 9]]
    assert x.index_add(0, longs(1, 1), lg.ones(2, 3), alpha=2).tolist() == [[0, 1, 2], [7, 8, 9]]
    assert x.index_copy(0, longs(1, 0), x).tolist() == [[3, 4, 5], [0, 1, 2]]
    assert x.scatter(1, longs([[2], [0]]), 9).tolist() == [[0, 1, 9], [9, 4, 5]]
    assert x.scatter(1, longs([[2], [0]]), 10, reduce="multiply").tolist() == [[0, 1, 20], [30, 4, 5]]
    assert x.scatter_reduce(1, longs([[0, 0], [1, 1]]), x[:, 1:], "amax").tolist() == [[2, 1, 2], [3, 5, 5]]
    assert x.index_put((longs(1, 1),), lg.tensor(1.0), accumulate=True).tolist() == [[0, 1, 2], [5, 6, 7]]
    assert x.put(longs(-1), lg.tensor([9.0])).tolist() == [[0, 1, 2], [3, 4, 9]]
    assert x.tril().tolist() == [[0, 0, 0], [3, 4, 0]] and x.triu(1).tolist() == [[0, 1, 2], [0, 0, 5]]
    assert x.nonzero().tolist() == [[0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    assert [t.tolist() for t in lg.nonzero(x > 3, as_tuple=True)] == [[1, 1], [1, 2]]
    assert lg.where(x > 3)[1].tolist() == [1, 2]
    assert F.one_hot(longs(1, 0)).tolist() == [[0, 1], [1, 0]]
    assert x.select(1, -1).tolist() == [2, 5] and x.narrow(1, 1, 2).tolist() == [[1, 2], [4, 5]]
    assert x.select_scatter(lg.zeros(2), 1, 0).tolist() == [[0, 1, 2], [0, 4, 5]]


IN_PLACE: dict[str, Callable[..., Any]] = {
    "index_add": lambda f: f(1, longs(0, 0, 2), lg.ones(3, 3, dtype=lg.float64)),
    "index_copy": lambda f: f(0, longs(2), lg.ones(1, 4, dtype=lg.float64)),
    "index_fill": lambda f: f(1, longs(2), 5),
    "index_put": lambda f: f((longs(0, 0),), lg.ones(4, dtype=lg.float64), accumulate=True),
    "scatter": lambda f: f(1, longs([[2], [0]]), 9),
    "scatter_add": lambda f: f(0, longs([[2, 2, 2, 0]]), lg.ones(1, 4, dtype=lg.float64)),
    "scatter_reduce": lambda f: f(0, longs([[2, 2, 2, 0]]), lg.ones(1, 4, dtype=lg.float64), "prod"),
    "index_reduce": lambda f: f(0, longs(2), lg.ones(1, 4, dtype=lg.float64), "mean"),
    "masked_fill": lambda f: f(lg.tensor([True, False, False, True]), 3),
    "masked_scatter": lambda f: f(lg.tensor([True, False, False, True]), lg.arange(6.0, dtype=lg.float64)),
    "put": lambda f: f(longs(3, -1), lg.ones(2, dtype=lg.float64)),
    "tril": lambda f: f(-1),
}


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_forms_do_the_same(name: str, transposed: bool) -> None:
    x = leaf(3, 4)
    results = []
    for form in ("", "_"):
        y = (x.t() * 1).t() if transposed else x * 1
        made = IN_PLACE[name](getattr(y, name + form))
        if form:
            assert made is y and y._version == 1
        (made * made).sum().backward()
        results.append((made.detach().numpy().copy(), x.grad.numpy().copy()))
        x.grad = None
    np.testing.assert_array_equal(results[0][0], results[1][0])
    np.testing.assert_array_equal(results[0][1], results[1][1])


def test_gradients_of_functions() -> None:
    i, k = longs(2, 0, 2), longs([[0, 2, 1], [2, 0, 0]])
    mask = lg.tensor([True, False, True])
    check_gradients(lambda x: x.index_select(0, i), (3, 2))
    check_gradients(lambda x: x.gather(0, k.t()), (3, 2))
    check_gradients(lambda x: x.take(longs(0, -1, 0)), (3, 2))
    check_gradients(lambda x, y: x.scatter(0, longs([[2, 1]]), y), (3, 2), (2, 2))
    check_gradients(lambda x, y: x.scatter_add(1, k, y), (3, 3), (2, 3))
    check_gradients(lambda x, y: x.index_add(0, i, y, alpha=3), (3, 2), (3, 2))
    check_gradients(lambda x, y: x.index_copy(0, i[:2], y), (3, 2), (2, 2))
    check_gradients(lambda x, y: x.index_fill(0, i, y), (3, 2), ())
    check_gradients(lambda x, y: x.index_put((i,), y, accumulate=True), (3, 2), (3, 2))
    check_gradients(lambda x, y: x.masked_fill(mask, y), (2, 3), ())
    check_gradients(lambda x: x.masked_select(mask), (2, 3))
    check_gradients(lambda x, y: x.masked_scatter(mask, y), (2, 3), (5,))
    check_gradients(lambda x: x.tril(-1), (3, 2))
    check_gradients(lambda w: F.embedding(k, w, padding_idx=None), (3, 2))
    check_gradients(lambda x: x.sort(0).values, (3, 2))
    check_gradients(lambda x: x.topk(2).values, (2, 3))
    check_gradients(lambda x: x.kthvalue(2).values, (2, 3))
    for reduce, own in itertools.product(("sum", "prod", "mean", "amax", "amin"), (True, False)):
        check_gradients(lambda x, y, r=reduce, o=own: x.scatter_reduce(0, k, y, r, include_self=o), (3, 3), (2, 3))


def test_a_source_larger_than_the_index() -> None:
    at = longs([[0, 2], [1, 1]])
    check_gradients(lambda x, y: x.scatter(1, at[:1], y), (2, 3), (3, 4))
    check_gradients(lambda x, y: x.scatter_add(1, at, y), (2, 3), (3, 4))
    for reduce in ("sum", "prod", "mean", "amax"):
        check_gradients(lambda x, y, r=reduce: x.scatter_reduce(1, at, y, r), (2, 3), (3, 4))


def test_products_with_zeros() -> None:
    x = np.array([2.0, 0.0, 3.0, 5.0])
    y = np.array([0.0, 4.0, 0.0, 0.0, 7.0])
    at = longs(0, 1, 2, 2, 3)
    check = lambda x, y: x.scatter_reduce(0, at, y, "prod")
    leaves = [lg.from_numpy(a.copy()).requires_grad_() for a in (x, y)]
    check(*leaves).sum().backward()
    for t, expected in zip(leaves, differences(check, [x, y], np.ones(4)), strict=True):
        np.testing.assert_allclose(t.grad.numpy(), expected, atol=1e-5)


def test_embedding() -> None:
    w = leaf(4, 2)
    i = longs([[0, 1, 0], [3, 1, 1]])
    y = F.embedding(i, w, padding_idx=1)
    np.testing.assert_array_equal(y.detach().numpy(), w.detach().numpy()[i.numpy()])
    y.sum().backward()
    assert w.grad.tolist() == [[2, 2], [0, 0], [0, 0], [1, 1]]
    scaled = lg.ones(4, 2).requires_grad_()
    F.embedding(i, scaled, scale_grad_by_freq=True).sum().backward()
    assert scaled.grad.tolist() == [[1, 1], [1, 1], [0, 0], [1, 1]]
    long = lg.tensor([[3.0, 4.0], [0.3, 0.4]])
    F.embedding(longs(0, 1), long, max_norm=1.0)
    np.testing.assert_allclose(long.numpy(), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-5)


def test_order() -> None:
    x = lg.tensor([3.0, 1.0, 2.0, 1.0, float("nan"), 3.0])
    values, indices = x.sort()
    assert values[:5].tolist() == [1, 1, 2, 3, 3] and indices.tolist() == [1, 3, 2, 0, 5, 4]
    assert x.sort(descending=True).indices.tolist() == [4, 0, 5, 2, 1, 3]
    assert x.argsort().tolist() == [1, 3, 2, 0, 5, 4]
    assert x.topk(3, largest=False).values.tolist() == [1, 1, 2]
    y = rng.permutation(1000).reshape(2, 500).astype(np.float32)
    for largest in (True, False):
        found = lg.from_numpy(y).topk(5, largest=largest)
        expected = np.sort(y, 1)[:, ::-1][:, :5] if largest else np.sort(y, 1)[:, :5]
        np.testing.assert_array_equal(found.values.numpy(), expected)
        np.testing.assert_array_equal(np.take_along_axis(y, found.indices.numpy(), 1), expected)
    assert lg.msort(lg.tensor([[2, 1], [1, 3]])).tolist() == [[1, 1], [2, 3]]
    assert repr(lg.tensor([2, 1]).sort()) == (
        "torch.return_types.sort(\nvalues=tensor([1, 2]),\nindices=tensor([1, 0]))"
    )


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "uint8", "int32", "int64"])
@pytest.mark.parametrize("shape", [(4,), (700,), (2, 600), (600, 2), (2, 530, 3), (0, 700), (700, 0)])
def test_equal_elements_stay_in_their_order(kind: str, shape: tuple[int, ...]) -> None:
    plain = (rng.integers(-50, 50, shape) / 4).astype(kind)
    arrays = [plain, plain.T, plain[..., ::2]]
    if plain.dtype.kind == "f":
        for specials in ([0.0, -0.0, np.inf, -np.inf], [-0.0, np.nan, -np.nan, 0.0, np.inf, -np.inf]):
            x = plain.copy()
            x[rng.random(shape) < 0.3] = 0
            chosen = rng.random(shape) < 0.5
            x[chosen] = rng.choice(np.array(specials, kind), np.count_nonzero(chosen))
            arrays.append(x)
    for x in arrays:
        for dim in range(x.ndim):
            values, indices = lg.from_numpy(x).sort(dim)
            np.testing.assert_array_equal(indices.numpy(), np.argsort(x, dim, "stable"))
            np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, indices.numpy(), dim))
            backwards = np.flip(x.shape[dim] - 1 - np.argsort(np.flip(x, dim), dim, "stable"), dim)
            np.testing.assert_array_equal(lg.from_numpy(x).argsort(dim, True).numpy(), backwards)


def test_an_empty_segment_is_what_changes_nothing() -> None:
    x, ends = lg.arange(6.0), lg.tensor([0, 2, 2, 6])
    found = {r: lg.segment_reduce(x, r, offsets=ends).tolist() for r in ("sum", "prod", "max", "min")}
    inf = float("inf")
    assert found == {"sum": [1, 0, 14], "prod": [0, 1, 120], "max": [1, -inf, 5], "min": [0, inf, 2]}
    assert lg.segment_reduce(x, "mean", lengths=lg.tensor([0, 6]), initial=3).tolist() == [3.0, 3.0]
    assert lg.segment_reduce(x, "mean", lengths=lg.tensor([0, 6]))[0].isnan()


def test_gradients_of_segments_where_elements_are_zero_or_equal() -> None:
    x, lengths = lg.tensor([0.0, 2.0, 1.0, 0.0, 0.0], requires_grad=True), lg.tensor([3, 2])
    lg.segment_reduce(x, "prod", lengths=lengths).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [2.0, 0.0, 0.0, 0.0, 0.0]
    y = lg.tensor([2.0, 2.0, 1.0, 3.0, 3.0], requires_grad=True)
    lg.segment_reduce(y, "max", lengths=lengths).sum().backward()
    assert y.grad is not None and y.grad.tolist() == [0.5, 0.5, 0.0, 0.5, 0.5]
    (first,) = lg.autograd.grad(lg.segment_reduce(y, "sum", lengths=lengths).pow(2).sum(), y, create_graph=True)
    with pytest.raises(RuntimeError, match="derivative for aten::_segment_reduce_backward is not implemented"):
        first.sum().backward()
