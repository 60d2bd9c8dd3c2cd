"""Puts the functions of `leafgrad.ops` on OpMethods, a base of Tensor, as methods, operators and in-place methods."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from leafgrad import _dtypes
from leafgrad._core.bind import TensorOperators
from leafgrad._core.tensor import TensorBase
from leafgrad._device import check_device, preserve_format
from leafgrad._tensor.methods import METHODS, positive
from leafgrad._tensor.op_methods import OpMethods
from leafgrad.ops.arguments import function_of, method_form, method_of
from leafgrad.ops.creation.from_data import as_dtype
from leafgrad.ops.index import getitem
from leafgrad.ops.inplace import in_place_method
from leafgrad.ops.linalg import products
from leafgrad.ops.pointwise import division
from leafgrad.ops.pointwise.convert import to_dtype
from leafgrad.ops.random.functions import METHODS as RANDOM_METHODS
from leafgrad.ops.registry import Operation, entries
from leafgrad.ops.signature import MemoryFormat, Tensor, declared


def functions_of(entry: Any) -> dict[str, Callable[..., Any]]:
    """What an operation, or a function composed of them, is under `leafgrad`, by all its names."""
    found: dict[str, Callable[..., Any]] = {}
    if entry.public_name and not entry.method_only:
        for name in (entry.public_name, *entry.aliases):
            found[name] = function_of(entry, name, entry.out)
    if entry.in_place_function or (isinstance(entry, Operation) and len(entry.inputs) == 1):
        found.update({name: vars(OpMethods)[name] for name in in_place_names(entry)})
    return found


def methods_of(entry: Any) -> dict[str, Any]:
    """What it is on the class Tensor: methods, in-place methods, attributes and operators."""
    found: dict[str, Any] = {}
    for name in (entry.public_name, *entry.aliases) if entry.public_name else ():
        if entry.is_property:
            found[name] = property(entry.function)
        elif entry.method is True:
            found[name] = entry.function if name == entry.public_name else method_of(entry, name)
        elif entry.method:
            found[name] = method_form(entry.name, entry.method)
    for name in in_place_names(entry):
        found[name] = in_place_method(name, entry)
    for name, function in entry.operators.items():
        if function is not getattr(TensorOperators, name, None):
            found[name] = function
        in_place = name.replace("__", "__i", 1)
        if entry.in_place and (hasattr(operator, in_place) or name == "__div__"):  # Python 2's, which PyTorch still has
            found[in_place] = found[in_place_names(entry)[0]]
    return found


def in_place_names(entry: Any) -> list[str]:
    if not entry.in_place:
        return []
    if entry.in_place_name is not None:
        return [entry.in_place_name]
    return [name + "_" for name in (entry.public_name, *entry.aliases) if entry.public_name]


def public_functions() -> dict[str, Callable[..., Any]]:
    """The functions of the module `leafgrad` that are operations, with the argument `out` where PyTorch has it."""
    return {name: function for entry in entries() for name, function in functions_of(entry).items()}


def install(entry: Any) -> None:
    """Put all forms of an operation on a base of the class Tensor."""
    for name, method in methods_of(entry).items():
        setattr(OpMethods, name, method)


# -- operators that are no operations ---------------------------------------------------------------------------------


def install_operators() -> None:
    cls: Any = OpMethods
    cls.__rtruediv__ = cls.__rdiv__ = division.divide_into
    cls.__pos__ = positive
    cls.__getitem__ = getitem.getitem
    cls.__setitem__ = getitem.setitem
    cls.__delitem__ = getitem.delitem
    for name, function in products.PROPERTIES.items():
        setattr(cls, name, property(function))


# -- conversions ------------------------------------------------------------------------------------------------------


@declared(
    "(self: Tensor, dtype: Dtype, non_blocking: bool = False, copy: bool = False, *, "
    "memory_format: MemoryFormat | None = None) -> Tensor",
    "(self: Tensor, device: Device | None = None, dtype: Dtype | None = None, non_blocking: bool = False, "
    "copy: bool = False, *, memory_format: MemoryFormat | None = None) -> Tensor",
    "(self: Tensor, other: Tensor, non_blocking: bool = False, copy: bool = False, *, "
    "memory_format: MemoryFormat | None = None) -> Tensor",
)
def to(self: Any, *args: Any, **kwargs: Any) -> Any:
    """to(dtype), to(device, dtype), to(other), each with non_blocking=False, copy=False, memory_format=None: the tensor
    in another dtype; itself if nothing changes and no copy is asked for."""
    if len(args) == 1 and not kwargs and args[0].__class__ is _dtypes.dtype:
        return to_dtype.function(self, args[0])  # the usual case
    if args and isinstance(args[0], _dtypes.dtype):
        names: tuple[str, ...] = ("dtype", "non_blocking", "copy")
    elif args and isinstance(args[0], TensorBase):
        names = ("other", "non_blocking", "copy")
    else:
        names = ("device", "dtype", "non_blocking", "copy")
    given = {**dict(zip(names, args)), **kwargs}
    known = {"device", "dtype", "non_blocking", "copy", "memory_format", "other"}
    if len(given) < len(args) + len(kwargs) or not given.keys() <= known:
        raise TypeError("to() received an invalid combination of arguments")
    check_device(given.get("device"))
    other = given.get("other")
    kind = as_dtype("to", given.get("dtype")) if other is None else _dtypes.from_numpy_dtype(other.array.dtype)
    result = self if kind is None else to_dtype.function(self, kind)
    if given.get("copy") and result is self:
        return result.clone(memory_format=given.get("memory_format"))
    wanted = given.get("memory_format")
    return result if wanted is None or wanted is preserve_format else result.contiguous(memory_format=wanted)


def conversion(kind: _dtypes.dtype, name: str) -> Callable[..., Any]:
    def method(self: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
        result = to_dtype.function(self, kind)
        return result if memory_format is None else to(result, memory_format=memory_format)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name}(memory_format=preserve_format): as {kind}."
    return declared()(method)  # type: ignore[no-any-return]


_CONVERSIONS = {
    "bool": _dtypes.bool_, "byte": _dtypes.uint8, "char": _dtypes.int8, "short": _dtypes.int16, "int": _dtypes.int32,
    "long": _dtypes.int64, "half": _dtypes.float16, "bfloat16": _dtypes.bfloat16, "float": _dtypes.float32,
    "double": _dtypes.float64, "cfloat": _dtypes.complex64, "cdouble": _dtypes.complex128,
}  # fmt: skip


def install_conversions() -> None:
    cls: Any = OpMethods
    cls.to = to
    for name, kind in _CONVERSIONS.items():
        setattr(cls, name, conversion(kind, name))
    for name, function in [*METHODS.items(), *RANDOM_METHODS.items()]:
        setattr(cls, name, function)


for _entry in entries():
    install(_entry)
install_operators()
install_conversions()
