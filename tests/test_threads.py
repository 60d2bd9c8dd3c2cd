"""Several threads at once: gradients of shared leaves add up, separate graphs do not disturb each other, and each
thread has its own modes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import leafgrad as lg

THREADS = 6
LARGE = 40_000  # elements: NumPy lets other threads run while it works on arrays of this size


@pytest.fixture(autouse=True)
def frequent_switches() -> Iterator[None]:
    """Let the interpreter change threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    """Run work(0), work(1), ... at the same time. Exceptions are raised here."""
    results: list[Any] = [None] * count
    errors: list[BaseException] = []
    start = threading.Barrier(count)

    def run(i: int) -> None:
        try:
            start.wait()
            results[i] = work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]
    return results


@pytest.mark.parametrize("size", [1, 100, LARGE])
def test_gradients_of_a_shared_leaf_add_up(size: int) -> None:
    shared = lg.ones(size, dtype=lg.float64, requires_grad=True)
    repeats = 40

    def work(i: int) -> None:
        for n in range(repeats):
            (shared * float(i + 1) + shared.exp() * 0 + n).sum().backward()

    in_threads(work)
    expected = repeats * sum(range(1, THREADS + 1))
    assert np.unique(shared.grad.numpy()).tolist() == [expected]


def test_the_first_gradient_of_a_shared_leaf_is_not_lost() -> None:
    for _ in range(60):
        leaves = [lg.ones(50, requires_grad=True) for _ in range(5)]

        def work(i: int, leaves: list[Any] = leaves) -> None:
            (lg.stack(leaves) * float(i + 1)).sum().backward()

        in_threads(work)
        for leaf in leaves:
            assert np.unique(leaf.grad.numpy()).tolist() == [21.0]


def test_separate_graphs_do_not_disturb_each_other() -> None:
    def work(i: int) -> Any:
        x = lg.full((LARGE,), 1.0 + i, dtype=lg.float64, requires_grad=True)
        for _ in range(10):
            y = x
            for _ in range(8):
                y = y * x
            y[:10].mul_(2)
            y.sum().backward()
        return x.grad.numpy()

    for i, g in enumerate(in_threads(work)):
        expected = 10 * 9 * (1.0 + i) ** 8
        assert np.unique(g[10:]).tolist() == [expected] and np.unique(g[:10]).tolist() == [2 * expected]


def test_one_model_many_threads() -> None:
    rng = np.random.RandomState(0)
    data = [lg.tensor(rng.standard_normal((32, 20))) for _ in range(THREADS)]
    weights = [lg.tensor(rng.standard_normal(shape), requires_grad=True) for shape in ((20, 30), (30,), (30, 1))]

    def loss(i: int) -> Any:
        hidden = (data[i] @ weights[0] + weights[1]).tanh()
        return (hidden @ weights[2]).square().mean()

    for i in range(THREADS):
        loss(i).backward()
    expected = [w.grad.numpy().copy() for w in weights]
    for w in weights:
        w.grad = None
    in_threads(lambda i: [loss(i).backward() for _ in range(20)])
    for w, e in zip(weights, expected):
        np.testing.assert_allclose(w.grad.numpy(), 20 * e, rtol=1e-10)


def test_a_graph_recorded_in_one_thread_is_walked_in_another() -> None:
    x = lg.full((LARGE,), 3.0, requires_grad=True)
    losses = [(x * float(i + 1)).sum() for i in range(THREADS)]
    in_threads(lambda i: losses[i].backward())
    assert np.unique(x.grad.numpy()).tolist() == [21.0]
    y = (x * x).sum()
    results = in_threads(lambda i: lg.autograd.grad(y, x, retain_graph=True)[0].numpy())
    assert all(np.unique(g).tolist() == [6.0] for g in results)


def test_modes_belong_to_their_thread() -> None:
    x = lg.ones(3, requires_grad=True)
    steps = threading.Barrier(3)

    def work(i: int) -> list[bool]:
        seen = [lg.is_grad_enabled()]
        with [lg.no_grad, lg.enable_grad, lg.inference_mode][i]():
            steps.wait()
            seen += [lg.is_grad_enabled(), (x * 2).requires_grad, lg.is_inference_mode_enabled()]
            steps.wait()
        return [*seen, lg.is_grad_enabled()]

    with lg.no_grad():
        results = in_threads(work, 3)
        assert not lg.is_grad_enabled()
    assert results == [
        [True, False, False, False, True],
        [True, True, True, False, True],
        [True, False, False, True, True],
    ]


def test_recording_survives_other_threads_that_switch_it_off() -> None:
    x = lg.ones(10, requires_grad=True)

    def work(i: int) -> int:
        recorded = 0
        for _ in range(300):
            if i % 2:
                with lg.no_grad():
                    recorded += (x * 2).requires_grad
            else:
                y = (x * 2).sum()
                recorded += y.requires_grad
                y.backward()  # switches recording off inside
                recorded += (x + 1).requires_grad
        return recorded

    assert in_threads(work) == [600, 0] * 3


def test_an_error_in_one_thread_is_that_threads_own() -> None:
    x = lg.ones(5, requires_grad=True)

    def work(i: int) -> Any:
        y = (x * x).sum()
        y.backward()
        if i % 2:
            with pytest.raises(RuntimeError, match="a second time"):
                y.backward()
            return None
        (x * 2).sum().backward()
        return lg.is_grad_enabled()

    assert in_threads(work) == [True, None] * 3
    assert np.unique(x.grad.numpy()).tolist() == [6 * 2.0 + 3 * 2.0]


def test_hooks_and_higher_derivatives_in_threads() -> None:
    def work(i: int) -> tuple[float, int]:
        calls = 0

        def count(g: Any) -> None:
            nonlocal calls
            calls += 1

        x = lg.tensor([float(i)], dtype=lg.float64, requires_grad=True)
        for _ in range(50):
            y = x**4
            y.register_hook(count)
            (first,) = lg.autograd.grad(y.sum(), x, create_graph=True)
            (second,) = lg.autograd.grad(first.sum(), x)
        return second.item(), calls

    assert in_threads(work) == [(12.0 * i * i, 50) for i in range(THREADS)]


def test_nan_and_inf_are_silent_in_every_thread() -> None:
    def work(i: int) -> list[str]:
        x = lg.tensor([0.0, -1.0], requires_grad=True)
        (x.log() / x).sum().backward()
        return [repr(v) for v in (lg.zeros(1) / 0).tolist()]

    assert in_threads(work) == [["nan"]] * THREADS
