"""Scenarios of hooks, saved tensors, gradient edges, anomaly mode and inference mode. See scenarios.py."""

from __future__ import annotations

import math
import warnings
from typing import Any

from scenarios import attempt, collection, first_sentence, leaf, make, plain

SCENARIOS, scenario = collection()


# -- hooks of nodes ---------------------------------------------------------------------------------------------------


@scenario
def order_of_hooks(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0])
    y = (x * 2).exp()
    seen: list[Any] = []
    y.grad_fn.register_hook(lambda inner, outer: seen.append(("post", inner, outer)))
    y.grad_fn.register_prehook(lambda outer: seen.append(("pre", outer)))
    y.register_hook(lambda g: seen.append(("tensor", g)))
    y.retain_grad()
    y.register_hook(lambda g: g * 2)
    y.sum().backward()
    return [*seen, y.grad, x.grad]


@scenario
def hooks_of_a_leaf(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0])
    node = x.view_as(x).grad_fn.next_functions[0][0]
    seen: list[Any] = []
    node.register_hook(lambda inner, outer: seen.append(("post", inner, outer)))
    node.register_prehook(lambda outer: seen.append(("pre", outer)))
    x.register_hook(lambda g: seen.append(("tensor", g)))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(("accumulated", t.grad.clone())))
    (x * 3).sum().backward()
    count = len(seen)
    T.autograd.grad((x * 3).sum(), x)
    return [node.name(), node.variable is x, *seen[:count], [s[0] for s in seen[count:]]]


@scenario
def replacing_by_prehooks(T: Any) -> Any:
    def run(returned: Any) -> Any:
        x = leaf(T, [1.0, 2.0])
        y = x * 2
        y.grad_fn.register_prehook(lambda outer: returned)
        y.sum().backward()
        return x.grad

    tensors = [T.ones(3), T.full((2,), 5.0), T.ones(2)]
    returns = [1, (1,), (), (tensors[0],), tensors[2], (None,), (tensors[1],), None]
    return [attempt(run, returned) for returned in returns]


@scenario
def replacing_by_hooks(T: Any) -> Any:
    def run(returned: Any) -> Any:
        x = leaf(T, [1.0, 2.0])
        y = x * 2
        y.grad_fn.register_hook(lambda inner, outer: returned)
        y.sum().backward()
        return x.grad

    ones = T.ones(2)
    return [attempt(run, r) for r in (1, (1,), (), (ones,), ones, (None,), (None, None), (ones, None), None)]


@scenario
def hooks_of_losses(T: Any) -> Any:
    F = T.nn.functional
    seen: list[Any] = []
    for shape, reduction in [((3, 4), "mean"), ((2, 4, 3), "sum"), ((2, 4, 3), "none"), ((2, 4, 1, 2), "mean")]:
        x = (T.arange(float(math.prod(shape))) / 7).sin().reshape(shape)
        target = T.arange(math.prod(shape) // 4).reshape((shape[0], *shape[2:])) % 4
        for loss in (F.cross_entropy, F.nll_loss):
            found = loss(x.clone().requires_grad_(), target, reduction=reduction, ignore_index=2)
            found.grad_fn.register_hook(lambda inner, outer: seen.append((inner, outer)))
            found.sum().backward()
            seen.append(found.grad_fn.name())
    return seen


@scenario
def hooks_of_several_results(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0, 3.0, 4.0])
    first, second = x.split(2)
    seen: list[Any] = []
    first.grad_fn.register_prehook(lambda outer: seen.append(outer))
    first.grad_fn.register_hook(lambda inner, outer: seen.append((inner, outer)))
    first.sum().backward(retain_graph=True)
    second.sum().backward()
    return [*seen, x.grad]


@scenario
def leaves_in_time(T: Any) -> Any:
    x, y, z = leaf(T, [1.0]), leaf(T, [2.0]), leaf(T, [3.0])
    seen: list[str] = []
    for name, t in (("x", x), ("y", y), ("z", z)):
        t.register_hook(lambda g, name=name: seen.append(name))
        t.register_post_accumulate_grad_hook(lambda t, name=name: seen.append(f"{name} done {t.grad is not None}"))
    a = x * 2
    b = a * y
    c = b * z * x
    for name, t in (("a", a), ("b", b), ("c", c)):
        t.register_hook(lambda g, name=name: seen.append(name))
    c.backward()
    return seen


@scenario
def what_is_captured(T: Any) -> Any:
    def run(wanted: str, hooked: bool) -> Any:
        x = leaf(T, [1.0])
        y = x * 2
        if hooked:
            y.register_hook(lambda g: g * 5)
        else:
            y.grad_fn.register_prehook(lambda outer: (outer[0] * 7,))
        named = {"x": x, "y": y}
        return T.autograd.grad(y * 3, [named[n] for n in wanted])

    return [run(wanted, hooked) for wanted in ("xy", "yx", "x", "y") for hooked in (True, False)]


@scenario
def backward_to_inputs(T: Any) -> Any:
    def run(wanted: str) -> Any:
        x = leaf(T, [1.0])
        y = x * 2
        seen: list[str] = []
        y.register_hook(lambda g: (seen.append("y"), g * 5)[1])
        y.grad_fn.register_prehook(lambda outer: seen.append("pre"))
        y.grad_fn.register_hook(lambda inner, outer: seen.append("post"))
        x.register_hook(lambda g: seen.append("x"))
        x.register_post_accumulate_grad_hook(lambda t: seen.append("accumulated"))
        named = {"x": x, "y": y}
        (y * 3).backward(inputs=[named[n] for n in wanted])
        return [x.grad, y.grad if "y" in wanted else None, seen]

    return [run(wanted) for wanted in ("x", "y", "xy")]


@scenario
def hooks_and_changes_in_place(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0]).clone()
    seen: list[Any] = []
    x.register_hook(lambda g: seen.append(("before", g)))
    x.mul_(3)
    x.register_hook(lambda g: seen.append(("after", g)))
    x.sum().backward()
    return seen


@scenario
def hooks_that_remove_hooks(T: Any) -> Any:
    x = leaf(T, [1.0])
    seen: list[str] = []
    handles: list[Any] = []
    handles.append(x.register_hook(lambda g: handles[1].remove()))
    handles.append(x.register_hook(lambda g: seen.append("second")))
    (x * 2).backward()
    (x * 2).backward()
    with x.register_hook(lambda g: seen.append("inside")):
        (x * 2).backward()
    (x * 2).backward()
    return [seen, len(x._backward_hooks), T.ones(1)._backward_hooks]


@scenario
def a_hook_for_several_tensors(T: Any) -> Any:
    from_graph = T.autograd.graph
    leaves = [leaf(T, [float(i), 1.0]) for i in range(4)]
    seen: list[Any] = []
    handle = from_graph.register_multi_grad_hook(leaves, lambda gs: seen.append(list(gs)))
    (leaves[0] * leaves[1]).sum().backward()
    (leaves[0] * leaves[1]).sum().backward(inputs=[leaves[0]])
    refused = attempt(lambda: T.autograd.grad((leaves[2] * leaves[1]).sum(), leaves[2]))
    handle.remove()
    (leaves[0] * leaves[1]).sum().backward()
    any_seen: list[Any] = []
    inner = leaves[0] * 2
    from_graph.register_multi_grad_hook([inner, leaves[3]], lambda g: any_seen.append(g), mode="any")
    (inner * leaves[3]).sum().backward()
    wrong = [
        attempt(lambda: from_graph.register_multi_grad_hook(leaves, print, mode="some")),
        attempt(lambda: from_graph.register_multi_grad_hook([T.ones(1)], print)),
    ]
    return [seen, any_seen, wrong, refused]


@scenario
def hooks_for_several_results(T: Any) -> Any:
    """Of several results of one operation those that get no gradient count as well, with None."""
    hook = T.autograd.graph.register_multi_grad_hook
    x, y = leaf(T, [1.0, 2.0]), leaf(T, [3.0, 4.0])
    first, second = (x * 1).unbind()
    seen: list[Any] = []
    hook((first, x), lambda gs: seen.append(["all", *gs]))
    hook((first, second), lambda g: seen.append(["any", g]), mode="any")
    hook((second, T.ones(1)), lambda g: seen.append(["without another", g]), mode="any")
    hook((second, y), lambda gs: seen.append(["beside a leaf", *gs]))
    second.backward(retain_graph=True)
    T.autograd.grad(second, first, allow_unused=True, retain_graph=True)
    base = T.zeros(2)
    part = base.view(2)
    base.requires_grad_()
    silent = attempt(lambda: hook((part,), print))
    return [seen, attempt(lambda: T.autograd.grad(second * y.sum(), y)), silent]


@scenario
def values_written_everywhere(T: Any) -> Any:
    """x[...] = value expands the value, and the graph shows it."""
    x, value = leaf(T, [[1.0, 2.0], [3.0, 4.0]]) * 1, leaf(T, [5.0, 6.0])
    x[...] = value
    x.sum().backward()
    z = T.zeros(3, 2)
    z[...] = (value.expand(1, 3, 2) * 1).transpose(1, 2).contiguous().transpose(1, 2)
    names = [[None if node is None else node.name() for node, _ in t.grad_fn.next_functions] for t in (x, z)]
    return [*names, value.grad]


@scenario
def passes_to_elsewhere(T: Any) -> Any:
    """A pass to what it does not reach calls the hooks where it begins, if that is one place, and runs nothing."""
    x, y = leaf(T, [1.0, 2.0]), leaf(T, [3.0, 4.0])
    seen: list[Any] = []
    product = x * x
    product.register_hook(lambda g: seen.append(["product", g]))
    product.grad_fn.register_hook(lambda inner, outer: seen.append("never"))
    product.retain_grad()
    product.backward(T.ones_like(product), inputs=[y], retain_graph=True)
    T.autograd.grad(product, y, T.ones_like(product), allow_unused=True, retain_graph=True)
    T.autograd.backward([product, product * 2], [T.ones_like(product)] * 2, inputs=[y], retain_graph=True)
    first, second = product.unbind()
    first.register_hook(lambda g: seen.append(["first", g]))
    second.register_hook(lambda g: seen.append(["second", g]))
    first.backward(inputs=[y], retain_graph=True)
    x.register_hook(lambda g: seen.append(["leaf", g]))
    x.backward(T.ones_like(x), inputs=[y])
    T.autograd.grad(x, y, T.ones_like(x), allow_unused=True)
    return [seen, product.grad, x.grad, y.grad]


@scenario
def gradients_retained_by_what_was_detached(T: Any) -> Any:
    y = leaf(T, [1.0, 2.0]) * 2
    y.retain_grad()
    y.detach_()
    return [y.retains_grad, y.is_leaf, y.requires_grad]


@scenario
def graphs_within_hooks(T: Any) -> Any:
    x = leaf(T, [2.0])
    seen: list[Any] = []
    x.register_hook(lambda g: seen.append((T.is_grad_enabled(), g.requires_grad)))
    (y,) = T.autograd.grad(x**3, x, create_graph=True)
    T.autograd.grad(y, x)
    (x**3).backward()
    return seen


@scenario
def deep_reentrance(T: Any) -> Any:
    class Deep(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with T.enable_grad():
                ctx.x = (x.detach() - 1).requires_grad_()
            return ctx.x.detach()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if ctx.x > 0:
                with T.enable_grad():
                    Deep.apply(ctx.x).sum().backward()
            return g

    x = T.tensor(500.0, requires_grad=True)
    Deep.apply(x).sum().backward()
    return x.grad


# -- saved tensors ----------------------------------------------------------------------------------------------------


@scenario
def packing(T: Any) -> Any:
    seen: list[Any] = []

    def pack(t: Any) -> Any:
        seen.append(("pack", t.requires_grad, t.is_leaf, tuple(t.shape), T.is_grad_enabled()))
        return t

    def unpack(t: Any) -> Any:
        seen.append(("unpack", T.is_grad_enabled()))
        return t

    with T.autograd.graph.saved_tensors_hooks(pack, unpack):
        x = leaf(T, [1.0, 2.0])
        y = ((x * 2.0).exp() * x).sum()
    y.backward()
    return [*seen, x.grad]


@scenario
def packing_in_other_forms(T: Any) -> Any:
    def run(pack: Any, unpack: Any, create_graph: bool = False) -> Any:
        x = leaf(T, [3.0, 4.0])
        with T.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = x * x
        (g,) = T.autograd.grad(y.sum(), x, create_graph=create_graph)
        if create_graph:
            g = T.autograd.grad(g.sum(), x)[0]
        return g

    def same(t: Any) -> Any:
        return t

    return [
        attempt(run, lambda t: t + 1, same), attempt(run, lambda t: 5, same), attempt(run, same, lambda t: None),
        attempt(run, lambda t: t.add_(1), same),
        attempt(run, lambda t: t.detach().numpy(), lambda a: T.from_numpy(a), True),
    ]  # fmt: skip


@scenario
def nested_packing(T: Any) -> Any:
    seen: list[str] = []

    def hooks(name: str) -> Any:
        return T.autograd.graph.saved_tensors_hooks(lambda t: (seen.append(name), t)[1], lambda t: t)

    with hooks("outer"):
        with hooks("inner"):
            leaf(T, [1.0]) ** 2
        leaf(T, [1.0]) ** 2
    leaf(T, [1.0]) ** 2

    def refused() -> None:
        with T.autograd.graph.disable_saved_tensors_hooks("not here"), hooks("never"):
            pass

    def refused_inside() -> None:
        with hooks("outer"), T.autograd.graph.disable_saved_tensors_hooks("not there"):
            pass

    with T.autograd.graph.save_on_cpu():
        x = leaf(T, [3.0])
        saved = T.autograd.grad((x * x).sum(), x)
    return [seen, attempt(refused), attempt(refused_inside), saved]


@scenario
def saved_attributes(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0])
    product, power, exponential, quotient = x * x, x**2, x.exp(), x / x
    seen = [
        product.grad_fn._saved_self, product.grad_fn._saved_other, power.grad_fn._saved_self,
        power.grad_fn._saved_exponent, exponential.grad_fn._saved_result, quotient.grad_fn._saved_other,
        hasattr(product.grad_fn, "_saved_result"), x.sum().grad_fn._saved_self_sym_sizes,
    ]  # fmt: skip
    product.sum().backward()
    raw = exponential.grad_fn._raw_saved_result
    calls: list[str] = []
    raw.register_hooks(lambda t: (calls.append("pack"), t)[1], lambda t: (calls.append("unpack"), t * 2)[1])
    again = attempt(raw.register_hooks, plain, plain)
    (g,) = T.autograd.grad(exponential.sum(), x)
    freed = attempt(raw.register_hooks, plain, plain)
    return [
        *seen,
        attempt(lambda: product.grad_fn._saved_self),
        calls,
        g,
        again,
        freed,
        attempt(T.autograd.SavedTensor),
    ]


@scenario
def changing_what_was_saved(T: Any) -> Any:
    graph = T.autograd.graph

    def inside() -> Any:
        with graph.allow_mutation_on_saved_tensors():
            x = leaf(T, [1.0, 2.0])
            y = x.clone()
            out = (y**2).sum()
            y.sin_()
            out.backward()
        return x.grad

    def outside() -> Any:
        x = leaf(T, [1.0, 2.0])
        with graph.allow_mutation_on_saved_tensors():
            y = x.clone()
            out = (y**2).sum()
            y.sin_()
        out.backward()

    def nested() -> None:
        with graph.allow_mutation_on_saved_tensors(), graph.allow_mutation_on_saved_tensors():
            pass

    return [attempt(inside), attempt(outside), attempt(nested), attempt(inside)]


@scenario
def edges(T: Any) -> Any:
    graph = T.autograd.graph
    x = leaf(T, [1.0, 2.0])
    y = x * 2
    edge = graph.get_gradient_edge(y)
    first, second = x.split(1)
    part = graph.get_gradient_edge(second)
    values, version = T.ones(2), T.ones(2)
    before = values._version
    graph.increment_version(values)
    graph.increment_version([values, version])
    return [
        edge.node.name(), edge.output_nr, graph.get_gradient_edge(x).node.name(), part.output_nr,
        attempt(graph.get_gradient_edge, T.ones(1)), T.autograd.grad(y.sum(), graph.get_gradient_edge(x)),
        T.autograd.grad((first * 2 + second * 3).sum(), part),
        T.autograd.grad(graph.get_gradient_edge(x * 3), x, grad_outputs=T.ones(2)),
        attempt(lambda: T.autograd.grad((graph.get_gradient_edge(x * 3),), (x,))),
        attempt(lambda: T.autograd.backward(graph.get_gradient_edge((x * 2).sum()))), x.grad,
        (before, values._version, version._version),
    ]  # fmt: skip


@scenario
def nodes(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0])
    y = x * 2
    y.grad_fn.metadata["mine"] = 1
    form = y.grad_fn._input_metadata[0]
    return [
        y.grad_fn is y.grad_fn, y.grad_fn.metadata, x.exp().grad_fn.metadata, y.grad_fn.requires_grad,
        isinstance(y.grad_fn, T.autograd.graph.Node), isinstance(y.grad_fn.next_functions[0][0], T.autograd.graph.Node),
        list(form.shape), str(form.dtype).split(".")[1], str(form.device), x.exp().grad_fn(T.ones(2)),
    ]  # fmt: skip


# -- anomaly mode -----------------------------------------------------------------------------------------------------


def failing_function(T: Any) -> Any:
    class Fails(T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, how: str) -> Any:
            ctx.how = how
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if ctx.how == "raise":
                raise KeyError("mine")
            return g * float("nan"), None

    return Fails


@scenario
def anomalies(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0])
    function = failing_function(T)
    seen: list[Any] = []

    def run(how: str, forward_inside: bool, check_nan: bool) -> Any:
        early = None if forward_inside else function.apply(x, how)
        with T.autograd.set_detect_anomaly(True, check_nan=check_nan):
            y = function.apply(x, how) if early is None else early
            state = (T.is_anomaly_enabled(), T.is_anomaly_check_nan_enabled())
            y.sum().backward()
        return state

    for how in ("nan", "raise"):
        for forward_inside in (True, False):
            for check_nan in (True, False):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    seen.append(attempt(run, how, forward_inside, check_nan))
                    seen.append([first_sentence(str(w.message)) for w in caught])
    seen.append(T.is_anomaly_enabled())
    with T.autograd.detect_anomaly():
        seen.append(attempt(lambda: (T.zeros(1, requires_grad=True).sqrt() * 0).sum().backward()))
    return [*seen, T.is_anomaly_enabled()]


@scenario
def anomalies_of_second_order(T: Any) -> Any:
    Outer = make(T, lambda ctx, x: x.clone(), lambda ctx, g: Inner.apply(g), named="Outer")
    Inner = make(T, lambda ctx, x: x.clone(), lambda ctx, g: g * float("nan"), named="Inner")

    def run() -> None:
        with T.autograd.set_detect_anomaly(True):
            x = leaf(T, [1.0, 2.0])
            (g,) = T.autograd.grad(Outer.apply(x).sum() ** 2, x, create_graph=True)
            g.sum().backward()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seen = attempt(run)
    return [seen, [str(w.message).strip().split(". ")[0] for w in caught]]


@scenario
def hooks_that_go_back(T: Any) -> Any:
    x, other = leaf(T, [1.0, 2.0]), leaf(T, [3.0, 4.0])

    def hook(g: Any) -> None:
        with T.enable_grad():
            (other * g.detach()).sum().backward()

    x.register_hook(hook)
    (x * 3).sum().backward()
    y = leaf(T, [1.0])
    z = y * 2
    handle = z.register_hook(lambda g: g / 0 + 1 // 0)
    failed = attempt(z.backward)
    handle.remove()
    return [x.grad, other.grad, failed, T.is_grad_enabled(), y.grad, attempt(z.backward), y.grad]


@scenario
def retained_through_changes(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0])
    early = x * 2
    early.retain_grad()
    early.mul_(3)
    late = x * 2
    late.mul_(3)
    late.retain_grad()
    (early * 4 + late * 5).sum().backward()
    return [early.grad, late.grad, x.grad, early.retains_grad, x.retains_grad]


@scenario
def sequence_numbers_set_by_hand(T: Any) -> Any:
    def order(numbers: dict[str, int]) -> Any:
        x = leaf(T, [1.0, 2.0])
        a = x * 2
        b, c = a * 3, a.sin()
        d = b * c + a
        first, second = d.split(1)
        nodes = {"a": a, "b": b, "c": c, "d": d, "e": first * second}
        seen: list[str] = []
        for name, t in nodes.items():
            t.grad_fn.register_hook(lambda *g, name=name: seen.append(name))
            if name in numbers:
                t.grad_fn._set_sequence_nr(numbers[name])
        before = [t.grad_fn._sequence_nr() for t in nodes.values()]
        nodes["e"].sum().backward(retain_graph=True)
        kept = before == [t.grad_fn._sequence_nr() for t in nodes.values()]
        return seen, kept, [nodes[name].grad_fn._sequence_nr() for name in numbers], x.grad.round(decimals=3)

    high = 10**9
    return [order(numbers) for numbers in ({}, {"a": high}, {"b": high}, {"b": high, "c": high + 1}, {"d": 0, "e": 1})]
