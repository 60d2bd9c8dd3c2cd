"""How an operation is computed for all samples at once, as its block says it by the attribute `vmap`:

    "kernel"               its own kernel, because NumPy asks a BatchedArray what its functions mean to it: the default
    "elementwise"          element by element: the samples are one more dimension
    "dims"                 one tensor, along the dimensions that its options name: each of them is one further in
    "gather"               an index along one dimension; input, index and source have equally many
    "rows"                 an index that names slices along one dimension
    vmap(batch, *inputs, *options)    a rule of its own, which gets a `Batch`

A rule returns the result, or NotImplemented if this case is for the kernel. Most of them put the samples in front, move
the dimensions in the options one further, and compute the same operation on what is then an array of one level less.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from leafgrad._core.modes import Below
from leafgrad._core.op import Op
from leafgrad._core.tensor import ndarray
from leafgrad.func import batched_array as b
from leafgrad.func import messages, numpy_rules
from leafgrad.func.batched_array import BatchedArray
from leafgrad.func.level_marks import PerSample
from leafgrad.func.many_samples import ManySamples, highest, lined_up, size_at, widened
from leafgrad.kernels.products import product as multiplied

Array = Any
_f32: Final[Any] = np.dtype(np.float32)
_f64: Final[Any] = np.dtype(np.float64)


class Batch:
    """The arrays and options of an operation, of which some hold samples of `level`, the highest one."""

    __slots__ = ("arrays", "below", "level", "op", "options")

    def __init__(self, op: Op, level: int, arrays: Sequence[Array], options: tuple[Any, ...], below: Below) -> None:
        self.op = op
        self.below = below  # what computes the operation on arrays without samples
        self.level = level
        self.arrays = arrays
        self.options = options

    @property
    def size(self) -> int:
        """How many samples there are."""
        size = size_at((*self.arrays, *self.options), self.level)
        assert size is not None
        return size

    def holds(self, *values: Any) -> bool:
        """Are there samples in one of these?"""
        return highest(values) == self.level

    def value(self, array: Array) -> Array:
        """All samples, in front; an array that is the same for all of them is repeated, without copying."""
        return array.value if self.holds(array) else b.spread(array, self.level, self.size)

    def values(self, *arrays: Array) -> list[Array]:
        return [None if x is None else self.value(x) for x in arrays]

    def flat(self, array: Array) -> Array:
        """All samples, each as a vector."""
        return array.value.reshape((array.batch_size, array.size))

    def aligned(self, array: Array, ndim: int) -> Array:
        """All samples, each with `ndim` dimensions for broadcasting; an array that they share stays as it is."""
        return widened(array, ndim) if self.holds(array) else array

    def flat_index(self, index: Array, width: int) -> Array:
        """Indices into each sample, which has `width` elements, as indices into all of them one after the other."""
        at = self.value(index)
        at = np.where(at < 0, at + width, at)
        return at + (np.arange(self.size) * width).reshape((-1,) + (1,) * (at.ndim - 1))

    def take(self, array: Array, index: Array, dim: int) -> Array:
        """np.take, which NumPy does not ask us about if only the index holds samples."""
        return (numpy_rules.take if highest((array, index)) else np.take)(array, index, dim)

    def product(self, left: Array, right: Array) -> Array:
        """The product of two arrays of each sample. The usual ones are of matrices: one call of their kernel for all
        samples, whether each has its own second matrix or all share it."""
        if isinstance(left, ManySamples) and left.level == self.level:
            x, y = left.value, right
            if isinstance(right, ManySamples) and right.level == self.level:
                y = right.value
            kind = x.dtype
            if (
                x.ndim == 3 and type(y) is ndarray and y.dtype is kind and (kind is _f32 or kind is _f64)
                and y.ndim == (2 if y is right else 3)
            ):  # fmt: skip
                return BatchedArray(multiplied(x, y), self.level)
        return numpy_rules.matmul(left, right) if highest((left, right)) else np.matmul(left, right)

    def run(self, arrays: Sequence[Array], options: Sequence[Any]) -> Any:
        """The operation on arrays of one level less."""
        return compute(self.op, arrays, tuple(options), self.below, None)

    def wrap(self, result: Any) -> Any:
        """What was computed of all samples, which are in front, as the result of the operation, or its results."""
        if isinstance(result, (tuple, list)):
            return [BatchedArray(r, self.level) for r in result]
        return BatchedArray(result, self.level)

    def apply(self, arrays: Sequence[Array], options: Sequence[Any]) -> Any:
        return self.wrap(self.run(arrays, options))

    def by_sample(self) -> Any:
        """One sample after the other."""
        n = len(self.arrays)
        return b.by_sample(lambda *args: self.run(args[:n], args[n:]), (*self.arrays, *self.options), {})

    def dynamic_shape(self) -> RuntimeError:
        """The error for an operation whose results would have another shape for each sample."""
        return RuntimeError(messages.DYNAMIC.format(name=self.op.name))


def compute(op: Op, arrays: Sequence[Any], options: tuple[Any, ...], below: Below, out: Any) -> Any:
    """What an operation makes of arrays of which some may be batched."""
    level = 0
    for array in arrays:
        if isinstance(array, ManySamples) and array.level > level:
            level = array.level
    for option in options:  # an index array may be among them
        kind = option.__class__
        if kind is tuple or kind is list or isinstance(option, ManySamples):
            level = max(level, highest(option))
    if not level:
        return below(op, arrays, options, out)
    batch = Batch(op, level, arrays, options, below)
    rule: Any = op.vmap[0]
    if type(rule) is str:
        rule = KINDS[rule]
    if rule is not None:
        result = rule(batch, *arrays, *options)
        if result is not NotImplemented:
            return result
    try:
        return below(op, arrays, options, out)
    except PerSample:
        return sample_by_sample(batch)


def sample_by_sample(batch: Batch) -> Any:
    messages.warn_slow(batch.op.name)
    try:
        return batch.by_sample()
    except ValueError as error:
        if "same shape" in str(error):  # of np.stack
            raise batch.dynamic_shape() from None
        raise


def elementwise(batch: Batch, *args: Any) -> Any:
    if batch.options and highest(batch.options):
        return NotImplemented
    return batch.apply(lined_up(batch.arrays, batch.level), batch.options)


def further(dim: int) -> int:
    """A dimension of a sample as one of all samples: one further from the front, as far from the end."""
    return dim + 1 if dim >= 0 else dim


def along_dims(batch: Batch, x: Array, *args: Any) -> Any:
    """What an option is says its name: `dim` (also with a number behind it) is a dimension, `dims` are several (None
    or left out: all), `shape` is that of the result."""
    if highest(batch.options):
        return NotImplemented
    ndim, value = x.ndim, x.value
    size = value.shape[0]
    if not ndim:  # a number counts as one dimension of size one, which is taken away again
        value = value.reshape((size, 1))
    moved: list[Any] = []
    for name, option in zip(batch.op.vmap[1], batch.options or (None,)):
        if name == "dims":
            dims = range(max(ndim, 1)) if option is None else option
            moved.append(tuple([further(d) for d in dims]))
        elif name == "shape":
            moved.append((size, *option))
        else:
            moved.append(further(option) if name.rstrip("012") == "dim" else option)
    out = batch.run((value,), moved)
    if not ndim:
        out = [o.reshape((size,)) for o in out] if isinstance(out, (tuple, list)) else out.reshape((size,))
    return batch.wrap(out)


def along_index(batch: Batch, x: Array, index: Array, *args: Any) -> Any:
    """The samples are just one more of the dimensions that are not indexed."""
    arrays, (dim, *rest) = batch.arrays, batch.options
    source = arrays[2:] if not is_number(batch, arrays[2:]) else ()
    tensors = (x, index, *source)
    if not x.ndim or any([t.ndim != x.ndim for t in tensors]):
        return NotImplemented
    return batch.apply([*batch.values(*tensors), *arrays[len(tensors) :]], (dim + 1, *rest))


def is_number(batch: Batch, source: Sequence[Array]) -> bool:
    """Does one number stand for all of the source?"""
    return bool(source) and not source[0].ndim and not batch.holds(source)


def along_rows(batch: Batch, x: Array, index: Array, *args: Any) -> Any:
    """One index for all samples: one dimension further. An index for each: the rows of all samples as one."""
    source, (dim, *rest) = batch.arrays[2:], batch.options
    number = is_number(batch, source)
    if not x.ndim or (source and not number and source[0].ndim != x.ndim):
        return NotImplemented
    values = batch.values(x, *([] if number else source))
    numbers = source if number else ()
    if not batch.holds(index):
        return batch.apply((values[0], index, *values[1:], *numbers), (dim + 1, *rest))
    size = batch.size
    index = batch.flat_index(index if index.ndim else index.reshape(1), x.shape[dim]).reshape(-1)
    rows = [np.moveaxis(v, dim + 1, 1) for v in values]
    rows = [v.reshape((v.shape[0] * v.shape[1], *v.shape[2:])) for v in rows]
    out = batch.run((rows[0], index, *rows[1:], *numbers), (0, *rest))
    out = out.reshape((size, out.shape[0] // size if size else 0, *out.shape[1:]))
    return batch.wrap(np.moveaxis(out, 1, dim + 1))


KINDS: dict[Any, Callable[..., Any] | None] = {
    "kernel": None, "elementwise": elementwise, "dims": along_dims, "gather": along_index, "rows": along_rows,
}  # fmt: skip
