"""One number for what several processes measured, how far they disagree, and whether the machine was busy meanwhile."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

NOISY = 0.10  # a spread above this is named below the table
BUSY = 0.15  # cores that other programs may use before that is named as well
STATISTICS = Path("/proc/stat")  # Linux counts the time of all processes there


def spread(times: Sequence[float]) -> float:
    """Half of the distance between the fastest and the slowest process, as a part of their median."""
    return (max(times) - min(times)) / 2 / statistics.median(times)


def shown(times: Sequence[float]) -> str:
    return f"{statistics.median(times):,.1f} ± {spread(times):.0%}"


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


def remarks(times: Mapping[tuple[str, str], Sequence[float]], others: float) -> Iterator[str]:
    """What a reader must know of the table: how its numbers were made, and whether to trust them."""
    count = min(map(len, times.values()))
    yield f"Median of {count} processes; ± is half the distance between the fastest and the slowest of them."
    if count < 3:
        yield "NOT TO BE QUOTED: fewer than 3 processes show no spread (--starts)."
    if others > BUSY:
        yield f"NOT TO BE QUOTED: the machine was busy, other programs used {others:.1f} cores meanwhile."
    noisy = [f"{name} ({label}, ± {spread(own):.0%})" for (label, name), own in times.items() if spread(own) > NOISY]
    if noisy:
        yield f"NOT TO BE QUOTED, because the processes disagree: {'; '.join(noisy)}."
