"""Operators that programs define (torch.library), beyond what scenarios compare with PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import leafgrad
from leafgrad import _C, library
from leafgrad._library.schema import parsed
from leafgrad.utils._python_dispatch import TorchDispatchMode


@pytest.fixture
def lib() -> Iterator[library.Library]:
    with library._scoped_library("lgtest", "FRAGMENT") as made:
        yield made


def test_schemas_are_printed_as_they_were_read() -> None:
    lines = [
        "lg::f(Tensor x, float s=1., *, bool k=False) -> Tensor",
        "lg::f.out(Tensor(a!)[] x, int[2] n=[1, 2], str t=\"a,b\") -> (Tensor, Tensor(b)[])",
        "lg::f(Tensor? x=None, ScalarType d=float32, Device v=\"cpu\") -> ()",
        "lg::f(Tensor x) -> ((Tensor))",
    ]  # fmt: skip
    assert [str(parsed(line, "lg")) for line in lines] == lines


def test_a_line_that_is_no_schema_is_refused(lib: library.Library) -> None:
    with pytest.raises(RuntimeError, match="is no schema"):
        lib.define("f(Tensor x)")
    with pytest.raises(RuntimeError, match="is no parameter"):
        lib.define("f(x) -> Tensor")


def test_an_operator_without_gradients_warns_and_gives_none(lib: library.Library) -> None:
    lib.define("square(Tensor x) -> Tensor")
    lib.impl("square", lambda x: leafgrad.tensor(x.detach().numpy() ** 2), "CPU")
    x = leafgrad.ones(2, requires_grad=True)
    y = leafgrad.ops.lgtest.square(x)
    assert y.requires_grad
    with pytest.warns(UserWarning, match="lgtest::square: an autograd kernel was not registered"):
        y.sum().backward()
    assert x.grad is None
    _C._set_autograd_fallback_mode("nothing")
    try:
        assert not leafgrad.ops.lgtest.square(x).requires_grad
    finally:
        _C._set_autograd_fallback_mode("warn")


def test_a_kernel_for_autograd_may_call_the_one_below(lib: library.Library) -> None:
    lib.define("triple(Tensor x) -> Tensor")
    lib.impl("triple", lambda x: x * 3, "CPU")

    class Triple(leafgrad.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with _C._AutoDispatchBelowAutograd():
                return leafgrad.ops.lgtest.triple(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 30

    lib.impl("triple", Triple.apply, "Autograd")
    x = leafgrad.ones(1, requires_grad=True)
    y = leafgrad.ops.lgtest.triple(x)
    y.backward()
    assert (y.item(), x.grad.item()) == (3, 30)


def test_modes_see_operators_with_their_arguments(lib: library.Library) -> None:
    lib.define("scaled(Tensor x, float s) -> Tensor")
    lib.impl("scaled", lambda x, s: leafgrad.tensor(x.detach().numpy() * np.float32(s)), "CPU")
    seen = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
            seen.append((str(func), args[1:]))
            return func(*args, **(kwargs or {})) + 1

    with Watch():
        y = leafgrad.ops.lgtest.scaled(leafgrad.ones(2), 3.0)
    assert seen == [("lgtest.scaled.default", (3.0,))]
    assert y.tolist() == [4, 4]


def test_subclasses_take_calls_over(lib: library.Library) -> None:
    lib.define("same(Tensor x) -> Tensor")
    lib.impl("same", lambda x: x.clone(), "CPU")

    class Marked(leafgrad.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return str(func)

    assert leafgrad.ops.lgtest.same.default(leafgrad.ones(1).as_subclass(Marked)) == "lgtest.same.default"


def test_tensors_in_a_cache() -> None:
    x = leafgrad.ones(1)
    _C._set_cached_tensors_enabled(True)
    try:
        _C._add_cached_tensor(x)
        assert _C._is_cached_tensor(x)
        _C._remove_cached_tensor(x)
        assert not _C._is_cached_tensor(x)
    finally:
        _C._set_cached_tensors_enabled(False)
