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

from leafgrad import _dtypes, _missing, errors
from leafgrad._files import options
from leafgrad._files.archive import Archive
from leafgrad._files.legacy import load_legacy
from leafgrad._files.locations import Restore, restoring
from leafgrad._files.rebuilding import dtype_of, invalid
from leafgrad._files.restricted import ALLOWED, RestrictedUnpickler, names_allowed_by_user, names_in
from leafgrad._files.unrestricted import unpickled
from leafgrad.ops.shape.storage import TypedStorage, storage_of

MAP_SHARED = 1  # `mmap.MAP_SHARED`, which Windows does not have
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
    weights_only = safely(weights_only, pickle_module)
    if weights_only and pickle_module is not None:
        raise errors.mistake(
            RuntimeError,
            "Can not safely load weights when explicit pickle_module is specified",
            fix="weights_only=False",
        )
    if weights_only and pickle_load_args:
        errors.warn("pickle_load_args only works if `weights_only=False`.")
    mmap = options.load.mmap if mmap is None else mmap
    if isinstance(f, str | os.PathLike) and os.fspath(f).endswith(".safetensors"):
        return tensors_of_safetensors(f, map_location)
    arguments = {"encoding": "utf-8", **pickle_load_args}

    def unpickle(file: io.BytesIO, find: Callable[[Any], Any]) -> Any:
        if weights_only:
            return restricted(file, find, arguments["encoding"])
        return unpickled(file, find, pickle_module or pickle, arguments)

    with opened(f) as file:
        if not is_zip(file):
            if mmap:
                named = f"{f}, " if isinstance(f, str) else ""
                raise errors.mistake(
                    RuntimeError,
                    f"mmap can only be used with files saved with `torch.save({named}"
                    "_use_new_zipfile_serialization=True), please torch.save your checkpoint with this option in order "
                    "to use mmap.",
                )
            return load_legacy(file, restoring(map_location), unpickle)
        if mmap and not isinstance(f, str | os.PathLike):
            raise errors.mistake(ValueError, "f must be a file path in order to use the mmap argument")
        archive = Archive(file)
        refuse_torchscript(archive)
        storages = StoredStorages(archive, mapped(f) if mmap else None, restoring(map_location))
        return unpickle(io.BytesIO(archive.read("data.pkl")), storages.find)


def safely(weights_only: bool | None, pickle_module: Any) -> bool:
    """Is a file to be loaded without running anything in it? By the argument, or by what the environment says."""
    forced, forced_off = _is_on("TORCH_FORCE_WEIGHTS_ONLY_LOAD"), _is_on("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    if forced and forced_off:
        raise errors.mistake(
            RuntimeError,
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set.",
        )
    if forced:
        return True
    if weights_only is not None:
        return weights_only
    if forced_off:
        errors.warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was "
            "not explicitly passed to `torch.load`, forcing weights_only=False."
        )
        return False
    return pickle_module is None


def restricted(file: io.BytesIO, find: Callable[[Any], Any], encoding: str) -> Any:
    """The object in a pickle, of which nothing is run."""
    machine = RestrictedUnpickler(file.getvalue(), find, file.tell(), encoding)
    try:
        result = machine.load()
    except pickle.UnpicklingError as error:
        raise refusal(str(error)) from None
    file.seek(machine.position)
    return result


def tensors_of_safetensors(f: Any, map_location: Any) -> dict[str, Any]:
    """The tensors in a file of safetensors, which is known by its name."""
    if isinstance(map_location, dict) or callable(map_location):
        kind = "dict" if isinstance(map_location, dict) else "callable"
        raise errors.mistake(
            RuntimeError,
            f"Loading safetensors file with {kind} map_location is not supported. Use a device string or torch.device "
            "instead.",
        )
    loader = _missing.part("io").load_safetensors
    try:
        tensors: dict[str, Any] = loader(f, "cpu" if map_location is None else map_location)
    except ImportError as error:
        raise errors.mistake(
            RuntimeError,
            "Attempting to load a safetensors file but safetensors is not installed. Please install safetensors with: "
            "pip install safetensors",
        ) from error
    return tensors


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """get_unsafe_globals_in_checkpoint(f): the names in a file that `load` would refuse, found without loading it."""
    with opened(f) as file:
        if not is_zip(file):
            raise errors.mistake(ValueError, "Expected input to be a checkpoint returned by torch.save")
        archive = Archive(file)
        if "constants.pkl" in archive:
            raise errors.mistake(
                ValueError, "Expected input to be a checkpoint returned by torch.save but got a torchscript checkpoint"
            )
        return sorted(names_in(archive.read("data.pkl")) - set(ALLOWED) - set(names_allowed_by_user()))


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


def is_zip(file: Any) -> bool:
    """Is it an archive, by how it begins?"""
    start = file.tell()
    head = file.read(4)
    file.seek(start)
    return bool(head == b"PK\x03\x04")


def refuse_torchscript(archive: Archive) -> None:
    if "constants.pkl" in archive:
        raise errors.mistake(
            RuntimeError,
            "Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``.",
            ("file", "a program of TorchScript, which leafgrad cannot read"),
        )


def mapped(f: Any) -> _mmap.mmap:
    """A file as memory: read where it is used. Changes are not written back, unless they are to be."""
    shared = options.load.mmap_flags == MAP_SHARED
    with open(f, "r+b" if shared else "rb") as file:
        return _mmap.mmap(file.fileno(), 0, access=_mmap.ACCESS_WRITE if shared else _mmap.ACCESS_COPY)


# -- storages ---------------------------------------------------------------------------------------------------------


class StoredStorages:
    """The memory in a file, read when it is first asked for."""

    def __init__(self, archive: Archive, mapping: _mmap.mmap | None, restore: Restore) -> None:
        self._archive = archive
        self._mapping = mapping
        self._restore: Callable[[Any, str], Any] = restore
        self._found: dict[str, TypedStorage] = {}
        order = archive.read("byteorder") if "byteorder" in archive else assumed_order()
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
        if options.skipping.on:
            return np.zeros(size, np.uint8)
        if self._mapping is not None and size and begin % kind.itemsize == 0 and not self._swapped:
            if options.load.mmap_flags == MAP_SHARED:
                self._archive.drop_checksum(name, self._mapping)
            return np.frombuffer(self._mapping, np.uint8, size, begin)
        memory = np.empty(size, np.uint8)
        self._archive.read_into(name, memory)
        if self._swapped:
            part = kind.to_real().itemsize
            memory.view(f"u{part}").byteswap(inplace=True)
        return memory


def assumed_order() -> bytes:
    """The order of bytes in a file that does not say it: little endian, unless something else was set."""
    chosen = options.load.endianness
    if chosen is options.LoadEndianness.NATIVE:
        return sys.byteorder.encode()
    return b"big" if chosen is options.LoadEndianness.BIG else b"little"
