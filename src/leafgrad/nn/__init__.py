"""leafgrad.nn: models are made of modules, modules have parameters.

May import `_core`, `ops`, `autograd`, `_tensor`, `errors`, `_settings`, `_dtypes` and `_device`; inside functions also
`utils`, for the backward hooks of modules, and `leafgrad`, for a function by its public name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafgrad import _missing
from leafgrad.nn import functional, init, utils
from leafgrad.nn import parameter as parameter
from leafgrad.nn.modules.activation import LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from leafgrad.nn.modules.container import DataParallel, ModuleDict, ModuleList, Sequential
from leafgrad.nn.modules.linear import Dropout, Flatten, Identity, Linear
from leafgrad.nn.modules.loss import CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from leafgrad.nn.modules.module import Module
from leafgrad.nn.modules.parameter_container import ParameterDict, ParameterList
from leafgrad.nn.parameter import Buffer, Parameter

__all__ = [
    "functional", "init", "utils",
    "Module", "Parameter", "Buffer",
    "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "DataParallel",
    "Linear", "Identity", "Flatten", "Dropout",
    "ReLU", "Tanh", "Sigmoid", "Softmax", "LogSoftmax",
    "MSELoss", "L1Loss", "NLLLoss", "CrossEntropyLoss",
]  # fmt: skip


if TYPE_CHECKING:
    from leafgrad.nn import modules as modules

else:
    __getattr__ = _missing.attributes_of(__name__, {"modules": "modules"})
