"""Powers and exponentials of matrices, products of many, and equations between tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import wrap
from leafgrad._device import contiguous_format
from leafgrad.ops.index.slices import slice_
from leafgrad.ops.linalg.lu import joined
from leafgrad.ops.linalg.matrices import OfMatrices, check_floats, check_square, dominant
from leafgrad.ops.linalg.products import matmul
from leafgrad.ops.linalg.solving import linalg_inv, linalg_solve
from leafgrad.ops.linalg.triangular import turned
from leafgrad.ops.out import castable
from leafgrad.ops.pointwise.convert import clone
from leafgrad.ops.reduce.common import in_single
from leafgrad.ops.reduce.scans import WIDE
from leafgrad.ops.registry import composite, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.join import arrays_of
from leafgrad.ops.signature import Shape, Tensor, Tensors

A = Any  # an array, or a tensor under create_graph
Array = Any

# -- exponentials -----------------------------------------------------------------------------------------------------

# The coefficients of the Padé approximant of exp of order 13, which is exact to double precision up to LARGEST.
PADE = [
    math.factorial(26 - k) * math.factorial(13) / (math.factorial(26) * math.factorial(k) * math.factorial(13 - k))
    for k in range(14)
]
LARGEST = 5.371920351148152


@in_single
def exponential(x: Array) -> Array:
    """exp(x / 2**s) by the approximant, and squared s times, as often as each matrix of the stack needs it. Squares of
    squares lose digits, so that single precision is computed in double."""
    if not x.size:
        return x.copy()
    if (wide := WIDE.get(x.dtype)) is not None:
        return exponential(x.astype(wide)).astype(x.dtype)
    size = np.abs(x).sum(-2).max(-1)
    known = np.isfinite(size) & (size > 0)
    steps = np.zeros(size.shape, np.int64)
    steps[known] = np.maximum(0, np.ceil(np.log2(size[known] / LARGEST))).astype(np.int64)
    small = (x / np.exp2(steps)[..., None, None].astype(size.dtype)).astype(x.dtype, copy=False)
    square = small @ small
    power = np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape)
    even, odd = PADE[0] * power, PADE[1] * power
    for k in range(2, 14, 2):
        power = power @ square
        even, odd = even + PADE[k] * power, odd + PADE[k + 1] * power
    odd = small @ odd
    result = np.linalg.solve((even - odd).astype(x.dtype), (even + odd).astype(x.dtype))
    for step in range(int(steps.max(initial=0))):
        result = np.where((steps > step)[..., None, None], result @ result, result)
    return result


def _exponential_in_torch(torch: Any, x: Any) -> Any:
    """What it is in PyTorch, which makes infinities and nan even of small matrices in half precision."""
    if x.is_floating_point() and x.dtype.itemsize == 2:
        return torch.linalg.matrix_exp(x.double()).to(x.dtype)
    return torch.linalg.matrix_exp(x)


@op
class linalg_matrix_exp(OfMatrices):
    """matrix_exp(A): the exponential of a square matrix, 1 + A + A A / 2 + ..."""

    inputs = ("A",)
    saved_as = {"A": "self"}
    holomorphic = True
    kernel = exponential
    public_name = "matrix_exp"
    places = ("linalg.matrix_exp",)
    reference = _exponential_in_torch
    exempt = {}
    samples = lambda t: [S(t(*shape, low=-0.6, high=0.6)) for shape in [(3, 3), (2, 2, 2), (1, 1), (0, 0), (0, 2, 2)]]

    def call(A: Tensor) -> Tensor:
        check_square("linalg.matrix_exp", A)
        check_floats("linalg.matrix_exp", A, None)
        return linalg_matrix_exp.record(A)

    def vjp(g: A, A: A) -> A:
        # exp of the blocks [[A, G], [0, A]] has the derivative in the direction of G beside exp(A)
        n = A.shape[-1]
        a = turned(A)
        rows = joined(a, g, a.ndim - 1), joined(g * 0, a, a.ndim - 1)
        whole = linalg_matrix_exp(joined(*rows, a.ndim - 2))
        return slice_(whole, (..., slice(0, n), slice(n, None)))


@composite(
    lambda t: [*[S(dominant(t(3, 3)), n) for n in (0, 1, 2, 3, 5, -1, -2)], S(t(2, 2, 2), 4)],
    places=("linalg.matrix_power",),
    out=castable("matrix_power"),
    exempt={"half precision": "its inverse is refused, as in PyTorch"},
)
def matrix_power(input: Tensor, n: int) -> Tensor:
    """matrix_power(input, n): a square matrix times itself, n times; of its inverse, if n is negative."""
    check_square("linalg.matrix_power", input)
    if n == 0:
        x = input.array
        unit = wrap(np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape))
        return clone.function(input, memory_format=contiguous_format).copy_(unit)
    if n in (1, -1):
        return clone.function(input, memory_format=contiguous_format) if n == 1 else linalg_inv(input)
    power = linalg_inv(input) if n < 0 else input
    n, result = abs(n), None
    if n == 3:
        return matmul.function(matmul.function(power, power), power)
    while n:
        if n % 2:
            result = power if result is None else matmul.function(result, power)
        n //= 2
        power = matmul.function(power, power) if n else power
    return result


# -- products of many -------------------------------------------------------------------------------------------------


def best_splits(sizes: list[int]) -> list[list[int]]:
    """Where to split the product of matrices i to j, of sizes[i] by sizes[j + 1], so that it takes the fewest
    multiplications."""
    n = len(sizes) - 1
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = [cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)]
            cost[i][j] = min(options)
            split[i][j] = i + options.index(cost[i][j])
    return split


def product_of(matrices: list[Any]) -> Any:
    """The product of matrices that fit together, in the best order."""
    splits = best_splits([matrices[0].shape[0], *[m.shape[1] for m in matrices]])

    def part(i: int, j: int) -> Any:
        if i == j:
            return matrices[i]
        k = splits[i][j]
        return matmul.function(part(i, k), part(k + 1, j))

    return part(0, len(matrices) - 1)


def check_chain(tensors: Any) -> None:
    name = "multi_dot()"
    n = len(tensors)
    if n < 2:
        raise errors.mistake(RuntimeError, f"{name}: expected at least 2 tensors but got {n}")
    arrays = arrays_of(tensors)
    for at, which in ((0, "first"), (-1, "last")):
        if arrays[at].ndim not in (1, 2):
            first = f"{name}: the {which} tensor must be 1D or 2D but got {arrays[at].ndim}D"
            raise errors.mistake(RuntimeError, first)
    for i, x in enumerate(arrays):
        if 0 < i < n - 1 and x.ndim != 2:
            raise errors.mistake(RuntimeError, f"{name}: tensor {i} must be 2D but got {x.ndim}D")
        if x.dtype != arrays[0].dtype:
            kinds = [str(t.dtype).removeprefix("torch.") for t in (tensors[0], tensors[i])]
            first = f"{name}: all tensors must have be the same dtype but tensor 0 is {kinds[0]} and tensor {i} "
            raise errors.mistake(RuntimeError, first + kinds[1])
    for i in range(n - 1):
        if arrays[i].shape[-1] != arrays[i + 1].shape[0]:
            shapes = [errors.size(x.shape) for x in arrays[i : i + 2]]
            first = f"{name}: tensors {i} and {i + 1} with shapes {shapes[0]} and {shapes[1]} cannot be multiplied"
            raise errors.mistake(RuntimeError, first)


@composite(
    lambda t: [
        *[S([t(2, 3), t(3, 4)]), S([t(2, 3), t(3, 4), t(4, 2)]), S([t(3), t(3, 4), t(4)]), S([t(3), t(3)])],
        *[S([t(5, 2), t(2, 4), t(4, 1), t(1, 3)]), S([t(2, 3), t(3)]), S([t(3), t(3, 2), t(2, 2)])],
    ],
    places=("linalg.multi_dot",),
    public_name="",
    out="multi_dot(): expected out tensor to have dtype {wanted.cpp} but got {given.cpp}",
)
def linalg_multi_dot(tensors: Tensors) -> Tensor:
    """linalg.multi_dot(tensors): the product of matrices, in the order that takes the fewest multiplications; the first
    and the last may be vectors."""
    check_chain(tensors)
    first, last = tensors[0].array.ndim == 1, tensors[-1].array.ndim == 1
    matrices = list(tensors)
    matrices[0] = matrices[0].unsqueeze(0) if first else matrices[0]
    matrices[-1] = matrices[-1].unsqueeze(-1) if last else matrices[-1]
    result = product_of(matrices)
    return result.reshape([size for size, gone in zip(result.shape, (first, last), strict=True) if not gone])


@composite(lambda t: [S(t(2, 3), t(3, 4), t(4, 2)), S(t(2, 3))], method=False, in_python=("function",))
def chain_matmul(*matrices: Tensor) -> Tensor:
    """chain_matmul(*matrices): the product of matrices. torch.linalg.multi_dot is the newer form."""
    errors.warn_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters."
    )
    arrays_of(matrices)
    for t in matrices:
        if t.array.ndim != 2:
            first = f"Tensor dimension is {t.array.ndim}, expected 2 instead."
            raise errors.mistake(RuntimeError, first)
    if not matrices:
        raise errors.mistake(RuntimeError, "chain_matmul(): Expected one or more matrices")
    return clone.function(matrices[0]) if len(matrices) == 1 else linalg_multi_dot(matrices)


# -- equations between tensors ----------------------------------------------------------------------------------------


@composite(
    lambda t: [S(_far_from_singular(t(4, 2, 2), 4), 1), S(_far_from_singular(t(2, 3, 6), 6))],
    places=("linalg.tensorinv",),
    public_name="",
    out=castable("tensorinv"),
    exempt={"half precision": "it has no inverse in PyTorch either"},
    autocast="float32",
)
def linalg_tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """linalg.tensorinv(A, ind=2): the inverse of A as a map from its last dimensions to its first `ind`."""
    if ind <= 0:
        raise errors.mistake(RuntimeError, f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape = A.array.shape
    front, back = math.prod(shape[:ind]), math.prod(shape[ind:])
    if front != back:
        first = "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
        raise errors.mistake(RuntimeError, f"{first}{back} != {front}")
    inverse = linalg_inv(A.reshape((back, front)))
    return inverse.reshape((*shape[ind:], *shape[:ind]))


def _far_from_singular(x: Any, n: int) -> Any:
    """A tensor of the samples that is a matrix far from singular, once it is reshaped."""
    x.array = x.array.copy()
    x.array.reshape((n, n))[np.arange(n), np.arange(n)] += np.asarray(6, x.array.dtype)
    return x


@composite(
    lambda t: [S(_far_from_singular(t(2, 2, 4), 4), t(2, 2)), S(_far_from_singular(t(4, 2, 2), 4), t(4))],
    places=("linalg.tensorsolve",),
    public_name="",
    out=castable("tensorsolve"),
    exempt={"half precision": "it is not solved in PyTorch either"},
    autocast="float32",
)
def linalg_tensorsolve(A: Tensor, B: Tensor, dims: Shape | None = None) -> Tensor:
    """linalg.tensorsolve(A, B, dims=None): the X for which the product of A and X over the last dimensions of A is B;
    `dims` are moved to the end of A before."""
    ndim = A.array.ndim
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(ndim - len(dims), ndim)))
    shape = A.array.shape[B.array.ndim :]
    front, back = B.array.size, math.prod(shape)
    if front != back:
        first = (
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {back} != {front}"
        )
        raise errors.mistake(RuntimeError, first)
    return linalg_solve(A.reshape((back, back)), B if B.array.ndim == 1 else B.reshape((-1,))).reshape(shape)
