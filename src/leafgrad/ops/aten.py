"""`torch.ops.aten`: operations under the names that PyTorch's dispatcher has for them.

    torch.ops.aten.mm            all forms of an operation (a packet)
    torch.ops.aten.mm.default    one form of it

Policies of selective checkpointing (leafgrad.utils.checkpoint) are given such objects and compare them. An operation of
leafgrad's registry has one form, whatever its arguments: `aten.mul.Tensor` and `aten.mul.Scalar` are the same object.
The names are those that the blocks give (`aten`): softmax is `_softmax`, and what `linear` and `matmul` compute goes by
the product it is: `addmm`, `mm`, `bmm`.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from leafgrad import errors
from leafgrad._core.op import Op
from leafgrad._core.tensor import links
from leafgrad._missing import part
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.index.getitem import places_of_tensors, put_copy, write_places
from leafgrad.ops.registry import entries, registry

# The names of forms that are accepted. Each operation has one form, so it does not matter which is used.
OVERLOADS = frozenset(
    [
        "default", "Tensor", "Scalar", "out", "int", "dim", "dims", "dim_IntList", "self", "other", "value",
        "correction", "dtype", "reduce", "sections", "indices", "p", "memory_format", "using_ints", "Tensor_Scalar",
        "Tensor_Tensor", "Scalar_Tensor", "Tensor_mode", "Scalar_mode", "Tensor_out", "Scalar_out",
        "ScalarOpt_dim", "dim_max",
    ]
)  # fmt: skip


class PendingCalls(threading.local):
    """Operations that somebody has taken over in this thread, the innermost last: calling their form runs them."""

    def __init__(self) -> None:
        self.calls: list[PendingCall] = []


pending = PendingCalls()


class PendingCall:
    """One of them, with the arguments under which it was shown."""

    func: Overload
    args: tuple[Any, ...]

    def run(self, args: tuple[Any, ...]) -> Any:
        raise NotImplementedError

    def __enter__(self) -> None:
        pending.calls.append(self)

    def __exit__(self, *error: Any) -> None:
        pending.calls.remove(self)


class Overload:
    """One form of an operation, which can be called as the function can. PyTorch calls it OpOverload."""

    def __init__(self, packet: Packet, overload: str) -> None:
        self.overloadpacket = packet
        self.namespace = self._namespace = packet._namespace
        self._opname = packet._name
        self._overloadname = overload
        self.__name__ = f"{packet._name}.{overload}"

    def name(self) -> str:
        """PyTorch's name of it in its dispatcher: aten::add.Tensor."""
        overload = "" if self._overloadname == "default" else f".{self._overloadname}"
        return f"{self.namespace}::{self._opname}{overload}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call = pending.calls[-1] if pending.calls else None
        if call is not None and call.func is self and len(args) == len(call.args) and not kwargs:
            return call.run(args)
        return self.overloadpacket(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"


class Packet:
    """All forms of an operation. PyTorch calls it OpOverloadPacket."""

    _namespace = "aten"

    def __init__(self, name: str) -> None:
        self._name = name
        self.__name__ = name
        registered = registry.get(name) or registry.get(name.removesuffix("_"))
        two_tensors = registered is not None and registered.is_pair
        self._overload = Overload(self, "Tensor" if two_tensors else "default")

    def __getattr__(self, overload: str) -> Overload:
        if overload in OVERLOADS:
            return self._overload
        raise AttributeError(f"The underlying op of '{self}' has no overload name '{overload}'")

    def overloads(self) -> list[str]:
        """overloads(): the name of the one form there is."""
        return [self._overload._overloadname]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return function_behind(self._name)(*args, **kwargs)

    def __str__(self) -> str:
        return f"{self._namespace}.{self._name}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


def function_behind(name: str) -> Any:
    """What calling an operation by this name calls."""
    found = (
        OWN.get(name)
        or gradient_function(name)
        or public_function(name)
        or public_function(name.lstrip("_"))
        or getattr(links.tensor_class, name, None)
    )
    return found or registry[name].call


# -- functions that PyTorch has here alone, or that take more here: None for a dimension that is not indexed -----------


def _index(input: Any, indices: Any) -> Any:
    if not indices:
        raise errors.mistake(IndexError, "at least one index must be provided")
    return input[tuple([slice(None) if i is None else i for i in indices])]


def _index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    return put_copy(input, places_of_tensors("index_put", input, indices, holes=True), values, accumulate)


def _index_put_(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    return write_places(self, places_of_tensors("index_put_", self, indices, holes=True), values, accumulate)


def _slice(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    if step < 1:
        raise errors.mistake(RuntimeError, "slice step must be positive")
    return input[(slice(None),) * wrap_dim(dim, input.ndim) + (slice(start, end, step),)]


def _native_dropout_backward(grad_output: Any, mask: Any, scale: float) -> Any:
    return grad_output * (mask.to(grad_output.dtype) * scale)


OWN: dict[str, Any] = {
    each.__name__[1:]: each for each in (_index, _index_put, _index_put_, _slice, _native_dropout_backward)
}


def gradient_function(name: str) -> Any:
    """A function that PyTorch has here alone; the module is imported when somebody asks for one."""
    return part("ops.conv.gradients").GRADIENTS.get(name) if name.endswith("_backward") else None


_packets: dict[str, Packet] = {}


def packet(name: str) -> Packet:
    """The one packet of a name."""
    if name not in _packets:
        _packets[name] = Packet(name)
    return _packets[name]


def name_of(op: Op) -> str:
    """What PyTorch's dispatcher calls an operation."""
    known = registry.get(op.name)  # a Function of the user has none
    if known is None:
        return op.name
    return known.aten if isinstance(known.aten, str) else known.aten[op.node_name]


def named(op: Op) -> Overload:
    """The form of an operation."""
    return of_libraries.get(op.name) or packet(name_of(op))._overload


of_libraries: dict[str, Overload] = {}  # operators that programs have defined (leafgrad/_library), by their names


def __getattr__(name: str) -> Packet:
    if not name.startswith("__") and (
        name in OWN or name in known_names() or is_function(name) or gradient_function(name)
    ):
        return packet(name)
    raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")


def known_names() -> set[str]:
    """The names of all operations, and of the functions that are composed of them."""
    names = {name for entry in entries() for name in (entry.name, entry.aten_function)}
    for operation in registry.values():
        names.update({operation.aten} if isinstance(operation.aten, str) else operation.aten.values())
    return names


def is_function(name: str) -> bool:
    """Is it a function or method beside the registered operations: one that makes tensors, or works in place?"""
    return callable(public_function(name)) or callable(getattr(links.tensor_class, name, None))


def public_function(name: str) -> Any:
    return getattr(sys.modules["leafgrad"], name, None)
