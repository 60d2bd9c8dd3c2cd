"""Views, in-place changes and version counters, compared with the installed PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import leafgrad
from scenarios import attempt, collection, graph_of, observe

SCENARIOS, scenario = collection()


# -- which changes are detected ---------------------------------------------------------------------------------------

OPERATIONS: dict[str, Any] = {
    "mul": lambda T, x, y: x * y, "mul by 2": lambda T, x, y: x * 2, "div": lambda T, x, y: x / y,
    "exp": lambda T, x, y: x.exp(),
    "log": lambda T, x, y: x.log(), "sin": lambda T, x, y: x.sin(), "tanh": lambda T, x, y: x.tanh(),
    "relu": lambda T, x, y: x.relu(),
    "sigmoid": lambda T, x, y: x.sigmoid(), "sqrt": lambda T, x, y: x.sqrt(), "pow": lambda T, x, y: x**3,
    "x**y": lambda T, x, y: x**y,
    "add": lambda T, x, y: x + y, "sub": lambda T, x, y: x - y, "neg": lambda T, x, y: -x,
    "sum": lambda T, x, y: x.sum(),
    "mean": lambda T, x, y: x.mean(), "abs": lambda T, x, y: x.abs(), "clamp": lambda T, x, y: x.clamp(0, 1.5),
    "max": lambda T, x, y: x.max(),
    "max(0)": lambda T, x, y: x.max(0)[0], "amax": lambda T, x, y: x.amax(0), "prod": lambda T, x, y: x.prod(),
    "cumsum": lambda T, x, y: x.cumsum(0),
    "softmax": lambda T, x, y: x.softmax(0), "log_softmax": lambda T, x, y: x.log_softmax(0),
    "maximum": lambda T, x, y: T.maximum(x, y),
    "where": lambda T, x, y: T.where(x.detach() > 0, x, y), "cat": lambda T, x, y: T.cat([x, y]),
    "index": lambda T, x, y: x[T.tensor([0])],
    "dot": lambda T, x, y: T.dot(x, y), "outer": lambda T, x, y: T.outer(x, y), "var": lambda T, x, y: x.var(),
    "std": lambda T, x, y: x.std(),
    "norm": lambda T, x, y: x.norm(), "1/x": lambda T, x, y: 1 / x, "square": lambda T, x, y: x.square(),
    "view": lambda T, x, y: x.view(1, 3),
    "clone": lambda T, x, y: x.clone(), "double": lambda T, x, y: x.double(), "2**x": lambda T, x, y: 2**x,
    "mm": lambda T, x, y: x[None] @ y[:, None], "repeat": lambda T, x, y: x.repeat(2),
    "round": lambda T, x, y: x.round(),
}  # fmt: skip
TARGETS: dict[str, Any] = {
    "x": lambda x, y, out: x, "y": lambda x, y, out: y, "result": lambda x, y, out: out,
    "view of x": lambda x, y, out: x[0:1],
    "x detached": lambda x, y, out: x.detach(), "data of x": lambda x, y, out: x.data,
    "view of result": lambda x, y, out: out.view(-1)[0:1],
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_same_changes_are_detected(name: str) -> None:
    def seen(T: Any) -> list[Any]:
        results = []
        for target in TARGETS.values():
            x, y = [T.tensor(v, requires_grad=True) * 1 for v in ([1.0, 2.0, 3.0], [3.0, 1.0, 2.0])]
            out = OPERATIONS[name](T, x, y)
            results.append(attempt(target(x, y, out).add_, 0.25))
            results.append(str(attempt(out.sum().backward))[:80])
        return results

    assert seen(leafgrad) == seen(torch)


@scenario
def changed_constants(T: Any) -> Any:
    seen = []
    for f in (lambda x, c: x * c, lambda x, c: x / c, lambda x, c: c / x, lambda x, c: x + c, lambda x, c: x.dot(c)):
        for change_constant in (True, False):
            x, c = T.tensor([1.0, 2.0], requires_grad=True), T.tensor([3.0, 4.0])
            y = f(x, c)
            with T.no_grad():
                (c if change_constant else x).add_(1)
            seen.append((str(attempt(y.sum().backward))[:80], x.grad))
    return seen


@scenario
def versions(T: Any) -> Any:
    x = T.zeros(4)
    seen = [x._version]
    changes: list[Any] = [
        lambda: x.add_(1), lambda: x[:2].mul_(2), lambda: x.detach().add_(1), lambda: x.__setitem__(0, 5.0),
        lambda: x.data.add_(1),
        lambda: x.__iadd__(1), lambda: x.zero_(), lambda: x.fill_(1), lambda: x.copy_(T.ones(4)),
        lambda: x.__setitem__(..., 2.0),
        lambda: x.__setitem__(x > 0, 1.0), lambda: x.__setitem__(T.tensor([0]), 1.0), lambda: x.clamp_(0, 1),
        lambda: x.normal_(),
        lambda: x.view(-1).__setitem__(0, 3.0), lambda: T.no_grad()(lambda: x.add_(1))(), lambda: x + 1,
    ]  # fmt: skip
    for change in changes:
        change()
        seen.append(x._version)
    return seen


# -- in place ---------------------------------------------------------------------------------------------------------


@scenario
def chains(T: Any) -> Any:
    x = T.ones(4, requires_grad=True)
    y = x * 1
    a, b = y[:2], y.view(2, 2)
    c = b.t()
    a.mul_(2)
    b[0].add_(1)
    c.mul_(3)
    y[3] = 7.0
    c[1, 0].mul_(5)
    for _ in range(20):
        y.mul_(1.01).add_(0.5)
    seen = [y, a, b, c, y._version, [t.grad_fn.name() for t in (y, a, b, c)]]
    for t in (y, a, c):
        x.grad = None
        (t * t).sum().backward(retain_graph=True)
        seen.append(x.grad.clone())
    return seen


@scenario
def differentiated_three_times(T: Any) -> Any:
    x = T.tensor([1.0, 2.0, 3.0, 4.0], dtype=T.float64, requires_grad=True)
    y = x * x
    v = y.view(2, 2)[0]
    v.mul_(x[:2]).sin_()
    y[3] = x[0] * x[1]
    (g,) = T.autograd.grad((y**2).sum(), x, create_graph=True)
    (h,) = T.autograd.grad((g**2).sum(), x, create_graph=True)
    return [g, h, T.autograd.grad(h.sum(), x)]


@scenario
def deep_views(T: Any) -> Any:
    x = T.arange(24.0, requires_grad=True)
    y = x * 1
    v = y.view(2, 3, 4).permute(2, 0, 1)[1:3].transpose(0, 1)[:, :, 1]
    v.mul_(T.arange(4.0).view(2, 2))
    y.view(4, 6).diagonal().add_(1)
    (y * y).sum().backward()
    return [x.grad, v, v.grad_fn.name(), y.grad_fn.name()]


@scenario
def a_base_that_gets_a_gradient(T: Any) -> Any:
    b, w = T.zeros(3), T.ones(2, requires_grad=True)
    v, u = b[1:], b[:2]
    v.copy_(w * 2)
    seen = [b, b.is_leaf, v, b.grad_fn.name(), u, u.grad_fn.name(), graph_of(v.grad_fn, 1)]
    (b * T.tensor([1.0, 2.0, 3.0])).sum().backward(retain_graph=True)
    u.sum().backward()
    return [*seen, w.grad]


@scenario
def filled_one_by_one(T: Any) -> Any:
    w, out = T.tensor([1.0, 2.0], requires_grad=True), T.zeros(5)
    for i in range(5):
        out[i] = w[i % 2] * i
    out[:2] += w
    out.sum().backward()
    return [w.grad, out]


@scenario
def with_itself(T: Any) -> Any:
    seen = []
    for f in (lambda y: y.mul_(y), lambda y: y.add_(y), lambda y: y.sub_(y), lambda y: y.div_(y), lambda y: y.copy_(y)):
        x = T.tensor([2.0, 3.0], requires_grad=True)
        y = f(x * 1)
        seen.append((str(attempt(y.sum().backward))[:80], x.grad))
    return seen


@scenario
def other_dtypes_and_shapes(T: Any) -> Any:
    x, i = T.ones(3), T.ones(3, dtype=T.int64)
    y, d = T.ones(2, requires_grad=True) * 1, T.full((2,), 2.0, dtype=T.float64, requires_grad=True)
    y.mul_(d).sum().backward()
    changes: list[Any] = [
        lambda: x.add_(T.ones(2, 3)), lambda: x.add_(T.ones(2)), lambda: i.add_(0.5), lambda: i.add_(x),
        lambda: i.mul_(2),
        lambda: i.div_(2), lambda: x.add_(i), lambda: x.add_(T.ones(3, dtype=T.float64)), lambda: x.add_(1j),
        lambda: i.sqrt_(),
    ]  # fmt: skip
    return [*[attempt(change) for change in changes], x, i, y, d.grad, str(d.grad.dtype)]


@scenario
def erased_values(T: Any) -> Any:
    seen = []
    zeros = T.zeros(2)
    for erase in (lambda y: y.zero_(), lambda y: y.fill_(0), lambda y: y.__setitem__(0, 0), lambda y: y.copy_(zeros)):
        x = T.ones(2, requires_grad=True)
        y = x * 1
        erase(y)
        (1 / y).sum().backward()
        seen.append((x.grad, y.grad_fn.name()))
    return seen


# -- refused ----------------------------------------------------------------------------------------------------------

LEAF_CHANGES: list[Any] = [
    lambda T, x: x.add_(1), lambda T, x: x.__setitem__(0, 1.0), lambda T, x: x.__setitem__(slice(0, 1), 1.0),
    lambda T, x: x.__iadd__(1),
    lambda T, x: x.__setitem__(..., 1.0), lambda T, x: x[0].add_(1), lambda T, x: x.view(-1).mul_(2),
    lambda T, x: x.zero_(),
    lambda T, x: x.fill_(1), lambda T, x: x.copy_(T.ones(2)), lambda T, x: x.detach().add_(1),
    lambda T, x: x.data.add_(1),
    lambda T, x: x.clamp_(0, 1), lambda T, x: x.unbind()[0].add_(1), lambda T, x: x.normal_(),
    lambda T, x: x.expand(2, 2).add_(1),
    lambda T, x: x.masked_fill_(x.detach() > 0, 1.0), lambda T, x: x.__setitem__(T.tensor([0]), 1.0),
    lambda T, x: x.t().add_(1),
    lambda T, x: x.__setitem__(x.detach() > 0, 1.0), lambda T, x: x.requires_grad_(False).add_(1),
]  # fmt: skip


@scenario
def leaves(T: Any) -> Any:
    seen = []
    for change in LEAF_CHANGES:
        for mode in (T.enable_grad, T.no_grad):
            x = T.ones(2, requires_grad=True)
            with mode():
                error = attempt(change, T, x)
            seen.append((error if isinstance(error, str) else None, x.requires_grad, x.is_leaf, x._version))
    return seen


@scenario
def one_of_several_views(T: Any) -> Any:
    seen = []
    for take in (lambda y: y.unbind(), lambda y: y.split(1), lambda y: y.chunk(2), lambda y: y.split([1, 1]), tuple):
        x, c = T.ones(2, 3, requires_grad=True), T.ones(2, 3)
        y = x * 2
        (a, _), (p, _) = take(y), take(c)
        seen += [attempt(a.add_, 1), attempt(lambda a=a: a[0:1].add_(1))]
        seen += [attempt(p.add_, 1), attempt(p.add_, x[0] * 2), c]
        with T.no_grad():
            seen += [attempt(a.add_, 1), attempt(lambda a=a: a * 2)]
        seen += [attempt(lambda a=a: a * 2), attempt(lambda a=a: a.grad_fn), a.requires_grad, a.detach()]
    return seen


@scenario
def views_made_under_no_grad(T: Any) -> Any:
    x, z = T.ones(2, 3, requires_grad=True), T.zeros(2, 3)
    y = x * 2
    with T.no_grad():
        v, u, w = y[0], x[0], z[0]
    seen = [(t.requires_grad, t.is_leaf, t.grad_fn, t._base is not None) for t in (v, u, w)]
    seen += [attempt(t.add_, 1) for t in (v, u, w)] + [attempt(w.add_, x[0]), attempt((u * 2).sum().backward), x.grad]
    seen += [attempt(u[0].backward), attempt(lambda: T.autograd.grad((u * 2).sum(), u))]
    seen += [attempt(lambda: u.numpy().tolist())]
    with T.no_grad():
        seen += [attempt(v.mul_, 3), attempt(lambda: v * 2)]
    return [*seen, attempt(lambda: v * 2), attempt(lambda: v[0].add_(1)), y]


@scenario
def expanded_memory(T: Any) -> Any:
    changes: list[Any] = [
        lambda e: e.add_(1), lambda e: e.mul_(T.ones(2, 3)), lambda e: e.sin_(), lambda e: e.copy_(T.ones(2, 3)),
        lambda e: e.clamp_(0, 1),
        lambda e: e.__setitem__(..., 1.0), lambda e: e.__setitem__(slice(0, 2), 1.0),
        lambda e: e.__setitem__(0, T.ones(3)),
        lambda e: e.fill_(2), lambda e: e.fill_(T.tensor(2.0)), lambda e: e.zero_(), lambda e: e[0].add_(1),
        lambda e: e.normal_().mul_(0),
    ]  # fmt: skip
    seen = []
    for change in changes:
        for base in (T.ones(3), T.ones(3, 1).t()):
            seen.append((attempt(change, base.expand(2, 3)), base))
    return seen


@scenario
def overlapping_memory(T: Any) -> Any:
    changes: list[Any] = [
        lambda x: x[0:4].add_(x[1:5]), lambda x: x.add_(x), lambda x: x.view(2, 3).add_(x.view(2, 3)),
        lambda x: x[:4].copy_(x[2:]),
        lambda x: x[::2].add_(x[1::2]), lambda x: x.add_(x[0]), lambda x: x.mul_(x[0:1]),
        lambda x: x.__setitem__(slice(0, 3), x[1:4]),
        lambda x: x.view(2, 3).add_(x[:3]), lambda x: x[:3].add_(x[3:]), lambda x: x.view(2, 3).t().add_(x.view(3, 2)),
        lambda x: x.copy_(x),
        lambda x: x.copy_(x[0]), lambda x: x[:2].detach().add_(x[1:3]), lambda x: x.div_(x[2:3]),
        lambda x: x.__setitem__(..., x),
    ]  # fmt: skip
    seen = []
    for change in changes:
        for x in (T.arange(6.0), T.ones(6, requires_grad=True) * 2):
            seen.append((attempt(change, x), x))
    return seen


@scenario
def views_that_are_leaves(T: Any) -> Any:
    b = T.zeros(4)
    v, w = b[:2].requires_grad_(), T.arange(6.0).view(2, 3).requires_grad_()
    (v * 3).sum().backward()
    (w * w).sum().backward()
    w[0:1].sum().backward()
    return [v.grad, v.is_leaf, b, attempt(v.add_, 1), w.grad, attempt(b.add_, 1), v, attempt(v.detach_)]


@pytest.mark.parametrize("name", SCENARIOS)
def test_both_show_the_same(name: str) -> None:
    assert observe(SCENARIOS[name], leafgrad) == observe(SCENARIOS[name], torch)
