"""More scenarios that random programs (fuzz.py) came upon: what backward passes visit, call and keep."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from scenarios import attempt, collection, leaf, make, plain

SCENARIOS, scenario = collection()


@scenario
def questions_about_views_that_cannot_follow(T: Any) -> Any:
    """Some are composed of operations with a history, and some are not."""
    x = T.ones(1, 3, requires_grad=True)
    (part,) = x.chunk(2)
    with T.no_grad():
        x[:, 0] = 2

    def write() -> None:
        part[0:0] = T.ones(7, 7)

    calls = [T.isfinite, T.isnan, T.isinf, T.argsort, T.argmax, T.signbit, T.any, T.Tensor.tolist]
    pairs = [T.isclose, T.allclose, T.equal, T.eq]
    return [
        *[attempt(lambda f=f: f(part) is not None) for f in calls],
        *[attempt(lambda f=f: f(part, part) is not None) for f in pairs],
        attempt(write),
    ]


@scenario
def a_pass_to_another_result_of_the_same_node(T: Any) -> Any:
    """Its nodes are visited, though no gradient can come of it."""
    checkpoint = import_module(f"{T.__name__}.utils.checkpoint").checkpoint
    seen: list[Any] = []
    both = make(T, lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: g + h)
    for split in (both.apply, lambda x: x.unbind(0), lambda x: x.view(1, 2).max(1)[:1] * 2):
        a, b = split(T.ones(2, requires_grad=True))
        c = b * 5
        c.grad_fn.register_hook(lambda inner, outer: seen.append("visited"))
        seen.append(attempt(lambda a=a, c=c: T.autograd.grad(c.sum(), a, allow_unused=True)))
    a, b = both.apply(T.ones(2, requires_grad=True))
    kept = checkpoint(T.sin, b, use_reentrant=True)
    return [*seen, attempt(lambda: T.autograd.grad(kept.sum(), a, allow_unused=True))]


@scenario
def checkpoints_in_checkpoints_of_what_was_detached(T: Any) -> Any:
    checkpoint = import_module(f"{T.__name__}.utils.checkpoint").checkpoint
    seen: list[Any] = []

    def sine(t: Any) -> Any:
        seen.append(t.requires_grad)
        return t.sin()

    for stop in (lambda x: x.detach_(), lambda x: x.requires_grad_(False)):
        x = T.ones(2, requires_grad=True)
        y = checkpoint(lambda t: checkpoint(sine, t, use_reentrant=False) * 2, x, use_reentrant=False)
        stop(x)
        seen += [attempt(y.sum().backward), x.grad]
    return seen


@scenario
def checkpoints_of_views_that_got_a_history(T: Any) -> Any:
    """Their base was changed after they were last used."""
    checkpoint = import_module(f"{T.__name__}.utils.checkpoint").checkpoint
    seen: list[Any] = []
    for wrap in (lambda f: f, lambda f: lambda t: checkpoint(f, t, use_reentrant=False) * 2):
        x, base = T.tensor([2.0], requires_grad=True), T.zeros(1)
        view = base.view_as(base)
        base.fill_(x[0])
        y = checkpoint(wrap(T.sin), view, use_reentrant=False)
        seen += [attempt(y.sum().backward), x.grad]
    return seen


@scenario
def hooks_of_results_beside_the_wanted_one(T: Any) -> Any:
    seen: list[Any] = []
    calls = [
        lambda x, p, q: T.autograd.grad(p * 2, p), lambda x, p, q: T.autograd.grad(p * 2 + q, (q, p)),
        lambda x, p, q: T.autograd.grad(p * 2, (q, p), allow_unused=True),
        lambda x, p, q: T.autograd.grad(p * 2, (x, p)), lambda x, p, q: T.autograd.backward(p * 2, inputs=(p,)),
        lambda x, p, q: T.autograd.backward(p * 2, inputs=(p, x)),
    ]  # fmt: skip

    def note(g: Any) -> None:
        seen.append(["q", g])

    for call in calls:
        x = T.ones(2, requires_grad=True)
        p, q = x.unbind()
        q.register_hook(note)
        p.register_hook(lambda g: g * 5)
        seen += [attempt(call, x, p, q), p.grad if p.retains_grad else None, x.grad]
    return seen


@scenario
def views_of_what_required_grad_for_a_while(T: Any) -> Any:
    seen = []
    for looked_at in (False, True):
        x = T.ones(2, 3)
        view = x.unsqueeze(0)
        x.requires_grad_()
        if looked_at:
            seen.append((view * 1).requires_grad)
        x.detach_()
        seen += [view.requires_grad, (view * 1).requires_grad, (view * 1).is_leaf]
    return seen


@scenario
def passes_that_fail_twice(T: Any) -> Any:
    checkpoint = import_module(f"{T.__name__}.utils.checkpoint").checkpoint
    x = T.ones(2, requires_grad=True)
    y = checkpoint(lambda t: t.sin() * 2, x, use_reentrant=False)
    x.detach_()

    def refuse(t: Any) -> Any:
        raise ValueError("no")

    with T.autograd.graph.saved_tensors_hooks(lambda t: t, refuse):
        z = T.ones(2, requires_grad=True).exp()
    return [attempt(t.sum().backward) for t in (y, y, z, z)]


@scenario
def inputs_of_products_that_were_detached(T: Any) -> Any:
    linear = import_module(f"{T.__name__}.nn.functional").linear
    seen = []
    for product, shape in (
        (T.matmul, (2, 2, 2)), (T.matmul, (2, 2)), (lambda a, b: T.matmul(b, a), (2, 2, 2)), (linear, (2, 2)),
        (lambda a, b: linear(b, a), (2, 2)), (T.bmm, (2, 2, 2)),
    ):  # fmt: skip
        x, w = T.ones(*shape, requires_grad=True), T.ones(*shape, requires_grad=True)
        c = w.tanh()
        y = product(x, c)
        c.detach_()
        seen += [attempt(y.sum().backward), w.grad]
    return seen


@scenario
def layouts_of_one_of_several_results(T: Any) -> Any:
    x, y = T.ones(2, 3, 4).permute(2, 1, 0).clone(), T.ones(4, 3, 2)
    own = make(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply(x.clone().requires_grad_())
    results = [own, x.sort(-1)[0], x.max(0, keepdim=True)[0], T.var_mean(x, 0, keepdim=True)[1], x.topk(1, 0)[0]]
    return [[list(r.stride()), list((r + y).stride()), list((y + r).stride())] for r in results]


@scenario
def hooks_on_the_transposed_weight_of_a_linear_layer(T: Any) -> Any:
    def watched(change: Any) -> Any:
        w, b = leaf(T, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), leaf(T, [1.0, 2.0, 3.0])
        h = leaf(T, [[1.0, -1.0]]) * 2
        y = T.nn.functional.linear(h, w, b)
        seen: list[Any] = []
        transposed = y.grad_fn.next_functions[2][0]
        transposed.register_prehook(lambda gs: seen.append(("before", plain(gs))))
        transposed.register_prehook(lambda gs: (gs[0] * 2,) if change == "before" else None)
        transposed.register_hook(lambda gi, go: seen.append(("after", plain(gi), plain(go))))
        transposed.register_hook(lambda gi, go: (gi[0] * 3,) if change == "after" else None)
        y.grad_fn.register_hook(lambda gi, go: seen.append(("linear", plain(gi), plain(go))))
        h.register_hook(lambda g: seen.append(("input", plain(g))))
        for leaf_, name in ((w, "weight"), (b, "bias")):
            leaf_.register_hook(lambda g, name=name: seen.append((name, plain(g))))
        (y * y).sum().backward()
        found = y.grad_fn.next_functions[2][0]
        shown = [found.name(), found.next_functions[0][0].name(), list(found._input_metadata[0].shape)]
        return seen, shown, w.grad, found._sequence_nr() < y.grad_fn._sequence_nr()

    return [watched(None), watched("before"), watched("after")]


@scenario
def second_derivatives_pass_the_transposed_weight(T: Any) -> Any:
    w, x = leaf(T, [[1.0, 2.0], [3.0, 4.0]]), leaf(T, [[1.0, -1.0]])
    y = T.nn.functional.linear(x, w)
    seen: list[Any] = []
    y.grad_fn.next_functions[1][0].register_hook(lambda gi, go: seen.append((plain(gi), plain(go))))
    (g,) = T.autograd.grad((y**3).sum(), x, create_graph=True)
    g.sum().backward()
    return w.grad, x.grad, seen


@scenario
def hooks_of_nodes_see_gradients_in_the_form_of_the_inputs(T: Any) -> Any:
    seen: list[Any] = []
    x, y = leaf(T, [1.0, 2.0, 3.0]), leaf(T, [[1.0, -1.0, 2.0], [0.0, 1.0, 1.0]])
    w, wide = leaf(T, [[1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]), T.ones(3, dtype=T.float64, requires_grad=True)
    functions = [
        lambda: x * y, lambda: x + y, lambda: y - x, lambda: y / x, lambda: T.where(y > 0, x, y), lambda: y * wide,
        lambda: T.nn.functional.linear(y, w, x[:2]), lambda: T.addmm(x[:2], y, w.t()), lambda: T.lerp(y, x, 0.3),
    ]  # fmt: skip
    for create_graph in (False, True):
        for function in functions:
            result = function()
            result.grad_fn.register_hook(
                lambda inner, outer: seen.append([(plain(g), str(g.dtype).split(".")[-1]) for g in inner])
            )
            T.autograd.grad((result * result).sum(), (x, y, w, wide), create_graph=create_graph, allow_unused=True)
    by_hand = (x * y).grad_fn(T.ones(2, 3))
    doubled = x * y
    doubled.grad_fn.register_hook(lambda inner, outer: (inner[0] * 2, inner[1]))
    return seen, by_hand, T.autograd.grad(doubled.sum(), (x, y))
