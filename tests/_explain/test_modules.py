"""Which module recorded a node, asked afterwards."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from typing import Any

import pytest

import leafgrad as torch
from leafgrad import nn
from leafgrad._core import module_calls
from leafgrad._explain.modules import Call, ModuleCalls
from leafgrad.utils.checkpoint import checkpoint


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x: Any) -> Any:
        return self.linear(x).tanh()


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.unused = Inner(), Inner(), nn.Linear(2, 2)

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x) * 2)


def path(node: Any) -> list[str]:
    """The classes of the modules that were running, the outermost first."""
    call = ModuleCalls().of(node)
    return [] if call is None else [type(one.module).__name__ for one in call.path()]


def chain(node: Any) -> list[Any]:
    """A node and those behind its first inputs."""
    nodes = []
    while node is not None and hasattr(node, "inputs"):
        nodes.append(node)
        node = next((source for source in node.inputs if source is not None), None)
    return nodes


def test_a_node_belongs_to_the_innermost_module() -> None:
    model = Outer()
    before = torch.ones(1, 2, requires_grad=True) * 3
    loss = model(before).sum()
    shown = [(type(node).__name__ and node.op.name, path(node)) for node in chain(loss.grad_fn)]
    assert shown == [
        ("sum", []),
        ("tanh", ["Outer", "Inner"]),
        ("linear", ["Outer", "Inner", "Linear"]),
        ("mul", ["Outer"]),
        ("tanh", ["Outer", "Inner"]),
        ("linear", ["Outer", "Inner", "Linear"]),
        ("mul", []),
    ]
    calls = ModuleCalls()
    nodes = chain(loss.grad_fn)
    assert calls.of(nodes[1]).module is model.second and calls.of(nodes[4]).module is model.first  # type: ignore[union-attr]


def test_a_module_that_is_called_several_times_has_several_calls() -> None:
    cell = nn.Linear(2, 2)
    h = torch.ones(1, 2)
    results = []
    for _ in range(3):
        h = cell(h)
        results.append(h.grad_fn)
    calls = ModuleCalls()
    found = [calls.of(node) for node in results]
    assert len({id(call) for call in found}) == 3
    assert [call for call in calls.of_module(cell)] == found


def test_was_it_called_for_this_loss() -> None:
    model = Outer()
    model.unused(torch.ones(1, 2))
    nodes = chain(model(torch.ones(1, 2)).sum().grad_fn)
    model.unused(torch.ones(1, 2))
    calls = ModuleCalls()
    assert calls.was_called(model.first, nodes) and calls.was_called(model, nodes)
    assert not calls.was_called(model.unused, nodes)
    assert not calls.was_called(model, [])
    inside = chain(model.second(model.unused(model.first(torch.ones(1, 2)))).grad_fn)
    assert ModuleCalls().was_called(model.unused, inside)


def test_calls_with_hooks_keywords_and_errors() -> None:
    class Fails(nn.Module):
        def forward(self, x: Any, fail: bool = False) -> Any:
            y = x * 2
            if fail:
                raise ValueError("as asked")
            return y

    module = Fails()
    x = torch.ones(2, requires_grad=True)
    module.register_forward_hook(lambda module, args, result: result + 1)
    assert [path(node) for node in chain(module(x=x).grad_fn)] == [["Fails"], ["Fails"]]
    seen: list[Any] = []
    module.register_forward_pre_hook(lambda module, args: seen.append((args[0] * 1).grad_fn))
    with pytest.raises(ValueError, match="as asked"):
        module(x, fail=True)
    assert path(seen[0]) == []  # no call that ended
    module._forward_hooks.clear()
    module._forward_pre_hooks.clear()
    assert path(module(x, fail=False).grad_fn) == ["Fails"]


def test_nothing_is_kept_in_modules_and_modules_are_not_kept() -> None:
    model = Outer()
    attributes = set(vars(model))
    node = model(torch.ones(1, 2)).grad_fn
    assert set(vars(model)) == attributes
    again = pickle.loads(pickle.dumps(model.first)), copy.deepcopy(model)
    assert ModuleCalls().of_module(again[1]) == []
    assert path(node) == ["Outer", "Inner"]
    module_calls.last_calls.clear()
    lost = Inner()
    node = lost(torch.ones(1, 2)).grad_fn
    del lost
    gc.collect()
    assert path(node) == [] and len(module_calls.last_calls) == 2


def test_only_the_last_calls_are_remembered() -> None:
    linear = nn.Linear(1, 1)
    x = torch.ones(1)
    first = linear(x).grad_fn
    for _ in range(module_calls.REMEMBERED):
        last = linear(x).grad_fn
    assert path(first) == [] and path(last) == ["Linear"]
    assert len(module_calls.last_calls) == module_calls.REMEMBERED


def test_checkpoints_and_maps() -> None:
    model = Outer()
    x = torch.ones(1, 2, requires_grad=True)
    kept = checkpoint(model, x, use_reentrant=False)
    assert path(kept.grad_fn) == ["Outer", "Inner"]
    hidden = checkpoint(model, x, use_reentrant=True)
    assert path(hidden.grad_fn) == []  # one node, which checkpoint recorded itself
    wrapped = nn.Sequential(model)
    model.forward = lambda x: checkpoint(model.first, x, use_reentrant=True)  # type: ignore[method-assign]
    assert path(wrapped(x).grad_fn) == ["Sequential", "Outer"]
    mapped = torch.func.vmap(model.first)(torch.ones(3, 2))
    assert [path(node)[-1:] for node in chain(mapped.grad_fn)][-1] == ["Linear"]


def test_threads_do_not_mix() -> None:
    """Two threads whose calls overlap: each sees its own. What another thread recorded is still found."""
    outer, inner = Inner(), Inner()
    started, finished = threading.Event(), threading.Event()
    found: dict[str, Any] = {}

    class Waits(nn.Module):
        def forward(self, x: Any) -> Any:
            first = x * 2
            started.set()
            finished.wait(10)
            return first + outer(x)

    waits = Waits()

    def other() -> None:
        result = waits(torch.ones(1, 2, requires_grad=True))
        found["other"] = result.grad_fn
        found["seen there"] = [path(node) for node in chain(result.grad_fn)]

    thread = threading.Thread(target=other)
    thread.start()
    started.wait(10)
    own = inner(torch.ones(1, 2)).grad_fn
    alone = (torch.ones(1, 2, requires_grad=True) * 2).grad_fn
    finished.set()
    thread.join()
    assert found["seen there"] == [["Waits"], ["Waits"]]
    assert path(own) == ["Inner"] and path(found["other"]) == ["Waits"]
    # recorded here while the other thread was in a module: nothing tells the two apart
    assert path(alone) == ["Waits"]


def test_a_path() -> None:
    a = Call("a", 1, 9)
    b = Call("b", 2, 4, a)
    assert b.path() == [a, b]
