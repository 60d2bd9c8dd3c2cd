"""Hypothesis tries the same examples in every run: a test that fails, fails again when somebody looks."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, database=None)
settings.load_profile("repeatable")
