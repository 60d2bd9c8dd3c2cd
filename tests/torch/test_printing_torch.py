"""The text of tensors, compared with the installed PyTorch on generated arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import hypothesis.extra.numpy as hnp
import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import _tensor_str

import leafgrad
from leafgrad._core.tensor import wrap
from leafgrad._tensor import printing

DEFAULT_DTYPES = ["float32", "float64", "float16", "bfloat16"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPLEXES = ["complex64", "complex128"]
INTS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
OWN_INTS = [name for name in INTS if hasattr(leafgrad, name)]  # leafgrad has no wide unsigned integers

Array = np.ndarray[Any, Any]


@contextmanager
def same_settings(options: dict[str, Any], default: str) -> Iterator[None]:
    torch.set_default_dtype(getattr(torch, default))
    try:
        with _tensor_str.printoptions(**options), printing.printoptions(**options):
            yield
    finally:
        torch.set_default_dtype(torch.float32)


def to_torch(array: Array, dtype: str) -> torch.Tensor:
    if dtype == "bfloat16":
        return torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(array)


def numpy_dtype(name: str) -> Any:
    return ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)


def check(
    array: Array, dtype: str, *, options: dict[str, Any] | None = None, default: str = "float32", grad: str = ""
) -> None:
    tensor = to_torch(array, dtype)
    if grad and (tensor.is_floating_point() or tensor.is_complex()):
        tensor = tensor.requires_grad_()
        tensor = tensor.clone() if grad == "node" else tensor
    with same_settings(options or {}, default):
        ours = printing.tensor_repr(
            array,
            dtype_name=dtype,
            default_dtype_name=default,
            requires_grad=tensor.requires_grad,
            grad_fn_name=None if tensor.grad_fn is None else type(tensor.grad_fn).__name__,
        )
        assert ours == repr(tensor) == str(tensor)


# Numbers a plain generator seldom meets: around each limit of the choice of notation, and where rounding adds a digit.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, 999.0, 1000.0, 1001.0, 1e8, 1e-4, 9.99999e-5, 99.99996, 0.99995, 12345.0]
SPECIAL += [float("nan"), float("inf"), float("-inf"), 1e-8, 1e12, 1e-300, 1e300, 5e-324, 1e8 + 8, 0.1, 1 / 3]
spread = st.builds(lambda mantissa, exponent: mantissa * 10.0**exponent, st.floats(-10, 10), st.integers(-8, 12))
reals = st.one_of(st.sampled_from(SPECIAL), spread, st.integers(-2000, 2000).map(float), st.floats())
# An array drawn from all of these is nearly always in scientific notation, so many are drawn from one narrow range.
ranges = st.sampled_from(
    [
        reals,
        st.integers(-900, 900).map(float),
        st.floats(0.01, 9).map(lambda x: round(x, 3)),
        st.sampled_from([0.0, -0.0, float("nan"), float("inf"), 3.0, 250.0]),
        st.sampled_from([0.0, float("nan"), float("-inf"), -0.5, 250.25]),
    ]
)
shapes = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9)
options = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.integers(0, 12),
        "threshold": st.sampled_from([0, 3, 10, 50, 1000, float("inf")]),
        "edgeitems": st.integers(0, 5),
        "linewidth": st.sampled_from([1, 10, 30, 60, 80, 120, 500]),
        "profile": st.sampled_from(["default", "short", "full", "other"]),
        "sci_mode": st.sampled_from([None, True, False]),
    },
)
grads = st.sampled_from(["", "leaf", "node"])


@st.composite
def arrays(draw: st.DrawFn, dtype: str) -> Array:
    shape = draw(shapes)
    if dtype in INTS or dtype == "bool":
        elements: st.SearchStrategy[Any] = hnp.from_dtype(np.dtype(dtype))
        if dtype in INTS and draw(st.booleans()):
            elements = st.integers(0, 120)
    else:
        elements = draw(ranges)
        if dtype in COMPLEXES:
            elements = st.builds(complex, elements, draw(ranges))
    # A handful of values repeated is as telling as a fresh draw for each element, and far cheaper.
    values = draw(st.lists(elements, min_size=1, max_size=12))
    with np.errstate(all="ignore"):
        array: Array = np.resize(np.array(values).astype(numpy_dtype(dtype)), shape)
    if array.ndim and draw(st.booleans()):
        array = array.T
    return array[..., ::2] if array.ndim and draw(st.booleans()) else array


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEXES, *INTS, "bool"])
def test_repr(dtype: str) -> None:
    @settings(max_examples=150, deadline=None)
    @given(arrays(dtype), options, st.sampled_from(DEFAULT_DTYPES), grads)
    def run(array: Array, options: dict[str, Any], default: str, grad: str) -> None:
        check(array, dtype, options=options, default=default, grad=grad)

    run()


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEXES])
def test_repr_with_the_default_options(dtype: str) -> None:
    @settings(max_examples=150, deadline=None)
    @given(arrays(dtype), grads)
    def run(array: Array, grad: str) -> None:
        check(array, dtype, grad=grad)

    run()


@settings(max_examples=300, deadline=None)
@given(reals)
@example(1e8)
@example(1e-4)
@example(np.nextafter(1e8, 2e8))
@example(np.nextafter(1e-4, 0.0))
def test_a_single_number(value: float) -> None:
    for dtype in FLOATS:
        with np.errstate(all="ignore"):
            check(np.array(value).astype(numpy_dtype(dtype)), dtype)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.sampled_from(["float32", "float64", "int32", "complex64"]), st.integers(20, 90), grads)
def test_where_lines_and_suffixes_wrap(length: int, dtype: str, linewidth: int, grad: str) -> None:
    check(
        np.arange(length).astype(dtype) / 4 if dtype == "float32" else np.arange(length).astype(dtype),
        dtype,
        options={"linewidth": linewidth},
        grad=grad,
    )


@pytest.mark.parametrize("shape", [(1000,), (1001,), (7, 143), (6, 167), (7, 7, 7, 7), (2, 3, 400), (1, 1, 1, 1001)])
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEXES, *INTS, "bool"])
def test_summaries(shape: tuple[int, ...], dtype: str) -> None:
    random = np.random.default_rng(0)
    array: Array = (random.standard_normal(shape) * 100).astype(np.int8).astype(numpy_dtype(dtype))
    check(array, dtype)
    check(array, dtype, options={"edgeitems": 0})
    if dtype in [*FLOATS, *COMPLEXES]:
        check((array / array.dtype.type(7)).astype(array.dtype), dtype, grad="node")


@settings(max_examples=50, deadline=None)
@given(st.lists(options, max_size=4))
def test_options_follow_the_same_rules(calls: list[dict[str, Any]]) -> None:
    with same_settings({}, "float32"):
        for call in calls:
            torch.set_printoptions(**call)  # type: ignore[no-untyped-call]
            printing.set_printoptions(**call)
            assert printing.get_printoptions() == _tensor_str.get_printoptions()


def test_parameters_and_subclasses() -> None:
    class Tagged(torch.Tensor):
        pass

    array = np.array([[1.5, 2], [3, 4]], np.float32)
    known: dict[str, Any] = {"dtype_name": "float32", "default_dtype_name": "float32", "grad_fn_name": None}
    parameter = torch.nn.Parameter(torch.from_numpy(array))
    assert printing.tensor_repr(array, **known, requires_grad=True, class_name="Parameter") == repr(parameter)
    tagged = torch.from_numpy(array).as_subclass(Tagged)
    assert printing.tensor_repr(array, **known, requires_grad=False, class_name="Tagged") == repr(tagged)


def outcome(tensor: Any, spec: str) -> str:
    try:
        return format(tensor, spec)
    except (TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("spec", ["", ".4f", "8.2e", "d", ">10", "g", "no such spec"])
@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEXES, *OWN_INTS, "bool"])
@pytest.mark.parametrize("shape", [(), (1,), (2, 2), (0,)])
@pytest.mark.parametrize("as_parameter", [False, True])
def test_format(spec: str, dtype: str, shape: tuple[int, ...], as_parameter: bool) -> None:
    array: Array = np.full(shape, 1, numpy_dtype(dtype))
    tensor, ours = to_torch(array, dtype), wrap(array)
    if as_parameter:
        tensor = torch.nn.Parameter(tensor, requires_grad=False)
        ours = leafgrad.nn.Parameter(ours, requires_grad=False)
    assert outcome(ours, spec) == outcome(tensor, spec)
