"""What kernels of operations compute with: loops in C, and the same on NumPy where they were not built.

    convolution.py, pooling.py, sampling.py     on images                   _images.c
    products.py, recurrent.py                   matrix products, RNNs       _products.c, _recurrent.c
    moving.py, select.py                        copies, indexing            _moves.c
    random_stream.py                            random numbers              _random.c
    fused/, language.py, translator/            fused kernels               _fused.c
    allocator.py                                memory of large arrays      _loops.c
    ops/fourier/transforms.py                   Fourier transforms          _fourier.c

This file has elementwise kernels, reductions and searches. `native(np.multiply)` is what an op uses as its kernel:
where the extension `_loops` was built, a `Loop`. For dense arrays of floats, integers and bools it calls NumPy's own
inner loop directly, a quarter of the time of a ufunc call on a few elements, and with several threads on many; also
that of a comparison, which makes bools. Where `_loops` was not built it is the ufunc itself. The numbers are the same:
both run the same machine code on the same elements, but for a few functions that have a faster loop (own_loops.h).

May import `_dtypes`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

try:
    from leafgrad.kernels import _loops
except ImportError:  # not built, or built for another NumPy: plain NumPy does the same work
    NATIVE = False
else:
    NATIVE = True

# The ufunc behind np.clip, which itself takes three times as long for a few elements.
_CLIP: Any = getattr(np._core.umath, "clip", None)  # type: ignore[attr-defined]

# Elements from which on a second thread pays for being called: measured with two cores, float32, helpers awake.
SPLIT_CHEAP = 65_536
SPLIT_COSTLY = 16_384
CHEAP = {
    np.negative, np.absolute, np.add, np.subtract, np.multiply, np.true_divide, np.maximum, np.minimum, np.sqrt,
    np.reciprocal, _CLIP, np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.logical_and,
    np.logical_or, np.logical_xor, np.logical_not, np.isnan, np.isinf, np.isfinite, np.bitwise_and, np.bitwise_or,
    np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.copysign, np.floor, np.ceil, np.trunc, np.rint,
}  # fmt: skip


def native(
    ufunc: np.ufunc, otherwise: Callable[..., Any] | None = None, real: bool = False, fills: bool = False
) -> Callable[..., Any]:
    """`ufunc`, natively if possible. It takes the inputs and, as one more positional argument, an array for the result.

    `otherwise` is called with all operands that there is no native loop for, instead of `ufunc`: if it is for `real`
    numbers, with complex ones too. With an operator there, as in `native(np.multiply, operator.mul)`, the function
    works on tensors as well, and records. `fills` says that NumPy's loop takes twice as long where an operand is one
    number for a whole row, so that the row is filled in with it.
    """
    if NATIVE:
        return _loops.Loop(ufunc, otherwise, SPLIT_CHEAP if ufunc in CHEAP else SPLIT_COSTLY, real, fills)
    return ufunc if otherwise is None else otherwise


def negated(x: Any, *out: Any) -> Any:
    """The opposite numbers. NumPy's own (2.4) are wrong where neither input nor output are dense: x[::4] in place."""
    if out and x.dtype.kind in "fi" and not out[0].flags.c_contiguous:
        return np.multiply(x, x.dtype.type(-1), *out)
    return np.negative(x, *out)


negated.__name__ = np.negative.__name__  # by which leafgrad/optim/trace.py calls it


def one_divided_by(x: Any, *out: Any) -> Any:
    """By a division where numbers are complex: for 0, NumPy's reciprocal of these is not infinite."""
    return np.divide(1, x, *out) if np.iscomplexobj(x) else np.reciprocal(x, *out)


# Those that kernels are made of. exp and the like are public operations elsewhere, so the names here are longer.
absolute: Any = native(np.absolute)
add: Any = native(np.add)
divide: Any = native(np.true_divide)
exponential: Any = native(np.exp)
log1p: Any = native(np.log1p)
maximum: Any = native(np.maximum, fills=True)
minimum: Any = native(np.minimum, fills=True)
multiply: Any = native(np.multiply)
negative: Any = native(np.negative, negated)
one_over: Any = native(np.reciprocal, one_divided_by, real=True)
square_root: Any = native(np.sqrt)
subtract: Any = native(np.subtract)
clip: Any = native(_CLIP, fills=True) if isinstance(_CLIP, np.ufunc) else np.clip  # clip(x, low, high)


def use_threads(count: int) -> None:
    """How many threads may work on one large array."""
    if NATIVE:
        _loops.set_threads(count)


def available_cores() -> int:
    """How many cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def native_forms(extension: str, kind: str = "Native") -> Callable[[str], Callable[[Callable[..., Any]], Any]]:
    """A decorator for functions on NumPy that an extension has too, under the name that it is given. The function in C
    is called, and the one on NumPy with arrays that it does not take, or where the extension was not built."""
    try:
        form: Any = getattr(importlib.import_module(f"leafgrad.kernels.{extension}"), kind)
    except ImportError:
        return lambda name: lambda otherwise: otherwise
    return lambda name: lambda otherwise: form(name, otherwise)


# (x, dims=None, keepdim=False); variances have a `correction` after `dims`
native_reduction = native_forms("_reductions", "Reduction")
# (x, dim, ...), extremes and their places, or what is known so far at each element: see extreme_loops.h, scan_loops.h
# and, for sums over paths, ctc_paths.h
native_search = native_forms("_reductions")


use_threads(available_cores())
