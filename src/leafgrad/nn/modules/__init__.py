"""leafgrad.nn.modules: the layers, under the paths that PyTorch has for them.

May import what `nn` may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafgrad.nn.modules import module as module
from leafgrad.nn.modules.module import Module as Module

if TYPE_CHECKING:
    from leafgrad.nn import *  # noqa: F403

else:
    from leafgrad.nn.modules import utils  # not leafgrad.nn.utils

    def __getattr__(name: str) -> Any:
        from leafgrad import nn

        return getattr(nn, name)
