"""The C library is asked to keep freed memory, unless the environment forbids it."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import leafgrad
from leafgrad import kernels
from leafgrad.kernels import allocator

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of malloc.h


@pytest.mark.parametrize(("setting", "asked"), [(None, True), ("1", True), ("0", False)])
def test_the_settings_of_malloc(setting: str | None, asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[int, int] = {}

    def mallopt(parameter: int, value: int) -> int:
        told[parameter] = value
        return 1

    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(mallopt=mallopt))
    monkeypatch.delenv("LEAFGRAD_KEEP_MEMORY", raising=False)
    if setting is not None:
        monkeypatch.setenv("LEAFGRAD_KEEP_MEMORY", setting)
    assert allocator.keep_freed_memory() is asked
    settings = {TRIM_THRESHOLD: allocator.KEEP_UP_TO, MMAP_THRESHOLD: allocator.FROM_HEAP_UP_TO}
    assert told == (settings if asked else {})


def test_statistics_tell_what_is_used_and_what_is_kept() -> None:
    before = leafgrad.memory_stats()
    if not before or "asan" in os.environ.get("LD_PRELOAD", ""):  # only glibc's own malloc can tell
        assert before == allocator.statistics()
        return
    x = leafgrad.zeros(1_000_000) + 1
    during = leafgrad.memory_stats()
    assert during["in_use"] - before["in_use"] > 3_900_000
    del x
    assert leafgrad.memory_stats()["in_use"] < during["in_use"] - 3_900_000
    assert during["kept_at_most"] == allocator.KEEP_UP_TO


IN_A_NEW_THREAD = """
import threading, leafgrad, numpy as np
from numpy._core.multiarray import get_handler_name
def look(found):
    leafgrad.ones(1) + 1
    found += [get_handler_name(np.ones(300))]
here, there = [], []
look(here)
thread = threading.Thread(target=look, args=(there,))
thread.start()
thread.join()
print(*here, *there)
"""


def handlers(**environment: str) -> set[str]:
    run = subprocess.run(
        [sys.executable, "-c", IN_A_NEW_THREAD], env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def test_memory_has_another_source_in_every_thread_unless_the_environment_forbids_it() -> None:
    assert handlers(LEAFGRAD_KEEP_MEMORY="1") == {"leafgrad_aligned" if kernels.NATIVE else "default_allocator"}
    assert handlers(LEAFGRAD_KEEP_MEMORY="0") == {"default_allocator"}


def test_arrays_begin_with_a_line_of_the_cache_and_large_ones_with_a_page() -> None:
    for make in (np.empty, np.zeros, lambda n: np.ones(n) + 1):
        for count, aligned in ((128, 64), (1000, 64), (8192, 4096), (1_000_000, 4096)):
            made = [make(count) for _ in range(3)]
            assert [array.ctypes.data % (aligned if kernels.NATIVE else 16) for array in made] == [0, 0, 0]


@pytest.mark.parametrize(
    "sizes", [(3, 500), (500, 3), (500, 20_000), (20_000, 500), (20_000, 1_000_000), (5, 0), (0, 9)]
)
def test_resized_arrays_keep_their_numbers(sizes: tuple[int, int]) -> None:
    array = np.arange(float(sizes[0]))
    array.resize(sizes[1], refcheck=False)
    expected = np.zeros(sizes[1])
    expected[: min(sizes)] = np.arange(float(min(sizes)))
    assert np.array_equal(array, expected)
