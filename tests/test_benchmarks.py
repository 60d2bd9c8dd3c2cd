"""The benchmarks must keep running as the code they measure changes. How fast it is, they say, not the tests."""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import leafgrad

sys.path.append(str(Path(__file__).parents[1]))

from benchmarks import __main__ as command
from benchmarks import goals, page, picture, results, rounds, worker
from benchmarks.operations import OPERATIONS
from benchmarks.peers import NAMES as PEER_NAMES
from benchmarks.results import Results, geometric_mean
from benchmarks.survey import SURVEY
from benchmarks.workloads import HEADLINES, WORKLOADS

ROOT = Path(__file__).parents[1]
SOURCE = Path(leafgrad.__file__).parents[1]  # where these tests found leafgrad


EVERYTHING = {**WORKLOADS, **OPERATIONS, **SURVEY}


@pytest.mark.parametrize("name", sorted([name for name in EVERYTHING if name in WORKLOADS or name.endswith(", 1,000")]))
def test_a_workload_runs(name: str) -> None:
    workload = EVERYTHING[name]
    step = workload.make(leafgrad, **workload.tiny)
    assert step() is not None
    assert step() is not None


def test_what_stands_beside_other_libraries_and_in_the_readme_is_a_workload() -> None:
    assert set(PEER_NAMES) <= set(WORKLOADS)
    assert set(HEADLINES) <= set(WORKLOADS) and len(HEADLINES) <= 8
    assert len({workload.size["expression"] for workload in OPERATIONS.values()}) == 40


# -- what is said of the times ----------------------------------------------------------------------------------------


def invented(**changed: Any) -> Results:
    """A whole run, in which leafgrad takes half of PyTorch's time, and twice of it for matrix products."""
    times: results.Times = {}
    for name, workload in {**WORKLOADS, **OPERATIONS}.items():
        own = 4e-3 if "matrix product" in name else 1e-3
        times[name] = {"torch": [[2e-3, 2.2e-3], [2e-3, 2e-3]], "leafgrad": [[own, own * 1.1], [own, own]]}
        times[name] |= {f"torch {rival}": [[0.5e-3, 0.5e-3]] for rival in workload.rivals}
        times[name] |= {"plain": [[1.5e-3, 1.5e-3]]} if name in HEADLINES else {}
    values = {
        "date": "2026-01-31",
        "machine": {"processor": "Z80", "cores": "2", "system": "CP/M", "Python": "3.11.0", "NumPy": "2.1.3"},
        "threads": 2,
        "plan": {"starts": 2, "rounds": 2, "seconds": 0.03},
        "whole": True,
        "versions": {"torch": "2.13.0", "leafgrad": "0.1.0 (compiled)"},
        "times": times,
        "memory": {"regression": {form: {"baseline": 10**6, "peak": 3 * 10**6} for form in ("torch", "leafgrad")}},
        "imports": {"nothing": [0.01], "numpy": [0.08], "leafgrad": [0.11], "torch": [1.21]},
        "sizes": {form: {"own": 10**6, "total": 50 * 10**6} for form in ("leafgrad", "torch")},
    }
    return Results(**{**values, **changed})


def test_a_ratio_is_that_of_the_best_times_and_its_spread_that_of_single_rounds() -> None:
    run = invented(times={"regression": {"torch": [[3.0, 2.0], [8.0, 4.0]], "leafgrad": [[1.0, 2.0], [2.0, 2.0]]}})
    assert run.ratio("regression") == 2.0
    assert run.quartiles("regression") == (1.75, 2.5, 3.25)  # of 3, 1, 4 and 2
    assert run.noisy() == {"regression": pytest.approx(0.3)}
    assert invented().noisy() == {}


def test_ratios_have_a_geometric_mean() -> None:
    assert geometric_mean([4.0, 0.25]) == pytest.approx(1.0)
    assert geometric_mean([]) is None


def test_an_optimiser_is_compared_with_the_fastest_of_its_forms() -> None:
    run = invented()
    assert run.ratio("Adam, 4 tensors") == 2.0
    assert run.fastest_rival("Adam, 4 tensors") == ("foreach", 0.5)
    assert run.fastest_rival("Muon, 4 tensors") == ("default", 2.0)


def test_the_page_says_what_is_slower() -> None:
    text = page.page(invented())
    slower = text.split("## Where PyTorch is faster")[1].split("##")[0]
    assert "In 6 of 72 workloads the ratio is below 1: matrix product, 1024x1024 (0.50);" in " ".join(slower.split())
    assert "| All workloads" in text and "## Peak memory" in text and "NOT TO BE QUOTED" not in text
    row = [line for line in text.splitlines() if line.startswith("| regression ")][1]
    assert [cell.strip() for cell in row.split("|")[1:-1]] == [
        "regression", "2.00 ms", "1.00 ms", "2.00", "2.00 (2.00 to 2.00)",
    ]  # fmt: skip
    assert "other programs used 0.8 cores" in page.page(invented(others=0.8))


def test_the_page_says_which_goals_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goals, "PROFILES", {"regression": "the interpreter takes all of it"})
    text = page.page(invented()).split("## Goals that are missed")[1].split("\n## ")[0]
    assert "| regression " in text and "| 784-128-10, batch 32, SGD " not in text
    assert "- regression: the interpreter takes all of it" in text
    row = next(line for line in text.splitlines() if line.startswith("| Adam, 4 tensors "))
    assert [cell.strip() for cell in row.split("|")[1:-1]] == ["Adam, 4 tensors", "2.00", "2", "0.50 (foreach)"]


def test_goals_are_those_of_workloads() -> None:
    assert goals.GOALS.keys() | goals.PROFILES.keys() <= WORKLOADS.keys()


def test_a_page_without_figures_says_so() -> None:
    assert "make bench" in page.page(None)


def test_the_readme_gets_the_figures_between_its_markers(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text((ROOT / "README.md").read_text(encoding="utf-8"), encoding="utf-8")
    page.into_readme(file, page.figures(invented()))
    page.into_readme(file, text := page.figures(invented()))
    before, after = (ROOT / "README.md").read_text(encoding="utf-8"), file.read_text(encoding="utf-8")
    assert (
        after.split(page.BEGIN)[0] == before.split(page.BEGIN)[0]
        and after.split(page.END)[1] == before.split(page.END)[1]
    )
    assert after.count(text) == 1 and text.count("\n|") == 10
    said = " ".join(text.split())
    assert "PyTorch is furthest ahead at: matrix product, 64x64 (0.50), matrix product, 128x128 (0.50)" in said
    assert "ahead in 66 of 72 workloads" in said and "`import leafgrad` takes 100 ms" in said


def test_times_are_shown_with_three_digits() -> None:
    assert [page.duration(seconds) for seconds in (2.5e-8, 4.321e-6, 98.76e-6, 0.01234, 0.1234, 1.5)] == [
        "0.03 us", "4.32 us", "98.8 us", "12.3 ms", "123 ms", "1.50 s",
    ]  # fmt: skip


def test_the_picture_is_an_svg_with_a_bar_for_each_workload() -> None:
    drawn = xml.etree.ElementTree.fromstring(picture.picture(invented()))
    shapes = [element.tag.rpartition("}")[2] for element in drawn.iter() if element.get("class") != "page"]
    assert shapes.count("rect") == 42  # the workloads without the optimisers
    assert shapes.count("circle") == 30 + len(OPERATIONS)
    texts = [element.text or "" for element in drawn.iter() if element.tag.endswith("text")]
    assert "regression" in texts and "1/2" in texts


def test_results_are_written_and_read(tmp_path: Path) -> None:
    run = invented()
    run.write(tmp_path / "new" / "results.json")
    assert Results.read(tmp_path / "new" / "results.json") == run
    run.others = math.pi
    run.write(tmp_path / "results.json")
    assert Results.read(tmp_path / "results.json").others == 3.142


def test_a_benchmark_sees_other_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    clock: dict[str, float | None] = {"time": 100.0, "all": 1000.0, "own": 5.0}
    monkeypatch.setattr(results.time, "monotonic", lambda: clock["time"])
    monkeypatch.setattr(results, "busy_seconds", lambda: clock["all"])
    monkeypatch.setattr(results, "own_seconds", lambda: clock["own"])
    others = results.Others()
    clock.update(time=110.0, all=1015.0, own=12.0)  # 15 seconds in all, 7 of them its own, in 10 seconds
    assert others.cores() == pytest.approx(0.8)
    clock["all"] = None
    monkeypatch.setattr(others, "load", 1.5)
    assert others.cores() == 1.5  # nobody counts: the load average of before


def test_a_name_means_one_workload_and_a_part_of_it_all_that_have_it() -> None:
    assert [workload.name for workload in command.named(WORKLOADS, "chain of 20, 1")] == ["chain of 20, 1"]
    assert len(command.named(WORKLOADS, "CHAIN OF 20, ")) == 4
    assert command.named(WORKLOADS, "nonsense") == []
    assert len(command.named(WORKLOADS, "")) == len(WORKLOADS)


# -- the processes ----------------------------------------------------------------------------------------------------


def test_a_worker_finds_out_how_many_steps_fit_into_a_turn() -> None:
    calls = []
    assert worker.prepared(lambda: calls.append(0), 0.001) > 10
    assert len(calls) > 1
    assert worker.prepared(lambda: worker.time.sleep(0.01), 0.001) == 1


class Scripted:
    """In place of a process: takes a second for each step, or fails."""

    def __init__(self, label: str, fails: bool = False) -> None:
        self.label, self.fails = label, fails

    def ask(self, **request: Any) -> dict[str, Any]:
        return {"error": "no such thing"} if self.fails else {"steps": 1} if "name" in request else {"seconds": [1.0]}


def test_a_form_that_fails_is_named_and_the_others_are_timed() -> None:
    measurement, plan = rounds.Measurement(), rounds.Plan(1, 5, 0.01, longest=3.0)
    runners: Any = [Scripted("torch"), Scripted("leafgrad"), Scripted("jax", fails=True)]
    times = dict(measurement._one(WORKLOADS["Muon, 4 tensors"], runners, plan))
    assert times == {"torch": [1.0, 1.0, 1.0], "leafgrad": [1.0, 1.0, 1.0]}  # which is as long as it may last
    assert measurement.failures == {"Muon, 4 tensors (jax)": "no such thing"}
    assert invented(failures=measurement.failures).broken() == {}
    assert invented(failures={"Muon, 4 tensors (torch)": "no"}).broken() == {"Muon, 4 tensors (torch)": "no"}
    assert [*dict(measurement._one(WORKLOADS["SGD, 4 tensors"], runners, plan))] == [
        "torch", "torch foreach", "torch fused", "leafgrad",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_process_that_dies_ends_the_run_unless_it_is_one_of_other_libraries(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="the process of leafgrad died"):
        rounds.Runner(rounds.Form("leafgrad", "no_such_module"), 1)
    with rounds.running([rounds.Form("jax", "no_such_module")], 1) as (other,):
        assert other.ask(name="regression", rival=None, seconds=0.01) == {"error": "its process died"}
    assert "No module named 'no_such_module'" in capfd.readouterr().err


@pytest.mark.slow
def test_the_command_measures_one_workload(tmp_path: Path) -> None:
    """Times, the peak of memory and no pages, where leafgrad is found as these tests find it."""
    file = tmp_path / "results.json"
    line = [sys.executable, "-m", "benchmarks", "workloads", "memory", "--only", "regression", "--quick"]
    line += ["--leafgrad-from", str(SOURCE), "--json", str(file), "--rounds", "2"]
    shown = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "| regression" in shown.stdout and "\r" not in shown.stderr  # no progress without a terminal
    found = json.loads(file.read_text(encoding="utf-8"))
    assert len(found["times"]["regression"]["leafgrad"][0]) == 2
    if sys.platform != "win32":
        assert found["memory"]["regression"]["leafgrad"]["peak"] > found["memory"]["regression"]["leafgrad"]["baseline"]
    assert not found["whole"] and not found["failures"]


@pytest.mark.slow
def test_the_command_measures_the_footprint(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "benchmarks", "footprint", "--quick", "--leafgrad-from", str(SOURCE)]
    line += ["--json", str(tmp_path / "results.json")]
    shown = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "| leafgrad " in shown and "| NumPy " in shown and "## Size on the disk" in shown


# -- what measures leafgrad alone -------------------------------------------------------------------------------------


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
