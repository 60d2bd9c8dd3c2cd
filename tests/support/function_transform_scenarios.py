"""Scenarios of autograd.Function: forward mode and function transforms. See scenarios.py."""

from __future__ import annotations

from typing import Any

from function_scenarios import double, doubling
from scenarios import attempt, collection, make

SCENARIOS, scenario = collection()


# -- forward mode -----------------------------------------------------------------------------------------------------

JVPS: dict[str, tuple[Any, Any]] = {
    "one": (double, lambda T, ctx, t: t * 2),
    "a tuple": (double, lambda T, ctx, t: (t * 2,)),
    "a list": (double, lambda T, ctx, t: [t * 2]),
    "too many": (double, lambda T, ctx, t: (t, t)),
    "too few": (lambda ctx, a: (a * 2, a * 3), lambda T, ctx, t: t),
    "a number": (double, lambda T, ctx, t: 3.0),
    "another shape": (double, lambda T, ctx, t: T.ones(3)),
    "another dtype": (double, lambda T, ctx, t: t.double()),
    "saved": (
        lambda ctx, a: (ctx.save_for_forward(a), a * a)[1], lambda T, ctx, t: 2 * t * ctx.saved_tensors[0],
    ),
    "saved for backward": (
        lambda ctx, a: (ctx.save_for_backward(a), a * 2)[1], lambda T, ctx, t: t * len(ctx.saved_tensors),
    ),
    "not differentiable": (
        lambda ctx, a: (lambda y: (ctx.mark_non_differentiable(y), (a * 2, y))[1])(a * 3), lambda T, ctx, t: (t, None),
    ),
    "a tangent of a constant": (
        lambda ctx, a: (lambda y: (ctx.mark_non_differentiable(y), (a * 2, y))[1])(a * 3), lambda T, ctx, t: (t, t),
    ),
    "not a tensor": (lambda ctx, a: (a * 2, "s"), lambda T, ctx, t: (t, None)),
    "a view": (lambda ctx, a: a.view(2, 1), lambda T, ctx, t: t.view(2, 1)),
    "no view of a view": (lambda ctx, a: a.view(2, 1), lambda T, ctx, t: t.view(2, 1) * 2),
    "a view of what is none": (lambda ctx, a: a.view(2, 1) * 1, lambda T, ctx, t: t.view(2, 1)),
    "as it is": (lambda ctx, a: a, lambda T, ctx, t: t),
    "as it is, as a view": (lambda ctx, a: a, lambda T, ctx, t: t.view_as(t)),
    "in place": (doubling, lambda T, ctx, t: t.mul_(2)),
    "not in place": (doubling, lambda T, ctx, t: t * 2),
}  # fmt: skip


@scenario
def tangents(T: Any) -> Any:
    forward_ad, seen = T.autograd.forward_ad, []

    def run(My: Any, *others: Any) -> Any:
        with forward_ad.dual_level():
            made = My.apply(forward_ad.make_dual(T.tensor([1.0, 2.0]), T.tensor([10.0, 20.0])), *others)
            results = made if isinstance(made, tuple) else (made,)
            return [tuple(forward_ad.unpack_dual(r)) if isinstance(r, T.Tensor) else r for r in results]

    for forward, jvp in JVPS.values():
        My = make(T, forward, lambda ctx, *gs: gs[0], jvp=lambda ctx, t, jvp=jvp: jvp(T, ctx, t))
        seen.append(attempt(run, My))
    seen.append(attempt(run, make(T, double, lambda ctx, g: g)))
    for materialize in (True, False):
        given: list[Any] = []
        My = make(
            T,
            lambda ctx, a, b, n, m=materialize: (ctx.set_materialize_grads(m), a * 2)[1],
            jvp=lambda ctx, *ts, given=given: (given.extend(ts), ts[0])[1],
        )
        seen += [run(My, T.ones(2), 3), given]
    in_two_parts = make(T, lambda a: a * 2, setup_context=lambda ctx, *_: None, jvp=lambda ctx, t: t * 2)
    return [*seen, run(in_two_parts)]


# -- function transforms ----------------------------------------------------------------------------------------------


@scenario
def transformed(T: Any) -> Any:
    func, seen = T.func, []
    calls: list[Any] = []

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])

    def backward(ctx: Any, g: Any) -> Any:
        calls.append("backward")
        return 3 * ctx.saved_tensors[0] ** 2 * g

    def own_vmap(info: Any, in_dims: Any, a: Any) -> Any:
        calls.append((tuple(info), in_dims, tuple(a.shape)))
        return a**3, in_dims[0]

    def cube(**more: Any) -> Any:
        return make(T, lambda a: a**3, backward, setup_context=setup, **more)

    in_one_part = make(T, lambda ctx, a: (ctx.save_for_backward(a), a**3)[1], backward)
    both = cube(vmap=own_vmap, generate_vmap_rule=True)
    x = T.arange(1.0, 7.0).view(3, 2)
    batch = T.stack([T.ones(3, 2), T.ones(3, 2) * 2])

    def with_autograd(My: Any) -> Any:
        leaf_ = x.clone().requires_grad_()
        func.vmap(My.apply)(leaf_).sum().backward()
        return leaf_.grad

    def with_batched_gradients(My: Any) -> Any:
        leaf_ = x.clone().requires_grad_()
        return T.autograd.grad(My.apply(leaf_), leaf_, batch, is_grads_batched=True)

    programs: list[Any] = [
        lambda My: func.vmap(My.apply)(x),
        lambda My: func.vmap(func.grad(lambda row: My.apply(row).sum()))(x),
        lambda My: func.grad(lambda a: func.vmap(My.apply)(a).sum())(x),
        lambda My: func.grad(lambda a: My.apply(a).sum())(x),
        lambda My: func.grad(lambda a: func.grad(lambda b: My.apply(b).sum())(a).sum())(x),
        lambda My: func.jacrev(My.apply)(x[0]),
        lambda My: func.vmap(func.vmap(My.apply))(x),
        lambda My: func.vjp(My.apply, x)[1](T.ones(3, 2)),
        with_autograd,
        with_batched_gradients,
    ]
    for My in (cube(vmap=own_vmap), cube(generate_vmap_rule=True), cube(), in_one_part, both):
        for program in programs:
            calls.clear()
            seen += [attempt(program, My), list(calls)]
    return seen


@scenario
def what_vmap_may_return(T: Any) -> Any:
    x, seen = T.arange(1.0, 7.0).view(3, 2), []

    def mapped(vmap: Any, *args: Any, **options: Any) -> Any:
        forward = make(T, lambda *args: args[0] * 2, setup_context=lambda *args: None, vmap=vmap)
        return T.func.vmap(forward.apply, **options)(*args)

    returns: list[Any] = [
        lambda info, dims, a: (a * 3, 0), lambda info, dims, a: (a.t() * 3, 1), lambda info, dims, a: ((a, a * 2), 0),
        lambda info, dims, a: ((a, a.t()), (0, 1)),
    ]  # fmt: skip
    wrong: list[Any] = [
        lambda info, dims, a: a, lambda info, dims, a: (a, 1, 2), lambda info, dims, a: (a, (0, 0)),
    ]  # fmt: skip
    seen += [attempt(mapped, vmap, x) for vmap in returns] + [attempt(mapped, vmap, x)[:100] for vmap in wrong]

    def of_a_tree(info: Any, dims: Any, tree: Any, factor: Any) -> Any:
        seen.append((dims, tuple(tree["a"].shape)))
        return tree["a"] * factor, 0

    return [*seen, mapped(of_a_tree, {"a": x}, 2, in_dims=({"a": 0}, None))]


@scenario
def arguments_that_forward_returns_and_setup_context_saves(T: Any) -> Any:
    seen = []
    for save in ("save_for_backward", "save_for_forward"):
        for saved in (lambda i, o: i[0], lambda i, o: o):
            for dirty in (False, True):

                def setup_context(
                    ctx: Any, i: Any, o: Any, save: str = save, saved: Any = saved, d: bool = dirty
                ) -> None:
                    if d:
                        ctx.mark_dirty(i[0])
                    getattr(ctx, save)(saved(i, o))

                f = make(T, lambda x: x, lambda ctx, g: g, setup_context=setup_context)
                for need in (False, True):
                    x = T.tensor(2.0, requires_grad=need)
                    seen.append(attempt(lambda f=f, x=x: f.apply(x.clone()).requires_grad))
                gradient = T.func.grad(lambda x, f=f: f.apply(x.clone()))
                seen.append(attempt(gradient, T.tensor(2.0)))
    return seen


@scenario
def jacobians_of_functions_that_are_refused_or_unusual(T: Any) -> Any:
    func, x, c = T.func, T.ones(2), T.ones(1, dtype=T.complex64)
    calls: list[Any] = []
    for jacobian in (func.jacrev, func.jacfwd):
        calls += [lambda j=jacobian: j(lambda x: x.conj())(c), lambda j=jacobian: j(lambda x, y: x * 2)(x, c)]
        calls += [lambda j=jacobian: j(lambda x: (x, x * 1j))(x), lambda j=jacobian: j(lambda x: None)(x)]
        calls += [lambda j=jacobian: j(lambda x: ())(x), lambda j=jacobian: j(lambda x: 1)(x)]
        calls += [lambda j=jacobian: j(lambda x, y: y.copy_(x) * 2)(x, T.zeros(2))]
    for output in (None, (), [], {}, 1):
        calls += [lambda o=output: func.vjp(lambda x: o, x)[0], lambda o=output: func.jvp(lambda x: o, (x,), (x,))]

    def backward(ctx: Any, g: Any) -> Any:
        return g * 2 if g.nonzero().numel() else g

    one = make(T, lambda x: x.clone(), backward, setup_context=lambda ctx, i, o: None)
    calls += [lambda n=n: func.jacrev(lambda x: one.apply(x), chunk_size=n)(x + T.zeros(1)) for n in (1, 2)]
    return [attempt(call) for call in calls]


@scenario
def tangents_where_forward_mode_is_off(T: Any) -> Any:
    ad, jvp, x, t = T.autograd.forward_ad, T.func.jvp, T.tensor(2.0), T.ones(())

    def partly(x: Any) -> Any:
        with ad._set_fwd_grad_enabled(False):
            constant = x**2
        return x**3 - constant

    with ad._set_fwd_grad_enabled(False):
        outside = jvp(T.sin, (x,), (t,))
    return [*outside, *jvp(partly, (x,), (t,)), *jvp(lambda x: jvp(partly, (x,), (t,))[1], (x,), (t,))]


@scenario
def what_transformed_functions_must_not_do(T: Any) -> Any:
    func, graph = T.func, T.autograd.graph

    def hooked(x: Any) -> Any:
        with graph.save_on_cpu():
            return x.sin().sum()

    def retained(x: Any) -> Any:
        y = x.sin()
        y.retain_grad()
        return y.sum()

    transforms = [func.vmap, func.grad, func.jacrev, func.jacfwd, func.hessian]
    transforms += [lambda f: lambda x: func.vjp(f, x)[0], lambda f: lambda x: func.jvp(f, (x,), (x,))]
    seen = [attempt(transform(f), T.ones(3)) for transform in transforms for f in (hooked, retained)]
    with graph.save_on_cpu():
        seen += [attempt(transform(lambda x: x.sin().sum()), T.ones(3)) for transform in transforms]
    one = T.ones(())
    numbers = [(0, -2), (0, 0), -3, (), 0.5, (0.5,)]
    return seen + [attempt(func.grad(T.mul, argnums=n), one, one) for n in numbers]


@scenario
def what_a_function_is_told_and_called_in_transforms(T: Any) -> Any:
    """Where the samples lie, and the class of its node."""
    func = T.func
    seen: list[Any] = []

    def many(info: Any, in_dims: Any, x: Any, y: Any) -> Any:
        seen.append([info.batch_size, list(in_dims), list(x.shape)])
        return x + y, in_dims[0]

    Sum = make(
        T, lambda x, y: x + y, lambda ctx, g: (g, g), "Sum", setup_context=lambda ctx, inputs, output: None, vmap=many
    )
    results = [
        func.vmap(Sum.apply, in_dims=dims)(T.ones(3, 4), T.ones(())) for dims in ((1, None), (-1, None), (0, None))
    ]
    results.append(func.vmap(lambda x: Sum.apply(x * 2, T.ones(())), in_dims=1)(T.ones(3, 4)))

    def named(x: Any) -> Any:
        y = Sum.apply(x, x)
        seen.append(type(y.grad_fn).__name__)
        return y

    func.grad(named)(T.ones(()))
    named(T.ones((), requires_grad=True))
    return [*seen, *[list(r.shape) for r in results]]
