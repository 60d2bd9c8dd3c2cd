"""Updates: translated or traced, a formula does in place and with every combination of options what it says."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
import leafgrad.nn as nn
import leafgrad.optim as optim
from leafgrad._core.bind import execute
from leafgrad._core.modes import Observer
from leafgrad.kernels.language import NATIVE, as_written
from leafgrad.optim import trace, update
from leafgrad.optim.adadelta import adadelta_step
from leafgrad.optim.adagrad import adagrad_step
from leafgrad.optim.adam import adam_step
from leafgrad.optim.adamax import adamax_step
from leafgrad.optim.asgd import asgd_step
from leafgrad.optim.nadam import nadam_step
from leafgrad.optim.radam import radam_step
from leafgrad.optim.rmsprop import rmsprop_step
from leafgrad.optim.rprop import rprop_step
from leafgrad.optim.sgd import sgd_step

# For each option of each update the values that it takes here: zero as well, where a formula asks.
FLAG = (False, True)
OPTIONS: dict[Any, list[tuple[Any, ...]]] = {
    sgd_step: [(0.1,), (0, 0.9), (0, 0.3), (0, 0.2), FLAG, FLAG, FLAG],
    adam_step: [(0.1,), ((0.9, 0.99),), (1e-8,), (0, 0.2), FLAG, FLAG, FLAG, (3.0,)],
    rmsprop_step: [(0.1,), (0.9,), (1e-8,), (0, 0.2), (0, 0.9), FLAG, FLAG],
    adamax_step: [(0.1,), ((0.9, 0.99),), (1e-8,), (0, 0.2), FLAG, (3.0,)],
    nadam_step: [(0.1,), ((0.9, 0.99),), (1e-8,), (0, 0.2), (0.004,), FLAG, FLAG, ((3.0, 0.5),)],
    radam_step: [(0.1,), ((0.9, 0.99),), (1e-8,), (0, 0.2), FLAG, FLAG, ((3.0, 0), (3.0, 0.5))],
    adagrad_step: [(0.1,), (0, 0.1), (0, 0.2), (1e-8,), FLAG, (3.0,)],
    adadelta_step: [(0.1,), (0.9,), (1e-8,), (0, 0.2), FLAG],
    rprop_step: [(0.1,), ((0.5, 1.2),), ((1e-6, 1.0),), FLAG],
    asgd_step: [(0.1,), (0.1,), (0, 0.2), FLAG, ((0.1, 0), (0.1, 0.5))],
}
CASES = [(op, options) for op, choices in OPTIONS.items() for options in itertools.product(*choices)]


def on_tensors(op: Any, arrays: list[Any], options: tuple[Any, ...]) -> list[Any]:
    """What the formula gives: new values, None for what it has no use for, the gradient in its place."""
    if op is adam_step:
        options = (*options[:-1], lg.tensor(options[-1], dtype=lg.float64))
    tensors = [lg.tensor(a) for a in arrays]
    p, *kept = op.function(*tensors, *options)
    changed = [new is not old for new, old in zip(kept, tensors[2:], strict=True)]
    return [p.numpy(), arrays[1], *[new.numpy() if used else None for new, used in zip(kept, changed, strict=True)]]


@pytest.mark.parametrize(("op", "options"), CASES, ids=lambda value: getattr(value, "name", str(value)))
@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (70_000,)])
def test_formulas_in_place(op: Any, options: tuple[Any, ...], shape: tuple[int, ...], monkeypatch: Any) -> None:
    monkeypatch.setattr(trace, "WHOLE", 60_000)
    rng = np.random.default_rng(0)
    # all positive, as averages of squares are, and averages smaller than those
    arrays = [np.asarray(rng.uniform(0.5, 1.5, shape) * (0.3 if name == "grad_avg" else 1)) for name in op.inputs]
    expected = on_tensors(op, arrays, options)
    given = [a.copy() for a, new in zip(arrays, expected, strict=True) if new is not None]
    wanted = [new for new in expected if new is not None]
    for _ in range(3):  # what is the same in every step is kept from the second on
        in_place, apart = [a.copy() for a in given], [np.empty_like(a) for a in given]
        found = [
            execute(op.core, given, options),
            execute(op.core, in_place, options, in_place),
            execute(op.core, given, options, apart),
        ]
        assert found[1] is in_place and found[2] is apart
        for results in found:
            for new, correct in zip(results, wanted, strict=True):
                # machine code rounds a product and a sum once
                np.testing.assert_allclose(new, correct, rtol=1e-13, atol=1e-15 if NATIVE else 0)
    for a, new in zip([a for a, new in zip(arrays, expected, strict=True) if new is not None], given, strict=True):
        assert np.array_equal(a, new)  # a kernel leaves its inputs alone unless they are given for the results


def test_several_parameters_of_several_dtypes() -> None:
    rng = np.random.default_rng(0)
    kinds = ["float32", "float64", "float16", "complex64", "float32"]
    arrays = [rng.standard_normal(4).astype(kind) for kind in kinds for _ in range(2)]
    results = execute(sgd_step.core, arrays, (0.5, 0, 0, 0, False, False, False))
    assert [a.dtype.name for a in results[::2]] == kinds
    for p, g, new in zip(arrays[::2], arrays[1::2], results[::2], strict=True):
        np.testing.assert_allclose(new, p - 0.5 * g, rtol=1e-3)


def test_formulas_may_ask_for_options_only() -> None:
    kernel = update.in_place(lambda p, g, lr: (p - g if p else p,), ("param", "grad"))
    with pytest.raises(TypeError, match="may depend on its options only"):
        kernel(np.ones(2), np.ones(2), 0.1)
    kernel = update.in_place(lambda p, g, lr: (p - g if lr * 2 else p,), ("param", "grad"))
    with pytest.raises(TypeError, match="may depend on its options only"):
        kernel(np.ones(2), np.ones(2), 0.1)


def test_old_values_that_are_needed_later_survive() -> None:
    kernel = update.in_place(lambda p, g, m, lr: (p + m, m + p, g)[:2], ("param", "grad", "kept"))
    p, m = np.array([1.0, 2.0]), np.array([10.0, 20.0])
    arrays = [p, np.zeros(2), m]
    kernel(*arrays, 0.1, arrays)
    assert p.tolist() == [11, 22] and m.tolist() == [11, 22]


def test_two_threads_do_not_disturb_each_other() -> None:
    """The coefficients that are kept belong to one of them."""
    wrong: list[float] = []

    def work(lr: float) -> None:
        for _ in range(2000):
            arrays = [np.ones(2), np.ones(2)]
            sgd_step.kernel(*arrays, lr, 0, 0, 0, False, False, False, arrays)
            if arrays[0][0] != 1 - lr:
                wrong.append(lr)

    threads = [threading.Thread(target=work, args=(lr,)) for lr in (0.25, 0.5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# -- who else is there ------------------------------------------------------------------------------------------------


class Heard(Observer):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Any] = []

    def observe(self, op: Any, arrays: Any, options: Any, out: Any, below: Any) -> Any:
        if op.name != "add":  # of the counters
            self.calls.append((op.name, len(arrays), options))
        return below(op, arrays, options, out)


def with_gradient(*values: float) -> nn.Parameter:
    p: nn.Parameter = nn.Parameter(lg.tensor(list(values)))
    p.grad = lg.ones(len(values))
    return p


def test_observers_hear_of_steps() -> None:
    p, q, late = with_gradient(1.0), with_gradient(2.0, 3.0), with_gradient(1.0)
    late.grad = None
    sgd, adam = optim.SGD([p, q], lr=lg.tensor(0.5)), optim.Adam([p, q, late], lr=0.5, weight_decay=0.25)
    with Heard() as heard:
        sgd.step()
        adam.step()
    late.grad = lg.ones(1)
    with heard:
        adam.step()
    plain = (0.5, (0.9, 0.999), 1e-8, 0.25, False, False, False)
    assert heard.calls == [
        ("sgd_step", 4, (0.5, 0, 0, 0, False, False, 0)),
        ("adam_step", 8, (*plain, 1.0)),
        ("adam_step", 8, (*plain, 2.0)),  # those that have had equally many steps go together
        ("adam_step", 4, (*plain, 1.0)),
    ]


def test_what_was_saved_is_rescued_where_that_is_wanted() -> None:
    w = nn.Parameter(lg.tensor([2.0, 3.0]))
    x = lg.ones(2, requires_grad=True)
    with lg.autograd.graph.allow_mutation_on_saved_tensors():
        loss = (w * x).sum()
        w.grad = lg.ones(2)
        optim.SGD([w], lr=1.0).step()
        loss.backward()
    assert x.grad.tolist() == [2.0, 3.0] and w.tolist() == [1.0, 2.0]


def test_a_transformed_function_must_not_train_what_it_captured() -> None:
    w = with_gradient(1.0)
    optimizer = optim.SGD([w], lr=0.5)

    def f(x: Any) -> Any:
        optimizer.step()
        return (x * w).sum()

    with pytest.raises(RuntimeError, match="mutat"):
        lg.func.grad(f)(lg.ones(1))
    assert w.tolist() == [1.0]


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop"])
def test_samples_of_a_map_take_steps_of_their_own(name: str) -> None:
    more = {"SGD": {"momentum": 0.9}, "Adam": {"amsgrad": True}, "RMSprop": {"centered": True, "momentum": 0.5}}

    def trained(start: Any, g: Any) -> Any:
        p = start.clone()
        optimizer = getattr(optim, name)([p], lr=0.1, **more.get(name, {}))
        for _ in range(3):
            p.grad = g * p
            optimizer.step()
        return p

    start, g = lg.arange(6.0).reshape(3, 2), lg.arange(1.0, 7.0).reshape(3, 2)
    expected = [trained(a, b).tolist() for a, b in zip(start, g, strict=True)]
    np.testing.assert_allclose(lg.func.vmap(trained)(start, g).tolist(), expected, rtol=1e-6)


def test_an_option_that_is_a_tensor_may_change_from_step_to_step() -> None:
    decay = lg.tensor(0.5)
    p = with_gradient(1.0)
    p.grad.zero_()
    optimizer = optim.SGD([p], lr=1.0, weight_decay=decay)
    for expected in (0.5, 0.25, 0.125):
        optimizer.step()
        assert p.item() == expected
    decay.fill_(1.0)
    optimizer.step()
    assert p.item() == 0.0


def test_a_parameter_that_is_there_twice_takes_one_step_after_the_other() -> None:
    p, q = with_gradient(1.0), with_gradient(1.0)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        twice = optim.Adam([p, p], lr=0.1)
    twice.step()
    once = optim.Adam([q], lr=0.1)
    once.step()
    once.step()
    assert p.tolist() == q.tolist() and twice.state[p]["step"].item() == 2


# -- machine code and traced NumPy calls ------------------------------------------------------------------------------


@pytest.mark.parametrize("op", OPTIONS, ids=lambda op: op.name)
@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "bfloat16", "complex64", "complex128"])
@pytest.mark.parametrize("layout", ["dense", "transposed", "strided", "single", "empty", "large"])
def test_forms_of_an_update_agree(op: Any, kind: str, layout: str) -> None:
    """What a kernel does, in whichever form leafgrad was installed, is what NumPy calls do."""
    shape = {"single": (), "empty": (0, 3), "large": (30_001,)}.get(layout, (5, 7))
    rng = np.random.default_rng(1)
    options = tuple([choices[-1] if choices is not FLAG else False for choices in OPTIONS[op]])
    arrays = []
    for name in op.inputs:
        numbers = rng.uniform(0.5, 1.5, shape) * (0.3 if name == "grad_avg" else 1)
        tensor = lg.tensor(numbers + 1j * numbers if kind.startswith("complex") else numbers, dtype=getattr(lg, kind))
        arrays.append(tensor.numpy() if kind != "bfloat16" else tensor.array)
    if layout == "transposed":
        arrays = [np.ascontiguousarray(a.T).T for a in arrays]
    elif layout == "strided":
        arrays = [np.repeat(a, 2, axis=1)[:, ::2] for a in arrays]
    only_if = op.kernel.only_if
    given = [a for name, a in zip(op.inputs, arrays) if name not in only_if or options[op.options.index(only_if[name])]]
    traced = update.in_place(as_written(op.kernel.formula), op.inputs)
    wide = kind in ("float64", "complex128")
    for new, expected in zip(op.kernel(*given, *options), traced(*given, *options), strict=True):
        assert new.dtype == expected.dtype and new.shape == expected.shape
        pair = [a.astype(np.float32) if a.dtype.itemsize == 2 else a for a in (new, expected)]
        tolerance = 1e-13 if wide else 1e-2 if pair[0] is not new else 2e-6
        np.testing.assert_allclose(*pair, rtol=tolerance, atol=tolerance)


def test_read_only_parameters_are_refused() -> None:
    arrays = [np.ones(2), np.ones(2)]
    arrays[0].flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        sgd_step.kernel(*arrays, 0.5, 0, 0, 0, False, False, False, arrays)


def test_a_large_parameter_that_is_there_twice() -> None:
    p, g = np.ones(500_000), np.ones(500_000)
    arrays = [p, g, p, g]
    sgd_step.kernel(*arrays, 0.25, 0, 0, 0, False, False, False, arrays)
    assert (p == 0.5).all()
