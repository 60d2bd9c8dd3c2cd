"""Tensors from what is already there: Python numbers and lists, NumPy arrays, buffers, other libraries' tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.events import graph_break
from leafgrad._core.overrides import UNCHANGED, function_overridden, modes_of_all_threads
from leafgrad._core.tensor import RareFields, SparseArrayBase, TensorBase, with_layout_noted, wrap
from leafgrad._core.thread_state import silence_numpy, state
from leafgrad._device import check_device, names_meta, strided
from leafgrad._dtypes import dtype as Dtype
from leafgrad._missing import part
from leafgrad.ops.arguments import KINDS, REFUSED, declared_and_checked
from leafgrad.ops.creation.dlpack import Capsule, shown_by_dlpack
from leafgrad.ops.creation.numbers import number
from leafgrad.ops.signature import OPTION_KINDS, Device, Tensor, by_name, declared

MOST_DIMS = 128
_EXAMPLES: dict[str, Any] = {"b": False, "i": 0, "f": 0.0, "c": 0j}  # by NumPy's kind of dtype


# -- arguments that every creation function takes ---------------------------------------------------------------------


OPTIONS = {key: KINDS[kind] for key, kind in OPTION_KINDS.items()}


def option(name: str, key: str, value: Any) -> Any:
    """A value for one of these arguments, or None."""
    if key not in OPTIONS:
        raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
    found = None if value is None else OPTIONS[key].take(value)
    if found is REFUSED:
        raise TypeError(f"{name}(): argument '{key}' must be {OPTIONS[key].name}, not {type(value).__name__}")
    return found


def check_options(name: str, options: dict[str, Any]) -> bool:
    """Read layout=, device=, pin_memory= and requires_grad=: refuse what leafgrad does not have, return the last."""
    requires_grad = options.get("requires_grad")
    if len(options) == 1 and requires_grad.__class__ is bool:  # nearly always
        return requires_grad
    for key, value in options.items():
        found = option(name, key, value)
        if key == "device":
            check_device(found)
        elif key == "layout" and found not in (None, strided):
            raise RuntimeError(f"{name}(...) is not implemented for sparse layout")
        elif key == "pin_memory" and found:
            raise RuntimeError(
                "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available "
                "on this system."
            )
    return bool(requires_grad)


def finished(array: Any, requires_grad: bool = False) -> Any:
    """A new leaf around an array."""
    made = with_layout_noted(wrap(array))
    return made._set_requires_grad(True, errors.CREATED) if requires_grad else made


# -- tensor -----------------------------------------------------------------------------------------------------------


@declared(
    "(data: Any, *, dtype: Dtype | None = None, device: Device | None = None, requires_grad: bool = False, "
    "pin_memory: bool = False) -> Tensor",
)
def tensor(data: Any, *, dtype: Dtype | None = None, **options: Any) -> Tensor:
    """tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False): a new leaf with a copy of
    data."""
    if modes_of_all_threads:
        taken = function_overridden("tensor", (data,), {"dtype": dtype, **options})
        if taken is not UNCHANGED:
            return taken
    if not options:  # the common case
        requires_grad = False
    elif "layout" in options:
        raise TypeError("tensor() got an unexpected keyword argument 'layout'")
    else:
        if names_meta(option("tensor", "device", options.get("device"))):
            return part("ops.meta.creation").leaf(tensor(data, dtype=dtype, **{**options, "device": None}))
        requires_grad = check_options("tensor", options)
        for key in () if requires_grad else ("requires_grad", "pin_memory"):  # which may be None elsewhere
            if options.get(key, False) is None:
                raise TypeError(f"tensor(): argument '{key}' must be bool, not NoneType")
    if data.__class__ is float and dtype is None:  # the usual number
        return finished(number(data, None), requires_grad)
    if isinstance(data, TensorBase):
        warn_of_copy("torch.tensor(sourceTensor)")
        if isinstance(data.array, SparseArrayBase):
            return function_overridden("tensor", (data,), {"dtype": dtype, "requires_grad": requires_grad}, data)
    kind = dtype if dtype is None or dtype.__class__ is Dtype else option("tensor", "dtype", dtype)
    return without_history(finished(copied(data, kind), requires_grad), data)


def without_history(made: Any, data: Any) -> Any:
    """A new tensor with the numbers in `data`. Their history is not copied: remembered, if somebody misses it later."""
    source = history_in(data)
    if source is not None:
        cut = graph_break("tensor", source)
        cut.value = list if data is not source else None
        if not made.needs_grad:
            made.rare = made.rare or RareFields()
            made.rare.graph_break = cut
    return made


def warn_of_copy(call: str) -> None:
    errors.warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        f"sourceTensor.detach().clone().requires_grad_(True), rather than {call}."
    )


def history_in(data: Any) -> TensorBase | None:
    """A tensor that requires grad: this one, or the first in a list of them."""
    if isinstance(data, TensorBase):
        return data if data.needs_grad else None
    if data.__class__ not in (list, tuple) or not data:
        return None
    if isinstance(data[0], TensorBase) or isinstance(data[-1], TensorBase):
        return next((t for t in data if isinstance(t, TensorBase) and t.needs_grad), None)
    return history_in(data[0])


def copied(data: Any, kind: Dtype | None) -> Any:
    """A new array with the numbers in `data`, in the dtype that PyTorch would give them."""
    silence_numpy()
    if data.__class__ is list or data.__class__ is tuple:
        return nested(data, kind)
    if isinstance(data, TensorBase):
        array = data.array
    elif isinstance(data, np.ndarray):
        array = checked(data)
    elif isinstance(data, np.generic):
        array = np.asarray(data)
        _dtypes.from_numpy_dtype(array.dtype)
    elif isinstance(data, (int, float, complex)):
        return number(data, kind)
    elif hasattr(data, "untyped"):  # a storage
        return np.array(part("ops.shape.storage").shown_by(data, kind or getattr(data, "dtype", _dtypes.int64)))
    elif hasattr(data, "__array_interface__") or hasattr(data, "__array__"):
        array = checked(np.asarray(data))
    elif hasattr(data, "__dlpack__"):
        array = shown_by_dlpack(data)
    else:
        return nested(data, kind)
    if kind is not None and array.dtype != kind.np:
        from leafgrad.ops.promotion import cast

        return cast(array, kind)
    return np.array(array, order="K")


def nested(data: Any, kind: Dtype | None) -> Any:
    """Nested sequences as an array."""
    kinds: set[Any] = set()
    plain = leaf_types(data, kinds)
    if plain and kinds <= {int, float, bool, complex}:  # NumPy reads plain numbers as PyTorch does, and much faster
        try:
            array = np.array(data)
        except ValueError:
            array = None  # ragged: the walk below finds out where
        if array is not None and array.dtype.kind in "bifc":
            found = _dtypes.scalar_dtype(_EXAMPLES[array.dtype.kind]) if array.size else _dtypes.get_default_dtype()
            wanted = kind or found
            if wanted.category >= _dtypes.FLOAT or wanted is found:
                if array.dtype.kind == "c" and not wanted.is_complex:
                    raise TypeError("must be real number, not complex")
                if wanted.itemsize > 2:
                    return array.astype(wanted.np, copy=False)
                from leafgrad.ops.promotion import cast

                return cast(array, wanted)
    shape = shape_of(data)
    if kinds and any([isinstance(k, type) and issubclass(k, np.ndarray) for k in kinds]):
        errors.warn(
            "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to "
            "a single numpy.ndarray with numpy.array() before converting to a tensor."
        )
    if kind is None:
        kind = inferred(data)
    array = np.empty(shape, kind.np)
    if array.size:
        store(array, data, shape, 0, kind)
    return array


def leaf_types(data: Any, kinds: set[Any], depth: int = 0) -> bool:
    """Collect the types of the elements of nested lists and tuples; False if there are other sequences, or too many
    dimensions."""
    if (data.__class__ is not list and data.__class__ is not tuple) or depth > MOST_DIMS:
        return False
    found = set(map(type, data))
    if list in found or tuple in found:
        return found <= {list, tuple} and all([leaf_types(part, kinds, depth + 1) for part in data])
    kinds |= found
    return True


def is_sequence(value: Any) -> bool:
    return (
        not isinstance(value, (TensorBase, str, bytes, dict))
        and hasattr(value, "__getitem__")
        and hasattr(value, "__len__")
    )


def shape_of(data: Any) -> tuple[int, ...]:
    """The shape of nested sequences, which is read off their first elements."""
    shape = []
    while is_sequence(data) and not isinstance(data, np.generic):
        shape.append(len(data))
        if len(shape) > MOST_DIMS:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if not len(data):
            return tuple(shape)
        try:
            data = data[0]
        except (TypeError, LookupError):
            raise ValueError(f"could not determine the shape of object type '{type(data).__name__}'") from None
    if isinstance(data, (str, bytes)):
        if shape and isinstance(data, str):
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    return tuple(shape)


def inferred(data: Any) -> Dtype:
    """The dtype of nested sequences: what all of their elements promote to."""
    if isinstance(data, TensorBase):
        return _dtypes.from_numpy_dtype(data.array.dtype)
    if isinstance(data, (np.ndarray, np.generic)):
        return _dtypes.from_numpy_dtype(data.dtype)
    if isinstance(data, (int, float, complex)):
        return _dtypes.scalar_dtype(data)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if not is_sequence(data):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    if not len(data):
        return _dtypes.get_default_dtype()
    result = None
    for i in range(len(data)):
        part = data[i]
        if part is data:
            raise TypeError("new(): self-referential lists are incompatible")
        found = inferred(part)
        result = found if result is None else _dtypes.promote_types(result, found)
    return result  # type: ignore[return-value]


def store(array: Any, data: Any, shape: tuple[int, ...], dim: int, kind: Dtype) -> None:
    """Put nested sequences into `array`, which has their shape."""
    if dim == len(shape):
        whole = kind.category in (_dtypes.INTEGER, _dtypes.BOOL)
        if isinstance(data, TensorBase):
            if data.array.size != 1:
                raise ValueError("only one element tensors can be converted to Python scalars")
            if whole and data.array.dtype.kind not in "biu":
                raise TypeError("only integer tensors of a single element can be converted to an index")
            if data.needs_grad and state.recording:
                errors.warn_once(errors.HISTORY_LOST)
            data = data.array.item()
        elif isinstance(data, (np.generic, np.ndarray)) and data.ndim == 0:
            if whole and isinstance(data, np.floating) and not isinstance(data, float):
                raise TypeError(f"'numpy.{data.dtype.name}' object cannot be interpreted as an integer")
            data = data.item()
        if not isinstance(data, (int, float, complex)):
            expected = "interpreted as an integer" if kind.category == _dtypes.INTEGER else "converted to a number"
            raise TypeError(f"'{type(data).__name__}' object cannot be {expected}")
        array[()] = number(data, kind)
        return
    if not is_sequence(data) and not isinstance(data, TensorBase):
        raise TypeError("not a sequence")
    if len(data) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(data)})")
    for i in range(len(data)):
        store(array[i, ...], data[i], shape, dim + 1, kind)


# -- without a copy ---------------------------------------------------------------------------------------------------


def checked(array: Any) -> Any:
    """A NumPy array that can be a tensor's memory as it is."""
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported."
        )
    kind = _dtypes.from_numpy_dtype(array.dtype)
    if any([s % kind.itemsize for s in array.strides]):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
            "memory."
        )
    if min(array.strides, default=0) < 0:
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    return array


@declared_and_checked
def from_numpy(ndarray: Any) -> Tensor:
    """from_numpy(ndarray): a tensor that shares memory with a NumPy array."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {_full_name(type(ndarray))})")
    array = checked(ndarray)
    if not array.flags.writeable:
        errors.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
            "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
            "data or make it writable before converting it to a tensor."
        )
    return with_layout_noted(wrap(array.view(np.ndarray)))


def _full_name(cls: type) -> str:
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"


@declared_and_checked
def as_tensor(data: Any, dtype: Dtype | None = None, device: Device | None = None) -> Tensor:
    """as_tensor(data, dtype=None, device=None): data itself if it is a tensor, its memory if it is a NumPy array, else
    a new tensor."""
    if names_meta(device):
        return part("ops.meta.creation").leaf(as_tensor(data, dtype))
    check_device(device)
    if isinstance(data, TensorBase):
        return data if dtype is None and device is None else data.to(device, dtype)  # type: ignore[attr-defined]
    if isinstance(data, np.ndarray):
        shared = from_numpy(data)
        return shared if dtype is None else shared.to(dtype)
    return without_history(finished(copied(data, dtype)), data)


@declared_and_checked
def asarray(
    obj: Any,
    *,
    dtype: Dtype | None = None,
    device: Device | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False): a tensor of obj, which shares its
    memory where that is possible (always with copy=False, or an error; never with copy=True)."""
    if names_meta(device):
        return part("ops.meta.creation").leaf(asarray(obj, dtype=dtype, copy=copy, requires_grad=requires_grad))
    check_device(device)
    if isinstance(obj, TensorBase):
        shared: Any = obj
    elif isinstance(obj, np.ndarray):
        shared = from_numpy(obj)
    elif hasattr(obj, "__dlpack__"):
        shared = from_dlpack(obj)
    elif isinstance(obj, np.generic):
        if copy is False:
            first = "can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. "
            raise RuntimeError(first)
        return without_history(finished(copied(obj, dtype), bool(requires_grad)), obj)
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        shared = frombuffer(obj, dtype=dtype or _dtypes.get_default_dtype())
    else:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return without_history(finished(copied(obj, dtype), bool(requires_grad)), obj)
    own = _dtypes.from_numpy_dtype(shared.array.dtype)
    if copy is False and dtype not in (None, own):
        raise ValueError(f"can't alias tensor with dtype '{own.alias}' into dtype '{dtype.alias if dtype else ''}'.")
    result = shared if dtype is None else shared.to(dtype)
    if copy and result is shared:
        result = shared.clone()
    if requires_grad is None:
        if result.needs_grad:
            errors.warn(
                "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
                "requires_grad=False explicitly to get the old behavior and silence this warning."
            )
        return result
    if result.requires_grad == requires_grad:
        return result
    return result.requires_grad_(requires_grad) if result.is_leaf else result.detach()


@declared()
def from_dlpack(ext_tensor: Any, *, device: Device | None = None, copy: bool | None = None) -> Tensor:
    """from_dlpack(ext_tensor, *, device=None, copy=None): a tensor that shares memory with another library's."""
    check_device(device)
    if not hasattr(ext_tensor, "__dlpack__"):
        if type(ext_tensor).__name__ != "PyCapsule":
            raise RuntimeError(
                "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so "
                "you might have already constructed a tensor from it once.\n"
                f"  got {type(ext_tensor).__name__}, which has no __dlpack__"
            )
        ext_tensor = Capsule(ext_tensor)
    array = shown_by_dlpack(ext_tensor)
    return with_layout_noted(wrap(array.copy() if copy else array))


@declared_and_checked
def frombuffer(buffer: Any, *, dtype: Dtype, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False): a vector that shares memory with an object
    that has a buffer."""
    try:
        memory = memoryview(buffer).cast("B")
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, size = memory.nbytes, dtype.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % size:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element size "
            f"({size})"
        )
    if count > 0 and offset + count * size > length:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({length} bytes)"
        )
    if memory.readonly:
        errors.warn(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can "
            "write to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the "
            "buffer to protect its data or make it writable before converting it to a tensor."
        )
    return finished(np.frombuffer(memory, dtype.np, max(count, -1), offset), requires_grad)


FUNCTIONS = by_name(as_tensor, asarray, from_dlpack, from_numpy, frombuffer, tensor)
