"""Scenarios of inference mode and of the switches that mean nothing on a CPU. See scenarios.py."""

from __future__ import annotations

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
