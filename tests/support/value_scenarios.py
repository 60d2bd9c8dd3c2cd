"""Scenarios of values that are easily lost: nan and inf, ties, zeros, hooks that change what was saved. See
scenarios.py."""

from __future__ import annotations

import warnings
from typing import Any

from scenarios import attempt, collection, leaf

SCENARIOS, scenario = collection()

NAN, INF = float("nan"), float("inf")


# -- hooks ------------------------------------------------------------------------------------------------------------


@scenario
def hooks_that_change_a_saved_leaf(T: Any) -> Any:
    with T.autograd.graph.saved_tensors_hooks(lambda t: 2 * t, lambda t: t):
        a = leaf(T, 2.0)
        y = a**3
    first = T.autograd.grad(y, a, create_graph=True)
    b = leaf(T, 2.0)
    z = b**3
    z.grad_fn._raw_saved_self.register_hooks(lambda t: 2 * t, lambda t: t)
    return first, T.autograd.grad(z, b, create_graph=True)


def seen_after_accumulation(T: Any, change: Any, before: Any, create_graph: bool) -> Any:
    x, seen = leaf(T, 1.0), []
    x.grad = before
    node = x.view_as(x).grad_fn.next_functions[0][0]
    node.register_hook(lambda inner, outer: seen.append((len(inner), outer[0].clone(), outer[0] is x.grad)))
    x.register_post_accumulate_grad_hook(change)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns of create_graph once in a process
        (x * 2).backward(create_graph=create_graph)
    return seen, x.grad


@scenario
def post_hooks_of_a_leaf_after_its_gradient_was_changed(T: Any) -> Any:
    def scale(t: Any) -> None:
        with T.no_grad():
            t.grad.mul_(10)

    def exchange(t: Any) -> None:
        t.grad = T.tensor(7.0)

    def forget(t: Any) -> None:
        t.grad = None

    return [
        seen_after_accumulation(T, change, T.tensor(3.0) if given else None, create_graph)
        for change in (scale, exchange, forget)
        for given in (False, True)
        for create_graph in (False, True)
    ]


@scenario
def post_accumulate_hooks_that_return_something(T: Any) -> Any:
    return [attempt(seen_after_accumulation, T, hook, None, False) for hook in (lambda t: 5, lambda t: t.grad)]


# -- scatter_reduce and index_reduce ----------------------------------------------------------------------------------


@scenario
def second_derivatives_of_products_among_zeros(T: Any) -> Any:
    def second(*source: float) -> Any:
        x, s = T.ones(1), leaf(T, source)
        y = x.scatter_reduce(0, T.zeros(len(source), dtype=T.int64), s, "prod")
        (g,) = T.autograd.grad(y.sum(), s, create_graph=True)
        return g, T.autograd.grad(g.sum(), s)

    return attempt(second, 0.0, 0.0, 3.0), attempt(second, 0.0, 2.0, 3.0), attempt(second, 1.0, 2.0, 3.0)


@scenario
def ties_without_dimensions(T: Any) -> Any:
    found = []
    for name in ("scatter_reduce", "index_reduce"):
        for reduce in ("amax", "amin"):
            x, s = leaf(T, 1.0), leaf(T, 1.0)
            getattr(x, name)(0, T.tensor(0), s, reduce).backward()
            found.append((x.grad, s.grad))
    return found


@scenario
def gradients_of_extremes_that_are_nan(T: Any) -> Any:
    found = []
    for name in ("scatter_reduce", "index_reduce"):
        for reduce in ("amax", "amin"):
            x, s = leaf(T, [1.0, 2.0, 3.0]), leaf(T, [NAN, 1.0])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # PyTorch warns once in a process that index_reduce is new
                getattr(x, name)(0, T.tensor([0, 1]), s, reduce).sum().backward()
            found.append((x.grad, s.grad))
    return found


@scenario
def sources_of_another_length(T: Any) -> Any:
    index = T.tensor([0, 1])
    return [
        attempt(lambda source=source: T.zeros(3, 2).index_reduce(0, index, source, "prod"))
        for source in (T.ones(3, 2), T.ones(1, 2), T.ones(2, 2))
    ]


# -- losses, softmax, products, variance ------------------------------------------------------------------------------


@scenario
def gradients_of_losses_at_nan(T: Any) -> Any:
    found = []
    for loss in (T.nn.functional.smooth_l1_loss, T.nn.functional.huber_loss):
        x = leaf(T, [NAN, 0.5, 1.0, -1.0, 2.0, INF, -INF])
        loss(x, T.zeros(7)).backward()
        found.append(x.grad)
    return found


@scenario
def equations(T: Any) -> Any:
    """einsum: what an equation may say, and what is refused."""
    a, b = leaf(T, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), T.arange(12.0).reshape(3, 4)

    def gradient(*args: Any) -> Any:
        a.grad = None
        T.einsum(*args).sum().backward()
        return a.grad

    good = [("ij,jk", a, b), ("ij,jk->ki", [a, b]), (a, [0, 1], b, [1, 2], [2, 0]), (a, [..., 1], b, [1, 2])]
    bad = [
        ("ij->ii", a),
        ("ij->k", a),
        ("ij", b[0]),
        ("ij,jk", a, b.T),
        ("ij,jk->ik->", a, b),
        ("i.j", a),
        ("i->i", a, a),
    ]
    bad += [
        ("1", a),
        ("ii", a),
        ("ij,jk", a),
        ("i...j...", a),
        ("ijk...", a),
        (3, a),
        ("ij",),
        ("ij,jk", a, b.double()),
    ]
    bad += [(a, [0, 60]), ("i,i->i", b[0], b[0].double()), ("...i,...i", b.reshape(3, 2, 2), T.ones(4, 2))]
    return (
        [T.einsum(*args) for args in good],
        [gradient(*args) for args in good],
        [attempt(T.einsum, *bad_one) for bad_one in bad],
    )
