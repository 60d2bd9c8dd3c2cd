"""leafgrad.optim: what to do with gradients.

May import `_core`, `kernels`, `ops`, `autograd`, `_tensor`, `errors`, `_dtypes` and `_settings`.
"""

from __future__ import annotations

from typing import Any

from leafgrad.optim import lr_scheduler
from leafgrad.optim.adam import Adam, AdamW
from leafgrad.optim.optimizer import Optimizer
from leafgrad.optim.rmsprop import RMSprop
from leafgrad.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]


def __getattr__(name: str) -> Any:
    from leafgrad._missing import missing_attribute

    raise missing_attribute(__name__, name)
