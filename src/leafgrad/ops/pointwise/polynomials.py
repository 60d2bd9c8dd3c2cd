"""Orthogonal polynomials, whose degrees are a second operand. PyTorch does not differentiate them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._dtypes import COMPLEX, HALF
from leafgrad.ops.out import ELEMENTWISE
from leafgrad.ops.promotion import NUMBERS, mixed_binary
from leafgrad.ops.registry import Family, Operation, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.signature import Number, Tensor

A = Any  # an array
Step = Callable[[A, int, A, A], A]  # (x, k, P[k], P[k - 1]) -> P[k + 1]


def by_recurrence(first: Callable[[A], A], step: Step) -> Callable[[A, A], A]:
    """The kernel of polynomials that begin with 1 and `first`. Negative degrees are zero, fractions are cut off."""

    def kernel(x: A, degrees: A) -> A:
        x, degrees = np.broadcast_arrays(x, degrees)
        usual = np.isfinite(degrees)
        wanted = np.where(usual, np.trunc(degrees), -1).astype(np.int64)
        before, here = np.ones_like(x), first(x)
        out = np.where(wanted == 0, before, np.zeros_like(x))
        for k in range(1, int(wanted.max(initial=0)) + 1):
            out = np.where(wanted == k, here, out)
            before, here = here, step(x, k, here, before)
        return out.astype(x.dtype, copy=False)

    return kernel


def doubled(x: A, k: int, here: A, before: A) -> A:
    """The step that all of Chebyshev's polynomials share."""
    return 2 * x * here - before


def shifted(kernel: Callable[[A, A], A]) -> Callable[[A, A], A]:
    return lambda x, degrees: kernel(2 * x - 1, degrees)


def _samples(t: Any) -> list[S]:
    return [
        S(t(3, 4, low=-0.9, high=0.9), t(4, dtype="int64", low=0, high=5)),
        S(t(5, low=-0.9, high=0.9), 3),
        S(t(low=-0.9, high=0.9), 2),
        S(t(0), t(0, dtype="int64")),
    ]


def _polynomial(name: str, kernel: Callable[[A, A], A], whose: str) -> Any:
    def call(input: Tensor | Number, n: Tensor | Number) -> Tensor:
        if isinstance(input, NUMBERS) and isinstance(n, NUMBERS):
            raise errors.no_tensor(made.name, input, n)
        # results do not require grad, whatever the operands do
        return mixed_binary(made.core, *[wrap(v.array) if isinstance(v, TensorBase) else v for v in (input, n)])

    body = {
        "__module__": __name__,
        "__doc__": f"special_{name}(input, n): {whose} of degree n, element by element.",
        "inputs": ("input", "n"),
        "kernel": kernel,
        "kernel_name": f"{name}_cpu",
        "as_float": True,
        "refuses": (COMPLEX, HALF),
        "public_name": "",
        "places": (f"special.{name}",),
        "call": call,
        "differentiable": False,
        "vmap": "elementwise",
        "follows_layout": True,
        "out": ELEMENTWISE,
        "samples": ValuesOnly("not differentiated", _samples),
        "exempt": {"half precision": "PyTorch does not have it either"},
    }
    made = op(Operation(f"special_{name}", Family, body))
    return made


_CHEBYSHEV = {
    "t": (by_recurrence(lambda x: x + 0, doubled), "first"),
    "u": (by_recurrence(lambda x: 2 * x, doubled), "second"),
    "v": (by_recurrence(lambda x: 2 * x - 1, doubled), "third"),
    "w": (by_recurrence(lambda x: 2 * x + 1, doubled), "fourth"),
}
for _letter, (_kernel, _kind) in _CHEBYSHEV.items():
    _polynomial(f"chebyshev_polynomial_{_letter}", _kernel, f"Chebyshev's polynomial of the {_kind} kind")
    _name, _whose = f"shifted_chebyshev_polynomial_{_letter}", f"Chebyshev's polynomial of the {_kind} kind at 2x - 1,"
    _polynomial(_name, shifted(_kernel), _whose)

_polynomial(
    "hermite_polynomial_h",
    by_recurrence(lambda x: 2 * x, lambda x, k, here, before: 2 * x * here - 2 * k * before),
    "the physicists' Hermite polynomial",
)
_polynomial(
    "hermite_polynomial_he",
    by_recurrence(lambda x: x + 0, lambda x, k, here, before: x * here - k * before),
    "the probabilists' Hermite polynomial",
)
_polynomial(
    "laguerre_polynomial_l",
    by_recurrence(lambda x: 1 - x, lambda x, k, here, before: ((2 * k + 1 - x) * here - k * before) / (k + 1)),
    "Laguerre's polynomial",
)
_polynomial(
    "legendre_polynomial_p",
    by_recurrence(lambda x: x + 0, lambda x, k, here, before: ((2 * k + 1) * x * here - k * before) / (k + 1)),
    "Legendre's polynomial",
)
