"""What is remembered of a program: by line, bounded, without keeping anything alive."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad import nn
from leafgrad._core.events import MOST_LINES, MOST_OBJECTS, Event, events_of, kind_of, kinds
from leafgrad._core.origin import line_of


@pytest.fixture(autouse=True)
def nothing_happened_before() -> None:
    for kind in kinds.values():
        kind.lines.clear()
        kind.last = Event(kind.reason, None, -1)


def lines(reason: str) -> list[int]:
    """The lines of the events of a kind, relative to the function that they happened in; the last first."""
    return [line_of(e.code, e.lasti)[1] - e.code.co_firstlineno for e in events_of(reason)]


def test_a_line_has_one_event_that_counts() -> None:
    w = torch.ones(3, requires_grad=True)
    for _ in range(5):
        (w * 2).detach()
    (w * 3).detach()
    assert [event.count for event in events_of("detach")] == [1, 5]
    assert lines("detach") == [4, 3]
    assert all(event.concerns(w) for event in events_of("detach"))


@pytest.mark.parametrize(
    ("way", "leave"),
    [
        ("item", lambda t: t.sum().item()),
        pytest.param("float", lambda t: float(t.sum()), marks=pytest.mark.filterwarnings("ignore:Converting a tensor")),
        ("int", lambda t: int(t.sum())),
        ("complex", lambda t: complex(t.sum())),
        ("tolist", lambda t: t.tolist()),
        ("numpy", lambda t: t.numpy(force=True)),
        ("data", lambda t: t.data),
        ("detach", lambda t: t.detach()),
        pytest.param("tensor", lambda t: torch.tensor(t), marks=pytest.mark.filterwarnings("ignore:To copy construct")),
        ("Parameter", lambda t: nn.Parameter(t)),
        ("gt", lambda t: t > 0),
        ("argmax", lambda t: t.argmax()),
    ],
)
def test_ways_out_of_a_graph_are_noted_with_the_leaves_behind(way: str, leave: Any) -> None:
    w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    leave(w * 2 + v.exp())
    (event,) = events_of(way)
    assert event.code is leave.__code__
    assert {id(leaf) for leaf in event.alive()} == {id(w), id(v)}
    leave(torch.ones(2))  # which requires no grad
    assert event.count == 1


def test_what_is_only_printed_leaves_no_trace() -> None:
    w = torch.ones((), requires_grad=True)
    assert f"{w:.1f} {w * 2}" and repr(w)
    assert events_of("item") == []


def test_under_no_grad_all_operands_are_noted() -> None:
    model = nn.Linear(2, 1)
    with torch.no_grad():
        model(torch.ones(3, 2))
    (event,) = events_of("no_grad")
    assert event.concerns(model.weight) and event.concerns(model.bias)


def test_no_tensor_and_no_graph_is_kept_alive() -> None:
    w = torch.ones(1000, requires_grad=True)
    h = w * 2
    references = [weakref.ref(w), weakref.ref(h), weakref.ref(h.array)]
    h.detach()
    h.sum().item()
    h.numpy(force=True)
    h.sum().backward()
    nn.Parameter(h)
    del w, h
    gc.collect()
    assert [r() for r in references] == [None, None, None]


def test_the_number_of_lines_and_of_leaves_is_bounded() -> None:
    w = torch.ones(2, requires_grad=True)
    program = "w.detach()\n" * (MOST_LINES + 20)
    exec(compile(program, "<many lines>", "exec"), {"w": w})
    assert len(kind_of("detach").lines) == MOST_LINES
    leaves = [torch.ones(1, requires_grad=True) for _ in range(MOST_OBJECTS + 10)]
    for leaf in leaves:
        leaf.detach()
    assert len(events_of("detach")[0].objects) == MOST_OBJECTS
    del leaves, leaf
    for _ in range(3):  # there is room again for those that live
        w = torch.ones(1, requires_grad=True)
        assert w.detach() is not None and events_of("detach")[0].reason == "detach"


def test_another_model_at_the_same_line_is_noticed() -> None:
    for _ in range(20):  # also if it has the address of one that is gone
        model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
        model[0].bias.requires_grad_(False)
        for _ in range(3):
            model(torch.ones(3, 2)).mean().item()
        (event,) = events_of("item")
        assert all(event.concerns(p) for p in model.parameters() if p.requires_grad)
        (event,) = events_of("requires_grad=False")
        assert event.concerns(model[0].bias)
        del model


def test_backward_and_zero_grad_are_noted() -> None:
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.ones(2, 2)).sum().backward()
    torch.autograd.grad(model(torch.ones(2, 2)).sum(), model.weight)  # which puts nothing into .grad
    model.zero_grad()
    assert [event.count for event in events_of("backward")] == [3]
    assert [event.alive() for event in events_of("zero_grad")] == [[model], [optimizer]]
    assert lines("zero_grad") == [7, 4]


def test_memory_is_recognised() -> None:
    w = torch.ones(3, requires_grad=True)
    h = w * 2
    array = h.detach().numpy()
    (event,) = events_of("detach")
    assert event.memory() is h.array and np.shares_memory(array, event.memory())
