"""What storages are made of: memory and its owners, numbers in the bytes of buffers."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._dtypes import dtype as Dtype


def owners(array: Any) -> list[Any]:
    """What an array lies in: the arrays and buffers that it is a view of, up to the memory itself."""
    found = [array]
    while isinstance(found[-1], (np.ndarray, memoryview)):
        found.append(found[-1].base if isinstance(found[-1], np.ndarray) else found[-1].obj)
    return found


def from_bytes(buffer: Any, byte_order: str, count: int, offset: int, kind: Dtype) -> Any:
    if byte_order not in ("native", "little", "big"):
        raise ValueError(f"invalid byte_order '{byte_order}' (expected 'native', 'big' or 'little')")
    order: Any = {"native": "=", "little": "<", "big": ">"}[byte_order]
    return np.frombuffer(buffer, kind.np.newbyteorder(order), count, offset).astype(kind.np)


def warn_of_typed() -> None:
    """PyTorch's warning that storages with a dtype will go, once."""
    errors.warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
        "class. This should only matter to you if you are using storages directly.  To access UntypedStorage directly, "
        "use tensor.untyped_storage() instead of tensor.storage()"
    )
