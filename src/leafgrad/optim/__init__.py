"""leafgrad.optim: optimisers, which update parameters by their gradients.

May import `_core`, `ops`, `autograd`, `_tensor`, `kernels`, `errors`, `_settings` and `_dtypes`, and `nn` for models
that are averages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafgrad import _missing
from leafgrad.optim import lr_scheduler
from leafgrad.optim.adadelta import Adadelta
from leafgrad.optim.adafactor import Adafactor
from leafgrad.optim.adagrad import Adagrad
from leafgrad.optim.adam import Adam
from leafgrad.optim.adamax import Adamax
from leafgrad.optim.adamw import AdamW
from leafgrad.optim.asgd import ASGD
from leafgrad.optim.lbfgs import LBFGS
from leafgrad.optim.muon import Muon
from leafgrad.optim.nadam import NAdam
from leafgrad.optim.optimizer import Optimizer
from leafgrad.optim.radam import RAdam
from leafgrad.optim.rmsprop import RMSprop
from leafgrad.optim.rprop import Rprop
from leafgrad.optim.sgd import SGD
from leafgrad.optim.sparse_adam import SparseAdam

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "Optimizer",
    "RAdam", "RMSprop", "Rprop", "SGD", "SparseAdam", "lr_scheduler", "swa_utils",
]  # fmt: skip


if TYPE_CHECKING:
    from leafgrad.optim import swa_utils
else:  # for a type checker, what is not there is a mistake
    LATER = {"swa_utils": "swa_utils", "swap_in_optimizer_params_and_state": "swap_in"}
    __getattr__ = _missing.attributes_of(__name__, LATER)
