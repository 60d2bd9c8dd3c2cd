"""What a BatchedArray looks like, and which levels are in values: asked several times by every operation of a map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from leafgrad._build import mypyc_attr
from leafgrad._core.tensor import BatchedArrayBase, ndarray
from leafgrad.func.level_marks import SampleShape, levels_of, marked, unmarked

Array = Any  # an ndarray or a BatchedArray

_f32: Final[Any] = np.dtype(np.float32)
_f64: Final[Any] = np.dtype(np.float64)
_MARKED_F32: Final[Any] = marked(_f32)
_MARKED_F64: Final[Any] = marked(_f64)
_sample_shapes: Final[dict[tuple[int, tuple[int, ...]], Any]] = {}  # by level and shape of the value
MOST_SHAPES: Final = 500


@mypyc_attr(allow_interpreted_subclasses=True)
class ManySamples(BatchedArrayBase):
    """Many arrays of one shape, which shows that shape. `value` has the samples along its first dimension. In an
    argument of a mapped function they were along the dimension `place`, for those who ask."""

    value: Array
    level: int
    place: int

    def __init__(self, value: Array, level: int, place: int = 0) -> None:
        kind = value.dtype
        self.value = value if kind is _f32 or kind is _f64 else unmarked(value)
        self.level = level
        self.place = place

    @property
    def shape(self) -> Any:
        whole = self.value.shape
        if type(whole) is not tuple:
            return sample_shape(self.level, whole)
        key = (self.level, whole)
        found = _sample_shapes.get(key)
        if found is None:
            if len(_sample_shapes) >= MOST_SHAPES:  # each map has a level of its own, so old ones are of no use
                _sample_shapes.clear()
            found = _sample_shapes[key] = sample_shape(self.level, whole)
        return found

    @property
    def ndim(self) -> int:
        ndim: int = self.value.ndim
        return ndim - 1

    @property
    def size(self) -> int:
        return math.prod(self.value.shape[1:])

    @property
    def dtype(self) -> Any:
        kind = self.value.dtype
        return _MARKED_F32 if kind is _f32 else _MARKED_F64 if kind is _f64 else marked(kind)

    @property
    def batch_size(self) -> int:
        size: int = self.value.shape[0]
        return size


def sample_shape(level: int, whole: Any) -> Any:
    made = SampleShape(whole[1:])
    made.levels = ((level, whole[0]), *levels_of(whole))
    return made


# -- levels -----------------------------------------------------------------------------------------------------------


def highest(values: Any) -> int:
    """The highest level among values, in tuples, lists and dictionaries as well; 0 if there is none."""
    kind = values.__class__
    if kind is ndarray or kind is int:
        return 0
    if isinstance(values, ManySamples):
        return values.level
    level = 0
    if kind is tuple or kind is list:
        for value in values:
            level = max(level, highest(value))
    elif kind is dict:
        for value in values.values():
            level = max(level, highest(value))
    return level


def size_at(values: Any, level: int) -> int | None:
    """How many samples a level has."""
    kind = values.__class__
    if kind is ndarray:
        return None
    if isinstance(values, ManySamples):
        return values.batch_size if values.level == level else size_at(values.value, level)
    if kind is dict:
        values = list(values.values())
    elif kind is not tuple and kind is not list:
        return None
    for value in values:
        size = size_at(value, level)
        if size is not None:
            return size
    return None


def widened(array: ManySamples, ndim: int) -> Any:
    """The value of an array with as many dimensions for each sample as broadcasting needs."""
    value = array.value
    missing: int = ndim + 1 - value.ndim
    return value if missing <= 0 else value.reshape((value.shape[0],) + (1,) * missing + value.shape[1:])


def lined_up(values: Sequence[Any], level: int) -> list[Any]:
    """Arrays so that broadcasting them keeps the samples of a level apart."""
    ndim = 0
    for v in values:
        if type(v) is ndarray or isinstance(v, ManySamples) or hasattr(v, "ndim"):
            own: int = v.ndim
            ndim = max(ndim, own)
    return [widened(v, ndim) if isinstance(v, ManySamples) and v.level == level else v for v in values]
