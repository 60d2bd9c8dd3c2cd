"""Memory that other libraries hand out in DLPack's capsules."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._dtypes import from_numpy_dtype


def shown_by_dlpack(source: Any) -> Any:
    """An array on the memory of another library's."""
    handed_out = HandedOut(source)
    array = np.from_dlpack(handed_out)
    from_numpy_dtype(array.dtype)  # which names the dtypes that there are none of
    if array.flags.writeable or (handed_out.is_versioned and numpy_reads_flags()):
        return array
    # Old capsules do not say whether their memory may be written to. NumPy takes them for constants, PyTorch does not.
    return np.asarray(Writable(array))


def numpy_reads_flags() -> bool:
    """Does NumPy look whether memory may be written to? Before version 2.2 it took all of it for constants."""
    return bool(np.from_dlpack(np.zeros(1)).flags.writeable)


class Capsule:
    """A bare DLPack capsule as an object that hands it out, which is what NumPy asks for."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # the CPU


class HandedOut:
    """An object with a `__dlpack__`, and which kind of capsule it has handed out."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.is_versioned = False

    def __dlpack__(self, **options: Any) -> Any:
        try:
            capsule = self.source.__dlpack__(**options)
        except TypeError:  # it does not know the options of newer versions
            capsule = self.source.__dlpack__()
        self.is_versioned = '"dltensor_versioned"' in repr(capsule)
        return capsule

    def __dlpack_device__(self) -> Any:
        return self.source.__dlpack_device__()


class Writable:
    """The memory of an array, which may be written to."""

    def __init__(self, array: Any) -> None:
        self.array = array  # holds the memory
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}
