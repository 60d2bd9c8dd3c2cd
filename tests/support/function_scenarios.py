"""Scenarios of autograd.Function: calling it, gradients, the context, what is saved. See scenarios.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scenarios import attempt, collection, graph_of, make, plain

SCENARIOS, scenario = collection()


def double(ctx: Any, x: Any, *others: Any) -> Any:
    return x * 2


def doubling(ctx: Any, a: Any) -> Any:
    ctx.mark_dirty(a)
    return a.mul_(2)


def leaf(T: Any) -> Any:
    return T.tensor([1.0, 2.0], requires_grad=True)


def facts(t: Any, *others: Any) -> list[Any]:
    """What can be seen of a tensor's history; and is one of the others its base?"""
    name = None if t.grad_fn is None else t.grad_fn.name()
    return [name, t._is_view(), t.is_leaf, t.requires_grad, t._version, t.output_nr, *[t._base is o for o in others]]


# -- calling ----------------------------------------------------------------------------------------------------------


@scenario
def mistakes_in_calling(T: Any) -> Any:
    x = leaf(T)
    My = make(T, double, lambda ctx, g: g)
    with_default = make(T, lambda ctx, x, a=4, b=5: x * a * b, lambda ctx, *g: g)
    in_two_parts = make(T, lambda x, a, *, b=1: x * a, lambda ctx, g: g, setup_context=lambda *args: None)
    return [
        attempt(lambda: My()(x)),
        attempt(lambda: T.autograd.Function.apply(x)),
        attempt(lambda: make(T, lambda ctx, x: 1 / 0).apply(x)),
        attempt(lambda: make(T, double).apply(x).sum().backward()),
        attempt(lambda: make(T, double, lambda ctx, g: g, vjp=lambda ctx, g: g).apply(x).sum().backward()),
        attempt(lambda: My.apply(x, q=1)),
        attempt(lambda: with_default.apply(x, b=2)),
        attempt(lambda: with_default.apply(x, 1, a=2)),
        attempt(lambda: in_two_parts.apply(x)),
        attempt(lambda: in_two_parts.apply(x, 1, 2)),
        attempt(lambda: in_two_parts.apply(x, 1, b=2)),
        attempt(lambda: T.autograd.Function.setup_context(None, None, None)),
        attempt(lambda: T.autograd.Function.backward(None, x)),
        attempt(lambda: T.autograd.Function.jvp(None, x)),
        attempt(lambda: T.autograd.Function.vmap(None, None, x)),
        T.autograd.Function.generate_vmap_rule,
        T.autograd.Function.vjp is T.autograd.Function.backward,
    ]


@scenario
def arguments(T: Any) -> Any:
    x, z, seen = leaf(T), T.ones(2), []

    def forward(ctx: Any, *args: Any) -> Any:
        seen.append((ctx.needs_input_grad, T.is_grad_enabled()))
        return sum(a for a in args if isinstance(a, T.Tensor))

    def backward(ctx: Any, g: Any) -> Any:
        seen.append((ctx.needs_input_grad, T.is_grad_enabled(), g.requires_grad))
        return g, None, g, None, None, None, None

    My = make(T, forward, backward)
    y = My.apply(x, z, x * 2, 3, "a", None, [x])
    seen.append([graph_of(n, 2) for n, _ in y.grad_fn.next_functions])
    y.sum().backward()
    with T.no_grad():
        seen.append(My.apply(x, z).requires_grad)
    keywords = make(T, lambda ctx, x, a, b: x * a - b, lambda ctx, g: (g, None, None))
    seen.append(keywords.apply(b=x, a=z, x=x).grad_fn.needs_input_grad)
    defaults = make(
        T,
        lambda x, a=4: x * a,
        lambda ctx, *g: g,
        setup_context=lambda ctx, inputs, output: seen.append((inputs, output)),
    )
    seen.append(defaults.apply(x).grad_fn.needs_input_grad)
    seen.append(defaults.apply(x, a=2).grad_fn.needs_input_grad)
    return [*seen, x.grad, make(T, lambda ctx: T.ones(1)).apply()]


@scenario
def what_forward_may_return(T: Any) -> Any:
    x, z = leaf(T), T.ones(2)
    seen: list[Any] = []
    for value in (3, None, "a", {"a": 1}, (), (x.detach(), 3), (x.detach(), None)):
        made = make(T, lambda ctx, x, value=value: value, lambda ctx, *g: g[0]).apply
        seen.append((plain(made(x)), plain(made(z))))
    in_list = make(T, lambda ctx, x: [x * 2], lambda ctx, g: g).apply(x)
    seen.append((type(in_list).__name__, in_list))
    in_named_tuple = make(T, lambda ctx, x: T.max(x, 0), lambda ctx, g, h: g).apply(x)
    seen.append((type(in_named_tuple).__name__, in_named_tuple))
    y, text, count = make(T, lambda ctx, x: (x * 2, "s", x.long()), lambda ctx, *g: (seen.append(g), g[0])[1]).apply(x)
    y.sum().backward()
    return [*seen, facts(count), text, x.grad]


# -- gradients --------------------------------------------------------------------------------------------------------

RETURNS: dict[str, Any] = {
    "too few": lambda T, g: g,
    "too many": lambda T, g: (g, g, g),
    "too many, but None": lambda T, g: (g, g, None),
    "a list": lambda T, g: [g, g],
    "numbers": lambda T, g: (g, 2.0),
    "text": lambda T, g: ("a", g),
    "None": lambda T, g: (None, None),
    "another shape": lambda T, g: (g, T.ones(3)),
    "a smaller shape": lambda T, g: (T.ones(1), g),
    "no shape": lambda T, g: (T.tensor(5.0), g),
    "a shape to be summed": lambda T, g: (T.ones(4, 2), g),
    "float64": lambda T, g: (g.double(), g),
    "int64": lambda T, g: (g.long(), g),
    "complex64": lambda T, g: (g * 1j, g),
}


@scenario
def what_backward_may_return(T: Any) -> Any:
    seen = []
    for gradients in RETURNS.values():
        x, y = leaf(T), leaf(T)
        My = make(T, lambda ctx, x, y: x * y, lambda ctx, g, gradients=gradients: gradients(T, g))
        seen.append(attempt(lambda My=My, x=x, y=y: My.apply(x, y).sum().backward()))
        seen.append((x.grad, y.grad, None if x.grad is None else str(x.grad.dtype)))
    x, z = leaf(T), T.ones(2)
    for first in (3, z):
        for unasked in (True, False):
            My = make(T, lambda ctx, first, x: x * 2, lambda ctx, g, a=unasked: (g, g) if a else (None, T.ones(3)))
            seen.append(attempt(lambda My=My, first=first: T.autograd.grad(My.apply(first, x).sum(), x)))
    return seen


@scenario
def missing_gradients(T: Any) -> Any:
    seen: list[Any] = []
    for wanted in (None, True, False):
        x = leaf(T)

        def forward(ctx: Any, x: Any, wanted: Any = wanted) -> Any:
            if wanted is not None:
                ctx.set_materialize_grads(wanted)
            return x * 2, x.double() * 3, x * 1j, None

        def backward(ctx: Any, *gs: Any) -> Any:
            seen.append([None if g is None else (plain(g), str(g.dtype)) for g in gs])
            return gs[0]

        make(T, forward, backward).apply(x)[0].sum().backward()
    for value in (1, "a", None):
        My = make(T, lambda ctx, x, value=value: (ctx.set_materialize_grads(value), x)[1])
        seen.append(attempt(lambda My=My: My.apply(leaf(T)))[:50])
    nothing = make(T, double, lambda ctx, g: None)
    passing = make(T, double, lambda ctx, g: (seen.append(g), g)[1])
    x = leaf(T)
    return [*seen, T.autograd.grad(nothing.apply(passing.apply(x)).sum(), x, allow_unused=True)]


@scenario
def higher_orders(T: Any) -> Any:
    x = T.tensor([0.5, -1.5], dtype=T.float64, requires_grad=True)

    def cube(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    def exp(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    Cube = make(T, cube, lambda ctx, g: 3 * g * ctx.saved_tensors[0] ** 2)
    Exp = make(T, exp, lambda ctx, g: g * ctx.saved_tensors[0])
    Attribute = make(T, lambda ctx, x: (setattr(ctx, "x", x), x * x)[1], lambda ctx, g: 2 * g * ctx.x)
    seen: list[Any] = []
    for My in (Cube, Exp, Attribute):
        g = (My.apply(x * 1) * x).sum()
        for _ in range(3):
            (g,) = T.autograd.grad(g.sum(), x, create_graph=True)
            seen.append(g)
    cut = make(T, cube, lambda ctx, g: g.detach() * ctx.saved_tensors[0].detach())
    return [*seen, T.autograd.grad(cut.apply(x).sum(), x, create_graph=True)]


@scenario
def differentiable_once(T: Any) -> Any:
    once = T.autograd.function.once_differentiable
    modes = []

    def square(ctx: Any, x: Any, *others: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx: Any, g: Any) -> Any:
        modes.append((T.is_grad_enabled(), g.requires_grad))
        return 2 * g * ctx.saved_tensors[0]

    My = make(T, square, once(backward))
    x, g = leaf(T), T.ones(2, requires_grad=True)
    (plain_,) = T.autograd.grad(My.apply(x).sum(), x, create_graph=True)
    (outer,) = T.autograd.grad(My.apply(x), x, g, create_graph=True)
    (mixed,) = T.autograd.grad((My.apply(x) * x).sum(), x, create_graph=True)
    seen = [plain_, outer, graph_of(outer.grad_fn, 2), attempt(outer.sum().backward), attempt(mixed.sum().backward)]
    some = make(T, square, once(lambda ctx, g: (g * ctx.saved_tensors[0], None)))
    (outer,) = T.autograd.grad(some.apply(x, x), x, g, create_graph=True)
    wrong = make(T, square, once(lambda ctx, g: 3.5))
    refused = attempt(lambda: T.autograd.grad(wrong.apply(x), x, g, create_graph=True))
    return [*seen, outer, attempt(outer.sum().backward), refused, modes, once(backward).__name__]


# -- the context ------------------------------------------------------------------------------------------------------

NAMES = [
    *["shape", "dtype", "inputs", "saved", "op", "order", "code", "hooks"],
    *["versions", "lasti", "context", "array"],
]


@scenario
def attributes_of_any_name(T: Any) -> Any:
    seen = []

    def forward(ctx: Any, x: Any) -> Any:
        for name in NAMES:
            setattr(ctx, name, name.upper())
        return x * 2

    def backward(ctx: Any, g: Any) -> Any:
        seen.extend([getattr(ctx, name) for name in NAMES])
        return g * 3

    x = leaf(T)
    make(T, forward, backward).apply(x).sum().backward()
    return [seen, x.grad]


@scenario
def what_a_node_shows(T: Any) -> Any:
    x, contexts = leaf(T), []

    def forward(ctx: Any, x: Any) -> Any:
        contexts.append(ctx)
        ctx.save_for_backward(x)
        ctx.given = 3
        return x * 2

    y = make(T, forward, lambda ctx, g: (contexts.append(ctx), g)[1]).apply(x)
    node = y.grad_fn
    seen: list[Any] = [node.name(), type(node).__name__, type(contexts[0]).__name__, node.given, node.saved_tensors]
    seen += [node.needs_input_grad, node.to_save, node.non_differentiable, node.dirty_tensors, node.saved_for_forward]
    seen += [node.metadata, node.requires_grad, node._forward_cls.__name__, graph_of(node, 2), node is y.grad_fn]
    seen += [attempt(lambda: node.missing), attempt(lambda: contexts[0].missing), contexts[0].name()]
    node.added = 4
    seen += [y.grad_fn.added, isinstance(node, T.autograd.graph.Node)]
    node.register_hook(lambda inner, outer: seen.append(("hook", inner, outer)))
    node.register_prehook(lambda outer: seen.append(("pre-hook", outer)))
    y.sum().backward()
    seen += [contexts[0] is contexts[1], node.given, attempt(lambda: node.saved_tensors)]
    held = make(T, double, lambda ctx, g: g).apply(x).grad_fn
    return [*seen, graph_of(held, 2), held.needs_input_grad, attempt(lambda: held(x))]


@scenario
def hooks_of_a_call(T: Any) -> Any:
    """Of a Function with one result and with two: hooks of the result and of the node, in their order."""
    seen: list[Any] = []

    def program(two: bool, materialize: bool, returned: Any) -> Any:
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(materialize)
            return (x * 2, x * 3) if two else x * 2

        def backward(ctx: Any, *gs: Any) -> Any:
            seen.append(("backward", gs))
            return None if gs[0] is None else gs[0] * 3

        x = leaf(T)
        made = make(T, forward, backward).apply(x)
        y = made[0] if two else made
        y.retain_grad()
        y.register_hook(lambda g: (seen.append(("tensor", g)), g * 5)[1])
        y.grad_fn.register_prehook(lambda outer: (seen.append(("before", outer)), returned)[1])
        y.grad_fn.register_hook(lambda inner, outer: seen.append(("after", inner, outer)))
        y.sum().backward(retain_graph=True)
        seen.append((x.grad, y.grad, y.output_nr, len(y.grad_fn._input_metadata), y.grad_fn.metadata))
        seen.append(T.autograd.grad(y.sum() * 7, (y, x), allow_unused=True))

    for two in (True, False):
        for materialize in (True, False):
            missing = (None, None) if two else (None,)
            seen += [attempt(lambda r=r, t=two, m=materialize: program(t, m, r)) for r in (None, missing, (T.ones(2),))]
    return seen


@scenario
def methods_assigned_later(T: Any) -> Any:
    x, seen = leaf(T), []
    My = make(T, double, lambda ctx, g: g * 2)
    seen.append((My.apply(x), T.autograd.grad(My.apply(x).sum(), x)))
    early = My.apply(x)
    My.forward, My.backward = staticmethod(lambda ctx, x: x * 5), staticmethod(lambda ctx, g: g * 7)
    seen.append((My.apply(x), T.autograd.grad(My.apply(x).sum(), x), T.autograd.grad(early.sum(), x)))
    My.forward = staticmethod(lambda x: x * 11)
    My.setup_context = staticmethod(lambda ctx, inputs, output: seen.append((inputs, output)))
    seen.append((My.apply(x), T.autograd.grad(My.apply(x).sum(), x)))
    My.forward = staticmethod(lambda x, factor=13: x * factor)
    My.backward = staticmethod(lambda ctx, *gs: (*gs, None))
    seen.append((My.apply(x), My.apply(x, 17), T.autograd.grad(My.apply(x, 2).sum(), x)))
    del My.setup_context
    My.forward = staticmethod(double)
    return [*seen, My.apply(x), T.autograd.grad(My.apply(x).sum(), x)]


@scenario
def context_of_a_call_that_is_not_recorded(T: Any) -> Any:
    contexts = []
    My = make(T, lambda ctx, x: (contexts.append(ctx), ctx.save_for_backward(x), x * 2)[2], lambda ctx, g: g)
    y = My.apply(T.ones(2))
    (ctx,) = contexts
    with T.no_grad():
        z = My.apply(leaf(T))
    shown = [ctx.needs_input_grad, ctx.saved_tensors, ctx.next_functions, ctx.name(), ctx.to_save]
    return [*shown, y, z, contexts[1].needs_input_grad]


@scenario
def running_backward_again(T: Any) -> Any:
    seen: list[Any] = []
    for saves in (True, False):
        for reads in (True, False):

            def forward(ctx: Any, x: Any, saves: bool = saves) -> Any:
                if saves:
                    ctx.save_for_backward(x)
                ctx.kept = 7
                return x * 2

            def backward(ctx: Any, g: Any, reads: bool = reads) -> Any:
                return g + len(ctx.saved_tensors) * len(ctx.saved_tensors) if reads else g

            x = leaf(T)
            y = make(T, forward, backward).apply(x)
            for keep in (True, False, False):
                seen.append(attempt(lambda y=y, keep=keep: y.sum().backward(retain_graph=keep)))
            seen.append((x.grad, y.grad_fn.kept, attempt(lambda y=y: y.grad_fn.saved_tensors)))
    return seen


# -- saved tensors ----------------------------------------------------------------------------------------------------


@scenario
def saving(T: Any) -> Any:
    x, seen = leaf(T), []
    middle = x * 1

    def look(ctx: Any, g: Any) -> Any:
        for t in ctx.saved_tensors:
            of = None if t is None or t.grad_fn is None else t.grad_fn.name()
            seen.append((plain(t), of, t is x, t is middle))
        return g

    for save in (
        lambda ctx, x: ctx.save_for_backward(x, None),
        lambda ctx, x: ctx.save_for_backward(x * 5),
        lambda ctx, x: (ctx.save_for_backward(x), ctx.save_for_backward(x, x * 2)),
        lambda ctx, x: ctx.save_for_backward(),
    ):
        for t in (x, middle):
            make(T, lambda ctx, x, save=save: (save(ctx, x), x * 2)[1], look).apply(t).sum().backward(retain_graph=True)
    result = make(T, lambda ctx, x: (lambda y: (ctx.save_for_backward(y), y)[1])(x * 2), look).apply(x)
    result.sum().backward(retain_graph=True)
    seen.append((result.grad_fn.saved_tensors[0] is result, result.grad_fn.saved_tensors[0].grad_fn is result.grad_fn))
    as_it_is = make(T, lambda ctx, x: (ctx.save_for_backward(x), x)[1], look).apply(x)
    as_it_is.sum().backward()
    for value in (3, [x], "a"):
        My = make(T, lambda ctx, x, value=value: (ctx.save_for_backward(value), x * 2)[1])
        seen += [attempt(lambda My=My: My.apply(x)), attempt(lambda My=My: My.apply(T.ones(1)))]
    My = make(T, lambda ctx, x: (ctx.save_for_forward(3), x * 2)[1])
    old = make(T, double, lambda ctx, g: (ctx.saved_variables, g)[1])
    return [*seen, attempt(lambda: My.apply(x)), attempt(lambda: old.apply(x).sum().backward())]


@scenario
def saved_tensors_that_were_changed(T: Any) -> Any:
    def program(save_result: bool, reads: bool, change: Callable[[Any, Any, Any], Any]) -> Any:
        x = leaf(T)
        w = x * 1

        def forward(ctx: Any, w: Any) -> Any:
            y = w * 2
            ctx.save_for_backward(y if save_result else w)
            return y

        y = make(T, forward, lambda ctx, g: g * ctx.saved_tensors[0] if reads else g).apply(w)
        change(x, w, y)
        return [attempt(y.sum().backward), x.grad]

    changes: list[Any] = [
        lambda x, w, y: w.add_(1), lambda x, w, y: y.mul_(2), lambda x, w, y: w.detach().add_(1),
        lambda x, w, y: w.data.add_(1), lambda x, w, y: w[0].add_(1), lambda x, w, y: w.detach_(),
    ]  # fmt: skip
    return [program(a, b, change) for a in (True, False) for b in (True, False) for change in changes]


@scenario
def hooks_for_saved_tensors(T: Any) -> Any:
    seen: list[Any] = []
    saves: list[Any] = [
        lambda ctx, w, y: ctx.save_for_backward(w, None),
        lambda ctx, w, y: ctx.save_for_backward(y),
        lambda ctx, w, y: ctx.save_for_backward(w * 5),
    ]

    def pack(t: Any) -> Any:
        seen.append(("pack", t.is_leaf, t.requires_grad))
        return t * 2

    def unpack(t: Any) -> Any:
        seen.append("unpack")
        return t

    for save in saves:

        def forward(ctx: Any, w: Any, save: Any = save) -> Any:
            y = w * 2
            save(ctx, w, y)
            return y

        def backward(ctx: Any, g: Any) -> Any:
            seen.append(("backward", ctx.saved_tensors))
            return g

        x = leaf(T)
        with T.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = make(T, forward, backward).apply(x * 1)
        y.sum().backward(retain_graph=True)
        seen.append(len(y.grad_fn.saved_tensors))
    x = leaf(T)
    My = make(T, lambda ctx, x: (ctx.save_for_backward(x, None), x * 2)[1], lambda ctx, g: g * ctx.saved_tensors[0])
    y = My.apply(x)
    raw = y.grad_fn._raw_saved_tensors
    raw[0].register_hooks(lambda t: t * 10, lambda t: t)
    for one in (*raw, y.grad_fn._raw_saved_tensors[0]):
        seen.append(attempt(one.register_hooks, lambda t: t, lambda t: t))
    seen.append(attempt(My.apply(x).grad_fn._raw_saved_tensors[0].register_hooks, 3, 4))
    return [*seen, T.autograd.grad(y.sum(), x), attempt(lambda: y.grad_fn._raw_saved_tensors)]
