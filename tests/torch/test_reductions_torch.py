"""Reductions, softmax and losses compared with the installed PyTorch: values, gradients, gradients of gradients,
dtypes and error messages."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import leafgrad

A = Any  # an array or a tensor of either library
FLOATS = ["float32", "float64", "float16", "bfloat16"]
ALL = [*FLOATS, "complex64", "complex128", "int64", "int32", "uint8", "bool"]
CLOSE = {"float64": 1e-9, "complex128": 1e-9, "float32": 2e-5, "complex64": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
INF = math.inf
QUIET = pytest.mark.filterwarnings(
    "ignore:.*degrees of freedom", "ignore:.*deprecated", "ignore:Using a target size", "ignore:Casting complex"
)
pytestmark = QUIET


# -- the same tensor on either side -----------------------------------------------------------------------------------


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0, ties: bool = False) -> Any:
    """Random numbers that every dtype can hold exactly."""
    rng = np.random.default_rng([seed, *shape])
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    if dtype == "bool":
        x = rng.integers(0, 2, shape)
    elif kind.kind in "iu":
        x = rng.integers(0 if dtype == "uint8" else -4, 5, shape)
    else:
        x = rng.integers(-3, 4, shape) / 2 if ties else rng.integers(-64, 64, shape) / 32 + 1 / 64
    if kind.kind == "c":
        x = x + 1j * rng.integers(-64, 64, shape) / 32
    return np.asarray(x).astype(kind)


def to_torch(x: Any) -> torch.Tensor:
    if x.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(x.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(x.copy())


def to_numpy(t: Any) -> Any:
    if isinstance(t, torch.Tensor):
        t = t.detach().resolve_conj()
        return t.float().numpy().astype(ml_dtypes.bfloat16) if t.dtype == torch.bfloat16 else t.numpy(force=True)
    return t.detach().numpy()


def wide(x: Any) -> Any:
    return x.astype(np.float32) if x.dtype == ml_dtypes.bfloat16 else x


def same(ours: Any, theirs: torch.Tensor, tolerance: float, what: object) -> None:
    a, b = to_numpy(ours), to_numpy(theirs)
    assert str(ours.dtype) == str(theirs.dtype), what
    assert a.shape == b.shape, what
    np.testing.assert_allclose(wide(a), wide(b), rtol=tolerance, atol=tolerance, err_msg=str(what))


def outputs(result: Any) -> list[Any]:
    return [result] if hasattr(result, "requires_grad") else list(result)


def compare(call: Callable[..., Any], *arrays: Any, double: bool = True, transposed: bool = False) -> None:
    """`call(library, *tensors)` with either library: results, gradients, and gradients of gradients."""
    sides: list[tuple[Any, list[Any], list[Any]]] = []
    for lib in (leafgrad, torch):
        tensors = []
        for x in arrays:
            x = np.ascontiguousarray(x.T).T if transposed else x
            t: Any = leafgrad.from_numpy(x.copy(order="K")) if lib is leafgrad else to_torch(x)
            tensors.append(t.requires_grad_() if t.is_floating_point() or t.is_complex() else t)
        sides.append((lib, tensors, outputs(call(lib, *tensors))))
    kind = str(arrays[0].dtype)
    tolerance = max([CLOSE.get(str(x.dtype), 1e-9) for x in arrays])
    what = (kind, [x.shape for x in arrays])
    for ours, theirs in zip(sides[0][2], sides[1][2], strict=True):
        same(ours, theirs, tolerance, what)
        assert ours.requires_grad == theirs.requires_grad, what
    if any(o.requires_grad for o in sides[1][2]):
        precise = all(str(x.dtype) in ("float64", "complex128", "int64") for x in arrays)
        first = [gradients(*side, create_graph=double and precise) for side in sides]
        for ours, theirs in zip(*first, strict=True):
            if ours is not None and theirs is not None:
                same(ours, theirs, tolerance, ("gradient", *what))
            else:
                all_zero(ours, theirs)
        if double and precise and any(t is not None and t.requires_grad for t in first[1]):
            seconds = [gradients(side[0], side[1], found) for side, found in zip(sides, first, strict=True)]
            for ours, theirs in zip(*seconds, strict=True):
                if ours is not None and theirs is not None:
                    same(ours, theirs, 1e-7, ("second", *what))
                else:
                    all_zero(ours, theirs)


def all_zero(*found: Any) -> None:
    """No gradient is as good as one of zeros."""
    for v in found:
        assert v is None or not wide(to_numpy(v)).any()


def gradients(lib: Any, tensors: list[Any], results: list[Any], create_graph: bool = False) -> list[Any]:
    """Gradients of the results, weighted with fixed numbers, with respect to those tensors that have one."""
    results = [r for r in results if r is not None and r.requires_grad]
    weights = []
    for i, r in enumerate(results):
        w = numbers(tuple(r.shape), str(r.dtype).removeprefix("torch."), 7 + i)
        weights.append(leafgrad.from_numpy(w) if lib is leafgrad else to_torch(w))
    wanted = [t for t in tensors if t.requires_grad]
    found: Any = lib.autograd.grad(results, wanted, weights, create_graph=create_graph, allow_unused=True)
    return list(found)


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


def same_refusal_or(check: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs()
    except Exception as error:
        with pytest.raises(type(error)) as caught:
            check()
        assert first_sentence(caught.value) == first_sentence(error)
    else:
        check()


def first_sentence(error: BaseException) -> str:
    return str(error).split("\n")[0].split(" - got")[0].strip()


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


# -- losses -----------------------------------------------------------------------------------------------------------

REDUCTIONS = ["mean", "sum", "none"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_mse_loss(dtype: str, reduction: str) -> None:
    for shape in [(), (5,), (3, 4), (0, 3)]:
        x, y = numbers(shape, dtype, 9), numbers(shape, dtype, 10)
        compare(lambda lib, a, b: lib.nn.functional.mse_loss(a, b, reduction=reduction), x, y)
    x, y, w = numbers((3, 4), dtype, 9), numbers((3, 4), dtype, 10), np.abs(numbers((3, 4), dtype, 11))
    compare(lambda lib, a, b, c: lib.nn.functional.mse_loss(a, b, reduction=reduction, weight=c), x, y, w)
    compare(lambda lib, a, b: lib.nn.functional.mse_loss(a, b, reduction=reduction), x, y[0])


def test_mse_loss_of_mixed_dtypes() -> None:
    kinds = [("float32", "float64"), ("float32", "int64"), ("float16", "float32"), ("int64", "float64")]
    for a, b in [*kinds, ("int64", "int64"), ("complex64", "complex64"), ("bool", "bool")]:
        x, y = numbers((3, 4), a, 9), numbers((3, 4), b, 10)
        same_refusal_or(
            lambda x=x, y=y: compare(lambda lib, s, t: lib.nn.functional.mse_loss(s, t), x, y),
            lambda x=x, y=y: torch.nn.functional.mse_loss(to_torch(x), to_torch(y)),
        )


TARGET_SHAPES = [(4,), (3, 4), (2, 4, 3), (2, 4, 3, 2), (2, 4, 1, 3, 2), (0, 4), (1, 1)]


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", TARGET_SHAPES)
def test_class_losses(name: str, reduction: str, shape: tuple[int, ...]) -> None:
    classes = shape[0] if len(shape) == 1 else shape[1]
    rng = np.random.default_rng(12)
    x, w = numbers(shape, "float64", 13), np.abs(numbers((classes,), "float64", 14))
    target = np.asarray(rng.integers(0, classes, shape[:1] + shape[2:] if len(shape) > 1 else ()))
    for ignore in (-100, 0, 7):
        t = np.where(rng.integers(0, 3, target.shape) == 0, ignore, target)
        options: list[dict[str, Any]] = [{}, {"label_smoothing": 0.1}] if name == "cross_entropy" else [{}]
        for weighted in (False, True):
            for extra in options:

                def call(lib: Any, a: A, t: Any = t, weighted: bool = weighted, extra: Any = extra, i: int = ignore) -> Any:
                    more = {"reduction": reduction, "ignore_index": i, **extra}
                    if weighted:
                        more["weight"] = lib.from_numpy(w.copy())
                    target = lib.tensor(t.tolist(), dtype=lib.int64).reshape(t.shape)
                    return getattr(lib.nn.functional, name)(a, target, **more)

                compare(call, x)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", TARGET_SHAPES)
def test_cross_entropy_of_probabilities(reduction: str, shape: tuple[int, ...]) -> None:
    classes = shape[0] if len(shape) == 1 else shape[1]
    x, y = numbers(shape, "float64", 15), np.abs(numbers(shape, "float64", 16))
    w = np.abs(numbers((classes,), "float64", 17))
    for smoothing in (0.0, 0.2):

        def call(lib: Any, a: A, b: A, c: A = None, s: float = smoothing) -> Any:
            return lib.nn.functional.cross_entropy(a, b, c, reduction=reduction, label_smoothing=s)

        compare(call, x, y)
        compare(call, x, y, w)


@pytest.mark.parametrize("dtype", FLOATS)
def test_class_losses_of_all_precisions(dtype: str) -> None:
    x = numbers((5, 4), dtype, 18)
    for name in ("nll_loss", "cross_entropy"):
        for reduction in REDUCTIONS:

            def call(lib: Any, a: A, name: str = name, reduction: str = reduction) -> Any:
                return getattr(lib.nn.functional, name)(a, lib.tensor([0, 3, 1, 1, 2]), reduction=reduction)

            compare(call, x)
            compare(call, x, transposed=True)
    large = numbers((5, 4), dtype, 18) * np.asarray(64, x.dtype)
    compare(lambda lib, a: lib.nn.functional.cross_entropy(a, lib.tensor([0, 3, 1, 1, 2])), large.astype(x.dtype))


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

    def f(m: Any) -> Any:
        return m.nn.functional

    def t(m: Any, *values: int) -> Any:
        return m.tensor(list(values))

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
        lambda m: f(m).mse_loss(x(m), x(m), reduction="nonsense"),
        lambda m: f(m).mse_loss(x(m), m.zeros(5, 3)),
        lambda m: f(m).mse_loss(i(m), i(m)),
        lambda m: f(m).mse_loss(x(m), x(m), weight=m.zeros(3)),
        lambda m: f(m).mse_loss(x(m), x(m), weight=x(m), reduction="nonsense"),
        lambda m: f(m).nll_loss(x(m), t(m, 0)),
        lambda m: f(m).nll_loss(x(m), t(m, 0, 1).int()),
        lambda m: f(m).nll_loss(x(m), t(m, 0, 3)),
        lambda m: f(m).nll_loss(x(m), t(m, 0, -1)),
        lambda m: f(m).nll_loss(x(m), t(m, 0, 1), weight=m.zeros(2)),
        lambda m: f(m).nll_loss(x(m), t(m, 0, 1), weight=m.zeros(3).double()),
        lambda m: f(m).nll_loss(x(m), t(m, 0, 1), weight=m.zeros(3).requires_grad_()),
        lambda m: f(m).nll_loss(i(m), t(m, 0, 1)),
        lambda m: f(m).nll_loss(m.tensor(1.0), m.tensor(0)),
        lambda m: f(m).nll_loss(x(m)[0], t(m, 0, 1)),
        lambda m: f(m).nll_loss(x(m), m.tensor(0)),
        lambda m: f(m).nll_loss(x(m), t(m, 0, 1).reshape(2, 1)),
        lambda m: f(m).nll_loss(m.zeros(2, 3, 4), m.zeros(2, 5).long()),
        lambda m: f(m).nll_loss(m.zeros(2, 3, 4, 5), m.zeros(2, 5, 5).long()),
        lambda m: f(m).nll_loss(m.zeros(2, 3, 4, 5), m.zeros(2, 5).long()),
        lambda m: f(m).nll_loss(m.zeros(2, 3, 4, 5, 6), m.zeros(2, 4, 5, 5).long()),
        lambda m: f(m).cross_entropy(x(m), t(m, 0, 1), label_smoothing=1.1),
        lambda m: f(m).cross_entropy(x(m), x(m), label_smoothing=1.1),
        lambda m: f(m).cross_entropy(x(m), x(m), ignore_index=1),
        lambda m: f(m).cross_entropy(x(m), i(m)),
        lambda m: f(m).cross_entropy(x(m), t(m, 0, 1).float()),
        lambda m: f(m).cross_entropy(x(m), t(m, 0, 5)),
        lambda m: f(m).cross_entropy(x(m), t(m, 0, -1)),
        lambda m: f(m).cross_entropy(x(m), t(m, 0)),
        lambda m: f(m).cross_entropy(i(m), t(m, 0, 1)),
        lambda m: f(m).cross_entropy(x(m), x(m), weight=m.zeros(2)),
        lambda m: f(m).cross_entropy(x(m), t(m, 0, 1), weight=m.zeros(2)),
        lambda m: f(m).cross_entropy(x(m), t(m, 0, 1), reduction="nonsense"),
        lambda m: f(m).cross_entropy(m.tensor(1.0), m.tensor(0)),
    ]


LOOSE = ("received an invalid combination", "must be int", "missing 1 required")  # the type is enough for these


@pytest.mark.parametrize("index", range(len(_wrong_calls())))
def test_errors(index: int) -> None:
    call = _wrong_calls()[index]
    with pytest.raises(Exception) as theirs:
        call(torch)
    with pytest.raises(type(theirs.value)) as ours:
        call(leafgrad)
    assert type(ours.value) is type(theirs.value)
    if not any(words in str(theirs.value) for words in LOOSE):
        assert first_sentence(ours.value) == first_sentence(theirs.value)


WARNING_CALLS: list[Callable[[Any], Any]] = [
    lambda m: m.zeros(1).var(),
    lambda m: m.zeros(2, 3).std(1, correction=3),
    lambda m: m.var_mean(m.zeros(1)),
    lambda m: m.nn.functional.mse_loss(m.zeros(2, 3), m.zeros(3)),
    lambda m: m.nn.functional.mse_loss(m.zeros(2), m.zeros(2), size_average=False),
    lambda m: m.nn.functional.nll_loss(m.zeros(2, 3), m.tensor([0, 1]), reduce=False),
    lambda m: m.nn.functional.cross_entropy(m.zeros(2, 3), m.tensor([0, 1]), size_average=True),
    lambda m: m.nn.functional.mse_loss(m.zeros(2), m.zeros(2), reduction="elementwise_mean"),
]


@pytest.mark.parametrize("index", range(len(WARNING_CALLS)))
def test_warnings(index: int) -> None:
    texts = []
    for lib in (leafgrad, torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            WARNING_CALLS[index](lib)
        assert [w.category for w in caught] == [UserWarning]
        assert lib is torch or caught[0].filename == __file__
        texts.append(str(caught[0].message).split(" (Triggered")[0])
    assert texts[0] == texts[1]


# -- what else shows --------------------------------------------------------------------------------------------------


def test_names_in_the_graph() -> None:
    calls: list[Callable[[Any, Any], Any]] = [
        *[lambda m, x, n=name: getattr(x, n)() for name in ("sum", "mean", "prod", "max", "min", "var", "std", "norm")],
        *[lambda m, x, n=name: getattr(x, n)(0) for name in ("sum", "mean", "prod", "var", "std", "amax", "amin")],
        *[lambda m, x, n=name: getattr(x, n)(0) for name in ("softmax", "log_softmax", "logsumexp", "cumsum")],
        *[lambda m, x, n=name: getattr(x, n)(0)[0] for name in ("max", "min")],
        lambda m, x: x.sum(()),
        lambda m, x: m.norm(x, "nuc"),
        lambda m, x: m.nn.functional.mse_loss(x, x.detach()),
        lambda m, x: m.nn.functional.nll_loss(x, m.tensor([0, 1])),
        lambda m, x: m.nn.functional.cross_entropy(x, m.tensor([0, 1])),
        lambda m, x: m.nn.functional.cross_entropy(x.reshape(1, 2, 3), m.tensor([[0, 1, 0]])),
        lambda m, x: m.nn.functional.nll_loss(x.reshape(1, 2, 3), m.tensor([[0, 1, 0]])),
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
