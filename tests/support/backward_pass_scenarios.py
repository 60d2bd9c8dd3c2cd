"""Scenarios of a backward pass that is watched while it runs: by hooks that switch something, by questions about the
pass itself, by callbacks; and of what it leaves in `.grad`. See scenarios.py."""

from __future__ import annotations

import gc
import io
import sys
import warnings
import weakref
from collections import OrderedDict
from functools import partial
from importlib import import_module
from typing import Any

from scenarios import attempt, collection, first_sentence, graph_of, leaf, plain

SCENARIOS, scenario = collection()


# -- hooks that switch something --------------------------------------------------------------------------------------


@scenario
def hooks_for_saved_tensors_left_and_entered_in_between(T: Any) -> Any:
    """What a hook switches ends with the backward pass."""
    hooks = T.autograd.graph.saved_tensors_hooks
    inner: list[Any] = []

    def leaving(x: Any) -> Any:
        inner[0].__exit__()
        return x

    def entering(x: Any) -> Any:
        inner[0].__enter__()
        return x

    def left() -> int:
        count = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(3):
                node = leaf(T, [1.0]).exp().grad_fn
                try:
                    node._raw_saved_result.register_hooks(lambda x: x, lambda x: x)
                except RuntimeError:
                    count += 1
        return count

    seen = []
    for unpack in (leaving, entering):
        inner[:] = [hooks(lambda x: x, unpack)]
        inner[0].__enter__()
        leaf(T, [1.0, 2.0]).sin().sum().backward()
        seen.append(left())
        inner[0].__exit__()
        seen.append(left())
    return seen


@scenario
def grad_mode_switched_by_a_hook(T: Any) -> Any:
    x = leaf(T, [1.0])
    x.register_hook(lambda g: T.set_grad_enabled(True) and None)
    (x * 2).sum().backward()
    return T.is_grad_enabled(), (x * 2).requires_grad


@scenario
def hooks_registered_while_a_node_unpacks(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0, 4.0])
    seen: list[Any] = []

    def unpack(tensor: Any) -> Any:
        node = T._C._current_autograd_node()

        def hook(inner: Any, outer: Any) -> Any:
            seen.append([type(node).__name__, [one is None for one in outer]])
            return tuple([None if one is None else one / 2 for one in inner])

        node.register_hook(hook)
        return tensor

    with T.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        var, mean = T.var_mean(x)
    (var + mean).backward()
    return x.grad, seen


@scenario
def dictionary_of_hooks(T: Any) -> Any:
    x, y = leaf(T, [1.0]), T.zeros(1)
    seen: list[Any] = []
    for t in (x, y):
        t._backward_hooks = OrderedDict()
        t._backward_hooks["mine"] = lambda g: seen.append(g)
    mine = x._backward_hooks
    (x * 2 + y).sum().backward()
    mine.clear()
    (x * 2).sum().backward()
    handle = x.register_hook(lambda g: g * 5)
    handle.remove()
    kept = len(x._backward_hooks), (x * 2)._backward_hooks

    def delete(name: str) -> None:
        delattr(x, name)

    return seen, x.grad, kept, [attempt(delete, name) for name in ("_backward_hooks", "_grad_fn")], x._grad_fn


@scenario
def hooks_around_accumulation_share_the_gradient(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0])
    node = x.view_as(x).grad_fn.next_functions[0][0]
    seen: list[Any] = []
    x.register_hook(lambda g: g - 3)
    node.register_prehook(lambda g: (g[0] / 4,))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.add_(1.0)) and None)
    node.register_hook(lambda inner, outer: seen.append(outer[0].clone()))
    x.sum().backward()
    return seen, x.grad


# -- questions about the pass -----------------------------------------------------------------------------------------


def accumulator(t: Any) -> Any:
    return t.view_as(t).grad_fn.next_functions[0][0] if t.grad_fn is None else t.grad_fn


@scenario
def nodes_that_will_be_executed(T: Any) -> Any:
    a, b = leaf(T, [1.0]), leaf(T, [2.0])
    c = a * b
    d, unused = c.exp(), c.cos()
    out = d.sum()
    places = [accumulator(t) for t in (a, b, c, d, unused)]
    seen: list[Any] = []
    ask = T._C._will_engine_execute_node

    def hook(g: Any) -> None:
        seen.append([attempt(ask, place) for place in places])

    c.register_hook(hook)
    out.backward(retain_graph=True)
    out.backward(inputs=[a, c], retain_graph=True)
    T.autograd.backward(out, inputs=[c], retain_graph=True)
    T.autograd.grad(out, c, retain_graph=True)
    T.autograd.grad(out, a, retain_graph=True)
    return seen, attempt(ask, places[0]), attempt(ask, out)


@scenario
def numbers_of_passes(T: Any) -> Any:
    x = leaf(T, [1.0])
    number = T._C._current_graph_task_id
    seen: list[int] = []
    y = x * 2

    def inner(g: Any) -> None:
        seen.append(number())
        with T.enable_grad():
            z = leaf(T, [1.0]) * 3
            z.register_hook(lambda g: seen.append(number()))
            z.sum().backward()
        seen.append(number())

    y.register_hook(inner)
    y.sum().backward(retain_graph=True)
    y.sum().backward(retain_graph=True)
    return number(), [one - seen[0] for one in seen[:4]], seen[2] == seen[0], seen[3] > seen[1]


@scenario
def order_of_execution(T: Any) -> Any:
    predicted: list[Any] = []
    single = partial(T.autograd.set_multithreading_enabled, False)

    def hook(g: Any) -> None:
        predicted.append([node.name() for node in T._C._current_graph_task_execution_order()])

    a, b = leaf(T, [1.0]), leaf(T, [2.0])
    out = (b.sin() * a.cos() + a).exp()
    out.register_hook(hook)
    with single():
        out.backward(retain_graph=True)
        out.backward(inputs=[a], retain_graph=True)
        T.autograd.grad(out, b, retain_graph=True)
    return predicted, attempt(out.backward), attempt(T._C._current_graph_task_execution_order)


@scenario
def node_that_is_running(T: Any) -> Any:
    seen: list[Any] = []
    current = T._C._current_autograd_node

    class Double(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(current().name())
            return g * 2

    x = leaf(T, [1.0])
    Double.apply(x).sum().backward()
    y = Double.apply(x)
    T.autograd.grad(y.sum(), x, create_graph=True)
    return seen, current() is None, type(y.grad_fn) is Double._backward_cls


@scenario
def callbacks_of_callbacks(T: Any) -> Any:
    queue = T.autograd.Variable._execution_engine.queue_callback
    seen: list[str] = []

    def first() -> None:
        seen.append("first")
        queue(lambda: seen.append("second"))

    x = leaf(T, [1.0])
    x.register_hook(lambda g: queue(first))
    (x * 2).sum().backward()
    return seen, attempt(queue, first)


# -- what a pass leaves behind ----------------------------------------------------------------------------------------


@scenario
def history_of_a_first_gradient(T: Any) -> Any:
    """With create_graph the gradient of a leaf is a copy in the layout of the leaf."""
    seen = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for make in (lambda: T.ones(2, 3), lambda: T.ones(3, 2).t(), lambda: T.ones(3, 3)[:, :2], lambda: T.ones(())):
            x = make().requires_grad_()
            (x * x).sum().backward(create_graph=True)
            seen.append([graph_of(x.grad.grad_fn, 3), x.grad.stride()])
            x.grad = None
    return seen


@scenario
def refusal_of_a_second_derivative(T: Any) -> Any:
    class Product(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, a: Any, factor: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            return factor * a * b

        @staticmethod
        @T.autograd.function.once_differentiable
        def backward(ctx: Any, g: Any) -> Any:
            a, b = ctx.saved_tensors
            return g * b, None, g * a

    a, b = leaf(T, [1.0]), leaf(T, [2.0])
    g = T.ones(1, requires_grad=True)
    first = T.autograd.grad(Product.apply(a, 3, b), (a, b), g, create_graph=True)
    return [graph_of(one.grad_fn, 3) for one in first], first[0].grad_fn is first[1].grad_fn, attempt(first[0].backward)


@scenario
def passes_without_a_gradient(T: Any) -> Any:
    functions = T._C._functions
    x = leaf(T, [1.0])
    y = x * 2
    seen: list[Any] = []
    y.register_hook(lambda g: seen.append(g))
    undefined = functions.UndefinedGrad()(y)
    undefined.sum().backward()
    refused = functions.DelayedError("not this way", 2)(x * 2, x * 3)
    return (
        [type(t.grad_fn).__name__ for t in (undefined, *refused)],
        seen,
        x.grad,
        attempt((refused[0] + refused[1]).backward),
    )


@scenario
def one_node_with_two_results(T: Any) -> Any:
    seen: list[Any] = []
    for function in (T.var_mean, T.std_mean):
        x = T.tensor([[1.0, 2.0], [4.0, 8.0]], requires_grad=True)
        spread, mean = function(x, dim=0)
        node = spread.grad_fn
        node.register_prehook(lambda outer: tuple([None if g is None else g * 2 for g in outer]))
        forms = [list(one.shape) for one in node._input_metadata]
        mean.sum().backward(retain_graph=True)
        only_mean = x.grad.clone()
        (spread * 3 + mean).sum().backward()
        seen.append([node.name(), mean.grad_fn is node, mean.output_nr, forms, only_mean, x.grad])
    return seen


@scenario
def gradients_of_the_wrong_shape(T: Any) -> Any:
    """The whole message is PyTorch's: programs compare it."""
    x = leaf(T, [1.0, 2.0])
    try:
        T.autograd.grad(x * 2, x, T.ones(3))
    except RuntimeError as error:
        return str(error)


@scenario
def gradients_of_a_dtype_that_was_asked_for(T: Any) -> Any:
    x = leaf(T, [1.0])
    x.grad_dtype = T.float16

    def give(kind: Any) -> Any:
        x.grad = T.ones(1, dtype=kind)
        return x.grad.dtype is kind

    return [attempt(give, kind) for kind in (T.float32, T.float16)]


@scenario
def anomalies_where_warnings_are_errors(T: Any) -> Any:
    x = leaf(T, [1.0])
    before, sys.stderr = sys.stderr, io.StringIO()
    printed = sys.stderr
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with T.autograd.detect_anomaly():
                warnings.simplefilter("error")
                y = x * 2
                z = (y**2).sum()
                y.add_(1)
                failed = attempt(z.backward)
    finally:
        sys.stderr = before
    return str(failed).split(": [")[0], "Error detected in PowBackward0" in printed.getvalue()


# -- checkpoints ------------------------------------------------------------------------------------------------------


@scenario
def tensors_that_a_checkpoint_gives_back(T: Any) -> Any:
    """Those that need no gradient are the same objects as before; and what a second run made dies with its pass."""
    seen: list[Any] = []
    alive: list[Any] = []

    class Keeping(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            result = x.clone()
            ctx.save_for_backward(result, y)
            alive.append(weakref.ref(result))
            return result

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            seen.append(ctx.saved_tensors[1])
            return g, None

    x, y = leaf(T, [1.0]), T.ones(1)
    enabled = gc.isenabled()
    gc.disable()
    try:
        T.utils.checkpoint.checkpoint(Keeping.apply, x, y, use_reentrant=False).sum().backward()
        gone = [ref() is None for ref in alive]
    finally:
        if enabled:
            gc.enable()
    return seen[0] is y, gone


@scenario
def names_that_old_programs_use(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0])
    resize = import_module(f"{T.__name__}.autograd._functions").Resize.apply
    y = resize(x, (2, 1))
    y.sum().backward()
    return T.autograd.torch is T, T.nn.functional.torch is T, y, x.grad, attempt(resize, x, (3,))


@scenario
def standard_basis_of_tensors(T: Any) -> Any:
    tensors = (T.ones(2, 2), T.ones((), dtype=T.float64))
    made = import_module(f"{T.__name__}.autograd.functional")._construct_standard_basis_for(tensors, (4, 1))
    return [(one, str(one.dtype)[-7:]) for one in made]


@scenario
def data_parallel_without_devices(T: Any) -> Any:
    inner = T.nn.Linear(2, 1)
    module = T.nn.DataParallel(inner)
    x = T.ones(3, 2)
    return repr(module), module.device_ids, [n for n, _ in module.named_parameters()], T.equal(module(x), inner(x))


# -- gradcheck --------------------------------------------------------------------------------------------------------


def counted(T: Any, seen: list[int]) -> Any:
    class Both(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            if T.autograd.forward_ad._current_level >= 0:
                assert not x.requires_grad and not y.requires_grad
            return x.clone(), y.clone()

        @staticmethod
        def jvp(ctx: Any, x: Any, y: Any) -> Any:
            seen.append(1)
            return x, y

    return Both.apply


@scenario
def tangents_that_gradcheck_asks_for(T: Any) -> Any:
    seen: list[int] = []
    counts = []
    x, y = [T.tensor([v], dtype=T.float64, requires_grad=True) for v in (1.0, 2.0)]
    for undefined, batched, second in ((False, False, y), (True, False, y), (True, True, y), (True, True, y.detach())):
        seen.clear()
        options = {"check_undefined_grad": undefined, "check_batched_forward_grad": batched}
        T.autograd.gradcheck(counted(T, seen), (x, second), check_forward_ad=True, check_backward_ad=False, **options)
        counts.append(len(seen))
    return counts


@scenario
def gradients_that_gradcheck_leaves_undefined(T: Any) -> Any:
    def strict(x: Any) -> Any:
        def hook(g: Any) -> None:
            if g is None:
                raise RuntimeError("no gradient")

        y = x.clone()
        y.register_hook(hook)
        return y

    x = T.ones(1, dtype=T.float64, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return attempt(T.autograd.gradcheck, strict, (x,)), T.autograd.gradcheck(strict, (x,), raise_exception=False)


@scenario
def gradcheck_of_complex_numbers_near_zero(T: Any) -> Any:
    x = T.tensor([3e-3 + 4e-3j, 5e-3 + 1e-3j], dtype=T.complex128, requires_grad=True)
    check = partial(T.autograd.gradcheck, lambda z: 1.0 / z.abs().pow(2).sum().sqrt(), (x,), atol=2e-3, rtol=1e-9)
    return [attempt(partial(check, fast_mode=fast)) for fast in (False, True)]


@scenario
def random_numbers_in_a_batch_of_tangents(T: Any) -> Any:
    class Noisy(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            T.randn_like(t)
            return t * 2

    x = T.ones(2, dtype=T.float64, requires_grad=True)
    try:
        T.autograd.gradcheck(Noisy.apply, (x,), check_forward_ad=True, check_batched_forward_grad=True)
    except RuntimeError as error:
        return "We do not yet support calling random operations inside of vmap" in str(error)


@scenario
def functions_in_batches_of_gradients(T: Any) -> Any:
    """They need not be made for vmap: this one has neither setup_context nor a vmap of its own."""

    class Square(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return Scale.apply(g, ctx.saved_tensors[0])

    class Scale(T.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, g: Any, x: Any) -> Any:
            return g * 2 * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None, None

    x = leaf(T, [1.0, 3.0])
    first = T.autograd.grad(Square.apply(x), x, T.eye(2), is_grads_batched=True)
    return plain(first), first_sentence(str(attempt(T.func.vmap(Square.apply), x.detach())))
