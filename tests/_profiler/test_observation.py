"""What a profile sees, under which names, and that what it sees stays as it is."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
import leafgrad.nn as nn
from leafgrad import func
from leafgrad._core.modes import Below, Observer
from leafgrad._core.op import Op
from leafgrad.autograd.profiler import profile, record_function
from leafgrad.autograd.profiler_util import FunctionEvent
from op_checks import Case, cases, differentiable
from registry_cases import checked


def recorded(work: Any, **options: Any) -> Any:
    with profile(**options) as prof:
        work()
    return prof.function_events


def tree(events: Sequence[FunctionEvent]) -> list[Any]:
    """Names, each with what is inside of it."""
    return [(e.name, tree(e.cpu_children)) if e.cpu_children else e.name for e in events]


def seen(work: Any, **options: Any) -> list[Any]:
    return tree([e for e in recorded(work, **options) if e.cpu_parent is None])


class Count(Observer):
    """How many kernels run?"""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def observe(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        self.names.append(op.name)
        return below(op, arrays, options, out)


# -- nothing changes --------------------------------------------------------------------------------------------------


def gradients(case: Case) -> list[Any]:
    leaves = case.leaves()
    for leaf in leaves:
        leaf.grad = None
    outputs = [t for t in differentiable(case.outputs()) if t.requires_grad]
    directions = [lg.tensor(np.sin(np.arange(t.numel())).reshape(t.shape), dtype=t.dtype) for t in outputs]
    if outputs:
        lg.autograd.backward(outputs, directions)
    return [None if leaf.grad is None else leaf.grad.numpy().tobytes() for leaf in leaves]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("entry", checked, ids=lambda entry: entry.name)
def test_gradients_are_the_same_to_the_last_bit(entry: Any, dtype: str) -> None:
    for case in cases(entry, dtype):
        expected = gradients(case)
        with profile():
            found = gradients(case)
        if "observed bits" in entry.exempt:
            arrays = [[np.frombuffer(g, dtype) for g in some if g is not None] for some in (found, expected)]
            for a, b in zip(*arrays, strict=True):
                np.testing.assert_allclose(a, b, 100 * np.finfo(dtype).eps, 100 * np.finfo(dtype).eps)
        else:
            assert found == expected, case


def test_large_gradients_are_the_same_to_the_last_bit() -> None:
    lg.manual_seed(0)
    model = nn.Sequential(nn.Linear(300, 70), nn.ReLU(), nn.Linear(70, 10))
    data, target = lg.rand(3000, 300), lg.randint(10, (3000,))

    def step() -> list[bytes]:
        model.zero_grad()
        loss = nn.functional.cross_entropy(model(data), target)
        (loss + (model[0].weight * lg.rand(300, generator=lg.Generator().manual_seed(1))).norm()).backward()
        return [p.grad.numpy().tobytes() for p in model.parameters()]

    expected = step()
    with profile():
        assert step() == expected


def test_a_gradient_of_the_wrong_shape_is_refused_in_the_same_words() -> None:
    class Wrong(lg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.reshape(2, 3)

    def message() -> str:
        with pytest.raises(RuntimeError) as caught:
            Wrong.apply(lg.rand(6, requires_grad=True)).sum().backward()
        return str(caught.value).split("\n")[0]

    expected = message()
    with profile():
        assert message() == expected and "invalid gradient" in expected


# -- each kernel once -------------------------------------------------------------------------------------------------


def test_each_kernel_is_one_event() -> None:
    x, w = lg.rand(4, 3, requires_grad=True), lg.rand(3, requires_grad=True)

    def work() -> None:
        y = (x * w).exp().flatten()
        (y.sum() + lg.hstack([y, y]).std()).backward()

    with Count() as kernels:
        events = recorded(work)
    inner = [e for e in events if not e.cpu_children and e.scope == 0]
    assert len(inner) == len(kernels.names) > 20
    assert sum(e.self_cpu_time_total for e in events) == pytest.approx(
        sum(e.cpu_time_total for e in events if e.cpu_parent is None)
    )


def test_kernels_in_kernels_belong_to_them() -> None:
    x = lg.rand(3, 4)
    with Count() as kernels:
        assert seen(lambda: x.var()) == ["aten::var"]
    assert kernels.names == ["var"]


# -- public functions -------------------------------------------------------------------------------------------------


def test_functions_around_kernels() -> None:
    x = lg.rand(3, 4)
    assert seen(lambda: x.flatten()) == [("aten::flatten", [("aten::reshape", ["aten::view"])])]
    assert seen(lambda: x.t().reshape(12)) == ["aten::t", ("aten::reshape", ["aten::clone", "aten::view"])]
    assert seen(lambda: lg.softmax(x, 1)) == [("aten::softmax", ["aten::_softmax"])]
    assert seen(lambda: nn.functional.linear(x, x, lg.rand(3))) == ["aten::rand", ("aten::linear", ["aten::addmm"])]
    assert seen(lambda: nn.functional.l1_loss(x, x)) == [("aten::l1_loss", ["aten::sub", "aten::abs", "aten::mean"])]
    assert seen(lambda: x.double()) == [("aten::to", ["aten::_to_copy"])]
    assert seen(lambda: lg.bernoulli(x)) == ["aten::bernoulli"]
    assert seen(lambda: lg.arange(3)) == ["aten::arange"]


def test_each_call_has_its_own_event() -> None:
    x, y = lg.rand(3, 4), lg.rand(4)

    def work() -> None:
        for _ in range(3):
            lg.hstack([x, x])  # several kernels, the first of which may be the same code as the last one before
        for _ in range(2):
            y.square()
            y.square_()

    once = ("aten::hstack", ["aten::cat"])
    assert seen(work) == [once] * 3 + [("aten::square", ["aten::pow"]), ("aten::square_", ["aten::pow"])] * 2


def test_a_call_lasts_from_its_first_kernel_to_its_last() -> None:
    x = lg.rand(100, 100)
    (outer, *inner) = recorded(lambda: nn.functional.l1_loss(x, x + 1))[1:]
    assert [e.name for e in inner] == ["aten::sub", "aten::abs", "aten::mean"]
    assert outer.time_range.start <= inner[0].time_range.start and outer.time_range.end == inner[-1].time_range.end
    assert outer.self_cpu_time_total >= 0


def test_what_a_function_used_is_freed_when_it_returns() -> None:
    x = lg.rand(1000)
    watched: list[Any] = []

    def work() -> None:
        y = x + 1
        watched.append(weakref.ref(y.array))
        y.square_()
        nn.functional.l1_loss(y, x)
        del y
        watched.append(watched[0]())

    gc.disable()
    try:
        events = recorded(work, profile_memory=True)
    finally:
        gc.enable()
    assert watched[1] is None
    assert sum(e.self_cpu_memory_usage for e in events) == 0


def test_changes_in_place() -> None:
    lg.ones(2, 3).t_()  # from now on the steps of views are checked, which is no operation
    x = lg.rand(3, requires_grad=True).clone()
    number = lg.tensor(2.0)
    assert seen(lambda: x.mul_(2)) == ["aten::mul_"]
    assert seen(lambda: x.__iadd__(1)) == ["aten::add_"]
    assert seen(lambda: number.add_(1)) == ["aten::add_"]
    assert seen(lambda: x[1:].exp_()) == ["aten::slice", "aten::exp_"]
    assert seen(lambda: number.copy_(lg.zeros(()))) == ["aten::zeros", "aten::copy_"]
    assert seen(lambda: number.masked_fill_(number == 0, 1.0)) == ["aten::eq", "aten::masked_fill_"]
    assert seen(lambda: lg.add(number, 1, out=number)) == ["aten::add"]
    assert seen(lambda: lg.msort(x.detach(), out=lg.zeros(3))) == ["aten::zeros", ("aten::msort", ["aten::sort"])]
    with lg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        assert seen(lambda: x.mul_(3)) == ["aten::mul_"]


def test_views_in_place() -> None:
    x = lg.rand(2, 3, requires_grad=True) * 1
    (event, *_) = recorded(lambda: x.t_().sum().backward(), record_shapes=True)
    assert (event.name, event.input_shapes, event.cpu_time_total > 0) == ("aten::t_", [[2, 3]], True)
    swapped = ("aten::swapaxes_", ["aten::transpose_"])
    assert seen(lambda: x.detach().unsqueeze_(0).swapaxes_(0, 1)) == ["aten::unsqueeze_", swapped]


def test_gradients_that_are_summed_and_added() -> None:
    x = lg.rand(3, requires_grad=True)

    def work() -> None:
        (x * lg.rand(2, 3)).sum().backward()

    evaluated, accumulated = "autograd::engine::evaluate_function: ", "torch::autograd::AccumulateGrad"
    assert seen(work) == [
        "aten::rand", "aten::mul", "aten::sum",
        (evaluated + "SumBackward0", [("SumBackward0", ["aten::expand"])]),
        (evaluated + "MulBackward0", [("MulBackward0", ["aten::mul"]), "aten::sum", "aten::view"]),
        (evaluated + accumulated, [(accumulated, ["aten::clone"])]),
    ]  # fmt: skip
    assert seen(work)[-1] == (evaluated + accumulated, [(accumulated, ["aten::add_"])])


# -- inside of other modes --------------------------------------------------------------------------------------------


def test_maps() -> None:
    def f(x: Any) -> Any:
        return (x.clone().mul_(2).cumsum(0) @ x).relu()

    x = lg.rand(5, 3)
    names = [e.name for e in recorded(lambda: func.vmap(f)(x))]
    for name in ("aten::clone", "aten::mul_", "aten::cumsum", "aten::matmul", "aten::relu"):
        assert names.count(name) == 1, name
    inside: list[Any] = []

    def profiled(x: Any) -> Any:
        with profile() as prof:
            y = f(x)
        inside.extend(prof.function_events)
        return y

    assert lg.equal(func.vmap(profiled)(x), func.vmap(f)(x))
    assert set(names) - {"aten::movedim"} == {e.name for e in inside}


def test_functions_of_the_user() -> None:
    class Twice(lg.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x + x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return 2 * g

    x = lg.rand(3, requires_grad=True)
    events = recorded(lambda: Twice.apply(x).sum().backward())
    by_name = {e.name: e for e in events}
    assert tree(events[:1]) == [("Twice", ["aten::add"])] and events[0].scope == 0
    assert by_name["Twice"].sequence_nr == by_name["TwiceBackward"].sequence_nr >= 0


def test_optimisers_with_a_step_of_their_own() -> None:
    class Own(lg.optim.SGD):
        def step(self, closure: Any = None) -> Any:
            with record_function("own"):
                return super().step(closure)

    p = lg.rand(3, requires_grad=True)
    p.sum().backward()
    optimizer = Own([p], lr=0.1)
    names = seen(optimizer.step)
    assert len(names) == 1 and names[0][0] == "Optimizer.step#Own.step" and "own" in str(names)
    assert seen(lambda: Own([p], lr=0.1).zero_grad()) == ["Optimizer.zero_grad#Own.zero_grad"]
