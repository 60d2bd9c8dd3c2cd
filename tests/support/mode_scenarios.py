"""Scenarios of inference mode and of the switches that mean nothing on a CPU. See scenarios.py."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from scenarios import attempt, collection

SCENARIOS, scenario = collection()


def in_mode(T: Any, *shape: int) -> Any:
    with T.inference_mode():
        return T.ones(*shape)


@scenario
def inside_inference_mode(T: Any) -> Any:
    with T.inference_mode():
        made = T.ones(2)
        wants = T.ones(2, requires_grad=True)
        product = wants * 2
        made.add_(1)
        view = made.view(2, 1)
        return [
            made, made.is_inference(), (made * 2).is_inference(), wants.requires_grad, wants.is_inference(),
            product.requires_grad, product.is_leaf, view.is_inference(), view._is_view(), T.is_grad_enabled(),
            T.is_inference_mode_enabled(), attempt(lambda: made._version),
        ]  # fmt: skip


@scenario
def normal_tensors_inside(T: Any) -> Any:
    x = T.ones(2, requires_grad=True)
    y = x.clone()
    with T.inference_mode():
        view = y.view(2, 1)
        seen = [view.is_inference(), view.requires_grad, view._is_view(), (y * 2).is_inference()]
        seen.append(y.detach().is_inference())
        plain = T.ones(2)
        with T.inference_mode(False):
            inner = T.ones(2, requires_grad=True)
            seen += [(inner * 2).requires_grad, inner.is_inference(), T.is_grad_enabled()]
        with T.enable_grad():
            seen += [(x * 2).requires_grad, T.is_grad_enabled()]
    return [*seen, plain.is_inference(), attempt(view.add_, 1), (view * x[0]).requires_grad]


@scenario
def inference_tensors_outside(T: Any) -> Any:
    x = T.ones(2, requires_grad=True)
    t = in_mode(T, 2)
    return [
        attempt(in_mode(T, 2).add_, 1), attempt(lambda: t._version), attempt(lambda: t * x), attempt(lambda: t + x),
        attempt(t.requires_grad_), attempt(lambda: t.view(2, 1).is_inference()), t.clone().is_inference(),
        (t * 2).is_inference(), T.ones(2).copy_(t), attempt(lambda: x.clone().mul_(t)), t.detach().is_inference(),
        attempt(lambda: t.sum().backward()), t.is_leaf,
        attempt(lambda: T.add(T.ones(2), 1, out=in_mode(T, 2))), attempt(lambda: in_mode(T, 2).__setitem__(0, 5.0)),
        attempt(in_mode(T, 2).zero_), attempt(in_mode(T, 2).fill_, 2.0),
    ]  # fmt: skip


@scenario
def changing_normal_tensors_inside(T: Any) -> Any:
    t = T.ones(2)
    x = T.ones(2, requires_grad=True)
    with T.inference_mode():
        t.add_(1)
        x.mul_(3)
    return [t, t._version, t.is_inference(), x, x._version]


@scenario
def decorators(T: Any) -> Any:
    x = T.ones(2, requires_grad=True)

    @T.inference_mode
    def bare(t: Any) -> Any:
        return t * 2

    @T.inference_mode()
    def called(t: Any) -> Any:
        return t * 2

    @T.inference_mode(mode=False)
    def off(t: Any) -> Any:
        return t * 2

    return [bare(x).is_inference(), called(x).is_inference(), off(x).is_inference(), off(x).requires_grad]


@scenario
def switches(T: Any) -> Any:
    before = T.autograd.is_multithreading_enabled()
    with T.autograd.set_multithreading_enabled(False):
        inside = T.autograd.is_multithreading_enabled()
    T.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    T.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(True)
    return [before, inside, T.autograd.is_multithreading_enabled()]


@scenario
def tensors_reshaped_in_place_inside(T: Any) -> Any:
    seen = []
    for wanted in (True, False):
        normal = T.ones(1, 2, 3, requires_grad=wanted).clone()
        with T.inference_mode():
            made = T.ones(1, 2, 3, requires_grad=wanted)
            for t in (made, normal):
                for change in (lambda t: t.transpose_(0, 1), lambda t: t.unsqueeze_(0), lambda t: t.squeeze_(2)):
                    change(t)
                    seen += [tuple(t.shape), t.is_inference(), t.requires_grad]
            made.resize_(2, 2)
            seen += [tuple(made.shape), attempt(made.resize_as_, T.ones(3))[0], made.is_inference()]
        normal.transpose_(0, 1)
        seen += [normal, normal.view(-1).requires_grad]
    x = T.ones(2, requires_grad=True)
    with T.no_grad():
        seen.append(attempt(x.resize_, 3))
    return seen


@scenario
def gradients_that_lie_as_they_came(T: Any) -> Any:
    kept: list[Any] = []

    class Rows(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, keep: bool) -> Any:
            ctx.keep = keep
            return x.sum()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            made = T.ones(2, 3)
            if ctx.keep:
                kept.append(made)
            return made, None

    x = T.ones(3, 2).t().requires_grad_()
    seen: list[Any] = []
    for enforced in (True, False):
        with T.autograd.enforce_grad_layout_policy(enforced):
            for keep in (False, True):
                x.grad = None
                Rows.apply(x, keep).backward()
                seen += [x.grad.stride(), enforced]
            x.grad = None
            x.clone().backward(T.ones(2, 3))
            seen.append(x.grad.stride())
    return seen


@scenario
def what_is_rescued_when_saved_tensors_change(T: Any) -> Any:
    seen = []
    with T.autograd.graph.allow_mutation_on_saved_tensors() as context:

        def count() -> None:
            seen.append([len(list(context.cloned)), len(list(context.tid_to_weakhandle))])

        a = T.tensor([0.5, 1.0], requires_grad=True).clone()
        out = (a**2).sum()
        count()
        out.backward()
        del out
        count()
        a = T.tensor([0.5, 1.0], requires_grad=True).clone()
        b, c = a**2, a**2
        count()
        with T.no_grad():
            a.sin_()
        count()
        d = a**2
        with T.no_grad():
            a.sin_()
        seen.append(len(list(context.cloned)))
        del b, c
        seen.append(len(list(context.cloned)))
        leaf = T.tensor([1.0], requires_grad=True)
        factor = T.tensor([3.0])
        product = leaf * factor
        T.sin(T.tensor([2.0]), out=factor)
        seen.append(len(list(context.cloned)))
        product.backward()
        del product, d
        count()
    return seen, leaf.grad, factor


@scenario
def modes_below_autograd(T: Any) -> Any:
    """What they are asked about in a forward pass, what they may answer, and which of them are asked."""
    dispatch = import_module(f"{T.__name__}.utils._python_dispatch")

    class Log(dispatch.TorchDispatchMode):
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            tensors = [a for a in args if isinstance(a, T.Tensor)]
            self.seen.append([str(func), [list(t.shape) for t in tensors]])
            return func(*args, **(kwargs or {}))

    class Doubling(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            return result * 2 if func is T.ops.aten.sin.default else result

    class Refusing(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise ValueError(func.overloadpacket is T.ops.aten.cos)

    x, w = T.ones(2, 3, requires_grad=True), T.ones(3, 4, requires_grad=True)
    with Log() as outer:
        with Log() as inner:
            product = (x @ w).sin()
            current = dispatch._get_current_dispatch_mode() is inner
        total = product.tanh().sum()
    total.backward()
    with Doubling():
        doubled = x.sin()
    constant = x.detach()
    with Log() as below, Doubling():
        constant.sin()
    with Refusing():
        refused = attempt(lambda: x.cos())
    grads = T.autograd.grad(doubled.sum(), x)
    return [inner.seen, [each[0] for each in outer.seen if "detach" not in each[0]], current, x.grad, doubled, grads,
            [each[0] for each in below.seen], refused, dispatch._get_current_dispatch_mode()]  # fmt: skip


@scenario
def operations_that_no_mode_sees(T: Any) -> Any:
    dispatch, tools = (import_module(f"{T.__name__}.utils.{name}") for name in ("_python_dispatch", "_mode_utils"))
    seen: list[str] = []

    class Log(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.__name__.split(".")[0])
            return func(*args, **(kwargs or {}))

    x = T.ones(2)
    with Log():
        x.exp()
        with tools.no_dispatch():
            x.sin()
        x.cos()
    return seen


@scenario
def shapes_that_gradients_must_have(T: Any) -> Any:
    x = T.ones(2, 3, requires_grad=True)
    edge = T.autograd.graph.get_gradient_edge(x * 2)
    shapes = T.autograd._calculate_shape
    return [
        *[list(s) for s in shapes(x, T.ones(3, 2), False)], *[list(s) for s in shapes(x, T.ones(4, 2, 3), True)],
        *[list(s) for s in shapes(edge, T.ones(5), False)], attempt(lambda: shapes(edge, T.ones(5), True)),
        T._C.has_lapack, callable(T.profiler.itt.is_available),
    ]  # fmt: skip
