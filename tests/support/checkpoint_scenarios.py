"""Scenarios of leafgrad.utils.checkpoint. See scenarios.py."""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import logging
from collections.abc import Callable
from typing import Any

from scenarios import attempt, collection, leaf, plain

SCENARIOS, scenario = collection()


def tools(T: Any) -> Any:
    # PyTorch's debug=True writes to a log, in a form that pytest's own handlers of logs do not understand.
    log = logging.getLogger("LoggingTensor")
    log.propagate = False
    log.handlers.clear()
    return importlib.import_module(f"{T.__name__}.utils.checkpoint")


class Calls:
    """Counts the calls of a function, and lets the first differ from the others."""

    def __init__(self, first: Callable[..., Any], then: Callable[..., Any] | None = None) -> None:
        self.first, self.then = first, then or first
        self.count = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.count += 1
        return (self.first if self.count == 1 else self.then)(*args, **kwargs)


# -- arguments --------------------------------------------------------------------------------------------------------


@scenario
def arguments_that_do_not_fit(T: Any) -> Any:
    C = tools(T)
    x = leaf(T, [1.0, 2.0])
    calls: list[Any] = [
        dict(use_reentrant=True, b=2),
        dict(use_reentrant=True, b=2, c=3),
        dict(use_reentrant=True, context_fn=lambda: 1),
        dict(use_reentrant=True, debug=True),
        dict(use_reentrant=True, determinism_check="none"),
        dict(use_reentrant=True, early_stop=False, preserve_rng_state=False),
        dict(use_reentrant=False, determinism_check="other"),
        dict(use_reentrant=False, context_fn=lambda: 1),
        dict(use_reentrant=False, debug=True, context_fn=lambda: (1, 2)),
        dict(use_reentrant=False, unknown=1),
        dict(),
    ]
    return [attempt(lambda k=k: C.checkpoint(T.sin, x, **k)) for k in calls]


@scenario
def inputs_of_all_kinds(T: Any) -> Any:
    C = tools(T)
    seen = []
    for reentrant in (True, False):
        x, w = leaf(T, [1.0, 2.0]), leaf(T, [3.0, 4.0])
        y = C.checkpoint(lambda a, n, c, w=w: (a * n).sin() * c * w, x, 3, T.ones(2), use_reentrant=reentrant)
        y.sum().backward()
        seen.append((y, x.grad, w.grad, y.grad_fn.name()))
    x = leaf(T, [1.0, 2.0])
    by_name = C.checkpoint(lambda a, b=None: (a * b["k"][0]).exp(), x, b={"k": [x]}, use_reentrant=False)
    by_name.sum().backward()
    seen.append((by_name, x.grad))
    w = leaf(T, [1.0])
    C.checkpoint(lambda: w.sin().exp(), use_reentrant=False).sum().backward()
    return [*seen, w.grad]


@scenario
def nothing_requires_grad(T: Any) -> Any:
    C = tools(T)
    seen = []
    for reentrant in (True, False):
        seen.append(C.checkpoint(T.sin, T.ones(2), use_reentrant=reentrant))
        seen.append(C.checkpoint(lambda a: a + 1, 3, use_reentrant=reentrant))
        with T.no_grad():
            seen.append(C.checkpoint(T.sin, leaf(T, [1.0]), use_reentrant=reentrant))
    with T.inference_mode():
        seen.append(C.checkpoint(T.sin, T.ones(2), use_reentrant=False).is_inference())
    return seen


@scenario
def results_of_all_kinds(T: Any) -> Any:
    C = tools(T)
    functions: list[Any] = [
        lambda a: (a.sin(), 5, a.detach()),
        lambda a: [a.sin()],
        lambda a: {"k": a.sin()}["k"],
        lambda a: None,
        lambda a: a,
        lambda a: (a.sin(), a.long()),
    ]
    seen: list[Any] = []
    for reentrant, function in itertools.product((True, False), functions):
        y = C.checkpoint(function, leaf(T, [1.0, 2.0]), use_reentrant=reentrant)
        seen.append((type(y).__name__, y))
    x = leaf(T, [1.0, 2.0])
    a, b = C.checkpoint(lambda x: (x.sin(), x.detach()), x, use_reentrant=True)
    (a + b).sum().backward()
    return [*seen, x.grad, attempt(lambda: C.checkpoint(T.detach, x, use_reentrant=True).sum().backward())]


# -- backward ---------------------------------------------------------------------------------------------------------


@scenario
def ways_back(T: Any) -> Any:
    C = tools(T)

    def twice(reentrant: bool, retain: bool) -> Any:
        x = leaf(T, [1.0, 2.0])
        f = Calls(lambda a: a.sin().exp().sin())
        y = C.checkpoint(f, x, use_reentrant=reentrant).sum()
        y.backward(retain_graph=retain)
        return attempt(y.backward), x.grad, f.count

    def by_grad(reentrant: bool) -> Any:
        x = leaf(T, [1.0, 2.0])
        return T.autograd.grad(C.checkpoint(T.exp, x, use_reentrant=reentrant).sum(), x)

    def of_inputs(reentrant: bool) -> Any:
        x = leaf(T, [1.0, 2.0])
        C.checkpoint(T.exp, x, use_reentrant=reentrant).sum().backward(inputs=[x])
        return x.grad

    both = (True, False)
    seen = [plain(twice(reentrant, retain)) for reentrant in both for retain in both]
    return [*seen, *[attempt(by_grad, r) for r in both], *[attempt(of_inputs, r) for r in both]]


@scenario
def second_derivatives(T: Any) -> Any:
    C = tools(T)
    x = leaf(T, [1.0, 2.0])
    f = Calls(lambda a: a.sin().exp() * a)
    (g,) = T.autograd.grad(C.checkpoint(f, x, use_reentrant=False).sum(), x, create_graph=True)
    after_first = f.count
    (h,) = T.autograd.grad((g * g).sum(), x)
    return [g, h, after_first, f.count]


@scenario
def two_results_in_two_passes(T: Any) -> Any:
    C = tools(T)
    seen = []
    for group in (contextlib.nullcontext, C.GraphExecGroup):
        x = leaf(T, [1.0, 2.0])
        f = Calls(lambda a: (a.sin().exp(), a.cos().exp()))
        y, z = C.checkpoint(f, x, use_reentrant=False)
        with group():
            y.sum().backward()
            z.sum().backward()
        seen.append((x.grad, f.count))
    return seen


@scenario
def groups_that_overlap(T: Any) -> Any:
    C = tools(T)
    y = C.checkpoint(lambda a: a.sin().exp(), leaf(T, [1.0]), use_reentrant=False)

    def overlap() -> None:
        with C.GraphExecGroup():
            y.sum().backward(retain_graph=True)
            y.sum().backward()

    def nested() -> str:
        try:
            with C.GraphExecGroup(), C.GraphExecGroup():
                pass
        except RuntimeError as error:
            return str(error).split(" <")[0]
        return "no error"

    return [attempt(overlap), nested(), C.GraphExecGroup._get_current_group()]


@scenario
def checkpoints_in_checkpoints(T: Any) -> Any:
    C = tools(T)
    seen = []
    for kinds in itertools.product((True, False), repeat=3):
        order: list[int] = []

        def third(a: Any, order: Any = order) -> Any:
            order.append(3)
            return a.sin().exp()

        def second(a: Any, order: Any = order, kinds: Any = kinds, third: Any = third) -> Any:
            order.append(2)
            return C.checkpoint(third, a.cos(), use_reentrant=kinds[2]).exp().sin()

        def first(a: Any, order: Any = order, kinds: Any = kinds, second: Any = second) -> Any:
            order.append(1)
            return C.checkpoint(second, a.cos(), use_reentrant=kinds[1]).exp().sin()

        x = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
        C.checkpoint(first, x, use_reentrant=kinds[0]).sum().backward()
        seen.append((order, x.grad))
    return seen


@scenario
def gradients_inside(T: Any) -> Any:
    C = tools(T)
    order: list[str] = []

    def function(a: Any) -> Any:
        order.append("in")
        y = a.sin().exp()
        (g,) = T.autograd.grad(y.sum(), a, create_graph=True)
        order.append("out")
        return g.sin()

    x = leaf(T, [1.0, 2.0])
    C.checkpoint(function, x, use_reentrant=False).sum().backward()
    return [order, x.grad]


@scenario
def looking_at_saved_values(T: Any) -> Any:
    C = tools(T)
    f = Calls(lambda a: a.sin().exp().sin())
    y = C.checkpoint(f, leaf(T, [1.0, 2.0]), use_reentrant=False)
    seen = [y.grad_fn._saved_self, f.count, y.grad_fn._saved_self, f.count]
    y.sum().backward()

    class Twice(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            ctx.save_for_backward(a)
            return a * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            _ = ctx.saved_tensors
            return g * ctx.saved_tensors[0]

    g = Calls(lambda a: a * a.sin())
    product = C.checkpoint(g, leaf(T, [1.0, 2.0]), use_reentrant=False)
    seen += [product.grad_fn._saved_self, product.grad_fn._saved_other, g.count]
    twice = attempt(lambda: C.checkpoint(Twice.apply, leaf(T, [1.0]), use_reentrant=False).sum().backward())
    return [*seen, f.count, twice]


@scenario
def other_ways_to_gradients(T: Any) -> Any:
    C = tools(T)
    function = functools.partial(C.checkpoint, lambda a: a.sin().exp(), use_reentrant=False)
    x = leaf(T, [1.0, 2.0])
    seen: list[Any] = []
    y = function(x)
    handle = T.autograd.graph.register_multi_grad_hook([x, y], lambda gradients: seen.append(gradients))
    y.sum().backward()
    handle.remove()
    seen.append(T.autograd.functional.jacobian(function, x.detach()))
    seen.append(T.autograd.functional.hessian(lambda a: function(a).sum(), x.detach()))
    seen.append(T.autograd.grad(function(x), x, T.eye(2), is_grads_batched=True))
    middle: list[Any] = []

    def with_a_middle(a: Any) -> Any:
        middle.append(a.sin())
        return middle[-1].exp().sin()

    y = C.checkpoint(with_a_middle, x, use_reentrant=False)
    seen.append((T.autograd.grad(y.sum(), middle[0]), len(middle)))
    with T.autograd.forward_ad.dual_level():
        dual = T.autograd.forward_ad.make_dual(x, T.ones(2))
        seen.append(T.autograd.forward_ad.unpack_dual(function(dual)).tangent)
    return seen


@scenario
def hooks_inside(T: Any) -> Any:
    C = tools(T)
    order: list[str] = []

    def function(a: Any) -> Any:
        with T.autograd.graph.saved_tensors_hooks(pack, unpack):
            return a.sin().exp()

    def pack(t: Any) -> Any:
        order.append("pack")
        return t

    def unpack(t: Any) -> Any:
        order.append("unpack")
        return t

    x = leaf(T, [1.0, 2.0])
    C.checkpoint(function, x, use_reentrant=False).sum().backward()
    y = C.checkpoint(lambda a: a.sin().exp(), x, use_reentrant=False)
    return [order, x.grad, attempt(lambda: y.grad_fn._raw_saved_result.register_hooks(pack, unpack))]


@scenario
def leaves_and_constants_inside(T: Any) -> Any:
    C = tools(T)
    seen: list[Any] = []
    for reentrant in (True, False):
        made: list[Any] = []

        def function(a: Any, made: Any = made) -> Any:
            made.append(leaf(T, [0.3, 0.4]))
            with T.no_grad():
                b = a.sin().exp()
            return (a * made[-1] * b).exp()

        x = leaf(T, [0.1, 0.2])
        C.checkpoint(function, x, use_reentrant=reentrant).sum().backward()
        seen.append((x.grad, [w.grad for w in made]))
    return seen


@scenario
def inputs_changed_in_place(T: Any) -> Any:
    C = tools(T)

    def run(how: str, reentrant: bool) -> Any:
        z = leaf(T, [1.0, 2.0]) * 2
        if how == "inside":
            y = C.checkpoint(lambda a: a.add_(1).sin(), z, use_reentrant=reentrant)
        elif how == "in a list":
            y = C.checkpoint(lambda a: a[0].sin().exp(), [z], use_reentrant=reentrant)
        else:
            y = C.checkpoint(lambda a: a.sin().exp(), z, use_reentrant=reentrant)
        if how != "inside":
            z.add_(1)
        y.sum().backward()
        return "no error"

    return [attempt(run, "outside", True), *[attempt(run, how, False) for how in ("outside", "inside", "in a list")]]


@scenario
def in_place_inside(T: Any) -> Any:
    C = tools(T)
    seen = []
    functions: list[Any] = [
        lambda a: a.sin().mul_(2).sin_().exp(),
        lambda a: (a * 1).sin_().cos_().exp(),
        lambda a: (a * 1)[:1].sin_().exp(),
    ]
    for function, reentrant in itertools.product(functions, (True, False)):
        x = leaf(T, [1.0, 2.0])
        C.checkpoint(function, x, use_reentrant=reentrant).sum().backward()
        seen.append(x.grad)
    return seen


# -- the second run ---------------------------------------------------------------------------------------------------


@scenario
def runs_that_differ(T: Any) -> Any:
    C = tools(T)
    short, long = lambda a: a.sin(), lambda a: a.sin().exp()
    cases: list[Any] = [
        (short, long, {}),
        (short, long, dict(early_stop=False)),
        (long, short, {}),
        (lambda a: (a * a).exp(), lambda a: (a[:1] * a[:1]).exp(), {}),
        (lambda a: a.exp(), lambda a: a.double().exp(), {}),
        (lambda a: a.exp(), lambda a: a.double().exp(), dict(debug=True)),
        (long, short, dict(debug=True)),
    ]

    def run(first: Any, then: Any, options: Any) -> str:
        y = C.checkpoint(Calls(first, then), leaf(T, [1.0, 2.0]), use_reentrant=False, **options)
        y.sum().backward()
        return "no error"

    return [attempt(run, *case) for case in cases]


@scenario
def what_differs_is_listed(T: Any) -> Any:
    C = tools(T)
    f = Calls(lambda a: (a * a).exp(), lambda a: (a[:1] * a[:1]).exp())
    try:
        C.checkpoint(f, leaf(T, [1.0, 2.0]), use_reentrant=False).sum().backward()
    except C.CheckpointError as error:
        return [isinstance(error, RuntimeError), str(error).split("\n")[:10]]
    return "no error"


@scenario
def errors_in_the_second_run(T: Any) -> Any:
    C = tools(T)

    def fails(a: Any) -> Any:
        raise KeyError("mine")

    seen = []
    for reentrant in (True, False):
        y = C.checkpoint(Calls(lambda a: a.sin().exp(), fails), leaf(T, [1.0]), use_reentrant=reentrant)
        seen.append(attempt(y.sum().backward))
        seen.append(attempt(lambda r=reentrant: C.checkpoint(fails, leaf(T, [1.0]), use_reentrant=r)))
        seen.append(T.is_grad_enabled())
    x = leaf(T, [1.0])
    seen.append(x.sin().grad_fn._saved_self is x)  # no hooks are left behind
    return seen


@scenario
def contexts(T: Any) -> Any:
    C = tools(T)
    log: list[Any] = []

    class Context:
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> None:
            log.append(("in", self.name, T.is_grad_enabled()))

        def __exit__(self, kind: Any, *error: Any) -> None:
            log.append(("out", self.name, kind and kind.__name__))

    def make() -> Any:
        log.append("made")
        return Context("forward"), Context("again")

    def function(a: Any) -> Any:
        log.append(("run", T.is_grad_enabled(), a.requires_grad, a.is_leaf))
        return a.sin().exp().sin()

    for options, mode in ((dict(), T.enable_grad), (dict(early_stop=False), T.enable_grad), (dict(), T.no_grad)):
        with mode():
            y = C.checkpoint(function, leaf(T, [1.0]), use_reentrant=False, context_fn=make, **options)
        if y.requires_grad:
            y.sum().backward(retain_graph=True)
            y.sum().backward()
    C.checkpoint(function, T.ones(1), use_reentrant=False, context_fn=make)
    return log


@scenario
def stopping_early(T: Any) -> Any:
    C = tools(T)
    seen: list[Any] = []
    for everywhere, here in itertools.product((None, True, False), (True, False)):
        order: list[str] = []

        def function(a: Any, order: Any = order) -> Any:
            y = a.sin().exp()
            order.append("after the last that is saved")
            return y * 1

        setting = contextlib.nullcontext() if everywhere is None else C.set_checkpoint_early_stop(everywhere)
        with setting:
            y = C.checkpoint(function, leaf(T, [1.0]), use_reentrant=False, early_stop=here)
        y.sum().backward()
        seen.append((everywhere, here, len(order)))

    def catches(a: Any) -> Any:
        y = a.sin().exp()
        try:
            return y.sin()
        except Exception as error:
            seen.append(type(error).__name__)
            return y

    C.checkpoint(catches, leaf(T, [1.0]), use_reentrant=False).sum().backward()
    return seen


@scenario
def debug_everywhere(T: Any) -> Any:
    C = tools(T)

    def run(everywhere: bool | None, here: bool) -> None:
        with C.set_checkpoint_debug_enabled(everywhere):
            f = Calls(lambda a: a.sin().exp(), T.sin)
            C.checkpoint(f, leaf(T, [1.0]), use_reentrant=False, debug=here).sum().backward()

    seen = [attempt(run, *case) for case in itertools.product((True, False, None), (True, False))]
    with C.set_checkpoint_debug_enabled(True):
        return [*seen, C.checkpoint(T.sin, leaf(T, [1.0]), use_reentrant=True)]


@scenario
def the_log_of_operations(T: Any) -> Any:
    C = tools(T)
    f = Calls(lambda a: (a * a).sin().exp(), lambda a: (a * a).sin())
    try:
        C.checkpoint(f, leaf(T, [1.0, 2.0]), use_reentrant=False, debug=True).sum().backward()
    except C.CheckpointError as error:
        lines = str(error).split("\n")
        return [type(error.__cause__).__name__, [n for n in lines if n.endswith(" in original)")]]
    return "no error"


@scenario
def random_numbers(T: Any) -> Any:
    C = tools(T)
    seen = []
    for reentrant, preserve in itertools.product((True, False), (True, False)):
        T.manual_seed(0)
        x = T.ones(6, requires_grad=True)
        y = C.checkpoint(
            lambda a: T.nn.functional.dropout(a.exp(), 0.5).sin(),
            x,
            use_reentrant=reentrant,
            preserve_rng_state=preserve,
        )
        y.sum().backward()
        seen.append((y, x.grad, T.rand(1)))
    return seen


# -- sequences --------------------------------------------------------------------------------------------------------


@scenario
def sequences(T: Any) -> Any:
    C = tools(T)
    seen: list[Any] = []
    for reentrant, (count, segments) in itertools.product((True, False), ((5, 2), (5, 3), (4, 4), (7, 3), (3, 1))):
        calls: list[Any] = []

        def layer(i: int, calls: Any = calls) -> Any:
            def run(a: Any) -> Any:
                calls.append((i, T.is_grad_enabled()))
                return a.sin()

            return run

        x = leaf(T, [1.0, 2.0])
        layers = [layer(i) for i in range(count)]
        y = C.checkpoint_sequential(layers, segments, x, use_reentrant=reentrant)
        y.sum().backward()
        seen.append((calls, x.grad))
    model = T.nn.Sequential(T.nn.Tanh(), T.nn.Sigmoid(), T.nn.Tanh())
    x = leaf(T, [1.0, 2.0])
    C.checkpoint_sequential(model, 2, x, use_reentrant=False, preserve_rng_state=False).sum().backward()
    return [*seen, x.grad]


@scenario
def sequences_that_do_not_fit(T: Any) -> Any:
    C = tools(T)
    layers = [T.sin, T.cos, T.exp]
    x = leaf(T, [1.0])
    return [
        attempt(lambda: C.checkpoint_sequential(layers, 2, x)),
        attempt(lambda: C.checkpoint_sequential(layers, 2, x, use_reentrant=False, debug=True)),
        attempt(lambda: C.checkpoint_sequential(layers, 0, x, use_reentrant=False)),
        attempt(lambda: C.checkpoint_sequential(layers, 9, x, use_reentrant=False)),
        attempt(lambda: C.checkpoint_sequential([], 2, x, use_reentrant=False)),
        attempt(lambda: C.checkpoint_sequential(layers, -1, x, use_reentrant=False)),
    ]


@scenario
def small_functions(T: Any) -> Any:
    C = tools(T)
    a, b, c = C.detach_variable((leaf(T, [1.0]) * 2, T.ones(2), 3))
    return [
        (a.is_leaf, a, b, c),
        attempt(C.detach_variable, [1]),
        C.check_backward_validity([leaf(T, [1.0])]),
        C.check_backward_validity([1, T.ones(1)]),
        C.get_device_states(T.ones(1), 2),
        C.set_device_states([], []),
        [type(each).__name__ for each in C.noop_context_fn()],
        sorted(C.__all__),
        [(p.name, p.value) for p in C.CheckpointPolicy],
    ]


@scenario
def hooks_are_refused(T: Any) -> Any:
    C = tools(T)

    def run(reentrant: bool) -> Any:
        with T.autograd.graph.disable_saved_tensors_hooks("not here"):
            return C.checkpoint(T.sin, leaf(T, [1.0]), use_reentrant=reentrant)

    return [attempt(run, True), attempt(run, False)]


@scenario
def inside_hooks_of_the_user(T: Any) -> Any:
    C = tools(T)
    packed: list[Any] = []

    def pack(t: Any) -> Any:
        packed.append(tuple(t.shape))
        return t

    x, w = leaf(T, [1.0, 2.0]), T.ones(3, 2)
    with T.autograd.graph.saved_tensors_hooks(pack, lambda t: t * 1):
        y = C.checkpoint(lambda a, b: (a * b).sin().exp(), x, w, use_reentrant=False)
    inputs = list(packed)
    y.sum().backward()
    return [inputs, len(packed), x.grad]


# -- selective --------------------------------------------------------------------------------------------------------


def select(T: Any, function: Any, policy: Any, **options: Any) -> Any:
    """Gradients with a policy."""
    C = tools(T)
    x = T.full((2, 2), 0.5, requires_grad=True)
    context_fn = functools.partial(C.create_selective_checkpoint_contexts, policy, **options)
    C.checkpoint(function, x, use_reentrant=False, context_fn=context_fn).sum().backward()
    return x.grad


@scenario
def policies(T: Any) -> Any:
    P = tools(T).CheckpointPolicy
    aten = T.ops.aten

    def function(a: Any) -> Any:
        return (T.mm(a, a).sin().exp() * a).cos()

    def only(*wanted: Any) -> Any:
        return lambda ctx, op, *args, **kwargs: P.MUST_SAVE if op in wanted else P.PREFER_RECOMPUTE

    every = [lambda *args, policy=policy, **kwargs: policy for policy in (*P, True, False, None)]
    lists = [[aten.mm.default], [aten.sin.default, aten.mul.Tensor], []]
    chosen = [only(aten.mm.default), only(aten.exp.default, aten.cos.default)]
    wrong = [[aten.mm], ["mm"], 3, None]
    seen = [attempt(select, T, function, policy) for policy in [*every, *lists, *chosen]]
    return [*seen, *[attempt(select, T, function, policy).split(" of type")[0] for policy in wrong]]


@scenario
def what_policies_are_told(T: Any) -> Any:
    C = tools(T)
    seen: list[Any] = []

    def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        first = args[0]
        seen.append((str(op), op.name(), ctx.is_recompute, tuple(ctx.op_output.shape), tuple(first.shape)))
        return C.CheckpointPolicy.PREFER_RECOMPUTE

    select(T, lambda a: T.mm(a, a).sin().exp(), policy)
    select(T, lambda a: (a * a + a).t().softmax(0).relu(), policy)
    context = C.SelectiveCheckpointContext(is_recompute=False)
    return [*seen, vars(context)]


@scenario
def kept_results_that_change(T: Any) -> Any:
    def changed(a: Any) -> Any:
        y = T.mm(a, a)
        y.add_(1)
        return y.sin()

    ops = [T.ops.aten.mm.default]
    return [
        attempt(select, T, changed, ops),
        attempt(lambda: select(T, changed, ops, allow_cache_entry_mutation=True).shape),
    ]


@scenario
def kept_results_are_used_once(T: Any) -> Any:
    C = tools(T)
    make = functools.partial(C.create_selective_checkpoint_contexts, [T.ops.aten.mm.default])
    x = T.full((2, 2), 0.5, requires_grad=True)

    def again() -> None:
        y = C.checkpoint(lambda a: T.mm(a, a).sin(), x, use_reentrant=False, context_fn=make)
        y.sum().backward(retain_graph=True)
        y.sum().backward()

    def two_results() -> None:
        y, z = C.checkpoint(lambda a: (T.mm(a, a).sin(), T.mm(a, a).cos()), x, use_reentrant=False, context_fn=make)
        y.sum().backward()
        z.sum().backward()

    return [attempt(again), attempt(two_results)]


@scenario
def names_of_operations(T: Any) -> Any:
    mm, add = T.ops.aten.mm, T.ops.aten.add.Tensor
    ones = T.ones(2, 2)
    return [
        [str(mm), repr(mm), str(mm.default), repr(mm.default), mm.default.name(), mm.default.__name__],
        [str(add), add.name(), add.overloadpacket is T.ops.aten.add, mm.default.namespace],
        [mm.default is T.ops.aten.mm.default, mm.default == T.ops.aten.bmm.default, mm is T.ops.aten.mm],
        [mm(ones, ones), mm.default(ones, ones), add(ones, ones, alpha=2)],
        attempt(lambda: T.ops.aten.no_such_operation),
        attempt(lambda: mm.no_such_overload),
    ]


@scenario
def a_second_run_that_does_more_under_a_policy(T: Any) -> Any:
    utils = tools(T)

    def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        saved = utils.CheckpointPolicy.MUST_SAVE
        return saved if op == T.ops.aten.sin.default else utils.CheckpointPolicy.PREFER_RECOMPUTE

    context = functools.partial(utils.create_selective_checkpoint_contexts, policy)
    seen = []
    for more in (lambda x: x.sin().sin().cos(), lambda x: x.sin().exp().cos()):
        program = Calls(lambda x: x.sin().cos(), more)
        x = leaf(T, [0.5, 1.0])
        out = utils.checkpoint(program, x, use_reentrant=False, context_fn=context, early_stop=False)
        seen += [attempt(out.sum().backward), x.grad is None]
    return seen


@scenario
def mixed_precision_in_both_runs(T: Any) -> Any:
    C, out = tools(T), []
    for reentrant in (True, False):
        for on in (True, False):
            x, w, seen = leaf(T, [[1.0, 2.0]]), leaf(T, [[1.0], [3.0]]), []

            def function(x: Any, w: Any = w, seen: list[str] = seen) -> Any:
                y = (x @ w).sin()
                seen.append(str(y.dtype).split(".")[-1])
                return y

            with T.autocast("cpu", enabled=on):
                y = C.checkpoint(function, x, use_reentrant=reentrant)
            y.sum().backward()
            out.append([seen, x.grad, w.grad, T.is_autocast_enabled("cpu")])
    return out
