"""What was measured, and what follows from it: ratios, means, and whether the numbers are to be trusted."""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.rounds import Times

NOISY = 0.10  # a spread above this is named
BUSY = 0.15  # cores that other programs may use before that is named as well
STATISTICS = Path("/proc/stat")  # Linux counts the time of all processes there


@dataclass
class Results:
    """A run of the benchmarks; the fields are those of the JSON file. Times are in seconds."""

    date: str
    machine: dict[str, str]
    threads: int
    plan: dict[str, float]
    others: float = 0.0  # cores that other programs used meanwhile
    took: float = 0.0
    whole: bool = False  # everything was measured, and not in a hurry
    versions: dict[str, str] = field(default_factory=dict)
    times: Times = field(default_factory=dict)
    memory: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    imports: dict[str, list[float]] = field(default_factory=dict)
    sizes: dict[str, dict[str, int]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    # -- times --

    def rounds(self, name: str, form: str) -> list[float]:
        return [seconds for start in self.times.get(name, {}).get(form, ()) for seconds in start]

    def best(self, name: str, form: str) -> float | None:
        return min(self.rounds(name, form), default=None)

    def ratio(self, name: str, form: str = "leafgrad", theirs: str = "torch") -> float | None:
        """PyTorch's best time divided by ours: above 1 we are faster."""
        own, other = self.best(name, form), self.best(name, theirs)
        return other / own if own and other else None

    def ratios(self, names: Iterable[str], form: str = "leafgrad") -> dict[str, float]:
        found = {name: self.ratio(name, form) for name in names}
        return {name: ratio for name, ratio in found.items() if ratio is not None}

    def quartiles(self, name: str, form: str = "leafgrad") -> tuple[float, float, float] | None:
        """Of the ratios of single rounds, in which the libraries were timed right after each other."""
        starts = zip(self.times[name].get("torch", ()), self.times[name].get(form, ()), strict=False)
        pairs = [theirs / own for one, other in starts for theirs, own in zip(one, other, strict=False)]
        if len(pairs) < 2:
            return None
        low, middle, high = statistics.quantiles(pairs, n=4, method="inclusive")
        return low, middle, high

    def fastest_rival(self, name: str) -> tuple[str, float] | None:
        """PyTorch's fastest form, and the ratio to it."""
        own = self.best(name, "leafgrad")
        forms = [form for form in self.times[name] if form.startswith("torch")]
        times = {form: best for form in forms if (best := self.best(name, form)) is not None}
        if not own or not times:
            return None
        fastest = min(times, key=lambda form: times[form])
        return fastest.removeprefix("torch").strip() or "default", times[fastest] / own

    def noisy(self) -> dict[str, float]:
        """Workloads whose rounds disagree: half of the distance between the quartiles, as a part of the median."""
        found = {}
        for name in self.times:
            quartiles = self.quartiles(name)
            if quartiles and (spread := (quartiles[2] - quartiles[0]) / 2 / quartiles[1]) > NOISY:
                found[name] = spread
        return found

    def broken(self) -> dict[str, str]:
        """What failed in the two libraries that are compared. Another one may lack something on this machine."""
        own = ("torch", "leafgrad", "plain")
        return {name: error for name, error in self.failures.items() if name.split("(")[-1].startswith(own)}

    @property
    def busy(self) -> bool:
        return self.others > BUSY

    # -- the file --

    def write(self, file: Path) -> None:
        """One line for each workload, so that two runs can be compared line by line."""
        file.parent.mkdir(parents=True, exist_ok=True)
        fields = []
        for key, value in rounded(asdict(self)).items():
            if isinstance(value, dict) and value:
                lines = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items()]
                fields.append(f" {json.dumps(key)}: {{\n" + ",\n".join(lines) + "\n }")
            else:
                fields.append(f" {json.dumps(key)}: {json.dumps(value)}")
        file.write_text("{\n" + ",\n".join(fields) + "\n}\n", encoding="utf-8")

    @staticmethod
    def read(file: Path) -> Results:
        return Results(**json.loads(file.read_text(encoding="utf-8")))


def rounded(value: Any) -> Any:
    """Four digits are more than the times are worth."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, Mapping):
        return {key: rounded(entry) for key, entry in value.items()}
    return [rounded(entry) for entry in value] if isinstance(value, list) else value


def geometric_mean(ratios: Iterable[float]) -> float | None:
    logarithms = [math.log(ratio) for ratio in ratios]
    return math.exp(statistics.fmean(logarithms)) if logarithms else None


def ahead(ratios: Sequence[float]) -> int:
    return len([ratio for ratio in ratios if ratio > 1])


# -- the machine --


def machine() -> dict[str, str]:
    """What the numbers depend on."""
    from importlib.metadata import version

    processor = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        processor = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {
        "processor": processor,
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "NumPy": version("numpy"),
    }


def busy_seconds() -> float | None:
    """Processor time of all programs since the machine started, without waiting; None where nobody counts it."""
    try:
        first = STATISTICS.read_text().split("\n", 1)[0].split()
    except OSError:
        return None
    user, nice, system, _idle, _iowait, irq, softirq, *_ = map(int, first[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Processor time of this process and of the children that have ended."""
    now = os.times()
    return now.user + now.system + now.children_user + now.children_system


class Others:
    """How many cores other programs used, from now on until somebody asks."""

    def __init__(self) -> None:
        self.load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        self.start = (time.monotonic(), busy_seconds(), own_seconds())

    def cores(self) -> float:
        """Where the machine does not count, the load average of the minute before stands for it."""
        began, busy, own = self.start
        now = busy_seconds()
        if busy is None or now is None:
            return self.load
        return max(0.0, (now - busy - (own_seconds() - own)) / max(time.monotonic() - began, 1e-9))
