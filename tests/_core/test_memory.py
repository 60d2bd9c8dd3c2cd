"""Memory: a graph dies with the last tensor that needs it, by reference counting alone; a backward pass frees what was
saved at once; training does not grow."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad._core.node import Node
from leafgrad._core.tensor import TensorBase
from leafgrad.autograd import grad


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """The cycle collector sleeps, so that only reference counts free anything."""
    gc.disable()
    yield
    gc.enable()


@contextmanager
def nothing_left() -> Iterator[None]:
    """What happens inside leaves no tensor, no node and nothing for the collector behind."""
    gc.collect()
    before = living()
    yield
    assert living() == before
    assert gc.collect() == 0


def leaf(*shape: int) -> Any:
    return lg.tensor(np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape), requires_grad=True)


def living() -> int:
    """How many tensors and nodes there are."""
    return sum([issubclass(type(o), (Node, TensorBase)) for o in gc.get_objects()])


# -- nothing is left for the collector --------------------------------------------------------------------------------


def plain(x: Any) -> Any:
    return ((x * x + x.exp()).sin() / 2).sum()


def views(x: Any) -> Any:
    y = x * 1
    rows = y.view(2, 3), y.t(), y[0], y[1:], y.unbind(), y.chunk(2), y.expand(2, 2, 3), y.diagonal()
    return sum([part.sum() for row in rows for part in (row if isinstance(row, tuple) else [row])])


def in_place(x: Any) -> Any:
    y = x * 1
    first = y[0]
    first.mul_(2)
    y.add_(1).sin_()
    y[1] = first
    y[y > 100] = 0.0
    return (y * first).sum()


def several_results(x: Any) -> Any:
    values, _ = x.max(0)
    a, b = (x * 2).split([1, 1])
    return (values * a).sum() + b.sum() + lg.cat([a, b]).prod()


def with_hooks(x: Any) -> Any:
    y = x * x
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    z = y * 3
    z.retain_grad()
    handle = z.register_hook(lambda g: None)
    handle.remove()
    return z.sum()


def modes(x: Any) -> Any:
    with lg.no_grad():
        mean, part = x.mean(), x[0]
    return ((x - mean) * part).sum() + x.detach().sum()


def layers(x: Any) -> Any:
    model = lg.nn.Sequential(lg.nn.Linear(3, 4), lg.nn.ReLU(), lg.nn.Linear(4, 2)).double()
    return lg.nn.functional.cross_entropy(model(x), lg.tensor([0, 1]))


PROGRAMS: list[Callable[[Any], Any]] = [plain, views, in_place, several_results, with_hooks, modes, layers]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("finish", ["backward", "grad", "twice", "nothing", "names"])
def test_no_reference_cycles(program: Callable[[Any], Any], finish: str) -> None:
    x = leaf(2, 3)
    program(x).backward()  # modules that are imported at their first use leave something behind
    x.grad = None
    with nothing_left():
        loss = program(x)
        if finish == "backward":
            loss.backward()
        elif finish == "grad":
            grad(loss, x)
        elif finish == "twice":
            loss.backward(retain_graph=True)
            loss.backward()
        elif finish == "names":
            seen = loss.grad_fn.next_functions
            while seen and seen[0][0] is not None:
                assert repr(seen[0][0])
                seen = seen[0][0].next_functions
            del seen
        del loss
        x.grad = None


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_reference_cycles_in_higher_derivatives(program: Callable[[Any], Any]) -> None:
    x = leaf(2, 3)
    program(x)  # see above
    with nothing_left():
        (first,) = grad(program(x), x, create_graph=True)
        (first * x).sum().backward()
        del first
        x.grad = None


def freed(x: Any) -> None:
    y = (x * x).sum()
    y.backward()
    y.backward()


def changed(x: Any) -> None:
    y = x * 1
    z = y * y
    y.add_(1)
    z.sum().backward()


def hooked(x: Any) -> None:
    def fails(g: Any) -> None:
        raise KeyError("mine")

    y = x * 2
    y.register_hook(fails)
    y.sum().backward()


def refused(x: Any) -> None:
    x.add_(1)


def of_wrong_shape(x: Any) -> None:
    (x * 2).backward(lg.ones(2))


@pytest.mark.parametrize("program", [freed, changed, hooked, refused, of_wrong_shape])
def test_no_reference_cycles_after_errors(program: Callable[[Any], Any]) -> None:
    x = leaf(3)
    with nothing_left():
        try:
            program(x)
        except (RuntimeError, KeyError):
            x.grad = None
        else:
            pytest.fail("no error")


def test_a_backward_inside_a_hook_leaves_nothing() -> None:
    x, w = leaf(3), leaf(3)

    def inner(g: Any) -> None:
        with lg.enable_grad():
            (w * w).sum().backward()

    with nothing_left():
        y = x * x
        handle = y.register_hook(inner)
        y.sum().backward()
        handle.remove()
        del y, handle
        x.grad = w.grad = None


# -- freed at once ----------------------------------------------------------------------------------------------------


def watch(t: Any) -> Callable[[], bool]:
    """Tells whether the memory of a tensor is still there."""
    owner = t.array if t.array.base is None else t.array.base
    reference = weakref.ref(owner)
    return lambda: reference() is not None


def test_backward_frees_what_was_saved() -> None:
    x = leaf(100)
    hidden = x * 2
    product = hidden * hidden
    loss = product.exp().sum()
    alive = watch(hidden), watch(product)
    del hidden, product
    assert alive[0]()  # saved by the multiplication
    loss.backward()
    assert not any([a() for a in alive]) and loss.requires_grad


def test_values_are_freed_while_the_walk_goes_on() -> None:
    x = leaf(100)
    seen: list[bool] = []
    first = x * 2
    second = first * first
    alive = watch(second)
    third = second * second
    first.register_hook(lambda g: seen.append(alive()))
    del second
    third.sum().backward()
    assert seen == [False]


def test_a_retained_graph_keeps_what_was_saved() -> None:
    x = leaf(100)
    hidden = x * 2
    alive = watch(hidden)
    loss = (hidden * hidden).sum()
    del hidden
    loss.backward(retain_graph=True)
    assert alive()
    loss.backward()
    assert not alive()


def test_a_graph_dies_with_its_last_tensor() -> None:
    x = leaf(100)
    hidden = x * 2
    other = hidden + 1
    alive = watch(hidden), weakref.ref(hidden)
    loss = (hidden * other).sum()
    del hidden, other
    assert alive[0]() and alive[1]() is None  # the values are kept, the tensor is not
    del loss
    assert not alive[0]()


def test_values_that_no_rule_needs_are_not_kept() -> None:
    x = leaf(100)
    y = x + 1
    alive = watch(y)
    z = y * 2 + 5
    del y
    assert not alive() and z.requires_grad
    y = x * 1
    alive = watch(y)
    z = y.exp()  # its rule needs the result
    del y
    assert not alive() and z.requires_grad


def test_nothing_is_kept_without_recording() -> None:
    x = leaf(100)
    with lg.no_grad():
        y = x * x
        alive = watch(y)
        z = y * y
        del y
    assert not alive() and not z.requires_grad


def test_a_view_keeps_its_base_and_a_copy_does_not() -> None:
    base = lg.zeros(100)
    alive = watch(base)
    view, copy = base[:10], base[:10].clone()
    del base
    assert alive() and view._base is not None
    del view
    assert not alive() and copy.sum() == 0


def test_a_detached_tensor_keeps_the_values_but_not_the_graph() -> None:
    x = leaf(100)
    hidden = x * 2
    saved = watch(hidden)
    result = hidden * hidden
    detached = result.detach()
    values = watch(result)
    del hidden, result
    assert values() and not saved() and detached.shape == (100,)


def test_leaves_are_not_kept_by_their_gradients() -> None:
    x = leaf(100)
    (x * x).sum().backward()
    g = x.grad
    alive = weakref.ref(x)
    del x
    assert alive() is None and g.shape == (100,)


def test_retained_gradients_do_not_keep_their_tensor() -> None:
    x = leaf(100)
    y = x * x
    y.retain_grad()
    alive = weakref.ref(y)
    z = y.sum()
    del y
    assert alive() is None
    z.backward()
    assert x.grad is not None


# -- training ---------------------------------------------------------------------------------------------------------


def test_a_thousand_steps_do_not_grow() -> None:
    lg.manual_seed(0)
    # Three parameters: with four a step calls a function with 20 arguments, and CPython 3.11 puts tuples of that length
    # aside, up to 2,000 of them, without using them again.
    model = lg.nn.Sequential(lg.nn.Linear(8, 16), lg.nn.ReLU(), lg.nn.Linear(16, 1, bias=False))
    optimizer = lg.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    data, target = lg.randn(32, 8), lg.randn(32, 1)
    losses: list[float] = []

    def steps(count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            loss = lg.nn.functional.mse_loss(model(data), target)
            loss.backward()
            optimizer.step()
        losses.append(loss.item())

    tracemalloc.start()
    steps(400)  # buffers, caches and gradients come into being, and the calls of modules that are remembered
    gc.collect()
    objects, before = living(), len(gc.get_objects())
    memory = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    steps(600)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert living() == objects
    assert abs(len(gc.get_objects()) - before) < 50
    assert after < memory + 20_000 and peak < memory + 200_000
    assert gc.collect() == 0
    assert losses[-1] < losses[0]


def test_a_thousand_steps_by_hand_with_views_and_in_place_changes() -> None:
    w = leaf(6)
    x = lg.ones(2, 3, dtype=lg.float64)

    def step() -> None:
        y = x * w.view(2, 3)
        y[0].mul_(2)
        y += 1
        loss = y.square().sum()
        loss.backward()
        with lg.no_grad():
            w.sub_(w.grad, alpha=0.01)
            w.grad.zero_()

    for _ in range(20):
        step()
    gc.collect()
    objects, before = living(), len(gc.get_objects())
    for _ in range(1000):
        step()
    assert living() == objects and abs(len(gc.get_objects()) - before) < 50
    assert gc.collect() == 0


def test_a_running_total_of_detached_losses_does_not_grow() -> None:
    w = leaf(3)
    total = lg.zeros((), dtype=lg.float64)
    for _ in range(5):
        total += (w * w).sum().detach()
    objects = living()
    for _ in range(200):
        total += (w * w).sum().detach()
    assert living() == objects and total.grad_fn is None
