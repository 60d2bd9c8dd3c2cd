"""A process that times steps with one library, or measures how much memory they take.

`python -m benchmarks.worker leafgrad 2` answers the requests of rounds.py, one line of JSON each; with `memory NAME`
behind it, it prints the baseline and the peak of one workload, in bytes.
"""

from __future__ import annotations

import importlib
import json
import signal
import sys
import time
import traceback
from typing import Any, TextIO

from benchmarks import peers
from benchmarks.operations import OPERATIONS
from benchmarks.survey import SURVEY
from benchmarks.workload import Step, training_step
from benchmarks.workloads import WORKLOADS

QUIET = 0.004  # seconds during which a quiet process uses hardly any processor time
LONGEST_WAIT = 1.0  # for that
MEMORY_STEPS = 5


def step_for(library: Any, name: str, rival: str | None) -> Step:
    """Build a workload, in the usual form of it or in another one."""
    if isinstance(library, peers.Peer):
        return library.step(name)
    chosen = {**WORKLOADS, **OPERATIONS, **SURVEY}[name]
    return chosen.make(library, **chosen.size, **(chosen.rivals[rival] if rival else {}))


def settle() -> None:
    """Wait until this process's threads have gone to sleep. OpenBLAS's spin for a tenth of a second after a product:
    without this the next library would be timed while they occupy a core."""
    end = time.perf_counter() + LONGEST_WAIT
    while time.perf_counter() < end:
        before = time.process_time()
        time.sleep(QUIET)
        if time.process_time() - before < QUIET / 4:
            return


def turn(step: Step, count: int) -> float:
    """Seconds of one of `count` steps."""
    start = time.perf_counter()
    for _ in range(count):
        step()
    return (time.perf_counter() - start) / count


def prepared(step: Step, seconds: float) -> int:
    """Warm up, and find out how many steps fit into a turn."""
    once = turn(step, 1)
    if once >= seconds:  # modules were loaded, perhaps, which would make it look like a long step
        once = turn(step, 1)
    if once < seconds:
        once = min(turn(step, max(1, int(seconds / 4 / once))), once)
    return max(1, int(seconds / once))


def serve(library: Any, answers: TextIO) -> None:
    """A request with a name prepares that workload, one without times a turn of it. A rival is another form of it."""
    current = ""
    steps: dict[str | None, tuple[Step, int]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        name, rival = request.get("name"), request["rival"]
        answer: dict[str, Any] = {}
        try:
            if name is None:
                answer["seconds"] = [turn(*steps[rival])]
            else:
                if name != current:
                    steps.clear()  # lets go of the workload before
                current = name
                step = step_for(library, name, rival)
                steps[rival] = step, prepared(step, request["seconds"])
                answer["steps"] = steps[rival][1]
        except Exception:
            answer["error"] = traceback.format_exc(limit=-3)
        settle()
        print(json.dumps(answer), file=answers, flush=True)


def peak_bytes() -> int:
    """The most memory that this process ever had."""
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def memory(library: Any, name: str, answers: TextIO) -> None:
    """The baseline is that of a library which has trained: parts of them are loaded at the first backward or update."""
    weight = library.ones(1, requires_grad=True)
    training_step(library, lambda: (weight * weight).sum(), [weight])()
    baseline = peak_bytes()
    step = step_for(library, name, None)
    for _ in range(MEMORY_STEPS):
        step()
    print(json.dumps({"baseline": baseline, "peak": peak_bytes()}), file=answers, flush=True)


def load(module: str, threads: int) -> tuple[Any, str]:
    """The library, and what it says of itself."""
    if module in peers.PEERS:
        return peers.load(module, threads), peers.version(module)
    library = importlib.import_module(module)
    library.set_num_threads(threads)
    version = str(library.__version__)
    if module == "leafgrad":
        version += " (compiled)" if "hot modules: compiled" in library.show_config() else " (plain Python)"
    return library, version


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it closes its input, which is the end
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever a library prints is no answer
    library, version = load(sys.argv[1], int(sys.argv[2]))
    if sys.argv[3:]:
        memory(library, sys.argv[4], answers)
    else:
        print(json.dumps({"version": version}), file=answers, flush=True)
        serve(library, answers)


if __name__ == "__main__":
    main()
