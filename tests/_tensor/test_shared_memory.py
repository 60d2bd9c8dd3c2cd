"""Tensors whose memory several processes see."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sys
from typing import Any

import pytest

import leafgrad as lg
from leafgrad import multiprocessing as mp
from leafgrad import nn

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="memory is shared on Linux only")


def test_sharing_keeps_the_tensor() -> None:
    x = lg.arange(6.0).reshape(2, 3).t().clone().requires_grad_()
    before = x.tolist(), x.stride()
    assert not x.is_shared()
    assert x.share_memory_() is x
    assert x.is_shared() and x[0].is_shared() and x.is_leaf and x.requires_grad
    assert (x.tolist(), x.stride()) == before
    (x * 2).sum().backward()
    assert x.grad is not None and not x.grad.is_shared()
    assert x.share_memory_().is_shared()
    assert lg.empty(0).share_memory_().is_shared()
    copy = pickle.loads(pickle.dumps(x))
    assert copy.tolist() == x.tolist() and not copy.is_shared() and not x.clone().is_shared()


def test_modules_share_parameters_and_buffers() -> None:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    weight = model[0].weight
    assert model.share_memory() is model
    assert model[0].weight is weight and type(weight) is nn.Parameter
    assert all([t.is_shared() for t in (*model.parameters(), *model.buffers())])


def test_a_view_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="whole tensors"):
        lg.ones(3)[:2].share_memory_()


def trained(rank: int, model: Any, counts: Any) -> None:
    with lg.no_grad():
        model.weight[rank] += rank + 1
    counts[1:][rank] = 10 + rank
    assert type(model.weight) is nn.Parameter and model.weight.requires_grad


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_see_the_same_memory(method: str) -> None:
    if method == "fork" and sys.platform != "linux":
        pytest.skip("fork")
    model, counts = nn.Linear(1, 2).share_memory(), lg.zeros(3, dtype=lg.int64).share_memory_()
    with lg.no_grad():
        model.weight.zero_()
    context: Any = multiprocessing.get_context(method)
    processes = [context.Process(target=trained, args=(rank, model, counts)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert model.weight.tolist() == [[1.0], [2.0]]
    assert counts.tolist() == [0, 10, 11]


def sent(queue: Any, done: Any) -> None:
    x = queue.get(timeout=60)
    x += 1
    done.put((x.is_shared(), x.tolist()))


def test_through_a_queue() -> None:
    """A view arrives where it lies in the shared memory; what is not shared arrives as a copy."""
    context = mp.get_context("spawn")
    whole, own = lg.zeros(4).share_memory_(), lg.zeros(2)
    for x, shared in ((whole[1:3], True), (own, False)):
        queue, done = context.Queue(), context.Queue()
        process = context.Process(target=sent, args=(queue, done))
        process.start()
        queue.put(x)
        assert done.get(timeout=60) == (shared, [1.0, 1.0])
        process.join(60)
    assert whole.tolist() == [0.0, 1.0, 1.0, 0.0] and own.tolist() == [0.0, 0.0]
