"""`out=` of other dtypes: what functions convert, compute in, or refuse, in PyTorch's words."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import leafgrad as torch
from leafgrad import linalg

X = torch.tensor([[4.0, 1.0], [1.0, 3.0]])
F32, F64, I32, I64, C64 = torch.float32, torch.float64, torch.int32, torch.int64, torch.complex64
CONVERTED = "result type Float can't be cast to the desired output type Int"
EXPECTED = "Expected out tensor to have dtype float, but got int instead"


def empty(kind: Any) -> Any:
    return torch.empty(0, dtype=kind)


REFUSED: dict[str, tuple[Callable[..., Any], Any, str]] = {
    "sin": (lambda out: torch.sin(X, out=out), I32, CONVERTED),
    "add": (lambda out: torch.add(X, 1, out=out), I32, CONVERTED),
    "clamp": (lambda out: torch.clamp(X, 0, out=out), I32, "Found dtype Int but expected Float"),
    "clamp by tensors": (lambda out: torch.clamp(X, X, out=out), I32, CONVERTED),
    "outer": (lambda out: torch.outer(X[0], X[0], out=out), I32, CONVERTED),
    "mm": (lambda out: torch.mm(X, X, out=out), I32, EXPECTED),
    "mm of doubles": (
        lambda out: torch.mm(X, X, out=out), F64, "Expected out tensor to have dtype float, but got double instead",
    ),
    "gather": (lambda out: torch.gather(X, 0, torch.zeros(1, 1, dtype=I64), out=out), I32, EXPECTED),
    "tril": (lambda out: torch.tril(X, out=out), I32, EXPECTED),
    "inv": (lambda out: linalg.inv(X, out=out), I32, EXPECTED),
    "pinv": (
        lambda out: linalg.pinv(X, out=out), I32,
        "linalg.pinv: Expected result to be safely castable from Float dtype, but got result with dtype Int",
    ),
    "matmul": (lambda out: torch.matmul(X, X, out=out), I32, EXPECTED),
    "dot": (lambda out: torch.dot(X[0], X[0], out=out), F64, "result dtype Double does not match input dtype Float"),
    "tensordot": (
        lambda out: torch.tensordot(X, X, 1, out=out), F64,
        "tensordot: Expected the output tensor to have dtype Float, but got an output tensor with dtype Double",
    ),
    "sum": (
        lambda out: torch.sum(X, 0, dtype=F64, out=out), F32,
        "Expected out tensor to have dtype double, but got float instead",
    ),
    "quantile": (lambda out: torch.quantile(X, 0.5, out=out), F64, "quantile() out tensor must be same dtype as"),
    "amax": (
        lambda out: torch.amax(X, 0, out=out), F64,
        "Expected the dtype for input and out to match, but got Float for input's dtype and Double for out's dtype.",
    ),
    "logcumsumexp": (lambda out: torch.logcumsumexp(X, 0, out=out), F64, "expected scalar_type Float but found Double"),
    "fft": (lambda out: torch.fft.fft(X, out=out), F32, "fft expects a complex output tensor, but got Float"),
    "irfft": (
        lambda out: torch.fft.irfft(X, out=out), C64,
        "irfft expects a floating point output tensor, but got ComplexFloat",
    ),
    "multinomial": (
        lambda out: torch.multinomial(X, 1, out=out), I32, "multinomial expects Long tensor out, got: Int",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_dtypes_of_out_that_are_refused(name: str) -> None:
    call, kind, words = REFUSED[name]
    with pytest.raises(RuntimeError, match=f"^{re.escape(words)}"):
        call(empty(kind))


def test_joined_tensors_are_refused_by_type() -> None:
    with pytest.raises(TypeError, match=r"^torch.cat\(\): input types can't be cast to the desired output type Int"):
        torch.cat([X, X], out=empty(I32))
    assert torch.cat([X, X], out=empty(F64)).dtype is F64


@pytest.mark.parametrize(
    "kinds, words",
    [
        ((F64, I64), "expected scalar_type Float but found Double"),
        ((F32, I32), "expected scalar_type Long but found Int"),
    ],
)
def test_each_result_has_its_dtype(kinds: Any, words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        torch.cummax(X, 0, out=tuple([empty(kind) for kind in kinds]))


def test_words_of_several_results() -> None:
    with pytest.raises(RuntimeError, match="expects mantissa to have dtype float but got int"):
        torch.frexp(X, out=(empty(I32), empty(I32)))
    with pytest.raises(RuntimeError, match="expects exponent to have int dtype but got long int"):
        torch.frexp(X, out=(empty(F32), empty(I64)))
    with pytest.raises(RuntimeError, match="expected scalar type 'Long' but got 'Int' for indices output"):
        torch.mode(X, out=(empty(F32), empty(I32)))
    with pytest.raises(RuntimeError, match="output indices must be of scalar type Long"):
        torch.kthvalue(X, 1, out=(empty(F32), empty(I32)))


def test_sums_are_computed_in_the_dtype_of_out() -> None:
    x = torch.tensor([1.5, 1.5])
    assert torch.sum(x, 0, out=empty(I32)).tolist() == 2
    assert torch.cumsum(x, 0, out=empty(I64)).tolist() == [1, 2]
    assert torch.prod(x, 0, out=empty(I32)).item() == 1
    assert torch.cumprod(x, 0, out=empty(F64)).dtype is F64
    small = torch.full((3,), 2.0**24).add(torch.tensor([0.0, 1.0, 1.0], dtype=F64))
    assert torch.sum(small.float(), 0, out=empty(F64)).item() == 3 * 2.0**24


def test_what_fits_is_converted() -> None:
    assert torch.sin(X, out=empty(F64)).dtype is F64
    assert torch.fft.fft(X, out=empty(torch.complex128)).dtype is torch.complex128
    assert linalg.pinv(X, out=empty(F64)).dtype is F64
    assert torch.mean(X, 0, out=empty(F64)).dtype is F64


def test_tensordot_and_others_take_out() -> None:
    assert torch.tensordot(X, X, 1, out=empty(F32)).tolist() == (X @ X).tolist()
    assert torch.slice_scatter(X, torch.zeros(1, 2), 0, 0, 1, out=empty(F32)).tolist() == [[0, 0], [1, 3]]
    solution, _ = torch.triangular_solve(X, X.triu(), out=(empty(F32), empty(F32)))
    assert torch.allclose(X.triu() @ solution, X)


def test_positions_in_a_tuple_take_no_out() -> None:
    with pytest.raises(RuntimeError, match="nonzero does not support the out kwarg when as_tuple is True"):
        torch.nonzero(torch.ones(2), as_tuple=True, out=torch.empty(2, dtype=torch.int64))


def test_functions_of_indices_and_windows_take_out() -> None:
    x, at, src = torch.ones(3), torch.tensor([1, 1]), torch.tensor([2.0, 3.0])
    for reduce, wanted in (("prod", [1, 6, 1]), ("amax", [1, 3, 1])):
        assert torch.scatter_reduce(x, 0, at, src, reduce, out=empty(F32)).tolist() == wanted
        assert torch.index_reduce(x, 0, at, src, reduce, out=empty(F32)).tolist() == wanted
    image = torch.arange(8.0).reshape(1, 2, 4)
    assert torch.nn.functional.avg_pool2d(image, 2, out=empty(F32)).tolist() == [[[2.5, 4.5]]]
    assert torch.nn.functional.avg_pool3d(image[None], (1, 2, 2), out=empty(F32)).tolist() == [[[[2.5, 4.5]]]]
    assert torch.nanmean(torch.tensor([1.0, torch.nan]), out=torch.empty((), dtype=F64)).item() == 1.0


def test_lu_writes_into_out() -> None:
    wanted = linalg.lu_factor_ex(X)
    out = [torch.empty(0), torch.empty(0, dtype=I32), torch.empty(0, dtype=I32)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.lu(X, get_infos=True, out=out) is out
    assert all([torch.equal(got, each) for got, each in zip(out, wanted, strict=True)])


def test_out_may_be_an_operand_of_an_elementwise_function() -> None:
    x = torch.arange(4.0)
    assert torch.add(x, x, out=x) is x and x.tolist() == [0, 2, 4, 6]
    assert torch.mul(x[1:3], 2, out=x[1:3]).tolist() == [4, 8]
    both = x.view(2, 2)
    assert torch.add(both, both[:, :1], out=torch.empty(2, 2)).tolist() == [[0, 4], [16, 14]]
    wide = torch.arange(6.0)  # every second element: PyTorch does not look either where there are gaps
    assert torch.add(wide[::2], 1, out=wide[1::2]).tolist() == [1, 3, 5]
