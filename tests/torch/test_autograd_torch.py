"""The semantics of autograd, compared with the installed PyTorch: the same small program run with both modules."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import leafgrad
from scenarios import attempt, collection, graph_of, observe

SCENARIOS, scenario = collection()


def quietly(function: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function()


# -- flags, names, gradients ------------------------------------------------------------------------------------------


@scenario
def requires_grad(T: Any) -> Any:
    x, integers = T.ones(2, requires_grad=True), T.tensor([1, 2])
    y = T.zeros(2)
    y.requires_grad = True
    return [
        y.requires_grad, T.ones(2).requires_grad_().requires_grad, T.tensor([1j], requires_grad=True).requires_grad,
        attempt(lambda: T.tensor([1], requires_grad=True)), attempt(integers.requires_grad_),
        attempt(lambda: setattr(integers, "requires_grad", True)), attempt(lambda: T.arange(3, requires_grad=True)),
        attempt(lambda: T.ones(2, dtype=T.int64, requires_grad=True)), attempt(lambda: (x * 2).requires_grad_(False)),
        attempt(lambda: setattr(x * 2, "requires_grad", False)), attempt(lambda: x.requires_grad_("a")),
        (x * 2).requires_grad_().is_leaf, integers.requires_grad_(False).requires_grad,
    ]  # fmt: skip


@scenario
def leaves(T: Any) -> Any:
    x, c = T.ones(2, requires_grad=True), T.ones(2)
    results = [x, x * 1, c, c * 1, x.detach(), (x * 1).detach(), x.clone(), x > 0, x.argmax(), x.data, x.double()]
    results.append(x.float())
    return [(t.is_leaf, t.requires_grad, t is x) for t in results]


@scenario
def integer_results(T: Any) -> Any:
    x = T.tensor([1.5, 2.5], requires_grad=True)
    results = [x > 1, x.argmax(), x.long(), x.bool(), x.round(), x.sign(), x == x, x.nonzero(), x.max(0)[1]]
    return [(t.requires_grad, t.grad_fn is None) for t in results]


@scenario
def names(T: Any) -> Any:
    x = T.ones(2, 3, requires_grad=True)
    y = (x * 2 + 1).sum()
    arrival = y.grad_fn.next_functions[0][0].next_functions[0][0].next_functions[0][0]
    left, right = (x * x).grad_fn.next_functions
    return [
        graph_of(y.grad_fn), y.grad_fn is y.grad_fn, y.grad_fn.next_functions[0][0] is y.grad_fn.next_functions[0][0],
        x.grad_fn, type(y.grad_fn).__name__, arrival.variable is x, type(arrival).__name__, left[0] is right[0],
        left[0].next_functions,
    ]  # fmt: skip


@scenario
def graph_of_a_network(T: Any) -> Any:
    x, b = T.ones(4, 3), T.zeros(5, requires_grad=True)
    w1, w2 = T.ones(3, 5, requires_grad=True), T.ones(5, 1, requires_grad=True)
    out = T.sigmoid(T.relu(x @ w1 + b) @ w2)
    return graph_of(((out - 1) ** 2).mean().grad_fn, 12)


NAMED: dict[str, Any] = {
    "reshape": lambda T, y: y.reshape(3, 2), "reshape a copy": lambda T, y: y.t().reshape(-1),
    "view": lambda T, y: y.view(6),
    "reshape a part": lambda T, y: y[:, :2].reshape(2, 2, 1), "flatten": lambda T, y: y.flatten(),
    "t": lambda T, y: y.t(),
    "squeeze": lambda T, y: y.squeeze(), "squeeze(0)": lambda T, y: y.squeeze(0),
    "squeeze((0, 1))": lambda T, y: y.squeeze((0, 1)),
    "expand": lambda T, y: y.expand(2, 2, 3), "[0]": lambda T, y: y[0], "[:1]": lambda T, y: y[:1],
    "[None]": lambda T, y: y[None],
    "[...]": lambda T, y: y[...], "index": lambda T, y: y[T.tensor([0])], "mask": lambda T, y: y[y > 0],
    "diagonal": lambda T, y: y.diagonal(),
    "unbind": lambda T, y: y.unbind()[1], "chunk": lambda T, y: y.chunk(2)[1], "split": lambda T, y: y.split([1, 1])[1],
    "cat": lambda T, y: T.cat([y, y]), "stack": lambda T, y: T.stack([y, y]),
    "where": lambda T, y: T.where(y > 0, y, 0.0),
    "max": lambda T, y: y.max(), "max(0)": lambda T, y: y.max(0)[0], "sum": lambda T, y: y.sum(),
    "sum(0)": lambda T, y: y.sum(0),
    "mean": lambda T, y: y.mean(), "mean(0)": lambda T, y: y.mean(0), "std": lambda T, y: y.std(),
    "prod": lambda T, y: y.prod(),
    "norm": lambda T, y: y.norm(), "cumsum": lambda T, y: y.cumsum(0), "softmax": lambda T, y: T.softmax(y, 0),
    "x**2": lambda T, y: y**2, "2**x": lambda T, y: 2**y, "x**x": lambda T, y: y**y, "1/x": lambda T, y: 1 / y,
    "-x": lambda T, y: -y,
    "clamp": lambda T, y: y.clamp(0, 1), "maximum": lambda T, y: T.maximum(y, y), "@": lambda T, y: y @ y.t(),
    "mv": lambda T, y: y @ y[0],
    "dot": lambda T, y: y[0] @ y[1], "clone": lambda T, y: y.clone(), "double": lambda T, y: y.double(),
    "exp": lambda T, y: y.exp(),
    "add_": lambda T, y: y.add_(1), "mul_": lambda T, y: y.mul_(2), "fill_": lambda T, y: y.fill_(1),
    "zero_": lambda T, y: y.zero_(),
    "fill_ tensor": lambda T, y: y.fill_(T.tensor(1.0)), "copy_": lambda T, y: y.copy_(T.ones(3)),
    "gather": lambda T, y: y.gather(0, T.tensor([[0]])),
    "[...] =": lambda T, y: (y.__setitem__(..., 1.0), y)[1], "[0] =": lambda T, y: (y.__setitem__(0, 1.0), y)[1],
    "[index] =": lambda T, y: (y.__setitem__(T.tensor([0]), 1.0), y)[1],
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_names_in_the_graph(name: str) -> None:
    def graph(T: Any) -> Any:
        return graph_of(NAMED[name](T, T.ones(2, 3, requires_grad=True) * 2).grad_fn)

    assert graph(leafgrad) == graph(torch)


@scenario
def retain_grad(T: Any) -> Any:
    x = T.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = (y * y).sum()
    z.backward(retain_graph=True)
    z.backward()
    return [y.retains_grad, x.retains_grad, y.grad, x.grad, attempt(T.ones(2).retain_grad), attempt(x.retain_grad)]


@scenario
def grad_of_a_non_leaf(T: Any) -> Any:
    x = T.ones(2, requires_grad=True)
    y, z = x * 2, x * 3
    z.grad = T.ones(2)
    return [T.ones(2).grad, (T.ones(2) * 2).grad, z.grad, y.grad]  # the last one warns


@scenario
def assigned_gradients(T: Any) -> Any:
    x, seen = T.ones(2, requires_grad=True), []
    for g in (T.ones(3), T.ones(2, dtype=T.float64), [1, 2], 1.0, x, T.ones(2, 1), T.tensor([1, 2]), None, T.ones(2)):
        seen.append(attempt(setattr, x, "grad", g))
    del x.grad
    return [*seen, x.grad]


@scenario
def accumulation(T: Any) -> Any:
    x = T.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    g, before = x.grad, x.grad._version
    (x * 3).sum().backward()
    seen = [x.grad is g, g, g._version - before]
    given = x.grad = T.full((2,), 10.0)
    (x * 2).sum().backward()
    return [*seen, given, x.grad is given]


@scenario
def accumulation_under_create_graph(T: Any) -> Any:
    x = T.ones(2, requires_grad=True)
    quietly(lambda: (x**3).sum().backward(create_graph=True))
    g = x.grad
    seen = [g, g.is_leaf]
    (x**2).sum().backward()
    seen += [x.grad is g, g]
    quietly(lambda: (x**2).sum().backward(create_graph=True))
    return [*seen, x.grad is g, x.grad]


@scenario
def detach(T: Any) -> Any:
    x = T.ones(3, requires_grad=True)
    y = x * 2
    d = y.detach()
    d.zero_()
    seen = [d, d.is_leaf, y, y._version, d._version, d._base is None, d._is_view()]
    return [*seen, y.detach_() is y, y, y.is_leaf, attempt(x[:1].detach_), attempt(x.unbind()[0].detach_), x.detach_()]


@scenario
def data(T: Any) -> Any:
    x = T.ones(3, requires_grad=True)
    y = x * x
    d = x.data
    d.mul_(3)
    y.sum().backward()
    seen = [d, x, x._version, d._version, x.grad]
    x.data = T.zeros(5)
    return [*seen, x, x.data._version, attempt(setattr, x, "data", T.ones(2, dtype=T.int64))]


@scenario
def no_longer_required(T: Any) -> Any:
    x, y = T.ones(2, requires_grad=True), T.ones(2)
    loss, before = (x * 2).sum(), y * 2
    x.requires_grad_(False)
    loss.backward()
    (y.requires_grad_() * 3).sum().backward()
    return [x.grad, y.grad, before]


# -- backward and grad ------------------------------------------------------------------------------------------------


@scenario
def backward_arguments(T: Any) -> Any:
    x = T.ones(3, requires_grad=True)
    y = x * 2
    given: list[Any] = [None, T.ones(2), T.ones(3, 1), [1, 2, 3], 1.0, T.tensor([1.0, 2.0, 3.0]), T.tensor([1, 2, 3])]
    seen = [attempt(lambda g=g: y.backward(g, retain_graph=True)) for g in [*given, T.ones(3, dtype=T.float64)]]
    seen += [attempt(t.backward) for t in (T.ones(2), T.ones(()), x, x[0], T.ones(1, 1, requires_grad=True))]
    return [*seen, attempt(x.backward, T.ones(3)), x.grad]


@scenario
def backward_inputs(T: Any) -> Any:
    x, w, other = [T.ones(2, requires_grad=True) for _ in range(3)]
    y = x * w
    z = (y * y).sum()
    seen: list[Any] = []
    for inputs in ([x], w, [], [y], [other], [T.ones(2)], [x, x], [z], (x, w)):
        seen.append(attempt(lambda i=inputs: z.backward(inputs=i, retain_graph=True)))
        seen += [None if t.grad is None else t.grad.clone() for t in (x, w, other)]
    return [*seen, y.retains_grad, y.grad, z.grad]


@scenario
def several_roots(T: Any) -> Any:
    x = T.ones(2, requires_grad=True)
    y = x * 2
    backward, weights = T.autograd.backward, T.tensor([1.0, 2.0])
    calls = [
        lambda: backward([(y * y).sum(), y.sum()]), lambda: backward((x * 3, x * 3), (T.ones(2), weights)),
        lambda: backward([y, y], [T.ones(2)]), lambda: backward([], []), lambda: backward([y], [None]),
        lambda: backward(x.sum()), lambda: backward([x.sum(), T.ones(())]), lambda: backward(x.sum(), T.tensor(3.0)),
        lambda: backward([x.sum()], [T.tensor(3.0)], grad_variables=[T.tensor(1.0)]),
        lambda: backward([x.sum()], grad_variables=[T.tensor(1.0)]), lambda: backward([x, x.sum()], [T.ones(2), None]),
    ]  # fmt: skip
    return [(attempt(call), None if x.grad is None else x.grad.clone()) for call in calls]


@scenario
def grad(T: Any) -> Any:
    x, w, other = [T.tensor(v, requires_grad=True) for v in ([1.0, 2.0], [3.0, 4.0], [5.0, 6.0])]
    y = x * w
    z = y.sum()
    calls: list[Any] = [
        (z, x), (z, [x, w]), (z, [y]), (z, (x, x)), (z, z), (y, y, T.tensor([5.0, 6.0])), (z, other), (z, T.ones(2)),
        (y, x),
        (y, x, T.ones(2)), ([y, y * 2], [x, w], [T.ones(2), T.ones(2)]), (y, x, T.ones(3)), ([y, z], x, [T.ones(2)]),
        ([y, z], x, [T.ones(2), None]), (T.ones(()), x), (z, []), ([], [x]), (z, x, 1), ("a", x), (z, "a"),
        (x, x, T.ones(2)),
        (z, x * 3), (T.ones(2) * 2, x),
    ]  # fmt: skip
    options: list[Any] = [{"allow_unused": True}, {"materialize_grads": True}]
    options.append({"allow_unused": False, "materialize_grads": True})
    seen = [attempt(lambda c=c: T.autograd.grad(*c, retain_graph=True)) for c in calls]
    seen += [attempt(lambda o=o: T.autograd.grad(z, [x, other], retain_graph=True, **o)) for o in options]
    return [*seen, attempt(lambda: T.autograd.grad(z, x)), attempt(lambda: T.autograd.grad(z, x)), x.grad]


ONCE_OR_TWICE: list[Any] = [
    lambda T, x: x + 1, lambda T, x: x * 2, lambda T, x: x / 2, lambda T, x: 2 / x, lambda T, x: 1 - x,
    lambda T, x: x**2, lambda T, x: -x,
    lambda T, x: x.exp(), lambda T, x: x.log(), lambda T, x: x.sin(), lambda T, x: x.tanh(), lambda T, x: x.sqrt(),
    lambda T, x: x.abs(),
    lambda T, x: x.relu(), lambda T, x: x.sigmoid(), lambda T, x: x.clamp(0, 1), lambda T, x: x.sum(),
    lambda T, x: x.sum(0), lambda T, x: x.mean(),
    lambda T, x: x.max(), lambda T, x: x.amax(0), lambda T, x: x.prod(), lambda T, x: x.var(), lambda T, x: x.norm(),
    lambda T, x: x.cumsum(0),
    lambda T, x: x.softmax(0), lambda T, x: x.view(1, 2), lambda T, x: x.expand(3, 2), lambda T, x: x.t(),
    lambda T, x: x.clone(), lambda T, x: x[0],
    lambda T, x: x[T.tensor([0])], lambda T, x: x[x > 0], lambda T, x: T.cat([x, x]), lambda T, x: T.stack([x, x]),
    lambda T, x: x.unbind()[0],
    lambda T, x: x.chunk(2)[0], lambda T, x: T.where(x > 0, x, x), lambda T, x: x.masked_fill(x > 0, 1.0),
    lambda T, x: x.double(),
    lambda T, x: T.dot(x, x), lambda T, x: T.outer(x, x), lambda T, x: T.maximum(x, x), lambda T, x: x * T.ones(2),
    lambda T, x: x.detach() * x,
    lambda T, x: x.clone().fill_(1.0), lambda T, x: x.clone().zero_(), lambda T, x: x.clone().add_(1),
    lambda T, x: x.clone().mul_(2),
    lambda T, x: x.clone().copy_(x), lambda T, x: x.clone()[0].add_(1), lambda T, x: x.index_select(0, T.tensor([0])),
    lambda T, x: x.round(),
    lambda T, x: x.gather(0, T.tensor([0])), lambda T, x: x.flip(0), lambda T, x: x.repeat(2), lambda T, x: x.squeeze(),
    lambda T, x: x.pow(0),
]  # fmt: skip


@scenario
def backward_a_second_time(T: Any) -> Any:
    def twice(function: Any) -> str:
        y = function(T, T.ones(2, requires_grad=True))
        y.backward(T.ones_like(y))
        return attempt(y.backward, T.ones_like(y)) or "allowed"

    return [twice(function) for function in ONCE_OR_TWICE]


@scenario
def what_retains_a_graph(T: Any) -> Any:
    x, g = T.ones(2, requires_grad=True), T.autograd.grad
    a, b, c = [(x * x).sum() for _ in range(3)]
    a.backward(retain_graph=True)
    g(b, x, create_graph=True)
    g(c, x, create_graph=True, retain_graph=False)
    return [attempt(t.backward) for t in (a, a, b, b, c)]


@scenario
def high_orders(T: Any) -> Any:
    x, seen = T.tensor([0.5, 1.5], dtype=T.float64, requires_grad=True), []
    for f in (lambda x: x**5, lambda x: x.exp() * x.sin(), lambda x: 1 / x, lambda x: x.tanh(), lambda x: x.log()):
        y = f(x)
        for _ in range(4):
            (y,) = T.autograd.grad(y.sum(), x, create_graph=True)
            seen.append(y)
    return seen


@scenario
def constant_derivatives(T: Any) -> Any:
    x, v = T.tensor([1.0, 2.0], requires_grad=True), T.ones(2, requires_grad=True)
    (a,) = T.autograd.grad((x * 2).sum(), x, create_graph=True)
    (b,) = T.autograd.grad(x**2, x, v, create_graph=True)
    (c,) = T.autograd.grad((x**2).sum(), x)
    return [a, attempt(lambda: T.autograd.grad(a.sum(), x)), b, T.autograd.grad(b.sum(), [x, v]), c, c.grad_fn]


@scenario
def dtypes_of_gradients(T: Any) -> Any:
    x, y = T.ones(2, requires_grad=True), T.ones(2, dtype=T.float64, requires_grad=True)
    h, r = T.ones(2, dtype=T.float16, requires_grad=True), T.ones(2, requires_grad=True)
    z = T.tensor([1 + 2j], requires_grad=True)
    (x * y).sum().backward()
    (h.float() * 2).sum().backward()
    (r * T.tensor([1j, 2])).sum().abs().backward()
    z.abs().sum().backward()
    seen = [(str(t.grad.dtype), t.grad.clone()) for t in (x, y, h, r, z)]
    seen += [attempt((z * 1).sum().backward, g) for g in (None, T.tensor(1.0), T.tensor(1j))]
    return [*seen, z.grad]


@pytest.mark.parametrize("name", SCENARIOS)
def test_both_show_the_same(name: str) -> None:
    assert observe(SCENARIOS[name], leafgrad) == observe(SCENARIOS[name], torch)


def test_create_graph_warns() -> None:
    """PyTorch gives this warning once in a process, so what it says is compared and not when."""

    def warned(T: Any) -> str:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (T.ones(2, requires_grad=True) ** 2).sum().backward(create_graph=True)
        return " ".join([str(w.message).split("\n")[0] for w in caught])

    theirs, ours = warned(torch), warned(leafgrad)
    assert ours.startswith("Using backward() with create_graph=True will create a reference cycle")
    assert not theirs or theirs.startswith(ours)
