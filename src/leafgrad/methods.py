"""Puts the functions of `leafgrad.ops` on Tensor as methods, operators and in-place methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import dtypes
from leafgrad._core import TensorBase
from leafgrad.device import check_device
from leafgrad.ops import indexing, promotion
from leafgrad.ops.inplace import in_place
from leafgrad.ops.registry import composites, registry
from leafgrad.random_ops import METHODS as RANDOM_METHODS
from leafgrad.tensor import Tensor
from leafgrad.tensor_methods import METHODS


def install() -> None:
    for entry in [*registry.values(), *composites.values()]:
        name = getattr(entry, "public_name", entry.name)
        if name and entry.method:
            setattr(Tensor, name, entry.function)
        if name and entry.in_place:
            add_in_place(name, entry.function)


def add_in_place(name: str, function: Callable[..., Any]) -> None:
    """`name_`: the same function, in place."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return in_place(self, function, *args, **kwargs)

    method.__name__ = method.__qualname__ = name + "_"
    method.__doc__ = f"{name}_(...): {name}, in place."
    setattr(Tensor, name + "_", method)


# -- operators beyond those of TensorBase -----------------------------------------------------------------------------


def binary_operator(name: str) -> Callable[[Any, Any], Any]:
    core = registry[name].core
    return lambda self, other: promotion.mixed_binary(core, self, other)


def reflected_operator(name: str) -> Callable[[Any, Any], Any]:
    core = registry[name].core
    return lambda self, other: promotion.mixed_binary(core, other, self)


def in_place_operator(name: str) -> Callable[[Any, Any], Any]:
    function = registry[name].function
    return lambda self, other: in_place(self, function, other)


_OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "true_div", "pow": "pow", "floordiv": "floor_divide",
    "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip


def install_operators() -> None:
    for python_name, name in _OPERATORS.items():
        if python_name not in ("add", "sub", "mul", "truediv"):
            setattr(Tensor, f"__{python_name}__", binary_operator(name))
        if python_name not in ("add", "mul"):
            setattr(Tensor, f"__r{python_name}__", reflected_operator(name))
        setattr(Tensor, f"__i{python_name}__", in_place_operator(name))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(Tensor, f"__{name}__", binary_operator(name))
    Tensor.__getitem__ = indexing.getitem
    Tensor.__setitem__ = indexing.setitem
    Tensor.__abs__ = registry["abs"].function
    Tensor.__pos__ = lambda self: self
    Tensor.__invert__ = registry["bitwise_not"].function
    Tensor.real = property(registry["real_part"].function)
    Tensor.imag = property(registry["imag_part"].function)


# -- conversions ------------------------------------------------------------------------------------------------------


def to(self: Any, *args: Any, **kwargs: Any) -> Any:
    """to(dtype), to(device), to(other), to(device, dtype, non_blocking=False, copy=False): in another dtype."""
    kind = kwargs.pop("dtype", None)
    copy = kwargs.pop("copy", False)
    check_device(kwargs.pop("device", None))
    other = kwargs.pop("other", None)
    kwargs.pop("non_blocking", None)
    kwargs.pop("memory_format", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    for value in (other, *args):
        if isinstance(value, dtypes.dtype):
            kind = value
        elif isinstance(value, TensorBase):
            kind = dtypes.from_numpy_dtype(value.array.dtype)
        elif value is not None and not isinstance(value, bool):
            check_device(value)
    result = self if kind is None else registry["to_dtype"].function(self, kind)
    return result.clone() if copy and result is self else result


def conversion(kind: dtypes.dtype, name: str) -> Callable[..., Any]:
    def method(self: Any, memory_format: Any = None) -> Any:
        return registry["to_dtype"].function(self, kind)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name}(): as {kind}."
    return method


_CONVERSIONS = {
    "bool": dtypes.bool_, "byte": dtypes.uint8, "char": dtypes.int8, "short": dtypes.int16, "int": dtypes.int32,
    "long": dtypes.int64, "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "float": dtypes.float32,
    "double": dtypes.float64, "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
}  # fmt: skip


def install_conversions() -> None:
    Tensor.to = to
    for name, kind in _CONVERSIONS.items():
        setattr(Tensor, name, conversion(kind, name))
    for name, function in [*METHODS.items(), *RANDOM_METHODS.items()]:
        setattr(Tensor, name, function)


install()
install_operators()
install_conversions()
