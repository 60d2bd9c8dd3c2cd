"""load: an object from a file."""

from __future__ import annotations

import io
import mmap as _mmap
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._files.archive import Archive
from leafgrad._files.locations import Restore, restoring
from leafgrad._files.rebuilding import dtype_of, invalid
from leafgrad._files.restricted import RestrictedUnpickler
from leafgrad._files.unrestricted import unpickled
from leafgrad.ops.shape.storage import TypedStorage, storage_of

# How a file of before PyTorch 1.6 begins: a pickle of the number 0x1950a86a20f9469cfc6c.
OLD_FORMAT = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
UNSAFE = "weights_only=False: the file is loaded, and everything in it is run"


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None): the object in a file that `save`
    wrote, or PyTorch. By default only tensors, containers and numbers are made, and nothing in a file is run;
    `weights_only=False` runs whatever the file says."""
    if weights_only is None:
        weights_only = pickle_module is None
        if weights_only and _is_on("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"):
            errors.warn(
                "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was "
                "not explicitly passed to `torch.load`, forcing weights_only=False."
            )
            weights_only = False
    if _is_on("TORCH_FORCE_WEIGHTS_ONLY_LOAD"):
        weights_only = True
    if weights_only and pickle_module is not None:
        raise errors.mistake(
            RuntimeError,
            "Can not safely load weights when explicit pickle_module is specified",
            fix="weights_only=False",
        )
    if weights_only and pickle_load_args:
        errors.warn("pickle_load_args only works if `weights_only=False`.")
    with opened(f) as file:
        check_format(file, f, bool(mmap))
        archive = Archive(file)
        if "constants.pkl" in archive:
            raise errors.mistake(
                RuntimeError,
                "Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``.",
                ("file", "a program of TorchScript, which leafgrad cannot read"),
            )
        storages = StoredStorages(archive, mapped(file) if mmap else None, restoring(map_location))
        content = archive.read("data.pkl")
        if not weights_only:
            return unpickled(content, storages.find, pickle_module or pickle, {"encoding": "utf-8", **pickle_load_args})
        try:
            return RestrictedUnpickler(content, storages.find).load()
        except pickle.UnpicklingError as error:
            raise refusal(str(error)) from None


def _is_on(variable: str) -> bool:
    return os.getenv(variable, "0").lower() in ("1", "y", "yes", "true")


def refusal(reason: str) -> pickle.UnpicklingError:
    """What is said of a file that wanted more than it may."""
    if "was not an allowed global" in reason:
        first = (
            "Weights only load failed. This file can still be loaded, to do so you have two options, do those steps "
            "only if you trust the source of the checkpoint."
        )
        second = "allow what the next line names, and nothing else"
        return pickle.UnpicklingError(f"{first}\n\t(1) {UNSAFE}\n\t(2) {second}\n\tWeightsUnpickler error: {reason}")
    return pickle.UnpicklingError(f"Weights only load failed. Nothing in it was run. WeightsUnpickler error: {reason}")


# -- files ------------------------------------------------------------------------------------------------------------


@contextmanager
def opened(f: Any) -> Iterator[Any]:
    """A path or a file as a file to read from."""
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            yield file
        return
    if not hasattr(f, "read") or not hasattr(f, "seek") or not hasattr(f, "tell"):
        raise errors.mistake(
            AttributeError,
            f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a file that is "
            "seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead.",
        )
    try:
        f.seek(f.tell())
    except io.UnsupportedOperation as error:
        raise io.UnsupportedOperation(
            f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data into a buffer "
            "like io.BytesIO and try to load from it instead."
        ) from None
    yield f


def check_format(file: Any, f: Any, mmap: bool) -> None:
    """Refuse what is no zip archive, and files that cannot be mapped."""
    start = file.tell()
    head = file.read(len(OLD_FORMAT))
    file.seek(start)
    if head.startswith(b"PK\x03\x04"):
        if mmap and not isinstance(f, str | os.PathLike):
            raise errors.mistake(ValueError, "f must be a file path in order to use the mmap argument")
        return
    if not head:
        raise errors.mistake(EOFError, "Ran out of input", ("file", "there is nothing in it"))
    if head == OLD_FORMAT:
        raise errors.mistake(
            RuntimeError,
            "leafgrad reads PyTorch's zip format, and this file is in the one of before PyTorch 1.6",
            fix="in PyTorch: torch.save(torch.load(path), path)",
        )
    raise errors.mistake(RuntimeError, "Invalid magic number; corrupt file?", ("file", f"begins with {head[:8]!r}"))


def mapped(file: Any) -> _mmap.mmap:
    """A file as memory: read where it is used; changes are not written back."""
    return _mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_COPY)


# -- storages ---------------------------------------------------------------------------------------------------------


class StoredStorages:
    """The memory in a file, read when it is first asked for."""

    def __init__(self, archive: Archive, mapping: _mmap.mmap | None, restore: Restore) -> None:
        self._archive = archive
        self._mapping = mapping
        self._restore: Callable[[Any, str], Any] = restore
        self._found: dict[str, TypedStorage] = {}
        order = archive.read("byteorder") if "byteorder" in archive else sys.byteorder.encode()
        if order not in (b"little", b"big"):
            raise errors.mistake(ValueError, "Unknown endianness type: " + order[:20].decode("latin1"))
        self._swapped = order != sys.byteorder.encode()

    def find(self, entry: Any) -> TypedStorage:
        """The storage that a pickle refers to by ("storage", class, key, location, number of elements)."""
        if not isinstance(entry, tuple) or len(entry) != 5:
            raise invalid("storage", entry)
        kind, key, location, count = dtype_of(entry[1]), *entry[2:]
        if not isinstance(key, str) or not isinstance(location, str) or type(count) is not int:
            raise invalid("storage", entry)
        if key not in self._found:
            untyped = storage_of(self._memory(f"data/{key}", kind, count))
            restored = self._restore(untyped, location)
            # as in PyTorch, also where the file has an UntypedStorage
            self._found[key] = TypedStorage(wrap_storage=restored.untyped(), dtype=kind)
        return self._found[key]

    def _memory(self, name: str, kind: _dtypes.dtype, count: int) -> Any:
        begin, size = self._archive.place(name)
        if size != count * kind.itemsize:
            raise invalid("size of a record", f"{name}: {size} bytes for {count} elements of {kind}")
        if self._mapping is not None and size and begin % kind.itemsize == 0 and not self._swapped:
            return np.frombuffer(self._mapping, np.uint8, size, begin)
        memory = np.empty(size, np.uint8)
        self._archive.read_into(name, memory)
        if self._swapped:
            part = kind.to_real().itemsize
            memory.view(f"u{part}").byteswap(inplace=True)
        return memory
