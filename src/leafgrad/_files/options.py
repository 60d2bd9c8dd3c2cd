"""What programs may set for all files that are saved and loaded (`torch.utils.serialization.config`), and whether the
content of tensors is left out."""

from __future__ import annotations

import mmap
import sys
import threading
from enum import Enum
from typing import Any


class LoadEndianness(Enum):
    """The order of bytes in a file that does not say which it has."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class LoadOptions:
    """mmap: map files instead of reading them, where nothing else is said; mmap_flags: privately (2), or so that
    changes go into the file (1)."""

    mmap = False
    endianness: LoadEndianness | None = None
    mmap_flags: int | None = None if sys.platform == "win32" else 2
    calculate_storage_offsets = False  # leafgrad reads where a record is, which costs no time worth saving


class SaveOptions:
    """compute_crc32: with checksums; storage_alignment: of which number the place of each storage is a multiple."""

    compute_crc32 = True
    use_pinned_memory_for_d2h = False  # of GPUs, which leafgrad does not have
    storage_alignment = 64


load = LoadOptions()
save = SaveOptions()


class _Skipping(threading.local):
    on = False


skipping = _Skipping()


class skip_data:
    """skip_data(materialize_fake_tensors=False): a context in which `save` leaves the place of the content of tensors
    empty, and `load` does not read it."""

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self._before = skipping.on
        skipping.on = True

    def __exit__(self, *exception: object) -> None:
        skipping.on = self._before


class set_default_mmap_options:
    """set_default_mmap_options(flags): how `load` maps files, `mmap.MAP_PRIVATE` or
    `mmap.MAP_SHARED`; also as a context."""

    def __init__(self, flags: int) -> None:
        if sys.platform == "win32":
            raise RuntimeError("Changing the default mmap options is currently not supported for Windows")
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, "
                f"but got {flags}"
            )
        self.prev = load.mmap_flags
        load.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        load.mmap_flags = self.prev


def get_default_mmap_options() -> int | None:
    """get_default_mmap_options(): how `load` maps files."""
    return load.mmap_flags


def get_default_load_endianness() -> LoadEndianness | None:
    """get_default_load_endianness(): the order of bytes that is assumed for files that do not say it."""
    return load.endianness


def set_default_load_endianness(endianness: Any) -> None:
    """set_default_load_endianness(endianness): a `LoadEndianness`, or None for that of this machine."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    load.endianness = endianness


def get_crc32_options() -> bool:
    """get_crc32_options(): does `save` write checksums?"""
    return save.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """set_crc32_options(compute_crc32): is `save` to write checksums?"""
    save.compute_crc32 = compute_crc32
