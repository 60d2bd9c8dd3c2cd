"""Operands of every kind: tensors of different dtypes, Python numbers, NumPy arrays.

`binary` of leafgrad/_core/bind.py handles two tensors of the same float dtype by itself; everything else comes here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind, execute
from leafgrad._core.op import Op
from leafgrad._core.overrides import is_reflected, operator_overridden
from leafgrad._core.tensor import TensorBase, constant, is_batched, links, with_layout_noted, wrap
from leafgrad._core.thread_state import silence_numpy
from leafgrad._dtypes import (
    BOOL,
    FLOAT,
    INTEGER,
    bool_,
    dtype,
    float32,
    from_numpy_dtype,
    get_default_dtype,
    int64,
    promote_types,
    result_dtype,
    scalar_dtype,
)
from leafgrad.kernels.halves import converted, widened
from leafgrad.ops.registry import registry, with_kernel

Array = Any
NUMBERS = (int, float, complex, np.number, np.bool_)  # what counts as a number beside a tensor
_f32: Any = np.dtype(np.float32)
_f64: Any = np.dtype(np.float64)
_i32: Any = np.dtype(np.int32)
_i64: Any = np.dtype(np.int64)
OPERANDS = (TensorBase, np.ndarray, *NUMBERS)


def operand(value: Any) -> tuple[TensorBase | None, Array | None, tuple[dtype, int]] | None:
    """(tensor or None, its array, (dtype, priority)) of an operand; None if it cannot take part in arithmetic."""
    if isinstance(value, TensorBase):
        array = value.array
        return value, array, (from_numpy_dtype(array.dtype), 0 if array.ndim else 1)
    if isinstance(value, np.ndarray) or is_batched(value):
        return None, value, (from_numpy_dtype(value.dtype), 0 if value.ndim else 1)
    if isinstance(value, NUMBERS):
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise OverflowError("int too big to convert")
        return None, np.asarray(value), (scalar_dtype(value), 2)
    return None


def common_dtype(*values: Any, as_float: bool = False) -> dtype:
    """The dtype in which an operation on these operands is computed."""
    found = [o for v in values if v is not None and (o := operand(v)) is not None]
    result = result_dtype([o[2] for o in found])
    return get_default_dtype() if as_float and result.category < FLOAT else result


def cast(array: Array, kind: dtype) -> Array:
    """An array in another dtype; integers wrap around and complex numbers lose their imaginary part silently."""
    if array.dtype == kind.np:
        return array
    if array.ndim == 0:  # a number, as a rule
        return convert(array, kind)
    return execute(links.to_dtype, (array,), (kind,))


def convert(array: Array, kind: dtype) -> Array:
    """What `cast` does, as a kernel."""
    if array.dtype.kind == "c" and not kind.is_complex and kind is not bool_:
        array = array.real
    if kind.itemsize == 2 and kind.category == FLOAT and array.dtype.itemsize > 4:
        array = array.astype(np.float32)  # PyTorch rounds twice on the way to a 16-bit float
    return converted(array, kind.np)


def not_an_operand(name: str, input: Any, other: Any) -> TypeError:
    """The error for two operands of which one is neither a tensor nor a number."""
    if operand(input) is None:
        return errors.not_a_tensor(name, "input", 1, input)
    return errors.not_a_tensor(name, "other", 2, other)


def mixed_binary(op: Op, a: Any, b: Any) -> Any:
    """An elementwise operation on operands of any two kinds. NotImplemented lets Python try the other operand."""
    silence_numpy()
    operation = registry[op.name]
    if (found := of_known_dtypes(operation, a, b)) is not None:
        try:
            return bind(op, (a, b if isinstance(b, TensorBase) else None), (), found)
        except ValueError:
            raise errors.broadcast_mismatch(operation.aten, found) from None
    if (found := floats_in_map(a, b)) is not None and FLOAT not in operation.refuses:
        return bind(op, (a, b if isinstance(b, TensorBase) else None), (), found)
    left = operand(a)
    right = None if left is None else operand(b)
    if left is None or right is None:
        return overridden_operands(operation, a, b)
    kind = result_dtype([left[2], right[2]])
    tensors = (left[0], right[0])
    arrays: tuple[Any, Any] = (left[1], right[1])
    no_bool = left[2][0] is bool_ or right[2][0] is bool_
    if operation.as_float and kind.category < FLOAT:
        kind = get_default_dtype()
    if (refused := operation.refused_category(kind)) is not None:
        if operation.refuses[refused] is None and not can_be_broadcast(*arrays):
            raise errors.broadcast_mismatch(operation.aten, arrays)  # before PyTorch looks for a kernel
        operation.check(kind)
    if no_bool and operation.no_bool:
        raise RuntimeError(operation.no_bool)
    wide = kind
    if operation.wide_numbers and kind.itemsize == 2 and kind.category == FLOAT:
        second = arrays[1]
        if second.ndim == 0 and second.dtype != kind.np and not is_batched(second):
            wide, op = float32, beside_half(op)
    arrays = (cast(arrays[0], kind), cast(arrays[1], wide))
    try:
        return bind(op, tensors, (), arrays)
    except ValueError:
        raise errors.broadcast_mismatch(operation.aten, arrays) from None


# In which dtype an operation computes on tensors of two, whatever the default dtype; None if that has to be found out.
_computed_in: dict[tuple[Any, Any, Any], dtype | None] = {}


def of_known_dtypes(operation: Any, a: Any, b: Any) -> tuple[Array, Array] | None:
    """The arrays of two tensors, or of a tensor of integers and such a number, in the dtype in which the operation
    computes, if that is known from the last time. To find it out is half of the time of an operation on few elements,
    a third where one of them is converted."""
    if not isinstance(a, TensorBase) or a.array.__class__ is not np.ndarray:
        return None
    x = a.array
    kind = x.dtype
    if isinstance(b, TensorBase):
        y = b.array
        if y.__class__ is not np.ndarray:
            return None
    elif b.__class__ is int and (kind is _i64 or kind is _i32) and -(2**31) <= b < 2**31:
        y = constant(b, kind)
    else:
        return None
    other = y.dtype
    key = (operation, kind, other)
    if key not in _computed_in:
        _computed_in[key] = computed_in(operation, from_numpy_dtype(kind), from_numpy_dtype(other))
    known = _computed_in[key]
    if known is None:
        return None
    if other is kind:
        return x, y
    if not x.ndim or not y.ndim:  # a number beside others, which may count for less
        return None
    return cast(x, known), cast(y, known)


def computed_in(operation: Any, own: dtype, other: dtype) -> dtype | None:
    """What `_computed_in` remembers; None as well for what is refused."""
    if operation.no_bool and (own is bool_ or other is bool_):
        return None
    try:
        kind = promote_types(own, other)
    except RuntimeError:
        return None
    if operation.refused_category(kind) is not None or (operation.as_float and kind.category < FLOAT):
        return None
    return kind


def floats_in_map(a: Any, b: Any) -> tuple[Array, Array] | None:
    """The arrays of two operands inside vmap whose dtypes need no promotion: float32 or float64 both, or a number
    beside such a tensor. `binary` leaves them to `mixed_binary`, as it does whatever is not an ordinary array."""
    if not isinstance(a, TensorBase):
        return None
    x = a.array
    kind = x.dtype
    if kind.kind != "f" or kind.itemsize == 2:
        return None
    if b.__class__ is float or b.__class__ is int:
        return (x, constant(b, plain_float(kind))) if is_batched(x) else None
    if not isinstance(b, TensorBase):
        return None
    y = b.array
    if y.dtype != kind or not (is_batched(x) or is_batched(y)) or not can_be_broadcast(x, y):
        return None
    return x, y


def plain_float(kind: Any) -> Any:
    """NumPy's own object for float32 or float64; that of a batch is another."""
    return _f32 if kind.itemsize == 4 else _f64


def can_be_broadcast(x: Array, y: Array) -> bool:
    return all([m == n or 1 in (m, n) for m, n in zip(reversed(x.shape), reversed(y.shape))])


def overridden_operands(operation: Any, a: Any, b: Any) -> Any:
    """What an operator does with an operand that cannot take part in arithmetic, but may take the call over."""
    # `/` is the operator of div, which is composed of several operations
    forward = next((name for name in operation.operators if not is_reflected(name)), "__truediv__")
    if isinstance(a, TensorBase):
        return operator_overridden("eq" if forward == "__eq__" else forward, a, b)
    return operator_overridden(forward.replace("__", "__r", 1), b, a)


_beside_half: dict[Op, Op] = {}


def beside_half(op: Op) -> Op:
    """An operation on a tensor of half precision and a number, which is not rounded: computed in float32."""
    found = _beside_half.get(op)
    if found is None:
        kernel = op.kernel

        def in_float32(a: Array, b: Array) -> Array:
            return converted(kernel(widened(a), b), a.dtype)

        found = _beside_half[op] = with_kernel(op, in_float32)
    return found


def as_tensor_operand(value: Any, like: TensorBase | None = None) -> TensorBase:
    """A tensor, or a number or array made into one (in the dtype of `like` where that holds the number)."""
    if isinstance(value, TensorBase):
        return value
    found = operand(value)
    if found is None:
        raise TypeError(f"expected a Tensor or a number, but got {type(value).__name__}")
    _, array, (kind, priority) = found
    if like is not None and priority == 2:
        own = from_numpy_dtype(like.array.dtype)
        kind = result_dtype([(own, 0), (kind, 2)])
    return wrap(cast(array, kind))  # type: ignore[no-any-return]


def float_input(t: TensorBase) -> TensorBase:
    """Integers and bools as floats of the default dtype, for functions that only make sense on floats."""
    if t.array.dtype.kind in "biu":
        array, kind = t.array, get_default_dtype()
        array = array.astype(kind.np) if array.flags.c_contiguous else cast(array, kind)
        return with_layout_noted(wrap(array))  # type: ignore[no-any-return]
    return t


def sum_dtype(kind: dtype) -> dtype:
    """Sums and products of integers and bools are int64, so that they do not overflow early."""
    return int64 if kind.category in (BOOL, INTEGER) else kind


links.mixed_binary = mixed_binary
