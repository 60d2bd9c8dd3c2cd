"""Processes that take turns: one for each library, so that whatever else the machine does hits all of them.

They are started anew a few times, because a process keeps the pages it was given, and some lie so badly in the caches
that arrays of some sizes take twice as long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import peers
from benchmarks.workload import Workload

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
Times = dict[str, dict[str, list[list[float]]]]  # workload -> form -> starts -> seconds of a step in each round


@dataclass(frozen=True)
class Plan:
    """How often, and how long."""

    starts: int
    rounds: int
    seconds: float  # that a turn should last
    longest: float = 2.0  # seconds for all turns of a form; two are made in any case


@dataclass(frozen=True)
class Form:
    """A library as it is installed, or as it lies in a folder."""

    label: str
    module: str
    path: str | None = None

    def environment(self, threads: int | None = None) -> dict[str, str]:
        found = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
        if threads:  # NumPy's BLAS is told so before it is loaded
            found.update(dict.fromkeys(THREADS, str(threads)))
        return {**found, "PYTHONPATH": self.path} if self.path else found

    def is_found(self) -> bool:
        looking = f"import sys, importlib.util as u; sys.exit(u.find_spec({self.module!r}) is None)"
        return subprocess.run([sys.executable, "-c", looking], env=self.environment()).returncode == 0

    def command(self, threads: int, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "benchmarks.worker", self.module, str(threads), *arguments]


class Runner:
    """A process that times steps with one library."""

    def __init__(self, form: Form, threads: int) -> None:
        self.label = form.label
        self.process = subprocess.Popen(
            form.command(threads), cwd=ROOT, env=form.environment(threads), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.version = str(self.answer().get("version", ""))

    def answer(self) -> dict[str, Any]:
        """What the process says. If it died, that is the end, or of one of the other libraries an error like others."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line and self.label not in peers.PEERS:
            self.stop()
            raise SystemExit(f"the process of {self.label} died; its error is above")
        answer: dict[str, Any] = json.loads(line) if line else {"error": "its process died"}
        return answer

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        if self.process.poll() is None:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        return self.answer()

    def stop(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@contextmanager
def running(forms: Sequence[Form], threads: int) -> Iterator[list[Runner]]:
    with ExitStack() as stack:
        runners = []
        for form in forms:
            runners.append(Runner(form, threads))
            stack.callback(runners[-1].stop)
        yield runners


@dataclass
class Contestant:
    """One form of one library, at one workload."""

    runner: Runner
    rival: str | None
    times: list[float]

    @property
    def label(self) -> str:
        return f"{self.runner.label} {self.rival}" if self.rival else self.runner.label


class Measurement:
    """Times of all workloads in all forms, and what failed."""

    def __init__(self) -> None:
        self.times: Times = {}
        self.versions: dict[str, str] = {}
        self.failures: dict[str, str] = {}

    def measure(
        self,
        workloads: Sequence[Workload],
        forms: Sequence[Form],
        plan: Plan,
        threads: int,
        takes_part: Callable[[str, str], bool],  # form, workload
        show: Callable[[str], None],
    ) -> None:
        for start in range(plan.starts):
            with running(forms, threads) as runners:
                self.versions |= {runner.label: runner.version for runner in runners}
                for number, workload in enumerate(workloads):
                    show(f"start {start + 1} of {plan.starts}, {number + 1} of {len(workloads)}: {workload.name}")
                    able = [runner for runner in runners if takes_part(runner.label, workload.name)]
                    for label, times in self._one(workload, able, plan):
                        self.times.setdefault(workload.name, {}).setdefault(label, []).append(times)

    def _one(self, workload: Workload, runners: Sequence[Runner], plan: Plan) -> Iterator[tuple[str, list[float]]]:
        contestants = []
        for runner in runners:
            for rival in (None, *(workload.rivals if runner.label == "torch" else ())):
                contestant = Contestant(runner, rival, [])
                if self._asked(contestant, workload, name=workload.name, seconds=plan.seconds):
                    contestants.append(contestant)
        for turn in range(plan.rounds):
            for contestant in contestants:
                if turn < 2 or sum(contestant.times) < plan.longest:
                    contestant.times += self._asked(contestant, workload).get("seconds", ())
        for contestant in contestants:
            if contestant.times:
                yield contestant.label, contestant.times

    def _asked(self, contestant: Contestant, workload: Workload, **request: Any) -> dict[str, Any]:
        """The answer, which is empty if there was an error."""
        answer = contestant.runner.ask(rival=contestant.rival, **request)
        if "error" not in answer:
            return answer
        self.failures[f"{workload.name} ({contestant.label})"] = answer["error"]
        return {}


def memory(workloads: Sequence[Workload], forms: Sequence[Form], threads: int, show: Callable[[str], None]) -> Any:
    """The baseline and the peak of each workload, each in a process of its own."""
    found: dict[str, dict[str, Mapping[str, int]]] = {}
    for number, workload in enumerate(workloads):
        show(f"memory, {number + 1} of {len(workloads)}: {workload.name}")
        for form in forms:
            command = form.command(threads, "memory", workload.name)
            run = subprocess.run(command, cwd=ROOT, env=form.environment(threads), text=True, stdout=subprocess.PIPE)
            if run.returncode == 0:
                found.setdefault(workload.name, {})[form.label] = json.loads(run.stdout)
    return found


def is_built_in_place() -> bool:
    """Are there compiled modules beside the sources, which would be imported instead?"""
    return any(found for kind in ("*.so", "*.pyd") for found in SOURCES.rglob(kind))


def all_forms(leafgrad_from: str | None) -> dict[str, Form]:
    """What can be measured here, by label. Without PyTorch, and without other libraries, there is less of it."""
    installed = Form("leafgrad", "leafgrad", str(Path(leafgrad_from).resolve()) if leafgrad_from else None)
    forms = [
        Form("torch", "torch"),
        installed if installed.is_found() else Form("leafgrad", "leafgrad", str(SOURCES)),
        *([] if is_built_in_place() else [Form("plain", "leafgrad", str(SOURCES))]),
        *(Form(name, name) for name in peers.PEERS),
    ]
    return {form.label: form for form in forms if form.is_found()}
