"""`torch.ops.aten`: operations under the names that PyTorch's dispatcher has for them.

    torch.ops.aten.mm            all forms of an operation (a packet)
    torch.ops.aten.mm.default    one form of it

Policies of selective checkpointing (leafgrad.utils.checkpoint) are given such objects and compare them. An operation of
leafgrad's registry has one form, whatever its arguments: `aten.mul.Tensor` and `aten.mul.Scalar` are the same object.
The names are those of the registry, except where PyTorch's dispatcher has another: softmax is `_softmax`, and what
`linear` and `matmul` compute goes by the product it is: `addmm`, `mm`, `bmm`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import leafgrad.nn.functional  # noqa: F401  which registers the losses
from leafgrad._core.op import Op
from leafgrad.ops.registry import composites, registry

# PyTorch's names for operations that are called otherwise in the registry
FROM_REGISTRY = {
    "softmax": "_softmax", "log_softmax": "_log_softmax", "matmul": "bmm", "true_div": "div", "div_floor": "div",
    "div_trunc": "div", "sum_dim": "sum", "mean_dim": "mean", "prod_dim": "prod", "max_dim": "max", "min_dim": "min",
    "clamp_by_tensors": "clamp", "to_dtype": "_to_copy", "clone_in_format": "clone", "pow_tensor": "pow",
    "pow_number": "pow", "number_to_the_power": "pow", "rsub_same": "rsub", "vector_norm": "linalg_vector_norm",
    "copy_from": "copy", "new_dimension": "unsqueeze", "index_write": "index_put", "pick": "index",
    "nll_loss_2d": "nll_loss2d_forward", "nll_loss": "nll_loss_forward", "logsigmoid": "log_sigmoid_forward",
    "drawn_normal": "normal", "drawn_bernoulli": "bernoulli",
}  # fmt: skip

# The names of forms that are accepted. Each operation has one form, so it does not matter which is used.
OVERLOADS = frozenset(
    [
        "default", "Tensor", "Scalar", "out", "int", "dim", "dims", "dim_IntList", "self", "other", "value",
        "correction", "dtype", "reduce", "sections", "indices", "p", "memory_format", "using_ints", "Tensor_Scalar",
        "Tensor_Tensor", "Scalar_Tensor", "Tensor_mode", "Scalar_mode", "Tensor_out", "Scalar_out",
        "ScalarOpt_dim", "dim_max",
    ]
)  # fmt: skip


class Overload:
    """One form of an operation, which can be called as the function can. PyTorch calls it OpOverload."""

    def __init__(self, packet: Packet, overload: str) -> None:
        self.overloadpacket = packet
        self.namespace = "aten"
        self._opname = packet._name
        self._overloadname = overload
        self.__name__ = f"{packet._name}.{overload}"

    def name(self) -> str:
        """PyTorch's name of it in its dispatcher: aten::add.Tensor."""
        return f"aten::{self._opname}" + ("" if self._overloadname == "default" else f".{self._overloadname}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.overloadpacket(*args, **kwargs)

    def __str__(self) -> str:
        return f"aten.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='aten.{self._opname}', overload='{self._overloadname}')>"


class Packet:
    """All forms of an operation. PyTorch calls it OpOverloadPacket."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.__name__ = name
        registered = registry.get(name)
        two_tensors = registered is not None and registered.is_pair
        self._overload = Overload(self, "Tensor" if two_tensors else "default")

    def __getattr__(self, overload: str) -> Overload:
        if overload in OVERLOADS:
            return self._overload
        raise AttributeError(f"The underlying op of 'aten.{self._name}' has no overload name '{overload}'")

    def overloads(self) -> list[str]:
        """overloads(): the name of the one form there is."""
        return [self._overload._overloadname]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        import leafgrad

        function = getattr(leafgrad, self._name.lstrip("_"), None) or getattr(vars(leafgrad)["Tensor"], self._name)
        return function(*args, **kwargs)

    def __str__(self) -> str:
        return f"aten.{self._name}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='aten.{self._name}')>"


_packets: dict[str, Packet] = {}


def packet(name: str) -> Packet:
    """The one packet of a name."""
    if name not in _packets:
        _packets[name] = Packet(name)
    return _packets[name]


def named(op: Op, arrays: Sequence[Any]) -> Overload:
    """What an operation is called, when it is applied to these arrays."""
    name = FROM_REGISTRY.get(op.name, op.name)
    if name == "linear":
        name = "mm" if len(arrays) < 3 or arrays[2] is None else "addmm"
    return packet(name)._overload


def __getattr__(name: str) -> Packet:
    known = name in registry or name in composites or name in FROM_REGISTRY.values()
    if not name.startswith("__") and (known or is_function(name)):
        return packet(name)
    raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")


def is_function(name: str) -> bool:
    """Is it a function or method beside the registered operations: one that makes tensors, or works in place?"""
    import leafgrad

    return callable(vars(leafgrad).get(name)) or callable(getattr(vars(leafgrad)["Tensor"], name, None))
