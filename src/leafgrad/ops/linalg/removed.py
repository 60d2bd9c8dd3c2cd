"""Functions that PyTorch has removed and still has by name: calling them says what to call instead."""

from __future__ import annotations

from typing import Any, NoReturn

from leafgrad.ops.signature import Tensor, declared

SINCE = "This function was deprecated since version 1.9 and is now removed."


def removed(name: str, why: str, fix: str, operands: int) -> Any:
    """A function of a tensor, or of two, that refuses to be called."""

    def refuse() -> NoReturn:
        raise RuntimeError(f"{SINCE}{why}\n  fix: {fix}")

    def of_one(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        refuse()

    def of_two(input: Tensor, A: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        refuse()

    function = of_one if operands == 1 else of_two
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}(...): removed from PyTorch. Instead: {fix}."
    return declared()(function)


EIG = removed(
    "eig",
    " `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors mimicking "
    "complex tensors.",
    "torch.linalg.eig(A)",
    1,
)
LSTSQ = removed(
    "lstsq",
    " `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.",
    "torch.linalg.lstsq(A, B), with the arguments in this order",
    2,
)
MATRIX_RANK = removed("matrix_rank", "", "torch.linalg.matrix_rank(A)", 1)
SOLVE = removed(
    "solve",
    " `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its arguments reversed "
    "and does not return the LU factorization.",
    "torch.linalg.solve(A, B)",
    2,
)
SYMEIG = removed(
    "symeig",
    " The default behavior has changed from using the upper triangular portion of the matrix by default to using the "
    "lower triangular portion.",
    "torch.linalg.eigh(A), or with UPLO='U' of the upper triangle",
    1,
)
FUNCTIONS = {"eig": EIG, "lstsq": LSTSQ, "matrix_rank": MATRIX_RANK, "solve": SOLVE, "symeig": SYMEIG}
METHODS = {"eig": EIG, "lstsq": LSTSQ, "solve": SOLVE, "symeig": SYMEIG}
