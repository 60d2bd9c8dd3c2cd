"""Further methods of Tensor, which are no operations: conversions, questions, comparison as a whole, resizing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.overrides import methods_of_operators
from leafgrad._core.recorder import settle, unrecorded
from leafgrad._core.tensor import TensorBase, is_batched
from leafgrad._core.thread_state import silence_numpy
from leafgrad._device import check_device
from leafgrad._layouts import lies_in_format
from leafgrad.ops.creation import legacy
from leafgrad.ops.pointwise.comparison import eq
from leafgrad.ops.promotion import cast
from leafgrad.ops.public_forms import checked_functions, checked_methods
from leafgrad.ops.signature import Device, Dtype, MemoryFormat, Number, Tensor, by_name, declared

# -- conversions ------------------------------------------------------------------------------------------------------


@declared(
    "(self: Tensor) -> str",
    "(self: Tensor, dtype: Dtype | str | type, non_blocking: bool = False) -> Tensor",
)
def type_of(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """type(dtype=None, non_blocking=False): the name of this tensor's type, or the tensor as another type."""
    if dtype is None:
        return f"torch.{self.dtype.alias}Tensor"
    if isinstance(dtype, str):
        name = dtype.removeprefix("torch.")
        if name.startswith("cuda."):
            check_device("cuda")
        if name not in legacy.TYPES or name == dtype:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = legacy.TYPES[name]
    if isinstance(dtype, legacy.TensorType):
        dtype = dtype.dtype
    if isinstance(dtype, type) and issubclass(dtype, TensorBase):
        dtype = _dtypes.get_default_dtype()
    if not isinstance(dtype, _dtypes.dtype):
        raise TypeError("dtype must be a type, str, or dtype object")
    return self.to(dtype)


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """type_as(other): this tensor in the dtype of another."""
    return self.to(_dtypes.from_numpy_dtype(other.array.dtype))


def cpu(self: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
    """cpu(): the tensor itself, which is always there."""
    return self if memory_format is None else self.to(memory_format=memory_format)


def cuda(
    self: Tensor, device: Device | None = None, non_blocking: bool = False, memory_format: MemoryFormat | None = None
) -> Tensor:
    """cuda(...): refused, leafgrad computes on the CPU only."""
    check_device("cuda" if device is None else device)
    check_device("cuda")


def pin_memory(self: Tensor) -> Tensor:
    """pin_memory(): refused, there is no device to pin memory for."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


@declared()
def is_contiguous(self: Tensor, memory_format: MemoryFormat | None = None) -> bool:
    """is_contiguous(memory_format=contiguous_format): do the elements lie in memory one after the other?"""
    return lies_in_format(self.array, memory_format)


# -- questions about tensors ------------------------------------------------------------------------------------------


def is_tensor(obj: object) -> bool:
    """is_tensor(obj): is it a Tensor?"""
    return isinstance(obj, TensorBase)


def numel(input: Tensor) -> int:
    """numel(input): the number of elements."""
    return int(input.array.size)


def can_cast(from_: Dtype, to: Dtype) -> bool:
    """can_cast(from_, to): may values of a dtype be put into a tensor of another, in place?"""
    return _dtypes.can_cast(from_, to)


def promote_types(type1: Dtype, type2: Dtype) -> Dtype:
    """promote_types(type1, type2): the smallest dtype that holds both."""
    return _dtypes.promote_types(type1, type2)


def is_floating_point(input: Tensor) -> bool:
    """is_floating_point(input): is the dtype a floating point one?"""
    return _dtypes.from_numpy_dtype(input.array.dtype).is_floating_point


def is_complex(input: Tensor) -> bool:
    """is_complex(input): is the dtype complex?"""
    return bool(input.array.dtype.kind == "c")


def is_signed(input: Tensor) -> bool:
    """is_signed(input): can the dtype hold negative numbers?"""
    return bool(input.is_signed())


def is_inference(input: Tensor) -> bool:
    """is_inference(input): was it made inside inference_mode, so that it can never be part of a graph?"""
    return input.rare is not None and input.rare.inference


def is_nonzero(input: Tensor) -> bool:
    """is_nonzero(input): is the one element something else than zero?"""
    return bool(input)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """is_same_size(input, other): do both have the same shape?"""
    return bool(input.array.shape == other.array.shape)


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """is_set_to(tensor): do both show the same memory in the same way?"""
    a, b = self.array, tensor.array
    same = a.__array_interface__["data"] == b.__array_interface__["data"]
    return bool(same and a.shape == b.shape and a.strides == b.strides and a.dtype == b.dtype)


def equal(input: Tensor, other: Tensor) -> bool:
    """equal(input, other): do both have the same shape and the same elements?"""
    a, b = input.array, other.array
    if a.dtype != b.dtype:
        kind = _dtypes.promote_types(_dtypes.from_numpy_dtype(a.dtype), _dtypes.from_numpy_dtype(b.dtype))
        a, b = cast(a, kind), cast(b, kind)
    if a.__class__ is np.ndarray is b.__class__:  # in half the time
        if a.shape != b.shape:
            return False
        same = eq.core.kernel(a, b)
        return not a.size or bool(same.item(same.argmin()))  # the first False, if any: a sixth of the time of all()
    return bool(np.array_equal(a, b))


def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False): |input - other| <= atol + rtol * |other|?"""
    for t in (input, other):
        if t.rare is not None:  # as a difference, which has a history, a view has to follow its base
            settle(t)
    return is_close(input, other, rtol, atol, equal_nan)


def is_close(input: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> Tensor:
    silence_numpy()
    a, b = input.array, other.array
    if a.dtype != b.dtype:
        kinds = [_dtypes.from_numpy_dtype(x.dtype).alias for x in (a, b)]
        raise RuntimeError(f"{kinds[0]} did not match {kinds[1]}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value:g}")
    try:
        return unrecorded(eq.core, (input, other), close_arrays(a, b, rtol, atol, equal_nan))
    except ValueError:
        raise errors.broadcast_mismatch("isclose", (a, b)) from None


def close_arrays(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    """Infinities are close to themselves alone; integers are compared as floats of the default dtype."""
    same = a == b
    if equal_nan and a.dtype.kind not in "biu":
        same = same | ((a != a) & (b != b))
    if (rtol == 0 and atol == 0) or a.size == 0 or b.size == 0:
        return same
    if a.dtype.kind in "biu":
        default = _dtypes.get_default_dtype().np
        allowed = atol + np.abs(np.asarray(rtol, default) * b.astype(default))
        a, b = (a.astype(np.int64), b.astype(np.int64)) if a.dtype.kind == "b" else (a, b)
    else:
        real = np.zeros((), a.dtype).real.dtype.type
        allowed = real(atol) + np.abs(real(rtol) * b)
    distance = np.abs(a - b)
    return same | (np.isfinite(distance) & (distance <= allowed))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False): is every element close to the other?"""
    if is_batched(input.array) or is_batched(other.array):
        raise RuntimeError(
            "vmap over torch.allclose isn't supported yet. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature.\n  fix: torch.isclose(a, b).all()"
        )
    return bool(is_close(input, other, rtol, atol, equal_nan).array.all())


def result_type(tensor1: Tensor | Number, tensor2: Tensor | Number) -> Dtype:
    """result_type(tensor1, tensor2): the dtype that arithmetic on two tensors or numbers has."""
    from leafgrad.ops.promotion import common_dtype

    return common_dtype(tensor1, tensor2)


# -- putting them on Tensor -------------------------------------------------------------------------------------------


def positive(input: Tensor) -> Tensor:
    """positive(input): the tensor itself."""
    if input.array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


methods_of_operators["__pos__"] = "positive"


@declared()
def is_pinned(self: Tensor) -> bool:
    """is_pinned(): no, all memory is ordinary memory."""
    return False


METHODS: dict[str, Callable[..., Any]] = {
    **checked_methods(
        type_as, cpu, cuda, pin_memory, is_nonzero, is_same_size, is_set_to, equal, isclose, allclose, positive
    ),
    **by_name(is_contiguous, is_pinned),
    "type": type_of,
    "__pos__": positive,
}

FUNCTIONS: dict[str, Callable[..., Any]] = checked_functions(
    can_cast, promote_types,
    is_tensor, numel, is_floating_point, is_complex, is_signed, is_inference, is_nonzero, is_same_size, equal, isclose,
    allclose, result_type, positive,
)  # fmt: skip
