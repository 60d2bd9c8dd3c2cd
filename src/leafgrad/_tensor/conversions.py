"""The methods of Tensor that convert it: `to(...)`, and `float()`, `long()`, ... for one dtype each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import _dtypes
from leafgrad._core.overrides import UNCHANGED, method_overridden, plain
from leafgrad._core.tensor import TensorBase
from leafgrad._device import check_device, preserve_format
from leafgrad.ops.creation.from_data import as_dtype
from leafgrad.ops.pointwise.convert import to_dtype
from leafgrad.ops.signature import MemoryFormat, Tensor, declared


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
    if (
        not plain.issuperset(map(type, args))
        and (taken := method_overridden("to", self, *args, **kwargs)) is not UNCHANGED
    ):
        return taken
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


CONVERSIONS = {kind.alias.lower().replace("complex", "c"): kind for kind in _dtypes.ALL}
METHODS = {"to": to, **{name: conversion(kind, name) for name, kind in CONVERSIONS.items()}}
