"""Scenarios that random programs (fuzz.py) came upon. See scenarios.py."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from scenarios import attempt, collection, make

SCENARIOS, scenario = collection()


@scenario
def hooks_of_nodes_with_indices(T: Any) -> Any:
    """The indices that come beside the values can have no gradient, and there is no place for one."""
    functions = [
        lambda x: x.max(0),
        lambda x: x.min(1),
        lambda x: x.sort(),
        lambda x: x.topk(2),
        lambda x: x.kthvalue(1),
    ]
    return [hooks_of_the_values(T, f) for f in functions]


def hooks_of_the_values(T: Any, f: Any) -> Any:
    values = f(T.tensor([[3.0, 1.0], [2.0, 4.0]], requires_grad=True))[0]
    node = values.grad_fn
    seen: list[Any] = []
    node.register_hook(lambda inner, outer: seen.append([len(inner), len(outer)]))
    node.register_prehook(lambda outer: tuple([g * 2 for g in outer]))
    by_hand = attempt(lambda: node(T.ones_like(values)))
    values.sum().backward()
    return [*seen, len(node._input_metadata), by_hand]


@scenario
def leaves_before_other_mistakes(T: Any) -> Any:
    x, mask = T.ones(3, 2, requires_grad=True), T.ones(5) > 0
    far = T.tensor([9])

    def write(index: Any, value: Any) -> None:
        x[index] = value

    calls = [
        lambda: write(far, 1), lambda: write(T.tensor([1]), T.ones(7)), lambda: write((slice(1), far), 1),
        lambda: write((slice(None), T.tensor([0])), T.ones(7)), lambda: write(mask, 1.0), lambda: write(1, T.ones(5)),
        lambda: x.index_put_((far,), T.ones(7)), lambda: x.fill_(T.ones(5)), lambda: x.masked_fill_(mask, 1),
        lambda: x.index_add_(0, far, x), lambda: x.scatter_(0, far, x), lambda: x.index_fill_(0, far, 1.0),
        lambda: x.index_copy_(0, far, x), lambda: x.masked_scatter_(far, x), lambda: x[0].fill_(T.ones(5)),
    ]  # fmt: skip
    return [attempt(call) for call in calls]


@scenario
def a_view_of_what_was_changed_and_detached(T: Any) -> Any:
    seen = []
    for view in (lambda y: y[:, 0], lambda y: y.diagonal(), lambda y: y.expand(2, 2, 3)):
        for looked_at in (False, True):
            x = T.arange(6.0).reshape(2, 3).clone().requires_grad_()
            y = x.clone()
            part = view(y)
            y.mul_(2)
            if looked_at:
                seen.append(part.grad_fn.name())
            y.detach_()
            seen += [part.grad_fn.name(), len(part.grad_fn.next_functions), attempt(part.sum().backward), x.grad]
    return seen


@scenario
def hooks_of_leaves_that_no_longer_want_gradients(T: Any) -> Any:
    seen: list[Any] = []
    for stop in (lambda x: x.detach_(), lambda x: x.requires_grad_(False)):
        x = T.ones(3, requires_grad=True)
        y = x * 2
        x.register_hook(lambda g: seen.append("hook"))
        x.register_post_accumulate_grad_hook(lambda t: seen.append("accumulated"))
        accumulator = y.grad_fn.next_functions[0][0]
        accumulator.register_prehook(lambda outer: seen.append("before"))
        accumulator.register_hook(lambda inner, outer: seen.append(len(inner)))
        stop(x)
        y.sum().backward()
        seen.append(x.grad)
    x = T.ones(2, 3, requires_grad=True)
    y = x * 2
    x.detach_().unsqueeze_(0)
    return [*seen, attempt(y.sum().backward)]


@scenario
def saved_tensors_that_were_detached(T: Any) -> Any:
    checkpoint = import_module(f"{T.__name__}.utils.checkpoint").checkpoint
    functions = [lambda t: t.exp(), lambda t: t * t, lambda t: T.minimum(t, T.zeros(3, dtype=T.float64))]
    seen = []
    for f in functions:
        for run in (f, lambda t, f=f: checkpoint(f, t, use_reentrant=False)):
            x = T.ones(3, requires_grad=True)
            y = x.tanh()
            z = run(y).sum()
            y.detach_()
            seen += [attempt(z.backward), x.grad]
    return seen


@scenario
def saved_tensors_that_hooks_kept_and_were_detached(T: Any) -> Any:
    graph = T.autograd.graph
    seen = []
    for hooks in (graph.save_on_cpu, lambda: graph.saved_tensors_hooks(lambda t: (t,), lambda kept: kept[0])):
        x = T.ones(3, requires_grad=True)
        y = x.tanh()
        with hooks():
            z = (y * y).sum()
        y.detach_()
        seen += [attempt(z.backward), x.grad]
    return seen


@scenario
def nodes_of_values_written_to_parts(T: Any) -> Any:
    """A value loses its leading dimensions of one element, and is expanded, where its shape is not that of the part."""
    seen = []
    for shape in ((1,), (2, 1), (2, 3)):
        for of_value in ((1,), (1, 1), (1, 1, 1), (3,), (1, 3)):
            for index in (..., slice(0, 1), None, 0, slice(None, None, 2)):
                x, value = T.zeros(shape), T.ones(of_value, requires_grad=True)
                failed = attempt(lambda x=x, index=index, value=value: x.__setitem__(index, value))
                node = x.grad_fn
                if node is not None:
                    x.sum().backward()
                    seen += [[inner and inner.name() for inner, _ in node.next_functions], value.grad]
                else:
                    seen.append(failed)
    return seen


@scenario
def complex_tensors_reshaped_in_place(T: Any) -> Any:
    """Views of their real numbers keep looking where they looked, and so do complex views of real tensors."""
    seen = []
    for change in (lambda z, part: z.mul_(2), lambda z, part: part.mul_(3)):
        x = T.ones(1, 3, 2, dtype=T.complex64, requires_grad=True)
        z = x * (2 + 1j)
        part = z.imag[..., 1]
        z.squeeze_().t_()
        change(z, part)
        (z * z).real.sum().backward()
        seen += [part, part.grad_fn.name(), z.grad_fn.name(), x.grad]
        x = T.ones(1, 3, 2, requires_grad=True)
        z = x * 2
        part = T.view_as_complex(z)
        z.squeeze_()
        change(z, part)
        (part * part).imag.sum().backward()
        seen += [part, part.grad_fn.name(), z.grad_fn.name(), x.grad]
    return seen


@scenario
def tensors_without_gradients_take_any_values(T: Any) -> Any:
    bits = T.zeros(2, 3) > 1
    part = bits.unbind()[0]
    part.copy_(T.ones(3, requires_grad=True))
    return [part, bits, bits._version, part.requires_grad]


@scenario
def layouts_of_results(T: Any) -> Any:
    """The first operand decides, which in rsub is the second; dimensions of one element have their say."""
    x, y = T.ones(3, 2).t(), T.ones(2, 3)
    single = T.ones(1, 1, 2).permute(2, 1, 0)
    turned = T.ones(2, 3).t_()
    halves = [T.ones(3, dtype=kind).expand(2, 3) for kind in (T.float16, T.bfloat16)]
    made = [x + y, T.rsub(x, y), T.rsub(y, x), T.rsub(x, 2), T.ones(2, 1) + single, turned + T.ones(3, 2)]
    made += [f(half) for half in halves for f in (lambda t: t * 3, lambda t: t / 2, lambda t: t * 2.5)]
    return [[step for size, step in zip(t.shape, t.stride()) if size > 1] for t in made]


@scenario
def numbers_with_gaps_are_negated(T: Any) -> Any:
    """In memory of which only every fourth or eighth number is theirs."""
    seen = []
    for kind in (T.float32, T.float64, T.int32, T.float16):
        for step in (2, 4, 8):
            x = T.arange(1, 80).to(kind)
            x[::step].neg_()
            out = T.zeros(80, dtype=kind)[::step][: -(-79 // step)]
            T.neg(x[::step], out=out)
            seen += [x[:20].tolist(), out.tolist()]
    return seen


@scenario
def one_divided_by_complex_zero(T: Any) -> Any:
    zero = T.zeros(2, dtype=T.complex128)
    return [T.reciprocal(zero).abs(), zero.reciprocal().real, (1 / (zero + 2)), zero.clone().add_(2).reciprocal_()]


@scenario
def products_along_a_single_element(T: Any) -> Any:
    """Do not depend on it: there is no second derivative."""
    x = T.tensor([[2.0], [3.0]], requires_grad=True)
    return [T.autograd.grad(x.cumprod(dim).sum(), x, create_graph=True)[0] for dim in (0, 1)]


@scenario
def tangents_remember_what_was_changed_in_place(T: Any) -> Any:
    """Forward mode inside of backward mode: the old values are part of the tangent."""
    functions = [lambda t: t.clone().mul_(t), lambda t: t.clone().mul_(t).mul_(t), lambda t: t.clone().add_(t).pow_(3)]
    x = T.tensor([0.5, -1.2, 2.0], dtype=T.float64)
    return [T.func.grad(lambda t, f=f: T.func.jvp(f, (t,), (t * 2,))[1].sum())(x) for f in functions]


@scenario
def out_of_another_dtype_or_layout(T: Any) -> Any:
    x = T.arange(6.0).reshape(3, 2).t()
    functions = [T.neg, T.floor, T.round, T.sign, lambda t, out: T.clamp(t, 1, 2, out=out), T.sin,
                 lambda t, out: T.where(t > 1, t, t, out=out)]  # fmt: skip
    seen: list[Any] = [f(x, out=T.empty(0)).stride() for f in functions]
    return seen + [attempt(lambda f=f: f(x, out=T.empty(2, 3, dtype=T.float64))) for f in functions]


@scenario
def storages_in_any_order_of_dimensions(T: Any) -> Any:
    x = T.arange(24.0).reshape(2, 3, 4).permute(1, 0, 2)
    made = [T.ones_like(x), T.zeros_like(x) + x, x.clone()]
    return [[t.stride(), t.untyped_storage().nbytes(), t.as_strided((6,), (4,)).tolist()] for t in made]


@scenario
def slices_that_leave_nothing_out(T: Any) -> Any:
    """Are recorded if a bound counts from the end, also of a dimension without elements."""
    slices = [slice(None, -1), slice(-3, None), slice(0, 5), slice(0, 3, 1), slice(-3, None, 1), slice(0, -1, 1)]
    indices = [form for s in slices for form in ((s,), (s, ...), (None, s), (..., s))]
    return [T.ones(n, 3, requires_grad=True)[index].grad_fn.name() for n in (0, 3) for index in indices]


@scenario
def layouts_of_elements_picked_beside_single_ones(T: Any) -> Any:
    """The index has a say in dimensions of one element."""
    at = T.tensor([0, 0])
    x, y = T.ones(2, 3).t().unsqueeze(0), T.ones(3, 2).t().unsqueeze(1)
    return [x[:, at].stride(), x[..., at].stride(), y[None, :1][..., at].stride(), y[None, :, 0][:, at].stride()]


@scenario
def products_of_batches_lie_in_rows(T: Any) -> Any:
    x = T.arange(16.0).reshape(2, 2, 2, 2).permute(1, 0, 2, 3)
    made = [x @ x, T.matmul(x, x[0]), x[0] @ x, x.half() @ x.half(), x.permute(0, 1, 3, 2) @ x]
    return [made[0], [t.stride() for t in made]]


@scenario
def images_of_one_column_keep_their_format(T: Any) -> Any:
    x = T.arange(12.0).reshape(2, 2, 3, 1).contiguous(memory_format=T.channels_last)
    made = [x.relu(), x * 2, x + x, x.bfloat16().relu()]
    joined = [T.cat([x, made[0]], -1), T.cat([made[1], made[2]], 1), T.stack([made[0], x])]
    return [[t.stride() for t in made], [t.stride() for t in joined]]


@scenario
def gradients_retained_before_reshaping_in_place(T: Any) -> Any:
    """Keep the shape that the tensor had, and count what was computed of it then."""
    ways = [lambda t: t.unsqueeze_(0), lambda t: t.t_(), lambda t: t.as_strided_((3, 2), (2, 1)),
            lambda t: t.mul_(3).transpose_(0, 1), lambda t: t.t_().unsqueeze_(0)]  # fmt: skip
    seen: list[Any] = []
    for reshape in ways:
        for view in (False, True):
            x = T.ones(2, 3, requires_grad=True)
            y = (x * 2)[:] if view else x * 2
            y.retain_grad()
            y.register_hook(seen.append)
            later = y + 1
            reshape(y)
            (later.sum() + y.sum() * 2).backward()
            seen += [y.grad, x.grad, y.grad_fn.name()]
    return seen


@scenario
def losses_of_certain_decisions(T: Any) -> Any:
    """Are zeros, negative ones unless they are summed."""
    f = T.nn.functional
    seen = []
    for shape in ((2,), (1, 2), (1, 2, 1), (1, 2, 1, 1)):
        scores = T.tensor([1000.0, 0.0]).reshape(shape)
        for target in (0, -100):
            targets = T.full(scores.sum(1).shape if len(shape) > 1 else (), target)
            for reduction in ("none", "sum") if target else ("none", "sum", "mean"):
                for weight in (None, T.tensor([1.0, 2.0])):
                    seen.append(f.cross_entropy(scores, targets, weight, reduction=reduction).reciprocal())
                    seen.append(f.nll_loss(T.zeros(shape), targets, weight, reduction=reduction).reciprocal())
    return seen


@scenario
def transforms_at_views_whose_base_was_changed(T: Any) -> Any:
    """The views learn of their base's new history when a transform meets them, also as tangents and cotangents."""

    def square(t: Any) -> Any:
        return t * t

    seen = []
    ones = T.ones(2, 2)
    for f in (
        lambda v: T.func.jvp(square, (ones,), (v,))[1],
        lambda v: T.func.vjp(square, ones)[1](v)[0],
        lambda v: T.func.vjp(square, v)[1](ones)[0],
        lambda v: T.func.jacrev(square)(v),
    ):
        memory, b = T.ones(2, 2), T.tensor([2.0], requires_grad=True)
        view = memory.permute(1, 0)
        memory.sub_(b)
        seen.append(T.autograd.grad(f(view).sum(), b)[0])
    return seen


@scenario
def results_detached_in_place_after_a_recorded_gradient(T: Any) -> Any:
    """The gradient has saved what the rule was given, which is not the tensor that is detached."""

    def second(f: Any, early: bool) -> Any:
        x = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
        y = x.tanh()
        z = f(y)
        if early:
            y.detach_()
        g = T.autograd.grad(z.sum(), x, create_graph=True)[0]
        y.detach_()
        return T.autograd.grad(g.sum(), x)[0]

    functions = [lambda y: y + 1, lambda y: y.view(2) * 2, lambda y: y * y]
    return [attempt(second, f, early) for f in functions for early in (False, True)]


@scenario
def leaves_moved_into_the_interior_of_a_graph(T: Any) -> Any:
    seen = []
    for freeze in (lambda x: x.detach_(), lambda x: x.requires_grad_(False)):
        for change in (lambda x, w: x.fill_(w), lambda x, w: x.mul_(w), lambda x, w: x.__setitem__(0, w)):
            x, w = T.tensor([1.0, 2.0], requires_grad=True), T.tensor(3.0, requires_grad=True)
            z = x + 2
            freeze(x)
            change(x, w)
            seen += [attempt(lambda x=x, w=w, z=z: T.autograd.grad((z + x).sum(), w, retain_graph=True)[0])]
            seen += [attempt((z + x).sum().backward), x.is_leaf]
    return seen


@scenario
def repeated_elements_lie_row_by_row(T: Any) -> Any:
    """And are a view of the copy, whatever the order of dimensions was."""
    seen = []
    for x in (T.ones(2, 3), T.ones(3, 2).t(), T.ones(2, 3, 4).permute(2, 0, 1)):
        for repeats, dim in ((1, 0), (2, 0), (2, -1), (3, None)):
            y = T.repeat_interleave(x.clone().requires_grad_(), repeats, dim)
            seen.append([y.stride(), y._is_view(), y.grad_fn.name()])
    return seen


@scenario
def hooks_of_several_results_are_called_as_they_were_registered(T: Any) -> Any:
    seen = []
    split = make(T, lambda ctx, x: (x * 2, x * 3), lambda ctx, a, b: a * 2 + b * 3)
    for several in (split.apply, lambda x: T.var_mean(x, 0), lambda x: T.unbind(x)):
        x = T.tensor([1.0, 2.0], requires_grad=True)
        first, second = several(x)
        for name, t in (("second", second), ("first", first), ("second again", second)):
            t.register_hook(lambda g, name=name: seen.append([name, g.tolist()]))
        (first * 2 + second).sum().backward()
    return seen


@scenario
def tensors_that_a_function_saved_and_that_were_detached_in_place(T: Any) -> Any:
    seen = []

    def backward(ctx: Any, g: Any) -> Any:
        (saved,) = ctx.saved_tensors
        seen.append([saved is y, saved.requires_grad, saved.grad_fn is None])
        return g

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    for again in (lambda y: y, lambda y: y.requires_grad_()):
        y = T.tensor([1.0], requires_grad=True) + 1
        z = make(T, forward, backward).apply(y)
        again(y.detach_())
        seen.append(attempt(z.backward))
    return seen


@scenario
def views_that_functions_made_of_tensors_without_gradient(T: Any) -> Any:
    seen = []
    one = make(T, lambda ctx, x: x.view_as(x), lambda ctx, g: g)
    two = make(T, lambda ctx, x: (x.view_as(x), x[0]), lambda ctx, g, h: g)
    itself = make(T, lambda ctx, x: x, lambda ctx, g: g)
    for view in (one.apply, lambda x: two.apply(x)[0], itself.apply):
        b = T.ones(1, requires_grad=True)
        changes = [lambda v, b=b: v.add_(b), lambda v, b=b: v.copy_(b), lambda v: v.add_(1), lambda v: v.mul_(2)]
        seen += [attempt(lambda v, c=c: c(v).requires_grad, view(T.ones(1, 2))) for c in changes]
        x = T.ones(1, 2)
        v = view(x)
        x += b
        seen.append(attempt(lambda v=v: v.grad_fn is None))
        with T.no_grad():
            v = view(T.ones(1, 2))
        seen.append(attempt(lambda v, b=b: v.add_(b).requires_grad, v))
    return seen


@scenario
def views_of_views_that_were_not_recorded(T: Any) -> Any:
    seen = []
    for quiet in (T.no_grad, T.inference_mode):
        x = T.zeros(2)
        with quiet():
            y = x.view(2)
        z = y.requires_grad_().view(2)
        seen += [attempt(lambda t=t: t.div_(2)) for t in (z, y)]
    return seen


@scenario
def views_that_require_grad_for_the_sake_of_their_base(T: Any) -> Any:
    """No edge leads to them, and what only their gradient needs is not saved."""
    own = make(T, lambda ctx, x, y: x * y, lambda ctx, g: (g * 2, g * 3)).apply
    alone = make(T, lambda ctx, x: x * 2, lambda ctx, g: g * 2).apply
    functions = [
        lambda v, y, w: v @ y, lambda v, y, w: v * w, lambda v, y, w: w * v, lambda v, y, w: T.cat([v, w]),
        lambda v, y, w: T.addmm(T.ones(2, 2), v, y), lambda v, y, w: v.t() * y, lambda v, y, w: v.clone().mul_(w),
        lambda v, y, w: T.maximum(v, w), lambda v, y, w: own(v, w), lambda v, y, w: alone(v), lambda v, y, w: v.exp(),
        lambda v, y, w: v.sum(), lambda v, y, w: v[0], lambda v, y, w: v.max(0)[0], lambda v, y, w: v.unbind()[0],
        lambda v, y, w: v.sigmoid().mul_(2), lambda v, y, w: v * v, lambda v, y, w: T.stack([v, v]),
        lambda v, y, w: v.detach().mul_(v),
    ]  # fmt: skip
    seen = []
    for function in functions:
        x = T.full((3, 2), 2.0, requires_grad=True)
        y, w = x * 1, T.full((2, 3), 3.0) * x.t()
        a = T.ones(3, 2)
        v = a.t()
        a.requires_grad_()
        z = function(v, y, w)
        seen.append([None if node is None else node.name() for node, _ in z.grad_fn.next_functions])
        y.mul_(2)
        w.mul_(2)
        seen += [attempt(z.sum().backward), a.grad, v.grad, x.grad]
    return seen


@scenario
def derivatives_at_views_whose_base_was_detached(T: Any) -> Any:
    """Their node leads nowhere, but one can differentiate by them."""
    func = import_module(f"{T.__name__}.func")
    f = lambda t: t.exp() * t
    total = lambda t: f(t).sum()
    transforms = [
        lambda z: func.vjp(total, z)[1](T.ones(()))[0], func.grad(total), func.jacrev(f), func.hessian(total),
        lambda z: func.jvp(f, (z,), (T.ones_like(z),))[1], func.vmap(f), func.jacfwd(f),
    ]  # fmt: skip
    seen = []
    for transform in transforms:
        y = T.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True) * 2
        z = y.reshape(2, 2)
        y.add_(0.5)
        y.detach_()
        made = transform(z)
        seen += [made, attempt(lambda made=made, z=z: T.autograd.grad(made.sum(), z)[0])]
    return seen


@scenario
def products_that_are_views_of_transposed_ones(T: Any) -> Any:
    seen = []
    for a, b in (((3, 2), (3, 2, 1)), ((1, 3, 2), (3, 2, 1)), ((1, 2), (2, 2, 3)), ((1, 1, 2), (2, 2, 3)),
                 ((3, 2), (2, 2, 3)), ((1, 1), (1, 3, 1, 2)), ((2,), (2, 2, 1))):  # fmt: skip
        for wanted in ((True, False), (False, True), (True, True)):
            x, y = T.ones(a, requires_grad=wanted[0]), T.ones(b, requires_grad=wanted[1])
            with T.no_grad():
                seen.append((x @ y)._is_view())
            z = x @ y
            seen += [z._is_view(), list(z.stride()), z.grad_fn.name()]
            z.mul_(2)
            seen += [z.grad_fn.name(), attempt(z.sum().backward), x.grad, y.grad]
    return seen


@scenario
def hooks_of_a_tensor_that_was_detached_in_place(T: Any) -> Any:
    """They stay with the node that it came from, and are those of the leaf as well."""
    seen: list[Any] = []
    for change in (False, True):
        x = T.ones(3, requires_grad=True)
        y = x * 2
        handle = y.register_hook(lambda g: seen.append(g.sum().item()))
        z = y * 5
        if change:
            y.mul_(2)
        y.detach_().requires_grad_()
        y.register_hook(lambda g: seen.append("new"))
        (y * 3).sum().backward()
        z.sum().backward()
        handle.remove()
        y.sum().backward()
        seen.extend([x.grad, y.grad])
    return seen
