"""Checkpoints compared with the installed PyTorch: signatures, and random programs with checkpoints in each other."""

from __future__ import annotations

import functools
import importlib
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.checkpoint
import torch.utils.hooks
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import leafgrad
import leafgrad.utils.checkpoint
import leafgrad.utils.hooks

# -- the same functions with the same parameters ----------------------------------------------------------------------


def parameters(function: Any) -> list[Any]:
    shown = inspect.signature(function).parameters.values()
    plain = (bool, int, str, type(None), type(inspect.Parameter.empty))
    return [(p.name, p.kind, p.default if isinstance(p.default, plain) else "...") for p in shown]


@pytest.mark.parametrize("name", torch.utils.checkpoint.__all__)
def test_signatures_of_checkpoint(name: str) -> None:
    theirs, ours = getattr(torch.utils.checkpoint, name), getattr(leafgrad.utils.checkpoint, name)
    if callable(theirs) and name not in ("CheckpointError", "CheckpointPolicy"):
        assert parameters(ours) == parameters(theirs)


@pytest.mark.parametrize("name", torch.utils.hooks.__all__)
def test_signatures_of_hooks(name: str) -> None:
    assert parameters(getattr(leafgrad.utils.hooks, name)) == parameters(getattr(torch.utils.hooks, name))


@pytest.mark.parametrize("name", [n for n in vars(torch.nn.modules.module) if n.startswith("register_module_")])
def test_signatures_of_hooks_of_all_modules(name: str) -> None:
    module = importlib.import_module("leafgrad.nn.modules.module")
    assert parameters(getattr(module, name)) == parameters(getattr(torch.nn.modules.module, name))


@pytest.mark.parametrize("name", [n for n in vars(torch.nn.Module) if n.startswith("register_") and "backward" in n])
def test_signatures_of_hooks_of_modules(name: str) -> None:
    assert parameters(getattr(leafgrad.nn.Module, name)) == parameters(getattr(torch.nn.Module, name))


# -- random programs --------------------------------------------------------------------------------------------------

Step = Callable[[Any, Any, Any], Any]  # (module, value, weight) -> value

STEPS: dict[str, Step] = {
    "sin": lambda T, x, w: x.sin(),
    "exp": lambda T, x, w: (-x * x).exp(),
    "tanh": lambda T, x, w: T.tanh(x),
    "square": lambda T, x, w: x * x,
    "weight": lambda T, x, w: x * w,
    "product": lambda T, x, w: T.mm(x, w),
    "softmax": lambda T, x, w: x.softmax(0),
    "mean": lambda T, x, w: x - x.mean(0, keepdim=True),
    "turn": lambda T, x, w: x.t() * w,
    "part": lambda T, x, w: T.cat([x[:1] * 2, x[1:]]),
    "sorted": lambda T, x, w: x.sort(0)[0] * w,
    "dropout": lambda T, x, w: T.nn.functional.dropout(x, 0.3),
    "in place": lambda T, x, w: (x * 1).sin_().mul_(2),
    "view in place": lambda T, x, w: written(x * 1),
    "constant": lambda T, x, w: x + x.detach(),
    "by number": lambda T, x, w: 1.5 - x / 2,
}


def written(y: Any) -> Any:
    y[0].cos_()
    return y


steps = st.sampled_from(sorted(STEPS))
trees = st.recursive(
    st.lists(steps, min_size=1, max_size=4),
    lambda inner: st.lists(st.one_of(steps, st.tuples(st.booleans(), inner)), min_size=1, max_size=4),
    max_leaves=4,
)


def run(T: Any, tree: Any, early_stop: bool, policy: Any = None, way: str = "once") -> Any:
    """The value, the gradients, how often each checkpointed part was run, and the next random number."""
    C = importlib.import_module(f"{T.__name__}.utils.checkpoint")
    T.manual_seed(5)
    w = T.tensor([[0.3, -0.2], [0.5, 0.7]], dtype=T.float64, requires_grad=True)
    x = T.tensor([[0.1, 0.6], [-0.4, 0.8]], dtype=T.float64, requires_grad=True)
    counts: dict[str, int] = {}

    def go(value: Any, part: Any, name: str) -> Any:
        counts[name] = counts.get(name, 0) + 1
        for i, step in enumerate(part):
            if isinstance(step, str):
                value = STEPS[step](T, value, w)
            else:
                reentrant, inner = step
                options: Any = {} if reentrant else {"early_stop": early_stop}
                if policy is not None and not reentrant:
                    options["context_fn"] = functools.partial(C.create_selective_checkpoint_contexts, policy(T, C))
                function = functools.partial(go, part=inner, name=f"{name}.{i}")
                value = C.checkpoint(function, value, use_reentrant=reentrant, **options)
        return value

    y = go(x, tree, "")
    if way == "gradient of a gradient":
        first = T.autograd.grad((y * y).sum(), (x, w), create_graph=True, allow_unused=True)
        sum((g * g).sum() for g in first if g is not None).backward()
    else:
        (y * y).sum().backward(retain_graph=way == "twice")
    if way == "twice":
        y.exp().sum().backward()
    gradients = [None if t.grad is None else t.grad.numpy() for t in (x, w)]
    return y.detach().numpy(), gradients, counts, T.rand(2).numpy()


def assert_same(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-9, atol=1e-12)
    for mine, other in zip(ours[1], theirs[1], strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(ours[3], theirs[3])


few = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@few
@given(trees, st.booleans(), st.sampled_from(["once", "twice"]))
def test_random_programs(tree: Any, early_stop: bool, way: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = run(leafgrad, tree, early_stop, way=way), run(torch, tree, early_stop, way=way)
    assert_same(ours, theirs)
    assert ours[2] == theirs[2]


def without_reentrant(part: Any) -> Any:
    return [step if isinstance(step, str) else (False, without_reentrant(step[1])) for step in part]


@few
@given(trees, st.booleans())
def test_second_derivatives_of_random_programs(tree: Any, early_stop: bool) -> None:
    tree, way = without_reentrant(tree), "gradient of a gradient"
    ours, theirs = run(leafgrad, tree, early_stop, way=way), run(torch, tree, early_stop, way=way)
    assert_same(ours, theirs)
    assert ours[2] == theirs[2]


def save_some(T: Any, C: Any) -> Any:
    wanted = [T.ops.aten.mm.default, T.ops.aten.sin.default, T.ops.aten.exp.default, T.ops.aten.tanh.default]

    def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        return C.CheckpointPolicy.MUST_SAVE if op in wanted else C.CheckpointPolicy.PREFER_RECOMPUTE

    return policy


@few
@given(st.lists(st.sampled_from(sorted(set(STEPS) - {"in place", "view in place"})), min_size=1, max_size=6))
def test_random_programs_with_a_policy(names: list[str]) -> None:
    tree = [(False, names), "sin"]
    assert_same(run(leafgrad, tree, True, save_some), run(torch, tree, True, save_some))


@few
@given(trees)
def test_checkpoints_do_not_change_gradients(tree: Any) -> None:
    def flat(part: Any) -> list[str]:
        return [name for step in part for name in ([step] if isinstance(step, str) else flat(step[1]))]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with_checkpoints, without = run(leafgrad, tree, True), run(leafgrad, flat(tree), True)
    assert_same(with_checkpoints, without)
