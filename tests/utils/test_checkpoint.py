"""leafgrad.utils.checkpoint: what it keeps in memory and for how long, threads, errors, selective checkpoints.

What it has in common with PyTorch is in tests/support/checkpoint_scenarios.py.
"""

from __future__ import annotations

import functools
import gc
import importlib.util
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
import op_checks
from leafgrad import nn
from leafgrad._core.modes import Observer, switches
from leafgrad._core.node import Freed
from leafgrad._core.thread_state import state
from leafgrad.ops.registry import registry
from leafgrad.utils.checkpoint import (
    CheckpointError,
    CheckpointPolicy,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
)

ROOT = Path(__file__).parents[2]


def leaf(*values: float) -> Any:
    return lg.tensor(list(values), dtype=lg.float64, requires_grad=True)


@pytest.fixture(autouse=True)
def nothing_is_left() -> Any:
    """No test leaves hooks, interceptors or frames behind."""
    yield
    if switches.checkpoints:  # only then: to look for garbage takes longer than most of these tests
        gc.collect()
    assert not switches.checkpoints
    assert not state.modes


# -- memory -----------------------------------------------------------------------------------------------------------


def arrays_of(function: Any) -> Any:
    """A function, and weak references to the arrays of the intermediate results of its calls."""
    references: list[list[Any]] = []

    def watched(x: Any) -> Any:
        values = [x.sin()]
        values.append(values[-1].exp())
        values.append(values[-1].cos())
        references.append([weakref.ref(v.array) for v in values])
        return function(values[-1])

    return watched, references


def alive(references: list[Any]) -> list[bool]:
    return [reference() is not None for reference in references]


@pytest.mark.parametrize("reentrant", [True, False])
def test_results_inside_are_not_kept(reentrant: bool) -> None:
    function, references = arrays_of(lambda v: v.exp())
    y = checkpoint(function, leaf(1.0, 2.0), use_reentrant=reentrant)
    assert alive(references[0]) == [False, False, False]
    y.sum().backward()
    assert alive(references[1]) == [False, False, False]


def test_recomputed_values_die_after_their_use() -> None:
    """When a gradient arrives at the first operation, the values of the later ones are gone."""
    seen: list[Any] = []
    references: list[Any] = []

    def function(x: Any) -> Any:
        start = x.sin()  # for which x is still needed when the hook is called
        start.register_hook(lambda g: seen.append(alive(references[1])))
        first = start.cos().exp()
        second = first.cos()
        third = second.exp()
        references.append([weakref.ref(v.array) for v in (first, second, third)])
        return third

    checkpoint(function, leaf(1.0, 2.0), use_reentrant=False, early_stop=False).sum().backward()
    assert seen == [[False, False, False]]


def test_values_of_another_part_die_with_the_pass() -> None:
    references: list[Any] = []

    def function(x: Any) -> Any:
        a, b = x.sin().exp(), x.cos().exp()
        references.append([weakref.ref(a.array), weakref.ref(b.array)])
        return a, b

    x = leaf(1.0)
    a, b = checkpoint(function, x, use_reentrant=False, early_stop=False)
    assert alive(references[0]) == [True, True]
    a.sum().backward()
    assert alive(references[1]) == [False, False]
    b.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [np.cos(1) * np.exp(np.sin(1)) - np.sin(1) * np.exp(np.cos(1))])


def test_values_that_nobody_will_ask_for_are_not_kept() -> None:
    seen: list[Any] = []
    references: list[Any] = []

    def function(x: Any) -> Any:
        start = x.sin()
        start.register_hook(lambda g: seen.append(references[1]() is not None))
        other = x.cos().exp()
        references.append(weakref.ref(other.array))
        return start.exp(), other

    y = checkpoint(function, leaf(1.0), use_reentrant=False)[0]
    y.sum().backward()
    assert seen == [False]


def test_inputs_are_let_go_when_the_backward_pass_is_through() -> None:
    x = leaf(1.0, 2.0) * 1
    y = checkpoint(lambda a: a.sin().exp(), x, use_reentrant=False)
    array = weakref.ref(x.array)
    del x
    assert array() is not None
    y.sum().backward()
    assert array() is None
    assert isinstance(y.node.saved, Freed)


def test_a_graph_that_is_dropped_frees_all_at_once() -> None:
    gc.disable()
    try:
        x = leaf(1.0, 2.0) * 1
        y = checkpoint(
            lambda a: checkpoint(lambda b: b.sin().exp(), a.cos(), use_reentrant=False), x, use_reentrant=False
        )
        array = weakref.ref(x.array)
        del x, y
        assert array() is None
        assert not switches.checkpoints
    finally:
        gc.enable()


def test_inner_checkpoints_keep_nothing_before_the_outer_is_run_again() -> None:
    references: list[Any] = []

    def inner(a: Any) -> Any:
        references.append(weakref.ref(a.array))
        return a.sin().exp()

    y = checkpoint(lambda a: checkpoint(inner, a.cos(), use_reentrant=False).exp(), leaf(1.0), use_reentrant=False)
    assert references[0]() is None
    y.sum().backward()
    assert len(references) == 3


def test_a_second_run_that_ends_where_an_inner_checkpoint_begins() -> None:
    def inner(a: Any) -> Any:
        return a.sin().exp()

    x = leaf(1.0)
    y = checkpoint(lambda a: checkpoint(inner, a.cos(), use_reentrant=False), x, use_reentrant=False)
    assert len(switches.checkpoints) == 2
    y.sum().backward(retain_graph=True)
    assert len(switches.checkpoints) == 2


def test_bytes_of_a_deep_stack() -> None:
    path = ROOT / "benchmarks" / "checkpoint.py"
    spec = importlib.util.spec_from_file_location("checkpoint_benchmark", path)
    assert spec is not None and spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    x = lg.ones(8, 16)
    plain, checkpointed = [benchmark.Stack(16, flag) for flag in (False, True)]
    checkpointed.load_state_dict(plain.state_dict())
    kept, less = benchmark.peak_of_kept_bytes(plain, x), benchmark.peak_of_kept_bytes(checkpointed, x)
    activations = 8 * 16 * 4
    assert kept >= benchmark.LAYERS * 12 * activations  # of each block: hidden, its sigmoid, their product
    assert less >= benchmark.LAYERS * activations  # the input of each block
    assert kept / less >= 4
    for p, q in zip(plain.parameters(), checkpointed.parameters(), strict=True):
        np.testing.assert_array_equal(p.grad.numpy(), q.grad.numpy())


# -- the same gradients -----------------------------------------------------------------------------------------------


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.dropout = nn.Dropout(0.5)

    def forward(self, x: Any) -> Any:
        return self.dropout(self.linear(x).tanh()) + x


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("segments", [1, 2, 3, 6])
def test_a_sequence_has_the_gradients_it_has_without(reentrant: bool, segments: int) -> None:
    lg.manual_seed(3)
    model = nn.Sequential(*[Block() for _ in range(6)])
    x = lg.randn(3, 4, requires_grad=True)

    def gradients(run: Any) -> list[Any]:
        model.zero_grad()
        x.grad = None
        lg.manual_seed(4)
        run().pow(2).sum().backward()
        return [t.grad.numpy() for t in (x, *model.parameters())]

    plain = gradients(lambda: model(x))
    again = gradients(lambda: checkpoint_sequential(model, segments, x, use_reentrant=reentrant))
    for p, q in zip(plain, again, strict=True):
        np.testing.assert_array_equal(p, q)


def test_gradcheck_through_checkpoints() -> None:
    def function(a: Any, b: Any) -> Any:
        inner = lambda c: (c * b).sin().exp()
        return checkpoint(lambda c: checkpoint(inner, c * 2, use_reentrant=False) * c, a, use_reentrant=False)

    inputs = (leaf(0.3, 0.7), leaf(0.5, 0.2))
    assert lg.autograd.gradcheck(function, inputs)
    assert lg.autograd.gradgradcheck(function, inputs)


def test_anomaly_mode() -> None:
    x = leaf(1.0, 2.0)
    with pytest.warns(UserWarning, match="Anomaly"), lg.autograd.detect_anomaly():
        checkpoint(lambda a: a.sin().exp(), x, use_reentrant=False).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos([1.0, 2.0]) * np.exp(np.sin([1.0, 2.0])))


def test_hooks_for_saved_tensors_see_what_in_place_operations_overwrite() -> None:
    def gradient(hooked: bool) -> Any:
        x = leaf(1.0, 2.0)
        same = lambda t: t
        if hooked:
            with lg.autograd.graph.saved_tensors_hooks(same, same):
                y = (x * 1).sin_().mul_(2).cos_() * 1
                y[0].sin_()
        else:
            y = (x * 1).sin_().mul_(2).cos_() * 1
            y[0].sin_()
        y.sum().backward()
        return x.grad.numpy()

    np.testing.assert_array_equal(gradient(True), gradient(False))


def test_random_state_is_that_of_the_first_run_and_goes_on_after_it() -> None:
    drawn: list[Any] = []

    def function(a: Any) -> Any:
        drawn.append(lg.rand(3))
        return (a * drawn[-1]).exp()

    for reentrant in (True, False):
        drawn.clear()
        lg.manual_seed(0)
        y = checkpoint(function, leaf(1.0, 2.0, 3.0), use_reentrant=reentrant)
        between = lg.rand(2)
        y.sum().backward()
        after = lg.rand(2)
        np.testing.assert_array_equal(drawn[0].numpy(), drawn[1].numpy())
        lg.manual_seed(0)
        expected = [lg.rand(3), lg.rand(2), lg.rand(2)]
        for got, want in zip([drawn[0], between, after], expected, strict=True):
            np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_states_of_generators_are_asked_of_numpy_when_they_have_changed() -> None:
    """A state that was kept is given back for as long as it is right, and no longer."""
    generator = lg.Generator().manual_seed(3)
    changes: list[Any] = [
        lambda: lg.rand(1, generator=generator),
        lambda: lg.randn(1, generator=generator),  # keeps the second of two numbers,
        lambda: lg.randn(1, generator=generator),  # and gives it away
        lambda: lg.randn(20, dtype=lg.float64, generator=generator),
        lambda: lg.randint(5, (3,), generator=generator),
        lambda: lg.randperm(4, generator=generator),
        lambda: generator.manual_seed(4),
        lambda: generator.seed(),
        lambda: lg.rand(700, generator=generator),
    ]
    before = [generator.get_state().tolist()]
    for change in changes:
        change()
        state = generator.get_state()
        assert state.tolist() not in before
        before.append(state.tolist())
        twin = lg.Generator()
        twin.set_state(state)
        assert generator.set_state(state).get_state().tolist() == state.tolist()
        drawn = [lg.randn(3, generator=each).tolist() for each in (generator, twin)]
        assert drawn[0] == drawn[1]
        generator.set_state(state)
        assert lg.randn(3, generator=generator).tolist() == drawn[0]
        generator.set_state(state)


# -- threads and errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reentrant", [True, False])
def test_in_threads(reentrant: bool) -> None:
    results: dict[int, Any] = {}

    def work(number: int) -> None:
        x = leaf(*[number + 0.1 * i for i in range(50)])
        for _ in range(10):
            x.grad = None
            checkpoint(lambda a: a.sin().exp().cos(), x, use_reentrant=reentrant).sum().backward()
        results[number] = (x.detach().numpy(), x.grad.numpy())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for x, g in results.values():
        np.testing.assert_allclose(g, -np.sin(np.exp(np.sin(x))) * np.exp(np.sin(x)) * np.cos(x))


def test_one_graph_in_two_threads() -> None:
    """Each pass has values of its own."""
    x = leaf(1.0, 2.0)
    y = checkpoint(lambda a: a.sin().exp().cos(), x, use_reentrant=False).sum()
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(lg.autograd.grad(y, x, retain_graph=True)[0])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for g in found[1:]:
        np.testing.assert_array_equal(g.numpy(), found[0].numpy())


def test_a_backward_pass_in_another_thread_than_the_forward_pass() -> None:
    x = leaf(1.0, 2.0)
    y = checkpoint(lambda a: a.sin().exp(), x, use_reentrant=False).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    np.testing.assert_allclose(x.grad.numpy(), np.cos([1.0, 2.0]) * np.exp(np.sin([1.0, 2.0])))


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")  # inside, where nothing is recorded
def test_many_checkpoints_in_each_other() -> None:
    def function(x: Any, depth: int) -> Any:
        x = x.sin()
        return x if depth == 0 else checkpoint(function, x, depth - 1, use_reentrant=True)

    x = leaf(1.0)
    function(x, 60).sum().backward()
    plain = leaf(1.0)
    y = plain
    for _ in range(61):
        y = y.sin()
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), plain.grad.numpy())


def test_an_error_in_the_second_run_leaves_the_graph_usable() -> None:
    calls: list[int] = []

    def function(a: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyError("mine")
        return a.sin().exp()

    x = leaf(1.0)
    y = checkpoint(function, x, use_reentrant=False)
    with pytest.raises(KeyError, match="mine"):
        y.sum().backward(retain_graph=True)
    assert lg.is_grad_enabled()
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.cos([1.0]) * np.exp(np.sin([1.0])))


def test_messages_tell_what_to_do() -> None:
    calls: list[int] = []

    def function(a: Any) -> Any:
        calls.append(1)
        return a.sin().exp() if len(calls) == 1 else a.sin()

    with pytest.raises(CheckpointError, match=r"\n  fix  checkpoint\(\.\.\., debug=True\)"):
        checkpoint(function, leaf(1.0), use_reentrant=False).sum().backward()
    calls.clear()
    with pytest.raises(CheckpointError) as caught:
        checkpoint(function, leaf(1.0), use_reentrant=False, debug=True).sum().backward()
    text = str(caught.value)
    assert "$1: f64[1] = torch._ops.aten.sin.default($0)   (1 of 2 in original)" in text
    assert "$2: f64[1] = torch._ops.aten.exp.default($1)" in text
    assert "test_checkpoint.py" in text
    assert "One of the runs goes on where the other ends" in text
    with pytest.raises(RuntimeError, match=r"fix  checkpoint\(\.\.\., use_reentrant=False\)"):
        x = leaf(1.0)
        lg.autograd.grad(checkpoint(lg.sin, x, use_reentrant=True).sum(), x)


# -- selective --------------------------------------------------------------------------------------------------------


def computed(function: Any) -> tuple[Any, list[str]]:
    """What a function returns, and the names of the operations whose kernels ran meanwhile."""
    names: list[str] = []

    class Listening(Observer):
        wants_tensors = False

        def observe(self, op: Any, arrays: Any, options: Any, out: Any, below: Any) -> Any:
            names.append(op.name)
            return below(op, arrays, options, out)

    with Listening():
        return function(), names


@pytest.mark.parametrize("kept", ["mm", "exp", "mul", "sin", "cos"])
def test_kept_results_are_not_computed_again(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    order = ["mm", "sin", "exp", "mul", "cos"]
    for name in order:
        core = registry[name].core
        monkeypatch.setattr(core, "kernel", lambda *a, n=name, f=core.kernel: (ran.append(n), f(*a))[1])

    def second_run(**options: Any) -> list[str]:
        ran.clear()
        x = lg.full((2, 2), 0.5, requires_grad=True)
        y = checkpoint(lambda a: (lg.mm(a, a).sin().exp() * a).cos(), x, use_reentrant=False, **options)
        assert ran == order
        ran.clear()
        y.node.hooks.packed[0].unpack()  # by hand, so that the rules, which compute as well, do not run
        return list(ran)

    assert second_run() == order
    keep = functools.partial(create_selective_checkpoint_contexts, [getattr(lg.ops.aten, kept).default])
    assert second_run(context_fn=keep) == [name for name in order if name != kept]


def test_interceptors_see_every_operation_once() -> None:
    x = lg.full((2, 2), 0.5, requires_grad=True)
    _, names = computed(lambda: (x * x + 1).sin().sum(0) / 2 - x @ x)
    assert names == ["mul", "add", "sin", "sum", "true_div", "mm", "sub"]
    assert not state.modes


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(registry))
def test_interceptors_see(name: str) -> None:
    """No operation is computed behind the back of those who look."""
    entry = registry[name]
    for case in op_checks.cases(entry) if entry.differentiable else ():
        case.leaves()
        result, names = computed(functools.partial(case.call, case.tensors))
        for tensor in result if isinstance(result, (list, tuple)) else [result]:
            if tensor.node is not None:
                assert tensor.node.op.name in names


def test_interceptors_are_of_one_thread() -> None:
    x = lg.ones(2)

    def outside() -> Any:
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append((x * x).exp()))
        thread.start()
        thread.join()
        return found[0]

    y, names = computed(outside)
    assert names == []
    np.testing.assert_allclose(y.numpy(), np.exp(np.ones(2)), rtol=1e-6)


def test_policies_may_compute() -> None:
    def policy(ctx: Any, op: Any, *args: Any) -> Any:
        asked.append(str(op))
        large = float((ctx.op_output * 2).abs().sum()) > 3
        return CheckpointPolicy.MUST_SAVE if large else CheckpointPolicy.PREFER_RECOMPUTE

    asked: list[str] = []
    x = leaf(1.0)
    make = functools.partial(create_selective_checkpoint_contexts, policy)
    checkpoint(lambda a: a.sin().exp().sin(), x, use_reentrant=False, context_fn=make).sum().backward()
    assert asked == ["aten.sin.default", "aten.exp.default", "aten.sin.default"]
    y = np.exp(np.sin(1.0))
    np.testing.assert_allclose(x.grad.numpy(), [np.cos(y) * y * np.cos(1.0)])


def test_results_of_several_tensors_can_be_kept() -> None:
    policy = lambda *args, **kwargs: CheckpointPolicy.MUST_SAVE
    make = functools.partial(create_selective_checkpoint_contexts, policy)

    def function(a: Any) -> Any:
        values, order = a.sort()
        return values.exp() * order + a.max(0)[0]

    def gradient(context: Any) -> Any:
        x = leaf(0.3, 0.1, 0.2)
        options = {} if context is None else {"context_fn": context}
        checkpoint(function, x, use_reentrant=False, **options).sum().backward()
        return x.grad.numpy()

    np.testing.assert_array_equal(gradient(make), gradient(None))


def test_views_stay_views_of_what_is_computed_again() -> None:
    policy = lambda *args, **kwargs: CheckpointPolicy.MUST_RECOMPUTE
    keep_views = lambda ctx, op, *args, **kwargs: (
        CheckpointPolicy.MUST_SAVE if op is lg.ops.aten.view.default else CheckpointPolicy.MUST_RECOMPUTE
    )

    def function(a: Any) -> Any:
        y = a * 1
        y.view(2, 1).add_(1)
        return y.sin().exp()

    found = []
    for each in (policy, keep_views):
        x = leaf(0.3, 0.1)
        make = functools.partial(create_selective_checkpoint_contexts, each)
        checkpoint(function, x, use_reentrant=False, context_fn=make).sum().backward()
        found.append(x.grad.numpy())
    np.testing.assert_array_equal(*found)


# -- importing --------------------------------------------------------------------------------------------------------


def test_importing_leafgrad_does_not_import_utils() -> None:
    program = "import sys, leafgrad; print([m for m in sys.modules if m.startswith(('leafgrad.utils', 'leafgrad.nn'))])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_scripts_that_import_it_from_torch(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\n"
        "import torch.utils.checkpoint\n"
        "from torch.utils.checkpoint import checkpoint\n"
        "from torch.utils.hooks import RemovableHandle\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "torch.utils.checkpoint.checkpoint(torch.exp, x, use_reentrant=False).sum().backward()\n"
        "print(x.grad, checkpoint is torch.utils.checkpoint.checkpoint, torch.ops.aten.mm.default)\n"
    )
    command = [sys.executable, "-m", "leafgrad", "run", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "tensor([2.7183, 2.7183]) True aten.mm.default"


def test_parts_that_are_missing_are_named() -> None:
    with pytest.raises(AttributeError, match=r"leafgrad does not have torch\.utils\.bottleneck"):
        lg.utils.bottleneck
