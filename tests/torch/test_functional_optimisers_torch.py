"""Optimisers as functions: PyTorch's parameters, in PyTorch's order."""

import importlib
import inspect

import pytest

torch = pytest.importorskip("torch")

NAMES = ["adadelta", "adagrad", "adam", "adamax", "adamw", "asgd", "nadam", "radam", "rmsprop", "rprop", "sgd"]


@pytest.mark.parametrize("name", NAMES)
def test_the_parameters_are_pytorchs(name):
    shown = []
    for package in ("leafgrad", "torch"):
        function = getattr(importlib.import_module(f"{package}.optim.{name}"), name)
        assert getattr(importlib.import_module(f"{package}.optim._functional"), name) is function
        parameters = inspect.signature(function).parameters.values()
        shown.append([(p.name, p.kind, p.default) for p in parameters])
    assert shown[0] == shown[1]
