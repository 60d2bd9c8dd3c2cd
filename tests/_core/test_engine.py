"""The walk backward: in which order nodes run, what they free, hooks, backward inside of backward, mistakes on the way,
very deep and very wide graphs, derivatives of high order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad._core.reachable import paths_to
from leafgrad.autograd import grad


def leaf(*values: float) -> Any:
    return lg.tensor(values, dtype=lg.float64, requires_grad=True)


def numbers(t: Any) -> Any:
    return t.detach().numpy().tolist()


# -- order ------------------------------------------------------------------------------------------------------------


def watched(seen: list[str], **tensors: Any) -> None:
    for name, t in tensors.items():
        t.register_hook(lambda g, name=name: seen.append(name))


def test_paths_to_all_leaves_to_some_and_to_a_result() -> None:
    x, y = leaf(1.0), leaf(2.0)
    a, b = x * 2, y * 3
    c = a * b
    nodes = {t.node: True for t in (a, b, c)}
    assert paths_to([c.node, None], {x, y}, False) == ({x: False, y: False, **nodes}, True)
    assert paths_to([c.node], {x, y, leaf(3.0)}, False) == ({x: False, y: False, **nodes}, False)
    assert paths_to([c.node], {x}, False) == ({x: False, a.node: True, c.node: True}, False)
    for runs in (False, True):
        assert paths_to([c.node], {b.node}, runs) == ({b.node: runs, c.node: True}, False)
        assert paths_to([c.node], {b.node, y}, runs) == ({y: False, b.node: True, c.node: True}, False)
        assert paths_to([c.node], {x, y, b.node}, runs) == ({x: False, y: False, **nodes}, False)


def test_nodes_run_in_reverse_order_of_recording() -> None:
    seen: list[str] = []
    x = leaf(1.0)
    a = x * 2
    b = x * 3
    c = a * 4
    d = b * 5
    e = c + d
    watched(seen, a=a, b=b, c=c, d=d, e=e)
    e.sum().backward()
    assert seen == ["e", "d", "c", "b", "a"]


def test_the_order_is_that_of_recording_and_not_of_use() -> None:
    seen: list[str] = []
    x = leaf(1.0)
    early = x * 3
    late = x * 2
    watched(seen, early=early, late=late)
    lg.stack([early, late]).sum().backward(retain_graph=True)
    lg.stack([late, early]).sum().backward()
    assert seen == ["late", "early"] * 2 and numbers(x.grad) == [10.0]


def test_each_node_runs_once_with_the_complete_gradient() -> None:
    x = leaf(1.5)
    got: list[float] = []
    y = x * 1
    y.register_hook(lambda g: got.append(g.item()))
    z = y
    for _ in range(20):  # two million paths
        z = z * 0.5 + z * 1.5
    z.sum().backward()
    assert got == [2.0**20] and numbers(x.grad) == [2.0**20]


def test_a_node_waits_for_the_latest_use_of_its_result() -> None:
    x = leaf(2.0)
    got: list[float] = []
    y = x * x
    y.register_hook(lambda g: got.append(g.item()))
    direct = y * 10
    detour = (((y + 1) * 2).sin() * 0 + y).exp() * 0
    (direct + detour + y).sum().backward()
    assert got == [11.0] and numbers(x.grad) == [44.0]


def test_one_tensor_used_many_times() -> None:
    x = leaf(3.0)
    total = x
    for _ in range(1000):
        total = total + x
    total.sum().backward()
    (x * x * x * x).sum().backward()
    lg.stack([x] * 50).sum().backward()
    assert numbers(x.grad) == [1001.0 + 108.0 + 50.0]


def test_a_wide_graph() -> None:
    x = leaf(1.0)
    parts = [x * i for i in range(20_000)]
    lg.cat(parts).sum().backward()
    leaves = [leaf(float(i)) for i in range(3_000)]
    lg.cat(leaves).square().sum().backward()
    assert numbers(x.grad) == [sum(range(20_000))]
    assert [v.grad.item() for v in leaves] == [2.0 * i for i in range(3_000)]


@pytest.mark.slow
def test_a_graph_one_million_nodes_deep() -> None:
    x = lg.ones(1, requires_grad=True)
    y = x
    for _ in range(500_000):
        y = y + x
        y = -y
    y.backward()
    assert numbers(x.grad) == [1.0]  # 1, -2, 1, -2, ...
    del y


@pytest.mark.slow
@pytest.mark.parametrize("kept", [True, False])
def test_a_deep_graph_that_is_never_or_twice_walked(kept: bool) -> None:
    x = leaf(1.0)
    y = x * 1
    for _ in range(100_000):
        y = y * 1.0
    if kept:
        y.backward(retain_graph=True)
        y.backward()
        assert numbers(x.grad) == [2.0]
    assert y.requires_grad
    del y  # by reference counting, and without recursion


def test_a_deep_graph_of_in_place_changes_and_views() -> None:
    x = leaf(1.0, 1.0)
    y = x * 1
    for i in range(5_000):
        y.mul_(1.0)
        y[i % 2].add_(1.0)
    y.sum().backward()
    assert numbers(x.grad) == [1.0, 1.0] and numbers(y) == [2501.0, 2501.0] and y._version == 10_000


def test_a_deep_graph_differentiated_twice() -> None:
    x = leaf(1.0)
    y = x
    for _ in range(3_000):
        y = y * x.detach() + x * x * 0.001
    (first,) = grad(y.sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x)
    assert math.isclose(first.item(), 1 + 6.0) and math.isclose(second.item(), 6.0)


# -- what a backward pass frees ---------------------------------------------------------------------------------------


def test_saved_values_are_freed_unless_retained() -> None:
    x = leaf(3.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert numbers(x.grad) == [12.0]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    assert numbers(x.grad) == [12.0]


ONCE = {
    "mul": lambda x: x * x, "mul by a number": lambda x: x * 2, "div": lambda x: 2 / x, "pow": lambda x: x**2,
    "exp": lambda x: x.exp(), "max": lambda x: x.max(), "softmax": lambda x: x.softmax(0), "relu": lambda x: x.relu(),
    "index": lambda x: x[lg.tensor([0])], "where": lambda x: lg.where(x > 0, x, x), "dot": lambda x: x.dot(x),
    "write to a view": lambda x: x.clone()[0].add_(1),
}  # fmt: skip
AGAIN = {
    "add": lambda x: x + 1, "sub": lambda x: 1 - x, "neg": lambda x: -x, "sum": lambda x: x.sum(),
    "view": lambda x: x.view(1, 2),
    "mean": lambda x: x.mean(), "select": lambda x: x[0], "cat": lambda x: lg.cat([x, x]),
    "expand": lambda x: x.expand(3, 2),
    "clone": lambda x: x.clone(), "unbind": lambda x: x.unbind()[0], "to": lambda x: x.float(),
    "cumsum": lambda x: x.cumsum(0),
    "fill in place": lambda x: x.clone().fill_(1.0), "add in place": lambda x: x.clone().add_(1),
}  # fmt: skip


@pytest.mark.parametrize("name", [*ONCE, *AGAIN])
def test_only_nodes_that_saved_tensors_refuse_a_second_time(name: str) -> None:
    x = leaf(1.0, 2.0)
    y = {**ONCE, **AGAIN}[name](x)
    g = lg.ones_like(y)
    y.backward(g)
    once = x.grad.clone()
    if name in ONCE:
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
            y.backward(g)
        assert numbers(x.grad) == numbers(once)
    else:
        y.backward(g)
        assert numbers(x.grad) == numbers(once * 2)


def test_create_graph_retains_unless_told_otherwise() -> None:
    x = leaf(3.0)
    y = (x * x).sum()
    grad(y, x, create_graph=True)
    grad(y, x)
    with pytest.raises(RuntimeError, match="a second time"):
        grad(y, x)
    y = (x * x).sum()
    grad(y, x, create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match="a second time"):
        grad(y, x)


# -- hooks ------------------------------------------------------------------------------------------------------------


def test_hooks_see_and_replace_gradients_in_order() -> None:
    x = leaf(1.0)
    y = x * 2
    seen: list[Any] = []
    first = y.register_hook(lambda g: seen.append(numbers(g)))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: seen.append(numbers(g)))
    y.sum().backward(retain_graph=True)
    assert seen == [[1.0], [10.0]] and numbers(x.grad) == [20.0]
    first.remove()
    first.remove()
    y.sum().backward()
    assert seen == [[1.0], [10.0], [10.0]] and numbers(x.grad) == [40.0]
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        lg.ones(1).register_hook(print)


def test_hooks_of_leaves() -> None:
    x = leaf(1.0)
    x.register_hook(lambda g: g * 10)
    (x * 2).sum().backward()
    assert numbers(x.grad) == [20.0] and numbers(grad((x * 2).sum(), x)[0]) == [20.0]
    calls: list[Any] = []
    handle = x.register_post_accumulate_grad_hook(lambda p: calls.append((p is x, numbers(p.grad))))
    (x * 2).sum().backward()
    grad((x * 2).sum(), x)
    assert calls == [(True, [40.0])]
    handle.remove()
    (x * 2).sum().backward()
    assert len(calls) == 1
    with pytest.raises(RuntimeError, match="post accumulate grad hooks cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)


@pytest.mark.parametrize(
    ("hook", "error", "message"),
    [
        (lambda g: g[:1], RuntimeError, "has changed the size of value"),
        (lambda g: g.reshape(2, 1), RuntimeError, "has changed the size of value"),
        (lambda g: 1.0, TypeError, "expected Variable, but hook"),
    ],
)
def test_what_a_hook_returns_is_checked(hook: Any, error: type[Exception], message: str) -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(hook)
    with pytest.raises(error, match=message):
        y.sum().backward()
    assert x.grad is None and lg.is_grad_enabled()


def test_a_hook_can_remove_itself_and_serve_as_a_context() -> None:
    x = leaf(1.0)
    y = x * 2
    calls: list[int] = []
    handles: list[Any] = []

    def once(g: Any) -> None:
        calls.append(1)
        handles[0].remove()

    handles.append(y.register_hook(once))
    with y.register_hook(lambda g: calls.append(2)):
        y.backward(retain_graph=True)
    y.backward()
    assert calls == [1, 2]


def test_hooks_run_with_recording_on_exactly_under_create_graph() -> None:
    x = leaf(2.0)
    y = x * x
    seen: list[tuple[bool, bool]] = []
    y.register_hook(lambda g: seen.append((lg.is_grad_enabled(), g.requires_grad)))
    (y * y).sum().backward(retain_graph=True)
    (g,) = grad((y * y).sum(), x, create_graph=True)
    assert seen == [(False, False), (True, True)] and g.requires_grad


def test_hooks_stay_with_the_value_and_retained_gradients_with_the_tensor() -> None:
    x = leaf(1.0)
    y = x * 2
    seen: list[Any] = []
    y.retain_grad()
    y.register_hook(lambda g: seen.append(("before", numbers(g))))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", numbers(g))))
    (y * 5).sum().backward()
    assert seen == [("after", [5.0]), ("before", [15.0])]
    assert numbers(y.grad) == [5.0] and numbers(x.grad) == [30.0]


def test_a_retained_gradient_is_what_hooks_made_of_it() -> None:
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    y.sum().backward()
    assert numbers(y.grad) == [5.0] and numbers(x.grad) == [10.0]


# -- backward inside of backward, and mistakes ------------------------------------------------------------------------


def test_backward_inside_a_hook() -> None:
    x, w = leaf(1.0), leaf(1.0)
    y = x * 2
    modes: list[bool] = []

    def inner(g: Any) -> None:
        with lg.enable_grad():
            (w * 3).sum().backward()
            (x * 10).sum().backward()
        modes.append(lg.is_grad_enabled())

    y.register_hook(inner)
    (y.sum() + x.sum()).backward()
    assert numbers(w.grad) == [3.0] and numbers(x.grad) == [13.0] and modes == [False] and lg.is_grad_enabled()


def test_backward_many_levels_deep() -> None:
    x = leaf(1.0)

    def level(n: int) -> None:
        with lg.enable_grad():
            y = x * 1
            if n:
                y.register_hook(lambda g: level(n - 1))
            y.sum().backward()

    level(50)
    assert numbers(x.grad) == [51.0]


def test_a_hook_that_fails_leaves_everything_usable() -> None:
    x = leaf(1.0)
    y = x * 2

    def fails(g: Any) -> None:
        raise KeyError("mine")

    handle = y.register_hook(fails)
    for call in (lambda: y.sum().backward(), lambda: grad(y.sum(), x, create_graph=True)):
        with pytest.raises(KeyError, match="mine"):
            call()
        assert lg.is_grad_enabled() and x.grad is None
    with lg.no_grad(), pytest.raises(KeyError):
        grad(y, x, lg.ones(1, dtype=lg.float64), create_graph=True)
    assert lg.is_grad_enabled()
    handle.remove()
    (x * 3).sum().backward()
    assert numbers(x.grad) == [3.0]


def test_a_rule_that_fails_leaves_everything_usable() -> None:
    class Fails(lg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            raise ZeroDivisionError("mine")

    x = leaf(1.0)
    with pytest.raises(ZeroDivisionError, match="mine"):
        (Fails.apply(x) + x).sum().backward()
    assert lg.is_grad_enabled() and x.grad is None
    (x * 3).sum().backward()
    assert numbers(x.grad) == [3.0]


# -- derivatives of high order ----------------------------------------------------------------------------------------

ORDERS: dict[str, tuple[Any, list[Any]]] = {
    "x**5": (
        lambda x: x**5,
        [lambda x: 5 * x**4, lambda x: 20 * x**3, lambda x: 60 * x**2, lambda x: 120 * x, lambda x: 120 + 0 * x],
    ),
    "exp": (lambda x: x.exp(), [np.exp] * 5),
    "sin": (lambda x: x.sin(), [np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin, np.cos]),
    "1/x": (lambda x: 1 / x, [lambda x, n=n: (-1) ** n * math.factorial(n) / x ** (n + 1) for n in range(1, 6)]),
    "log": (lambda x: x.log(), [lambda x, n=n: -((-1) ** n) * math.factorial(n - 1) / x**n for n in range(1, 6)]),
    "exp(2x) sin(x)": (
        lambda x: (2 * x).exp() * x.sin(),
        [lambda x, n=n: 5 ** (n / 2) * np.exp(2 * x) * np.sin(x + n * math.atan2(1, 2)) for n in range(1, 6)],
    ),
    "products": (lambda x: x * x * x, [lambda x: 3 * x**2, lambda x: 6 * x, lambda x: 6 + 0 * x]),
}


@pytest.mark.parametrize("name", ORDERS)
def test_derivatives_of_high_order(name: str) -> None:
    function, expected = ORDERS[name]
    points = np.array([0.3, 0.9, 1.7])
    x = lg.tensor(points, requires_grad=True)
    y = function(x)
    for order, formula in enumerate(expected, 1):
        (y,) = grad(y.sum(), x, create_graph=True)
        np.testing.assert_allclose(numbers(y), formula(points), rtol=1e-9, err_msg=f"order {order}")
    assert x.grad is None


def test_second_derivatives_with_respect_to_several_tensors() -> None:
    x, w = leaf(2.0), leaf(3.0)
    gx, gw = grad((x**2 * w**3).sum(), [x, w], create_graph=True)
    assert numbers(gx) == [108.0] and numbers(gw) == [108.0]
    xx, xw = grad(gx.sum(), [x, w], retain_graph=True)
    wx, ww = grad(gw.sum(), [x, w])
    assert [numbers(t) for t in (xx, xw, wx, ww)] == [[54.0], [108.0], [108.0], [72.0]]


def test_the_given_gradient_can_be_differentiated_too() -> None:
    x, v = leaf(2.0, 3.0), leaf(1.0, 1.0)
    (g,) = grad(x**2, x, v, create_graph=True)
    assert [numbers(t) for t in grad(g.sum(), [x, v])] == [[2.0, 2.0], [4.0, 6.0]]


def test_a_constant_derivative_has_no_graph() -> None:
    x = leaf(2.0)
    (g,) = grad((x * 2).sum(), x, create_graph=True)
    assert numbers(g) == [2.0]
    with pytest.raises(RuntimeError):
        grad(g.sum(), x)


def test_a_gradient_penalty_trains() -> None:
    """A loss that contains a gradient, accumulated into leaves by an ordinary backward."""
    w, x = leaf(0.5, -1.0), lg.tensor([1.0, 2.0], dtype=lg.float64)
    y = (w * x).tanh().sum()
    (g,) = grad(y, w, create_graph=True)
    (g.square().sum() + y).backward()
    t = np.tanh([0.5, -2.0])
    s = 1 - t**2
    expected = s * np.array([1.0, 2.0]) * (1 - 4 * t * s * np.array([1.0, 4.0]))
    np.testing.assert_allclose(numbers(w.grad), expected)


@pytest.mark.parametrize("uses", range(1, 6))
@pytest.mark.parametrize("shape", [(), (1,), (3,), (400,)])
def test_gradients_that_meet_at_a_product(shape: tuple[int, ...], uses: int) -> None:
    """They come as arrays, as NumPy scalars and as views; the product's rule may write to what it is given."""
    x = lg.full(shape, 0.5, dtype=lg.float64, requires_grad=True)
    y = x.abs() * -1.5
    terms = [y.abs().sum(), (y * y).mean(), y.sum() * 0.7, (y * 2).sum(), y.reshape(-1)[0] * 3]
    sum(terms[:uses], lg.zeros((), dtype=lg.float64)).backward()
    count = x.numel()
    first = 3.0 if uses == 5 else 0.0
    rest = [-1.0, 2 * -0.75 / count, 0.7, 2.0]
    expected = np.full(count, -1.5 * sum(rest[:uses]))
    expected[0] += -1.5 * first
    np.testing.assert_allclose(x.grad.numpy().ravel(), expected)
