"""Freed memory is kept for the next array, unless the environment forbids it."""

from __future__ import annotations

import ctypes
import math
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import leafgrad
from leafgrad import kernels
from leafgrad.kernels import allocator

if kernels.NATIVE:
    from leafgrad.kernels import _loops

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
    assert during["kept_at_most"] == allocator.KEEP_UP_TO * (2 if kernels.NATIVE else 1)


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


OWN_MEMORY = pytest.mark.skipif(
    not (kernels.NATIVE and sys.platform.startswith("linux")) or "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="large arrays have the C library's memory here",
)


class Arrays:
    """Arrays of random sizes, each full of a number of its own, which must stay there as long as the array lives."""

    def __init__(self, seed: int, largest: int) -> None:
        leafgrad.ones(1) + 1  # has this thread's arrays use leafgrad's memory
        self.random = random.Random(seed)
        self.largest = largest
        self.alive: list[tuple[np.ndarray, int]] = []

    def size(self) -> int:
        """Bytes: small, around the limit of what is large, and much larger, also whole pages and nearly so."""
        exponent = self.random.uniform(12.1, math.log2(self.largest))
        return int(2**exponent) // 4096 * 4096 + self.random.choice((0, 0, -1, 1, 4000))

    def change(self) -> None:
        pick, marked = self.random.randrange(6), self.random.randrange(1, 256)
        if pick < 2 and self.alive:
            array, mark = self.alive.pop(self.random.randrange(len(self.alive)))
            assert array.min() == array.max() == mark
        elif pick == 2:
            array = np.zeros(self.size(), np.uint8)
            assert not array.any()
            array.fill(marked)
            self.alive.append((array, marked))
        elif pick == 3 and self.alive:
            array, mark = self.alive.pop()
            kept, size = array.size, self.size()
            array.resize(size, refcheck=False)
            assert array[:kept].min() == array[:kept].max() == mark and not array[kept:].any()
            array.fill(mark)
            self.alive.append((array, mark))
        else:
            self.alive.append((np.full(self.size(), marked, np.uint8), marked))

    def check(self) -> None:
        spans = sorted((array.ctypes.data, array.size) for array, _ in self.alive)
        assert all(start + size <= after for (start, size), (after, _) in pairwise(spans))
        assert all(array.min() == array.max() == mark for array, mark in self.alive)


@pytest.mark.parametrize("seed", range(6))
def test_no_array_is_given_memory_that_another_one_shows(seed: int) -> None:
    arrays = Arrays(seed, largest=1 << 23)
    for step in range(300):
        arrays.change()
        while len(arrays.alive) > 12:
            arrays.alive.pop(0)
        if step % 20 == 0:
            arrays.check()
    arrays.check()


def test_no_array_of_another_thread_either() -> None:
    def work(seed: int) -> None:
        arrays = Arrays(seed, largest=1 << 21)
        for _ in range(200):
            arrays.change()
        arrays.check()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))


@OWN_MEMORY
def test_large_arrays_are_counted_and_their_memory_is_used_again() -> None:
    leafgrad.ones(1) + 1
    in_use = _loops.large_arrays()[0]
    first = np.empty(1 << 22, np.uint8)
    first.fill(7)
    address, used = first.ctypes.data, _loops.large_arrays()[0]
    assert (1 << 22) <= used - in_use < (1 << 22) + 3 * 4096
    del first
    assert _loops.large_arrays()[0] == in_use
    second = np.zeros(1 << 22, np.uint8)
    assert second.ctypes.data == address and not second.any()


@OWN_MEMORY
def test_few_arrays_take_no_huge_page() -> None:
    """A huge page is two megabytes. Three arrays of 400 kB, and room for their page tables:"""
    program = """
import leafgrad, numpy, resource
leafgrad.ones(1) + 1
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
before = resident()
arrays = [numpy.ones(100_000, numpy.float32) for _ in range(3)]
print(resident() - before)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([path for path in sys.path if path])}
    run = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True)
    assert int(run.stdout) < 1_700_000


@OWN_MEMORY
def test_what_is_more_than_may_be_kept_goes_back_to_the_system() -> None:
    leafgrad.ones(1) + 1
    most = _loops.large_arrays()[2]
    large = [np.ones(most // 4, np.uint8) for _ in range(6)]
    del large
    assert most - (most >> 4) <= _loops.large_arrays()[1] <= most
    assert not np.zeros(most * 3 // 2, np.uint8).any()


@OWN_MEMORY
def test_a_forked_process_has_the_arrays_and_can_make_others() -> None:
    arrays = Arrays(0, largest=1 << 22)
    for _ in range(50):
        arrays.change()
    child = os.fork()
    if child == 0:
        try:
            for _ in range(50):
                arrays.change()
            arrays.check()
        except BaseException:
            os._exit(1)
        os._exit(0)
    for _ in range(50):
        arrays.change()
    assert os.waitpid(child, 0)[1] == 0
    arrays.check()
