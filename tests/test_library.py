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


# -- older forms, tags, mistakes --------------------------------------------------------------------------------------


def test_the_older_forms_are_decorators() -> None:
    with library._scoped_library("older", "FRAGMENT") as lib:

        @library.define(lib, "sin(Tensor x) -> Tensor")
        def sin(x: Any) -> Any:
            return leafgrad.from_numpy(np.sin(x.numpy()))

        lib.define("cos(Tensor x) -> Tensor", tags=leafgrad.Tag.pointwise)

        @library.impl(lib, "cos", "CPU")
        def cos(x: Any) -> Any:
            return leafgrad.from_numpy(np.cos(x.numpy()))

        x = leafgrad.ones(2)
        assert leafgrad.ops.older.sin(x).tolist() == sin(x).tolist() == x.sin().tolist()
        assert leafgrad.ops.older.cos(x).tolist() == cos(x).tolist() == x.cos().tolist()
        assert (
            leafgrad.ops.older.cos.default.tags == [leafgrad.Tag.pointwise]
            and repr(leafgrad.Tag.core) == "<Tag.core: 0>"
        )


def test_a_rule_for_vmap_without_one_for_gradients() -> None:
    with library._scoped_library("mapped", "FRAGMENT") as lib:
        lib.define("scale(Tensor w, int x = 2, *, int y = 3, int z) -> Tensor")
        lib.impl("scale", lambda w, x=2, *, y=3, z: w * x * y * z, "CPU")
        calls = []

        def rule(info: Any, in_dims: Any, w: Any, x: int = 2, *, y: int = 3, z: int) -> Any:
            calls.append(info.batch_size)
            return w * x * y * z, 0

        library.register_vmap("mapped::scale", rule, lib=lib)
        assert leafgrad.vmap(leafgrad.ops.mapped.scale)(leafgrad.ones(3), z=7).tolist() == [42.0] * 3 and calls == [3]
        lib.define("by_name(Tensor x, *, Tensor y) -> Tensor")
        for register in (library.register_vmap, library.register_autograd):
            with pytest.raises(NotImplementedError, match="with kwarg-only Tensor args"):
                register("mapped::by_name", rule)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("f(Tensor a) -> asdf", "unknown type specifier"),
        ("f(asdf a) -> Tensor", "unknown type specifier"),
        ("f(int64_t a) -> Tensor", "Use `SymInt` or `int` instead of `int64_t`"),
        ("f(double a) -> Tensor", "Use `float` instead of `double`"),
    ],
)
def test_types_that_there_are_not(schema: str, message: str) -> None:
    with library._scoped_library("typed", "FRAGMENT") as lib, pytest.raises(RuntimeError, match=message):
        lib.define(schema)


def test_names_that_cannot_be_registered() -> None:
    with pytest.raises(ValueError, match="expected schema to look like"):
        library.define("wrong::f", "f(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match='to be of the form "namespace::name", but got f'):
        library.define("f", "(Tensor x) -> Tensor")
    with pytest.raises(ValueError, match="prim is a reserved namespace"):
        library.Library("prim", "DEF")
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        library.impl("wrong::f", "nothing")
