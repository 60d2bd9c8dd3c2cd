"""torch.__future__: how a module replaces its parameters when it is converted."""

from __future__ import annotations

from leafgrad.nn.modules._conversion import (
    get_overwrite_module_params_on_conversion,
    get_swap_module_params_on_conversion,
    set_overwrite_module_params_on_conversion,
    set_swap_module_params_on_conversion,
)

__all__ = [
    "get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion", "set_swap_module_params_on_conversion",
]  # fmt: skip
