"""The C library is asked to keep freed memory, unless the environment forbids it."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace

import pytest

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
