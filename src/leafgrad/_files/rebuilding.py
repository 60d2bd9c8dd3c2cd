"""The functions that files call to make tensors, under PyTorch's names for them (`torch._utils`): each gets what a file
says, trusts none of it, and returns a tensor."""

from __future__ import annotations

from typing import Any

from leafgrad import _device, _dtypes, errors
from leafgrad._core.tensor import TensorBase, with_layout_noted, wrap
from leafgrad._device import Size
from leafgrad._dtypes import dtype as Dtype
from leafgrad._missing import part as part_of_leafgrad
from leafgrad._tensor.overridable import OverridableType
from leafgrad._tensor.tensor import Tensor
from leafgrad.nn.parameter import Parameter
from leafgrad.ops.shape.storage import TYPES, StorageBase, StorageType, TypedStorage, UntypedStorage
from leafgrad.ops.shape.strides import array_on, bytes_needed

DTYPES = {repr(kind): kind for kind in (*_dtypes.ALL, *_dtypes.UNSIGNED, _dtypes.complex32, *_dtypes.FLOAT8)}
LAYOUTS = {repr(value): value for value in vars(_device).values() if isinstance(value, _device.layout)}


def invalid(what: str, value: Any) -> Exception:
    first = f"the file describes a tensor that cannot be: {what}"
    return errors.mistake(RuntimeError, first, (what, shown(value)))


def shown(value: Any) -> str:
    """A value of a file's in a message: numbers and short tuples of them. The text of other things could take forever,
    as that of a tuple which contains the same tuple twice, and so on."""
    if isinstance(value, int | float | str | None):
        text = repr(value)
        return text if len(text) <= 100 else f"{text[:100]}..."
    if type(value) is tuple and len(value) <= 10 and all([type(each) in (int, float, bool) for each in value]):
        return f"({', '.join(map(shown, value))})"
    return value.__name__ if isinstance(value, type) else f"an object of {type(value)}"


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Any:
    if not isinstance(storage, StorageBase):
        raise invalid("storage", storage)
    if not isinstance(dtype, Dtype):
        raise invalid("dtype", dtype)
    return _tensor(storage.untyped(), dtype, storage_offset, size, stride, requires_grad, metadata)  # type: ignore[attr-defined]


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    if not isinstance(storage, TypedStorage):
        raise invalid("storage", storage)
    return _tensor(storage.untyped(), storage.dtype, storage_offset, size, stride, requires_grad, metadata)


def _rebuild_tensor(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Any:
    return _rebuild_tensor_v2(storage, storage_offset, size, stride, False, None)


def _tensor(
    storage: UntypedStorage, kind: Dtype, offset: Any, size: Any, stride: Any, needs_grad: Any, metadata: Any
) -> Any:
    """A leaf that shows a part of a storage, if there is such a part."""
    for what, value in (("size", size), ("stride", stride)):
        if not isinstance(value, tuple) or not all([type(n) is int and 0 <= n < 2**63 for n in value]):
            raise invalid(what, value)
    if type(offset) is not int or not 0 <= offset < 2**63:
        raise invalid("storage_offset", offset)
    if len(size) != len(stride):
        raise invalid("stride", stride)
    memory = storage._elements()
    needed = 0 if 0 in size else bytes_needed(size, stride, offset, kind.itemsize)
    if needed > memory.size:
        raise errors.mistake(
            RuntimeError,
            f"setStorage: sizes {errors.size(size)}, strides {errors.size(stride)}, storage offset {offset}, and "
            f"itemsize {kind.itemsize} requiring a storage size of {needed} are out of bounds for storage of size "
            f"{memory.size}",
        )
    t = with_layout_noted(wrap(array_on(memory, kind.np, size, stride, offset * kind.itemsize)))
    for name, method in (("conj", "conj"), ("neg", "neg")):
        if isinstance(metadata, dict) and metadata.get(name) is True:
            source, t = t, getattr(t, method)()
            if storage.when_filled is not None:
                storage.when_filled.append((t, source, method))
    return t.requires_grad_() if needs_grad is True else t


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Any:
    """A tensor without data."""
    if not isinstance(dtype, Dtype):
        raise invalid("dtype", dtype)
    for what, value in (("size", size), ("stride", stride)):
        if not isinstance(value, tuple) or not all([type(n) is int and 0 <= n < 2**63 for n in value]):
            raise invalid(what, value)
    if len(size) != len(stride):
        raise invalid("stride", stride)
    bytes_needed(size, stride, 0, dtype.itemsize)
    t = part_of_leafgrad("ops.creation.factories").empty_strided(size, stride, dtype=dtype, device="meta")
    return t.requires_grad_() if requires_grad is True else t


def _rebuild_sparse_tensor(layout: Any, data: Any) -> Any:
    """A sparse tensor of its parts: the places of its values, in one tensor or two, the values and the size."""
    if not isinstance(layout, _device.layout) or type(data) is not tuple:
        raise invalid("layout", layout)
    count = 2 if layout is _device.sparse_coo else 3
    parts, rest = data[:count], data[count:]
    if not all([type(part) is Tensor for part in parts]) or not rest or not isinstance(rest[0], tuple):
        raise invalid("parts of a sparse tensor", data)
    creation = part_of_leafgrad("ops.sparse.creation")
    if layout is _device.sparse_coo:
        return creation.sparse_coo_tensor(*parts, rest[0], is_coalesced=len(rest) > 1 and rest[1] is True)
    return creation.compressed_tensor(layout, *parts, rest[0], None, False)


def _rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Any:
    if not isinstance(data, TensorBase):
        raise invalid("data of a parameter", data)
    return Parameter(data, requires_grad is True)


def _rebuild_parameter_with_state(data: Any, requires_grad: Any, backward_hooks: Any, state: Any) -> Any:
    return _with_state(_rebuild_parameter(data, requires_grad, backward_hooks), state)


def _rebuild_from_type_v2(func: Any, new_type: Any, args: Any, state: Any) -> Any:
    """A tensor with attributes, or of a subclass."""
    if not any([func is known for known in FUNCTIONS]):
        raise invalid("function", func)
    made = func(*args)
    if not (isinstance(new_type, OverridableType) and issubclass(new_type, Tensor)):
        raise invalid("class", new_type)
    if type(made) is not new_type:
        made = made.as_subclass(new_type)
    if "__setstate__" in vars(new_type):
        made.__setstate__(state)
        return made
    return _with_state(made, state)


def _with_state(t: Any, state: Any) -> Any:
    attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if attributes is not None:
        if not isinstance(attributes, dict) or not all([isinstance(name, str) for name in attributes]):
            raise invalid("attributes", attributes)
        vars(t).update(attributes)
    for name, value in (slots or {}).items():
        setattr(t, name, value)
    return t


def _get_layout(name: Any) -> Any:
    if not isinstance(name, str) or name not in LAYOUTS:
        raise invalid("layout", name)
    return LAYOUTS[name]


FUNCTIONS = (
    _rebuild_tensor, _rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_parameter, _rebuild_parameter_with_state,
    _rebuild_sparse_tensor, _rebuild_meta_tensor_no_storage,
)  # fmt: skip

# What PyTorch's files call by other names than leafgrad's modules would suggest.
NAMES: dict[str, Any] = {
    **{f"torch._utils.{function.__name__}": function for function in FUNCTIONS},
    "torch._tensor._rebuild_from_type_v2": _rebuild_from_type_v2,
    "torch.serialization._get_layout": _get_layout,
    "torch.Tensor": Tensor,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.Size": Size,
    "torch.device": _device.device,
    "torch.storage.UntypedStorage": UntypedStorage,
    "torch.storage.TypedStorage": TypedStorage,
    **DTYPES,
    **{f"torch.{name}": kind for name, kind in TYPES.items()},
}
PLACES = {id(value): name.rpartition(".")[::2] for name, value in NAMES.items()}


def dtype_of(kind: Any) -> Dtype:
    """The dtype of a class of storages: that of its elements, or bytes."""
    if isinstance(kind, StorageType):
        return kind.dtype
    if kind is UntypedStorage:
        return _dtypes.uint8
    raise invalid("class of a storage", kind)
