"""Small programs under the transforms, against a loop over the samples and against each other: changes in place, views,
indices, reductions, losses, all of it differentiated once and twice, in both modes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
import leafgrad.nn.functional as F
from leafgrad.func import grad, jacfwd, jacrev, jvp, vmap

pytestmark = pytest.mark.filterwarnings("ignore:There is a performance drop")
X = lg.tensor(np.sin(np.arange(24.0).reshape(3, 2, 4) / 7))
W = lg.tensor(np.arange(8.0).reshape(2, 4) / 5)


def rows_exchanged(a: Any) -> Any:
    c = a.clone()
    c[0] = c[1] * 2
    c[:, 1].mul_(3)
    return (c**2).sum()


def into_zeros(a: Any) -> Any:
    c = lg.zeros_like(a)
    c[:, ::2] = a[:, 1::2] * 2
    c += a
    return (c.exp() * c).sum()


def part_replaced(a: Any) -> Any:
    out = a.new_zeros(4) + a[0] * 0.5 + a[1]
    out[1:3] = a[0, 1:3]
    return (out * out).sum()


def through_a_flat_view(a: Any) -> Any:
    v = a.clone().view(-1)
    v[::2].add_(1)
    v.relu_()
    return (v + 0.1).prod()


def by_index(a: Any) -> Any:
    c = a.clone()
    c.t().mul_(2)
    c[lg.tensor([0, 1]), lg.tensor([1, 2])] = c.sum()
    return c.norm()


def a_view_follows_its_base(a: Any) -> Any:
    c = a.clone()
    d = c[0]
    c.mul_(a)
    return (d * c[1]).sum()


def masks_and_sums_by_index(a: Any) -> Any:
    c = a.clone()
    c.masked_fill_(lg.tensor([[True, False, False, True]]), 2.0)
    c.index_add_(1, lg.tensor([0, 0]), a[:, :2])
    return (c * a).sum()


def fills_and_scatters(a: Any) -> Any:
    c = a.clone()
    c.index_fill_(1, lg.tensor([1]), 0.5)
    c.scatter_(1, lg.tensor([[0], [2]]), a[:, 3:])
    c.clamp_(-0.5, 0.5)
    return (c * a).sum()


def softmaxes(a: Any) -> Any:
    return (a.softmax(-1) * a.log_softmax(0)).sum() + a.max() + a.min(1)[0].sum() + a.logsumexp(0).sum() * a.std()


def products(a: Any) -> Any:
    return (a @ W.t()).tanh().sum() + lg.outer(a[0], a[1]).sum() + (a.t() @ a).sigmoid().sum()


def joined_and_sorted(a: Any) -> Any:
    return lg.cat([a, W]).cumsum(0).sort(1)[0][:2].pow(3).sum()


def broadcast(a: Any) -> Any:
    return (a[:, None, :] * a[None, :, :]).sum(-1).sigmoid().sum()


def chosen(a: Any) -> Any:
    return a.topk(2)[0].sum() + a.kthvalue(2)[0].sum() + a.flip(0).roll(1, 1)[0].dot(a[1])


def losses(a: Any) -> Any:
    return F.mse_loss(a, W) + F.smooth_l1_loss(a, W) + F.cross_entropy(a, lg.tensor([1, 3]))


def shapes(a: Any) -> Any:
    wide = a.unsqueeze(0).expand(3, 2, 4) * lg.ones(3, 1, 1, dtype=lg.float64)
    return wide.reshape(-1).split(6)[1].pow(2).sum() + a.gather(1, lg.tensor([[0, 0], [3, 2]])).sum()


PROGRAMS = [
    rows_exchanged, into_zeros, part_replaced, through_a_flat_view, by_index, a_view_follows_its_base,
    masks_and_sums_by_index, fills_and_scatters, softmaxes, products, joined_and_sorted, broadcast, chosen, losses,
    shapes,
]  # fmt: skip
programs = pytest.mark.parametrize("program", PROGRAMS)
Program = Callable[[Any], Any]


def ordinary_gradient(program: Program, a: Any) -> Any:
    """By way of `.backward()`, with no transform involved."""
    leaf = a.clone().requires_grad_()
    program(leaf).backward()
    return leaf.grad


def second(program: Program, a: Any) -> Any:
    """The matrix of second derivatives by central differences of the gradient."""
    step, rows = 1e-5, []
    for k in range(a.numel()):
        off = lg.zeros(a.numel(), dtype=lg.float64)
        off[k] = step
        off = off.reshape(a.shape)
        rows.append((ordinary_gradient(program, a + off) - ordinary_gradient(program, a - off)) / (2 * step))
    return lg.stack(rows).reshape((*a.shape, *a.shape))


def close(a: Any, b: Any, tolerance: float = 1e-10) -> bool:
    return a.shape == b.shape and bool(np.allclose(a.detach().numpy(), b.detach().numpy(), tolerance, tolerance))


@programs
def test_values_and_gradients(program: Program) -> None:
    assert close(vmap(program)(X), lg.stack([program(a) for a in X]))
    each = lg.stack([ordinary_gradient(program, a) for a in X])
    assert close(vmap(grad(program))(X), each)
    assert close(grad(lambda z: vmap(program)(z).sum())(X), each)
    assert close(vmap(vmap(grad(program)))(X[None])[0], each)
    assert close(vmap(grad(program), chunk_size=2)(X), each)
    leaf = X.clone().requires_grad_()
    vmap(program)(leaf).sum().backward()
    assert close(leaf.grad, each)


@programs
def test_tangents(program: Program) -> None:
    direction = (X * 5).cos()
    gradients = lg.stack([ordinary_gradient(program, a) for a in X])
    expected = (gradients * direction).sum(dim=(1, 2))
    assert close(vmap(lambda a, v: jvp(program, (a,), (v,))[1])(X, direction), expected)
    assert close(jvp(vmap(program), (X,), (direction,))[1], expected)


@programs
def test_second_derivatives(program: Program) -> None:
    expected = lg.stack([second(program, a) for a in X])
    for way in (jacfwd(grad(program)), jacrev(grad(program)), jacfwd(jacfwd(program)), jacrev(jacfwd(program))):
        assert close(vmap(way)(X), expected, 1e-5)
        assert close(way(X[0]), expected[0], 1e-5)


@programs
def test_no_samples_at_all(program: Program) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert vmap(program)(X[:0]).shape == (0,)
        assert vmap(grad(program))(X[:0]).shape == (0, 2, 4)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("ignored", [-100, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_with_other_targets_ignored_in_each_sample(
    reduction: str, ignored: int, weighted: bool, smoothing: float
) -> None:
    rng = np.random.default_rng(0)
    scores, targets = lg.tensor(rng.normal(size=(3, 5, 4))), rng.integers(0, 4, (3, 5))
    targets[0, 1] = targets[2, 0] = targets[2, 1] = ignored
    weight = lg.tensor(rng.uniform(0.5, 1.5, 4)) if weighted else None

    def loss(a: Any, b: Any) -> Any:
        return F.cross_entropy(a, b, weight, ignore_index=ignored, reduction=reduction, label_smoothing=smoothing)

    pairs = list(zip(scores, lg.tensor(targets), strict=True))
    assert close(vmap(loss)(scores, lg.tensor(targets)), lg.stack([loss(a, b) for a, b in pairs]))
    each = lg.stack([ordinary_gradient(lambda z, b=b: loss(z, b).sum(), a) for a, b in pairs])
    assert close(vmap(grad(lambda a, b: loss(a, b).sum()))(scores, lg.tensor(targets)), each)


def test_results_of_a_map_show_the_last_operation_inside() -> None:
    x = lg.ones(3, 2, requires_grad=True)
    assert vmap(lg.sin)(x).grad_fn.name() == "SinBackward0"
    assert vmap(lambda row: row.max(0).values)(x).grad_fn.name() == "MaxBackward0"
    assert vmap(lg.sin, out_dims=1)(x).grad_fn.name() == "PermuteBackward0"
    (inside,) = [node for node, _ in vmap(lg.sin)(x).grad_fn.next_functions]
    assert inside.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
