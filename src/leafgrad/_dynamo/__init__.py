"""torch._dynamo, for the settings of torch.compile that programs change: they can be set, and nothing is compiled.

May import `_absent`, `_missing` and `compiler`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from leafgrad import _absent, _missing
from leafgrad.compiler import allow_in_graph, assume_constant_result, disable, same

__all__ = ["allow_in_graph", "assume_constant_result", "config", "disable"]


class Config(SimpleNamespace):
    """Settings that can be changed for a while."""

    @contextmanager
    def patch(self, changes: dict[str, Any] | str | None = None, value: Any = None, **more: Any) -> Iterator[None]:
        """patch({"verbose": True}), patch("verbose", True) or patch(verbose=True): in a `with` block, or as a
        decorator."""
        named = {changes: value} if isinstance(changes, str) else (changes or {})
        before = vars(self).copy()
        vars(self).update(named, **more)
        try:
            yield
        finally:
            vars(self).clear()
            vars(self).update(before)


config = Config(suppress_errors=False, verbose=False, cache_size_limit=8, recompile_limit=8)
globals().update(
    _absent.answers(
        __name__, reset=None, is_compiling=False, optimize=same, mark_dynamic=None, maybe_mark_dynamic=None,
        mark_static=None, mark_static_address=None, graph_break=None,
    )
)  # fmt: skip

__getattr__ = _missing.attributes_of(
    __name__, {"OptimizedModule": "eval_frame", "eval_frame": "eval_frame", "exc": "exc", "utils": "utils"}
)
