"""What products of matrices and vectors refuse, and what they say then: PyTorch's sentence, both shapes, the dimension
that does not fit, and the user's line. These functions run on arrays and return nothing if all is well."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core import TensorBase
from leafgrad.dtypes import from_numpy_dtype


def refuse(first: str, name: str, a: Any, b: Any, why: str) -> RuntimeError:
    """PyTorch's sentence, then the operation, both shapes, what does not fit, and the user's line."""
    shapes = f"{name} of shapes {errors.size(a.shape)} and {errors.size(b.shape)}"
    return RuntimeError(errors.lines(first, f"{shapes}: {why}", f"at {errors.here()}"))


def dtypes_differ(first: str, name: str, a: Any, b: Any) -> RuntimeError:
    one, other = from_numpy_dtype(a.dtype), from_numpy_dtype(b.dtype)
    return RuntimeError(
        errors.lines(
            first,
            f"{name} of {one} {errors.size(a.shape)} and {other} {errors.size(b.shape)}, at {errors.here()}",
            f"fix: matrix products do not promote; convert one of them: x.to({other})",
        )
    )


_C_NAMES = {
    "Float": "float", "Double": "double", "Bool": "bool", "Byte": "unsigned char", "Char": "signed char",
    "Short": "short int", "Int": "int", "Long": "long int", "Half": "c10::Half", "BFloat16": "c10::BFloat16",
    "ComplexFloat": "c10::complex<float>", "ComplexDouble": "c10::complex<double>",
}  # fmt: skip


def alias(x: Any) -> str:
    return str(from_numpy_dtype(x.dtype).alias)


def refuse_bool(name: str, kernel: str, x: Any) -> None:
    if x.dtype.kind == "b":
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'\n  {name} at {errors.here()}")


def check_matrices(name: str, a: Any, b: Any, tall: Any = None) -> None:
    """Two matrices must agree in their inner size and in dtype. `tall` is `a` as PyTorch folds it for the message."""
    shape = a.shape if tall is None else tall
    if shape[1] != b.shape[0]:
        raise refuse(
            f"mat1 and mat2 shapes cannot be multiplied ({shape[0]}x{shape[1]} and {b.shape[0]}x{b.shape[1]})",
            name, a, b,
            f"dimension {a.ndim - 1} of the first is {shape[1]}, but dimension 0 of the second is {b.shape[0]}",
        )  # fmt: skip
    if a.dtype != b.dtype:
        names = f"{_C_NAMES[alias(a)]} != {_C_NAMES[alias(b)]}"
        raise dtypes_differ(f"expected m1 and m2 to have the same dtype, but got: {names}", name, a, b)
    refuse_bool(name, "addmm_impl_cpu_", a)


def check_matrix_vector(name: str, a: Any, b: Any) -> None:
    tall = a.shape if a.ndim == 2 else (int(np.prod(a.shape[:-1])), a.shape[-1])
    if tall[1] != b.shape[0]:
        raise refuse(
            f"size mismatch, got input ({tall[0]}), mat ({tall[0]}x{tall[1]}), vec ({b.shape[0]})", name, a, b,
            f"dimension {a.ndim - 1} of the first is {tall[1]}, but the vector has {b.shape[0]} elements",
        )  # fmt: skip
    if a.dtype != b.dtype:
        names = f"{alias(b)}, {alias(a)}, and {alias(b)}"
        raise dtypes_differ(f"addmv input tensors must have the same dtype, but got {names}", name, a, b)
    refuse_bool(name, "addmv_impl_cpu", a)


def check_vectors(name: str, a: Any, b: Any) -> None:
    if a.ndim != 1 or b.ndim != 1:
        raise refuse(
            f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors", name, a, b, "both must be vectors"
        )
    if a.dtype != b.dtype:
        names = f"{alias(a)} and {alias(b)}"
        raise dtypes_differ(f"dot : expected both vectors to have same dtype, but found {names}", name, a, b)
    if a.shape != b.shape:
        raise refuse(
            f"inconsistent tensor size, expected tensor [{a.size}] and src [{b.size}] to have the same number of "
            f"elements, but got {a.size} and {b.size} elements respectively",
            name, a, b, f"dimension 0 is {a.size} in the first and {b.size} in the second",
        )  # fmt: skip
    refuse_bool(name, "dot", a)


def check_batches(name: str, a: Any, b: Any) -> None:
    """Stacks of matrices: the batch dimensions must broadcast, the inner sizes must be equal."""
    lead, other_lead = a.shape[:-2], b.shape[:-2]
    try:
        batch = np.broadcast_shapes(lead, other_lead)
    except ValueError:
        pairs = list(zip(reversed(lead), reversed(other_lead)))
        back = 1 + next(i for i, (one, other) in enumerate(pairs) if one != other and 1 not in (one, other))
        dim = max(len(lead), len(other_lead)) - back
        raise refuse(
            f"The size of tensor a ({lead[-back]}) must match the size of tensor b ({other_lead[-back]}) at "
            f"non-singleton dimension {dim}",
            name, a, b, f"their batch dimensions {errors.size(lead)} and {errors.size(other_lead)} cannot be broadcast",
        ) from None  # fmt: skip
    if a.shape[-1] != b.shape[-2]:
        count = int(np.prod(batch))
        raise refuse(
            f"Expected size for first two dimensions of batch2 tensor to be: [{count}, {a.shape[-1]}] but got: "
            f"[{count}, {b.shape[-2]}].",
            name, a, b,
            f"dimension {a.ndim - 1} of the first is {a.shape[-1]}, but dimension {b.ndim - 2} of the second is "
            f"{b.shape[-2]}",
        )  # fmt: skip
    if a.dtype != b.dtype:
        raise dtypes_differ(f"expected scalar type {alias(a)} but found {alias(b)}", name, a, b)
    refuse_bool(name, "bmm", a)


def arrays_of(name: str, names: tuple[str, str], a: Any, b: Any) -> tuple[Any, Any]:
    """The arrays of two arguments that must be tensors."""
    if not isinstance(a, TensorBase):
        raise errors.not_a_tensor(name, names[0], 1, a)
    if not isinstance(b, TensorBase):
        raise errors.not_a_tensor(name, names[1], 2, b)
    return a.array, b.array


def factor(value: Any, kind: Any) -> Any:
    """A number that multiplies a tensor, in the category of the tensor's dtype."""
    if isinstance(value, TensorBase) and not value.requires_grad and value.array.ndim == 0:  # type: ignore[attr-defined]
        value = value.array.item()
    if isinstance(value, complex) and kind.kind != "c":
        name = _C_NAMES[str(from_numpy_dtype(kind).alias)]
        raise RuntimeError(f"value cannot be converted to type {name} without overflow\n  at {errors.here()}")
    return int(value) if kind.kind in "iu" else value


def check_addmm(name: str, x: Any, a: Any, b: Any) -> None:
    check_three_dtypes(name, x, a, b)
    for which, matrix in (("mat1", a), ("mat2", b)):
        if matrix.ndim != 2:
            raise refuse(f"{which} must be a matrix, got {matrix.ndim}-D tensor", name, a, b, "both must be matrices")
    check_matrices(name, a, b)
    check_addend(name, x, (a.shape[0], b.shape[1]))


def check_three_dtypes(name: str, x: Any, a: Any, b: Any) -> None:
    for which, one in (("self", x), ("mat1", a)):
        if one.dtype != b.dtype:
            names = f"{alias(one)} and {alias(b)}"
            raise dtypes_differ(f"{which} and mat2 must have the same dtype, but got {names}", name, one, b)


def check_addend(name: str, x: Any, target: tuple[int, ...]) -> None:
    """What is added to a product must be expandable to the product's shape."""
    own, goal = errors.size(x.shape), errors.size(target)
    if x.ndim > len(target):
        first = (
            f"expand(torch.{alias(x)}Tensor{{{own}}}, size={goal}): the number of sizes provided ({len(target)}) must "
            f"be greater or equal to the number of dimensions in the tensor ({x.ndim})"
        )
        raise RuntimeError(errors.lines(first, f"{name} adds {own} to a product of shape {goal}, at {errors.here()}"))
    for back in range(x.ndim, 0, -1):
        if x.shape[-back] not in (1, target[-back]):
            first = (
                f"The expanded size of the tensor ({target[-back]}) must match the existing size ({x.shape[-back]}) at "
                f"non-singleton dimension {len(target) - back}.  Target sizes: {goal}.  Tensor sizes: {own}"
            )
            where = f"{name} adds {own} to a product of shape {goal}: dimension {x.ndim - back} does not fit"
            raise RuntimeError(errors.lines(first, f"{where}, at {errors.here()}"))


def not_tensors(input: Any, weight: Any, bias: Any) -> TypeError:
    arguments = (("input", input), ("weight", weight), ("bias", bias))
    for position, (name, value) in enumerate(arguments):
        if not isinstance(value, TensorBase) and not (name == "bias" and value is None):
            return errors.not_a_tensor("linear", name, position + 1, value)
    raise AssertionError("not_tensors was asked about tensors")


def check_linear(x: Any, w: Any, b: Any) -> None:
    if x.ndim == 0 or w.ndim == 0:
        raise refuse(
            f"both arguments to linear need to be at least 1D, but they are {x.ndim}D and {w.ndim}D", "linear", x, w,
            "input is (..., in_features), weight is (out_features, in_features)",
        )  # fmt: skip
    if w.ndim > 2:
        raise refuse(
            f"t() expects a tensor with <= 2 dimensions, but self is {w.ndim}D", "linear", x, w,
            "weight is (out_features, in_features)",
        )  # fmt: skip
    if b is not None:
        check_three_dtypes("linear", b, x, w)
    tall = (int(np.prod(x.shape[:-1])), x.shape[-1])
    if x.shape[-1] != w.shape[1]:
        raise refuse(
            f"mat1 and mat2 shapes cannot be multiplied ({tall[0]}x{tall[1]} and {w.shape[1]}x{w.shape[0]})",
            "linear", x, w,
            f"dimension {x.ndim - 1} of the input is {tall[1]}, but dimension 1 of the weight is {w.shape[1]}",
        )  # fmt: skip
    check_matrices("linear", x, w.T, tall)
    if b is not None:
        check_addend("linear", b, (tall[0], w.shape[0]))
