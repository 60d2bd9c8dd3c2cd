"""MetaArray: an array that has a shape, strides, a dtype and a place in its memory, but no data.

Inside is an ordinary array, the `shadow`, whose strides reach far beyond the single element that it has memory for. It
is never read: it is there because NumPy knows what becomes of shapes and strides when an array is sliced, transposed or
reshaped. What else is done to a MetaArray goes to `leafgrad.ops.meta.results`, which finds the form of the result.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import MetaArrayBase, TensorBase
from leafgrad._device import preserve_format
from leafgrad._layouts import check_format, is_dense, order_in_memory, order_of

Array = Any
ITEM = "Tensor.item() cannot be called on meta tensors"
NO_DATA = "Cannot copy out of meta tensor; no data!"
NO_ARRAY = "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
# What becomes of NumPy's functions, and of ufuncs: `leafgrad.ops.meta.results` puts it here.
computing: list[Callable[..., Any]] = []


@functools.cache
def marked(kind: Any) -> Any:
    """A dtype equal to, but not the same object as, NumPy's own: shortcuts ask `kind is float32`."""
    return np.dtype(kind, metadata={"meta": True})


def plain(kind: Any) -> Any:
    """NumPy's own object for a dtype."""
    return kind if getattr(kind, "metadata", None) is None else np.dtype(kind.type)


def no_data(fix: str = "") -> Exception:
    """The error for whoever wants to have what is in a tensor without data."""
    return errors.mistake(NotImplementedError, NO_DATA, fix=fix)


def no_item() -> Exception:
    return errors.mistake(RuntimeError, ITEM)


class Flags:
    """What programs ask about the memory of an array."""

    def __init__(self, flags: Any) -> None:
        self.c_contiguous: bool = flags.c_contiguous
        self.f_contiguous: bool = flags.f_contiguous
        self.forc: bool = flags.forc
        self.writeable = True
        self.owndata = self.aligned = True
        self.carray = flags.c_contiguous


class Memory:
    """What a MetaArray and its views share: as many bytes as they would have."""

    __slots__ = ("address", "nbytes", "owner")

    def __init__(self, nbytes: int, address: int) -> None:
        self.nbytes = nbytes
        self.address = address  # of the first element of the shadow
        self.owner: Any = None  # the storage that was asked for, if any was


class MetaArray(np.lib.mixins.NDArrayOperatorsMixin, MetaArrayBase):
    """See above."""

    __slots__ = ("__weakref__", "memory", "shadow")
    __hash__ = object.__hash__

    def __init__(self, shadow: Any, memory: Memory) -> None:
        self.shadow = shadow
        self.memory = memory

    @staticmethod
    def new(shape: Sequence[int], kind: Any, strides: Sequence[int] | None = None) -> MetaArray:
        """One with memory of its own; `strides` in bytes, by default row by row."""
        kind, shape = plain(np.dtype(kind)), tuple(shape)
        steps = row_major(shape, kind.itemsize) if strides is None else tuple(strides)
        extent = 0 if 0 in shape else sum([(n - 1) * s for n, s in zip(shape, steps)]) + kind.itemsize
        if extent >= 2**63:
            raise errors.mistake(
                RuntimeError,
                f"Storage size calculation overflowed with sizes={errors.size(shape)}",
            )
        shadow = stretched(np.empty(1, kind), shape, steps)
        return MetaArray(shadow, Memory(extent, address(shadow)))

    @staticmethod
    def like(array: Any) -> MetaArray:
        """One of the form of an array."""
        if isinstance(array, MetaArray):
            return MetaArray.new(array.shape, array.dtype, array.strides)
        array = np.asarray(array)
        return MetaArray.new(array.shape, array.dtype, array.strides if min(array.strides, default=0) >= 0 else None)

    def seen(self, shadow: Any) -> MetaArray:
        """A view."""
        return MetaArray(shadow, self.memory)

    # -- how it looks -------------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        return self.shadow.shape  # type: ignore[no-any-return]

    @property
    def strides(self) -> tuple[int, ...]:
        return self.shadow.strides  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        return marked(self.shadow.dtype)

    @property
    def ndim(self) -> int:
        return self.shadow.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        return math.prod(self.shadow.shape)

    @property
    def itemsize(self) -> int:
        return self.shadow.itemsize  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def flags(self) -> Any:
        return Flags(self.shadow.flags)

    @property
    def base(self) -> Any:
        return self.memory

    def nbytes_reached(self) -> int:
        """How many bytes there are from its first element to its last."""
        return sum([(n - 1) * s for n, s in zip(self.shape, self.strides)]) + self.itemsize if self.size else 0

    @property
    def offset(self) -> int:
        """Where it begins in its memory, in bytes."""
        return address(self.shadow) - self.memory.address

    def __len__(self) -> int:
        return len(self.shadow)

    def refusal(self, what: str) -> Exception:
        """The error for what cannot be done without data."""
        if what in ("item", "bool"):
            return no_item()
        return no_data()

    # -- views --------------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not all([p is None or p is ... or p.__class__ is slice or is_integer(p) for p in parts]):
            return computing[0](lambda x, *k: x[k], (self, *parts), {})
        if not any([p is ... for p in parts]):
            parts = (*parts, ...)  # else NumPy reads a single element
        return self.seen(self.shadow[parts])

    def __setitem__(self, key: Any, new: Any) -> None:
        """Nothing: there is no data to change."""

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> MetaArray:
        sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if -1 in sizes:
            rest = math.prod([s for s in sizes if s != -1])
            sizes = tuple([self.size // rest if s == -1 and rest else s for s in sizes])
        if math.prod(sizes) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {sizes}")
        try:
            return self.seen(self.shadow.reshape(sizes, copy=False))
        except ValueError:
            if copy is False:
                raise
            return MetaArray.new(sizes, self.dtype)

    def transpose(self, *axes: Any) -> MetaArray:
        return self.seen(self.shadow.transpose(*axes))

    def swapaxes(self, first: int, second: int) -> MetaArray:
        return self.seen(self.shadow.swapaxes(first, second))

    def squeeze(self, axis: Any = None) -> MetaArray:
        return self.seen(self.shadow.squeeze(axis))

    def view(self, dtype: Any = None) -> MetaArray:
        return self.seen(self.shadow.view() if dtype is None else self.shadow.view(plain(np.dtype(dtype))))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> MetaArray:
        return self.seen(self.shadow.diagonal(offset, axis1, axis2))

    def expanded(self, shape: Sequence[int]) -> MetaArray:
        """What np.broadcast_to returns."""
        lead = len(shape) - self.ndim
        if lead < 0 or any([own not in (1, new) for own, new in zip(self.shape, shape[lead:])]):
            raise ValueError(f"cannot broadcast an array of shape {self.shape} to {tuple(shape)}")
        kept = [0 if own == 1 and new != 1 else step for own, new, step in zip(self.shape, shape[lead:], self.strides)]
        return self.seen(stretched(self.shadow, shape, (0,) * lead + tuple(kept)))

    def restrided(self, shape: Sequence[int], strides: Sequence[int]) -> MetaArray:
        """The same memory, from its first element on, under another shape and strides in bytes."""
        return self.seen(stretched(self.shadow, shape, strides))

    def empty_like(self, dtype: Any, wanted: Any) -> MetaArray:
        """What `empty_like_array` (leafgrad/_layouts.py) makes of it."""
        return made_like(self, dtype, wanted)

    def placed(self, place: Any, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> MetaArray:
        """The same memory under another shape and strides, all in elements; the offset counts from the first one."""
        start = stretched(self.shadow, (2,), (offset * self.itemsize,))[1, ...]
        return self.seen(stretched(start, size, [s * self.itemsize for s in stride]))

    def typed(self, kind: Any, shape: Sequence[int], strides: Sequence[int], start: int) -> MetaArray:
        """A part of this memory, which is one of bytes, as another dtype."""
        at = stretched(self.shadow, (2,), (start,))[1, ...]
        first = stretched(at, (kind.itemsize,), (1,)).view(kind)[0, ...]
        return self.seen(stretched(first, shape, strides))

    def all_of_it(self) -> MetaArray:
        """All of its memory, as bytes."""
        start = stretched(self.shadow, (2,), (-self.offset,))[1, ...]
        first = stretched(start, (1,), (self.itemsize,)).view(np.uint8)
        return self.seen(stretched(first, (self.memory.nbytes,), (1,)))

    def grown(self, nbytes: int) -> MetaArray:
        """More of such memory."""
        return MetaArray.new((nbytes,), self.dtype)

    @property
    def T(self) -> MetaArray:
        return self.transpose()

    @property
    def real(self) -> MetaArray:
        return self.seen(self.shadow.real) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> MetaArray:
        return self.seen(self.shadow.imag) if self.dtype.kind == "c" else MetaArray.like(self)

    # -- copies -------------------------------------------------------------------------------------------------------

    def copy(self, order: str = "C") -> MetaArray:
        return self.astype(self.dtype, order)

    __copy__ = copy

    def astype(self, dtype: Any, order: str = "K", copy: bool = True, casting: str = "unsafe") -> MetaArray:
        kind = plain(np.dtype(dtype))
        if not copy and kind == self.dtype:
            return self
        if order == "C" or self.flags.c_contiguous:
            return MetaArray.new(self.shape, kind)
        return in_order_of((self,), self.shape, kind)

    def ravel(self, order: str = "C") -> MetaArray:
        return self.reshape(-1)

    def fill(self, value: Any) -> None:
        """Nothing."""

    def setflags(self, **flags: bool) -> None:
        """Nothing."""

    # -- what wants to have the data -----------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise errors.mistake(TypeError, NO_ARRAY)

    @property
    def __array_interface__(self) -> Any:
        raise errors.mistake(TypeError, NO_ARRAY)

    def item(self, *place: Any) -> Any:
        raise no_item()

    def tolist(self) -> Any:
        raise no_data()

    def __bool__(self) -> bool:
        raise no_item()

    __int__ = __float__ = __complex__ = __index__ = item

    # -- what computes ------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any([isinstance(each, TensorBase) for each in inputs]):  # whose operation it is, as with NumPy's arrays
            return NotImplemented
        return computing[0](ufunc if method == "__call__" else getattr(ufunc, method), inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return computing[0](function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        """The other methods of arrays, of which NumPy has functions as well."""
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'MetaArray' object has no attribute '{name}'")
        return lambda *args, **kwargs: computing[0](getattr(np.ndarray, name), (self, *args), kwargs)


# -- shapes and strides -----------------------------------------------------------------------------------------------


def is_integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool))


def row_major(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The strides, in bytes, of an array that lies in memory row by row."""
    steps = [itemsize]
    for size in shape[:0:-1]:
        steps.append(steps[-1] * max(size, 1))
    return tuple(steps[::-1]) if shape else ()


def stretched(array: Any, shape: Sequence[int], strides: Sequence[int]) -> Any:
    """An array that begins where another does, whatever memory there is."""
    return np.lib.stride_tricks.as_strided(array, tuple(shape), tuple(strides))


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def in_order_of(arrays: Sequence[Any], shape: Sequence[int], kind: Any) -> MetaArray:
    """A new one for what is computed of arrays, element by element, laid out as PyTorch does it."""
    given = [x for x in arrays if x is not None and x.ndim]
    if not given or len(shape) < 2 or all([x.flags.c_contiguous and x.shape == tuple(shape) for x in given]):
        return MetaArray.new(shape, kind)
    return laid_out(shape, kind, order_in_memory(*given))


def laid_out(shape: Sequence[int], kind: Any, order: Sequence[int]) -> MetaArray:
    """A new one with the dimensions in this order in memory, the slowest first."""
    kind = plain(np.dtype(kind))
    steps = row_major(tuple([shape[d] for d in order]), kind.itemsize)
    strides = [0] * len(shape)
    for dim, step in zip(order, steps):
        strides[dim] = step
    return MetaArray.new(shape, kind, strides)


def made_like(array: Any, np_dtype: Any = None, wanted: Any = None) -> MetaArray:
    """`empty_like_array` (leafgrad/_layouts.py) without data."""
    wanted = check_format(wanted)
    kind = plain(array.dtype if np_dtype is None else np.dtype(np_dtype))
    if wanted is not preserve_format:
        return laid_out(array.shape, kind, order_of(array.ndim, wanted))
    if is_dense(array):
        return MetaArray.new(array.shape, kind, [s // array.itemsize * kind.itemsize for s in array.strides])
    return laid_out(array.shape, kind, order_in_memory(array)) if array.ndim else in_order_of((), (), kind)
