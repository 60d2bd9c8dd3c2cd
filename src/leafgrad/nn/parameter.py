"""Parameters and buffers: the two kinds of tensor that a module owns."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.events import kind_of, noted
from leafgrad._core.overrides import disabled
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._dtypes import get_default_dtype
from leafgrad._tensor.overridable import OverridableType
from leafgrad._tensor.tensor import Tensor


class ParameterType(OverridableType):
    """Tensors of subclasses that have become parameters are parameters, although of their own class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        return cls is Parameter and isinstance(instance, TensorBase) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=ParameterType):
    """Parameter(data=None, requires_grad=True): a leaf tensor that a module counts among what it learns.

    It shares memory with `data`. As an attribute of a module it appears in `parameters()`, and so in an optimiser.
    """

    __torch_function__ = disabled  # what is computed with parameters are plain tensors

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        data = detached(data)
        if data.needs_grad:
            noted(kind_of("Parameter"), data, data.node)
        if type(data) is Tensor or type(data) is Parameter:
            return Tensor._make_subclass(cls, data, requires_grad)
        made = data.detach().requires_grad_(requires_grad)
        if type(made) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns "
                f"an instance of the same type, but return type {type(made).__name__} was found instead. To use the "
                "type as a Parameter, please correct the detach() semantics defined by its __torch_dispatch__() "
                "implementation."
            )
        made._is_param = True
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            copy = self._like(self.array.copy(order="K"))
            memo[id(self)] = copy  # without .grad: a copied model starts afresh
        return memo[id(self)]

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        if type(self) is Parameter:
            return super().__repr__()
        return f"Parameter containing:\nParameter({super().__repr__()})"


class _BufferType(type):
    """`isinstance(t, Buffer)` asks what a module would do with `t`; its class is plain Tensor."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_BufferType):
    """Buffer(data=None, *, persistent=True): a tensor that becomes a buffer of the module it is assigned to."""

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        marked = wrap(detached(data).array)
        if data is not None:
            marked.needs_grad, marked.version = data.requires_grad, data.version
        marked._is_buffer = True
        marked.persistent = persistent
        return marked


def detached(data: Any) -> Any:
    """What a parameter or buffer is made of: a tensor whose history does not matter; by default an empty one."""
    if data is None:
        return wrap(np.empty(0, get_default_dtype().np))
    if not isinstance(data, TensorBase):
        first = f"'{type(data).__name__}' object has no attribute 'detach'"
        raise errors.mistake(AttributeError, first, fix=f"{errors.library()}.tensor({data!r})")
    return data
