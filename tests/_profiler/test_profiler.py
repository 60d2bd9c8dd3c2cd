"""The profiler: what it records, how that is nested and shown, and that nothing is left behind when it is off."""

from __future__ import annotations

import gzip
import json
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import leafgrad as lg
import leafgrad.nn as nn
import leafgrad.nn.functional as F
from leafgrad import func
from leafgrad import profiler as stepwise
from leafgrad._core.thread_state import state
from leafgrad._profiler.mode import current_profiles
from leafgrad.autograd.profiler import emit_itt, emit_nvtx, load_nvprof, profile, record_function
from leafgrad.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg, Interval

EVALUATE = "autograd::engine::evaluate_function: "
ACCUMULATE = "torch::autograd::AccumulateGrad"
exp = lg.exp  # a reference that was taken before any profiler started


def recorded(work: Any, **options: Any) -> Any:
    with profile(**options) as prof:
        work()
    return prof.function_events


def names(events: Any) -> list[str]:
    return [event.name for event in events]


def one(events: Any, name: str) -> Any:
    found = [event for event in events if event.name == name]
    assert len(found) == 1, (name, names(events))
    return found[0]


# -- what is recorded -------------------------------------------------------------------------------------------------


def test_operators_methods_functions_and_references_have_one_event_each() -> None:
    x, y = lg.rand(2, 3), lg.rand(2, 3)

    def work() -> None:
        x + y
        x.mul(y)
        lg.sub(x, y)
        x.add_(1)
        exp(x)
        2 - x
        -x
        x**2
        x.eq(y)
        x @ y.t()
        x[0]
        x[lg.tensor([1])]
        x[0] = 1.0
        lg.zeros(2)

    assert names(recorded(work)) == [
        "aten::add", "aten::mul", "aten::sub", "aten::add_", "aten::exp", "aten::rsub", "aten::neg", "aten::pow",
        "aten::eq", "aten::t", "aten::matmul", "aten::mm", "aten::select", "aten::index", "aten::copy_", "aten::zeros",
    ]  # fmt: skip


def test_forward_and_backward_with_their_numbers() -> None:
    x = lg.rand(3, requires_grad=True)
    events = recorded(lambda: (x * x).exp().sum().backward())
    assert names(events) == [
        "aten::mul", "aten::exp", "aten::sum",
        EVALUATE + "SumBackward0", "SumBackward0", "aten::expand", EVALUATE + "ExpBackward0", "ExpBackward0",
        "aten::mul", EVALUATE + "MulBackward0", "MulBackward0", "aten::mul", "aten::mul", "aten::add",
        EVALUATE + ACCUMULATE, ACCUMULATE, "aten::clone",
    ]  # fmt: skip
    for forward, rule in zip(events[:3], ("MulBackward0", "ExpBackward0", "SumBackward0"), strict=True):
        assert forward.sequence_nr == one(events, rule).sequence_nr >= 0
        assert one(events, rule).cpu_parent.name == EVALUATE + rule
        assert (forward.scope, one(events, rule).scope) == (0, 1)
        assert (forward.fwd_thread, one(events, rule).fwd_thread) == (0, 1)
    numbers = [event.sequence_nr for event in events[:3]]
    assert numbers == sorted(numbers)
    assert one(events, ACCUMULATE).sequence_nr == -1


def test_a_graph_from_before_the_profile_and_operations_without_recording() -> None:
    x = lg.rand(3, requires_grad=True)
    y = x.exp().sum()
    events = recorded(y.backward)
    assert "ExpBackward0" in names(events) and "aten::exp" not in names(events)
    with lg.no_grad():
        assert recorded(lambda: x * 2)[0].sequence_nr == -1


def test_the_numbers_of_an_operation_with_several_results() -> None:
    x = lg.rand(4, requires_grad=True)
    events = recorded(lambda: x.max(0)[0].backward())
    assert one(events, "aten::max").sequence_nr == one(events, "MaxBackward0").sequence_nr


def test_nesting_under_names_composites_and_functions() -> None:
    class Double(lg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            with record_function("mine"):
                return g * 2

    x = lg.rand(2, 2, requires_grad=True)

    def work() -> None:
        with record_function("outer"):
            with record_function("inner"):
                y = Double.apply(x)
            z = y @ x
        z.sum().backward()

    events = recorded(work)
    chain = []
    event = one(events, "mine").cpu_children[0]
    while event is not None:
        chain.append(event.name)
        event = event.cpu_parent
    assert chain == ["aten::mul", "mine", "DoubleBackward", EVALUATE + "DoubleBackward"]
    inner = one(events, "inner")
    assert [e.name for e in inner.cpu_children] == ["Double"] and inner.cpu_parent.name == "outer"
    assert [e.name for e in inner.cpu_children[0].cpu_children] == ["aten::mul"]
    assert [e.name for e in one(events, "aten::matmul").cpu_children] == ["aten::mm"]
    assert [e.name for e in one(events, "outer").cpu_children] == ["inner", "aten::matmul"]
    assert inner.is_user_annotation and inner.scope == 7 and not one(events, "Double").is_user_annotation


def test_rules_that_are_recorded_themselves_show_their_operations() -> None:
    x = lg.rand(3, requires_grad=True)
    events = recorded(lambda: lg.autograd.grad((x * x).sum(), x, create_graph=True))
    assert [e.name for e in one(events, "MulBackward0").cpu_children] == ["aten::mul", "aten::mul"]
    assert all(e.sequence_nr >= 0 for e in one(events, "MulBackward0").cpu_children)


def test_layers_losses_and_optimisers() -> None:
    lg.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = lg.optim.SGD(model.parameters(), 0.1)
    data, target = lg.rand(5, 3), lg.tensor([0, 1, 0, 1, 1])

    def work() -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(data), target).backward()
        optimizer.step()

    events = recorded(work, record_shapes=True)
    top = [e.name for e in events if e.cpu_parent is None and not e.name.startswith("autograd")]
    assert top == [
        "Optimizer.zero_grad#SGD.zero_grad", "aten::linear", "aten::relu", "aten::linear", "aten::cross_entropy_loss",
        "Optimizer.step#SGD.step",
    ]  # fmt: skip
    linear = [e for e in events if e.name == "aten::linear"]
    assert [e.input_shapes for e in linear] == [[[5, 3], [4, 3], [4]], [[5, 4], [2, 4], [2]]]
    assert names(events).count("AddmmBackward0") == 2 and names(events).count(ACCUMULATE) == 4


# -- times ------------------------------------------------------------------------------------------------------------


def test_times_add_up() -> None:
    def work() -> None:
        with record_function("outer"):
            time.sleep(0.02)
            with record_function("inner"):
                time.sleep(0.01)
            lg.rand(2) + 1

    events = recorded(work)
    outer, inner = one(events, "outer"), one(events, "inner")
    assert outer.cpu_time_total >= 30_000 and inner.cpu_time_total >= 10_000
    children = sum(child.cpu_time_total for child in outer.cpu_children)
    assert outer.self_cpu_time_total == pytest.approx(outer.cpu_time_total - children)
    assert outer.self_cpu_time_total >= 20_000
    assert events.self_cpu_time_total == pytest.approx(outer.cpu_time_total)  # the only one at the top
    for event in events:
        assert event.time_range.end >= event.time_range.start >= 0
        if event.cpu_parent is not None:
            assert event.cpu_parent.time_range.start <= event.time_range.start
            assert event.time_range.end <= event.cpu_parent.time_range.end


# -- averages ---------------------------------------------------------------------------------------------------------


def test_key_averages() -> None:
    small, large = lg.rand(2), lg.rand(3, 4)

    def work() -> None:
        for _ in range(3):
            small * small
        large * large
        small + small

    with profile(record_shapes=True) as prof:
        work()
    by_name = {average.key: average for average in prof.key_averages()}
    assert {key: average.count for key, average in by_name.items()} == {"aten::mul": 4, "aten::add": 1}
    multiplications = [e for e in prof.function_events if e.name == "aten::mul"]
    assert by_name["aten::mul"].cpu_time_total == pytest.approx(sum(e.cpu_time_total for e in multiplications))
    assert by_name["aten::mul"].cpu_time == pytest.approx(by_name["aten::mul"].cpu_time_total / 4)
    by_shape = [(a.key, a.input_shapes, a.count) for a in prof.key_averages(group_by_input_shape=True)]
    assert by_shape == [
        ("aten::mul", [[2], [2]], 3),
        ("aten::mul", [[3, 4], [3, 4]], 1),
        ("aten::add", [[2], [2], []], 1),
    ]
    total = prof.total_average()
    assert (total.key, total.count) == ("Total", 5)
    assert total.self_cpu_time_total == pytest.approx(prof.self_cpu_time_total)
    with pytest.raises(AssertionError, match="Expected keys to match"):
        by_name["aten::mul"].add(by_name["aten::add"])
    with pytest.raises(AssertionError):
        FunctionEventAvg().add(FunctionEvent(1, "x", 1, 0, 1)).add(3)


def test_grouping_by_stack() -> None:
    x = lg.rand(2)

    def here() -> None:
        x * x

    def there() -> None:
        x * x

    with profile(with_stack=True) as prof:
        here()
        here()
        there()
    assert [a.count for a in prof.key_averages()] == [3]
    grouped = prof.key_averages(group_by_stack_n=1)
    assert [a.count for a in grouped] == [2, 1]
    assert grouped[0].stack[0].endswith("): here") and grouped[1].stack[0].endswith("): there")
    assert "test_profiler.py(" in prof.function_events[0].stack[0]
    assert "Source Location" in grouped.table()


def test_shapes_are_recorded_only_if_asked_for() -> None:
    x = lg.rand(2, 3)
    assert recorded(lambda: lg.add(x, x, alpha=2))[0].input_shapes == []
    event = recorded(lambda: lg.add(x, x, alpha=2), record_shapes=True)[0]
    assert event.input_shapes == [[2, 3], [2, 3], []] and event.concrete_inputs == [None, None, 2]
    rule = one(recorded(lambda: lg.rand(2, 3, requires_grad=True).sum().backward(), record_shapes=True), "SumBackward0")
    assert rule.input_shapes == [[]]


# -- memory and arithmetic --------------------------------------------------------------------------------------------


def test_memory_allocated_and_freed() -> None:
    x = lg.rand(1000)
    kept = []

    def work() -> None:
        with record_function("keeps"):
            kept.append(x * 2)
        with record_function("frees"):
            x + x
        kept.append(x.view(10, 100))

    events = recorded(work, profile_memory=True)
    assert one(events, "aten::mul").cpu_memory_usage == one(events, "keeps").cpu_memory_usage == 4000
    assert one(events, "keeps").self_cpu_memory_usage == 0
    assert one(events, "aten::add").cpu_memory_usage == 4000
    assert one(events, "frees").cpu_memory_usage == 0 and one(events, "frees").self_cpu_memory_usage == -4000
    assert one(events, "aten::view").cpu_memory_usage == 0
    assert recorded(lambda: x * 2)[0].cpu_memory_usage == 0  # was not asked for


def test_memory_that_is_freed_outside_of_all_operations() -> None:
    x = lg.rand(1000)
    with profile(profile_memory=True) as prof:
        y = x * 2
        del y
    assert [(e.name, e.cpu_memory_usage) for e in prof.function_events] == [("aten::mul", 4000), ("[memory]", -4000)]
    with profile(profile_memory=True) as prof:
        y = x * 2
    del y  # too late
    assert names(prof.function_events) == ["aten::mul"]


def test_memory_of_gradients() -> None:
    x = lg.rand(1000, requires_grad=True)
    events = recorded(lambda: x.exp().sum().backward(), profile_memory=True)
    assert one(events, "ExpBackward0").cpu_memory_usage == 4000
    assert sum(e.self_cpu_memory_usage for e in events) == 4000  # what is left is x.grad
    assert "CPU Mem" in events.table() and "CPU Mem" not in recorded(lambda: x * 2).table()


def test_flops() -> None:
    a, b, bias = lg.rand(3, 4), lg.rand(4, 5), lg.rand(5)

    def work() -> None:
        a @ b
        F.linear(a, b.t(), bias)
        a * a

    events = recorded(work, with_flops=True)
    assert {e.name: e.flops for e in events if e.flops} == {"aten::mm": 120, "aten::addmm": 120, "aten::mul": 12}
    assert events[0].input_shapes == [] and "Total FLOPs" in events.table()
    assert one(recorded(lambda: lg.zeros(3, 5).addmm_(a, b), with_flops=True), "aten::addmm_").flops == 120


# -- tables and files -------------------------------------------------------------------------------------------------


def made(*events: tuple[str, float, float]) -> EventList:
    return EventList([FunctionEvent(i, name, 1, start, end) for i, (name, start, end) in enumerate(events, 1)])


def test_the_table() -> None:
    assert made(("x", 0, 3e6), ("longer", 3e6, 4e6)).table() == (
        "----------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "      Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  \n"
        "----------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "         x        75.00%        3.000s        75.00%        3.000s        3.000s             1  \n"
        "    longer        25.00%        1.000s        25.00%        1.000s        1.000s             1  \n"
        "----------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "Self CPU time total: 4.000s\n"
    )
    assert made().table() == ""
    assert "NaN" in made(("x", 0, 0)).table()


def test_options_of_the_table() -> None:
    events = made(("a", 0, 5), ("b", 5, 2005), ("c", 2005, 2006))
    body = [line.split()[0] for line in events.table(sort_by="cpu_time_total").splitlines()[3:6]]
    assert body == ["b", "a", "c"]
    assert events.table(row_limit=1).count("\n") == 6 and events.table(row_limit=-1).count("\n") == 8
    assert "2000.000us" in events.table(time_unit="us") and "2.000ms" in events.table()
    assert events.table(header="Title").splitlines()[1] == "Title"
    assert "0123456..." in made(("0123456789abc", 0, 1)).table(max_name_column_width=10)
    with pytest.raises(AttributeError):
        events.table(sort_by="nonsense")
    x = lg.rand(2)

    def nested() -> None:
        with record_function("top"):
            x + x

    with profile() as prof:
        nested()
    assert "aten::add" not in prof.table(top_level_events_only=True) and "aten::add" in prof.table()
    assert str(prof) == prof.table() == str(prof.function_events)


def test_chrome_trace(tmp_path: Path) -> None:
    x = lg.rand(3, requires_grad=True)
    with profile(record_shapes=True) as prof:
        with record_function("named"):
            y = x * x
        y.sum().backward()
    prof.export_chrome_trace(str(tmp_path / "trace.json"), {"note": "here"})
    trace = json.loads((tmp_path / "trace.json").read_text())
    spans = [entry for entry in trace["traceEvents"] if entry["ph"] == "X"]
    assert [span["name"] for span in spans] == names(prof.function_events) and trace["note"] == "here"
    assert spans[0]["cat"] == "user_annotation" and spans[1]["cat"] == "cpu_op"
    assert spans[1]["args"]["Input Dims"] == [[3], [3]]
    assert spans[1]["dur"] == pytest.approx(prof.function_events[1].cpu_time_total)
    starts = {e["id"]: e["ts"] for e in trace["traceEvents"] if e["ph"] == "s"}
    ends = {e["id"]: e["ts"] for e in trace["traceEvents"] if e["ph"] == "f"}
    assert starts.keys() == ends.keys() and len(starts) == 2 and all(starts[i] < ends[i] for i in starts)


def test_stacks(tmp_path: Path) -> None:
    x = lg.rand(100)
    with profile(with_stack=True) as prof:
        for _ in range(20):
            x.exp()
    prof.export_stacks(str(tmp_path / "stacks.txt"))
    lines = (tmp_path / "stacks.txt").read_text().splitlines()
    assert lines and all(line.rsplit(" ", 1)[1].isdigit() for line in lines)
    assert ":_test_stacks " in lines[0]
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(str(tmp_path / "stacks.txt"), "time")
    with pytest.raises(AssertionError, match="requires with_stack=True"):
        profile().export_stacks("unused")


def test_texts() -> None:
    event = FunctionEvent(1, "a", 1, 0.0, 1500.0)
    assert (event.cpu_time_str, event.self_cpu_time_total_str, event.device_time_str) == (
        "1.500ms",
        "1.500ms",
        "0.000us",
    )
    assert repr(event).startswith("<FunctionEvent id=1 name=a ") and "cpu_time=1.500ms" in repr(event)
    assert repr(FunctionEventAvg().add(event)).startswith("<FunctionEventAvg key=a self_cpu_time=1.500ms")
    assert Interval(2, 5).elapsed_us() == 3
    with pytest.raises(AssertionError, match="Expected child to be a FunctionEvent"):
        event.append_cpu_child(3)  # type: ignore[arg-type]


# -- the life of a profiler -------------------------------------------------------------------------------------------


def test_nothing_is_left_behind() -> None:
    x = lg.rand(3, requires_grad=True)
    methods = dict(vars(lg.Tensor))
    with pytest.raises(ValueError), profile(), record_function("a"):
        (x * x).sum().backward()
        assert current_profiles() and state.in_modes and dict(vars(lg.Tensor)) == methods
        raise ValueError
    assert not current_profiles() and not state.modes and state.recording is True


def test_before_during_and_after() -> None:
    prof = profile()
    assert list(prof.key_averages()) == [] and prof.self_cpu_time_total == 0
    assert str(prof) == repr(prof) == "<unfinished torch.autograd.profile>"
    with prof:
        assert str(prof) == repr(prof) == "<unfinished torch.autograd.profile>"
    with pytest.raises(RuntimeError, match="not reentrant"), prof:
        pass
    assert not current_profiles()
    with pytest.raises(AttributeError):
        profile().export_chrome_trace("unused")
    with profile(enabled=False) as off:
        lg.rand(2) + 1
    assert off.function_events is None and str(off) == "None"
    with pytest.raises(AttributeError, match="key_averages"):
        off.key_averages()


def test_profilers_inside_each_other() -> None:
    x = lg.rand(2)
    with profile() as outer, record_function("block"):
        x + x
        with profile(record_shapes=True) as inner:
            x * x
        x - x
    assert names(outer.function_events) == ["block", "aten::add", "aten::mul", "aten::sub"]
    assert names(inner.function_events) == ["aten::mul"] and inner.function_events[0].cpu_parent is None
    assert inner.function_events[0].sequence_nr >= 0 and outer.function_events[2].cpu_parent.name == "block"
    assert inner.function_events[0].input_shapes == [[2], [2]] and outer.function_events[2].input_shapes == []


def test_each_thread_has_its_own_profile() -> None:
    x = lg.rand(2)
    go, done = threading.Barrier(2), threading.Barrier(2)
    seen: list[Any] = []

    def other() -> None:
        go.wait()
        x * x  # while the main thread is profiled, and this one is not
        seen.append(names(recorded(lambda: x - x)))
        done.wait()

    thread = threading.Thread(target=other)
    thread.start()
    with profile() as prof:
        go.wait()
        x + x
        done.wait()
    thread.join()
    assert names(prof.function_events) == ["aten::add"] and seen == [["aten::sub"]]


def test_anomaly_mode_inside_a_profile() -> None:
    x = lg.zeros(1, requires_grad=True)
    with profile() as prof, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with lg.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="returned nan values"):
            (x.sqrt() * 0).backward()
        (x * 2).backward()
    assert "SqrtBackward0" in names(prof.function_events) and x.grad.item() == 2


def test_hooks_in_a_profile_and_gradients_are_the_same() -> None:
    def gradients() -> list[Any]:
        lg.manual_seed(3)
        x = lg.rand(4, 4, requires_grad=True)
        y = (x @ x).tanh()
        y.register_hook(lambda g: g * 2)
        z = y[1:].cumsum(0).std() + y.sort()[0].prod()
        z.backward(retain_graph=True)
        (first,) = lg.autograd.grad(z, x, create_graph=True)
        return [x.grad, first, *lg.autograd.grad(first.sum(), x)]

    expected = gradients()
    with profile(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True):
        found = gradients()
    assert all(lg.equal(a, b) for a, b in zip(expected, found, strict=True))


def test_transforms_in_a_profile() -> None:
    def f(x: Any) -> Any:
        return (x[1:] * x[:-1]).sin().sum() + x.cumsum(0).tanh().sum()

    x = lg.tensor([0.3, -0.8, 1.1, 0.4], dtype=lg.float64)
    batch = lg.stack([x, 2 * x, x.flip(0)])
    work = (
        lambda: func.vmap(func.grad(f))(batch),
        lambda: func.hessian(f)(x),
        lambda: func.jvp(func.grad(f), (x,), (x,))[1],
        lambda: func.jacrev(lambda v: v.exp() * v.sum())(x),
    )
    expected = [one() for one in work]
    with profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
        found = [one() for one in work]
    assert all(lg.equal(a, b) for a, b in zip(expected, found, strict=True))
    assert {"aten::sin", "aten::cumsum", "SinBackward0", "TanhBackward0"} <= set(names(prof.function_events))
    assert lg.autograd.gradcheck(f, x.clone().requires_grad_())
    with profile():
        assert lg.autograd.gradcheck(f, x.clone().requires_grad_())


def test_collection_can_be_switched_off_for_a_while() -> None:
    x = lg.rand(2)
    with profile() as prof:
        x + x
        prof.toggle_collection_dynamic(False, [stepwise.ProfilerActivity.CPU])
        x * x
        prof.toggle_collection_dynamic(True, [stepwise.ProfilerActivity.CPU])
        x - x
    assert names(prof.function_events) == ["aten::add", "aten::sub"]


def test_record_function_as_decorator_and_its_mistakes() -> None:
    @record_function("decorated")
    def work(depth: int) -> None:
        if depth:
            work(depth - 1)

    events = recorded(lambda: work(2))
    assert names(events) == ["decorated"] * 3
    assert [e.cpu_parent is not None for e in events] == [False, True, True]
    work(1)  # without a profiler
    with pytest.raises(AssertionError, match="Expected record to be set"):
        record_function("a").__exit__(None, None, None)
    with pytest.raises(RuntimeError, match="Expected a value of type 'str' for argument 'name'"), record_function(3):  # type: ignore[arg-type]
        pass


def test_blocks_that_end_in_another_order() -> None:
    first, second = record_function("first"), record_function("second")

    def work() -> None:
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        second.__exit__(None, None, None)
        lg.rand(2).exp()

    events = recorded(work)
    assert names(events) == ["first", "second", "aten::rand", "aten::exp"] and events[3].cpu_parent is None


def test_a_block_that_outlives_its_profile() -> None:
    with profile() as outer:
        block = record_function("block", "its text")
        with profile(record_shapes=True) as inner:
            block.__enter__()
        end = inner.function_events[0].time_range.end
        time.sleep(0.001)
        block.__exit__(None, None, None)
    assert names(inner.function_events) == names(outer.function_events) == ["block"]
    assert inner.function_events[0].time_range.end == end > 0 and outer.function_events[0].cpu_time_total > 1000
    assert [p.function_events[0].concrete_inputs for p in (inner, outer)] == [["its text"], []]


def test_devices_that_are_not_there() -> None:
    with pytest.warns(UserWarning, match="CUDA is not available, disabling CUDA profiling"):
        profile(use_device="cuda")
    with pytest.warns(FutureWarning, match="use_cuda"), pytest.warns(UserWarning, match="CUDA is not available"):
        profile(use_cuda=True)
    with pytest.warns(UserWarning, match="The foo is not a valid device option"):
        profile(use_device="foo")
    with pytest.raises(AssertionError, match="Device-only events"):
        profile(use_cpu=False)
    with pytest.raises(NotImplementedError):
        profile(experimental_config=object())
    with pytest.raises(AssertionError, match="not compiled with CUDA"), emit_nvtx():
        pass
    with pytest.raises(NotImplementedError), emit_itt():
        pass
    with emit_nvtx(enabled=False), emit_itt(enabled=False):
        pass
    with pytest.raises(NotImplementedError):
        load_nvprof("unused")


# -- leafgrad.profiler ------------------------------------------------------------------------------------------------


def actions(**options: int) -> str:
    plan = stepwise.schedule(**options)
    letters = dict(zip(stepwise.ProfilerAction, "-wrs", strict=True))
    return "".join([letters[plan(i)] for i in range(12)])


def test_schedules() -> None:
    assert actions(wait=1, warmup=1, active=2, repeat=2, skip_first=1) == "--wrs-wrs---"
    assert actions(wait=2, warmup=1, active=1, repeat=2, skip_first_wait=1) == "ws--ws------"
    assert actions(wait=0, warmup=1, active=3) == "wrrswrrswrrs"
    with pytest.warns(UserWarning, match="won't be using warmup"):
        assert actions(wait=2, warmup=0, active=1) == "--s--s--s--s"
    for wrong in ({"wait": -1, "active": 1}, {"wait": 0, "active": 0}, {"wait": 0, "active": 1, "repeat": -1}):
        with pytest.raises(AssertionError, match="Invalid profiler schedule arguments"):
            stepwise.schedule(warmup=1, **wrong)
    with pytest.raises(AssertionError, match="Step must be non-negative"):
        stepwise.schedule(wait=1, warmup=1, active=1)(-1)


def test_steps() -> None:
    x = lg.rand(2)
    seen: list[Any] = []

    def ready(prof: Any) -> None:
        seen.append((prof.step_num, names(prof.events())))

    plan = stepwise.schedule(wait=1, warmup=1, active=2, repeat=2)
    with stepwise.profile(schedule=plan, on_trace_ready=ready) as prof:
        for _ in range(9):
            x * x
            prof.step()
    cycle = ["ProfilerStep*", "aten::mul"] * 2
    assert seen == [(4, cycle), (8, cycle)]
    assert {a.key: a.count for a in prof.key_averages()} == {"ProfilerStep*": 2, "aten::mul": 2}
    with stepwise.profile(schedule=plan, acc_events=True) as prof:
        for _ in range(9):
            x * x
            prof.step()
    assert names(prof.events()) == cycle * 2
    assert not current_profiles()


def test_without_a_schedule(tmp_path: Path) -> None:
    x = lg.rand(2)
    with stepwise.profile(
        activities=[stepwise.ProfilerActivity.CPU],
        on_trace_ready=stepwise.tensorboard_trace_handler(str(tmp_path / "logs"), "worker"),
    ) as prof:
        x * x
        prof.step()
        x + x
    assert names(prof.events()) == ["aten::mul", "aten::add"]
    (file,) = (tmp_path / "logs").iterdir()
    assert file.name.startswith("worker.") and file.name.endswith(".pt.trace.json")
    prof.add_metadata("who", "me")
    prof.add_metadata_json("what", "[1, 2]")
    prof.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    with gzip.open(tmp_path / "trace.json.gz", "rt") as packed:
        trace = json.load(packed)
    assert (trace["who"], trace["what"], trace["trace_id"]) == ("me", [1, 2], prof.get_trace_id())
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError, match="Can't create directory"):
        stepwise.tensorboard_trace_handler(str(tmp_path / "file"))(prof)


def test_start_and_stop_and_mistakes() -> None:
    x = lg.rand(2)
    prof = stepwise.profile()
    for call in (prof.events, prof.key_averages, prof.stop):
        with pytest.raises(AssertionError, match="Profiler must be initialized"):
            call()
    for expected in ("aten::mul", "aten::add"):
        prof.start()
        _ = x * x if expected == "aten::mul" else x + x
        prof.stop()
        assert names(prof.events()) == [expected]
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        stepwise.profile(activities=[])
    with pytest.raises(AssertionError, match="No activities specified"):
        stepwise.profile(activities=[stepwise.ProfilerActivity.CUDA])
    assert stepwise.supported_activities() == {stepwise.ProfilerActivity.CPU}
    named = stepwise.profile(custom_trace_id_callback=lambda: "mine")
    with named:
        pass
    assert named.get_trace_id() == "mine"
