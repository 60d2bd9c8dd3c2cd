"""leafgrad.utils: checkpointing, and helpers for hooks. Each part is imported when it is first asked for.

May import `_core`, `ops`, `autograd`, `errors` and `_dtypes`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["checkpoint", "hooks"]


if TYPE_CHECKING:
    from leafgrad.utils import checkpoint as checkpoint
    from leafgrad.utils import hooks as hooks

else:

    def __getattr__(name: str) -> Any:
        if name in __all__:
            return importlib.import_module(f"leafgrad.utils.{name}")
        from leafgrad._missing import missing_attribute

        raise missing_attribute(__name__, name)
