"""leafgrad.optim: what to do with gradients.

May import `_core`, `ops`, `autograd`, `_tensor`, `kernels`, `errors`, `_settings` and `_dtypes`, and `nn` for models
that are averages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafgrad import _missing
from leafgrad.optim import lr_scheduler
from leafgrad.optim.adam import Adam, AdamW
from leafgrad.optim.optimizer import Optimizer
from leafgrad.optim.rmsprop import RMSprop
from leafgrad.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler", "swa_utils"]


if TYPE_CHECKING:
    from leafgrad.optim import swa_utils
else:  # for a type checker, what is not there is a mistake
    __getattr__ = _missing.attributes_of(__name__, {"swa_utils": "swa_utils"})
