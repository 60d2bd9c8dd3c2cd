"""Hypothesis tries the same examples in every run: a test that fails, fails again when somebody looks. Tests of what
only the compiled form has are for that form."""

from __future__ import annotations

import gc
from importlib.util import find_spec

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, database=None)
settings.load_profile("repeatable")

collect_ignore = [] if find_spec("leafgrad.kernels._random") else ["kernels/test_random_native.py"]


def pytest_collection_finish() -> None:
    """Takes the thousands of collected tests out of the garbage collector's sight: a test that calls gc.collect() would
    look through all of them each time."""
    gc.collect()
    gc.freeze()
