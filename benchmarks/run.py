"""leafgrad against PyTorch, side by side: `python benchmarks/run.py` (PyTorch must be installed beside it).

Each library runs in a process of its own. The processes take turns, round after round, so that whatever else the
machine does hits all of them. They are started anew a few times, because a process keeps the pages it was given, and
some lie so badly in the caches that arrays of some sizes take twice as long. Of a process its best round counts, and of
the processes their median; noise.py says how far they disagree, and whether the machine was busy. Forms: PyTorch,
leafgrad as installed (compiled if it was), and leafgrad in plain Python, from the sources in src/.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from noise import Others, remarks, shown
from operations import OPERATIONS
from workloads import WORKLOADS, Workloads

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent / "src"
# Seconds between turns. OpenBLAS's threads go on spinning for a tenth of a second after their last product, PyTorch's
# for a hundredth: without a pause each library would be timed while the other one's threads occupy cores.
PAUSE = 0.15


def worker(module: str, threads: int, workloads: Workloads) -> None:
    """Answer on standard output, for each workload named on standard input, how many microseconds a step takes."""
    library = importlib.import_module(module)
    if threads:
        library.set_num_threads(threads)
    steps: dict[str, Any] = {}
    form = library.show_config() if module == "leafgrad" else f"torch {library.__version__}"
    print(json.dumps(form), flush=True)
    for line in sys.stdin:
        name = json.loads(line)
        make, arguments, count = workloads[name]
        if name not in steps:
            steps[name] = make(library, *arguments)
            steps[name]()
        step = steps[name]
        start = time.perf_counter()
        for _ in range(count):
            step()
        print(json.dumps((time.perf_counter() - start) / count * 1e6), flush=True)


def clean_environment(path: str | None) -> dict[str, str]:
    """The environment for a process that finds leafgrad in `path`, or where it is installed."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
    return {**environment, "PYTHONPATH": path} if path else environment


def is_found(module: str, path: str | None) -> bool:
    """Can a process import this?"""
    looking = [sys.executable, "-c", f"import sys, importlib.util as u; sys.exit(u.find_spec({module!r}) is None)"]
    return subprocess.run(looking, env=clean_environment(path)).returncode == 0


class Runner:
    """A process that times workloads with one library."""

    def __init__(self, script: str, module: str, path: str | None, threads: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, script, "--worker", module, "--threads", str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean_environment(path),
        )  # fmt: skip
        self.form = self._answer()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a benchmark process died; its error is above")
        return json.loads(line)

    def time(self, name: str) -> float:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(name) + "\n")
        self.process.stdin.flush()
        return float(self._answer())

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def arguments(description: str | None) -> argparse.ArgumentParser:
    """What every comparison can be told."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--starts", type=int, default=5, help="how often the processes are started anew (default 5)")
    parser.add_argument("--rounds", type=int, default=8, help="how often they take turns each time (default 8)")
    parser.add_argument("--only", default="", help="only workloads whose name contains this")
    parser.add_argument("--threads", type=int, default=0, help="set_num_threads(...) in both libraries")
    parser.add_argument("--compiled-from", default=None, help="where the compiled leafgrad is, if it is not installed")
    return parser


def compare(script: str, workloads: Workloads, options: argparse.Namespace) -> None:
    """Time the workloads with each library, in processes that run `script`, and print a table."""
    names = [name for name in workloads if options.only in name]
    forms = {
        "PyTorch": ("torch", None),
        "compiled": ("leafgrad", options.compiled_from),
        "plain": ("leafgrad", str(SOURCES)),
    }
    if not is_found(*forms["compiled"]):
        print("leafgrad is not installed: its plain form alone is compared", file=sys.stderr)
        del forms["compiled"]
    times: dict[tuple[str, str], list[float]] = {(label, name): [] for label in forms for name in names}
    others = Others()
    for part in range(options.starts):
        runners = {label: Runner(script, *form, options.threads) for label, form in forms.items()}
        if part == 0:
            for label, runner in runners.items():
                print(f"{label}: {runner.form}", file=sys.stderr)
        for name in names:
            progress = f"start {part + 1} of {options.starts}, {name}"
            print(f"\r{progress:60}", end="", file=sys.stderr, flush=True)
            best = dict.fromkeys(forms, float("inf"))
            for _ in range(options.rounds):
                for label, runner in runners.items():
                    time.sleep(PAUSE)
                    best[label] = min(best[label], runner.time(name))
            for label, microseconds in best.items():
                times[label, name].append(microseconds)
        for runner in runners.values():
            runner.stop()
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    print(*table(names, list(forms)[1:], times), "", *remarks(times, others.cores()), sep="\n")


def table(names: Sequence[str], own: Sequence[str], times: Mapping[tuple[str, str], Sequence[float]]) -> Iterator[str]:
    """The lines of a table with the medians: PyTorch's, and those of leafgrad's own forms with the ratio to it."""
    yield "| workload | PyTorch, us |" + "".join([f" leafgrad {label}, us | ratio |" for label in own])
    yield "|---|---|" + "---|---|" * len(own)
    for name in names:
        theirs = times["PyTorch", name]
        row = [name, shown(theirs)]
        for label in own:
            ours = times[label, name]
            row += [shown(ours), f"{statistics.median(theirs) / statistics.median(ours):.2f}"]
        yield "| " + " | ".join(row) + " |"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--operations", action="store_true", help="single operations instead of the workloads")
    options = parser.parse_args()
    if options.worker:
        worker(options.worker, options.threads, {**WORKLOADS, **OPERATIONS})
    else:
        compare(__file__, OPERATIONS if options.operations else WORKLOADS, options)


if __name__ == "__main__":
    main()
