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


@pytest.mark.slow
def test_imports_are_compared() -> None:
    """benchmarks/import_time.py, where leafgrad is found as these tests find it."""
    source = Path(leafgrad.__file__).parents[1]
    command = [sys.executable, "benchmarks/import_time.py", "--rounds", "1", "--compiled-from", str(source)]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split("|")[1].strip() for line in shown[2:5]] == ["numpy", "leafgrad, compiled", "leafgrad, plain"]
