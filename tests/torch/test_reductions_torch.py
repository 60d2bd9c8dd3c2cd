"""Reductions and softmax compared with the installed PyTorch: values, gradients, gradients of gradients, dtypes and
error messages."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import leafgrad
from derivatives import check_error, check_warning, compare, numbers, same_refusal_or, to_torch

ALL = ["float32", "float64", "float16", "bfloat16", "complex64", "complex128", "int64", "int32", "uint8", "bool"]
INF = math.inf
pytestmark = pytest.mark.filterwarnings("ignore:.*degrees of freedom", "ignore:Casting complex")


# -- reductions over any dimensions -----------------------------------------------------------------------------------

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
full_shapes = st.lists(st.integers(1, 4), max_size=4).map(tuple)


def dims_for(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    """None, one dimension or several, from the front or from the back."""
    n = max(len(shape), 1)
    one = st.integers(-n, n - 1)
    if not shape:
        return st.one_of(st.none(), one)
    several = st.lists(st.integers(0, n - 1), unique=True, max_size=n)
    signed = several.flatmap(lambda ds: st.tuples(*[st.sampled_from([d, d - n]) for d in ds]))
    return st.one_of(st.none(), one, signed)


MANY: dict[str, Callable[..., Any]] = {
    "sum": lambda lib, x, dim, keep: lib.sum(x, dim, keep),
    "mean": lambda lib, x, dim, keep: lib.mean(x, dim, keep),
    "var": lambda lib, x, dim, keep: lib.var(x, dim, keepdim=keep, correction=0),
    "std": lambda lib, x, dim, keep: lib.std(x, dim, keepdim=keep, correction=0.5),
    "var_mean": lambda lib, x, dim, keep: lib.var_mean(x, dim, keepdim=keep, correction=0),
    "std_mean": lambda lib, x, dim, keep: lib.std_mean(x, dim, keepdim=keep, correction=0),
    "all": lambda lib, x, dim, keep: lib.all(x, dim, keep),
    "any": lambda lib, x, dim, keep: lib.any(x, dim, keep),
    "count_nonzero": lambda lib, x, dim, keep: lib.count_nonzero(x, dim),
    "norm": lambda lib, x, dim, keep: lib.norm(x, 2, dim, keep),
    "norm1": lambda lib, x, dim, keep: lib.norm(x, 1, dim, keep),
    "norm0": lambda lib, x, dim, keep: lib.norm(x, 0, dim, keep),
    "norm3": lambda lib, x, dim, keep: lib.norm(x, 3, dim, keep),
    "norm1.5": lambda lib, x, dim, keep: lib.norm(x, 1.5, dim, keep),
}
NONEMPTY: dict[str, Callable[..., Any]] = {
    "amax": lambda lib, x, dim, keep: lib.amax(x, () if dim is None else dim, keep),
    "amin": lambda lib, x, dim, keep: lib.amin(x, () if dim is None else dim, keep),
    "norm inf": lambda lib, x, dim, keep: lib.norm(x, INF, dim, keep),
    "norm -inf": lambda lib, x, dim, keep: lib.norm(x, -INF, dim, keep),
    "norm -2": lambda lib, x, dim, keep: lib.norm(x, -2, dim, keep),
    "norm 0.5": lambda lib, x, dim, keep: lib.norm(x, 0.5, dim, keep),
}


@pytest.mark.parametrize("name", MANY)
@settings(deadline=None, max_examples=60)
@given(st.data())
def test_over_dimensions(name: str, data: st.DataObject) -> None:
    shape = data.draw(shapes)
    dim = data.draw(dims_for(shape))
    if dim == () and ("var" in name or "std" in name):
        dim = None  # PyTorch takes the variance of all elements then, but its gradient for that of single ones
    keep = data.draw(st.booleans())
    x = numbers(shape, data.draw(st.sampled_from(["float64", "complex128"])), 1)
    transposed = data.draw(st.booleans())
    compare(lambda lib, t: MANY[name](lib, t, dim, keep), x, transposed=transposed, double="std" not in name)


@pytest.mark.parametrize("name", NONEMPTY)
@settings(deadline=None, max_examples=40)
@given(st.data())
def test_over_dimensions_with_elements(name: str, data: st.DataObject) -> None:
    shape = data.draw(full_shapes)
    dim, keep = data.draw(dims_for(shape)), data.draw(st.booleans())
    x = numbers(shape, "float64", 2, ties=name.startswith("am"))
    compare(lambda lib, t: NONEMPTY[name](lib, t, dim, keep), x, transposed=data.draw(st.booleans()))


ONE: dict[str, Callable[..., Any]] = {
    "prod": lambda lib, x, dim, keep: lib.prod(x, dim, keep),
    "max": lambda lib, x, dim, keep: tuple(lib.max(x, dim, keep)),
    "min": lambda lib, x, dim, keep: tuple(lib.min(x, dim, keep)),
    "argmax": lambda lib, x, dim, keep: lib.argmax(x, dim, keep),
    "argmin": lambda lib, x, dim, keep: lib.argmin(x, dim, keep),
    "cumsum": lambda lib, x, dim, keep: lib.cumsum(x, dim),
    "softmax": lambda lib, x, dim, keep: lib.softmax(x, dim),
    "log_softmax": lambda lib, x, dim, keep: lib.log_softmax(x, dim),
    "logsumexp": lambda lib, x, dim, keep: lib.logsumexp(x, dim, keep),
}


@pytest.mark.parametrize("name", ONE)
@settings(deadline=None, max_examples=60)
@given(st.data())
def test_over_one_dimension(name: str, data: st.DataObject) -> None:
    shape = data.draw(full_shapes)
    n = max(len(shape), 1)
    dim, keep = data.draw(st.integers(-n, n - 1)), data.draw(st.booleans())
    ties = data.draw(st.booleans()) and name != "prod"
    x = numbers(shape, "float64", 3, ties)
    compare(lambda lib, t: ONE[name](lib, t, dim, keep), x, transposed=data.draw(st.booleans()))


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
@pytest.mark.parametrize("name", ["prod", "cumsum", "logsumexp"])
def test_complex_along_a_dimension(name: str, dtype: str) -> None:
    for shape, dim in [((3,), 0), ((2, 3), 1), ((2, 3, 2), -2)]:
        compare(lambda lib, t, d=dim: ONE[name](lib, t, d, False), numbers(shape, dtype, 4))


WHOLE: dict[str, Callable[..., Any]] = {
    "sum": lambda lib, x: lib.sum(x),
    "mean": lambda lib, x: x.mean(),
    "prod": lambda lib, x: x.prod(),
    "max": lambda lib, x: x.max(),
    "min": lambda lib, x: lib.min(x),
    "var": lambda lib, x: x.var(),
    "std": lambda lib, x: x.std(),
    "norm": lambda lib, x: x.norm(),
    "all": lambda lib, x: x.all(),
    "any": lambda lib, x: x.any(),
    "argmax": lambda lib, x: x.argmax(),
    "count_nonzero": lambda lib, x: x.count_nonzero(),
    "cumsum": lambda lib, x: x.cumsum(0),
    "logsumexp": lambda lib, x: x.logsumexp(0),
    "softmax": lambda lib, x: x.softmax(-1),
    "log_softmax": lambda lib, x: x.log_softmax(0),
    "amax": lambda lib, x: x.amax(),
    "sum float32": lambda lib, x: x.sum(dtype=lib.float32),
    "sum int32": lambda lib, x: x.sum(0, dtype=lib.int32),
    "prod float64": lambda lib, x: x.prod(dtype=lib.float64),
    "mean float64": lambda lib, x: x.mean(0, dtype=lib.float64),
    "cumsum float64": lambda lib, x: x.cumsum(0, dtype=lib.float64),
    "softmax float64": lambda lib, x: x.softmax(0, dtype=lib.float64),
}


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", WHOLE)
def test_dtypes(name: str, dtype: str) -> None:
    """The same dtype comes out, or the same refusal."""
    for shape in [(3, 4), (5,)]:
        x = numbers(shape, dtype, 5)
        if name == "sum int32" and x.dtype.kind not in "biu":
            continue  # PyTorch says that the integers it returns require a gradient
        if "prod" in name and dtype in ("float16", "bfloat16"):
            x = (x / 2).astype(x.dtype)
        same_refusal_or(lambda x=x: compare(WHOLE[name], x), lambda x=x: WHOLE[name](torch, to_torch(x)))


# -- special values ---------------------------------------------------------------------------------------------------

SPECIAL = [[1.0, math.nan, 2.0], [INF, 1.0, -INF], [-INF, -INF], [0.0, -0.0, 0.0], [2.0, 2.0, 2.0], [INF, INF, 0.0]]


NORMS: dict[str, Callable[..., Any]] = {
    "norm inf": lambda lib, x: x.norm(INF),
    "norm1": lambda lib, x: x.norm(1),
    "norm3": lambda lib, x: x.norm(3),
}


@pytest.mark.parametrize("name", [*WHOLE, *NORMS])
def test_special_values(name: str) -> None:
    for row in SPECIAL if name != "sum int32" else []:
        compare({**WHOLE, **NORMS}[name], np.array(row), double=False)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "complex64"])
def test_without_nan(dtype: str) -> None:
    x = numbers((3, 4), dtype, 30)
    if x.dtype.kind == "f":
        x[0, 1] = x[2, 2] = x[2, 3] = math.nan
    for name in ("nansum", "nanmean"):
        for args in [(), (0,), ((0, 1), True)]:

            def call(lib: Any, t: Any, name: str = name, args: Any = args) -> Any:
                return getattr(lib, name)(t, *args)

            same_refusal_or(lambda c=call: compare(c, x), lambda c=call: c(torch, to_torch(x)))
    compare(lambda lib, t: lib.nansum(t, 1, dtype=lib.float32), x.real)


def test_aminmax() -> None:
    for ties in (False, True):
        x = numbers((3, 4), "float64", 31, ties)
        compare(lambda lib, t: tuple(lib.aminmax(t)), x)
        compare(lambda lib, t: tuple(lib.aminmax(t, dim=1)), x)
        compare(lambda lib, t: tuple(t.aminmax(dim=0, keepdim=True)), x)
    compare(lambda lib, t: tuple(t.aminmax(dim=-1, keepdim=True)), np.asarray(3.0))
    assert repr(leafgrad.tensor([1, 2]).aminmax()) == repr(torch.tensor([1, 2]).aminmax())


@pytest.mark.parametrize("row", [[0.0, 2, 3], [0.0, 0, 3], [0.0, 0, 0], [1.0, 2, 0], [0.0], [2.0]])
def test_prod_with_zeros(row: list[float]) -> None:
    x = np.array(row)
    compare(lambda lib, t: t.prod(), x, double=row.count(0) < 2)
    both = np.stack([x, np.arange(1.0, len(row) + 1)])
    compare(lambda lib, t: t.prod(1), both)
    compare(lambda lib, t: t.prod(0, keepdim=True), both)
    compare(lambda lib, t: t.prod(1), both + 0j)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 1.5, 0.5, -1, -2.5, INF, -INF])
def test_norm_at_zero(order: float) -> None:
    compare(lambda lib, t: t.norm(order), np.zeros(3), double=False)
    compare(lambda lib, t: t.norm(order, 1), np.array([[1.0, 0, 2], [3, 4, 5]]), double=False)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 5), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
def test_nuclear_norm(shape: tuple[int, ...], dtype: str) -> None:
    for dim in [(-2, -1), (1, 0)]:
        compare(lambda lib, t, d=dim: lib.norm(t, "nuc", d, keepdim=True), numbers(shape, dtype, 6))


def test_var_forms() -> None:
    x = numbers((3, 4), "float64", 8)
    forms: list[Callable[[Any], Any]] = [
        lambda t: t.var(0),
        lambda t: t.var(False),
        lambda t: t.var(unbiased=False),
        lambda t: t.var(0, False),
        lambda t: t.var(0, True, True),
        lambda t: t.var(dim=(0, 1), unbiased=False, keepdim=True),
        lambda t: t.var(correction=2),
        lambda t: t.var(1, correction=4),
        lambda t: t.var(1, correction=6),
        lambda t: t.var(correction=12),
        lambda t: t.std(axis=1, keepdims=True),
        lambda t: t.std(None, correction=None),
    ]
    for i, form in enumerate(forms):
        compare(lambda lib, t, f=form: f(t), x, double=i not in (7, 9))


# -- errors -----------------------------------------------------------------------------------------------------------


def _wrong_calls() -> list[Callable[[Any], Any]]:
    def x(m: Any) -> Any:
        return m.arange(6.0).reshape(2, 3)

    def i(m: Any) -> Any:
        return m.arange(6).reshape(2, 3)

    def c(m: Any) -> Any:
        return x(m).to(m.complex64)

    def e(m: Any) -> Any:
        return m.zeros(0, 3)

    return [
        lambda m: x(m).sum((0, 0)),
        lambda m: x(m).sum(2),
        lambda m: x(m).sum("a"),
        lambda m: m.sum([1, 2]),
        lambda m: x(m).sum(nonsense=1),
        lambda m: m.tensor(3.0).sum(1),
        lambda m: i(m).mean(),
        lambda m: (i(m) > 2).mean(0),
        lambda m: x(m).mean(dtype=m.int64),
        lambda m: x(m).prod((0, 1)),
        lambda m: x(m).max((0, 1)),
        lambda m: x(m).max(2),
        lambda m: e(m).max(),
        lambda m: e(m).min(0),
        lambda m: c(m).max(),
        lambda m: c(m).min(),
        lambda m: c(m).min(0),
        lambda m: e(m).amax(),
        lambda m: e(m).amin(0),
        lambda m: c(m).amax(),
        lambda m: c(m).amin(),
        lambda m: x(m).argmax((0, 1)),
        lambda m: e(m).argmax(),
        lambda m: e(m).argmin(0),
        lambda m: (x(m) > 1).argmax(),
        lambda m: c(m).argmin(),
        lambda m: x(m).argmax(5),
        lambda m: x(m).var((0, 0)),
        lambda m: x(m).var(2),
        lambda m: x(m).var(0, 1),
        lambda m: x(m).var(0, unbiased=False, correction=1),
        lambda m: i(m).var(),
        lambda m: i(m).std(),
        lambda m: m.var_mean(i(m)),
        lambda m: m.std_mean(i(m)),
        lambda m: m.norm(i(m)),
        lambda m: m.norm(x(m), dtype=m.float16),
        lambda m: m.norm(x(m), dtype=m.int64),
        lambda m: m.norm(x(m), dtype=m.complex64),
        lambda m: m.norm(c(m), dtype=m.float64),
        lambda m: m.norm(e(m), INF),
        lambda m: m.norm(e(m), INF, dim=0),
        lambda m: m.norm(e(m), -3),
        lambda m: m.norm(x(m), "nuc", dim=1),
        lambda m: m.norm(x(m).reshape(1, 2, 3), "nuc"),
        lambda m: m.norm(x(m), "nonsense"),
        lambda m: m.norm(x(m), 2, dim=5),
        lambda m: e(m).aminmax(),
        lambda m: e(m).aminmax(dim=0),
        lambda m: c(m).aminmax(),
        lambda m: c(m).nansum(),
        lambda m: i(m).nanmean(),
        lambda m: m.norm(x(m).half(), "nuc"),
        lambda m: m.norm(i(m), "nuc"),
        lambda m: m.norm(x(m), "nuc", dim=(0, 0)),
        lambda m: x(m).cumsum(2),
        lambda m: (x(m) > 1).cumsum(0, dtype=m.bool),
        lambda m: x(m).all((0, 0)),
        lambda m: x(m).any(3),
        lambda m: x(m).count_nonzero((0, 0)),
        lambda m: i(m).softmax(0),
        lambda m: i(m).softmax(1),
        lambda m: c(m).log_softmax(1),
        lambda m: i(m).log_softmax(0),
        lambda m: x(m).softmax(2),
        lambda m: x(m).sum_to_size(3, 3),
        lambda m: x(m).sum_to_size(1, 2, 3),
    ]


@pytest.mark.parametrize("index", range(len(_wrong_calls())))
def test_errors(index: int) -> None:
    check_error(_wrong_calls()[index])


WARNING_CALLS: list[Callable[[Any], Any]] = [
    lambda m: m.zeros(1).var(),
    lambda m: m.zeros(2, 3).std(1, correction=3),
    lambda m: m.var_mean(m.zeros(1)),
]


@pytest.mark.parametrize("index", range(len(WARNING_CALLS)))
def test_warnings(index: int) -> None:
    check_warning(WARNING_CALLS[index], __file__)


# -- what else shows --------------------------------------------------------------------------------------------------


def test_names_in_the_graph() -> None:
    calls: list[Callable[[Any, Any], Any]] = [
        *[lambda m, x, n=name: getattr(x, n)() for name in ("sum", "mean", "prod", "max", "min", "var", "std", "norm")],
        *[lambda m, x, n=name: getattr(x, n)(0) for name in ("sum", "mean", "prod", "var", "std", "amax", "amin")],
        *[lambda m, x, n=name: getattr(x, n)(0) for name in ("softmax", "log_softmax", "logsumexp", "cumsum")],
        *[lambda m, x, n=name: getattr(x, n)(0)[0] for name in ("max", "min")],
        lambda m, x: x.sum(()),
        lambda m, x: m.norm(x, "nuc"),
    ]
    for call in calls:
        names = [type(call(m, m.ones(2, 3, requires_grad=True)).grad_fn).__name__ for m in (leafgrad, torch)]
        assert names[0] == names[1]


def test_named_results_print_alike() -> None:
    texts = [[repr(m.max(m.tensor([[1.0, 5, 2]]), 1)), repr(m.min(m.tensor([3, 1]), 0))] for m in (leafgrad, torch)]
    assert texts[0] == texts[1]
    for m in (leafgrad, torch):
        values, indices = found = m.max(m.tensor([[1.0, 5, 2]]), dim=1, keepdim=True)
        assert isinstance(found, tuple)
        assert found.values is values and found.indices is indices


def test_sums_of_many_small_numbers() -> None:
    """Single precision must not lose digits in long sums."""
    for shape, dim in [((1_000_000, 3), 0), ((3, 1_000_000), 1), ((500, 2000, 3), (0, 1)), ((1_000_000,), None)]:
        x = np.full(shape, 0.1, np.float32)
        ours, theirs = leafgrad.from_numpy(x).sum(dim), torch.from_numpy(x).sum(dim)
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=2e-6)
        np.testing.assert_allclose(leafgrad.from_numpy(x).mean(dim).numpy(), 0.1, rtol=2e-6)
        length = torch.from_numpy(x).double().norm(2, dim).numpy()
        np.testing.assert_allclose(leafgrad.from_numpy(x).norm(2, dim).numpy(), length, rtol=5e-6)
