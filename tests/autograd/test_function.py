"""Operations written by users: subclasses of autograd.Function."""

from __future__ import annotations

import _thread
import gc
import linecache
import sys
import threading
import time
import weakref
from typing import Any

import pytest

import leafgrad as torch
from leafgrad._core.thread_state import state
from leafgrad.autograd import Function
from leafgrad.autograd.function import once_differentiable


class Exp(Function):
    """Saves its own result."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (y,) = ctx.saved_tensors
        return gradients[0] * y


class ScaledProductAndSum(Function):
    """Several inputs and results, an option, and a context that is set up separately."""

    @staticmethod
    def forward(a: Any, b: Any, factor: float) -> Any:
        return a * b * factor, a + b

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        a, b, ctx.factor = inputs
        ctx.save_for_backward(a, b)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        g_product, g_sum = gradients
        a, b = ctx.saved_tensors
        return g_product * b * ctx.factor + g_sum, g_product * a * ctx.factor + g_sum, None


def test_gradient_and_names() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Exp.apply(x)
    assert y.grad_fn.name() == "ExpBackward"
    assert type(y.grad_fn).__name__ == "ExpBackward"
    y.sum().backward()
    assert torch.allclose(x.grad, x.detach().exp())


def test_second_and_third_order_through_a_saved_result() -> None:
    x = torch.tensor([0.5, -1.0], requires_grad=True, dtype=torch.float64)
    g: Any = Exp.apply(x)
    for _ in range(3):
        (g,) = torch.autograd.grad(g.sum(), x, create_graph=True)
        assert torch.allclose(g, x.exp())


def test_several_results_missing_gradients_are_zeros() -> None:
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    product, _ = ScaledProductAndSum.apply(a, b, 5.0)
    product.backward()
    assert (a.grad.item(), b.grad.item()) == (15.0, 10.0)
    product, total = ScaledProductAndSum.apply(a, b, 5.0)
    a.grad = b.grad = None
    (product + 2 * total).backward()
    assert (a.grad.item(), b.grad.item()) == (17.0, 12.0)


def test_needs_input_grad_and_none_without_materialisation() -> None:
    seen: list[Any] = []

    class Look(Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            ctx.set_materialize_grads(False)
            return a * 2, b * 2

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            seen.append((ctx.needs_input_grad, [g is None for g in gradients]))
            return gradients[0] * 2, None

    a = torch.tensor(1.0, requires_grad=True)
    first, _ = Look.apply(a, torch.tensor(1.0))
    first.backward()
    assert seen == [((True, False), [False, True])]
    assert a.grad.item() == 2.0


def test_in_place_function_changes_the_history_of_its_input() -> None:
    class Increment(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return gradients[0] * 3

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = x * 2
    assert Increment.apply(z) is z
    z.sum().backward()
    assert z.tolist() == [3.0, 5.0]
    assert x.grad.tolist() == [6.0, 6.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Increment.apply(x)


def test_result_without_gradient() -> None:
    class Both(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            rounded = x.floor()
            ctx.mark_non_differentiable(rounded)
            return x * 2, rounded

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return gradients[0] * 2

    x = torch.tensor(1.5, requires_grad=True)
    doubled, rounded = Both.apply(x)
    assert doubled.requires_grad and not rounded.requires_grad
    doubled.backward()
    assert x.grad.item() == 2.0


def test_wrong_number_of_gradients() -> None:
    class Wrong(Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            return a * b

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return gradients[0]

    a = torch.tensor(1.0, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"returned an incorrect number of gradients \(expected 2, got 1\)"):
        Wrong.apply(a, a).backward()


def test_a_kept_gradient_is_not_overwritten() -> None:
    kept: list[Any] = []

    class Keep(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            kept.append(gradients[0] * 2)
            return kept[-1]

    x = torch.ones(3, requires_grad=True)
    Keep.apply(x).sum().backward()
    x.grad.zero_()
    assert kept[0].tolist() == [2.0, 2.0, 2.0]


def test_saved_input_changed_in_place() -> None:
    class Square(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * gradients[0] * x

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    z = x * 1
    y = Square.apply(z)
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_once_differentiable() -> None:
    class Once(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, *gradients: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * gradients[0] * x

    x = torch.tensor(3.0, requires_grad=True)
    (g,) = torch.autograd.grad(Once.apply(x), x, grad_outputs=torch.tensor(1.0, requires_grad=True), create_graph=True)
    assert g.item() == 6.0
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        g.backward()


def test_graph_freed_and_no_cycles() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Exp.apply(x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()
    del y
    gc.collect()
    gc.disable()
    try:
        Exp.apply(x).sum().backward()
        assert gc.collect() == 0
    finally:
        gc.enable()


# -- memory -----------------------------------------------------------------------------------------------------------


class Square(Function):
    """Saves its argument."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.shape = x.shape
        return x * x

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        assert ctx.shape == gradients[0].shape
        return 2 * gradients[0] * ctx.saved_tensors[0]


def leaves_no_cycles(program: Any) -> bool:
    program()
    gc.collect()
    gc.disable()
    try:
        program()
        return gc.collect() == 0
    finally:
        gc.enable()


def test_no_cycles_whatever_is_saved() -> None:
    def argument_that_gets_a_history_from_the_result() -> None:
        w = torch.ones(2, requires_grad=True) * 1
        w.add_(Square.apply(w).detach() * 0 + Square.apply(w))

    def result_changed_in_place() -> None:
        y = Exp.apply(torch.ones(2, requires_grad=True))
        y.mul_(2)

    def never_run_backward() -> None:
        Exp.apply(Square.apply(torch.ones(2, requires_grad=True)))

    def second_order() -> None:
        x = torch.ones(2, requires_grad=True)
        (g,) = torch.autograd.grad(Square.apply(Exp.apply(x)).sum(), x, create_graph=True)
        torch.autograd.grad(g.sum(), x)

    def looked_at() -> None:
        node = Exp.apply(torch.ones(2, requires_grad=True)).grad_fn
        assert node.saved_tensors[0].grad_fn is node and node.next_functions

    changing = (argument_that_gets_a_history_from_the_result, result_changed_in_place)
    for program in (*changing, never_run_backward, second_order, looked_at):
        assert leaves_no_cycles(program), program.__name__


def test_saved_tensors_are_freed_by_backward() -> None:
    x = torch.ones(2, requires_grad=True)
    w = x * 1
    alive = weakref.ref(w.array)
    y = Square.apply(w)
    del w
    assert alive() is not None
    y.sum().backward()
    assert alive() is None
    assert y.grad_fn.shape is not None  # attributes stay


# -- modes ------------------------------------------------------------------------------------------------------------


def test_what_recording_is_inside_of_forward_and_after() -> None:
    """The recorder takes its short ways if this is just True or False."""
    seen: list[Any] = []

    class Look(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, error: bool = False) -> Any:
            seen.append(state.recording)
            if error:
                raise ValueError
            return x * 2

    x = torch.ones(2, requires_grad=True)
    Look.apply(x)
    with pytest.raises(ValueError):
        Look.apply(x, True)
    with torch.no_grad():
        Look.apply(x)
        seen.append(state.recording)
    with torch.autograd.set_detect_anomaly(True):
        Look.apply(x)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        Look.apply(x)
        assert state.recording is not True and state.recording
    assert [value is False for value in seen] == [True, True, True, True, False, False] and not any(seen)
    assert state.recording is True and state.forward_mode is True


# -- messages ---------------------------------------------------------------------------------------------------------


def test_messages_say_where() -> None:
    class Wrong(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return torch.ones(3)

    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError) as shape:
        Wrong.apply(x).sum().backward()
    assert "got [3] but expected shape compatible with [2]" in str(shape.value)
    assert "argument  number 1 of forward" in str(shape.value) and "test_function.py" in str(shape.value)
    w = x * 1
    y = Square.apply(w)
    w.add_(1)
    with pytest.raises(RuntimeError) as changed:
        y.sum().backward()
    lines = str(changed.value).splitlines()
    assert "is at version 1; expected version 0 instead" in lines[0]
    assert any("'w', shape [2]: saved by Square" in line for line in lines)
    assert any(line.startswith("  saved ") and "y = Square.apply(w)" in line for line in lines)
    assert any(line.startswith("  changed ") and "w.add_(1)" in line for line in lines)


def test_a_warning_points_to_the_call() -> None:
    class Wrong(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * 2
            ctx.mark_dirty(y)
            return y

    with pytest.warns(UserWarning, match="a tensor that was not an input") as seen:
        Wrong.apply(torch.ones(2, requires_grad=True))
    assert [warning.filename for warning in seen] == [__file__]


def test_a_call_knows_its_line() -> None:
    x = torch.ones(2, requires_grad=True)
    y = Exp.apply(x)
    pair = ScaledProductAndSum.apply(x, x, 2.0)
    for node, text in ((y.grad_fn, "y = Exp.apply(x)"), (pair[0].grad_fn, "pair = Scaled")):
        file, line = node.origin
        assert file == __file__ and linecache.getline(file, line).strip().startswith(text)


# -- in several threads -----------------------------------------------------------------------------------------------


def test_threads_do_not_share_contexts() -> None:
    results: list[Any] = []

    def work(value: float) -> None:
        x = torch.full((3,), value, requires_grad=True)
        for _ in range(20):
            Square.apply(x).sum().backward()
        results.append((value, x.grad.tolist()))

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [(float(i), [40.0 * i] * 3) for i in range(4)]


def test_a_thread_that_is_nothing_but_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody has called, so there is no line to remember. What such a thread returns is lost; what it raises is not."""
    gone, failures = threading.Event(), []

    class Tell(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = x * x
            weakref.finalize(y, gone.set)
            return y

    monkeypatch.setattr(sys, "unraisablehook", failures.append)
    threads = _thread._count()
    _thread.start_new_thread(Tell.apply, (torch.ones(3, requires_grad=True),))
    assert gone.wait(120)
    while _thread._count() > threads:
        time.sleep(0.001)
    assert failures == []


@pytest.mark.parametrize("alive", [True, False])
def test_a_saved_tensor_that_was_detached_in_place_stays_detached(alive: bool) -> None:
    seen = []

    class Square(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            seen.append(x.requires_grad)
            return 2 * g * x

    y = torch.ones(2, requires_grad=True) * 3
    result = Square.apply(y)
    y.detach_()
    if not alive:
        del y
    result.sum().backward()
    assert seen == [False]
