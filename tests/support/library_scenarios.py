"""Operators that programs define (torch.library). See scenarios.py."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from scenarios import attempt, collection, make

SCENARIOS, scenario = collection()


def library_of(T: Any) -> Any:
    return import_module(f"{T.__name__}.library")


def annotated(function: Any, returns: Any, **kinds: Any) -> Any:
    """A function with annotations: types of one of two modules."""
    function.__annotations__ = {**kinds, "return": returns}
    return function


def operator(T: Any, name: str, function: Any, returns: Any = None, mutates_args: Any = (), **kinds: Any) -> Any:
    returns = T.Tensor if returns is None else returns
    return library_of(T).custom_op(
        f"lgscenario::{name}", annotated(function, returns, **kinds), mutates_args=mutates_args
    )


@scenario
def schemas_of_functions(T: Any) -> Any:
    infer, tensor = library_of(T).infer_schema, T.Tensor
    all_kinds = annotated(
        lambda x, n, s=1.5, b=False, t="a", d=None, *, k=2: None, tensor,
        x=tensor, n=int, s=float, b=bool, t=str, d=T.dtype | None, k=int,
    )  # fmt: skip
    lists = annotated(
        lambda x, y, z, n=None: None, tuple[tensor, int], x=tensor | None, y=list[tensor], z=Sequence[int],
        n=list[float] | None,
    )  # fmt: skip
    change = annotated(lambda x, y: None, None, x=tensor, y=list[tensor])
    untyped, tupled = (lambda x: None), annotated(lambda x: None, tensor, x=tuple[int, int])
    several = annotated(lambda *x: None, tensor, x=int)
    wrong = [
        lambda: infer(untyped, mutates_args=()), lambda: infer(tupled, mutates_args=()),
        lambda: infer(several, mutates_args=()), lambda: infer(change, mutates_args=("z",)),
        lambda: infer(all_kinds, mutates_args=("n",)), lambda: infer(change, mutates_args="x"),
    ]  # fmt: skip
    return [
        infer(all_kinds, mutates_args=()), infer(lists, mutates_args=()),
        infer(change, mutates_args=("y",), op_name="change"), infer(change, mutates_args="unknown"),
        infer(annotated(lambda x: None, tuple[tensor], x=tensor), mutates_args=()),
        *[first_words(attempt(call)) for call in wrong],
    ]  # fmt: skip


def first_words(text: Any) -> str:
    """Without the signature, which names a module."""
    return str(text).split(" Got func")[0].split(" For example")[0]


@scenario
def an_operator_of_ones_own(T: Any) -> Any:
    seen: list[Any] = []

    def sine(x: Any, n: Any = 2) -> Any:
        seen.append(["kernel", T.is_grad_enabled(), x.requires_grad])
        return T.tensor(np.sin(x.detach().numpy()) * n)

    op = operator(T, "sine", sine, x=T.Tensor, n=int)
    x = T.ones(2, requires_grad=True)
    y = op(x)
    form = T.ops.lgscenario.sine.default
    seen += [y.grad_fn.name(), attempt(y.sum().backward), repr(op), str(form), repr(form), form.name(), form.__name__]
    seen += [str(form._schema), T.ops.lgscenario.sine.overloads(), op._opoverload is form]
    calls = [lambda: op(), lambda: op(x, 1, 2), lambda: op(x, k=1), lambda: op(x, n="a"), lambda: op(1.0),
             lambda: op(x, 2.5), lambda: T.ops.lgscenario.missing, lambda: T.ops.lgscenario.sine.other]  # fmt: skip
    seen += [attempt(call) for call in calls]

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        seen.append(["setup", len(inputs), inputs[1], output.requires_grad])
        ctx.save_for_backward(inputs[0])
        ctx.n = inputs[1]

    def backward(ctx: Any, g: Any) -> Any:
        seen.append(list(ctx.needs_input_grad))
        return g * ctx.saved_tensors[0].cos() * ctx.n, None

    library_of(T).register_autograd("lgscenario::sine", backward, setup_context=setup)
    op(x).sum().backward()
    (first,) = T.autograd.grad(op(x, 3).sum(), x, create_graph=True)
    with T.no_grad():
        seen.append(op(x).requires_grad)
    return [*seen, x.grad, first, T.autograd.grad(first.sum(), x)[0]]


@scenario
def operators_that_change_or_return_their_arguments(T: Any) -> Any:
    tensor = T.Tensor
    same = operator(T, "same", lambda x: x, x=tensor)
    part = operator(T, "part", lambda x: x[:1], x=tensor)
    twice = operator(T, "twice", lambda x: (x.clone(),) * 2, tuple[tensor, tensor], x=tensor)

    def increase(x: Any) -> None:
        x.detach().numpy()[...] += 1

    library = library_of(T)
    change = library.custom_op("lgscenario::change", annotated(increase, None, x=tensor), mutates_args={"x"})
    x, leaf = T.zeros(2), T.zeros(2, requires_grad=True)
    before = x._version
    other = leaf.clone()
    return [
        *["must not also be an input" in attempt(op, T.ones(2)) for op in (same, part, twice)],
        change(x), x, x._version - before, change(leaf), change(other), other.grad_fn.name(),
        attempt(lambda: change.register_autograd(lambda ctx: None)),
    ]  # fmt: skip


@scenario
def operators_of_lists(T: Any) -> Any:
    seen: list[Any] = []
    tensor = T.Tensor
    join = operator(
        T, "join", lambda xs, dim: T.tensor(np.concatenate([x.detach().numpy() for x in xs], dim)), xs=list[tensor],
        dim=int,
    )  # fmt: skip

    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.sizes = [x.shape[0] for x in inputs[0]]

    def backward(ctx: Any, g: Any) -> Any:
        seen.append(list(ctx.needs_input_grad))
        return list(g.split(ctx.sizes)), None

    join.register_autograd(backward, setup_context=setup)
    a, b, c = T.ones(2, requires_grad=True), T.ones(3), T.ones(1, requires_grad=True)
    (join([a, b, c], 0) * T.arange(6.0)).sum().backward()
    cut = operator(T, "cut", lambda x, n: [p.clone() for p in x.split(n)], list[tensor], x=tensor, n=int)
    cut.register_autograd(lambda ctx, gs: (T.cat(list(gs)), None))
    parts = cut(a, 1)
    (more,) = T.autograd.grad((parts[0] * 3).sum(), a)
    mixed = operator(T, "mixed", lambda x: (x.sin(), 2), tuple[tensor, int], x=tensor)
    mixed.register_autograd(lambda ctx, g, _: g if _ is None else None)
    result = mixed(a)
    (last,) = T.autograd.grad(result[0].sum(), a)
    return [*seen, a.grad, c.grad, len(parts), parts[0].requires_grad, more, result[1], type(result).__name__, last]


@scenario
def arguments_by_name_only(T: Any) -> Any:
    seen: list[Any] = []
    scale = operator(T, "scale", lambda x, *, s, t=1.0: x * s * t, x=T.Tensor, s=float, t=float)

    def setup(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
        seen.append([len(inputs), sorted(keyword_only_inputs.items())])
        ctx.s = keyword_only_inputs["s"]

    scale.register_autograd(lambda ctx, g: g * ctx.s, setup_context=setup)
    x = T.ones(2, requires_grad=True)
    scale(x, s=3).sum().backward()
    refused = [lambda: scale(x, 3.0), lambda: scale(x), lambda: scale(x, s=1, u=1)]
    return [*seen, x.grad, *[attempt(call) for call in refused]]


@scenario
def many_samples_of_an_operator(T: Any) -> Any:
    func = import_module(f"{T.__name__}.func")
    seen: list[Any] = []

    def cube(x: Any, s: Any) -> Any:
        seen.append(list(x.shape))
        return T.tensor(x.detach().numpy() ** 3 * s)

    op = operator(T, "cube", cube, x=T.Tensor, s=float)
    samples = T.arange(6.0).reshape(3, 2)
    one_by_one = func.vmap(op, in_dims=(0, None))(samples, 2.0)

    def together(info: Any, in_dims: Any, x: Any, s: Any) -> Any:
        seen.append([info.batch_size, info.randomness, list(in_dims)])
        return op(x, s), in_dims[0]

    op.register_vmap(together)
    at_once = func.vmap(op, in_dims=(0, None))(samples, 2.0)
    op.register_autograd(
        lambda ctx, g: (g * 6 * ctx.saved_tensors[0] ** 2, None),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
    )
    x = T.ones(3, 2, requires_grad=True)
    func.vmap(lambda t: op(t, 2.0))(x).sum().backward()
    return [*seen, one_by_one, at_once, x.grad]


@scenario
def kernels_and_autocast_of_operators(T: Any) -> Any:
    library, tensor = library_of(T), T.Tensor
    op = operator(T, "kernel", lambda x: x * 2, x=tensor)
    values = [op(T.ones(1))]
    op.register_kernel("cpu")(lambda x: x * 3)
    values.append(op(T.ones(1)))
    with op.set_kernel_enabled("cpu", False):
        values.append(op(T.ones(1)))
    far = library.custom_op(
        "lgscenario::far", annotated(lambda x: x, tensor, x=tensor), mutates_args=(), device_types="cuda"
    )
    missing = str(attempt(far, T.ones(1))).split(". ")[0]
    library.register_kernel("lgscenario::far", "cpu")(lambda x: x * 5)
    values.append(far(T.ones(1)))
    add = operator(T, "add", lambda x, y: x + y, x=tensor, y=tensor)
    add.register_autocast("cpu", T.bfloat16)
    with T.autocast("cpu", T.bfloat16):
        kinds = [str(add(T.ones(1), T.ones(1)).dtype), str(add(T.ones(1), T.ones(1).double()).dtype)]
    return [*values, missing, *kinds, str(add(T.ones(1), T.ones(1)).dtype), attempt(add.register_autocast, 1, T.half)]


@scenario
def libraries(T: Any) -> Any:
    library = library_of(T)
    double = make(T, lambda ctx, x: x * 2, lambda ctx, g: g * 7)
    x = T.ones(2, requires_grad=True)
    with library._scoped_library("lgscoped", "FRAGMENT") as lib:
        seen = [lib.define("scale(Tensor x, float s=2.0) -> Tensor")]
        lib.impl("scale", lambda x, s=2.0: x * s, "CPU")
        seen += [T.ops.lgscoped.scale(x.detach()), T.ops.lgscoped.scale(x, 3.0).grad_fn.name()]
        lib.define("implicit(Tensor x) -> Tensor")
        lib.impl("implicit", lambda x: x.sin(), "CompositeImplicitAutograd")
        lib.define("own(Tensor x) -> Tensor")
        lib.impl("own", lambda x: x * 2, "CPU")
        lib.impl("own", double.apply, "Autograd")
        seen += [T.ops.lgscoped.implicit(x).grad_fn.name(), T.autograd.grad(T.ops.lgscoped.own(x).sum(), x)[0]]
        seen.append(attempt(lib.define, "own(Tensor x) -> Tensor").split(" (")[0])
        library.define("lgscoped::plus", "(Tensor x) -> Tensor", lib=lib)
        library.impl("lgscoped::plus", "cpu", lambda x: x + 1, lib=lib)
        library.register_autograd("lgscoped::plus", lambda ctx, g: g * 4, lib=lib)
        plus = T.ops.lgscoped.plus(x)
        seen += [plus.grad_fn.name(), T.autograd.grad(plus.sum(), x)[0]]
        lib.define("two.a(Tensor x) -> Tensor")
        lib.define("two.b(Tensor x, Tensor y) -> Tensor")
        lib.impl("two.a", lambda x: x + 1, "CPU")
        lib.impl("two.b", lambda x, y: x + y, "CPU")
        two = T.ops.lgscoped.two
        seen += [two.overloads(), two.b.name(), two(x.detach(), x.detach())]
    refused = [
        lambda: T.ops.lgscoped.scale, lambda: library.Library("lgkind", "FOO"),
        lambda: library.register_autograd("lgscoped::nope", lambda ctx, g: g),
        lambda: library.register_autograd(5, lambda ctx, g: g),
    ]  # fmt: skip
    return [*seen, *[attempt(call) for call in refused]]


@scenario
def operators_in_selective_checkpoints(T: Any) -> Any:
    """What is kept is not computed again."""
    utils = import_module(f"{T.__name__}.utils.checkpoint")
    count: list[int] = []

    def extra(x: Any) -> Any:
        count.append(1)
        return x.sin(), 2

    op = operator(T, "extra", extra, tuple[T.Tensor, int], x=T.Tensor)
    op.register_autograd(
        lambda ctx, g, _: g * ctx.saved_tensors[0].cos(),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
    )
    forms = [T.ops.lgscenario.extra.default]
    x = T.ones(2, requires_grad=True)
    y = utils.checkpoint(
        lambda t: (T.ops.lgscenario.extra(t)[0] * t.sin().exp()).sin(), x, use_reentrant=False,
        context_fn=lambda: utils.create_selective_checkpoint_contexts(forms),
    )  # fmt: skip
    return [T.autograd.grad(y.sum(), x)[0], len(count)]


@scenario
def operators_that_autograd_knows_nothing_of(T: Any) -> Any:
    """Their results may have a history all the same: what the kernel recorded, or one that leads nowhere."""
    compiled = import_module(f"{T.__name__}._C") if T.__name__ != "torch" else T._C
    seen: list[Any] = []
    before = compiled._get_autograd_fallback_mode()

    def rise(x: Any, y: Any) -> Any:
        with T.no_grad():
            x.sin_()
            y.cos_()
        return x, y

    for mode in ("nothing", "warn"):
        compiled._set_autograd_fallback_mode(mode)
        with library_of(T)._scoped_library("lgfallback", "FRAGMENT") as lib:
            lib.define("values(Tensor a, Tensor b) -> Tensor")
            lib.impl("values", lambda a, b: T.tensor(a.detach().numpy() + b.detach().numpy()), "CPU")
            lib.define("same(Tensor x) -> Tensor")
            lib.impl("same", lambda x: x, "CPU")
            lib.define("rise(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))")
            lib.impl("rise", rise, "CPU")
            lib.define("partly(Tensor a, Tensor b) -> (Tensor, Tensor)")
            lib.impl("partly", lambda a, b: (None, b.clone()), "CPU")
            lib.define("listed(Tensor[] a) -> Tensor[]")
            lib.impl("listed", lambda a: [t.detach() * 2 for t in a], "CPU")
            x, ops = T.ones(3, requires_grad=True), T.ops.lgfallback
            bases = [x.clone(), x.clone()]
            parts = [bases[0][0], bases[1][1]]
            results = [ops.values(x.detach(), x), ops.same(x), *ops.rise(*parts), ops.partly(None, x)[1]]
            results += [*ops.listed([x, x.detach()]), *bases, *parts]
            for each in results:
                seen.append([each.requires_grad, attempt(lambda t=each: t.sum().backward(retain_graph=True)), x.grad])
                x.grad = None
    compiled._set_autograd_fallback_mode(before)
    return seen
