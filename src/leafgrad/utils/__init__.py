"""leafgrad.utils: checkpointing, data loaders, and helpers for hooks. Each part is imported when it is first asked for.

May import `_absent`, `_core`, `_device`, `_files`, `_tensor`, `amp`, `ops`, `overrides`, `autograd`, `errors`, `func`,
`_dtypes` and `_settings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafgrad import _missing

__all__ = ["checkpoint", "data", "dlpack", "hooks"]


if TYPE_CHECKING:
    from leafgrad.utils import checkpoint as checkpoint
    from leafgrad.utils import data as data
    from leafgrad.utils import dlpack as dlpack
    from leafgrad.utils import hooks as hooks

else:
    PARTS = [
        *__all__, "_contextlib", "_device", "_foreach_utils", "_mode_utils", "_python_dispatch", "_pytree", "benchmark",
        "collect_env", "cpp_extension", "deterministic",
        "flop_counter", "mobile_optimizer", "model_zoo", "module_tracker", "serialization", "tensorboard", "weak",
    ]  # fmt: skip
    __getattr__ = _missing.attributes_of(__name__, {name: name for name in PARTS} | {"swap_tensors": "swapping"})
