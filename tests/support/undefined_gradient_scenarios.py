"""Scenarios of gradients that do not exist: who is told that there is none, and in which order. See scenarios.py."""

# ruff: noqa: B023  (functions made in a loop are called in that round)

from __future__ import annotations

from typing import Any

from scenarios import attempt, collection, leaf, make

SCENARIOS, scenario = collection()


@scenario
def hooks_behind_a_function_that_returns_none(T: Any) -> Any:
    seen = []

    F = make(T, lambda ctx, x: x * 1, lambda ctx, g: None)

    x = leaf(T, [1.0, 2.0, 3.0])
    y = x * 1
    y.register_hook(lambda g: seen.append(("y", g)))
    y.grad_fn.register_prehook(lambda g: seen.append(("ypre", g)))
    y.grad_fn.register_hook(lambda gi, go: seen.append(("ypost", gi, go)))
    x.register_hook(lambda g: seen.append(("x", g)))
    r = attempt(lambda: F.apply(y).sum().backward())
    return r, seen, x.grad


@scenario
def hooks_of_a_part_that_was_not_used(T: Any) -> Any:
    seen = []
    x = leaf(T, [1.0, 2.0, 3.0, 4.0])
    a, b = x.split(2)
    a.register_hook(lambda g: seen.append(("a", g)))
    b.register_hook(lambda g: seen.append(("b", g)))
    a.sum().backward()
    return seen, x.grad


@scenario
def hooks_of_results_of_a_function(T: Any) -> Any:
    seen = []

    class F(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1, x * 2

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            seen.append(("bw", g, h))
            return g

    x = leaf(T, [1.0, 2.0])
    a, b = F.apply(x)
    a.register_hook(lambda g: seen.append(("a", g)))
    b.register_hook(lambda g: seen.append(("b", g)))
    b.retain_grad()
    a.sum().backward()
    return seen, x.grad, b.grad


@scenario
def hooks_with_inputs(T: Any) -> Any:
    seen = []
    x = leaf(T, 1.0)
    y = leaf(T, 2.0)
    z = x * y
    x.register_hook(lambda g: seen.append("x"))
    y.register_hook(lambda g: seen.append("y"))
    y.register_post_accumulate_grad_hook(lambda t: seen.append("py"))
    z.register_hook(lambda g: seen.append("z"))
    u = z * x
    u.backward(inputs=[y])
    seen.append(x.grad)
    seen.append(y.grad)
    u2 = (x * y) * x
    u2.backward(inputs=[x])
    return seen


@scenario
def hooks_of_leaves_with_inputs_run_in_time(T: Any) -> Any:
    seen = []
    x = leaf(T, 1.0)
    y = leaf(T, 2.0)
    a = x * 2
    a.grad_fn.register_hook(lambda *g: seen.append("a"))
    b = y * 3
    b.grad_fn.register_hook(lambda *g: seen.append("b"))
    c = a * b
    x.register_hook(lambda g: seen.append("x"))
    y.register_hook(lambda g: seen.append("y"))
    x.register_post_accumulate_grad_hook(lambda g: seen.append("px"))
    y.register_post_accumulate_grad_hook(lambda g: seen.append("py"))
    c.backward(inputs=[x, y], retain_graph=True)
    c.backward(retain_graph=True)
    T.autograd.grad(c, [x, y])
    return seen


@scenario
def functions_behind_functions_that_return_none(T: Any) -> Any:
    out = []
    for m in (True, False):
        seen = []

        class A(T.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                ctx.set_materialize_grads(m)
                return x * 1

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                seen.append(("A", g))
                return g

        class B(T.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 1

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                seen.append(("B", g))
                return None

        for mid in (
            lambda t: t,
            lambda t: t * 2,
            lambda t: t + 1,
            lambda t: t.exp(),
            lambda t: t.split(1)[0],
            lambda t: T.cat([t, t]),
            lambda t: t.sum(),
            lambda t: t.view(-1),
        ):
            x = leaf(T, [1.0, 2.0])
            r = attempt(lambda: B.apply(mid(A.apply(x))).sum().backward())
            out.append((m, r, list(seen), x.grad))
            seen.clear()
    return out
