"""Scenarios of details of autograd: anomaly mode, hooks, inference tensors, second derivatives. See scenarios.py."""

# ruff: noqa: B023  (functions made in a loop are called in that round)

from __future__ import annotations

import pickle
import warnings
from importlib import import_module
from typing import Any

from scenarios import attempt, collection, leaf, make

SCENARIOS, scenario = collection()


@scenario
def anomaly_mode_names_forward_calls(T: Any) -> Any:
    out = []
    for spoil in ("in place", "freed", "nan"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with T.autograd.detect_anomaly():
                a = leaf(T, [1.0, 0.0])
                b = a.exp() if spoil == "in place" else a.sqrt() * 0
                if spoil == "in place":
                    b += 1
                elif spoil == "freed":
                    b[0].backward()
                out.append(attempt(lambda: b.sum().backward()))
        out.append([str(w.message).split("\n")[0] for w in caught])
    return out


@scenario
def gradients_that_do_not_exist_cannot_be_replaced(T: Any) -> Any:
    Nothing = make(T, lambda ctx, x: x * 1, lambda ctx, g: None)

    out = []
    for register in ("register_hook", "register_prehook"):
        x = leaf(T, [1.0, 2.0])
        y = x * 2
        if register == "register_hook":
            y.register_hook(lambda g: T.ones(2))
        else:
            y.grad_fn.register_prehook(lambda g: (T.ones(2),))
        out.append(attempt(lambda: Nothing.apply(y).sum().backward()))
    return out


@scenario
def hooks_of_any_of_several_leaves(T: Any) -> Any:
    x, y, seen = leaf(T, 1.0), leaf(T, 2.0), []
    T.autograd.graph.register_multi_grad_hook((x, y), lambda g: seen.append(g), mode="any")
    (x * y).backward()
    T.autograd.grad(x * y, y)
    return seen


@scenario
def gradients_inside_of_nested_checkpoints(T: Any) -> Any:
    utils = import_module(T.__name__ + ".utils.checkpoint")
    out = []
    for early in (True, False):
        with utils.set_checkpoint_early_stop(early):

            def inner(x: Any) -> Any:
                y = utils.checkpoint(lambda t: (t**3).sum(), x, use_reentrant=False)
                (g,) = T.autograd.grad(y, x, create_graph=True)
                return (g**2).sum()

            x = leaf(T, [1.0, 2.0])
            out.append(attempt(lambda: T.autograd.grad(utils.checkpoint(inner, x, use_reentrant=False), x)))
    return out


@scenario
def inference_tensors_that_require_grad(T: Any) -> Any:
    with T.inference_mode():
        a = T.ones(2, requires_grad=True)
    b = leaf(T, [2.0, 3.0])
    out = [a.requires_grad, a * a, a.exp(), a.view(2, 1), a[0], a.sum(), a.data.is_inference(), a.split(1)]
    (a + b).sum().backward()
    out += [a.grad, b.grad, attempt(lambda: a * b), attempt(lambda: T.stack([a, b])), a + T.ones(2)]
    return out


@scenario
def versions_that_are_preserved(T: Any) -> Any:
    a = T.ones(2)
    with T.autograd._unsafe_preserve_version_counter(a):
        a.add_(1)
    with T.autograd._unsafe_preserve_version_counter((a, a)):
        a.add_(1)
    return a._version, a


@scenario
def tensors_saved_on_the_cpu(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0])
    with T.autograd.graph.save_on_cpu():
        y = x * x
        z = y.exp()
    return y.grad_fn._saved_self.data_ptr() == x.data_ptr(), z.grad_fn._saved_result.data_ptr() == z.data_ptr()


@scenario
def gradients_of_relu_are_recorded(T: Any) -> Any:
    out = []
    for function in (T.relu, T.nn.functional.relu, lambda x: (x * 1).relu_()):
        x = leaf(T, [1.0, -2.0, 3.0])
        (g,) = T.autograd.grad(function(x).sum(), x, create_graph=True)
        out.append([g, g.grad_fn.name(), T.autograd.grad(g.sum(), x, retain_graph=True)])
        out.append(T.autograd.grad((g * x).sum(), x))
    return out


@scenario
def sums_over_dimensions_that_are_named(T: Any) -> Any:
    x = leaf(T, [[1.0, 2.0], [3.0, 4.0]])
    sums = [x.sum(), x.sum(dim=None), x.sum(None), x.mean(), x.mean(dim=None), x.sum(dim=None, keepdim=True), x.sum(())]
    return [[s, s.grad_fn.name(), T.autograd.grad(s.sum(), x)] for s in sums]


@scenario
def events_nested_by_hand(T: Any) -> Any:
    util = import_module(T.__name__ + ".autograd.profiler_util")
    times = [(0, 10), (1, 2), (3, 4), (5, 8), (6, 7)]
    events = util.EventList(
        [
            util.FunctionEvent(id=10 * thread + i, node_id=0, name="", thread=thread, start_us=start, end_us=end)
            for thread in (0, 1)
            for i, (start, end) in enumerate(times)
        ]
    )
    events._populate_cpu_children()
    return T.autograd.kineto_available(), [[e.cpu_parent and e.cpu_parent.id, e.self_cpu_time_total] for e in events]


@scenario
def hooks_of_a_function_see_what_backward_returned(T: Any) -> Any:
    Scaled = make(T, lambda ctx, x, number, y: x * number * y, lambda ctx, g: (g * 2, None, g * 3))

    x, seen = leaf(T, [2.0]), []
    y = Scaled.apply(x, 5, T.tensor([3.0]))
    y.grad_fn.register_hook(lambda inner, outer: seen.append([inner, outer]))
    y.backward(retain_graph=True)
    y.grad_fn.register_hook(lambda inner, outer: (inner[0] * 10, None))
    y.backward()
    return seen, x.grad


@scenario
def gradient_of_an_expanded_leaf_lies_row_by_row(T: Any) -> Any:
    out = []
    for x in (T.ones(1, 3).expand(2, 3), T.ones(2, 1).expand(2, 3), T.ones(3, 2).t(), T.ones(2, 6)[:, ::2]):
        x.requires_grad_()
        (x * T.ones(3, 2).t()).sum().backward()
        out.append([list(x.stride()), list(x.grad.stride())])
    return out


@scenario
def histories_of_changed_views_in_steps(T: Any) -> Any:
    A = T.autograd
    out = []
    x = T.ones(2, 2, requires_grad=True)

    def f(x: Any) -> Any:
        o = x.clone().view(-1)
        o.add_(1)
        return o

    def info() -> Any:
        r = f(x)
        return [r.grad_fn.name(), A.is_view_replay_enabled(), A.grad((r * T.arange(4.0)).sum(), x)]

    with A._force_original_view_tracking(False):
        out.append(info())
    with A._force_original_view_tracking(True):
        out.append(info())
    out.append(info())
    with A._force_original_view_tracking(False):
        A._force_original_view_tracking(True)
        out.append(info())
    out.append(info())
    A._force_original_view_tracking(True)
    out.append(info())
    A._force_original_view_tracking(False)
    out.append(info())

    @A._force_original_view_tracking(True)
    def g() -> Any:
        return info()

    out.append(g())
    out.append(info())
    with A._force_original_view_tracking(True):
        b = x.clone()
        v = b.t()[1:]
        w = b[0]
        v.mul_(3)
        out.append(
            [
                v.grad_fn.name(),
                v.grad_fn.next_functions[0][0].name(),
                w.grad_fn.name(),
                A.grad((w * T.arange(2.0)).sum() + v.sum() * 2, x),
            ]
        )
    return out


@scenario
def layout_of_gradients(T: Any) -> Any:
    A = T.autograd
    out = []
    for on in (True, False):
        p = T.ones(2, 3, 4).permute(2, 0, 1).requires_grad_()
        with A.enforce_grad_layout_policy(on):
            (p * 2).sum().backward()
        out.append([list(p.stride()), list(p.grad.stride())])
        p = T.ones(3, 2).t().requires_grad_()
        with A.enforce_grad_layout_policy(on):
            (p * T.ones(2, 3)).sum().backward()
        out.append([list(p.stride()), list(p.grad.stride())])
    return out


@scenario
def saved_tensors_written_to_by_out(T: Any) -> Any:
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        x = leaf(T, [1.0, 2.0])
        y = x.clone()
        z = (y**2).sum()
        T.mul(T.ones(2), 3, out=y.detach())
        z.backward()
    return x.grad, y


@scenario
def attributes_that_tensors_have_had_for_long(T: Any) -> Any:
    x = leaf(T, [1.0, 2.0])

    def delete(name: str) -> Any:
        return attempt(lambda: delattr(x, name))

    out = [x.volatile, x.name, x._post_accumulate_grad_hooks, delete("data"), delete("requires_grad")]
    x.register_post_accumulate_grad_hook(lambda t: None)
    return out, len(x._post_accumulate_grad_hooks)


@scenario
def hooks_are_not_serialized(T: Any) -> Any:
    hooks, x, out = import_module(T.__name__ + ".utils.hooks"), leaf(T, [1.0]), []
    x.register_hook(hooks.unserializable_hook(lambda g: g))
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            out.append(pickle.loads(pickle.dumps(x)))
        out.append([str(w.message).split(" ", 3)[:2] for w in caught])
        x.register_hook(lambda g: g * 2)
    return out
