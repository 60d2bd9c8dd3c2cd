"""Hooks, modes, copies and subclasses, compared with the installed PyTorch."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch

import leafgrad
from scenarios import attempt, collection, observe

SCENARIOS, scenario = collection()


# -- hooks ------------------------------------------------------------------------------------------------------------


@scenario
def hooks(T: Any) -> Any:
    x = T.ones(2, requires_grad=True)
    a = x * 2
    b, c = a * 3, a * 4
    d = b + c
    seen: list[Any] = []
    for name, t in (("a", a), ("b", b), ("c", c), ("d", d), ("x", x)):
        t.register_hook(lambda g, name=name: seen.append((name, g.clone())))
    handle = a.register_hook(lambda g: g * 10)
    d.sum().backward(retain_graph=True)
    handle.remove()
    d.sum().backward()
    x.register_hook(lambda g: g * 10)
    return [*seen, x.grad, T.autograd.grad((x * 2).sum(), x), attempt(T.ones(2).register_hook, print)]


@scenario
def hooks_that_fail(T: Any) -> Any:
    def fails(g: Any) -> None:
        raise KeyError("mine")

    seen = []
    for hook in (lambda g: g[:1], lambda g: 1, lambda g: g.double(), lambda g: g.reshape(2, 1), lambda g: "a", fails):
        for on_leaf in (False, True):
            x = T.ones(2, requires_grad=True)
            y = x * 2
            (x if on_leaf else y).register_hook(hook)
            seen.append((attempt(y.sum().backward), T.is_grad_enabled()))
    return seen


@scenario
def hooks_after_accumulation(T: Any) -> Any:
    x, seen = T.ones(2, requires_grad=True), []
    handle = x.register_post_accumulate_grad_hook(lambda p: seen.append((p is x, p.grad.clone())))
    (x * 2).sum().backward()
    T.autograd.grad((x * 2).sum(), x)
    (x * 2).sum().backward(inputs=[x])
    handle.remove()
    (x * 2).sum().backward()
    y = T.ones(2, requires_grad=True)
    y.register_post_accumulate_grad_hook(lambda p: 1)
    refused = [attempt(t.register_post_accumulate_grad_hook, print) for t in (x * 2, T.ones(2))]
    return [*seen, x.grad, *refused, attempt((y * 2).sum().backward)]


@scenario
def hooks_and_modes(T: Any) -> Any:
    x, w, seen = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True), []
    y = x * 2

    def inner(g: Any) -> None:
        seen.append((T.is_grad_enabled(), g.requires_grad))
        with T.enable_grad():
            (w * 3).sum().backward()
            (x * 5).sum().backward()

    y.register_hook(inner)
    (y * y).sum().backward(retain_graph=True)
    T.autograd.grad((y * y).sum(), x, create_graph=True)
    return [*seen, x.grad, w.grad, T.is_grad_enabled()]


@scenario
def hooks_and_changes(T: Any) -> Any:
    x, seen = T.ones(2, requires_grad=True), []
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: seen.append(("before", g.clone())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.clone())))
    y[0].mul_(5)
    (y * 7).sum().backward()
    return [*seen, y.grad, x.grad]


# -- copies, other libraries, modes -----------------------------------------------------------------------------------


@scenario
def copies(T: Any) -> Any:
    x, p = T.ones(2, requires_grad=True), T.nn.Parameter(T.ones(2))
    (x * 2).sum().backward()
    once, deep, q = pickle.loads(pickle.dumps(x)), copy.deepcopy(x), pickle.loads(pickle.dumps(p))
    return [once, once.is_leaf, once.grad, deep, deep.grad, attempt(copy.deepcopy, x * 2), type(q).__name__, q]


@scenario
def subclasses(T: Any) -> Any:
    class Mine(T.Tensor):  # type: ignore[misc, name-defined]
        note = "mine"

    class Other(T.nn.Parameter):  # type: ignore[misc, name-defined]
        pass

    a: Any = T.ones(2).as_subclass(Mine)
    q: Any = Other(T.ones(2))
    (q * 2).sum().backward()
    seen = [isinstance(a, T.Tensor), a.note, isinstance(q, T.nn.Parameter), q.grad, q.is_leaf]
    return [*seen, *[type(t).__name__ for t in (q.detach(), q.data, q.grad)], repr(T.nn.Parameter(T.ones(1)))]


@scenario
def to_numpy(T: Any) -> Any:
    x = T.ones(2, requires_grad=True)
    reads = [lambda: x.numpy().tolist(), lambda: (x * 2).numpy().tolist(), lambda: x[0].numpy().tolist()]
    reads.append(lambda: np.asarray(x).tolist())
    seen = [attempt(read) for read in reads]
    with T.no_grad():
        seen += [attempt(read) for read in reads]
    return [*seen, x.detach().numpy().tolist(), x.tolist(), x.sum().item()]


@scenario
def modes(T: Any) -> Any:
    x, seen = T.ones(2, requires_grad=True), []

    def look() -> None:
        seen.append((T.is_grad_enabled(), T.is_inference_mode_enabled(), (x * 2).requires_grad))

    managers = [T.no_grad, T.enable_grad, lambda: T.set_grad_enabled(False), T.inference_mode]
    managers.append(lambda: T.inference_mode(False))
    for outer in managers:
        for inner in managers:
            if (outer, inner) == (T.inference_mode, T.enable_grad):
                continue  # PyTorch says that it records, and does not
            with outer():
                look()
                with inner():
                    look()
                look()
            T.no_grad()(look)()
            outer()(inner()(look))()
            T.set_grad_enabled(True)
    return [*seen, attempt(lambda: T.set_grad_enabled("a"))]


@scenario
def backward_under_no_grad(T: Any) -> Any:
    x = T.ones(2, requires_grad=True)
    y = (x * x).sum()
    with T.no_grad():
        y.backward(retain_graph=True)
        g = T.autograd.grad(y, x, create_graph=True)
        return [x.grad, g, attempt(lambda: (x * 2).sum().backward()), T.is_grad_enabled()]


@pytest.mark.parametrize("name", SCENARIOS)
def test_both_show_the_same(name: str) -> None:
    assert observe(SCENARIOS[name], leafgrad) == observe(SCENARIOS[name], torch)
