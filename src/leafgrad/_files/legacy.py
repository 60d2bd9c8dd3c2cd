"""The format of before PyTorch 1.6: five pickles one after the other (a number by which it is known, its version, the
machine, the object, the keys of its storages), then the content of the storages, each after its number of elements."""

from __future__ import annotations

import inspect
import io
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._files.locations import Restore
from leafgrad._files.options import skipping
from leafgrad._files.pickling import Storages, pickler_of
from leafgrad._files.rebuilding import dtype_of, invalid
from leafgrad.nn.modules.module import Module
from leafgrad.ops.shape.storage import StorageBase, TypedStorage, storage_of

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_TAR = (257, b"ustar")  # where archives of before PyTorch 0.2 say what they are

Unpickle = Callable[[io.BytesIO, Callable[[Any], Any]], Any]


class SourceChangeWarning(Warning):
    """The class of a module that is loaded looks different from the one that was saved."""


# -- writing ----------------------------------------------------------------------------------------------------------


class LegacyStorages(Storages):
    """The memory that tensors show, and the classes of modules, which have their source beside them."""

    def __init__(self) -> None:
        super().__init__()
        self.classes: set[type] = set()

    def entry(self, obj: Any) -> Any:
        if isinstance(obj, StorageBase):
            return (*super().entry(obj), None)
        if not (isinstance(obj, type) and issubclass(obj, Module)) or obj in self.classes:
            return None
        self.classes.add(obj)
        return ("module", obj, *source_of(obj))


def source_of(cls: type) -> tuple[str | None, str | None]:
    """The file and the source of a class of the user's. Those of layers are PyTorch's business, and there are none."""
    if (found := _own_source(cls)) is not None:
        return found
    return None, None


def _own_source(cls: type) -> tuple[str, str] | None:
    if cls.__module__.startswith(("leafgrad.", "torch.")):
        return None
    try:
        return inspect.getsourcefile(cls) or "", inspect.getsource(cls)
    except (OSError, TypeError):
        errors.warn(
            f"Couldn't retrieve source code for container of type {cls.__name__}. It won't be checked for correctness "
            "upon loading."
        )
        return None


def write_legacy(write: Callable[[Any], Any], obj: Any, pickle_module: Any, protocol: int) -> None:
    """Write an object in this format."""
    sizes = {"short": 2, "int": 4, "long": 4}  # the numbers that PyTorch has always written
    machine = {"protocol_version": PROTOCOL_VERSION, "little_endian": sys.byteorder == "little", "type_sizes": sizes}
    content, storages = io.BytesIO(), LegacyStorages()
    for each in (MAGIC_NUMBER, PROTOCOL_VERSION, machine):
        pickle_module.dump(each, content, protocol=protocol)
    pickler_of(pickle_module)(content, protocol, storages).dump(obj)
    keys = sorted(storages.contents)
    pickle_module.dump(keys, content, protocol=protocol)
    write(content.getbuffer())
    for key in keys:
        memory, kind = storages.contents[key]._elements(), storages.dtypes[key]
        write(struct.pack("<q", memory.size // kind.itemsize))
        if memory.size:
            write(memoryview(in_little_endian(memory, kind)))


def in_little_endian(memory: Any, kind: _dtypes.dtype) -> Any:
    """Bytes of this machine as a file has them, and the other way round."""
    if sys.byteorder == "little":
        return memory
    return memory.view(f"u{kind.to_real().itemsize}").byteswap().view(np.uint8)


# -- reading ----------------------------------------------------------------------------------------------------------


class AnnouncedStorages:
    """The memory that a pickle speaks of before the file has its content: no more than the file is long."""

    def __init__(self, available: int, restore: Restore) -> None:
        self._available = available
        self._restore = restore
        self.found: dict[Any, TypedStorage] = {}

    def find(self, entry: Any) -> Any:
        """What a pickle refers to: a storage, or the class of a module with its source."""
        if not isinstance(entry, tuple) or not entry:
            raise invalid("reference", entry)
        word = text(entry[0])
        if word == "module" and len(entry) == 4:
            check_source(*entry[1:])
            return entry[1]
        if word != "storage" or len(entry) != 6:
            raise errors.mistake(RuntimeError, f"Unknown saved id type: {word if isinstance(word, str) else '?'}")
        kind, key, location, count, view = dtype_of(entry[1]), entry[2], text(entry[3]), *entry[4:]
        if not isinstance(key, str | bytes) or not isinstance(location, str) or type(count) is not int or count < 0:
            raise invalid("storage", entry)
        if key not in self.found:
            self.found[key] = self._storage(kind, count, location)
        return self.found[key] if view is None else self._part(self.found[key], view)

    def _storage(self, kind: _dtypes.dtype, count: int, location: str) -> TypedStorage:
        size = count * kind.itemsize
        self._available -= size
        if self._available < 0 and not skipping.on:
            raise invalid("size of a storage", f"{size} bytes, more than the file has")
        untyped = self._restore(storage_of(np.zeros(size, np.uint8)), location).untyped()
        untyped.when_filled = []
        return TypedStorage(wrap_storage=untyped, dtype=kind)

    def _part(self, whole: TypedStorage, view: Any) -> TypedStorage:
        """A storage that is a part of another: the oldest files have them."""
        if type(view) is not tuple or len(view) != 3 or not all([type(n) is int and n >= 0 for n in view[1:]]):
            raise invalid("part of a storage", view)
        begin, size = (number * whole.dtype.itemsize for number in view[1:])
        if begin + size > len(whole.untyped()):
            raise invalid("part of a storage", view[1:])
        return TypedStorage(wrap_storage=whole.untyped()[begin : begin + size], dtype=whole.dtype)

    def fill(self, keys: Any, data: bytes, place: int) -> int:
        """Read the content; where it ends."""
        for key in keys if type(keys) is list else []:
            if not isinstance(key, str | bytes) or key not in self.found:
                raise invalid("key of a storage", key)
            storage = self.found[key]
            memory, kind = storage.untyped()._elements(), storage.dtype
            end = place + 8 + memory.size
            if end > len(data):
                first = f"unexpected EOF, expected {end - len(data)} more bytes. The file might be corrupted."
                raise errors.mistake(RuntimeError, first)
            (count,) = struct.unpack_from("<q", data, place)
            if count * kind.itemsize != memory.size:
                raise invalid(
                    "size of a storage", f"{count} elements where {memory.size // kind.itemsize} are announced"
                )
            memory[...] = in_little_endian(np.frombuffer(data, np.uint8, memory.size, place + 8), kind)
            place = end
            for late, source, method in storage.untyped().when_filled or ():
                late.array[...] = getattr(source.detach(), method)().array
            storage.untyped().when_filled = None
        return place


def text(value: Any) -> Any:
    """A word of the format's, which pickles of Python 2 may have as bytes."""
    return value.decode("ascii", "replace") if isinstance(value, bytes) else value


def check_source(cls: Any, file: Any, source: Any) -> None:
    """Warn of a class of the user's that has changed since it was saved."""
    if not file or not source or not isinstance(cls, type):
        return
    now = _own_source(cls)
    if now is not None and now[1] != source:
        errors.warn(
            f"source code of class '{cls.__module__}.{cls.__qualname__}' has changed. you can retrieve the original "
            "source code by accessing the object's source attribute or set `torch.nn.Module.dump_patches = True` and "
            "use the patch tool to revert the changes.",
            SourceChangeWarning,
        )


def load_legacy(file: Any, restore: Restore, unpickle: Unpickle) -> Any:
    """The object at the place where a file stands; the file then stands behind it."""
    start = file.tell()
    data: bytes = file.read()
    if not data:
        raise errors.mistake(EOFError, "Ran out of input", ("file", "there is nothing in it"))
    if data[_TAR[0] :].startswith(_TAR[1]):
        raise errors.mistake(
            RuntimeError,
            "Cannot use ``weights_only=True`` with files saved in the legacy .tar format.",
            ("file", "of before PyTorch 0.2, which leafgrad cannot read"),
            fix="in PyTorch: torch.save(torch.load(path, weights_only=False), path)",
        )
    stream = io.BytesIO(data)
    storages = AnnouncedStorages(len(data), restore)
    if unpickle(stream, nothing_to_find) != MAGIC_NUMBER:
        raise errors.mistake(RuntimeError, "Invalid magic number; corrupt file?", ("file", f"begins with {data[:8]!r}"))
    version = unpickle(stream, nothing_to_find)
    if version != PROTOCOL_VERSION:
        raise errors.mistake(RuntimeError, f"Invalid protocol version: {str(version)[:20]}")
    unpickle(stream, nothing_to_find)  # of the machine: everything in it is the same for all machines now
    result = unpickle(stream, storages.find)
    keys = unpickle(stream, nothing_to_find)
    if not skipping.on:
        file.seek(start + storages.fill(keys, data, stream.tell()))
    return result


def nothing_to_find(entry: Any) -> Any:
    """For pickles that contain no storages."""
    raise pickle.UnpicklingError("a storage where none can be")
