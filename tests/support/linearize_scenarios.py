"""Scenarios of func.linearize: it is jvp, of which the function is run once. See scenarios.py."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from scenarios import attempt, collection

SCENARIOS, scenario = collection()


def functions(T: Any) -> dict[str, Callable[[Any], Any]]:
    def factor_without_gradient(x: Any) -> Any:
        with T.no_grad():
            c = x**2
        return c * x * x

    def all_without_gradient(x: Any) -> Any:
        with T.no_grad():
            return (x**3).sum()

    def gradient_again_inside(x: Any) -> Any:
        with T.no_grad():
            c = T.sin(x)
            with T.enable_grad():
                d = c * x
        return d + c

    def changed_without_gradient(x: Any) -> Any:
        c = x.clone()
        with T.no_grad():
            c.mul_(x)
            c[0] = x[1] * 2
        return c * 2

    def view_without_gradient(x: Any) -> Any:
        with T.no_grad():
            first = x.view(-1)[0]
        return first * x

    def gradient_without_gradient(x: Any) -> Any:
        with T.no_grad():
            g = T.func.grad(lambda y: (y**3).sum())(x)
        return g * x

    return {
        "a factor": factor_without_gradient,
        "everything": all_without_gradient,
        "enable_grad inside": gradient_again_inside,
        "in place": changed_without_gradient,
        "a view": view_without_gradient,
        "detach": lambda x: x.detach() ** 2 * x,
        "data": lambda x: x.data * x,
        "grad": T.func.grad(lambda y: (y**3).sum()),
        "grad inside": gradient_without_gradient,
        "max": lambda x: x.max(0).values * x,
        "integers": lambda x: (x * 2, (x > 2).long()),
    }


def quietly(f: Callable[[], Any]) -> Any:
    """PyTorch warns of how it keeps constants."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f()


@scenario
def functions_with_parts_without_gradient(T: Any) -> Any:
    x, t = T.tensor([2.0, 3.0]), T.tensor([1.0, -2.0])

    def products(f: Callable[[Any], Any]) -> Any:
        output, jvp = quietly(lambda: T.func.linearize(f, x))
        return output, jvp(t), jvp(2 * t), T.vmap(jvp)(T.stack([t, 3 * t])), T.func.jvp(f, (x,), (t,))[1]

    return [(name, attempt(products, f)) for name, f in functions(T).items()]


@scenario
def several_arguments_and_results(T: Any) -> Any:
    def f(x: Any, y: Any) -> Any:
        with T.no_grad():
            c = x * y
        return {"a": c * x, "b": (y * 2, c)}

    output, jvp = quietly(lambda: T.func.linearize(f, T.tensor(2.0), T.tensor(3.0)))
    found = jvp(T.tensor(1.0), T.tensor(2.0))
    return output["a"], output["b"], found["a"], found["b"]


@scenario
def who_requires_grad(T: Any) -> Any:
    x, t = T.tensor(2.0, requires_grad=True), T.tensor(1.0, requires_grad=True)
    output, jvp = quietly(lambda: T.func.linearize(lambda x: x**3, x))
    result = jvp(t)
    gradient = T.autograd.grad(result, t)
    with T.no_grad():
        constant = quietly(lambda: T.func.linearize(lambda x: x**3, x))[1](t)
    return output, result, gradient, constant
