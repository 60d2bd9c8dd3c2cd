"""How one tells arrays that hold many samples: by the shape, by the dtype object, and by what they refuse."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

Levels = tuple[tuple[int, int], ...]  # (level, number of samples), the highest first


class PerSample(RuntimeError):
    """The samples have to be computed one by one: they want different things, or NumPy cannot be told about them."""

    def __init__(self, why: str) -> None:
        super().__init__(
            why if why.startswith("vmap: ") else f"vmap: this cannot be done for all samples at once: {why}"
        )


class SharedMemory(RuntimeError):
    """Values of many samples do not fit into memory that is the same for all."""


class SampleShape(tuple[int, ...]):
    """The shape of a sample. Nodes keep the shape of their result, and so know which levels that had."""

    levels: Levels = ()


def levels_of(shape: Any) -> Levels:
    """The levels of a result with this shape, or of several with these shapes."""
    if shape.__class__ is SampleShape:
        return shape.levels
    if shape and isinstance(shape[0], tuple):
        return tuple(dict.fromkeys([pair for one in shape for pair in levels_of(one)]))
    return ()


@functools.cache
def marked(kind: Any) -> Any:
    """A dtype equal to, but not the same object as, NumPy's own: so shortcuts that ask `kind is float32` leave a
    BatchedArray alone, and cost nothing where there is none."""
    return np.dtype(kind, metadata={"batched": True})


def unmarked(array: Any) -> Any:
    """An ordinary array under NumPy's own dtype object."""
    kind = array.dtype
    if kind.metadata is None or array.__class__ is not np.ndarray:
        return array
    return array.view(plain(kind))


def plain(kind: Any) -> Any:
    """NumPy's own object for a dtype."""
    return kind if getattr(kind, "metadata", None) is None else np.dtype(kind.type)
