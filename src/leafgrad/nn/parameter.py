"""Parameters and buffers: the two kinds of tensor that a module owns, and those that wait for their shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.events import kind_of, noted
from leafgrad._core.overrides import disabled
from leafgrad._core.tensor import TensorBase, is_meta, links, wrap
from leafgrad._device import names_meta
from leafgrad._dtypes import from_numpy_dtype, get_default_dtype
from leafgrad._tensor.overridable import OverridableType
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.creation.factories import empty


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
        if type(data) is Tensor or type(data) is Parameter or is_meta(data.array):
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


# -- before their shape is known --------------------------------------------------------------------------------------


# What can be done with a tensor that has no shape yet: mostly to change its dtype.
HARMLESS = {
    "__hash__", "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char", "short", "int",
    "long", "cuda", "cpu", "to", "get_device",
}  # fmt: skip


class UninitializedTensorMixin:
    """A tensor of lazy modules whose shape is not known yet. All that can be done with it is to change its dtype and to
    `materialize` it, which makes it an ordinary tensor of the class `cls_to_become`."""

    cls_to_become: Any

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """materialize(shape, device=None, dtype=None): become an ordinary tensor of this shape, values undefined."""
        own: Any = self
        on_meta = is_meta(own.array) if device is None else names_meta(device)
        made = empty(
            shape, dtype=dtype or from_numpy_dtype(own.array.dtype), device="meta" if on_meta else device or "cpu"
        )
        own.array = made.array
        own.__class__ = links.meta_class(self.cls_to_become) if on_meta else self.cls_to_become

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> Any:
        """share_memory_(): refused, because there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        own: Any = self
        if id(self) not in memo:
            memo[id(self)] = own.__class__(own.requires_grad, dtype=from_numpy_dtype(own.array.dtype))
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        own: Any = self
        return type(self), (own.requires_grad,)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        is_attribute = isinstance(getattr(func, "__self__", None), property)
        if is_attribute or getattr(func, "__name__", None) in HARMLESS:
            return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[misc]
        raise uninitialized_in(func, cls)


def uninitialized_in(func: Any, cls: type) -> ValueError:
    """The error for a function that needs the shape of such a tensor."""
    return ValueError(
        f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a `LazyModule` "
        f"or explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call "
        "`forward` with a dummy batch to initialize the parameters before calling torch functions"
    )


def is_lazy(param: Any) -> bool:
    """is_lazy(param): is this a parameter or buffer whose shape is not known yet?"""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """UninitializedParameter(requires_grad=True, device=None, dtype=None): a parameter whose shape is not known yet."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return Tensor._make_subclass(cls, of_no_shape(device, dtype), requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """UninitializedBuffer(requires_grad=False, device=None, dtype=None, persistent=True): a buffer whose shape is not
    known yet."""

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        made = Tensor._make_subclass(cls, of_no_shape(device, dtype), requires_grad)
        made._is_buffer, made.persistent = True, persistent
        return made


def of_no_shape(device: Any, dtype: Any) -> Any:
    """The empty tensor that stands for one whose shape is not known yet."""
    return empty(0, dtype=dtype, device=device)


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """factory_kwargs(kwargs): those that functions such as leafgrad.empty take, of what a module was given by name:
    device, dtype and memory_format, also inside of 'factory_kwargs'. Others are refused."""
    if kwargs is None:
        return {}
    simple = ("device", "dtype", "memory_format")
    unexpected = kwargs.keys() - {*simple, "factory_kwargs"}
    if unexpected:
        raise TypeError(f"unexpected kwargs {unexpected}")
    chosen = dict(kwargs.get("factory_kwargs", {}))
    for name in simple:
        if name in kwargs:
            if name in chosen:
                raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
            chosen[name] = kwargs[name]
    return chosen
