"""Profiles of the same program by leafgrad and by PyTorch: the same operations in the same order at the top, the same
rules, the same tables. PyTorch shows more inside of an operation, down to `aten::as_strided`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.profiler
from torch.autograd import profiler_util as torch_util

import leafgrad
import leafgrad.nn
import leafgrad.optim
import leafgrad.profiler
from leafgrad.autograd import profiler_util
from op_checks import Entry, cases, together
from op_torch import compared, counterpart, identity, to_torch

# how PyTorch starts a backward pass, where leafgrad starts with a plain array; what its mse_loss does in Python
STARTING = {"aten::ones_like", "aten::broadcast_tensors"}


def profiled(lib: Any, program: Callable[[Any, Any, Any], Any], **options: Any) -> Any:
    lib.manual_seed(0)
    x, w = lib.rand(3, 4, requires_grad=True), lib.rand(4, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with lib.autograd.profiler.profile(**options) as prof:
            program(lib, x, w)
    return prof


def top(prof: Any) -> list[str]:
    return [e.name for e in prof.function_events if e.cpu_parent is None and e.name not in STARTING]


class Square:
    """The same Function in either library."""

    @staticmethod
    def of(lib: Any) -> Any:
        class Squared(lib.autograd.Function):  # type: ignore[name-defined,misc]
            @staticmethod
            def forward(ctx: Any, a: Any) -> Any:
                ctx.save_for_backward(a)
                return a * a

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * 2 * ctx.saved_tensors[0]

        return Squared


def train(lib: Any, x: Any, w: Any) -> None:
    optimizer = lib.optim.Adam([x], 0.1)
    optimizer.zero_grad()
    lib.nn.functional.mse_loss(x.tanh(), w[:3].sigmoid(), reduction="sum").backward()
    optimizer.step()


def named(lib: Any, x: Any, w: Any) -> None:
    with lib.autograd.profiler.record_function("outer"):
        y = x @ w
        with lib.autograd.profiler.record_function("inner"):
            y = y.exp()
    y.sum().backward()


PROGRAMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "arithmetic": lambda lib, x, w: ((x + 1) * x - 2 / x, 3 - x, -x, x**2, x / 2, 2 * x),
    "comparison": lambda lib, x, w: (x > 0.5, x == x, x <= 1, lib.where(x > 0.5, x, -x)),
    "reductions": lambda lib, x, w: (x.sum(), x.mean(0), x.max(), x.max(1), x.prod(), x.std(), x.norm()),
    "shapes": lambda lib, x, w: (x.view(12), x.t(), x.unsqueeze(0), x.permute(1, 0), x.expand(2, 3, 4), x.flip(0)),
    "indexing": lambda lib, x, w: (x[0], x[1:], x[None], x.gather(0, (w > 2).long()[:3])),
    "in place": lambda lib, x, w: (w.add_(1), w.mul_(2), w.zero_(), w.fill_(3.0)),
    "functions": lambda lib, x, w: (lib.softmax(x, 1), lib.relu(x), lib.cat([x, x]), lib.stack([w, w]), lib.abs(x)),
    "products": lambda lib, x, w: (x @ w, lib.mm(x, w), lib.nn.functional.linear(x, w), x.matmul(w[0])),
    "creation": lambda lib, x, w: (lib.zeros(2), lib.ones(2), lib.arange(3), lib.full((2,), 1.0), lib.zeros_like(x)),
    "random": lambda lib, x, w: (lib.rand(2), lib.randn(2), lib.randperm(3), w.uniform_()),
    "backward": lambda lib, x, w: (x * x).exp().sum().backward(),
    "rules": lambda lib, x, w: (x.log().sigmoid().sum(0).cumsum(0).mean() / 3).backward(),
    "matrix rules": lambda lib, x, w: (x @ w).relu().sum().backward(),
    "views": lambda lib, x, w: x.t().reshape(2, 6).select(0, 1).sum().backward(),
    "views in place": lambda lib, x, w: (
        (x * 2).t_().sum().backward(),
        (w.t_(), w.unsqueeze_(0), w.squeeze_(), w.transpose_(0, 1), w.as_strided_((2, 2), (1, 2))),
    ),
    "a Function": lambda lib, x, w: Square.of(lib).apply(x).sum().backward(),
    "names": named,
    "training": train,
}


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_the_same_operations_at_the_top(name: str) -> None:
    mine, theirs = profiled(leafgrad, PROGRAMS[name]), profiled(torch, PROGRAMS[name])
    assert top(mine) == top(theirs)


# PyTorch reads x[2, 1:] in two steps, computes unravel_index in many, and pads a signal before its own stft begins;
# torch.masked is a layer of Python above operations.
UNNAMED = ("slice", "unravel_index", "stft")
NAMED = [e for e in compared if not (callable(e.reference) or e.name in UNNAMED or e.name.startswith("masked_"))]
NAMED += [e for e in compared if e.name in ("masked_fill", "masked_scatter", "masked_select")]
# What PyTorch calls some operations with some arguments, and leafgrad does not.
OTHERWISE = {"nonzero_numpy": "nonzero", "split_with_sizes": "split", "linalg_matrix_norm": "linalg_vector_norm"}
OTHERWISE |= {"view_as_complex": "view_as_complex_copy", "_unique2": "unique", "unique_dim": "unique"}


@pytest.mark.parametrize("entry", NAMED, ids=identity)
@pytest.mark.filterwarnings("ignore")
def test_every_operation_has_its_name(entry: Entry) -> None:
    for case in cases(entry, "float32")[:3]:
        args, kwargs = together(case.apart, case.tensors)
        mine = recorded(leafgrad, entry.function, args, kwargs)
        if mine:  # what computes nothing is not seen
            theirs = recorded(torch, counterpart(entry), to_torch(args), to_torch(kwargs))
            assert mine in (theirs, [OTHERWISE.get(name, name) for name in theirs]), case


def recorded(lib: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> list[str]:
    with lib.autograd.profiler.profile() as prof:
        function(*args, **kwargs)
    return [name.removeprefix("aten::") for name in top(prof)]


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_events_lie_inside_the_same_ones(name: str) -> None:
    def pairs(prof: Any) -> set[tuple[str, str]]:
        named = [e for e in prof.function_events if e.cpu_parent is not None]
        user = ("outer", "inner", "Squared", "SquaredBackward", "autograd::")
        found = {(e.name, e.cpu_parent.name) for e in named if e.cpu_parent.name.startswith(user)}
        # where gradients meet, PyTorch adds in place if it may
        return {("aten::add", parent) if child == "aten::add_" else (child, parent) for child, parent in found}

    mine, theirs = profiled(leafgrad, PROGRAMS[name]), profiled(torch, PROGRAMS[name])
    assert pairs(mine) == pairs(theirs)


@pytest.mark.parametrize("name", ["backward", "rules", "matrix rules", "views in place", "a Function", "names"])
def test_numbers_connect_operations_with_their_rules(name: str) -> None:
    def links(prof: Any) -> list[tuple[str, str]]:
        events = prof.function_events
        first: dict[int, str] = {}
        for e in events:
            if e.scope == 0 and e.fwd_thread == 0 and e.sequence_nr >= 0:
                first.setdefault(e.sequence_nr, e.name)
        return [(first[e.sequence_nr], e.name) for e in events if e.scope == 1 and e.sequence_nr >= 0]

    assert links(profiled(leafgrad, PROGRAMS[name])) == links(profiled(torch, PROGRAMS[name]))


@pytest.mark.parametrize(
    "name", ["arithmetic", "comparison", "products", "in place", "views in place", "backward", "matrix rules"]
)
def test_shapes(name: str) -> None:
    def shapes(prof: Any) -> list[Any]:
        return [(e.name, e.input_shapes) for e in prof.function_events if e.cpu_parent is None]

    mine = profiled(leafgrad, PROGRAMS[name], record_shapes=True)
    theirs = profiled(torch, PROGRAMS[name], record_shapes=True)
    # of options without a shape PyTorch has as many as the schema of the operation
    trimmed = [[(n, [s for s in given if s]) for n, given in shapes(p) if n not in STARTING] for p in (mine, theirs)]
    assert trimmed[0] == trimmed[1]


def test_counts_of_key_averages() -> None:
    def counts(prof: Any) -> dict[str, int]:
        averages = prof.key_averages()
        return {a.key: a.count for a in averages if "Backward" in a.key or "AccumulateGrad" in a.key}

    for name in ("backward", "rules", "matrix rules", "a Function"):
        assert counts(profiled(leafgrad, PROGRAMS[name])) == counts(profiled(torch, PROGRAMS[name]))


# -- tables -----------------------------------------------------------------------------------------------------------

EVENTS = [
    ("aten::first", 0.0, 1500.5, [[2, 3], []], 5000, 300),
    ("aten::second", 10.0, 60.25, [[2, 3, 4] * 9], -2048, 12),
    ("aten::third_with_a_name_that_is_longer_than_the_column_may_be_wide", 70.0, 1490.0, [[]], 0, 5_000_000),
    ("aten::second", 1600.0, 2_700_000.0, [[2]], 3 << 20, 0),
]


def lists(memory: bool = False, flops: bool = False) -> list[Any]:
    made = []
    for util in (profiler_util, torch_util):
        events = [
            util.FunctionEvent(i, name, 1, start, end, "", 0, shapes, [], cpu_memory_usage=bytes_, flops=operations)
            for i, (name, start, end, shapes, bytes_, operations) in enumerate(EVENTS, 1)
        ]
        whole = util.EventList(events, use_device=None, profile_memory=memory, with_flops=flops)
        whole._build_tree()
        made.append(whole)
    return made


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sort_by": "cpu_time_total"},
        {"sort_by": "self_cpu_time_total", "row_limit": 2},
        {"sort_by": "cpu_memory_usage", "row_limit": -1},
        {"max_name_column_width": 12, "max_shapes_column_width": 20},
        {"max_name_column_width": None},
        {"header": "A title", "top_level_events_only": True},
        {"time_unit": "ms"},
        {"time_unit": "us"},
        {"row_limit": 0},
    ],
)
@pytest.mark.parametrize("memory, flops", [(False, False), (True, False), (False, True), (True, True)])
def test_tables_are_the_same(options: dict[str, Any], memory: bool, flops: bool) -> None:
    mine, theirs = lists(memory, flops)
    assert mine.table(**options) == theirs.table(**options)
    for grouped in (False, True):
        averages = mine.key_averages(grouped), theirs.key_averages(grouped)
        assert averages[0].table(**options) == averages[1].table(**options)


def test_totals_and_texts_are_the_same() -> None:
    mine, theirs = lists(memory=True)
    for name in ("count", "cpu_time_total", "self_cpu_time_total", "cpu_time", "cpu_memory_usage", "cpu_time_str"):
        assert getattr(mine.total_average(), name) == getattr(theirs.total_average(), name), name
        for a, b in zip(mine, theirs, strict=True):
            assert getattr(a, name) == getattr(b, name), name
    assert mine.self_cpu_time_total == theirs.self_cpu_time_total
    assert [repr(e) for e in mine] == [repr(e) for e in theirs]
    assert [repr(a) for a in mine.key_averages()] == [repr(a) for a in theirs.key_averages()]
    assert repr(mine.total_average()) == repr(theirs.total_average())


def test_trees_are_the_same() -> None:
    def tree(util: Any) -> list[Any]:
        make = util.FunctionEvent
        times = [
            ("c", 20, 30),
            ("a", 0, 100),
            ("b", 10, 60),
            ("b", 12, 58),
            ("d", 100, 120),
            ("f", 90, 110),
            ("g", 20, 30),
        ]
        events = [make(i, name, 1, start, end) for i, (name, start, end) in enumerate(times)]
        events += [make(10, "other thread", 2, 5, 50), make(11, "async", 1, 0, 200, is_async=True)]
        whole = util.EventList(events)
        whole._build_tree()
        shown = []
        for e in whole:
            parent = None if e.cpu_parent is None else e.cpu_parent.id
            shown.append((e.id, parent, [child.id for child in e.cpu_children], e.self_cpu_time_total))
        return shown

    assert tree(profiler_util) == tree(torch_util)


def test_small_tools() -> None:
    def observed(lib: Any, util: Any) -> list[Any]:
        unique, tracker = lib.autograd.profiler.EnforceUnique(), lib.autograd.profiler.KinetoStepTracker
        steps = [tracker.current_step()]
        tracker.init_step_count("one")
        steps += [tracker.increment_step("one"), tracker.increment_step("one")]
        tracker.init_step_count("other")
        steps += [tracker.increment_step("other"), tracker.increment_step("one"), tracker.current_step()]
        steps += [tracker.erase_step_count("one"), tracker.erase_step_count("other"), tracker.erase_step_count("none")]
        with lib.autograd.profiler.profile():
            enabled = lib.autograd._profiler_enabled()
        return [
            outcome(lambda: unique.see(1, 2)),
            outcome(lambda: unique.see(1, 2)),
            [step - steps[0] for step in steps[:6]],
            steps[6:],
            [enabled, lib.autograd._profiler_enabled()],
            [util._format_time(v) for v in (0, 0.5, 999.9, 1000, 12345.678, 2.5e7)],
            [util._format_memory(v) for v in (0, 1023, 1024, -2048, 5_000_000, 3 << 30, -60)],
            [util._format_time_share(1, 3), util._format_time_share(0, 0)],
            tuple(util.Kernel("a", 0, 3)),
        ]

    assert observed(leafgrad, profiler_util) == observed(torch, torch_util)


# -- mistakes, and torch.profiler -------------------------------------------------------------------------------------


def outcome(work: Callable[[], Any]) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = work()
        except Exception as error:
            result = (type(error).__name__, str(error).split("\n")[0])
    return result, [(str(w.message), w.category.__name__) for w in caught]


def entered(lib: Any, **options: Any) -> Any:
    with lib.autograd.profiler.profile(**options) as prof:
        lib.ones(2) * 2
    return [e.name for e in prof.function_events if e.name == "aten::mul"]


MISTAKES: dict[str, Callable[[Any], Any]] = {
    "use_cuda": lambda lib: entered(lib, use_cuda=True),
    "use_device cuda": lambda lib: entered(lib, use_device="cuda"),
    "use_device xpu": lambda lib: entered(lib, use_device="xpu"),
    "use_device foo": lambda lib: entered(lib, use_device="foo"),
    "no cpu": lambda lib: entered(lib, use_cpu=False),
    "nothing": lambda lib: entered(lib, use_cpu=False, use_kineto=True),
    "positional": lambda lib: lib.autograd.profiler.profile(True, True),
    "before": lambda lib: str(lib.autograd.profiler.profile()),
    "before, averages": lambda lib: len(lib.autograd.profiler.profile().key_averages()),
    "not enabled": lambda lib: lib.autograd.profiler.profile(enabled=False).__enter__().key_averages(),
    "no stacks": lambda lib: lib.autograd.profiler.profile().export_stacks("unused"),
    "no trace": lambda lib: lib.autograd.profiler.profile().export_chrome_trace("unused"),
    "no name": lambda lib: lib.autograd.profiler.record_function(3).__enter__(),
    "exit first": lambda lib: lib.autograd.profiler.record_function("a").__exit__(None, None, None),
    "events before": lambda lib: lib.profiler.profile().events(),
    "averages before": lambda lib: lib.profiler.profile().key_averages(),
    "stop before": lambda lib: lib.profiler.profile().stop(),
    "no activities": lambda lib: lib.profiler.profile(activities=[]),
    "schedule": lambda lib: lib.profiler.schedule(wait=-1, warmup=0, active=1),
    "no warmup": lambda lib: [a.name for a in map(lib.profiler.schedule(wait=1, warmup=0, active=1), range(5))],
    "negative step": lambda lib: lib.profiler.schedule(wait=1, warmup=1, active=1)(-1),
}


@pytest.mark.parametrize("name", list(MISTAKES))
def test_mistakes(name: str) -> None:
    assert outcome(lambda: MISTAKES[name](leafgrad)) == outcome(lambda: MISTAKES[name](torch))


@pytest.mark.parametrize("repeat", [0, 1, 2])
@pytest.mark.parametrize("skip_first", [0, 2])
@pytest.mark.parametrize("skip_first_wait", [0, 1])
def test_schedules(repeat: int, skip_first: int, skip_first_wait: int) -> None:
    options = {"repeat": repeat, "skip_first": skip_first, "skip_first_wait": skip_first_wait}
    for wait, warmup, active in ((0, 1, 1), (1, 1, 2), (2, 3, 1)):
        plans = [lib.profiler.schedule(wait=wait, warmup=warmup, active=active, **options) for lib in (leafgrad, torch)]
        assert [plans[0](i).name for i in range(30)] == [plans[1](i).name for i in range(30)]


@pytest.mark.parametrize("steps", range(1, 11))
def test_cycles(steps: int) -> None:
    def run(lib: Any) -> Any:
        seen: list[Any] = []
        plan = lib.profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
        ready = lambda prof: seen.append((prof.step_num, [e.name for e in prof.events()]))
        x = lib.ones(2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with lib.profiler.profile(schedule=plan, on_trace_ready=ready) as prof:
                for _ in range(steps):
                    x * x
                    prof.step()
        return seen, prof.step_num, prof.current_action.name

    assert run(leafgrad) == run(torch)
