"""Keeping memory warm.

A large array is given fresh pages by the operating system, one page fault for every four kilobytes, and gives them
back when it dies. For a computation that makes one array after another that costs more than the arithmetic. So large
arrays have memory of their own (large_memory.h), if that was compiled, and the C library is told to keep freed memory
for the next array. That holds for the whole process, so a program that has settings of its own can forbid it:
LEAFGRAD_KEEP_MEMORY=0 in the environment, before leafgrad is imported.
"""

from __future__ import annotations

import os
import sys

from leafgrad.kernels import NATIVE

if NATIVE:
    from leafgrad.kernels import _loops

KEEP_UP_TO = 1 << 28  # bytes of freed memory at the end of the heap that stay with the process
FROM_HEAP_UP_TO = 1 << 25  # larger arrays than this are always mapped separately; the most that glibc allows


def statistics() -> dict[str, int]:
    """What the C library and large_memory.h have given to the process, and what they keep (glibc only)."""
    if not sys.platform.startswith("linux"):
        return {}
    import ctypes

    names = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")

    class Mallinfo(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in names]

    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except (AttributeError, OSError):
        return {}
    mallinfo.restype = Mallinfo
    found = mallinfo()
    in_use, kept, at_most = _loops.large_arrays() if NATIVE else (0, 0, 0)
    return {
        "in_use": found.uordblks + found.hblkhd + in_use,
        "kept": found.fordblks + kept,
        "kept_at_most": KEEP_UP_TO + at_most,
    }


def align_memory() -> bool:
    """Have NumPy's arrays begin where lines of the cache do, in this thread: see aligned_memory.h. Returns whether they
    do; not if nothing was compiled, if the environment forbids it as it does below, or if NumPy has been given another
    source of memory."""
    return NATIVE and os.environ.get("LEAFGRAD_KEEP_MEMORY") != "0" and _loops.align_memory()


def keep_freed_memory() -> bool:
    """Ask the C library to keep freed memory for reuse. Returns whether it did (glibc only)."""
    if not sys.platform.startswith("linux") or os.environ.get("LEAFGRAD_KEEP_MEMORY") == "0":
        return False
    import ctypes  # NumPy has imported it already

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    trim_threshold, mmap_threshold = -1, -3
    return bool(mallopt(mmap_threshold, FROM_HEAP_UP_TO) and mallopt(trim_threshold, KEEP_UP_TO))
