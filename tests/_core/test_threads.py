"""Several threads at once: gradients of shared leaves add up, separate graphs do not disturb each other, and each
thread has its own modes."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad import func
from leafgrad._core.modes import switches
from leafgrad._core.thread_state import shared_modes, state
from leafgrad.autograd import forward_ad, hooks
from leafgrad.autograd.profiler import profile

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


# -- one graph, walked by many ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3000])
def test_a_shared_graph_gives_each_call_its_own_gradients(size: int) -> None:
    """Every call starts with another gradient. What a hook sees must belong to the call of the thread it runs in, and
    the leaves must get the sum of all."""
    x = lg.full((size,), 2.0, dtype=lg.float64, requires_grad=True)
    middle = x * 3
    y = (middle * middle).exp().log()  # the derivative with respect to the middle is twice the middle
    own = threading.local()
    wrong: list[Any] = []

    def look(g: Any) -> None:
        if g.numpy()[0] != pytest.approx(12.0 * own.factor):
            wrong.append((own.factor, g))

    middle.register_hook(look)
    repeats = 25

    def work(i: int) -> None:
        own.factor = float(i + 1)
        start = lg.full((size,), own.factor, dtype=lg.float64)
        for _ in range(repeats):
            y.backward(start, retain_graph=True)

    in_threads(work)
    assert not wrong
    np.testing.assert_allclose(x.grad.numpy(), 36.0 * repeats * sum(range(1, THREADS + 1)))


@pytest.mark.parametrize("size", [1, 3000])
def test_a_retained_gradient_loses_nothing(size: int) -> None:
    repeats = 20
    for _ in range(10):
        x = lg.ones(size, requires_grad=True)
        y = x * 2
        y.retain_grad()
        z = y.sum()

        def work(i: int, z: Any = z) -> None:
            for _ in range(repeats):
                z.backward(retain_graph=True)

        in_threads(work)
        assert np.unique(y.grad.numpy()).tolist() == [THREADS * repeats]
        assert np.unique(x.grad.numpy()).tolist() == [2 * THREADS * repeats]


def test_hooks_of_every_kind_are_called_once_for_each_call() -> None:
    x = lg.ones(4, requires_grad=True)
    y = x * 2
    z = y.sum()
    calls: dict[str, list[int]] = {kind: [] for kind in ("tensor", "leaf", "before", "after", "accumulated")}

    def count(kind: str) -> Callable[..., None]:
        return lambda *args: calls[kind].append(threading.get_ident())

    y.register_hook(count("tensor"))
    x.register_hook(count("leaf"))
    y.grad_fn.register_prehook(count("before"))
    y.grad_fn.register_hook(count("after"))
    x.register_post_accumulate_grad_hook(count("accumulated"))
    repeats = 40

    def work(i: int) -> int:
        for _ in range(repeats):
            z.backward(retain_graph=True)
        return threading.get_ident()

    idents = in_threads(work)
    for kind, seen in calls.items():
        assert sorted(seen) == sorted(idents * repeats), kind
    assert np.unique(x.grad.numpy()).tolist() == [2 * THREADS * repeats]


@pytest.mark.parametrize("mode", ["all", "any"])
def test_hooks_for_several_tensors_tell_calls_apart(mode: str) -> None:
    for _ in range(5):
        x = lg.ones(3, requires_grad=True)
        a, b = x * 2, x * 3
        y = a + b
        calls: list[float] = []

        def note(given: Any, calls: list[float] = calls) -> None:
            first, *others = given if isinstance(given, (tuple, list)) else [given]
            assert all(lg.equal(first, other) for other in others)
            calls.append(first[0].item())

        lg.autograd.graph.register_multi_grad_hook([a, b], note, mode=mode)

        def work(i: int, y: Any = y) -> None:
            for _ in range(20):
                y.backward(lg.full((3,), i + 1.0), retain_graph=True)

        in_threads(work)
        assert sorted(calls) == sorted([i + 1.0 for i in range(THREADS)] * 20)


def test_hooks_that_come_and_go_while_others_walk() -> None:
    x = lg.ones(3, requires_grad=True)
    y = x * 2
    z = y.sum()
    ids: list[int] = []

    def work(i: int) -> None:
        for _ in range(100):
            if i % 2:
                handle = y.register_hook(lambda g: None)
                ids.append(handle.id)
                handle.remove()
            else:
                z.backward(retain_graph=True)

    in_threads(work)
    assert len(set(ids)) == len(ids) == 300
    assert np.unique(x.grad.numpy()).tolist() == [2 * 300]


def test_a_shared_graph_with_functions_of_the_user() -> None:
    class Both(lg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.save_for_backward(a, b)
            return a * b, a + b

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> Any:
            a, b = ctx.saved_tensors
            return g * b + h, g * a + h

    x = lg.full((2000,), 2.0, requires_grad=True)
    w = lg.full((2000,), 3.0, requires_grad=True)
    p, q = Both.apply(x, w)
    z = (p + q).sum()

    def work(i: int) -> None:
        for _ in range(20):
            z.backward(retain_graph=True)

    in_threads(work)
    assert np.unique(x.grad.numpy()).tolist() == [4.0 * THREADS * 20]
    assert np.unique(w.grad.numpy()).tolist() == [3.0 * THREADS * 20]


def test_different_parts_of_one_graph() -> None:
    x = lg.full((5,), 0.5, dtype=lg.float64, requires_grad=True)
    a = x * 2
    b = a.exp()
    c = (b * a).sum()
    expected = [lg.autograd.grad(c, t, retain_graph=True)[0].tolist() for t in (x, a, b)]
    targets = [x, a, b] * 2
    repeats = 50
    results = in_threads(
        lambda i: [lg.autograd.grad(c, targets[i], retain_graph=True)[0].tolist() for _ in range(repeats)]
    )
    assert results == [[expected[i % 3]] * repeats for i in range(THREADS)] and x.grad is None


def test_a_graph_that_is_not_kept_is_freed_for_all() -> None:
    """Exactly the calls that found the graph alive added to the gradient; the others were refused."""
    for _ in range(30):
        x = lg.ones(50, requires_grad=True)
        y = (x * x).sum()

        def work(i: int, y: Any = y) -> bool:
            try:
                y.backward()
            except RuntimeError as error:
                assert "a second time" in str(error)
                return False
            return True

        worked = sum(in_threads(work))
        assert worked >= 1 and np.unique(x.grad.numpy()).tolist() == [2.0 * worked]


def test_graphs_of_gradients_in_threads() -> None:
    x = lg.full((50,), 2.0, dtype=lg.float64, requires_grad=True)
    (first,) = lg.autograd.grad((x**4).sum(), x, create_graph=True)
    total = first.sum()

    def work(i: int) -> set[float]:
        found = set()
        for _ in range(20):
            (second,) = lg.autograd.grad(total, x, create_graph=True, retain_graph=True)
            (third,) = lg.autograd.grad(second.sum(), x)
            found |= {*second.tolist(), *third.tolist()}
        return found

    assert in_threads(work) == [{48.0}] * THREADS


# -- modes that belong to a thread, and one that does not -------------------------------------------------------------


def test_hooks_for_saved_tensors_belong_to_their_thread() -> None:
    def work(i: int) -> tuple[int, float]:
        packed = 0
        x = lg.full((3,), float(i), requires_grad=True)

        def pack(t: Any) -> Any:
            nonlocal packed
            packed += 1
            return t

        for _ in range(100):
            if i % 2:
                with lg.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
                    y = (x * x).sum()
            else:
                y = (x * x).sum()
            y.backward()
        return packed, x.grad[0].item()

    assert in_threads(work) == [(200 * (i % 2), 200.0 * i) for i in range(THREADS)]


def test_saved_tensors_are_unpacked_by_whoever_needs_them() -> None:
    x = lg.ones(3, requires_grad=True)
    unpacked: list[int] = []

    def unpack(t: Any) -> Any:
        unpacked.append(threading.get_ident())
        return t

    with lg.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = (x * x).sum()

    def work(i: int) -> int:
        for _ in range(20):
            y.backward(retain_graph=True)
        return threading.get_ident()

    idents = in_threads(work)
    assert sorted(unpacked) == sorted(idents * 40) and np.unique(x.grad.numpy()).tolist() == [240.0]


def test_refused_hooks_are_refused_in_their_thread_only() -> None:
    steps = threading.Barrier(2)

    def work(i: int) -> str:
        if i:
            steps.wait()
            with lg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                steps.wait()
            return "allowed"
        with lg.autograd.graph.disable_saved_tensors_hooks("not here"):
            steps.wait()
            with pytest.raises(RuntimeError, match="not here"):
                lg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()
            steps.wait()
        return "refused"

    assert in_threads(work, 2) == ["refused", "allowed"]


def test_inference_mode_is_counted_right() -> None:
    def work(i: int) -> int:
        wrong = 0
        for _ in range(200):
            with lg.inference_mode():
                wrong += not lg.ones(1).is_inference()
            wrong += lg.ones(1).is_inference()
        return wrong

    assert in_threads(work) == [0] * THREADS
    assert switches.inference == 0


def test_counters_that_all_threads_share_are_changed_under_a_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter does not switch threads inside of `n += 1`, today. So make it: a slow counter."""

    class Slow(int):
        def __add__(self, other: int) -> Slow:
            time.sleep(1e-5)  # others may run here
            return Slow(int(self) + int(other))

        def __sub__(self, other: int) -> Slow:
            return self + -other

    monkeypatch.setattr(hooks.RemovableHandle, "next_id", Slow(10_000_000))
    x = lg.ones(1, requires_grad=True)
    ids: list[int] = []

    def work(i: int) -> None:
        for _ in range(30):
            with lg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                ids.append(x.register_hook(lambda g: None).id)

    in_threads(work)
    assert len(set(ids)) == 30 * THREADS and not state.modes


def test_anomaly_mode_holds_for_all_threads_also_for_older_ones() -> None:
    ready, switched = threading.Event(), threading.Event()
    seen: list[Any] = []

    def work() -> None:
        x = lg.zeros(1, requires_grad=True)
        x * 2
        ready.set()
        switched.wait()
        seen.append(lg.is_anomaly_enabled())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises(RuntimeError, match="SqrtBackward0' returned nan"):
                (x.sqrt() * 0).sum().backward()
        seen.extend(["Traceback of forward call" in str(w.message) for w in caught])

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    with lg.autograd.set_detect_anomaly(True):
        switched.set()
        thread.join()
    assert seen == [True, True] and not lg.is_anomaly_enabled() and lg.is_grad_enabled()


def test_tangents_are_seen_by_other_threads() -> None:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(lg.ones(2), lg.full((2,), 3.0))
        results = in_threads(lambda i: forward_ad.unpack_dual(dual * float(i)).tangent.tolist())
        own = in_threads(lambda i: forward_ad.unpack_dual(forward_ad.make_dual(lg.ones(1), lg.full((1,), 1.0 * i)) * 2))
    assert results == [[3.0 * i] * 2 for i in range(THREADS)]
    assert [dual.tangent.item() for dual in own] == [2.0 * i for i in range(THREADS)]


def test_forward_mode_in_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tangents travel as long as a level is open in any thread: closing one must not overlook that another opens."""

    class Slow(list[int]):
        def __len__(self) -> int:
            length = super().__len__()
            time.sleep(2e-4)  # others may run here
            return length

    monkeypatch.setattr(forward_ad, "open_levels", Slow())

    def work(i: int) -> set[float]:
        x, direction = lg.full((3,), 2.0), lg.full((3,), i + 1.0)
        cube = lambda v: (v * v * v).sum()
        return {func.jvp(cube, (x,), (direction,))[1].item() for _ in range(150)}

    assert in_threads(work, 2) == [{36.0}, {72.0}]  # with more of them, some level is open nearly always
    assert in_threads(work) == [{36.0 * (i + 1)} for i in range(THREADS)]
    assert not shared_modes


def test_transforms_do_not_disturb_other_threads() -> None:
    def work(i: int) -> set[Any]:
        found: set[Any] = set()
        for _ in range(20):
            if i % 2:
                cubes = func.vmap(func.grad(lambda a: (a**3).sum()))(lg.full((4, 3), float(i)))
                found |= set(cubes.reshape(-1).tolist())
            else:
                leaf = lg.full((3,), float(i), requires_grad=True)
                (leaf**3).sum().backward()
                first = leaf.grad
                (leaf * 1).sum().backward()
                found.add((leaf.grad[0].item(), first is leaf.grad))
        return found

    assert in_threads(work) == [{(1.0, True)}, {3.0}, {(13.0, True)}, {27.0}, {(49.0, True)}, {75.0}]


def test_default_random_numbers_are_drawn_call_by_call() -> None:
    lg.manual_seed(0)
    expected = np.sort(np.concatenate([lg.rand(100).numpy() for _ in range(20 * THREADS)]))
    lg.manual_seed(0)
    drawn = in_threads(lambda i: [lg.rand(100).numpy() for _ in range(20)])
    assert np.array_equal(np.sort(np.concatenate([part for parts in drawn for part in parts])), expected)


def test_profilers_in_many_threads() -> None:
    def work(i: int) -> list[int]:
        counts = []
        x = lg.full((3,), 2.0, requires_grad=True)
        for n in range(4):
            with profile() as prof:
                for _ in range(n + i):
                    (x * x).sum().backward()
            averages = {a.key: a.count for a in prof.key_averages()}
            counts.append(averages.get("MulBackward0", 0))
            assert averages.get("aten::mul", 0) == 3 * counts[-1]  # one in the forward pass, two in the rule
        assert x.grad[0].item() == 4.0 * (6 + 4 * i)
        return counts

    assert in_threads(work) == [[i, i + 1, i + 2, i + 3] for i in range(THREADS)]
    assert not state.modes
