"""Storages: the memory behind tensors, as PyTorch shows it.

The memory of a tensor is the NumPy array that owns it; a storage is made when somebody asks for it, the same one for
all tensors that share the memory. It can shrink and grow again inside of that memory. Growing beyond it would need new
memory, which the tensors that show it could not follow, so that is left to storages that no tensor shows.
"""

from __future__ import annotations

import mmap
import os
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.tensor import is_batched, is_meta
from leafgrad._device import check_device, device, names_meta
from leafgrad._dtypes import dtype as Dtype
from leafgrad._missing import part
from leafgrad.ops.shape.buffers import from_bytes, owners, warn_of_typed
from leafgrad.ops.shape.strides import memory_of, owner_of
from leafgrad.ops.shape.view_history import address
from leafgrad.ops.signature import Tensor, by_name, declared

_storages: weakref.WeakValueDictionary[int, UntypedStorage] = weakref.WeakValueDictionary()  # by the owner's id
_resized: dict[int, tuple[Any, int]] = {}  # by the same: the owner, weakly, and the size that a storage was given
_CPU = device("cpu")
_META = device("meta")

# The methods that convert a storage, and the names of the classes for one dtype.
CONVERSIONS = {kind.alias.lower().replace("complex", "complex_"): kind for kind in _dtypes.ALL}


def converted(kind: Dtype) -> Any:
    def method(self: Any) -> TypedStorage:
        return TypedStorage(wrap_storage=storage_of(self._elements().astype(kind.np)), dtype=kind)

    return method


class StorageBase:
    """What storages with and without a dtype have in common."""

    is_cuda = is_sparse = is_hpu = False

    @property
    def device(self) -> device:
        return _META if is_meta(self._elements()) else _CPU

    def _elements(self) -> Any:
        raise NotImplementedError

    def _new_like(self, elements: Any) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        return int(self._elements().size)

    size = __len__

    def __sizeof__(self) -> int:
        return int(super().__sizeof__() + self._elements().nbytes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        """tolist(): the elements as Python numbers."""
        elements = self._elements()
        if is_meta(elements):
            raise errors.mistake(NotImplementedError, "Not available for 'meta' device type")
        return (elements.astype(np.float32) if elements.dtype.name == "bfloat16" else elements).tolist()  # type: ignore[no-any-return]

    def _place(self, index: Any) -> int:
        """The index of an element, counted from the front."""
        size = len(self)
        if not -size <= index < size:
            raise IndexError(f"index {index} out of range for storage of size {size}")
        return int(index % size)

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, (int, slice)):
            raise RuntimeError(f"can't index a <class '{typename(self)}'> with {type(index)}")
        self._elements()[index if isinstance(index, slice) else self._place(index)] = value

    def fill_(self, value: Any) -> Any:
        """fill_(value): set all elements."""
        self._elements()[...] = value
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> Any:
        """copy_(source): take over the elements of another storage of the same size."""
        elements = source._elements()
        if len(source) != len(self):
            sizes = [s._elements().nbytes for s in (self, source)]
            raise RuntimeError(f"size does not match, self was {sizes[0]} bytes but src was {sizes[1]} bytes")
        self._elements()[...] = elements
        return self

    def clone(self) -> Any:
        """clone(): a storage with a copy of the elements."""
        return self._new_like(self._elements().copy())

    __copy__ = clone

    def element_size(self) -> int:
        return int(self._elements().itemsize)

    def cpu(self) -> Any:
        """cpu(): the storage itself, if it has data."""
        if is_meta(self._elements()):
            raise self._elements().refusal("cpu")
        return self

    def is_shared(self) -> bool:
        """is_shared(): is it memory that other processes can see, or a file?"""
        return any([isinstance(owner, mmap.mmap) for owner in owners(self._elements())])

    @property
    def filename(self) -> str | None:
        """The file that changes of the memory go into, None if there is none."""
        files = [owner for owner in owners(self._elements()) if isinstance(owner, np.memmap) and owner.mode == "r+"]
        return str(files[-1].filename) if files else None

    def is_pinned(self, device: Any = "cuda") -> bool:
        return False

    def get_device(self) -> int:
        return -1

    def __repr__(self) -> str:
        kind = f"dtype={self.dtype}, " if isinstance(self, TypedStorage) else ""
        head = f"[{typename(self)}({kind}device={self.device}) of size {len(self)}]"
        if self.device == _META:
            return f"...\n{head}"
        return "\n".join([f" {value}" for value in self.tolist()]) + "\n" + head

    __str__ = __repr__

    for _name, _kind in CONVERSIONS.items():
        locals()[_name] = converted(_kind)
    del _name, _kind


def typename(storage: StorageBase) -> str:
    return f"torch.storage.{type(storage).__name__}"


class UntypedStorage(StorageBase):
    """UntypedStorage(size=0), UntypedStorage(sequence): memory, seen as bytes."""

    # What has to be computed when the content of the memory arrives, which files may have behind what is made of it: a
    # tensor, the one that it is computed from, and the method that does it.
    when_filled: list[tuple[Any, Any, str]] | None = None

    def __init__(self, content: Any = 0, *, device: Any = None) -> None:
        if names_meta(device):
            size = content if isinstance(content, int) else len(UntypedStorage(content))
            self._own(part("ops.meta.arrays").MetaArray.new((size,), np.dtype(np.uint8)))
            return
        check_device(device)
        if isinstance(content, int):
            if content < 0:
                raise errors.mistake(RuntimeError, f"a storage cannot have a negative size, here {content} bytes")
            self._own(np.empty(content, np.uint8))
            return
        if not hasattr(content, "__len__"):
            first = f"torch.UntypedStorage(): Expected a sequence type, but got {type(content).__name__}"
            raise errors.mistake(RuntimeError, first)
        for item in content:
            if not isinstance(item, int):
                kinds = [type(each).__name__ for each in (content, item)]
                raise errors.mistake(
                    RuntimeError,
                    f"torch.UntypedStorage(): tried to construct a storage from a sequence ({kinds[0]}), but one of "
                    f"the items was of type {kinds[1]} instead of int",
                )
        self._own(np.array([item % 256 for item in content], np.uint8))

    @classmethod
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """from_file(filename, shared=False, nbytes=0): the content of a file, read when it is used; if it is `shared`,
        changes go into the file, which is made as long as is asked for."""
        path = os.fspath(filename)
        if shared:
            with open(path, "ab") as file:
                file.truncate(max(nbytes, file.tell()))
        made = cls.__new__(cls)
        content = np.memmap(path, np.uint8, "r+" if shared else "c", shape=(nbytes or os.path.getsize(path),))
        made._own(np.frombuffer(content, np.uint8))
        return made

    def _own(self, memory: Any) -> None:
        """Become the storage of new memory, which no tensor shows."""
        self._owner, self._memory = (memory.memory if is_meta(memory) else memory), memory
        _storages[id(self._owner)] = self

    def _elements(self) -> Any:
        limit = _resized.get(id(self._owner))
        return self._memory if limit is None else self._memory[: limit[1]]

    def _new_like(self, elements: Any) -> UntypedStorage:
        return storage_of(elements)

    nbytes = StorageBase.__len__

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int):
            return self.tolist()[0] if is_meta(self._memory) else int(self._elements()[self._place(index)])
        if not isinstance(index, slice):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(index).__name__}")
        start, stop, step = index.indices(len(self))
        if step != 1:
            raise RuntimeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
        part = UntypedStorage.__new__(UntypedStorage)
        part._memory = self._elements()[start:stop]
        part._owner = part._memory
        return part

    def data_ptr(self) -> int:
        """data_ptr(): the address of the memory, 0 if there is none."""
        return address(self._memory) if len(self) and not is_meta(self._memory) else 0

    def byteswap(self, dtype: Any) -> None:
        """byteswap(dtype): turn the bytes of each number of a dtype around."""
        size = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
        self._elements().view(f"u{size}").byteswap(True)

    @property
    def _cdata(self) -> int:
        return id(self._owner)

    def untyped(self) -> UntypedStorage:
        return self

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """type(): the name of the class."""
        return typename(self)

    def resizable(self) -> bool:
        """resizable(): can it become larger than its memory is? Not while tensors show that."""
        # Apart from this call and two attributes (of which one may refer to the owner as the base of its array), only
        # tensors refer to the memory.
        is_own = self._memory is self._owner
        return sys.getrefcount(self._owner) <= 3 and (is_own or sys.getrefcount(self._memory) <= 2)

    def resize_(self, size: int) -> UntypedStorage:
        """resize_(size): so many bytes. The memory of tensors stays where it is, and can only be used less."""
        if size <= self._memory.size:
            owner, key = self._owner, id(self._owner)
            _resized.pop(key, None)
            if size < self._memory.size:
                _resized[key] = weakref.ref(owner, lambda _: _resized.pop(key, None)), size
            return self
        if not self.resizable():
            raise errors.mistake(
                RuntimeError,
                "Trying to resize storage that is not resizable",
                ("size", f"{size} bytes wanted, {self._memory.size} are there"),
                ("why", "the tensors that show this memory cannot move to a larger one"),
                ("fix", "x.resize_(...) of the tensor, or x.set_(...) with a new one"),
            )
        grown = np.empty(size, np.uint8)
        grown[: len(self)] = self._elements()
        self._own(grown)
        return self

    def new(self) -> UntypedStorage:
        """new(): an empty storage."""
        return UntypedStorage()

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str = "native", count: int = -1, offset: int = 0, dtype: Any = None
    ) -> Any:
        """from_buffer(buffer, byte_order="native", count=-1, offset=0, dtype=uint8): the bytes of a buffer, copied."""
        return storage_of(from_bytes(buffer, byte_order, count, offset, dtype or _dtypes.uint8))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._owner is other._owner

    def __hash__(self) -> int:
        return id(self._owner)

    def __deepcopy__(self, memo: dict[Any, Any]) -> UntypedStorage:
        key: Any = ("memory", id(self._owner))  # what the tensors that share it use as well
        if key not in memo:
            memo[key] = self._owner, self._elements().copy()
        return storage_of(memo[key][1])

    def __reduce__(self) -> Any:
        return storage_of, (self._elements().copy(),)


def storage_of(array: Any) -> UntypedStorage:
    """The storage of the memory that an array shows."""
    owner = array.memory if is_meta(array) else owner_of(array)
    found = _storages.get(id(owner))
    if found is None:
        found = UntypedStorage.__new__(UntypedStorage)
        found._owner = owner
        found._memory = memory_of(array)[0]
        _storages[id(owner)] = found
    return found


class TypedStorage(StorageBase):
    """TypedStorage(size=0, dtype=None), TypedStorage(sequence): the memory of tensors of one dtype."""

    def __init__(
        self, content: Any = None, *, wrap_storage: Any = None, dtype: Any = None, device: Any = None,
        _internal: bool = False,
    ) -> None:  # fmt: skip
        self.dtype: Dtype = _dtypes.get_default_dtype() if dtype is None else dtype
        if wrap_storage is None:
            is_size = content is None or isinstance(content, int)
            array = np.empty(content or 0, self.dtype.np) if is_size else np.array(content, self.dtype.np)
            wrap_storage = UntypedStorage(array.nbytes if names_meta(device) else 0, device=device)
            if not names_meta(device):
                wrap_storage._own(array.view(np.uint8))
        elif content is not None or dtype is None:
            first = "TypedStorage.__init__ received an invalid combination of arguments. Expected one of:"
            raise RuntimeError(f"{first} (int size), (Sequence data), (*, UntypedStorage wrap_storage, dtype)")
        self._untyped_storage: UntypedStorage = wrap_storage

    def _elements(self) -> Any:
        memory = self._untyped_storage._elements()
        size = self.dtype.itemsize
        return memory[: memory.size // size * size].view(self.dtype.np)

    def _new_like(self, elements: Any) -> TypedStorage:
        return TypedStorage(wrap_storage=storage_of(elements), dtype=self.dtype)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a <class '{typename(self)}'> with {type(index)}")
        return self.tolist()[self._place(index)]

    def untyped(self) -> UntypedStorage:
        """untyped(): the same memory as bytes."""
        return self._untyped_storage

    def nbytes(self) -> int:
        return len(self._untyped_storage)

    def data_ptr(self) -> int:
        """data_ptr(): the address of the memory, 0 if there is none."""
        return self._untyped_storage.data_ptr()

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """type(): the name of the class for this dtype."""
        return f"torch.{self.pickle_storage_type()}"

    def pickle_storage_type(self) -> str:
        return f"{self.dtype.alias}Storage"

    def resizable(self) -> bool:
        return self._untyped_storage.resizable()

    def resize_(self, size: int) -> TypedStorage:
        """resize_(size): so many elements; see UntypedStorage.resize_."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str = "native", count: int = -1, offset: int = 0, dtype: Any = None
    ) -> TypedStorage:
        """from_buffer(buffer, byte_order="native", count=-1, offset=0, dtype=None): the numbers of a buffer, copied."""
        kind = dtype or _dtypes.get_default_dtype()
        return cls(wrap_storage=storage_of(from_bytes(buffer, byte_order, count, offset, kind)), dtype=kind)

    def __deepcopy__(self, memo: dict[Any, Any]) -> TypedStorage:
        return TypedStorage(wrap_storage=self._untyped_storage.__deepcopy__(memo), dtype=self.dtype)

    def __reduce__(self) -> Any:
        return _typed, (self._untyped_storage, self.dtype)

    __eq__ = object.__eq__
    __hash__ = object.__hash__


def _typed(untyped: UntypedStorage, kind: Dtype) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=kind)


class StorageType(type):
    """The class of `FloatStorage`, `LongStorage`, ...: calling one makes a TypedStorage of its dtype."""

    dtype: Dtype

    def __call__(cls, *args: Any, **options: Any) -> Any:
        warn_of_typed()
        return TypedStorage(*args, dtype=cls.dtype, **options)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype

    def from_file(cls, filename: Any, shared: bool = False, size: int = 0) -> TypedStorage:
        """from_file(filename, shared=False, size=0): a file as a storage of so many elements."""
        warn_of_typed()
        untyped = UntypedStorage.from_file(filename, shared, size * cls.dtype.itemsize)
        return TypedStorage(wrap_storage=untyped, dtype=cls.dtype)

    def from_buffer(cls, buffer: Any, byte_order: str = "native", count: int = -1, offset: int = 0) -> TypedStorage:
        warn_of_typed()
        return TypedStorage.from_buffer(buffer, byte_order, count, offset, cls.dtype)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def storage_type(kind: Dtype) -> StorageType:
    name = f"{kind.alias}Storage"
    return StorageType(name, (), {"dtype": kind, "__doc__": f"{name}(size), {name}(sequence): a storage of {kind}."})


TYPES: dict[str, StorageType] = {f"{kind.alias}Storage": storage_type(kind) for kind in _dtypes.ALL}


# -- of tensors -------------------------------------------------------------------------------------------------------


def memory_array(t: Any) -> Any:
    if is_batched(t.array):
        raise t.array.refusal("storage")
    return t.array


@declared()
def untyped_storage(self: Tensor) -> UntypedStorage:
    """untyped_storage(): the memory that the tensor shows, which others may show as well."""
    return storage_of(memory_array(self))


@declared()
def _typed_storage(self: Tensor) -> TypedStorage:
    """_typed_storage(): the memory of the tensor, with its dtype."""
    array = memory_array(self)
    return TypedStorage(wrap_storage=storage_of(array), dtype=_dtypes.from_numpy_dtype(array.dtype))


@declared()
def storage(self: Tensor) -> TypedStorage:
    """storage(): the memory of the tensor, with its dtype. PyTorch will replace it by untyped_storage()."""
    warn_of_typed()
    return _typed_storage(self)  # type: ignore[no-any-return]


@declared()
def storage_type_of(self: Tensor) -> StorageType:
    """storage_type(): the class of storages of this dtype."""
    return TYPES[f"{_dtypes.from_numpy_dtype(self.array.dtype).alias}Storage"]


@declared()
def is_storage(obj: Any) -> bool:
    """is_storage(obj): is it a storage?"""
    return isinstance(obj, StorageBase)


def shown_by(storage: StorageBase, kind: Dtype, needed: int = 0) -> Any:
    """All of a storage as an array of a dtype, for a tensor that will show it and needs so many bytes."""
    if isinstance(storage, TypedStorage) and storage.dtype is not kind:
        raise errors.mistake(
            RuntimeError,
            f"Expected a Storage of type {kind.cpp} or an UntypedStorage, but got type {storage.dtype.alias} for "
            "argument 1 'storage'",
        )
    untyped = storage.untyped()  # type: ignore[attr-defined]
    if needed > len(untyped):
        untyped.resize_(needed)
    return TypedStorage(wrap_storage=untyped, dtype=kind)._elements()


METHODS = {**by_name(untyped_storage, _typed_storage, storage), "storage_type": storage_type_of}
FUNCTIONS = by_name(is_storage)
