"""Puts the functions of `leafgrad.ops` on Tensor as methods, operators and in-place methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import _dtypes
from leafgrad._core.tensor import TensorBase
from leafgrad._device import check_device, preserve_format
from leafgrad._tensor.methods import METHODS, positive
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops import promotion
from leafgrad.ops.creation.from_data import as_dtype
from leafgrad.ops.index import getitem
from leafgrad.ops.inplace import in_place_method
from leafgrad.ops.linalg import products
from leafgrad.ops.out import NAMES as OUT_NAMES
from leafgrad.ops.out import with_out
from leafgrad.ops.pointwise import comparison, division, powers
from leafgrad.ops.pointwise.convert import to_dtype
from leafgrad.ops.random.functions import METHODS as RANDOM_METHODS
from leafgrad.ops.registry import Operation, composites, registry

# Second names of functions.
ALIASES = {
    "absolute": "abs", "negative": "neg", "subtract": "sub", "multiply": "mul", "divide": "div", "clip": "clamp",
    "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne", "fix": "trunc",
}  # fmt: skip


# What PyTorch has as methods of Tensor only (and `linear`, which belongs to nn.functional).
NO_FUNCTIONS = frozenset(
    ["contiguous", "expand", "expand_as", "linear", "repeat", "reshape_as", "sum_to_size", "view", "view_as"]
    + [name + "_" for name in ("index_add", "index_copy", "index_fill", "masked_fill", "masked_scatter", "put")]
    + ["scatter_", "scatter_add_", "scatter_reduce_", "index_reduce_"]
)


def install() -> None:
    for name, entry in public_entries().items():
        add(name, entry)


def public_entries() -> dict[str, Any]:
    """Everything that `leafgrad.ops` offers to users, by name."""
    entries: list[Any] = [*registry.values(), *composites.values()]
    found = {getattr(entry, "public_name", entry.name): entry for entry in entries}
    found.update({alias: found[name] for alias, name in ALIASES.items()})
    return {name: entry for name, entry in found.items() if name}


def public_functions() -> dict[str, Callable[..., Any]]:
    """The same as functions of the module `leafgrad`, with the argument `out` where PyTorch has it."""
    functions: dict[str, Callable[..., Any]] = {}
    for name, entry in public_entries().items():
        if name in NO_FUNCTIONS:
            continue
        functions[name] = with_out(name, entry.function) if name in OUT_NAMES else entry.function
        if entry.in_place and isinstance(entry, Operation) and len(entry.inputs) == 1:
            functions[name + "_"] = getattr(Tensor, name + "_")
    return functions


def add(name: str, entry: Any) -> None:
    if entry.method:
        setattr(Tensor, name, entry.function)
    if entry.in_place:
        setattr(Tensor, name + "_", in_place_method(name, entry))


# -- operators beyond those of TensorBase -----------------------------------------------------------------------------


def binary_operator(name: str) -> Callable[[Any, Any], Any]:
    core, by_number = registry[name].core, registry[name].by_number
    return lambda self, other: promotion.mixed_binary(core if isinstance(other, TensorBase) else by_number, self, other)


def reflected_operator(name: str) -> Callable[[Any, Any], Any]:
    core = registry[name].core
    return lambda self, other: promotion.mixed_binary(core, other, self)


_OPERATORS = {
    "floordiv": "floor_divide", "mod": "remainder", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}  # fmt: skip


def install_operators() -> None:
    cls: Any = Tensor
    for python_name, name in _OPERATORS.items():
        setattr(cls, f"__{python_name}__", binary_operator(name))
        setattr(cls, f"__r{python_name}__", reflected_operator(name))
        setattr(cls, f"__i{python_name}__", getattr(cls, name + "_"))
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(cls, f"__{name}__", comparison.operator(name))
    cls.__rsub__ = division.subtract_from
    cls.__rtruediv__ = cls.__rdiv__ = division.divide_into
    cls.__pow__ = powers.power
    cls.__rpow__ = powers.power_of
    for name in ("add", "sub", "mul", "pow"):
        setattr(cls, f"__i{name}__", getattr(cls, name + "_"))
    cls.__itruediv__ = cls.__idiv__ = cls.div_
    cls.__div__ = cls.__truediv__
    cls.__abs__ = registry["abs"].function
    cls.__pos__ = positive
    cls.__invert__ = invert
    cls.__getitem__ = getitem.getitem
    cls.__setitem__ = getitem.setitem
    cls.__delitem__ = getitem.delitem
    products.install(Tensor)
    cls.real = property(registry["real_part"].function)
    cls.imag = property(registry["imag_part"].function)


def invert(self: Any) -> Any:
    """`~x`."""
    if self.array.dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return registry["bitwise_not"].function(self)


# -- conversions ------------------------------------------------------------------------------------------------------


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
    given = dict(zip(names, args))
    for key, value in kwargs.items():
        if (
            key in given
            or key not in ("device", "dtype", "non_blocking", "copy", "memory_format")
            or len(args) > len(names)
        ):
            raise TypeError(f"to() received an invalid combination of arguments: {key!r}")
        given[key] = value
    check_device(given.get("device"))
    other = given.get("other")
    kind = as_dtype("to", given.get("dtype")) if other is None else _dtypes.from_numpy_dtype(other.array.dtype)
    result = self if kind is None else to_dtype.function(self, kind)
    if given.get("copy") and result is self:
        return result.clone(memory_format=given.get("memory_format"))
    wanted = given.get("memory_format")
    return result if wanted is None or wanted is preserve_format else result.contiguous(memory_format=wanted)


def conversion(kind: _dtypes.dtype, name: str) -> Callable[..., Any]:
    def method(self: Any, memory_format: Any = None) -> Any:
        result = to_dtype.function(self, kind)
        return result if memory_format is None else to(result, memory_format=memory_format)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"{name}(memory_format=preserve_format): as {kind}."
    return method


_CONVERSIONS = {
    "bool": _dtypes.bool_, "byte": _dtypes.uint8, "char": _dtypes.int8, "short": _dtypes.int16, "int": _dtypes.int32,
    "long": _dtypes.int64, "half": _dtypes.float16, "bfloat16": _dtypes.bfloat16, "float": _dtypes.float32,
    "double": _dtypes.float64, "cfloat": _dtypes.complex64, "cdouble": _dtypes.complex128,
}  # fmt: skip


def install_conversions() -> None:
    cls: Any = Tensor
    cls.to = to
    for name, kind in _CONVERSIONS.items():
        setattr(Tensor, name, conversion(kind, name))
    for name, function in [*METHODS.items(), *RANDOM_METHODS.items()]:
        setattr(Tensor, name, function)


install()
install_operators()
install_conversions()
