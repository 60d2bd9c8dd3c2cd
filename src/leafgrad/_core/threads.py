"""Locks, and what each thread has for itself, as `threading` has them. To import that takes half a millisecond, a
fortieth of the start of leafgrad; programs that start threads have imported it anyway."""

from __future__ import annotations

from _thread import RLock, _local, allocate_lock, get_ident

Lock = allocate_lock
local = _local

__all__ = ["Lock", "RLock", "get_ident", "local"]
