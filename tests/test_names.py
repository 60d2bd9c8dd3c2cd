"""Public names: those that are missing are explained, and functions can be pickled by theirs."""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Iterator
from importlib import import_module
from operator import attrgetter
from typing import Any

import pytest

import leafgrad as torch
from leafgrad._missing import torch_names
from leafgrad.ops import names

# what a program asks for, and what is said of it
SPELLED_WRONG = [
    ("matmull", "torch.matmull: did you mean torch.matmul?"),
    ("nn.Liner", "torch.nn.Liner: did you mean torch.nn.Linear?"),
    ("nn.Conv2D", "torch.nn.Conv2D: did you mean torch.nn.Conv2d?"),
    ("nn.functional.crossentropy", "torch.nn.functional.crossentropy: did you mean torch.nn.functional.cross_entropy?"),
    ("optim.Addam", "torch.optim.Addam: did you mean torch.optim.Adam?"),
    ("optim.lr_scheduler.StepLr", "torch.optim.lr_scheduler.StepLr: did you mean torch.optim.lr_scheduler.StepLR?"),
    ("Tensor.unsqeeze", "torch.Tensor.unsqeeze: did you mean torch.Tensor.unsqueeze?"),
    ("zzzzzz", "leafgrad does not have torch.zzzzzz, and neither has PyTorch."),
    ("to_dlpackk", "torch.to_dlpackk: did you mean torch.to_dlpack?"),
    ("quantize_per_channel", "leafgrad does not have torch.quantize_per_channel (yet)."),
]


@pytest.mark.parametrize(("name", "told"), SPELLED_WRONG)
def test_a_name_that_is_missing_is_explained(name: str, told: str) -> None:
    with pytest.raises(AttributeError) as caught:
        attrgetter(name)(torch)
    assert str(caught.value).splitlines()[1].startswith(told)


def test_a_method_that_is_missing_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for tensor, kind in ((torch.ones(2), "Tensor"), (torch.nn.Parameter(torch.ones(2)), "Parameter")):
        with pytest.raises(AttributeError) as caught:
            tensor.to_mkldnn()  # type: ignore[attr-defined]
        first, second = str(caught.value).splitlines()
        assert first == f"'{kind}' object has no attribute 'to_mkldnn'"
        assert second.startswith("leafgrad does not have torch.Tensor.to_mkldnn (yet).")
        assert not hasattr(tensor, "to_mkldnn") and "to_mkldnn" not in {*dir(tensor), *dir(torch.Tensor)}
        with pytest.raises(AttributeError) as caught:
            tensor.sumn()  # type: ignore[attr-defined]
        sys.__excepthook__(AttributeError, caught.value, None)
        assert "Did you mean: 'sum" in capsys.readouterr().err  # in Python's own words
        assert not hasattr(tensor, "__nothing__") and not hasattr(tensor, "_nothing")


def test_an_error_inside_of_an_attribute_is_its_own() -> None:
    class Mine(torch.Tensor):
        @property
        def broken(self) -> Any:
            raise AttributeError("of my own")

    with pytest.raises(AttributeError, match="of my own"):
        torch.ones(2).as_subclass(Mine).broken


def public_functions() -> Iterator[tuple[str, str]]:
    for found in names.FUNCTIONS.values():
        yield from [("leafgrad", name) for name in found.split()]
    for namespace, places in names.PLACES.items():
        yield from [(f"leafgrad.{namespace}", name) for found in places.values() for name in found.split()]


def test_functions_and_methods_are_pickled_by_their_names() -> None:
    functions = [getattr(import_module(module), name) for module, name in public_functions()]
    on_tensor = [getattr(torch.Tensor, name) for name in dir(torch.Tensor) if name[0] != "_"]
    functions += [method for method in on_tensor if callable(method)]
    assert len(functions) > 700
    for function in functions:
        assert pickle.loads(pickle.dumps(function)) is function


def test_a_model_with_a_function_in_it() -> None:
    model = torch.nn.Linear(2, 2)
    model.act, model.norm = torch.relu, torch.Tensor.norm
    copied = pickle.loads(pickle.dumps(model))
    assert copied.act is torch.relu and copied.norm is torch.Tensor.norm
    torch.save(model, file := io.BytesIO())
    file.seek(0)
    assert torch.load(file, weights_only=False).act is torch.relu


def test_the_table_of_names_is_pytorchs() -> None:
    known = torch_names()
    assert {"matmul", "nn", "float32"} <= known["torch"] and "Conv2d" in known["torch.nn"]
    assert "os" not in known["torch"] and "unsqueeze" in known["torch.Tensor"]
