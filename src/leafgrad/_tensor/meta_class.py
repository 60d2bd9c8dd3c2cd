"""The classes of tensors without data (`device="meta"`). To users they are the classes that they would be of with data;
they are others so that calls with one of them are taken over (leafgrad/ops/meta/forms.py)."""

from __future__ import annotations

import functools
from typing import Any

from leafgrad import _dtypes, errors
from leafgrad._core import overrides
from leafgrad._core.inplace import count_change
from leafgrad._core.overrides import UNCHANGED
from leafgrad._core.tensor import is_meta, wrap
from leafgrad._device import device, names_meta
from leafgrad._tensor import conversions, printing
from leafgrad._tensor.methods import type_of
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.inplace import check_writable
from leafgrad.ops.meta.arrays import NO_ARRAY, MetaArray, no_data, no_item
from leafgrad.ops.meta.creation import moved
from leafgrad.ops.meta.forms import meta_form
from leafgrad.ops.meta.results import broadcast, depends_on_data, without_data

META = device("meta")


@functools.cache
def class_of(cls: type) -> type:
    """The class of tensors without data that would be of the class `cls`, if that does not take calls over itself."""
    if cls not in overrides.plain_tensors:
        return cls
    space = {
        "__doc__": cls.__doc__,
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__torch_function__": Tensor.__torch_function__,
        "__new__": lambda kind, *args, **kwargs: cls(*args, **kwargs),
        "plain_class": cls,
    }
    made: Any = type(cls)(cls.__name__, (cls,), space)
    made.__torch_function__ = overrides.disabled
    return made  # type: ignore[no-any-return]


def with_data(cls: type) -> type:
    """The class that a tensor of one of these classes would be of."""
    return getattr(cls, "plain_class", cls)


# -- what a tensor is -------------------------------------------------------------------------------------------------


@meta_form("device")
def device_of(self: Any) -> device:
    return META


@meta_form("is_meta")
def is_meta_(self: Any) -> bool:
    return True


@meta_form("is_cpu", "is_pinned", "is_shared")
def is_elsewhere(self: Any, *args: Any) -> bool:
    return False


@meta_form("data_ptr", "const_data_ptr")
def data_ptr(self: Any) -> int:
    return 0


@meta_form("storage_offset")
def storage_offset(self: Any) -> int:
    own: MetaArray = self.array
    return own.offset // own.itemsize


@meta_form("share_memory_")
def share_memory_(self: Any) -> Any:
    raise errors.mistake(RuntimeError, "_share_fd_: only available on CPU")


# -- what wants to have the data --------------------------------------------------------------------------------------


@meta_form("item")
def item(self: Any) -> Any:
    if self.array.size != 1:
        first = f"a Tensor with {self.array.size} elements cannot be converted to Scalar"
        raise errors.mistake(RuntimeError, first)
    raise no_item()


@meta_form("__float__", "__int__", "__complex__", "__index__")
def as_number(self: Any) -> Any:
    return item(self)


@meta_form("__bool__", "is_nonzero")
def as_bool(self: Any) -> Any:
    if self.array.size != 1:
        many = "no values" if self.array.size == 0 else "more than one value"
        raise errors.mistake(RuntimeError, f"Boolean value of Tensor with {many} is ambiguous")
    raise no_item()


@meta_form("tolist", "__dlpack__")
def tolist(self: Any, *args: Any, **options: Any) -> Any:
    raise no_data()


@meta_form("cpu")
def cpu(self: Any, memory_format: Any = None) -> Any:
    raise no_data()


@meta_form("numpy", "__array__")
def numpy(self: Any, *args: Any, **options: Any) -> Any:
    raise errors.mistake(TypeError, NO_ARRAY)


@meta_form("apply_", "map_", "map2_")
def by_python(self: Any, *args: Any) -> Any:
    raise errors.mistake(TypeError, "apply_ is only implemented on CPU tensors")


def without_form(name: str) -> Any:
    """PyTorch's refusal of a function that has to look at the data."""

    def refused(*args: Any, **options: Any) -> Any:
        raise depends_on_data(name)

    return refused


for _name, _aten in (("equal", "equal"), ("is_set_to", "is_set_to"), ("to_sparse", "_to_sparse")):
    meta_form(_name)(without_form(_aten))


# -- conversions ------------------------------------------------------------------------------------------------------


@meta_form("to")
def to(self: Any, *args: Any, **kwargs: Any) -> Any:
    wanted, kind, form, copy = conversions.asked_of_to(args, kwargs)
    on_meta = is_meta(self.array) if wanted is None else names_meta(wanted)
    if not is_meta(self.array):
        return moved(self, kind, form) if on_meta else self.to(kind, memory_format=form, copy=copy)
    if not on_meta:
        raise no_data()
    with without_data():
        return conversions.to(self, dtype=kind, memory_format=form, copy=copy)


@meta_form("type_as")
def type_as(self: Any, other: Any) -> Any:
    return to(self, other)


@meta_form("type")
def type_(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    return f"torch.meta.{self.dtype.alias}Tensor" if dtype is None else type_of(self, dtype, non_blocking)


# -- copies, files, printed form --------------------------------------------------------------------------------------


@meta_form("copy_")
def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    if not is_meta(self.array):
        raise no_data()
    check_writable(self, *([src] if isinstance(src, Tensor) else []))
    shape = src.array.shape if isinstance(src, Tensor) else ()
    try:
        fits = broadcast([shape, self.array.shape]) == self.array.shape
    except ValueError:
        fits = False
    if not fits:
        raise errors.mistake(
            RuntimeError, f"output with shape {errors.size(self.shape)} doesn't match the broadcast shape"
        )
    count_change(self)
    return self


@meta_form("__setitem__", "index_put_")
def set_item(self: Any, index: Any, value: Any, accumulate: bool = False) -> Any:
    """Nothing but checks; none where the number of places depends on the data of a mask."""
    parts = index if isinstance(index, (tuple, list)) else (index,)
    by_mask = any([isinstance(p, Tensor) and p.array.dtype.kind == "b" for p in parts])
    if is_meta(self.array) and by_mask:
        check_writable(self, *([value] if isinstance(value, Tensor) else []))
        count_change(self)
        return self
    if not is_meta(self.array):
        raise no_data()
    return UNCHANGED


@meta_form("__deepcopy__")
def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    if self.node is not None:
        raise errors.deepcopy_of_non_leaf(self)
    if id(self) in memo:
        return memo[id(self)]
    made = wrap(MetaArray.like(self.array))
    made.__class__ = type(self)
    made.needs_grad = self.needs_grad
    memo[id(self)] = made
    if self._grad is not None:
        made._grad = self._grad.__deepcopy__(memo)
    if vars(self):
        from copy import deepcopy as copied

        made.__dict__.update(copied(vars(self), memo))
    return made


def rebuilt(
    cls: type,
    shape: tuple[int, ...],
    dtype: Any,
    strides: tuple[int, ...],
    needs_grad: bool,
    attributes: dict[str, Any],
) -> Any:
    """A tensor without data, from a pickle."""
    made = wrap(MetaArray.new(shape, dtype.np, strides))
    made.__class__ = class_of(cls)
    made.needs_grad = needs_grad
    made.__dict__.update(attributes)
    return made


@meta_form("__reduce_ex__", "__reduce__")
def reduced(self: Any, protocol: Any = None) -> Any:
    own: MetaArray = self.array
    form = own.shape, _dtypes.from_numpy_dtype(own.dtype), own.strides
    return rebuilt, (with_data(type(self)), *form, self.requires_grad, dict(vars(self)))


@meta_form("__repr__", "__str__")
def shown(self: Any, *, tensor_contents: Any = None) -> str:
    cls = with_data(type(self))
    text = printing.meta_repr(
        self.array.shape,
        dtype_name=self.dtype.name,
        default_dtype_name=_dtypes.get_default_dtype().name,
        requires_grad=self.needs_grad,
        grad_fn_name=None if self.grad_fn is None else type(self.grad_fn).__name__,
        class_name="tensor" if cls is Tensor or cls.__name__ == "Parameter" else cls.__name__,
    )
    return f"Parameter containing:\n{text}" if cls.__name__ == "Parameter" else text


@meta_form("__format__")
def formatted(self: Any, spec: str) -> str:
    return object.__format__(self, spec)
