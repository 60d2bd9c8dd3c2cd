"""Backward hooks of modules: what they leave behind, copies, threads.

What they have in common with PyTorch is in tests/support/module_hook_scenarios.py.
"""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad import nn
from leafgrad.nn.modules import _global_hooks
from leafgrad.nn.modules import module as modules
from leafgrad.utils.hooks import BackwardHook, RemovableHandle


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No test leaves a hook of all modules behind, nor the decision for one kind of them."""
    before = _global_hooks.Kind.is_full
    yield
    _global_hooks.Kind.is_full = before
    hooks = [value for name, value in vars(_global_hooks).items() if "hooks" in name and isinstance(value, dict)]
    assert len(hooks) == 10
    assert not any(hooks)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 2)

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x).tanh())


def test_hooks_do_not_change_gradients() -> None:
    lg.manual_seed(0)
    net, x = Net(), lg.randn(5, 3)

    def gradients() -> list[Any]:
        net.zero_grad()
        net(x).pow(2).sum().backward()
        return [p.grad.numpy() for p in net.parameters()]

    plain = gradients()
    shapes: list[Any] = []
    handles = [
        m.register_full_backward_hook(
            lambda m, gi, go: shapes.append([None if g is None else tuple(g.shape) for g in (*gi, *go)])
        )
        for m in (net.second, net.first)
    ]
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        hooked = gradients()
    for p, q in zip(plain, hooked, strict=True):
        np.testing.assert_array_equal(p, q)
    assert shapes == [[(5, 4), (5, 2)], [None, (5, 4)]]
    for handle in handles:
        assert isinstance(handle, RemovableHandle)
        handle.remove()
    gradients()
    assert len(shapes) == 2


def test_gradients_are_those_of_the_inputs() -> None:
    x = lg.ones(2, 3, requires_grad=True)
    linear = nn.Linear(3, 4)
    seen: list[Any] = []
    linear.register_full_backward_hook(lambda m, gi, go: seen.append((m, gi, go)))
    linear(x).sum().backward()
    ((module, (g,), (outer,)),) = seen
    assert module is linear
    np.testing.assert_allclose(g.numpy(), x.grad.numpy())
    np.testing.assert_allclose(g.numpy(), np.ones((2, 4)) @ linear.weight.detach().numpy())
    np.testing.assert_array_equal(outer.numpy(), np.ones((2, 4)))


def test_hooks_may_clip() -> None:
    net = Net()
    net.second.register_full_backward_hook(lambda m, gi, go: (gi[0].clamp(-0.01, 0.01),))
    x = lg.ones(1, 3, requires_grad=True)
    arrived: list[Any] = []
    net.first.register_full_backward_pre_hook(lambda m, go: arrived.append(go[0]))
    (100 * net(x)).sum().backward()
    assert arrived[0].abs().max().item() <= 0.01 + 1e-6


def test_hooks_that_raise_name_the_line_of_the_hook() -> None:
    linear = nn.Linear(2, 2)

    def too_large(m: Any, gi: Any, go: Any) -> Any:
        return (lg.ones(7),)

    linear.register_full_backward_hook(too_large)
    with pytest.raises(RuntimeError, match="hook 'hook' has changed the size of value") as caught:
        linear(lg.ones(1, 2, requires_grad=True)).sum().backward()
    assert "def too_large" in str(caught.value)


def test_a_module_with_hooks_leaves_no_cycle() -> None:
    gc.collect()
    gc.disable()
    try:
        linear = nn.Linear(2, 2)
        linear.register_full_backward_hook(lambda m, gi, go: None)
        y = linear(lg.ones(1, 2, requires_grad=True))
        node = weakref.ref(y.array)
        y.sum().backward()
        del y
        assert node() is None
        module = weakref.ref(linear)
        del linear
        assert module() is None
    finally:
        gc.enable()


def top_level_hook(module: Any, grad_input: Any, grad_output: Any) -> None:
    COUNT.append(1)


COUNT: list[int] = []


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_have_the_hooks(copied: Any) -> None:
    linear = nn.Linear(2, 2)
    linear.register_full_backward_hook(top_level_hook)
    linear.register_full_backward_pre_hook(lambda_free_pre_hook)
    other = copied(linear)
    COUNT.clear()
    other(lg.ones(1, 2, requires_grad=True)).sum().backward()
    assert COUNT == [2, 1]
    with pytest.raises(RuntimeError, match="Cannot use both"):
        other.register_backward_hook(top_level_hook)


def lambda_free_pre_hook(module: Any, grad_output: Any) -> None:
    COUNT.append(2)


def test_threads_have_their_own_gradients() -> None:
    """One module, called in several threads at once: each call has a BackwardHook of its own."""
    linear = nn.Linear(1, 1, bias=False)
    seen: list[tuple[float, float]] = []
    linear.register_full_backward_hook(lambda m, gi, go: seen.append((gi[0].item(), go[0].item())))

    def work(factor: float) -> None:
        for _ in range(20):
            (linear(lg.ones(1, 1, requires_grad=True)) * factor).sum().backward()

    threads = [threading.Thread(target=work, args=(factor,)) for factor in (1.0, 2.0, 3.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    weight = linear.weight.item()
    assert len(seen) == 60
    for inner, outer in seen:
        np.testing.assert_allclose(inner, weight * outer, rtol=1e-6)


def test_hooks_of_all_modules_reach_all_modules() -> None:
    names: list[str] = []
    with modules.register_module_full_backward_hook(lambda m, gi, go: names.append(type(m).__name__)):
        Net()(lg.ones(1, 3, requires_grad=True)).sum().backward()
    assert names == ["Linear", "Linear", "Net"]


def test_the_two_kinds_of_hooks_of_all_modules() -> None:
    _global_hooks.Kind.is_full = None
    handle = modules.register_module_backward_hook(lambda *args: None)
    handle.remove()
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks as"):
        modules.register_module_full_backward_hook(lambda *args: None)


def test_old_hooks_of_all_modules() -> None:
    _global_hooks.Kind.is_full = None
    seen: list[Any] = []
    with modules.register_module_backward_hook(lambda m, gi, go: seen.append((type(m).__name__, go[0].tolist()))):
        nn.Tanh()(lg.ones(1, requires_grad=True) * 1).sum().backward()
    assert seen == [("Tanh", [1.0])]


def test_names_that_pytorch_has() -> None:
    assert modules.Module is nn.Module
    assert nn.modules.Linear is nn.Linear
    assert lg.utils.hooks.BackwardHook is BackwardHook
