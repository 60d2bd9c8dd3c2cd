"""leafgrad.optim: what to do with gradients.

May import `_core`, `ops`, `autograd`, `_tensor`, `kernels`, `errors`, `_settings` and `_dtypes`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafgrad import _missing
from leafgrad.optim import lr_scheduler
from leafgrad.optim.adam import Adam, AdamW
from leafgrad.optim.optimizer import Optimizer
from leafgrad.optim.rmsprop import RMSprop
from leafgrad.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]


if not TYPE_CHECKING:  # for which what is not there is a mistake
    __getattr__ = _missing.attributes_of(__name__)
