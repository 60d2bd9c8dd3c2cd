"""torch.utils.benchmark: how long a statement takes."""

from __future__ import annotations

import statistics
import sys
import timeit as python_timeit
from typing import Any

from leafgrad import _missing
from leafgrad._settings import get_num_threads, set_num_threads

__all__ = ["Measurement", "Timer"]


class Measurement:
    """Measurement(number_per_run, raw_times): the times of several runs of a statement, in seconds."""

    def __init__(self, number_per_run: int, raw_times: list[float], stmt: str, label: str | None) -> None:
        self.number_per_run = number_per_run
        self.raw_times = raw_times
        self.stmt = stmt
        self.label = label

    @property
    def times(self) -> list[float]:
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.times)

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def iqr(self) -> float:
        if len(self.times) < 2:
            return 0.0
        first, _, third = statistics.quantiles(self.times, method="inclusive")
        return third - first

    def __repr__(self) -> str:
        scales = (("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9))
        unit, factor = next((unit, f) for unit, f in scales if self.median * f >= 1 or unit == "ns")
        runs = f"{len(self.raw_times)} measurement{'s' if len(self.raw_times) > 1 else ''}"
        return (
            f"<leafgrad.utils.benchmark.Measurement object>\n{self.label or self.stmt}\n"
            f"  Median: {self.median * factor:.2f} {unit}\n"
            f"  IQR:    {self.iqr * factor:.2f} {unit}\n"
            f"  {runs}, {self.number_per_run} runs per measurement"
        )


class Timer:
    """Timer(stmt="pass", setup="pass", timer=perf_counter, globals=None, label=None, num_threads=1): measures a
    statement."""

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        timer: Any = python_timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        num_threads: int = 1,
    ) -> None:
        self.stmt = stmt
        self.label = ", ".join([part for part in (label, sub_label, description) if part]) or None
        self.num_threads = num_threads
        self._timer = python_timeit.Timer(stmt, setup, timer, {"torch": sys.modules["leafgrad"], **(globals or {})})

    def _run(self, number: int) -> float:
        before = get_num_threads()
        set_num_threads(self.num_threads)
        try:
            return self._timer.timeit(number)
        finally:
            set_num_threads(before)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """timeit(number=1000000): the time of that many runs, after a short warm-up."""
        self._run(max(number // 100, 2))
        return Measurement(number, [self._run(number)], self.stmt, self.label)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """blocked_autorange(callback=None, min_run_time=0.2): as many runs as fill the time, in blocks that are long
        enough to be measured."""
        number = 1
        while (taken := self._run(number)) < min_run_time / 1000:
            number *= 10
        times = [taken]
        while sum(times) < min_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self.stmt, self.label)


__getattr__ = _missing.attributes_of(__name__)
