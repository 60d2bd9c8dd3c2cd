"""What products of matrices and vectors refuse, and what they say then: PyTorch's sentence, both shapes, the dimension
that does not fit, and the user's line. These functions look at arrays and return nothing if all is well."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import from_numpy_dtype

_f32: Any = np.dtype(np.float32)
_f64: Any = np.dtype(np.float64)

# -- saying it --------------------------------------------------------------------------------------------------------


class Call:
    """What the user called: a function and its two operands, of which the operands of a check may be reshaped forms."""

    def __init__(self, name: str, a: Any, b: Any) -> None:
        self.name = name
        self.a = a
        self.b = b

    def refused(self, first: str, why: str, fix: str = "") -> RuntimeError:
        operands = f"{errors.describe_array(self.a)} and {errors.describe_array(self.b)}"
        return errors.mistake(RuntimeError, first, (self.name, operands), ("mismatch", why), fix=fix)

    def inner_sizes(self) -> str:
        """Which dimensions would have to agree."""
        a, b = self.a.shape, self.b.shape
        dim = max(len(b) - 2, 0)
        return f"dimension {len(a) - 1} of the first is {a[-1]}, but dimension {dim} of the second is {b[dim]}"

    def other_dtypes(self, first: str) -> RuntimeError:
        one, other = from_numpy_dtype(self.a.dtype), from_numpy_dtype(self.b.dtype)
        operands = f"{errors.describe_array(self.a)} {one} and {errors.describe_array(self.b)} {other}"
        fix = f"x.to({errors.library()}.{other.name})   # products of matrices do not promote"
        return errors.mistake(RuntimeError, first, (self.name, operands), fix=fix)


def alias(x: Any) -> str:
    return str(from_numpy_dtype(x.dtype).alias)


def refuse_bool(call: Call, kernel: str) -> None:
    """There is no product of bools, unless nothing has to be multiplied."""
    if call.a.dtype.kind == "b" and call.a.size and call.b.size:
        raise errors.mistake(NotImplementedError, f"\"{kernel}\" not implemented for 'Bool'")


def form(shape: tuple[int, ...], dtype: Any) -> Any:
    """As much of an array as the checks look at: an array that takes no memory."""
    return np.broadcast_to(np.zeros((), dtype), shape)


def folded(x: Any) -> Any:
    """(..., n, k) as the tall matrix (... * n, k)."""
    return form((math.prod(x.shape[:-1]), x.shape[-1]), x.dtype)


# -- two operands -----------------------------------------------------------------------------------------------------


def alike(a: Any, b: Any) -> bool:
    """Are both float32 or both float64? Then only shapes can be wrong, and callers look at those before they ask for
    a thorough check."""
    kind = a.dtype
    return kind is b.dtype and (kind is _f32 or kind is _f64)


def check_matrices(call: Call, a: Any, b: Any) -> None:
    """Two matrices must agree in their inner size and in dtype."""
    if a.shape[1] != b.shape[0]:
        shapes = f"{a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]}"
        raise call.refused(f"mat1 and mat2 shapes cannot be multiplied ({shapes})", call.inner_sizes())
    if a.dtype != b.dtype:
        names = f"{from_numpy_dtype(a.dtype).cpp} != {from_numpy_dtype(b.dtype).cpp}"
        raise call.other_dtypes(f"expected m1 and m2 to have the same dtype, but got: {names}")
    refuse_bool(call, "addmm_impl_cpu_")


def check_matrix_vector(call: Call, a: Any, b: Any) -> None:
    if a.ndim == 0:
        raise errors.mistake(IndexError, "Dimension specified as 0 but tensor has no dimensions")
    if a.ndim != 2 or b.ndim != 1:
        raise call.refused(
            f"vector + matrix @ vector expected, got 1, {a.ndim}, {b.ndim}",
            "the first must be a matrix and the second a vector",
        )
    (n, k), (m,) = a.shape, b.shape
    if k != m:
        raise call.refused(f"size mismatch, got input ({n}), mat ({n}x{k}), vec ({m})", call.inner_sizes())
    if a.dtype != b.dtype:
        names = f"{alias(b)}, {alias(a)}, and {alias(b)}"
        raise call.other_dtypes(f"addmv input tensors must have the same dtype, but got {names}")
    refuse_bool(call, "addmv_impl_cpu")


def check_vectors(name: str, a: Any, b: Any) -> None:
    call = Call(name, a, b)
    if a.ndim != 1 or b.ndim != 1:
        raise call.refused(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors", "both must be vectors")
    if a.dtype != b.dtype:
        raise call.other_dtypes(f"dot : expected both vectors to have same dtype, but found {alias(a)} and {alias(b)}")
    if a.shape != b.shape:
        raise call.refused(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the same number of "
            f"elements, but got {a.size} and {b.size} elements respectively",
            call.inner_sizes(),
        )
    if a.dtype.kind == "b":
        raise errors.mistake(NotImplementedError, "\"dot\" not implemented for 'Bool'")


def check_batches(call: Call, a: Any, b: Any) -> None:
    """Stacks of matrices: the batch dimensions must broadcast, the inner sizes must be equal."""
    lead, other_lead = a.shape[:-2], b.shape[:-2]
    for back, (one, other) in enumerate(zip(reversed(lead), reversed(other_lead)), 1):
        if one != other and 1 not in (one, other):
            dim = max(len(lead), len(other_lead)) - back
            raise call.refused(
                f"The size of tensor a ({one}) must match the size of tensor b ({other}) at non-singleton dimension "
                f"{dim}",
                f"their batch dimensions {errors.size(lead)} and {errors.size(other_lead)} cannot be broadcast",
            )
    if a.shape[-1] != b.shape[-2]:
        count = int(np.prod(np.broadcast_shapes(lead, other_lead)))
        raise call.refused(
            f"Expected size for first two dimensions of batch2 tensor to be: [{count}, {a.shape[-1]}] but got: "
            f"[{count}, {b.shape[-2]}].",
            call.inner_sizes(),
        )
    refuse_bool(call, "bmm")
    if a.dtype != b.dtype:
        raise call.other_dtypes(f"expected scalar type {alias(a)} but found {alias(b)}")


def check_matmul(input: Any, other: Any) -> None:
    """Operands of any number of dimensions. What PyTorch says depends on how it would compute the product."""
    a, b = input.array, other.array
    call = Call("matmul", a, b)
    if a.ndim == 0 or b.ndim == 0:
        raise call.refused(
            f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D",
            "numbers are multiplied with *",
        )
    one, two = without_batch(input, b), without_batch(other, a)
    if b.ndim <= 2 and a.ndim <= 2:
        if b.ndim == 2:
            check_matrices(call, folded(a), b)
        elif a.ndim == 2:
            check_matrix_vector(call, a, b)
        else:
            check_vectors("matmul", a, b)
    elif one.ndim != two.ndim and folds(input, other, one, two):
        large, small = (a, two) if one.ndim > two.ndim else (b.swapaxes(-1, -2), one if one.ndim == 1 else one.T)
        (check_matrix_vector if small.ndim == 1 else check_matrices)(call, folded(large), small)
    else:
        first = form((1, *a.shape), a.dtype) if a.ndim == 1 else a
        check_batches(call, first, form((*b.shape, 1), b.dtype) if b.ndim == 1 else b)


def without_batch(operand: Any, other: Any) -> Any:
    """A stack of one matrix that wants a gradient is a matrix to PyTorch, if the other operand has a real batch."""
    x = operand.array
    if operand.needs_grad and x.ndim == other.ndim == 3 and x.shape[0] == 1 != other.shape[0]:
        return form(x.shape[1:], x.dtype)
    return x


def folds(input: Any, other: Any, one: Any, two: Any) -> bool:
    """Would PyTorch fold the batch of one operand into a taller matrix, because the other has no batch?"""
    large, small = (input, other) if one.ndim > two.ndim else (other, input)
    if large.array.ndim < 3 or min(one.ndim, two.ndim) > 2:
        return False
    if small.needs_grad:
        return True
    if one.ndim == 2:
        return False
    x = large.array if large is input else large.array.swapaxes(-1, -2)
    shape, strides = x.shape, x.strides
    return x.size == 0 or all(strides[i] == strides[i + 1] * shape[i + 1] for i in range(x.ndim - 2))


# -- something added --------------------------------------------------------------------------------------------------


def factor(value: Any, kind: Any) -> Any:
    """A number that multiplies a tensor, in the category of the tensor's dtype, which must be able to hold it."""
    if isinstance(value, TensorBase) and not value.needs_grad and value.array.ndim == 0:
        value = value.array.item()
    fits = kind.kind == "c" or not isinstance(value, complex)
    if fits and kind.kind in "iu":
        limits = np.iinfo(kind)
        lowest = -limits.max if kind.kind == "u" and isinstance(value, int) else limits.min
        fits = lowest <= value <= limits.max  # and so not nan
    if not fits:
        name = {"float64": "double", "int32": "int"}.get(kind.name, f"{kind.name}_t" if kind.kind in "iu" else "float")
        raise errors.mistake(RuntimeError, f"value cannot be converted to type {name} without overflow")
    if kind.kind in "iu":
        return int(value) % (np.iinfo(kind).max + 1) if kind.kind == "u" else int(value)
    return bool(value) if kind.kind == "b" else value


def check_three_dtypes(name: str, x: Any, a: Any, b: Any) -> None:
    for which, one in (("self", x), ("mat1", a)):
        if one.dtype != b.dtype:
            names = f"{alias(one)} and {alias(b)}"
            raise Call(name, one, b).other_dtypes(f"{which} and mat2 must have the same dtype, but got {names}")


def check_addmm(x: Any, a: Any, b: Any) -> None:
    call = Call("addmm", a, b)
    check_three_dtypes("addmm", x, a, b)
    for which, matrix in (("mat1", a), ("mat2", b)):
        if matrix.ndim != 2:
            raise call.refused(f"{which} must be a matrix, got {matrix.ndim}-D tensor", "both must be matrices")
    if a.shape[1] == b.shape[0]:  # otherwise the product itself is the problem
        check_addend("addmm", x, (a.shape[0], b.shape[1]))
    check_matrices(call, a, b)


def check_addend(name: str, x: Any, target: tuple[int, ...]) -> None:
    """What is added to a product must be expandable to the product's shape."""
    pairs = zip(reversed(x.shape), reversed(target))
    if x.ndim > len(target) or any([size not in (1, wanted) for size, wanted in pairs]):
        first, why = errors.not_expandable(x, target)
        operands = f"{errors.describe_array(x)} is added to a product {errors.size(target)}"
        raise errors.mistake(RuntimeError, first, (name, operands), ("mismatch", why))


def fit_in_map(x: Any, w: Any, b: Any) -> bool:
    """Do the operands of `linear` fit, where the dtype of one may be that of a batch, equal to NumPy's own but another
    object? Then a thorough check, which takes as long as the product, finds nothing."""
    kind = x.dtype
    if kind.kind != "f" or x.ndim == 0 or w.ndim != 2 or w.dtype != kind or x.shape[-1] != w.shape[1]:
        return False
    return b is None or (b.dtype == kind and b.shape == w.shape[:1])


def check_linear(x: Any, w: Any, b: Any) -> None:
    call = Call("linear", x, w)
    if x.ndim == 0 or w.ndim == 0:
        raise call.refused(
            f"both arguments to linear need to be at least 1D, but they are {x.ndim}D and {w.ndim}D",
            "input is (..., in_features), weight is (out_features, in_features)",
        )
    if w.ndim > 2:
        raise call.refused(
            f"t() expects a tensor with <= 2 dimensions, but self is {w.ndim}D", "weight is (out_features, in_features)"
        )
    if w.ndim == 1:
        return  # a product of a matrix and a vector, whose own checks come later
    if b is not None:
        check_three_dtypes("linear", b, x, w)
    tall = folded(x)
    if x.shape[-1] != w.shape[1]:
        raise call.refused(
            f"mat1 and mat2 shapes cannot be multiplied ({tall.shape[0]}x{tall.shape[1]} and "
            f"{w.shape[1]}x{w.shape[0]})",
            f"dimension {x.ndim - 1} of the input is {tall.shape[1]}, but dimension 1 of the weight is {w.shape[1]}",
            "the weight is (out_features, in_features); the last dimension of the input is in_features",
        )
    if b is not None and (x.ndim == 2 or adds_before_unfolding(x, b)):
        check_addend("linear", b, (tall.shape[0], w.shape[0]))
    elif b is not None:
        check_broadcast(b, (*x.shape[:-1], w.shape[0]))
    check_matrices(call, tall, w.T)


def adds_before_unfolding(x: Any, b: Any) -> bool:
    """Does PyTorch add the bias to the tall matrix that it makes of the batch? It does if the bias has one dimension,
    not counting those of size one, and the batch can be folded as it lies in memory."""
    return bool(x.flags.c_contiguous and (b.ndim == 1 or len([size for size in b.shape if size != 1]) == 1))


def check_broadcast(b: Any, target: tuple[int, ...]) -> None:
    """A bias of more dimensions is added in place, so it must broadcast to exactly the shape of the product."""
    try:
        full = np.broadcast_shapes(b.shape, target)
    except ValueError:
        raise errors.broadcast_mismatch("linear", (np.broadcast_to(0, target), b)) from None
    if full != target:
        raise errors.in_place_shape("linear adds its bias", target, full)


def not_tensors(input: Any, weight: Any, bias: Any) -> TypeError:
    arguments = (("input", input), ("weight", weight), ("bias", bias))
    for position, (name, value) in enumerate(arguments):
        if not isinstance(value, TensorBase) and not (name == "bias" and value is None):
            return errors.not_a_tensor("linear", name, position + 1, value)
    raise AssertionError("not_tensors was asked about tensors")
