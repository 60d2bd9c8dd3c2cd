"""leafgrad.utils: checkpointing, data loaders, and helpers for hooks. Each part is imported when it is first asked for.

May import `_core`, `ops`, `autograd`, `errors` and `_dtypes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafgrad import _missing

__all__ = ["checkpoint", "data", "hooks"]


if TYPE_CHECKING:
    from leafgrad.utils import checkpoint as checkpoint
    from leafgrad.utils import data as data
    from leafgrad.utils import hooks as hooks

else:
    __getattr__ = _missing.attributes_of(__name__, {name: name for name in __all__})
