"""Products of matrices and vectors.

Matrices of different dtypes are not promoted, they are refused, as PyTorch does. Half precision is computed in single
precision and rounded once. Everything that is a product of two matrices in the end goes through `product`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.modes import switches
from leafgrad._core.op import Op
from leafgrad._core.overrides import operator_overridden
from leafgrad._core.recorder import needs_recording
from leafgrad._core.tensor import TensorBase, is_batched, wrap
from leafgrad.kernels import products as kernels
from leafgrad.kernels.fused.basic import weighted_sum
from leafgrad.kernels.halves import converted, widened
from leafgrad.ops.linalg import checks, folding
from leafgrad.ops.linalg.checks import Call, alike
from leafgrad.ops.out import CASTS
from leafgrad.ops.pointwise.convert import conj
from leafgrad.ops.pointwise.elementwise import mul
from leafgrad.ops.products_of_torch import of_matmul
from leafgrad.ops.registry import Family, composite, op, renamed
from leafgrad.ops.samples import S
from leafgrad.ops.shape.view_history import view_of
from leafgrad.ops.shape.views import permute, squeeze, transpose, unsqueeze, view
from leafgrad.ops.shape.views import t as matrix_transposed
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph

_f32: Any = np.dtype(np.float32)
_f64: Any = np.dtype(np.float64)
ndarray: Any = np.ndarray

# -- kernels ----------------------------------------------------------------------------------------------------------


def product(a: Any, b: Any) -> Any:
    """The product of two arrays of at most two dimensions."""
    kind = a.dtype
    if kind is _f32 or kind is _f64 or not is_half(kind):
        return kernels.product(a, b)
    return converted(half_product(a, b), kind)


def product_of_vectors(a: Any, b: Any) -> Any:
    kind = a.dtype
    return kernels.dot(a, b) if kind is _f32 or kind is _f64 else product(a, b)


def product_with_vector(a: Any, b: Any) -> Any:
    kind = a.dtype
    return kernels.times_vector(a, b) if kind is _f32 or kind is _f64 else product(a, b)


def half_product(a: Any, b: Any) -> Any:
    """The product of two arrays of half precision, in single precision, of which everything is computed."""
    return any_product(widened(a), widened(b)) if a.ndim == 1 or b.ndim == 1 else kernels.half_product(a, b)


def combined(x: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta x + alpha product, in the memory of the product; with beta = 0, PyTorch does not even look at x, not at its
    nan either."""
    if beta == 0:
        return product if alpha == 1 else product * alpha
    plain = product.__class__ is x.__class__ is ndarray
    return weighted_sum(product, x, alpha, beta, product if plain else None)


def is_half(kind: Any) -> bool:
    """Is this float16 or bfloat16? Both are computed in float32."""
    return bool(kind.itemsize == 2 and kind.kind not in "iu")


def rows(x: A) -> A:
    """(..., n) as a matrix of n columns, without copying where the memory allows it."""
    if x.ndim == 2:
        return x
    columns = x.shape[-1]
    count = 1
    for size in x.shape[:-1]:
        count *= size  # not -1 in the shape below: that is ambiguous for empty arrays
    return x.reshape((count, columns))


def any_product(a: Any, b: Any) -> Any:
    """The product of two arrays of any number of dimensions from one on."""
    if a.ndim <= 2 and b.ndim <= 2:
        return product(a, b)
    if is_half(a.dtype):
        return converted(half_product(a, b), a.dtype)
    if b.ndim == 1:
        out = np.empty(a.shape[:-1], a.dtype)
        rows(a).dot(b, out.reshape(-1))
        return out
    return kernels.product(a, b)


def batched_product(batch: Any, a: Any, b: Any) -> Any:
    """The product for each sample of a vmap."""
    return batch.product(a, b)


def times(a: A, b: A) -> A:
    """`product` for rules: of two matrices that are arrays or tensors."""
    if a.__class__ is not ndarray:
        return mm.record(a, b)
    kind = a.dtype
    return kernels.product(a, b) if kind is _f32 or kind is _f64 else product(a, b)


def flops_of_product(shapes: Sequence[Any]) -> int:
    columns: int = shapes[1][-1] if len(shapes[1]) > 1 else 1
    return int(2 * math.prod(shapes[0]) * columns)


def shape_of_product(a: A, b: A) -> Any:
    """The shape of the product of vectors, matrices or batches of these; NotImplemented if they do not fit."""
    if not a.ndim or not b.ndim or a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        return NotImplemented
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return (*batch, *a.shape[-2:-1], *b.shape[-1:]) if b.ndim > 1 else (*batch, *a.shape[-2:-1])


# -- matrices and vectors ---------------------------------------------------------------------------------------------


class Product(Family, family=True):
    """Products of two tensors."""

    kernel = product
    meta = shape_of_product
    jvp = "product"
    vmap = batched_product
    flops: Any = flops_of_product
    out: Any = True


@op
class mm(Product):
    """mm(input, mat2): the product of two matrices, (n, k) with (k, m)."""

    shows = dict.fromkeys(("self_sym_sizes", "self_sym_strides", "mat2_sym_sizes", "mat2_sym_strides"), ...)
    autocast = "lower"
    inputs = ("input", "mat2")

    def call(input: Tensor, mat2: Tensor) -> Tensor:
        a, b = input.array, mat2.array
        if a.ndim != 2 or b.ndim != 2:
            which = "mat2" if a.ndim == 2 else "self"
            raise Call("mm", a, b).refused(f"{which} must be a matrix", "both must have two dimensions")
        return matrices("mm", input, mat2, a, b)

    def vjp_input(g: A, mat2: A) -> A:
        return times(g, mat2.T)

    def vjp_mat2(g: A, input: A) -> A:
        return times(input.T, g)

    samples = lambda t: [S(t(2, 3), t(3, 4)), S(t(1, 1), t(1, 1)), S(t(2, 0), t(0, 3)), S(t(0, 2), t(2, 3))]


def matrices(name: str, input: TensorBase, mat2: TensorBase, a: Any, b: Any) -> Any:
    """The product of two tensors that are known to be matrices."""
    if a.shape[1] != b.shape[0] or not alike(a, b):
        checks.check_matrices(Call(name, a, b), a, b)
    return bind(mm.core, (input, mat2))


@op
class mv(Product):
    """mv(input, vec): the product of a matrix (n, k) and a vector (k)."""

    inputs = ("input", "vec")
    kernel = product_with_vector

    def call(input: Tensor, vec: Tensor) -> Tensor:
        a, b = input.array, vec.array
        if a.ndim != 2 or b.shape != a.shape[1:] or not alike(a, b):
            checks.check_matrix_vector(Call("mv", a, b), a, b)
        return bind(mv.core, (input, vec))

    def vjp_input(g: A, vec: A) -> A:
        return g.reshape(-1, 1) * vec if g.__class__ is ndarray else unsqueeze(g, 1) * vec

    def vjp_vec(g: A, input: A) -> A:
        return product(input.T, g) if g.__class__ is ndarray else mv(input.T, g)

    samples = lambda t: [S(t(2, 3), t(3)), S(t(2, 0), t(0)), S(t(0, 2), t(2))]


@op
class dot(Product):
    """dot(input, tensor): the sum of the products of the elements of two vectors."""

    out = "result dtype {given.alias} does not match input dtype {wanted.alias}"
    inputs = ("input", "tensor")
    kernel = product_of_vectors
    flops = None

    def call(input: Tensor, tensor: Tensor) -> Tensor:
        a, b = input.array, tensor.array
        if a.ndim != 1 or a.shape != b.shape or not alike(a, b):
            checks.check_vectors("dot", a, b)
        return bind(dot.core, (input, tensor))

    def vjp_input(g: A, tensor: A) -> A:
        return g * tensor

    def vjp_tensor(g: A, input: A) -> A:
        return g * input

    def vmap(batch: A, a: A, b: A) -> A:
        return np.add.reduce(a * b, axis=0)

    samples = lambda t: [S(t(3), t(3)), S(t(1), t(1)), S(t(0), t(0))]


@op
class vdot(Product):
    """vdot(input, other): dot(conj(input), other)."""

    out = "result dtype {given.alias} does not match input dtype {wanted.alias}"
    jvp = "transpose"  # linear in the conjugate of its first factor
    inputs = ("input", "other")
    flops = None
    holomorphic = False

    def kernel(a: A, b: A) -> A:
        return product(a.conj(), b) if a.dtype.kind == "c" else product_of_vectors(a, b)

    def call(input: Tensor, other: Tensor) -> Tensor:
        checks.check_vectors("vdot", input.array, other.array)
        return bind(vdot.core, (input, other))

    def vjp_input(g: A, other: A) -> A:
        return conj(g) * other

    def vjp_other(g: A, input: A) -> A:
        return g * input

    def vmap(batch: A, a: A, b: A) -> A:
        return np.add.reduce(np.conjugate(a) * b, axis=0)

    samples = lambda t: [S(t(3), t(3)), S(t(1), t(1)), S(t(0), t(0))]


@op
class bmm(Product):
    """bmm(input, mat2): the products of two equally long stacks of matrices, (b, n, k) with (b, k, m)."""

    autocast = "lower"
    inputs = ("input", "mat2")
    kernel = any_product

    def call(input: Tensor, mat2: Tensor) -> Tensor:
        a, b = input.array, mat2.array
        if a.ndim == 3 == b.ndim and a.shape[0] == b.shape[0] and a.shape[2] == b.shape[1] and alike(a, b):
            return bind(bmm.core, (input, mat2))
        call = Call("bmm", a, b)
        for number, x in ((1, a), (2, b)):
            if x.ndim != 3:
                raise call.refused(f"batch{number} must be a 3D tensor", "both must have three dimensions")
        if a.shape[0] != b.shape[0]:
            raise call.refused(
                f"Expected size for first two dimensions of batch2 tensor to be: [{a.shape[0]}, {a.shape[2]}] but got: "
                f"[{b.shape[0]}, {b.shape[1]}].",
                f"dimension 0 is {a.shape[0]} in the first and {b.shape[0]} in the second",
            )
        checks.check_batches(call, a, b)
        return bind(bmm.core, (input, mat2))

    def vjp_input(g: A, mat2: A) -> A:
        return any_product(g, mat2.swapaxes(1, 2)) if g.__class__ is ndarray else bmm(g, transpose(mat2, 1, 2))

    def vjp_mat2(g: A, input: A) -> A:
        return any_product(input.swapaxes(1, 2), g) if g.__class__ is ndarray else bmm(transpose(input, 1, 2), g)

    samples = lambda t: [S(t(n, 3, k), t(n, k, 5)) for n, k in [(2, 4), (1, 1), (0, 4), (2, 0)]]


@composite(lambda t: [S(t(3), t(4)), S(t(0), t(2)), S(t(1), t(1))], out=CASTS, aliases=("ger",))
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """outer(input, vec2): the matrix of all products of an element of one vector with an element of the other."""
    a, b = input.array, vec2.array
    for name, x in (("self", a), ("vec2", b)):
        if x.ndim != 1:
            first = f"outer: Expected 1-D argument {name}, but got {x.ndim}-D"
            raise Call("outer", a, b).refused(first, "both must be vectors")
    return mul.function(view.function(input, (a.shape[0], 1)), vec2)


# -- any number of dimensions -----------------------------------------------------------------------------------------


def matmul_operator(self: Any, other: Any) -> Any:
    """self @ other. NotImplemented lets Python try the other operand."""
    if isinstance(other, TensorBase):
        a, b = self.array, other.array
        if a.ndim == 2 == b.ndim and not switches.autocasts:
            return matrices("matmul", self, other, a, b)
        return matmul.function(self, other)
    if isinstance(other, ndarray):
        return matmul.function(self, wrap(other))
    return operator_overridden("__matmul__", self, other)


def reflected_matmul_operator(self: Any, other: Any) -> Any:
    """other @ self, for those who call it by name, and for NumPy arrays on the left."""
    if isinstance(other, TensorBase):
        return matmul.function(other, self)
    if isinstance(other, ndarray):
        return matmul.function(wrap(other), self)
    return operator_overridden("__rmatmul__", self, other)


OF_BATCH_AND_MATRIX = "UnsafeViewBackward0(MmBackward0(ViewBackward0(input), other))"
OF_VECTOR_AND_MATRIX = "SqueezeBackward4(MmBackward0(UnsqueezeBackward0(input), other))"


@op
class matmul(Product):
    """matmul(input, other): the product of two tensors: of vectors, matrices, or stacks of matrices, whose leading
    dimensions are broadcast."""

    out = True
    autocast = "lower"
    inputs = ("input", "other")
    places = ("linalg.matmul",)
    kernel = any_product
    # what PyTorch composes it of, if both lie in rows; see `folding` for the rest
    node_name = (
        "UnsafeViewBackward0("
        "BmmBackward0(ViewBackward0(ExpandBackward0(input)), ViewBackward0(ExpandBackward0(other))))"
    )
    node_names = (OF_VECTOR_AND_MATRIX, OF_BATCH_AND_MATRIX)
    aten = {
        "UnsafeViewBackward0": "bmm", "SqueezeBackward4": "mm", "CloneBackward0": "mm", "TransposeBackward0": "mm",
    }  # fmt: skip
    products = of_matmul
    operators = {"__matmul__": matmul_operator, "__rmatmul__": reflected_matmul_operator}
    in_python = ("__rmatmul__",)

    def call(input: Tensor, other: Tensor) -> Tensor:
        a, b = input.array, other.array
        n, m = a.ndim, b.ndim
        if n == 2 and m == 2:
            return matrices("matmul", input, other, a, b)
        core = matmul.core
        if n <= 2 and m <= 2:
            if not (n and m and a.shape[-1] == b.shape[0] and alike(a, b)):
                checks.check_matmul(input, other)
            core = matmul.named[OF_VECTOR_AND_MATRIX] if m == 2 else mv.core if n == 2 else dot.core
            return bind(core, (input, other))
        if n == m and a.shape[:-2] == b.shape[:-2] and a.shape[-1] == b.shape[-2] and alike(a, b):
            is_usual = is_batched(a) or is_batched(b) or (a.flags.c_contiguous and b.flags.c_contiguous)
        else:
            checks.check_matmul(input, other)
            is_usual = is_batched(a) or is_batched(b)
            if m == 2 and not is_usual and a.flags.c_contiguous:
                core, is_usual = matmul.named[OF_BATCH_AND_MATRIX], True
        if not is_usual and (needs_recording((input, other)) or input.needs_grad):
            shown = folding.composition(a, input.needs_grad, b, other.needs_grad)
            if shown.startswith("TransposeBackward0"):
                return transposed_product(input, other)
            core = form(matmul, shown)
        return bind(core, (input, other))

    def vjp_input(g: A, other: A, input_shape: A, other_shape: A) -> A:
        g = as_matrices(g, input_shape, other_shape)
        if len(other_shape) == 1:
            other = unsqueeze(other, 1)
        r = matmul(g, transpose(other, -2, -1))
        return r.squeeze(-2) if len(input_shape) == 1 else r

    def vjp_other(g: A, input: A, input_shape: A, other_shape: A) -> A:
        g = as_matrices(g, input_shape, other_shape)
        if len(input_shape) == 1:
            input = unsqueeze(input, 0)
        if len(other_shape) <= 2:
            # one product of tall matrices, not many products that are then added up
            r = times(rows(input).T, rows(g))
        else:
            r = matmul(transpose(input, -2, -1), g)
        return r.squeeze(-1) if len(other_shape) == 1 else r

    samples = lambda t: [
        *[S(t(3), t(*b)) for b in [(3,), (3, 2), (2, 3, 2)]],
        *[S(t(2, 3), t(*b)) for b in [(3,), (3, 4), (2, 3, 2)]],
        *[S(t(2, 4, 3), t(*b)) for b in [(3,), (3, 4), (2, 3, 2), (1, 3, 4), (5, 1, 3, 2)]],
        *[S(t(2, 1, 2, 3), t(*b)) for b in [(3,), (3, 2), (4, 3, 2)]],
        *[S(t(*a), t(*b)) for a, b in [((0,), (0,)), ((2, 0, 3), (3, 4)), ((2, 3, 0), (0, 2)), ((0, 2, 3), (3,))]],
    ]


def transposed_product(input: Any, other: Any) -> Any:
    """The product of a matrix with a stack of them, where PyTorch returns a view of the product of their transposes."""
    matrix = input if input.array.ndim == 2 else squeeze.function(input, 0)
    product = matmul.function(transpose.function(other, -2, -1), matrix_transposed.function(matrix))
    return transpose.function(product, -2, -1)


def form(operation: Any, composition: str) -> Op:
    """An operation as PyTorch's graph shows it: there are some twenty forms of matmul."""
    found: Op | None = operation.named.get(composition)
    if found is None:
        found = operation.named[composition] = renamed(operation, operation.core, composition)
    return found


def as_matrices(g: A, input_shape: Any, other_shape: Any) -> A:
    """The gradient of a product with the dimension of size one put back that a vector operand does not leave."""
    if len(other_shape) == 1:
        g = unsqueeze(g, g.ndim)
    return unsqueeze(g, g.ndim - 1) if len(input_shape) == 1 else g


# -- transposes that are attributes -----------------------------------------------------------------------------------


def transposed(self: Any) -> Any:
    """T: the dimensions in reverse order; meant for matrices."""
    n = self.array.ndim
    if n == 0:
        errors.warn("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif n != 2:
        errors.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
        )
    return view_of(permute, self, tuple(range(n - 1, -1, -1)))


def matrices_transposed(self: Any) -> Any:
    """mT: the last two dimensions exchanged."""
    if self.array.ndim == 0:
        errors.warn("Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.")
        return self
    return _exchange(self, "tensor.mT is only supported on matrices or batches of matrices.")


def conjugate_transposed(self: Any) -> Any:
    """H: a matrix transposed and conjugated."""
    n = self.array.ndim
    if n == 0:
        errors.warn("Tensor.H is deprecated on 0-D tensors. Consider using x.conj().")
        return conj.function(self)
    if n != 2:
        more = " For batches of matrices, consider using tensor.mH" if n > 2 else ""
        raise errors.mistake(
            RuntimeError, f"tensor.H is only supported on matrices (2-D tensors). Got {n}-D tensor.{more}"
        )
    return conj.function(_exchange(self, ""))


def matrices_conjugate_transposed(self: Any) -> Any:
    """mH: the last two dimensions exchanged, and conjugated."""
    return _conjugate_exchange(self, "Tensor.mH", "tensor.mH")


@composite(lambda t: [S(t(2, 3)), S(t(2, 3, 4))])
def adjoint(input: Tensor) -> Tensor:
    """adjoint(input): the last two dimensions exchanged, and conjugated."""
    return _conjugate_exchange(input, "adjoint()", "tensor.adjoint()")


def _conjugate_exchange(x: Any, deprecated: str, refused: str) -> Any:
    if x.array.ndim == 0:
        errors.warn(f"{deprecated} is deprecated on 0-D tensors. Consider using x.conj().")
        return conj.function(x)
    return conj.function(_exchange(x, f"{refused} is only supported on matrices or batches of matrices."))


def _exchange(x: Any, otherwise: str) -> Any:
    n = x.array.ndim
    if n < 2:
        raise errors.mistake(RuntimeError, f"{otherwise} Got {n}-D tensor.")
    return view_of(transpose, x, n - 2, n - 1)


METHODS = {
    "T": property(transposed), "mT": property(matrices_transposed),
    "H": property(conjugate_transposed), "mH": property(matrices_conjugate_transposed),
}  # fmt: skip
