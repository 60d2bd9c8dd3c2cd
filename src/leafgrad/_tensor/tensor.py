"""Tensor: the class users see. Its fields, and what computes and records, are in `_core`; most of its methods are the
functions of `leafgrad.ops`, put on it by leafgrad/_tensor/install.py. What is written here is what only a tensor can
do."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from leafgrad import _dtypes, autograd, errors
from leafgrad._core.events import ITEM, kind_of, noted
from leafgrad._core.overrides import DisableTorchFunctionSubclass, add_plain, written_in_python
from leafgrad._core.tensor import BatchedArrayBase, MetaArrayBase, TensorBase, is_batched, is_meta, links, wrap
from leafgrad._core.thread_state import shared_modes, state
from leafgrad._core.views import bind_view
from leafgrad._device import Size, device, layout, made, strided
from leafgrad._dtypes import dtype
from leafgrad._layouts import steps_of
from leafgrad._missing import part
from leafgrad._tensor.autograd import AutogradTensor
from leafgrad._tensor.op_methods import OpMethods
from leafgrad._tensor.overridable import OverridableType, absent, form_of, prepare
from leafgrad.autograd.hooks import warn_if_has_hooks

_CPU = device("cpu")
_getframe = sys._getframe


if TYPE_CHECKING:

    class Bases(OpMethods, AutogradTensor): ...

else:
    Bases = object  # a base of Tensor beside these two: under them, it would make the making of tensors slower


class TensorMethods(Bases):
    """What the class Tensor has."""

    __slots__ = ()

    # NumPy leaves binary operations with a tensor to the tensor
    __array_priority__ = 1000

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        from leafgrad.ops.creation.legacy import legacy_tensor

        return legacy_tensor(cls, *args, **kwargs)

    # -- shape and type -----------------------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        return made(Size, self.array.shape)

    @overload
    def size(self, dim: None = None) -> Size: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> Any:
        """size(dim=None): the shape, or the size of one dimension."""
        if dim is None:
            return made(Size, self.array.shape)
        from leafgrad.ops.dimensions import wrap_dim

        if not self.array.ndim:
            wrap_dim(dim, 0)
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        return self.array.shape[wrap_dim(dim, self.array.ndim)]

    @property
    def ndim(self) -> int:
        return self.array.ndim  # type: ignore[no-any-return]

    def dim(self) -> int:
        return self.array.ndim  # type: ignore[no-any-return]

    ndimension = dim

    def numel(self) -> int:
        return self.array.size  # type: ignore[no-any-return]

    nelement = numel

    @property
    def dtype(self) -> dtype:
        return _dtypes.from_numpy_dtype(self.array.dtype)

    @property
    def device(self) -> device:
        return _CPU

    @property
    def layout(self) -> layout:
        return strided

    def get_device(self) -> int:
        return -1

    is_cuda = is_sparse = is_quantized = is_meta = is_mkldnn = is_nested = property(lambda self: False)
    is_mps = is_xpu = is_mtia = is_ipu = is_xla = is_maia = is_vulkan = is_sparse_csr = property(lambda self: False)
    is_cpu = property(lambda self: True)

    @property
    def itemsize(self) -> int:
        return self.array.itemsize  # type: ignore[no-any-return]

    def element_size(self) -> int:
        return self.array.itemsize  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        return self.array.nbytes  # type: ignore[no-any-return]

    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: int) -> int: ...
    def stride(self, dim: int | None = None) -> Any:
        """stride(dim=None): how many elements to move in memory for one step along each dimension."""
        steps = steps_of(self.array)
        return steps if dim is None else steps[dim]

    def storage_offset(self) -> int:
        from leafgrad.ops.shape.strides import offset_in_memory

        return offset_in_memory(self.array)

    def data_ptr(self) -> int:
        array = self._memory("storage")
        return array.__array_interface__["data"][0] if array.size else 0

    const_data_ptr = data_ptr

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        return self.dtype.is_signed

    # -- values -------------------------------------------------------------------------------------------------------

    def _memory(self, purpose: str) -> Any:
        """The array, for what cannot be done with many samples at once."""
        if self.array.__class__ is not np.ndarray and isinstance(self.array, (BatchedArrayBase, MetaArrayBase)):
            raise self.array.refusal(purpose)  # type: ignore[union-attr]
        if self.rare is not None:
            links.refresh_copies((self,))
        return self.array

    def item(self) -> Any:
        """item(): the one element as a Python number."""
        array = self._memory("item")
        if array.size != 1:
            first = f"a Tensor with {array.size} elements cannot be converted to Scalar"
            raise errors.not_converted(self, RuntimeError, first, "X.tolist()   # all of them; or X.sum().item()")
        value = number(array)
        if self.needs_grad:  # the number leaves the graph: noted, if somebody misses it there later
            noted(ITEM, self, self.node, _getframe(1), value)
        return value

    def tolist(self) -> Any:
        """tolist(): the elements as nested lists of Python numbers."""
        array = self._memory("storage")
        if self.needs_grad:
            noted(kind_of("tolist"), self, self.node)
        return array.astype(np.float32).tolist() if self.dtype is _dtypes.bfloat16 else array.tolist()

    def __bool__(self) -> bool:
        array = self._memory("bool")
        if array.size != 1:
            many = "no values" if array.size == 0 else "more than one value"
            first = f"Boolean value of Tensor with {many} is ambiguous"
            raise errors.not_converted(self, RuntimeError, first, "X.any()   # or X.all()")
        return bool(array)

    def _one_number(self, way: str) -> Any:
        array = self._memory("item")
        if array.size != 1:
            first = "only one element tensors can be converted to Python scalars"
            raise errors.not_converted(self, ValueError, first, "X.tolist()   # all of them; or X.sum().item()")
        value = number(array)
        if self.needs_grad:
            noted(kind_of(way), self, self.node, _getframe(2), value)
            if state.recording and way != "int":
                errors.warn_once(errors.HISTORY_LOST)
        return value

    def __float__(self) -> float:
        value = self._one_number("float")
        if isinstance(value, complex):
            if value.imag:
                raise RuntimeError("value cannot be converted to type double without overflow")
            value = value.real
        return float(value)

    def __int__(self) -> int:
        value = self._one_number("int")
        return int(float(self.detach())) if isinstance(value, complex) else int(value)

    def __complex__(self) -> complex:
        return complex(self._one_number("complex"))

    def __index__(self) -> int:
        array = self._memory("item")
        if array.dtype.kind not in "biu" or array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(array.item())

    @written_in_python
    def __len__(self) -> int:
        if not self.array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self.array)

    def __iter__(self) -> Iterator[Tensor]:
        if not self.dim():
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    @written_in_python
    def __reversed__(self) -> Any:
        return self.flip(0) if self.array.ndim else self

    @written_in_python
    def __contains__(self, element: Any) -> bool:
        if isinstance(element, (TensorBase, int, float, complex, bool)):
            found: Any = self == element
            return bool(found.any().item())
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")

    __hash__ = object.__hash__  # by identity; not a Python function, the engine keeps tensors in dictionaries

    @written_in_python
    def __repr__(self, *, tensor_contents: Any = None) -> str:
        if is_batched(self.array):
            return self.array.shown()  # type: ignore[no-any-return]
        try:
            name = None if self.grad_fn is None else type(self.grad_fn).__name__
        except RuntimeError:  # a view whose base was changed: using it explains more than printing it could
            name = "Invalid"
        from leafgrad._tensor import printing  # when something is first printed

        shown = printing.tensor_repr(
            self._memory("storage"),
            dtype_name=self.dtype.name,
            default_dtype_name=_dtypes.get_default_dtype().name,
            requires_grad=self.needs_grad,
            grad_fn_name=name,
            class_name="tensor" if type(self) is Tensor else type(self).__name__,
            tangent=self._tangent_repr() if shared_modes else None,
        )
        return f"Parameter({shown})" if getattr(self, "_is_param", False) else shown

    def _tangent_repr(self) -> str | None:
        """Forward mode: how a tangent is printed, a single number as a number."""
        tangents = list(autograd.forward_ad.tangents_of(self).values())
        return format(tangents[-1]) if tangents else None

    @written_in_python
    def __format__(self, spec: str) -> str:
        if self.array.ndim == 0 and type(self) is Tensor:
            return format(number(self._memory("item")), spec)
        return object.__format__(self, spec)

    @written_in_python
    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__()} - absent)

    # -- other libraries, copies --------------------------------------------------------------------------------------

    def numpy(self, *, force: bool = False) -> Any:
        """numpy(force=False): the values as a NumPy array that shares memory with the tensor."""
        array = self._memory("storage")
        if self.requires_grad and not force and state.recording:
            raise errors.numpy_needs_detach(self)
        if self.needs_grad:
            noted(kind_of("numpy"), self, self.node).memory = weakref.ref(array)
        if self.rare is not None and not force:
            for bit, is_set, name in (("conjugate", self.is_conj, "conj"), ("negative", self.is_neg, "neg")):
                if is_set():
                    raise errors.mistake(
                        RuntimeError,
                        f"Can't call numpy() on Tensor that has {bit} bit set. Use tensor.resolve_{name}().numpy() "
                        "instead.",
                    )
        return array.view()  # another array object, so that nobody can change the tensor's shape through it

    @written_in_python
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"Unable to avoid copy while converting a tensor of {self.dtype} to {np.dtype(dtype)}")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        if array.dtype == bool:
            array = array.astype(np.uint8)
        return wrap(array)

    def __dlpack__(self, *, stream: Any = -1, **options: Any) -> Any:
        if stream is not None and not isinstance(stream, int):
            raise TypeError("stream must be ``int`` or ``none``")
        if stream is not None and stream != -1:
            raise AssertionError("stream should be None on cpu.")
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if self.rare is not None and self.is_conj():
            raise BufferError("Can't export tensors with the conjugate bit set")
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()  # type: ignore[no-any-return]

    @written_in_python
    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        array = self._memory("deepcopy")
        if self.node is not None:
            raise errors.deepcopy_of_non_leaf(self)
        if id(self) in memo:
            return memo[id(self)]
        if type(self) is not Tensor and type(self.new_empty([])) is not type(self):
            raise errors.deepcopy_of_subclass(self)
        copy = self._like(_copied_memory(array, memo))
        memo[id(self)] = copy
        if self._grad is not None:
            copy._grad = self._grad.__deepcopy__(memo)
        if vars(self):
            from copy import deepcopy

            copy.__dict__.update(deepcopy(vars(self), memo))
        return copy

    def __copy__(self) -> Any:
        return _unpickle(type(self), self.array, self.needs_grad, vars(self))

    def _like(self, array: Any) -> Any:
        """A leaf of the same class around another array."""
        return _unpickle(type(self), array, self.needs_grad, {})

    @written_in_python
    def __reduce_ex__(self, protocol: Any) -> Any:
        # as PyTorch: the values and whether they require grad, but neither the history nor the gradient nor the hooks
        if self._backward_hooks:
            warn_if_has_hooks(self)
        array = self.array if self.array.flags.owndata else self.array.copy(order="K")
        return _unpickle, (type(self), array, self.requires_grad, dict(vars(self)))

    def as_subclass(self, cls: type) -> Any:
        """as_subclass(cls): the same tensor as an instance of a subclass of Tensor."""
        check_class(cls)
        alias = part("ops.index.slices").alias
        made = bind_view(alias.core, alias, self, ((...,),))
        made.__class__ = links.meta_class(cls) if is_meta(self.array) else cls
        return made

    @staticmethod
    def _make_subclass(cls: type, data: Any, require_grad: bool = False) -> Any:
        check_class(cls)
        made = wrap(data.array)
        made.__class__ = links.meta_class(cls) if is_meta(data.array) else cls
        made.version = data.version
        made.needs_grad = bool(require_grad)
        if require_grad:
            made._set_requires_grad(True, errors.CREATED)
        return made

    # -- what the engine asks of gradients that are tensors -----------------------------------------------------------

    def _to_array_dtype(self, np_dtype: Any) -> Any:
        from leafgrad.ops.pointwise.convert import to_array_dtype

        return to_array_dtype(self, np_dtype)

    def _with_array(self, array: Any) -> Any:
        from leafgrad.ops.pointwise.convert import with_array

        return with_array(self, array)


class Tensor(TensorMethods, OpMethods, AutogradTensor, metaclass=OverridableType):
    """An n-dimensional array of numbers that remembers how it was computed."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        prepare(cls)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """What subclasses do with a call if they do not say it themselves: the usual, with results of their class."""
        if not all([issubclass(cls, kind) for kind in types]):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
            as_it_is = cls is Tensor or func in (form_of("grad").__get__, form_of("_base").__get__)
            return result if as_it_is else _as_subclass(result, cls)


def number(array: Any) -> Any:
    """The one element of an array, as Python has it."""
    value = array.item()
    return float(value) if _dtypes.from_numpy_dtype(array.dtype) is _dtypes.bfloat16 else value


def check_class(cls: Any) -> None:
    """May a tensor become an instance of this class?"""
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    if not issubclass(cls, Tensor):
        raise errors.mistake(
            TypeError,
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
            "class inherits from Tensor.",
        )


def _as_subclass(result: Any, cls: type) -> Any:
    """A result whose tensors are of a class, also those in tuples and lists."""
    if isinstance(result, TensorBase):
        return result if isinstance(result, cls) else Tensor.as_subclass(result, cls)  # type: ignore[arg-type]
    if isinstance(result, (tuple, list)):
        return type(result)([_as_subclass(part, cls) for part in result])
    return result


def _unpickle(cls: type, array: Any, requires_grad: bool, attributes: dict[str, Any]) -> Any:
    made = wrap(array)
    made.__class__ = cls
    made.needs_grad = requires_grad
    made.__dict__.update(attributes)
    return made


def _copied_memory(array: Any, memo: dict[Any, Any]) -> Any:
    """A copy of an array for deepcopy: two that share memory share it again, so the whole memory behind a view is
    copied, and kept in `memo`."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if not (owner.flags.owndata and owner.flags.forc and owner.size):
        return array.copy()
    key: Any = ("memory", id(owner))
    if key not in memo:
        memo[key] = owner, owner.ravel(order="K").view(np.uint8).copy()  # the owner, so that its id stays its own
    memory = memo[key][1]
    offset = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, memory, offset, array.strides)


links.tensor_class = Tensor
links.load_sparse_class = lambda: part("_tensor.sparse_class")
links.meta_class = lambda cls: part("_tensor.meta_class").class_of(cls)
add_plain(Tensor)
