"""Products with something added (baddbmm, addbmm, addmv, addr), and products between tensors along any dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.recorder import needs_recording
from leafgrad._core.thread_state import state
from leafgrad._core.views import bind_view
from leafgrad._dtypes import BOOL, INTEGER, from_numpy_dtype, promote_types
from leafgrad._layouts import in_common_order
from leafgrad.kernels.halves import converted, widened
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.linalg.checks import factor
from leafgrad.ops.linalg.matrices import check_floats, check_same_dtype
from leafgrad.ops.linalg.products import (
    any_product,
    bmm,
    combined,
    dot,
    half_product,
    matmul,
    mv,
    shape_of_product,
    vdot,
)
from leafgrad.ops.out import CASTS, into_out
from leafgrad.ops.pointwise.convert import conj
from leafgrad.ops.pointwise.elementwise import mul
from leafgrad.ops.promotion import common_dtype
from leafgrad.ops.reduce.common import in_single, is_half
from leafgrad.ops.reduce.reductions import sum as sum_op
from leafgrad.ops.registry import Family, composite, op, unseen, with_kernel
from leafgrad.ops.samples import S
from leafgrad.ops.shape.join import cat
from leafgrad.ops.shape.split import diagonal
from leafgrad.ops.shape.views import expand, transpose, unsqueeze, view
from leafgrad.ops.signature import Dim, Number, Tensor

A = Any  # an array, or a tensor under create_graph
Array = Any


def by(number: Any, g: A) -> A:
    return g if number == 1 else g * number


class Added(Family, family=True):
    """A product of two tensors with a third one added."""

    options = ("beta", "alpha")
    shows: dict[str, Any] = {"beta": ..., "alpha": ...}
    in_place = True
    in_place_function: Any = False
    out: Any = True

    def vjp_input(g: A, beta: A) -> A:
        return by(beta, g)


def numbers_for(x: Any, product_shape: Any, beta: Any, alpha: Any) -> tuple[Any, Any]:
    """The factors in the dtype of the tensor, which has to fit to the product."""
    if x.array.shape != tuple(product_shape):
        expand.function(x, tuple(product_shape))  # which raises, if it does not fit
    return factor(beta, x.array.dtype), factor(alpha, x.array.dtype)


@op
class baddbmm(Added):
    """baddbmm(input, batch1, batch2, *, beta=1, alpha=1): beta input + alpha bmm(batch1, batch2)."""

    inputs = ("input", "batch1", "batch2")
    refuses = (BOOL,)
    kernel_name = "baddbmm"
    autocast = "lower"

    def meta(x: A, a: A, b: A, beta: Any, alpha: Any) -> Any:
        return shape_of_product(a, b)

    def kernel(x: A, a: A, b: A, beta: Any, alpha: Any) -> A:
        if is_half(a.dtype):
            return converted(combined(widened(x), half_product(a, b), beta, alpha), a.dtype)
        return combined(x, any_product(a, b), beta, alpha)

    def call(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        _check_batches(input, batch1, batch2)
        baddbmm.check(input.dtype)
        shape = (*batch1.array.shape[:2], batch2.array.shape[2])
        return baddbmm.record(input, batch1, batch2, *numbers_for(input, shape, beta, alpha))

    def vjp_batch1(g: A, batch2: A, alpha: A) -> A:
        return by(alpha, matmul(g, transpose(batch2, 1, 2)))

    def vjp_batch2(g: A, batch1: A, alpha: A) -> A:
        return by(alpha, matmul(transpose(batch1, 1, 2), g))

    samples = lambda t: [
        S(t(2, 3, 4), t(2, 3, 2), t(2, 2, 4)),
        S(t(4), t(2, 3, 2), t(2, 2, 4), beta=2, alpha=3),
        S(t(3, 1), t(2, 3, 2), t(2, 2, 4), beta=0),
    ]


def _check_batches(x: Any, a: Any, b: Any) -> None:
    one, two = a.array, b.array
    if one.ndim != 3 or two.ndim != 3 or one.shape[0] != two.shape[0] or one.shape[2] != two.shape[1]:
        bmm.function(a, b)  # which raises
    kinds = [from_numpy_dtype(array.dtype).cpp for array in (x.array, one, two)]
    if len({*kinds}) > 1:
        first = f"Input dtypes must be the same, got: input {kinds[0]}, batch1: {kinds[1]}, batch2: {kinds[2]}"
        raise errors.mistake(RuntimeError, first)


@op
class addbmm(Added):
    """addbmm(input, batch1, batch2, *, beta=1, alpha=1): beta input + alpha times the sum of all products."""

    out = "self and mat2 must have the same dtype, but got {given.alias} and {wanted.alias}"
    shows = dict.fromkeys(
        ("beta", "alpha", "batch1_sym_argsize_0", "batch1_sym_argsize_1", "batch2_sym_argsize_2"), ...
    )
    inputs = ("input", "batch1", "batch2")
    refuses = (BOOL,)
    kernel_name = "addmm_impl_cpu_"
    autocast = "lower"

    def meta(x: A, a: A, b: A, beta: Any, alpha: Any) -> Any:
        return shape_of_product(a[0], b[0]) if len(a) else NotImplemented

    @in_single
    def kernel(x: A, a: A, b: A, beta: Any, alpha: Any) -> A:
        return combined(x, np.add.reduce(any_product(a, b), axis=0, dtype=a.dtype), beta, alpha)

    def call(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        _check_batches(input, batch1, batch2)
        addbmm.check(input.dtype)
        shape = (batch1.array.shape[1], batch2.array.shape[2])
        return addbmm.record(input, batch1, batch2, *numbers_for(input, shape, beta, alpha))

    def vjp_batch1(g: A, batch2: A, alpha: A) -> A:
        return by(alpha, matmul(g, transpose(batch2, 1, 2)))

    def vjp_batch2(g: A, batch1: A, alpha: A) -> A:
        return by(alpha, matmul(transpose(batch1, 1, 2), g))

    samples = lambda t: [
        S(t(3, 4), t(2, 3, 2), t(2, 2, 4)),
        S(t(4), t(2, 3, 2), t(2, 2, 4), beta=2, alpha=3),
    ]


@op
class addmv(Added):
    """addmv(input, mat, vec, *, beta=1, alpha=1): beta input + alpha mat @ vec."""

    inputs = ("input", "mat", "vec")
    refuses = (BOOL,)
    kernel_name = "addmv_impl_cpu"
    in_place_function = True

    def meta(x: A, a: A, b: A, beta: Any, alpha: Any) -> Any:
        return shape_of_product(a, b)

    @in_single
    def kernel(x: A, a: A, b: A, beta: Any, alpha: Any) -> A:
        return combined(x, np.matmul(a, b), beta, alpha)

    def call(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        if mat.array.ndim != 2 or vec.array.shape != mat.array.shape[1:] or mat.array.dtype != vec.array.dtype:
            mv.function(mat, vec)  # which raises
        check_same_dtype("addmv", input, mat, ("input", "mat"))
        addmv.check(input.dtype)
        return addmv.record(input, mat, vec, *numbers_for(input, mat.array.shape[:1], beta, alpha))

    def vjp_mat(g: A, vec: A, alpha: A) -> A:
        return by(alpha, unsqueeze(g, 1) * vec)

    def vjp_vec(g: A, mat: A, alpha: A) -> A:
        return by(alpha, matmul(transpose(mat, 0, 1), g))

    samples = lambda t: [S(t(2), t(2, 3), t(3)), S(t(), t(2, 3), t(3), beta=2, alpha=3), S(t(2), t(2, 3), t(3), beta=0)]


@op
class addr(Added):
    """addr(input, vec1, vec2, *, beta=1, alpha=1): beta input + alpha outer(vec1, vec2)."""

    out = CASTS
    inputs = ("input", "vec1", "vec2")

    def meta(x: A, a: A, b: A, beta: Any, alpha: Any) -> Any:
        return NotImplemented if not x.flags.c_contiguous else (*a.shape, *b.shape)

    @in_single
    def kernel(x: A, a: A, b: A, beta: Any, alpha: Any) -> A:
        rows = a.reshape(a.shape[0], 1)
        return in_common_order((x, rows, b), combined(x, rows * b, beta, alpha))

    def call(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        for name, v in (("vec1", vec1), ("vec2", vec2)):
            if v.array.ndim != 1:
                first = f"addr: Expected 1-D argument {name}, but got {v.array.ndim}-D"
                raise errors.mistake(RuntimeError, first)
        kind = promote_types(common_dtype(input, vec1), common_dtype(input, vec2))
        for name, number in (("beta", beta), ("alpha", alpha)):
            if kind.category == INTEGER and not isinstance(number, int):
                first = f"For integral input tensors, argument {name} must not be a floating point number."
                raise errors.mistake(RuntimeError, first)
        tensors = [t.to(kind) for t in (input, vec1, vec2)]
        shape = (vec1.array.shape[0], vec2.array.shape[0])
        return addr.record(*tensors, *numbers_for(tensors[0], shape, beta, alpha))

    def vjp_vec1(g: A, vec2: A, alpha: A) -> A:
        return by(alpha, matmul(g, vec2))

    def vjp_vec2(g: A, vec1: A, alpha: A) -> A:
        return by(alpha, matmul(transpose(g, 0, 1), vec1))

    samples = lambda t: [S(t(2, 3), t(2), t(3)), S(t(3), t(2), t(3), beta=2, alpha=3)]


# -- along any dimensions ---------------------------------------------------------------------------------------------


def reshaped(t: Any, shape: tuple[int, ...]) -> Any:
    """In another shape. PyTorch makes a view even of the same: nobody sees that where nothing is recorded."""
    return t if t.array.shape == shape and not t.needs_grad else t.reshape(shape)


def arranged(t: Any, order: list[int], shape: tuple[int, ...]) -> Any:
    """Dimensions in another order, as a matrix or a vector. A vector is one already, in PyTorch too."""
    moved = t.permute(*order) if t.needs_grad or order != list(range(len(order))) else t
    return moved if len(order) == len(shape) == 1 else reshaped(moved, shape)


def contracted(a: Any, b: Any, dims: tuple[list[int], list[int]]) -> Any:
    """The sum over pairs of dimensions, as one product of matrices, or of vectors."""
    if a.dtype != b.dtype:
        raise errors.mistake(RuntimeError, "both inputs should have same dtype")
    first, second = [[wrap_dim(d, t.ndim) for d in chosen] for t, chosen in zip((a, b), dims, strict=True)]
    for i, j in zip(first, second, strict=True):
        sizes = a.shape[i], b.shape[j]
        if sizes[0] == 1 != sizes[1]:  # it is broadcast
            b = b.sum(j, keepdim=True, dtype=b.dtype)
        elif sizes[1] == 1 != sizes[0]:
            a = a.sum(i, keepdim=True, dtype=a.dtype)
        elif sizes[0] != sizes[1]:
            text = (
                f"contracted dimensions need to match, but first has size {sizes[0]} in dim {i} and second has size "
                f"{sizes[1]} in dim {j}"
            )
            raise errors.mistake(RuntimeError, text)
    left = [d for d in range(a.ndim) if d not in first]
    right = [d for d in range(b.ndim) if d not in second]
    shared = math.prod([a.shape[d] for d in first])
    rows, columns = math.prod([a.shape[d] for d in left]), math.prod([b.shape[d] for d in right])
    if rows == 1 == columns:
        product = dot.function(arranged(a, [*left, *first], (shared,)), arranged(b, [*second, *right], (shared,)))
    else:
        one, two = arranged(a, [*left, *first], (rows, shared)), arranged(b, [*second, *right], (shared, columns))
        product = matmul.function(one, two)
    return reshaped(product, tuple([*[a.shape[d] for d in left], *[b.shape[d] for d in right]]))


CONTRACTED = (
    "tensordot: Expected the output tensor to have dtype {wanted.alias}, but got an output tensor with dtype "
    "{given.alias}"
)


@composite(
    lambda t: [
        *[S(t(2, 3), t(3, 4), 1), S(t(2, 3, 4), t(3, 4)), S(t(2, 3), t(4, 2), ([0], [1])), S(t(2), t(3), 0)],
        S(t(2, 3, 4), t(4, 3, 2), dims=([1, 0], [1, 2])),
    ],
    method=False,
    in_python=("function",),
)
def tensordot(a: Tensor, b: Tensor, dims: int | Any = 2, out: Any = None) -> Tensor:
    """tensordot(a, b, dims=2): the product of two tensors, summed over the last dimensions of a and the first of b, or
    over pairs of dimensions."""
    if out is not None:
        return into_out("tensordot", tensordot, (a, b, dims), {}, out, CONTRACTED)
    if isinstance(dims, (tuple, list)) or hasattr(dims, "tolist"):
        pairs = dims.tolist() if hasattr(dims, "tolist") else dims
        if isinstance(pairs, int):
            return tensordot(a, b, pairs)
        first, second = [[chosen] if isinstance(chosen, int) else list(chosen) for chosen in pairs]
    else:
        if dims < 0:
            raise errors.mistake(RuntimeError, f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            text = f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}"
            raise errors.mistake(RuntimeError, text)
        first, second = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    if len(first) != len(second):
        raise errors.mistake(RuntimeError, "both dimension lists should have same length")
    return contracted(a, b, (first, second))


@composite(lambda t: [S(t(3), t(3)), S(t(2, 3), t(4, 3)), S(t(2, 3), t()), S(t(2, 2, 3), t(3))], out=CONTRACTED)
def inner(input: Tensor, other: Tensor) -> Tensor:
    """inner(input, other): the sums of products along the last dimension of both."""
    if not input.array.ndim or not other.array.ndim:
        return mul.function(input, other)
    if input.array.shape[-1] != other.array.shape[-1]:
        shapes = [errors.size(t.array.shape) for t in (input, other)]
        text = f"inner() the last dimension must match on both input tensors but got shapes {shapes[0]} and {shapes[1]}"
        raise errors.mistake(RuntimeError, text)
    return contracted(input, other, ([-1], [-1]))


@composite(lambda t: [S(t(2, 3), t(2, 2)), S(t(2), t(3, 2)), S(t(2, 1, 2), t(2, 2, 1)), S(t(), t(2))], out=CASTS)
def kron(input: Tensor, other: Tensor) -> Tensor:
    """kron(input, other): the Kronecker product: each element of input times all of other."""
    one, two = input.array.shape, other.array.shape
    if len(one) != len(two):
        ndim = max(len(one), len(two))
        one, two = (1,) * (ndim - len(one)) + tuple(one), (1,) * (ndim - len(two)) + tuple(two)
    left: tuple[int, ...] = ()
    right: tuple[int, ...] = ()
    shape: tuple[int, ...] = ()
    for a, b in zip(one, two, strict=True):
        left, right, shape = (*left, a, 1), (*right, 1, b), (*shape, a * b)
    usual = state.recording is True or state.recording is False  # otherwise some mode may want to see the steps
    if usual and input.array.dtype is other.array.dtype and not needs_recording((input, other)):
        return bind(_kron_values, (input, other), (left, right, shape))  # nobody sees them: half of the time
    reshaped = view.named["UnsafeViewBackward0"]
    product = mul.function(bind_view(reshaped, view, input, (left,)), bind_view(reshaped, view, other, (right,)))
    return bind(reshaped, (product,), (shape,))


FEW = 4096  # products, of which NumPy computes rows of five in half of the time


def _products_of_all(x: Array, y: Array, left: Any, right: Any, shape: Any) -> Array:
    """The values of kron, of which nothing is recorded."""
    x, y = x.reshape(left), y.reshape(right)
    times = np.multiply if x.size * y.size < FEW else mul.core.kernel
    return in_common_order((x, y), times(x, y)).reshape(shape)


_kron_values = with_kernel(mul.core, _products_of_all)
_kron_values.follows_layout = False


# -- vectors ----------------------------------------------------------------------------------------------------------


def cross_product(a: Array, b: Array, dim: int) -> Array:
    def at(x: Array, step: int) -> Array:
        return np.take(x, [(i + step) % 3 for i in range(3)], dim)

    return at(a, 1) * at(b, 2) - at(a, 2) * at(b, 1)


def one_further(batch: Any, *args: Any) -> Any:
    return batch.apply(batch.values(*batch.arrays), (batch.options[0] + 1,))


@op
class linalg_cross(Family):
    """linalg.cross(input, other, *, dim=-1): the vector product along a dimension of size three."""

    inputs = ("input", "other")
    options = ("dim",)
    refuses = (BOOL,)
    kernel_name = "cross"
    kernel = cross_product
    vmap = one_further
    public_name = ""
    places = ("linalg.cross",)
    out = True

    def call(input: Tensor, other: Tensor, *, dim: Dim = -1) -> Tensor:
        return _crossed(input, other, dim)

    def vjp_input(g: A, other: A, dim: A) -> A:
        return linalg_cross(other, g, dim)

    def vjp_other(g: A, input: A, dim: A) -> A:
        return linalg_cross(g, input, dim)

    samples = lambda t: [S(t(3), t(3)), S(t(2, 3), t(2, 3)), S(t(3, 2), t(3, 1), dim=0), S(t(0, 3), t(0, 3))]


def _crossed(a: Any, b: Any, dim: int) -> Any:
    if a.array.ndim != b.array.ndim:
        raise errors.mistake(RuntimeError, "linalg.cross: inputs must have the same number of dimensions.")
    at = wrap_dim(dim, a.array.ndim)
    sizes = a.array.shape[at], b.array.shape[at]
    if sizes != (3, 3):
        text = f"linalg.cross: inputs dimension {dim} must have length 3. Got {sizes[0]} and {sizes[1]}"
        raise errors.mistake(RuntimeError, text)
    try:
        full = np.broadcast_shapes(a.array.shape, b.array.shape)
    except ValueError:
        raise errors.broadcast_mismatch("linalg.cross", (a.array, b.array)) from None
    if a.array.dtype != b.array.dtype:
        a, b = a + b.new_zeros(()), b + a.new_zeros(())
    a, b = [t if t.array.shape == full else bind_view(unseen(expand), expand, t, (full,)) for t in (a, b)]
    linalg_cross.check(a.dtype)
    return linalg_cross.record(a, b, at)


@composite(lambda t: [S(t(3), t(3)), S(t(2, 3), t(2, 3), 1), S(t(3, 2), t(3, 2))], out=True)
def cross(input: Tensor, other: Tensor, dim: Dim | None = None) -> Tensor:
    """cross(input, other, dim=None): the vector product along a dimension of size three: the first such, if none is
    given."""
    if dim is None:
        errors.warn_once(
            "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or "
            "simply use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross "
            "in a future release."
        )
        if 3 not in input.array.shape:
            raise errors.mistake(RuntimeError, "no dimension of size 3 in input")
        dim = input.array.shape.index(3)
    return _crossed(input, other, dim)


@composite(
    lambda t: [S(t(3), t(3)), S(t(2, 3), t(3)), S(t(2, 3), t(2, 3), dim=0), S(t(2, 1, 3), t(4, 3))],
    places=("linalg.vecdot",),
    public_name="",
    out="linalg.vecdot: Expected out of dtype{wanted.alias} but found {given.alias}",
    autocast="lower",
)
def linalg_vecdot(x: Tensor, y: Tensor, *, dim: Dim = -1) -> Tensor:
    """linalg.vecdot(x, y, *, dim=-1): the sums of conj(x) y along a dimension."""
    check_floats("linalg.vecdot", x, None)
    check_same_dtype("linalg.vecdot", x, y, ("x", "y"))
    if x.array.ndim == 1 == y.array.ndim:
        return vdot.function(x, y)
    return sum_op.function(mul.function(conj.function(x), y), dim)


@composite(lambda t: [S(t(3, 3)), S(t(2, 3, 4), offset=1), S(t(2, 3, 4), dim1=0, dim2=2)],
           places=("linalg.diagonal",), public_name="")  # fmt: skip
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: Dim = -2, dim2: Dim = -1) -> Tensor:
    """linalg.diagonal(A, *, offset=0, dim1=-2, dim2=-1): the diagonals of matrices, as a view."""
    return diagonal.function(A, offset, dim1, dim2)


@composite(
    lambda t: [S(t(3, low=0.3)), S(t(2, 3, low=0.3), N=4), S(t(2, low=0.3), N=2)],
    places=("linalg.vander",),
    public_name="",
    exempt={"half precision": "running products of it are refused"},
)
def linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """linalg.vander(x, *, N=None): the powers from 0 to N - 1 of each element, along a new last dimension."""
    if x.array.dtype.kind == "b" or is_half(x.array.dtype):
        first = f"linalg.vander supports floating point, complex, and integer tensors, but got {x.dtype.alias}"
        raise errors.mistake(RuntimeError, first)
    x = x if x.array.ndim else x.reshape((1,))
    count = x.array.shape[-1] if N is None else N
    if count <= 1:
        raise errors.mistake(RuntimeError, "N must be greater than 1.")
    repeated = expand.function(x.unsqueeze(-1), (*x.array.shape, count - 1))
    powers = repeated.cumprod(-1)
    return cat.function([powers.new_ones((*x.array.shape, 1)), powers], -1)
