"""The C library is asked to keep freed memory, unless the environment forbids it."""

from __future__ import annotations

import ctypes
import os
import sys
from types import SimpleNamespace

import pytest

import leafgrad
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
