"""Scenarios of autograd.Function: results that are arguments or views, arguments that are changed. See scenarios.py."""

# ruff: noqa: B023  (functions made in a loop are called in that round)

from __future__ import annotations

from typing import Any

from function_scenarios import double, doubling, facts, leaf
from scenarios import attempt, collection, make

SCENARIOS, scenario = collection()


# -- arguments as results, views --------------------------------------------------------------------------------------


@scenario
def arguments_returned_as_they_are(T: Any) -> Any:
    x = leaf(T)
    w = x * 1
    one = make(T, lambda ctx, a, b: a, lambda ctx, g: (g * 2, None)).apply(w, x)
    first, second = make(T, lambda ctx, a, b: (a, b), lambda ctx, g, h: (g * 2, h * 3)).apply(w, x)
    p, q = make(T, lambda ctx, a: (a, a), lambda ctx, g, h: g * 2 + h * 3).apply(w)
    seen = [(t is w, t is x, facts(t, w), t.data_ptr() == w.data_ptr()) for t in (one, first, second, p, q)]
    seen.append(T.autograd.grad((one + first + second + p + 5 * q).sum(), x, retain_graph=True))
    z = T.ones(2)
    _, constant = make(T, lambda ctx, a, b: (a * 2, b), lambda ctx, g, h: (g, None)).apply(x, z)
    integers = T.tensor([1, 2])
    _, same = make(T, lambda ctx, a, b: (a * 2, b), lambda ctx, g, h: (g, None)).apply(x, integers)
    marked = make(T, lambda ctx, a: (ctx.mark_non_differentiable(a), a)[1], lambda ctx, g: g).apply(w)
    seen += [facts(constant), constant is z, z.requires_grad, facts(same), same is integers, facts(marked), marked is w]
    passing = make(T, lambda ctx, a: a, lambda ctx, g: g)
    with T.no_grad():
        seen.append(facts(passing.apply(x)))
    seen += [facts(passing.apply(z)), attempt(one.mul_, 2), attempt(lambda: one[0].mul_(2))]
    w.mul_(2)
    return [*seen, facts(w), attempt(lambda: one.grad_fn), attempt(lambda: one + 1)]


@scenario
def one_result_twice(T: Any) -> Any:
    x, seen = leaf(T), []

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        seen.append((g, h))
        return g * 2 + h * 3

    p, q = make(T, lambda ctx, a: (lambda t: (t, t))(a * 2), backward).apply(x)
    return [p is q, facts(p), T.autograd.grad((p + q * 5).sum(), x), seen]


VIEWS: dict[str, Any] = {
    "view": lambda ctx, a: a.view(2, 1),
    "slice": lambda ctx, a: a[:1],
    "of a copy": lambda ctx, a: (a * 2)[:1],
    "two": lambda ctx, a: (a[:1], a[1:]),
    "two of a copy": lambda ctx, a: (lambda t: (t, t[1:]))(a * 2),
    "unbound": lambda ctx, a: tuple(a.unbind()),
}


@scenario
def views_as_results(T: Any) -> Any:
    seen = []
    for view in VIEWS.values():
        for change in range(5):
            x = leaf(T)
            w = x * 1
            My = make(T, view, lambda ctx, *gs: sum(g.sum() for g in gs) * T.tensor([2.0, 3.0]))
            made = My.apply(w)
            parts = made if isinstance(made, tuple) else (made,)
            seen.append([facts(part, w) for part in parts])
            seen.append(T.autograd.grad(parts[-1].sum(), x, retain_graph=True))
            changes: list[Any] = [
                lambda parts=parts: parts[-1].mul_(2), lambda w=w: w.mul_(2), lambda w=w: T.no_grad()(w.mul_)(2),
                lambda parts=parts: parts[0].view(-1)[0].mul_(2), lambda parts=parts: parts[0].detach().mul_(2),
            ]  # fmt: skip
            seen.append(attempt(changes[change]))
            seen.append([attempt(lambda part=part: facts(part)) for part in parts])
            seen.append(attempt(lambda parts=parts, x=x: T.autograd.grad(parts[-1].sum(), x)))
    return seen


@scenario
def views_of_other_things(T: Any) -> Any:
    x, z = leaf(T), T.ones(2)
    w = x * 1
    inner = w.view(1, 2)[0]
    of_view = make(T, lambda ctx, a: a.view(2, 1), lambda ctx, g: g.view(2)).apply(inner)
    seen = [facts(of_view, w, inner), attempt(of_view.mul_, 2), facts(w.mul_(3)), attempt(lambda: facts(of_view))]
    of_leaf = make(T, lambda ctx, a: a[:1], lambda ctx, g: T.cat([g, g])).apply(x)
    seen += [facts(inner), facts(of_leaf, x), attempt(of_leaf.mul_, 2)]
    of_constant = make(T, lambda ctx, a, b: b.view(2, 1), lambda ctx, g: (None, g.view(2))).apply(x, z)
    seen += [facts(of_constant, z), attempt(of_constant.mul_, 2)]
    unrecorded = make(T, lambda ctx, b: b.view(2, 1)).apply(z)
    seen += [facts(unrecorded, z), attempt(unrecorded.mul_, 2), attempt(unrecorded.mul_, x.view(2, 1))]
    outside, viewed = T.ones(2), T.ones(2)
    part = viewed[:1]
    for t, g in ((outside, lambda ctx, g: g), (part, lambda ctx, g: g.expand(2))):
        made = make(T, lambda ctx, a, t=t: t, g).apply(x)
        seen += [made is t, facts(made, viewed)]
    recorded = make(T, lambda ctx, a: T.enable_grad()(lambda: a * 2)(), lambda ctx, g: g * 3).apply(x)
    return [*seen, facts(viewed), facts(recorded), T.autograd.grad(recorded.sum(), x)]


# -- changing arguments in place --------------------------------------------------------------------------------------


@scenario
def changed_arguments(T: Any) -> Any:
    My = make(T, doubling, lambda ctx, g: g * 3)
    x, constant = leaf(T), T.ones(2)
    w = x * 1
    made = My.apply(w)
    seen = [made is w, facts(made), T.autograd.grad(made.sum(), x), My.apply(constant) is constant, facts(constant)]
    w = x * 1
    part, other = w[:1], w.view(2, 1)
    made = My.apply(part)
    seen += [made is part, facts(made, w), facts(w), facts(other, w)]
    seen += [T.autograd.grad((t * 5).sum(), x, retain_graph=True) for t in (w, part, other)]
    w = x * 1
    y = w * w
    My.apply(My.apply(w))
    seen += [facts(w), T.autograd.grad(w.sum(), x, retain_graph=True), attempt(y.sum().backward)]
    with T.no_grad():
        seen += [facts(My.apply(x * 1)), facts(My.apply(x))]
    w = x * 1
    w.retain_grad()
    My.apply(w).sum().backward()
    return [*seen, w.grad, x.grad]


@scenario
def arguments_that_must_not_be_changed(T: Any) -> Any:
    My = make(T, doubling, lambda ctx, g: g * 3)
    x = leaf(T)
    w = x * 1
    with T.no_grad():
        silent = w[:1]
    own_view = make(T, lambda ctx, a: a.view(2, 1), lambda ctx, g: g.view(2)).apply(w)
    seen = [attempt(lambda t=t: My.apply(t)) for t in (x, x[:1], w.unbind()[0], silent, own_view)]
    two = make(T, lambda ctx, a, b: (doubling(ctx, a), b * 2), lambda ctx, g, h: (g * 3, h))
    w = x * 1
    seen += [[facts(t) for t in two.apply(w, x)], attempt(lambda: two.apply(w[:], x))]
    not_returned = make(T, lambda ctx, a: doubling(ctx, a) * 2, lambda ctx, g: g)
    seen += [attempt(lambda: not_returned.apply(w)), attempt(lambda: not_returned.apply(T.ones(1))), facts(w)]
    not_given = make(T, lambda ctx, a: doubling(ctx, a * 2), lambda ctx, g: g)
    for mark in ("mark_dirty", "mark_non_differentiable"):
        wrong = make(T, lambda ctx, a, mark=mark: (getattr(ctx, mark)(3), a * 2)[1])
        seen.append(attempt(lambda wrong=wrong: wrong.apply(x))[:50])
    return [*seen, facts(not_given.apply(x))]


@scenario
def other_changes(T: Any) -> Any:
    x, base, integers = leaf(T), T.ones(2), T.tensor([1, 2])

    def scale(ctx: Any, a: Any, b: Any) -> Any:
        ctx.mark_dirty(a)
        return a.mul_(b)

    My = make(T, scale, lambda ctx, g: (None, g * 3))
    part = base[:1]
    seen = [My.apply(part, x[:1]) is part, facts(part, base), facts(base), T.autograd.grad(base.sum(), x)]
    unmarked = make(T, lambda ctx, a: a.mul_(2), lambda ctx, g: g * 3)
    w = x * 1
    made = unmarked.apply(w)
    seen += [made is w, facts(made, w), facts(w), T.autograd.grad(made.sum(), x)]
    w = x * 1
    constant = make(T, lambda ctx, a: (doubling(ctx, a), ctx.mark_non_differentiable(a))[0], lambda ctx, g: g).apply(w)
    seen += [constant is w, facts(constant)]
    y, same = make(T, lambda ctx, a, i: (a * 2, doubling(ctx, i)), lambda ctx, g, h: (g, None)).apply(x, integers)
    seen += [same is integers, facts(same), attempt(y.sum().backward)]

    def exp(ctx: Any, a: Any) -> Any:
        ctx.mark_dirty(a)
        ctx.save_for_backward(a)
        return a.exp_()

    w = x * 1
    saved = make(T, exp, lambda ctx, g: g * ctx.saved_tensors[0]).apply(w)
    twice = make(T, lambda ctx, a: (doubling(ctx, a), a), lambda ctx, g, h: g + h).apply(x * 1)
    return [*seen, facts(saved), T.autograd.grad(saved.sum(), x), [facts(t) for t in twice], twice[0] is twice[1]]


@scenario
def results_without_gradient(T: Any) -> Any:
    x, seen = leaf(T), []

    def forward(ctx: Any, x: Any) -> Any:
        floor = x.floor()
        ctx.mark_non_differentiable(floor, x)
        return x * 2, floor, x[:1]

    My = make(T, forward, lambda ctx, *gs: (seen.append(gs), gs[0])[1])
    y, floor, part = My.apply(x)
    y.sum().backward()
    return [*seen, facts(floor), facts(part), x.grad]


# -- subclasses -------------------------------------------------------------------------------------------------------


@scenario
def inheritance_and_class_methods(T: Any) -> Any:
    class First(T.autograd.Function):  # type: ignore[misc]
        factor = 3

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def helper() -> int:
            return 4

        @classmethod
        def backward(cls, ctx: Any, g: Any) -> Any:
            return g * cls.factor

    class Second(First):
        factor = 5

    class Third(First):
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.helper()

    x, p = leaf(T), T.nn.Parameter(T.ones(2))
    seen = [(F.apply(x).grad_fn.name(), T.autograd.grad(F.apply(x).sum(), x)) for F in (First, Second)]
    kinds = [type(F.apply(p)).__name__ for F in (First, make(T, lambda ctx, a: a, lambda ctx, g: g))]
    in_place = type("Own", (T.autograd.function.InplaceFunction,), {"forward": staticmethod(double)})
    return [*seen, attempt(lambda: Third.apply(x).sum().backward()), kinds, in_place.apply(x)]


@scenario
def functions_that_only_view(T: Any) -> Any:
    def pure(ctx: Any, a: Any, kind: str) -> Any:
        ctx._is_pure_view = True
        return {"part": a.narrow(0, 0, 1), "all": a, "of a copy": a.clone().narrow(0, 0, 1), "copy": a.clone()}[kind]

    calls: list[int] = []

    def backward(ctx: Any, g: Any) -> Any:
        calls.append(1)
        return (g if g.shape == (2,) else T.cat([g, T.zeros(1)])), None

    view = make(T, pure, backward)
    seen: list[Any] = []
    for kind in ("part", "all", "of a copy", "copy"):
        for through in ("view", "base"):
            x = leaf(T)
            w = x * 1
            y = view.apply(w, kind)
            seen += [kind, y._is_view(), y._base is w, attempt((y if through == "view" else w).mul_, 3)]
            seen += [attempt(lambda: y.grad_fn.name()), attempt(lambda: w.grad_fn.name())]
            calls.clear()
            seen += [attempt(lambda: T.autograd.grad(w.sum() + 2 * y.sum(), x)), len(calls)]
    both = make(T, lambda ctx, a, b: (setattr(ctx, "_is_pure_view", True), a.narrow(0, 0, 1))[1], backward)
    first, second = make(T, lambda ctx, a: (a.narrow(0, 0, 1), a * 2), lambda ctx, g, h: h).apply(leaf(T) * 1)
    return [*seen, attempt(both.apply, leaf(T), T.ones(2)), attempt(both.apply, T.ones(2), T.ones(2)),
            attempt(first.mul_, 2), attempt(second.mul_, 2)]  # fmt: skip


@scenario
def arguments_of_a_subclass_returned_as_they_are(T: Any) -> Any:
    class Wrapped(T.Tensor):  # type: ignore[misc]
        def __init__(self, data: Any) -> None:
            super().__init__()
            self.inner = data

        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            out = func(*[a.inner if isinstance(a, cls) else a for a in args], **(kwargs or {}))
            return cls(out) if isinstance(out, T.Tensor) else out

    passing = make(T, lambda ctx, a: a, lambda ctx, g: g)
    given = Wrapped(T.ones(2))
    return type(passing.apply(given)).__name__, passing.apply(given) is given


@scenario
def marks_of_what_is_no_argument(T: Any) -> Any:
    def marking(as_view: bool) -> Any:
        def forward(ctx: Any, a: Any) -> Any:
            made = a.clone().view_as(a) if as_view else a.clone()
            ctx.mark_dirty(made)
            return made

        return make(T, forward, lambda ctx, g: g)

    return [attempt(marking(as_view).apply, t) for as_view in (False, True) for t in (T.ones(2), leaf(T) * 1)]


@scenario
def gradients_in_a_box(T: Any) -> Any:
    import weakref

    seen = []

    def backward(ctx: Any, gradients: Any) -> Any:
        seen.append(type(gradients).__name__)
        kept = gradients[0] * 2
        reference = weakref.ref(gradients[0])
        gradients.clear()
        seen.append(reference() is None)
        return kept

    boxed = make(T, lambda ctx, a: a * 2, backward)
    boxed.boxed_grads_call = True
    x = leaf(T)
    boxed.apply(x).sum().backward()
    return seen, x.grad
