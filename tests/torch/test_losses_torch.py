"""Losses compared with the installed PyTorch: values, gradients, gradients of gradients, dtypes and error messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import leafgrad
from derivatives import check_error, check_warning, compare, numbers, same_refusal_or, to_torch

A = Any  # an array or a tensor of either library
FLOATS = ["float32", "float64", "float16", "bfloat16"]
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated", "ignore:Using a target size")


def functional(lib: Any) -> Any:
    return lib.nn.functional


REDUCTIONS = ["mean", "sum", "none"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_mse_loss(dtype: str, reduction: str) -> None:
    for shape in [(), (5,), (3, 4), (0, 3)]:
        x, y = numbers(shape, dtype, 9), numbers(shape, dtype, 10)
        compare(lambda lib, a, b: functional(lib).mse_loss(a, b, reduction=reduction), x, y)
    x, y, w = numbers((3, 4), dtype, 9), numbers((3, 4), dtype, 10), np.abs(numbers((3, 4), dtype, 11))
    compare(lambda lib, a, b, c: functional(lib).mse_loss(a, b, reduction=reduction, weight=c), x, y, w)
    compare(lambda lib, a, b: functional(lib).mse_loss(a, b, reduction=reduction), x, y[0])


def test_mse_loss_of_mixed_dtypes() -> None:
    kinds = [("float32", "float64"), ("float32", "int64"), ("float16", "float32"), ("int64", "float64")]
    for a, b in [*kinds, ("int64", "int64"), ("complex64", "complex64"), ("bool", "bool")]:
        x, y = numbers((3, 4), a, 9), numbers((3, 4), b, 10)
        same_refusal_or(
            lambda x=x, y=y: compare(lambda lib, s, t: functional(lib).mse_loss(s, t), x, y),
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

                def call(lib: Any, a: A, t: A = t, weighted: A = weighted, extra: A = extra, i: int = ignore) -> Any:
                    more = {"reduction": reduction, "ignore_index": i, **extra}
                    if weighted:
                        more["weight"] = lib.from_numpy(w.copy())
                    target = lib.tensor(t.tolist(), dtype=lib.int64).reshape(t.shape)
                    return getattr(functional(lib), name)(a, target, **more)

                compare(call, x)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", TARGET_SHAPES)
def test_cross_entropy_of_probabilities(reduction: str, shape: tuple[int, ...]) -> None:
    classes = shape[0] if len(shape) == 1 else shape[1]
    x, y = numbers(shape, "float64", 15), np.abs(numbers(shape, "float64", 16))
    w = np.abs(numbers((classes,), "float64", 17))
    for smoothing in (0.0, 0.2):

        def call(lib: Any, a: A, b: A, c: A = None, s: float = smoothing) -> Any:
            return functional(lib).cross_entropy(a, b, c, reduction=reduction, label_smoothing=s)

        compare(call, x, y)
        compare(call, x, y, w)


@pytest.mark.parametrize("dtype", FLOATS)
def test_class_losses_of_all_precisions(dtype: str) -> None:
    x = numbers((5, 4), dtype, 18)
    for name in ("nll_loss", "cross_entropy"):
        for reduction in REDUCTIONS:

            def call(lib: Any, a: A, name: str = name, reduction: str = reduction) -> Any:
                return getattr(functional(lib), name)(a, lib.tensor([0, 3, 1, 1, 2]), reduction=reduction)

            compare(call, x)
            compare(call, x, transposed=True)
    large = numbers((5, 4), dtype, 18) * np.asarray(64, x.dtype)
    compare(lambda lib, a: functional(lib).cross_entropy(a, lib.tensor([0, 3, 1, 1, 2])), large.astype(x.dtype))


# -- distances --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("limit", [0.5, 1.0, 2.5])
def test_smooth_losses(dtype: str, reduction: str, limit: float) -> None:
    for shape in [(), (5,), (3, 4), (0, 3)]:
        x, y = numbers(shape, dtype, 19), numbers(shape, dtype, 20)
        compare(lambda lib, a, b: functional(lib).smooth_l1_loss(a, b, reduction=reduction, beta=limit), x, y)
        compare(lambda lib, a, b: functional(lib).huber_loss(a, b, reduction, limit), x, y)
    x, y, w = numbers((3, 4), dtype, 19), numbers((3, 4), dtype, 20), np.abs(numbers((3, 4), dtype, 21))
    compare(lambda lib, a, b, c: functional(lib).huber_loss(a, b, reduction, limit, c), x, y, w)
    compare(lambda lib, a, b: functional(lib).smooth_l1_loss(a, b, reduction=reduction, beta=0.0), x, y, double=False)
    compare(lambda lib, a, b: functional(lib).smooth_l1_loss(a, b, reduction=reduction, beta=limit), x, y[0])


# -- yes or no --------------------------------------------------------------------------------------------------------


def chances(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    """Numbers between 0 and 1, without either."""
    return np.asarray(numbers(shape, "float64", seed) / 4.5 + 0.5).astype(numbers((), dtype).dtype)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_binary_cross_entropy(dtype: str, reduction: str) -> None:
    for shape in [(), (5,), (3, 4), (0, 3)]:
        x, y = chances(shape, dtype, 22), chances(shape, dtype, 23)
        compare(lambda lib, a, b: functional(lib).binary_cross_entropy(a, b, reduction=reduction), x, y)
    x, y, w = chances((3, 4), dtype, 22), chances((3, 4), dtype, 23), np.abs(numbers((4,), dtype, 24))

    def weighted(lib: Any, a: A, b: A, c: A) -> Any:
        return functional(lib).binary_cross_entropy(a, b, c.detach(), reduction=reduction)

    compare(weighted, x, y, w)


def test_binary_cross_entropy_of_certainty() -> None:
    x, y = np.array([0.0, 1.0, 0.0, 1.0, 0.5]), np.array([0.0, 1.0, 1.0, 0.0, 0.25])
    compare(lambda lib, a: functional(lib).binary_cross_entropy(a, lib.tensor(y), reduction="none"), x, double=False)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_binary_cross_entropy_with_logits(dtype: str, reduction: str) -> None:
    def call(lib: Any, a: A, b: A, weight: A = None, pos_weight: A = None) -> Any:
        weights = {"weight": weight, "pos_weight": pos_weight}
        fixed = {name: w if w is None else w.detach() for name, w in weights.items()}
        return functional(lib).binary_cross_entropy_with_logits(a, b, reduction=reduction, **fixed)

    for shape in [(), (5,), (3, 4), (0, 3)]:
        compare(call, numbers(shape, dtype, 25), chances(shape, dtype, 26))
    x, y = numbers((3, 4), dtype, 25), chances((3, 4), dtype, 26)
    w, p = numbers((3, 1), dtype, 27), numbers((4,), dtype, 28)
    compare(call, x, y, np.abs(w))
    compare(call, x, y, np.abs(w), np.abs(p))
    compare(lambda lib, a, b, c: call(lib, a, b, None, c), x, y, np.abs(p))
    large = np.asarray(32, x.dtype) * x
    compare(call, large.astype(x.dtype), y)


# -- errors, warnings, names ------------------------------------------------------------------------------------------


def _wrong_calls() -> list[Callable[[Any], Any]]:
    def x(m: Any) -> Any:
        return m.arange(6.0).reshape(2, 3)

    def u(m: Any) -> Any:
        return x(m) / 8

    def i(m: Any) -> Any:
        return m.arange(6).reshape(2, 3)

    def f(m: Any) -> Any:
        return functional(m)

    def t(m: Any, *values: int) -> Any:
        return m.tensor(list(values))

    return [
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
        lambda m: f(m).smooth_l1_loss(x(m), x(m), beta=-1.0),
        lambda m: f(m).smooth_l1_loss(i(m), i(m)),
        lambda m: f(m).huber_loss(x(m), x(m), delta=0.0),
        lambda m: f(m).huber_loss(i(m), i(m)),
        lambda m: f(m).huber_loss(x(m), x(m), weight=m.zeros(3)),
        lambda m: f(m).huber_loss(x(m), x(m), weight=x(m), reduction="nonsense"),
        lambda m: f(m).binary_cross_entropy(u(m), u(m)[:1]),
        lambda m: f(m).binary_cross_entropy(x(m), u(m)),
        lambda m: f(m).binary_cross_entropy(u(m), x(m)),
        lambda m: f(m).binary_cross_entropy(u(m), i(m)),
        lambda m: f(m).binary_cross_entropy(i(m), i(m)),
        lambda m: f(m).binary_cross_entropy(u(m), u(m).double()),
        lambda m: f(m).binary_cross_entropy(u(m), u(m), weight=m.zeros(2)),
        lambda m: f(m).binary_cross_entropy(u(m), u(m), weight=m.zeros(3, requires_grad=True)),
        lambda m: f(m).binary_cross_entropy(u(m), u(m), reduction="nonsense"),
        lambda m: f(m).binary_cross_entropy_with_logits(x(m), u(m)[:1]),
        lambda m: f(m).binary_cross_entropy_with_logits(x(m), i(m)),
        lambda m: f(m).binary_cross_entropy_with_logits(i(m), i(m)),
        lambda m: f(m).binary_cross_entropy_with_logits(x(m), u(m), weight=m.zeros(2)),
        lambda m: f(m).binary_cross_entropy_with_logits(x(m), u(m), weight=m.zeros(4, 2, 3)),
        lambda m: f(m).binary_cross_entropy_with_logits(x(m), u(m), pos_weight=m.zeros(2)),
        lambda m: f(m).binary_cross_entropy_with_logits(x(m), u(m), pos_weight=m.zeros(3, requires_grad=True)),
        lambda m: f(m).logsigmoid(i(m)),
    ]


@pytest.mark.parametrize("index", range(len(_wrong_calls())))
def test_errors(index: int) -> None:
    check_error(_wrong_calls()[index])


WARNING_CALLS: list[Callable[[Any], Any]] = [
    lambda m: functional(m).mse_loss(m.zeros(2, 3), m.zeros(3)),
    lambda m: functional(m).mse_loss(m.zeros(2), m.zeros(2), size_average=False),
    lambda m: functional(m).nll_loss(m.zeros(2, 3), m.tensor([0, 1]), reduce=False),
    lambda m: functional(m).cross_entropy(m.zeros(2, 3), m.tensor([0, 1]), size_average=True),
    lambda m: functional(m).mse_loss(m.zeros(2), m.zeros(2), reduction="elementwise_mean"),
    lambda m: functional(m).huber_loss(m.zeros(2, 3), m.zeros(3)),
    lambda m: functional(m).smooth_l1_loss(m.zeros(2), m.zeros(2), reduce=False),
    lambda m: functional(m).binary_cross_entropy(m.zeros(2), m.zeros(2), size_average=False),
    lambda m: functional(m).binary_cross_entropy_with_logits(m.zeros(2), m.zeros(2), size_average=False),
]


@pytest.mark.parametrize("index", range(len(WARNING_CALLS)))
def test_warnings(index: int) -> None:
    check_warning(WARNING_CALLS[index], __file__)


def test_names_in_the_graph() -> None:
    calls: list[Callable[[Any, Any], Any]] = [
        lambda m, x: functional(m).mse_loss(x, x.detach()),
        lambda m, x: functional(m).nll_loss(x, m.tensor([0, 1])),
        lambda m, x: functional(m).cross_entropy(x, m.tensor([0, 1])),
        lambda m, x: functional(m).cross_entropy(x.reshape(1, 2, 3), m.tensor([[0, 1, 0]])),
        lambda m, x: functional(m).nll_loss(x.reshape(1, 2, 3), m.tensor([[0, 1, 0]])),
        lambda m, x: functional(m).smooth_l1_loss(x, x.detach()),
        lambda m, x: functional(m).huber_loss(x, x.detach()),
        lambda m, x: functional(m).binary_cross_entropy(x, x.detach()),
        lambda m, x: functional(m).binary_cross_entropy_with_logits(x, x.detach()),
        lambda m, x: functional(m).logsigmoid(x),
    ]
    for call in calls:
        names = [type(call(m, m.ones(2, 3, requires_grad=True)).grad_fn).__name__ for m in (leafgrad, torch)]
        assert names[0] == names[1]
