"""The methods of Tensor that convert it: `to(...)`, and `float()`, `long()`, ... for one dtype each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import _dtypes
from leafgrad._core.overrides import UNCHANGED, method_overridden, plain
from leafgrad._device import check_device, device, names_meta, preserve_format
from leafgrad._missing import part
from leafgrad.ops.arguments import matched
from leafgrad.ops.pointwise.convert import to_dtype
from leafgrad.ops.signature import MemoryFormat, Tensor, declared


@declared(
    "(self: Tensor, dtype: Dtype, non_blocking: bool = False, copy: bool = False, *, "
    "memory_format: MemoryFormat | None = None) -> Tensor",
    "(self: Tensor, tensor: Tensor, non_blocking: bool = False, copy: bool = False, *, "
    "memory_format: MemoryFormat | None = None) -> Tensor",
    "(self: Tensor, device: Device | None = None, dtype: Dtype | None = None, non_blocking: bool = False, "
    "copy: bool = False, *, memory_format: MemoryFormat | None = None) -> Tensor",
)
def to(self: Any, *args: Any, **kwargs: Any) -> Any:
    """to(dtype), to(device, dtype), to(tensor), each with non_blocking=False, copy=False, memory_format=None: this
    tensor in another dtype; itself if nothing changes and no copy is asked for."""
    if len(args) == 1 and not kwargs:  # the usual cases
        kind = args[0].__class__
        if kind is _dtypes.dtype:
            return to_dtype.function(self, args[0])
        if kind is device or kind is str:
            named = args[0] if kind is str else args[0].type
            if named == "cpu" or not names_meta(named):
                check_device(named)
                return self
    if (
        not plain.issuperset(map(type, args))
        and (taken := method_overridden("to", self, *args, **kwargs)) is not UNCHANGED
    ):
        return taken
    device_, dtype, wanted, copy = asked_of_to(args, kwargs)
    if names_meta(device_):
        return part("ops.meta.creation").moved(self, dtype, wanted)
    result = self if dtype is None else to_dtype.function(self, dtype)
    if copy and result is self:
        return result.clone(memory_format=wanted)
    return result if wanted is None or wanted is preserve_format else result.contiguous(memory_format=wanted)


def asked_of_to(args: tuple[Any, ...], kwargs: dict[str, Any], takes_copy: bool = True) -> tuple[Any, ...]:
    """What the arguments of `to` ask for: a device, a dtype, a memory format, a copy, which modules do not make."""
    given = matched(to, args, kwargs)
    if not takes_copy and ("copy" in kwargs or len(args) > (3 if "device" in given else 2)):
        raise RuntimeError(".to() does not accept copy argument")
    other = given.get("tensor")
    wanted = given.get("device") if other is None else other.device
    if not names_meta(wanted):
        check_device(wanted)
    dtype = given["dtype"] if other is None else _dtypes.from_numpy_dtype(other.array.dtype)
    return wanted, dtype, given["memory_format"], given["copy"]


def conversion(kind: _dtypes.dtype, name: str) -> Callable[..., Any]:
    def method(self: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
        result = to_dtype.function(self, kind)
        return result if memory_format is None else to(result, memory_format=memory_format)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name}(memory_format=preserve_format): as {kind}."
    return declared()(method)  # type: ignore[no-any-return]


CONVERSIONS = {kind.alias.lower().replace("complex", "c"): kind for kind in _dtypes.ALL}
METHODS = {"to": to, **{name: conversion(kind, name) for name, kind in CONVERSIONS.items()}}
