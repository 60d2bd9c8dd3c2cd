"""leafgrad.nn: models are made of modules, modules have parameters.

May import `_core`, `ops`, `autograd`, `_tensor`, `errors`, `_dtypes`, `_device` and `_settings`; inside functions also
`utils`, for the backward hooks of modules, and `leafgrad`, for a function by its public name.
"""

from __future__ import annotations

from typing import Any

from leafgrad.nn import functional, init, utils
from leafgrad.nn import parameter as parameter
from leafgrad.nn.modules.activation import LogSoftmax, ReLU, Sigmoid, Softmax, Tanh
from leafgrad.nn.modules.container import ModuleDict, ModuleList, Sequential
from leafgrad.nn.modules.linear import Dropout, Flatten, Identity, Linear
from leafgrad.nn.modules.loss import CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from leafgrad.nn.modules.module import Module
from leafgrad.nn.modules.parameter_container import ParameterDict, ParameterList
from leafgrad.nn.parameter import Buffer, Parameter

__all__ = [
    "functional", "init", "utils",
    "Module", "Parameter", "Buffer",
    "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict",
    "Linear", "Identity", "Flatten", "Dropout",
    "ReLU", "Tanh", "Sigmoid", "Softmax", "LogSoftmax",
    "MSELoss", "L1Loss", "NLLLoss", "CrossEntropyLoss",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "modules":  # imported when it is first asked for
        from importlib import import_module

        return import_module("leafgrad.nn.modules")
    from leafgrad._missing import missing_attribute

    raise missing_attribute(__name__, name)
