"""Modules whose parameters are not initialised."""

from __future__ import annotations

import inspect
from typing import Any

from leafgrad.nn.modules.module import Module
from leafgrad.ops.random.distributions import get_rng_state, set_rng_state

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """skip_init(module_cls, *args, **kwargs): a module that is about to get its values from elsewhere. leafgrad draws
    them nevertheless, without effect on the numbers that are drawn later."""
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    state = get_rng_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        set_rng_state(state)
