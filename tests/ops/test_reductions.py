"""Reductions and softmax: values known by hand or from NumPy, corners of their gradients, dtypes, messages.

That every rule is the derivative of its function, to second order, is the subject of test_ops_gradients.py.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad.nn import functional as F
from small_tensors import close, gradient, numeric_second_gradient, second_gradient, values

INF, NAN = math.inf, math.nan
FLOATS = ["float16", "bfloat16", "float32", "float64"]


X = [[1.0, 5.0, 2.0], [4.0, 3.0, 6.0]]


# -- values -----------------------------------------------------------------------------------------------------------

BY_HAND: list[tuple[Callable[[Any], Any], Any]] = [
    (lambda x: x.sum(), 21),
    (lambda x: x.sum(0), [5, 8, 8]),
    (lambda x: x.sum(-1, keepdim=True), [[8], [13]]),
    (lambda x: x.sum((0, 1)), 21),
    (lambda x: x.sum(()), 21),
    (lambda x: x.sum(axis=0, keepdims=True), [[5, 8, 8]]),
    (lambda x: x.sum(dim=None, keepdim=True), [[21]]),
    (lambda x: x.mean(), 3.5),
    (lambda x: x.mean([0], True), [[2.5, 4, 4]]),
    (lambda x: x.prod(), 720),
    (lambda x: x.prod(1), [10, 72]),
    (lambda x: x.max(), 6),
    (lambda x: x.min(), 1),
    (lambda x: x.max(0).values, [4, 5, 6]),
    (lambda x: x.max(0).indices, [1, 0, 1]),
    (lambda x: x.min(1, keepdim=True)[1], [[0], [1]]),
    (lambda x: x.max(x.flip(1)), [[2, 5, 2], [6, 3, 6]]),
    (lambda x: torch.min(x, other=x * 0 + 3), [[1, 3, 2], [3, 3, 3]]),
    (lambda x: x.amax((0, 1), keepdim=True), [[6]]),
    (lambda x: x.amin(1), [1, 3]),
    (lambda x: x.argmax(), 5),
    (lambda x: x.argmax(keepdim=True), [[5]]),
    (lambda x: x.argmin(0), [0, 1, 0]),
    (lambda x: x.var(), 3.5),
    (lambda x: x.var(False), 17.5 / 6),
    (lambda x: x.var(0, unbiased=False), [2.25, 1, 4]),
    (lambda x: x.var(0, correction=0), [2.25, 1, 4]),
    (lambda x: x.std(0, True, True), [[math.sqrt(4.5), math.sqrt(2), math.sqrt(8)]]),
    (lambda x: torch.var_mean(x, 0, correction=0)[1], [2.5, 4, 4]),
    (lambda x: torch.std_mean(x, False)[0], math.sqrt(17.5 / 6)),
    (lambda x: x.norm(), math.sqrt(91)),
    (lambda x: x.norm(1, 1), [8, 13]),
    (lambda x: torch.norm(x, INF, dim=0), [4, 5, 6]),
    (lambda x: torch.norm(x, -INF), 1),
    (lambda x: torch.norm(x - 1, 0), 5),
    (lambda x: torch.norm(x, 3, dim=1), [134 ** (1 / 3), 307 ** (1 / 3)]),
    (lambda x: torch.norm(x, "nuc"), np.linalg.svd(X, compute_uv=False).sum()),
    (lambda x: torch.norm(x, "nuc", (1, 0), keepdim=True), [[np.linalg.svd(X, compute_uv=False).sum()]]),
    (lambda x: x.cumsum(0), [[1, 5, 2], [5, 8, 8]]),
    (lambda x: x.cumsum(-1), [[1, 6, 8], [4, 7, 13]]),
    (lambda x: x.logsumexp(1), np.log(np.exp(X).sum(1))),
    (lambda x: x.logsumexp((0, 1), keepdim=True), [[np.log(np.exp(X).sum())]]),
    (lambda x: x.softmax(1), np.exp(X) / np.exp(X).sum(1, keepdims=True)),
    (lambda x: x.softmax(0), np.exp(X) / np.exp(X).sum(0)),
    (lambda x: x.log_softmax(1), np.log(np.exp(X) / np.exp(X).sum(1, keepdims=True))),
    (lambda x: (x > 4).all(), False),
    (lambda x: (x > 4).any(0), [False, True, True]),
    (lambda x: (x > 4).all(()), [[False, True, False], [False, False, True]]),
    (lambda x: (x > 4).sum(), 2),
    (lambda x: (x > 4).sum(1), [1, 1]),
    (lambda x: (x - 1).count_nonzero(), 5),
    (lambda x: (x - 1).count_nonzero(dim=(0,)), [1, 2, 2]),
    (lambda x: x.sum_to_size(1, 3), [[5, 8, 8]]),
    (lambda x: x.sum_to_size(3), [5, 8, 8]),
]


@pytest.mark.parametrize("index", range(len(BY_HAND)))
@pytest.mark.parametrize("transposed", [False, True])
def test_values(index: int, transposed: bool) -> None:
    call, expected = BY_HAND[index]
    x = torch.tensor(X, dtype=torch.float64)
    if transposed:
        x = x.t().contiguous().t()
    close(call(x), expected, 1e-12)


def test_numbers_without_dimensions() -> None:
    x = torch.tensor(3.0)
    for name in ("sum", "mean", "prod", "amax", "amin", "logsumexp", "cumsum"):
        assert getattr(x, name)(0).item() == 3 and getattr(x, name)(-1).shape == ()
    assert x.max(0) == (torch.tensor(3.0), torch.tensor(0))
    assert x.argmax(0).item() == 0 and x.softmax(0).item() == 1 and x.log_softmax(0).item() == 0
    assert x.norm(1, 0).item() == 3 and x.all(0, keepdim=True).shape == ()
    assert x.std(0, correction=0).item() == 0


def test_empty_tensors() -> None:
    e = torch.zeros(0, 3)
    assert e.sum().item() == 0 and e.prod().item() == 1 and math.isnan(e.mean().item())
    close(e.sum(0), [0, 0, 0])
    close(e.mean(0), [NAN] * 3)
    close(e.prod(0), [1, 1, 1])
    close(e.logsumexp(0), [-INF] * 3)
    close(e.norm(2, 0), [0, 0, 0])
    close(e.all(0), [True] * 3)
    close(e.any(0), [False] * 3)
    close(e.count_nonzero(0), [0, 0, 0])
    assert e.max(1).values.shape == (0,) and e.amax(1).shape == (0,) and e.argmin(1).shape == (0,)
    for call in (torch.softmax, torch.log_softmax, torch.cumsum):
        assert call(e, 0).shape == (0, 3)
    x = torch.zeros(0, 3, requires_grad=True)
    (x.sum() + x.prod() + x.mean(1).sum() + x.logsumexp(0).exp().sum() + x.softmax(1).sum()).backward()
    assert x.grad.shape == (0, 3)


def test_nan_and_infinity() -> None:
    nan = torch.tensor([1.0, NAN, 3.0])
    assert math.isnan(nan.max().item()) and math.isnan(nan.amin().item()) and math.isnan(nan.norm(INF).item())
    assert nan.max(0).indices.item() == 1 and nan.argmin().item() == 1
    assert torch.tensor([INF, 1.0]).logsumexp(0).item() == INF
    assert torch.tensor([-INF, -INF]).logsumexp(0).item() == -INF
    close(torch.tensor([1000.0, 1000.0]).softmax(0), [0.5, 0.5])
    close(torch.tensor([-1000.0, 0.0]).log_softmax(0), [-1000, 0])
    close(torch.tensor([-INF, 1.0]).softmax(0), [0, 1])


def test_without_nan() -> None:
    x = torch.tensor([[1.0, NAN, 3.0], [NAN, NAN, 4.0]], requires_grad=True)
    close(x.nansum(), 8)
    close(x.nansum(1, keepdim=True), [[4], [4]])
    close(x.nanmean(0), [1, NAN, 3.5])
    x.nanmean(1).sum().backward()
    close(x.grad, [[0.5, 0, 0.5], [0, 0, 1]])
    assert torch.tensor([3, 1, 2]).aminmax() == (1, 3)


def test_long_sums_keep_their_digits() -> None:
    """Adding 0.1 a million times in single precision, one after the other, is wrong by one percent."""
    for shape, dim in [((1_000_003,), None), ((1_000_003, 3), 0), ((3, 1_000_003), 1), ((500, 2000, 3), (0, 1))]:
        x = torch.full(shape, 0.1)
        np.testing.assert_allclose(values(x.mean(dim)), 0.1, rtol=1e-6)
        np.testing.assert_allclose(values((x * x).sum(dim)), 0.01 * (1_000_003 if dim != (0, 1) else 1e6), rtol=2e-6)
        np.testing.assert_allclose(values(x.norm(2, dim)) ** 2, 0.01 * (1_000_003 if dim != (0, 1) else 1e6), rtol=5e-6)
    close(F.mse_loss(torch.full((1_000_003,), 0.3), torch.full((1_000_003,), 0.2)), 0.01)


SPECIAL = [0.0, -0.0, 1.5, -2.0, 1e30, INF, -INF, NAN]
LAYOUTS: list[Callable[[Any], Any]] = [
    lambda x: x,
    lambda x: x.reshape(10, -1),
    lambda x: x.reshape(10, -1).T,
    lambda x: x[::2],
    lambda x: x[:0],
    lambda x: x[:1],
    lambda x: x[:1].reshape(()),
    lambda x: x[:0].reshape(3, 0),
    lambda x: np.frombuffer(bytearray(b"1" + x.tobytes()), x.dtype, x.size, 1),  # not aligned
]


def arrays(dtype: str, count: int, special: bool) -> list[Any]:
    """Numbers in many layouts, if wanted with zeros of both signs, infinities and nan among them."""
    rng = np.random.default_rng(count)
    x = rng.integers(-3, 4, count).astype(dtype) if dtype[0] in "iu" else rng.standard_normal(count).astype(dtype)
    if special:
        chosen = rng.random(count) < 10 / count
        x[chosen] = rng.choice(np.array(SPECIAL, dtype), np.count_nonzero(chosen))
    return [layout(x) for layout in LAYOUTS]


def same_bits(found: Any, expected: Any) -> None:
    expected = np.asarray(expected)
    assert found.numpy().dtype == expected.dtype and found.numpy().shape == expected.shape
    np.testing.assert_array_equal(found.numpy(), expected)
    if expected.dtype.kind == "f":
        signs = np.isnan(expected) | (np.signbit(found.numpy()) == np.signbit(expected))
        assert signs.all()


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("count", [20, 3000, 40_000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_running_sums_are_those_of_numpy_in_double_precision_to_the_bit(dtype: str, count: int, special: bool) -> None:
    """but for sums of -0.0, which is added to zero in PyTorch"""
    with np.errstate(all="ignore"):
        for x in arrays(dtype, count, special):
            for dim in range(x.ndim):
                t = torch.from_numpy(x)
                same_bits(t.cumsum(dim), (np.cumsum(x, dim, np.float64) + 0.0).astype(dtype))
                leaf = torch.zeros(x.shape, dtype=t.dtype, requires_grad=True)
                leaf.cumsum(dim).backward(t)
                same_bits(leaf.grad, np.flip(np.cumsum(np.flip(x, dim), dim, np.float64) + 0.0, dim).astype(dtype))


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("count", [20, 3000, 40_000])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_whole_tensors_in_every_layout(dtype: str, count: int, special: bool) -> None:
    for x in arrays(dtype, count, special and dtype[0] == "f"):
        t = torch.from_numpy(x)
        if x.size:
            same_bits(t.max(), x.max())
            same_bits(t.min(), x.min())
            assert t.amax().item() == x.max() or np.isnan(x.max())
        same_bits((t > 1).any(), (x > 1).any())
        same_bits((t > -9).all(), (x > -9).all())


def test_products_of_many() -> None:
    for n in (1000, 16 * 1024, 100_001):
        x = np.exp(np.random.default_rng(n).uniform(-1, 1, n) * 1e-2)
        for dtype in ("float32", "float64"):
            found = torch.from_numpy(x.astype(dtype)).prod().item()
            assert found == pytest.approx(math.exp(np.log(x.astype(dtype).astype(float)).sum()), rel=1e-3)
    x[50_000] = 0
    assert torch.from_numpy(x).prod().item() == 0


# -- dtypes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64"])
def test_integers_are_summed_in_64_bits(dtype: str) -> None:
    x = torch.ones(3, 2, dtype=getattr(torch, dtype))
    for result in (x.sum(), x.sum(0), x.prod(), x.prod(1), x.cumsum(0), x.argmax() if dtype != "bool" else x.sum()):
        assert result.dtype is torch.int64
    assert x.sum(dtype=torch.float32).dtype is torch.float32
    assert x.amax().dtype is x.dtype and x.max(0).values.dtype is x.dtype
    assert x.logsumexp(0).dtype is torch.float32
    assert x.mean(dtype=torch.float64).dtype is torch.float64
    truth = torch.uint8 if dtype == "uint8" else torch.bool
    assert x.all().dtype is truth and x.any(0).dtype is truth


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["amax", "amin"])
def test_the_gradient_of_an_extreme_of_one_element_has_a_graph(name: str, dtype: str) -> None:
    x = torch.tensor(1.5, dtype=getattr(torch, dtype), requires_grad=True)
    (g,) = torch.autograd.grad(getattr(x, name)() * x, x, create_graph=True)
    assert g.item() == 3 and g.dtype is x.dtype and g.requires_grad


def test_a_small_dtype_overflows_if_it_is_asked_for() -> None:
    x = torch.full((3,), 100, dtype=torch.uint8)
    assert x.sum().item() == 300 and x.sum(dtype=torch.uint8).item() == 44
    assert torch.tensor([1.7, 2.7]).sum(dtype=torch.int32).item() == 3
    assert torch.tensor([1, 2]).sum(dtype=torch.bool).item() is True
    assert torch.tensor([-1.0, 1.0]).sum(dtype=torch.bool).item() is True


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_dtypes_stay(dtype: str) -> None:
    x = torch.ones(3, 4, dtype=getattr(torch, dtype), requires_grad=True)
    results = [x.sum(), x.mean(0), x.prod(), x.max(), x.amin(1), x.var(0), x.std(), x.norm(), x.norm(1, 0), x.cumsum(0)]
    results += [x.softmax(0), x.log_softmax(1), x.logsumexp(0), x.max(0).values, F.mse_loss(x, x * 2)]
    results += [F.cross_entropy(x, torch.tensor([0, 1, 2])), F.nll_loss(x, torch.tensor([0, 1, 2]), reduction="none")]
    for result in results:
        assert result.dtype is x.dtype
        (g,) = torch.autograd.grad(result.sum(), x)
        assert g.dtype is x.dtype


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_is_summed_in_single_precision(dtype: str) -> None:
    x = torch.ones(5000, dtype=getattr(torch, dtype))
    expected = 5000 if dtype == "float16" else 4992
    assert x.sum().item() == expected and x.cumsum(0)[-1].item() == expected
    assert x.mean().item() == 1 and x.var().item() == 0
    assert (x * 200).mean().item() == 200  # the sum itself is beyond float16
    close(x.norm(), math.sqrt(5000), 0.01)


def test_dtype_is_applied_before_the_sum() -> None:
    x = torch.ones(5000, dtype=torch.float16, requires_grad=True)
    y = x.sum(dtype=torch.float32)
    assert y.dtype is torch.float32 and y.item() == 5000
    y.backward()
    assert x.grad.dtype is torch.float16
    z = x.softmax(0, dtype=torch.float32)
    assert z.dtype is torch.float32 and torch.autograd.grad(z[0], x)[0].dtype is torch.float16


def test_complex_numbers() -> None:
    z = torch.tensor([1 + 1j, 2 - 1j], requires_grad=True)
    assert z.sum().item() == 3 and z.mean().item() == 1.5 and z.prod().item() == 3 + 1j
    close(z.var(), 2.5)
    close(z.norm(), math.sqrt(7))
    z.norm().backward()
    close(z.grad, np.array([1 + 1j, 2 - 1j]) / math.sqrt(7))
    (g,) = torch.autograd.grad(z.prod(), z, torch.tensor(1 + 0j))
    close(g, [2 + 1j, 1 - 1j])  # the conjugates of the other factor


# -- corners of the gradients -----------------------------------------------------------------------------------------


def test_equals_share_the_gradient_of_an_extreme() -> None:
    tied = [[1.0, 3.0, 3.0], [3.0, 0.0, 0.0]]
    close(gradient(lambda x: x.max(), tied), [[0, 1 / 3, 1 / 3], [1 / 3, 0, 0]])
    close(gradient(lambda x: x.min(), tied), [[0, 0, 0], [0, 0.5, 0.5]])
    close(gradient(lambda x: x.amax(1), tied), [[0, 0.5, 0.5], [1, 0, 0]])
    close(gradient(lambda x: x.amin((0, 1)), tied), [[0, 0, 0], [0, 0.5, 0.5]])
    close(gradient(lambda x: x.norm(INF), tied), [[0, 1 / 3, 1 / 3], [1 / 3, 0, 0]])


def test_along_a_dimension_the_first_of_equals_gets_it_all() -> None:
    close(gradient(lambda x: x.max(1).values, [[1.0, 3.0, 3.0]]), [[0, 1, 0]])
    close(gradient(lambda x: x.min(0, keepdim=True)[0], [[1.0, 3.0], [1.0, 2.0]]), [[1, 0], [0, 1]])


@pytest.mark.parametrize("row", [[2.0, 3, 4], [0.0, 3, 4], [0.0, 0, 4], [0.0, 0, 0], [5.0], [0.0], [1.0, 0, 2, 0, 3]])
def test_prod_with_zeros(row: list[float]) -> None:
    others = [math.prod(row[:i] + row[i + 1 :]) for i in range(len(row))]
    close(gradient(lambda x: x.prod(), row), others)
    close(gradient(lambda x: x.prod(1), [row, row]), [others, others])
    for f in (lambda x: x.prod(), lambda x: x.prod(0)) if row != [0.0] else ():  # whose gradient is no function of it
        close(second_gradient(f, row), numeric_second_gradient(f, row), 1e-7)


@pytest.mark.parametrize("order", [0, 1, 2, 3, 1.5, 0.5, -1, INF, -INF])
def test_the_gradient_of_a_norm_at_zero_is_zero(order: float) -> None:
    close(gradient(lambda x: x.norm(order), [0.0, 0.0]), [0, 0])
    assert np.isfinite(values(gradient(lambda x: x.norm(order, 1), [[0.0, 2.0], [0.0, 0.0]]))).all()


def test_second_derivatives_at_zero_are_finite() -> None:
    for f in (lambda x: x.norm(), lambda x: x.norm(3), lambda x: x.std(correction=0)):
        assert np.isfinite(values(second_gradient(f, [0.0, 0.0]))).all()


SECOND: list[Callable[[Any], Any]] = [
    lambda x: (x * x).sum(0) ** 2,
    lambda x: x.mean(1) ** 3,
    lambda x: x.prod(1),
    lambda x: x.var(0) ** 2,
    lambda x: x.std(),
    lambda x: x.norm(),
    lambda x: x.norm(3, 1),
    lambda x: x.norm("nuc"),
    lambda x: x.cumsum(1) ** 2,
    lambda x: x.max(1)[0] ** 3,
    lambda x: x.amax(0) ** 2,
    lambda x: x.max() ** 3,
    lambda x: x.logsumexp(0),
    lambda x: x.softmax(1)[:, 0],
    lambda x: x.log_softmax(0)[0],
]


@pytest.mark.parametrize("index", range(len(SECOND)))
def test_second_derivatives(index: int) -> None:
    data = [[0.4, 1.1, -0.7], [0.9, -0.2, 1.6]]
    close(second_gradient(SECOND[index], data), numeric_second_gradient(SECOND[index], data), 1e-6)


# -- messages ---------------------------------------------------------------------------------------------------------

ERRORS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (
        lambda x: x.long().mean(),
        RuntimeError,
        "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: Long",
    ),
    (lambda x: x.sum(2), IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
    (lambda x: x.sum((0, 0)), RuntimeError, "dim 0 appears multiple times in the list of dims"),
    (lambda x: x.sum("rows"), TypeError, "sum() received an invalid combination of arguments - got (str), but"),
    (lambda x: torch.sum([1.0]), TypeError, "sum(): argument 'input' (position 1) must be Tensor, not list"),
    (lambda x: x.sum(nonsense=1), TypeError, "sum() received an invalid combination of arguments - got (nonsense=int"),
    (lambda x: x[:0].max(), RuntimeError, "max(): Expected reduction dim to be specified for input.numel() == 0."),
    (lambda x: x[:0].min(0), IndexError, "min(): Expected reduction dim 0 to have non-zero size."),
    (lambda x: x[:0].argmax(), IndexError, "argmax(): Expected reduction dim to be specified for input.numel() == 0."),
    (lambda x: (x > 0).argmin(), RuntimeError, "argmin(): does not support bool input"),
    (lambda x: x.long().std(), RuntimeError, "std and var only support floating point and complex dtypes"),
    (
        lambda x: x.long().norm(),
        RuntimeError,
        "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long",
    ),
    (lambda x: x.norm("nonsense"), RuntimeError, "linalg.matrix_norm: Order nonsense not supported."),
    (lambda x: x.long().softmax(1), NotImplementedError, "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'"),
    (lambda x: x.sum_to_size(5), RuntimeError, "size {[5]} is not expandable to size {[2, 3]}."),
]


@pytest.mark.parametrize("index", range(len(ERRORS)))
def test_errors(index: int) -> None:
    call, kind, message = ERRORS[index]
    with pytest.raises(kind) as caught:
        call(torch.tensor(X))
    assert str(caught.value).startswith(message)


def test_too_few_elements_for_a_variance() -> None:
    with pytest.warns(UserWarning, match=r"var\(\): degrees of freedom is <= 0") as caught:
        assert math.isnan(torch.tensor([1.0]).var().item())
    assert caught[0].filename == __file__


def test_results_with_names() -> None:
    found = torch.tensor([[1.0, 5.0]]).max(1)
    assert repr(found) == "torch.return_types.max(\nvalues=tensor([5.]),\nindices=tensor([1]))"
    value, index = found
    assert found.values is value and found[1] is index
    assert torch.ones(2, requires_grad=True).max(0).indices.requires_grad is False


def test_a_single_element_is_summed_to_no_dimensions() -> None:
    yes = torch.tensor(True)
    assert yes.sum_to_size(()).dtype is torch.int64 and yes[None].sum_to_size(1).dtype is torch.bool
    assert type(torch.tensor(1.0, requires_grad=True).sum_to_size(()).grad_fn).__name__ == "SumBackward0"


def test_averages_of_integers_are_cut_towards_zero() -> None:
    x = torch.tensor([[[[-7, -8], [15, 1]]]])
    pooled = [torch.nn.functional.avg_pool2d(x, (1, 2), divisor_override=by).tolist() for by in (2, -2)]
    assert pooled == [[[[[-7], [8]]]], [[[[7], [-8]]]]]


# -- results with named parts -----------------------------------------------------------------------------------------


def test_a_named_result_is_made_from_one_sequence() -> None:
    made = torch.return_types.max((1, 2))
    assert (made.values, made.indices) == made == (1, 2)
    with pytest.raises(TypeError, match=r"torch.return_types.max\(\) takes a 2-sequence \(3-sequence given\)"):
        torch.return_types.max((1, 2, 3))


def test_a_named_result_can_be_matched_pickled_and_not_changed() -> None:
    found = torch.tensor([[3.0, 1.0]]).sort(1)
    match found:
        case torch.return_types.sort(values, indices):
            assert values.tolist() == [[1.0, 3.0]] and indices.tolist() == [[1, 0]]
    again = pickle.loads(pickle.dumps(found))
    assert type(again) is torch.return_types.sort and again.values.tolist() == [[1.0, 3.0]]
    with pytest.raises(AttributeError):
        found.values = None


def test_a_named_result_is_a_container_for_vmap() -> None:
    x = torch.tensor([[1.0, 5.0], [7.0, 2.0]])
    found = torch.vmap(lambda row: row.max(0))(x)
    assert type(found) is torch.return_types.max and found.indices.tolist() == [1, 0]


def test_a_hash_is_the_same_in_all_layouts_and_differs_by_an_element() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    whole = torch.hash_tensor(x)
    assert whole.dtype is torch.uint64 and whole == torch.hash_tensor(x.t())
    x[1, 2] = 7.5
    assert torch.hash_tensor(x) != whole and x.hash_tensor(1).tolist()[0] == torch.hash_tensor(x[0])


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("shape", [(7, 3), (2, 9, 40), (3, 300, 5)])
def test_softmax_along_any_dimension_is_that_of_rows(name: str, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x = torch.randn(shape) * 4
    x.view(-1)[:4] = torch.tensor([INF, -INF, NAN, 100.0])
    x.requires_grad_()
    g = torch.randn(shape)
    for dim in range(len(shape)):
        out = getattr(x, name)(dim)
        rows = getattr(x.transpose(dim, -1).contiguous(), name)(-1).transpose(dim, -1)
        close(out, rows.detach().numpy(), 2e-6)
        assert out.is_contiguous()
        (own,) = torch.autograd.grad(out, x, g)
        (by_rows,) = torch.autograd.grad(rows, x, g)
        close(own, by_rows.numpy(), 1e-5)


def test_ends_of_differences_have_to_fit() -> None:
    with pytest.raises(RuntimeError, match="diff expects prepend or append to be the same dimension as input"):
        torch.ones(4).diff(prepend=torch.ones(2, 2))
    with pytest.raises(RuntimeError, match=r"input.size\(0\) = 4, but got tensor.size\(0\) = 3"):
        torch.ones(4, 4).diff(dim=1, append=torch.ones(3, 2))


def test_weights_of_covariances_are_checked() -> None:
    x = torch.ones(2, 2)
    with pytest.raises(
        RuntimeError, match="expected fweights to have integral dtype but got fweights with Float dtype"
    ):
        torch.cov(x, fweights=torch.ones(2))
    with pytest.raises(RuntimeError, match="expected aweights to have floating point dtype"):
        torch.cov(x, aweights=torch.ones(2, dtype=torch.int64))
    for name, wrong in (("fweights", torch.tensor([-1, 2])), ("aweights", torch.tensor([-1.0, 2.0]))):
        with pytest.raises(RuntimeError, match=f"{name} cannot be negative"):
            torch.cov(x, **{name: wrong})
    with pytest.raises(RuntimeError, match="weights sum to zero"):
        torch.cov(x, fweights=torch.tensor([0, 0]))


def test_dimensions_of_slopes() -> None:
    with pytest.raises(RuntimeError, match="dim 1 appears multiple times in the list of dims"):
        torch.gradient(torch.ones(3, 3), dim=(1, -1))
    with pytest.raises(RuntimeError, match="a spacing argument of length 2 and a dim argument of length 1"):
        torch.gradient(torch.ones(3, 3), dim=(0,), spacing=[1, 2])
    with pytest.raises(RuntimeError, match="does not support uint8 input"):
        torch.gradient(torch.ones(3, dtype=torch.uint8))


def test_places_in_shapes_are_long() -> None:
    for kind in (torch.uint8, torch.int32):
        found = torch.unravel_index(torch.tensor([5], dtype=kind), (300, 2))
        assert [place.tolist() for place in found] == [[2], [1]] and found[0].dtype is torch.int64
    for make in (torch.tril_indices, torch.triu_indices):
        with pytest.raises(NotImplementedError, match=f"\"{make.__name__}\" not implemented for 'Float'"):
            make(2, 2, dtype=torch.float32)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        torch.fft.fftn(torch.tensor(1.0), dim=0)


@pytest.mark.parametrize("kind", [torch.uint8, torch.int32])
def test_small_integers_stay_small_in_products(kind: Any) -> None:
    ones = torch.ones(3, 2, 2, dtype=kind)
    assert torch.addbmm(ones[0], ones, ones).dtype is kind
    assert torch.tensordot(ones[0, :1], ones[0], ([0], [0])).tolist() == [[2, 2], [2, 2]]
