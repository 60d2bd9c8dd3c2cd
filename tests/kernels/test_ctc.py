"""Sums over paths: natively, on NumPy, and by trying all paths."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad.ops.loss.ctc import losses_and_slopes

KINDS = [np.float32, np.float64]
BOUNDS = {np.float32: 2e-5, np.float64: 1e-12}


def scores(kind: Any, *shape: int) -> Any:
    x = np.random.default_rng(0).standard_normal(shape).astype(kind)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def spelled(path: tuple[int, ...], blank: int) -> tuple[int, ...]:
    """The labels of a path: repetitions are one, and blanks nothing."""
    return tuple([label for label, _ in itertools.groupby(path) if label != blank])


def unlikely(x: Any, labels: tuple[int, ...], blank: int) -> float:
    """Minus the logarithm of the sum of the probabilities of all paths that spell these labels."""
    paths = [path for path in itertools.product(range(x.shape[1]), repeat=len(x)) if spelled(path, blank) == labels]
    return float(-np.log(sum([np.exp(x[range(len(x)), path].sum(dtype=np.float64)) for path in paths], 0.0)))


def same(x: Any, *args: Any, bound: float) -> None:
    found = losses_and_slopes(x, *args)
    expected = getattr(losses_and_slopes, "otherwise", losses_and_slopes)(x, *args)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape and one.flags.c_contiguous
        np.testing.assert_allclose(one, other, rtol=bound, atol=bound)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("blank", [0, 2])
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_losses_are_sums_over_all_paths(kind: Any, blank: int) -> None:
    a, b = [label for label in range(3) if label != blank]
    targets = ((a, b), (a, a), (b,), (), (a, b, a), (a, a, a))
    lengths = (5, 4, 1, 5, 3, 4)
    x = scores(kind, 5, len(targets), 3)
    losses, _ = losses_and_slopes(x, targets, lengths, blank, False)
    expected = [unlikely(x[:length, n], targets[n], blank) for n, length in enumerate(lengths)]
    assert np.isinf(expected).tolist() == [False] * 5 + [True]
    np.testing.assert_allclose(losses, expected, rtol=BOUNDS[kind])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_native_and_numpy(kind: Any, zero_infinity: bool) -> None:
    rng = np.random.default_rng(1)
    sizes = ((50, 16, 20, 10), (7, 5, 4, 7), (3, 2, 70, 1), (1, 1, 2, 1), (40, 40, 40, 30))
    for times, samples, count, longest in sizes:
        targets = tuple([tuple(rng.integers(1, count, rng.integers(longest + 1)).tolist()) for _ in range(samples)])
        lengths = tuple(rng.integers(times + 1, size=samples).tolist())
        same(scores(kind, times, samples, count), targets, lengths, 0, zero_infinity, bound=20 * BOUNDS[kind])
    same(scores(kind, 3, 0, 4), (), (), 0, zero_infinity, bound=0)
    same(scores(kind, 0, 2, 4), ((), (1,)), (0, 0), 0, zero_infinity, bound=0)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_that_are_no_numbers(kind: Any) -> None:
    x = scores(kind, 6, 5, 4)
    x[2, 0] = np.nan
    x[3, 1, 2] = -np.inf  # a label that cannot be there, but elsewhere
    x[:, 2, 3] = -np.inf  # and one that cannot be anywhere
    x[5, 3, 1] = np.nan  # behind the end
    targets = ((1, 2), (1, 2), (1, 3), (1, 2), (3,))
    for zero_infinity in (False, True):
        args = (targets, (6, 6, 6, 5, 6), 0, zero_infinity)
        same(x, *args, bound=20 * BOUNDS[kind])
        losses, slopes = losses_and_slopes(x, *args)
        assert np.isnan(losses).tolist() == [True, False, False, False, False]
        assert losses[2] == (0 if zero_infinity else np.inf)
        assert not slopes[5, 3].any() and np.isnan(slopes[:, 0]).all()


def test_scores_of_other_layouts() -> None:
    x = scores(np.float32, 9, 4, 5)
    targets, sizes = torch.tensor([[1, 2], [3, 3], [4, 1], [2, 2]]), [2, 2, 1, 2]
    expected = torch.nn.functional.ctc_loss(torch.tensor(x), targets, [9, 9, 5, 7], sizes, reduction="none")
    for order in itertools.permutations(range(3)):
        y = torch.tensor(np.ascontiguousarray(x.transpose(order))).permute(*np.argsort(order).tolist())
        for each in (y, torch.cat([y, y, y], 2)[:, :, :5], y.flip(0).flip(0)):
            each.requires_grad_()
            found = torch.nn.functional.ctc_loss(each, targets, [9, 9, 5, 7], sizes, reduction="none")
            assert found.equal(expected)
            found.sum().backward()
            assert not each.grad[5:, 2].any()


def test_no_scores_at_all() -> None:
    with pytest.raises(RuntimeError, match="log_probs tensor must not be empty"):
        torch.nn.functional.ctc_loss(torch.zeros(0, 2, 3), torch.ones(2, 1, dtype=torch.int64), [0, 0], [0, 0])
