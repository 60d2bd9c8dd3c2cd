"""The benchmarks must keep running as the code they measure changes. How fast it is, they say, not the tests."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import leafgrad

ROOT = Path(__file__).parents[1]


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.path.append(str(ROOT / "benchmarks"))  # they import each other
workloads: dict[str, Any] = {
    **load("workloads").WORKLOADS,
    **load("operations").OPERATIONS,
    **load("function_apply").FUNCTIONS,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(workloads))
def test_a_workload_runs(name: str) -> None:
    make, arguments, _ = workloads[name]
    step = make(leafgrad, *arguments)
    step()
    step()


def test_the_search_for_the_line_can_be_taken_out(tmp_path: Path) -> None:
    """benchmarks/origin_cost.py measures a copy of the recorder without it, so it must still know its text."""
    recorder = tmp_path / "src" / "leafgrad" / "_core" / "bind.py"
    recorder.parent.mkdir(parents=True)
    before = (ROOT / "src" / "leafgrad" / "_core" / "bind.py").read_text()
    recorder.write_text(before)
    load("origin_cost").without_origin(tmp_path)
    after = recorder.read_text()
    compile(after, str(recorder), "exec")
    assert "_getframe(_PAIR_DEPTH)" in before and "_getframe(_PAIR_DEPTH)" not in after


def test_a_table_shows_medians_and_how_far_the_processes_disagree() -> None:
    run, noise = load("run"), load("noise")
    times = {("PyTorch", "x * x"): [9.0, 10.0, 11.0, 30.0, 8.0], ("compiled", "x * x"): [4.0, 3.9, 4.1, 4.0, 4.0]}
    assert list(run.table(["x * x"], ["compiled"], times)) == [
        "| workload | PyTorch, us | leafgrad compiled, us | ratio |",
        "|---|---|---|---|",
        "| x * x | 10.0 ± 110% | 4.0 ± 2% | 2.50 |",
    ]
    first, noisy = noise.remarks(times, others=0.0)
    assert "Median of 5 processes" in first
    assert noisy == "NOT TO BE QUOTED, because the processes disagree: x * x (PyTorch, ± 110%)."
    calm = {("PyTorch", "x * x"): [9.9, 10.0, 10.1]}
    assert len(list(noise.remarks(calm, others=0.1))) == 1
    assert "other programs used 0.8 cores" in list(noise.remarks(calm, others=0.8))[1]
    assert "fewer than 3" in list(noise.remarks({("PyTorch", "x * x"): [9.9, 10.0]}, others=0.0))[1]


def test_a_benchmark_sees_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = load("noise")
    clock = {"time": 100.0, "all": 1000.0, "own": 5.0}
    monkeypatch.setattr(noise.time, "monotonic", lambda: clock["time"])
    monkeypatch.setattr(noise, "busy_seconds", lambda: clock["all"])
    monkeypatch.setattr(noise, "own_seconds", lambda: clock["own"])
    others = noise.Others()
    clock.update(time=110.0, all=1015.0, own=12.0)  # 15 seconds in all, 7 of them its own, in 10 seconds
    assert others.cores() == pytest.approx(0.8)
    clock["all"] = None  # type: ignore[assignment]
    monkeypatch.setattr(others, "load", 1.5)
    assert others.cores() == 1.5  # nobody counts: the load average of before


@pytest.mark.slow
def test_imports_are_compared() -> None:
    """benchmarks/import_time.py, where leafgrad is found as these tests find it."""
    source = Path(leafgrad.__file__).parents[1]
    command = [sys.executable, "benchmarks/import_time.py", "--rounds", "1", "--compiled-from", str(source)]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split("|")[1].strip() for line in shown[2:5]] == ["numpy", "leafgrad, compiled", "leafgrad, plain"]
