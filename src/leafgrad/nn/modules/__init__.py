"""leafgrad.nn.modules: the layers, under the paths that PyTorch has for them.

May import what `nn` may.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from leafgrad.nn.modules import module as module
from leafgrad.nn.modules.module import Module as Module

if TYPE_CHECKING:
    from leafgrad.nn import *  # noqa: F403

else:
    from leafgrad.nn.modules import utils  # not leafgrad.nn.utils

    def __getattr__(name: str) -> Any:
        from leafgrad import nn

        if name.islower() and find_spec(f"{__name__}.{name}") is not None:  # nn.modules.batchnorm, ..., of layers
            return import_module(f"{__name__}.{name}")
        return getattr(nn, name)
