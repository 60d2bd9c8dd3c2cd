"""What `help()` and `inspect` show of public functions, methods and in-place methods."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any

import pytest

import leafgrad as torch

SHOWN = {
    "sum": "(input: Tensor, dim: DimOrDims | None = None, keepdim: bool = False, *, dtype: Dtype | None = None, "
    "out: Tensor | None = None) -> Tensor",
    "Tensor.mean": "(self, dim: DimOrDims | None = None, keepdim: bool = False, *, dtype: Dtype | None = None) "
    "-> Tensor",
    "exp": "(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    "Tensor.exp": "(self) -> Tensor",
    "Tensor.exp_": "(self) -> Tensor",
    "exp_": "(input: Tensor) -> Tensor",
    "Tensor.add_": "(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor",
    "Tensor.index_add_": "(self, dim: Dim, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor",
    "topk": "(input: Tensor, k: int, dim: Dim = -1, largest: bool = True, sorted: bool = True, *, "
    "out: tuple[Tensor, ...] | None = None) -> return_types.topk",
    "arange": "(start: Number, end: Number, step: Number = 1, *, out: Tensor | None = None, "
    "dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, "
    "requires_grad: bool | None = False, pin_memory: bool | None = False) -> Tensor",
}


def named(path: str) -> Any:
    value: Any = torch
    for name in path.split("."):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("name", SHOWN)
def test_signature(name: str) -> None:
    assert str(inspect.signature(named(name))) == SHOWN[name]


def test_a_bound_method_has_no_self() -> None:
    assert str(inspect.signature(torch.ones(2).exp)) == "() -> Tensor"


@pytest.mark.parametrize("name", ["softmax", "Tensor.softmax", "Tensor.cumsum_", "zeros", "Tensor.to"])
def test_help_shows_signature_and_documentation(name: str) -> None:
    function = named(name)
    text = pydoc.plain(pydoc.render_doc(function))
    assert f"{function.__name__}{inspect.signature(function)}" in text
    assert " ".join(function.__doc__.split()) in " ".join(text.split())


def test_the_source_of_an_operation_can_be_read() -> None:
    assert "def call(input: Tensor, dim: Dim" in inspect.getsource(torch.softmax)
    assert "def reshape(input: Tensor" in inspect.getsource(torch.Tensor.reshape)
