"""Products of matrices: NumPy's, or by its BLAS on the threads of leafgrad (_products.c).

NumPy's wheels bring OpenBLAS along. Its functions are looked for among the libraries that the process has loaded when
the first product is computed; with another BLAS, or LEAFGRAD_BLAS=numpy in the environment, NumPy computes products.
"""

from __future__ import annotations

import math
import os
import re
import sys
from typing import Any

import numpy as np

from leafgrad.kernels.halves import at_least_single, widened

try:
    from leafgrad.kernels import _products
except ImportError:  # not built
    NATIVE = False
else:
    NATIVE = True

# What OpenBLAS calls them: in NumPy's wheels and in those of other builders, with sizes of 64 bits and of 32.
NAMES = [
    ("scipy_cblas_{}gemm64_", "scipy_openblas_{}_num_threads64_", True),
    ("cblas_{}gemm64_", "openblas_{}_num_threads64_", True),
    ("scipy_cblas_{}gemm", "scipy_openblas_{}_num_threads", False),
    ("cblas_{}gemm", "openblas_{}_num_threads", False),
]
_found: dict[str, str] = {}  # "library": its path, empty if there is none, after it was looked for


# A batch of few rows times the weight of a layer, which is transposed: OpenBLAS computes the transposed product in two
# thirds of the time for 32 rows and in half for 16. For others it is slower, and so it is where the result is small.
FEW_ROWS = 32
FEW_RESULTS = 2048
F32 = np.dtype(np.float32)


def is_turned(a: Any, b: Any) -> bool:
    """Is this such a product?"""
    matrices: bool = a.ndim == b.ndim == 2 and a.dtype is F32 and b.dtype is F32
    enough = matrices and a.shape[0] * b.shape[1] >= FEW_RESULTS
    return enough and a.flags.c_contiguous and b.flags.f_contiguous


# Products of numbers in a product, from which on OpenBLAS uses threads. These wait for more at full speed, for a tenth
# of a second, in the way of the helpers that compute everything else.
OF_ONE_THREAD = 262_144


def laid_out(x: Any, stack: tuple[int, ...]) -> Any:
    """An array as the native form takes it: itself, repeated for each product of a stack, or a copy."""
    if x.shape[:-2] != stack:
        return np.broadcast_to(x, stack + x.shape[-2:])
    return x if x.ndim == 2 and x.flags.f_contiguous else np.ascontiguousarray(x)


def is_large(a: Any, b: Any) -> bool:
    """Is this a product of matrices for which OpenBLAS would use threads?"""
    matrices: bool = a.ndim >= 2 and b.ndim >= 2 and a.dtype == b.dtype and a.dtype.char in "fd"
    return matrices and a.size * b.shape[-1] > OF_ONE_THREAD


def with_numpy(a: Any, b: Any, bias: Any = None) -> Any:
    """a @ b + bias, for arrays that the native form does not take, or has not looked at yet."""
    if NATIVE:
        again = not _found
        if again:
            find_blas()
        elif _found["library"] and is_large(a, b):
            given = a, b
            stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
            a, b = laid_out(a, stack), laid_out(b, stack if b.ndim > 2 else ())
            again = a is not given[0] or b is not given[1]
        if again:
            return product(a, b) if bias is None else product(a, b, bias)
    if a.ndim <= 2 and b.ndim <= 2:
        if b.size > FEW_RESULTS and len(a) <= FEW_ROWS and is_turned(a, b):
            return np.add(b.T.dot(a.T).T, 0 if bias is None else bias, order="C")
        # which gives transposed arrays to BLAS without a copy, as matmul does, and takes half as long on small ones
        out = a.dot(b)
    elif b.ndim == 2:  # a single product of a taller matrix
        out = np.empty(a.shape[:-1] + b.shape[1:], np.result_type(a, b))
        tall = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
        tall.dot(b, out.reshape(tall.shape[:1] + b.shape[1:]))
    else:
        out = np.matmul(a, b, order="C")
    if bias is not None:
        out += bias
    return out


product: Any = _products.Native("product", with_numpy) if NATIVE else with_numpy


def in_single(a: Any, b: Any) -> Any:
    """The product in float32 of two arrays of 16-bit floats."""
    wide = widened(a)
    # of a matrix with itself, transposed, BLAS computes half
    other = wide.swapaxes(-1, -2) if is_transposed(a, b) else widened(b)
    return product(wide, other)


def is_transposed(a: Any, b: Any) -> bool:
    """Is b a view of a with the last two dimensions exchanged?"""
    if a.__class__ is not np.ndarray or b.__class__ is not np.ndarray:
        return False
    if b.shape != a.swapaxes(-1, -2).shape or b.strides != a.swapaxes(-1, -2).strides:
        return False
    return bool(a.__array_interface__["data"][0] == b.__array_interface__["data"][0])


half_product: Any = _products.Native("half_product", in_single) if NATIVE else in_single


RUN = 1024  # elements that are added up in their own precision


def two_products_with_numpy(a: Any, b: Any, *vectors: Any) -> Any:
    """For each vector its products with a and with b, as a matrix of float64."""
    return np.array([[exact_dot(v, a), exact_dot(v, b)] for v in vectors])


def exact_dot(a: Any, b: Any) -> float:
    """The product of two vectors, added up in short runs whose sums are float64."""
    a, b = at_least_single(a), at_least_single(b)
    end = a.size // RUN * RUN
    runs = np.einsum("ij,ij->i", a[:end].reshape(-1, RUN), b[:end].reshape(-1, RUN))
    return float(runs.sum(dtype=np.float64)) + float(a[end:] @ b[end:])


def weighted_with_numpy(a: Any, factor: float, weights: Any, *vectors: Any) -> Any:
    """factor a + weights[0] vectors[0] + ...; 16-bit floats are rounded once."""
    total = at_least_single(a) * factor
    for weight, vector in zip(weights.tolist(), vectors, strict=True):
        total += at_least_single(vector) * weight
    return total if total.dtype == a.dtype else total.astype(a.dtype)


def dot_with_numpy(a: Any, b: Any) -> Any:
    """The product of a vector, or a matrix, with a vector."""
    return a.dot(b)


dot: Any = _products.Native("dot", dot_with_numpy) if NATIVE else dot_with_numpy
times_vector: Any = _products.Native("times_vector", dot_with_numpy) if NATIVE else dot_with_numpy
two_products: Any = _products.Native("two_products", two_products_with_numpy) if NATIVE else two_products_with_numpy
weighted: Any = _products.Native("weighted", weighted_with_numpy) if NATIVE else weighted_with_numpy


def substitute_with_numpy(a: Any, x: Any, upper: bool, left: bool, unit: bool) -> Any:
    """Solve AX = B, or without `left` XA = B, for a triangular matrix, whose diagonal counts as ones with `unit`. `x`
    holds the transposed B, and then the transposed X. LAPACK's solver for any matrix does nothing but substitute where
    that is upper triangular: then every pivot is the only element of its column. A lower one is turned round."""
    if not left:
        return substitute_with_numpy(a.swapaxes(-1, -2), x.swapaxes(-1, -2), not upper, True, unit).swapaxes(-1, -2)
    b = x.swapaxes(-1, -2)
    a = np.triu(a) if upper else np.tril(a)
    if unit:
        at = np.arange(a.shape[-1])
        a[..., at, at] = 1
    if not upper:
        a, b = a[..., ::-1, ::-1], b[..., ::-1, :]
    try:
        b[...] = np.linalg.solve(a, b)
    except np.linalg.LinAlgError:  # a zero on the diagonal, by which PyTorch divides
        for k in reversed(range(a.shape[-1])):
            b[..., k, :] /= a[..., k, k, None]
            b[..., :k, :] -= a[..., :k, k, None] * b[..., k, None, :]
    return x


substitute: Any = _products.Native("substitute", substitute_with_numpy) if NATIVE else substitute_with_numpy


def find_blas() -> str:
    """The path of the library whose functions compute products from now on; empty if NumPy does."""
    if "library" not in _found:
        _found["library"] = ""
        for path in loaded_libraries() if NATIVE and os.environ.get("LEAFGRAD_BLAS") != "numpy" else ():
            if use_library(path):
                _found["library"] = path
                break
    return _found["library"]


def loaded_libraries() -> list[str]:
    """The paths of libraries named after OpenBLAS that this process has loaded; none where that cannot be seen."""
    if not sys.platform.startswith("linux"):
        return []
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as lines:
            return sorted(set(re.findall(r"/\S*openblas\S*\.so\S*", lines.read())))
    except OSError:
        return []


def use_library(path: str) -> bool:
    import ctypes  # NumPy has imported it already

    try:
        library = ctypes.CDLL(path, mode=getattr(os, "RTLD_NOLOAD", 0) | os.RTLD_LAZY)
    except OSError:
        return False
    for gemm, threads, wide in NAMES:
        names = [f.format(kind) for f in (gemm, gemm.replace("gemm", "trsm")) for kind in "sd"]
        names += [threads.format("set"), threads.format("get")]
        if all([hasattr(library, name) for name in names]):
            _products.use(wide, *[ctypes.cast(getattr(library, n), ctypes.c_void_p).value or 0 for n in names])
            return True
    return False
