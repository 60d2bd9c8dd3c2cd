"""BatchedArray: many arrays of one shape that pass for a single one.

`vmap` runs a function once for all samples. What the function sees of its argument is one sample: the array that a
tensor holds is then a `BatchedArray`, which keeps the samples in one ordinary array, along its first dimension, and
shows the shape of a single one.

    BatchedArray(value of shape (64, 3, 4), level 1)      looks like an array of shape (3, 4)

NumPy asks it, by its two protocols, whenever one of its functions meets it: `__array_ufunc__` lines the samples up and
computes all of them at once; `__array_function__` looks for a rule of `numpy_rules`. So most kernels and gradient
rules run on it unchanged. What cannot be done for all samples at once is done sample by sample.

Maps can be nested. Each has a level, and the value of a BatchedArray may be a BatchedArray of a lower level: the
innermost map is the outermost array. A computation takes off the highest level, and what remains finds the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._core.thread_state import state
from leafgrad.func.level_marks import PerSample, SharedMemory, plain
from leafgrad.func.levels import depth_of
from leafgrad.func.many_samples import ManySamples, highest, lined_up, size_at, widened
from leafgrad.func.messages import CONTROL_FLOW, ESCAPED, IN_PLACE, ITEM, REFUSALS

Array = Any  # an ndarray or a BatchedArray
ALL = slice(None)
RULES: dict[Any, Callable[..., Any]] = {}  # what NumPy's functions do to all samples at once, from `numpy_rules`


class BatchedArray(ManySamples):
    """See above."""

    __slots__ = ()
    __hash__ = object.__hash__

    # -- how it looks: as one sample does, see `ManySamples` -----------------------------------------------------------

    @property
    def itemsize(self) -> int:
        return self.value.itemsize  # type: ignore[no-any-return]

    @property
    def strides(self) -> tuple[int, ...]:
        return self.value.strides[1:] if self.value.shape[0] else self.one_sample().strides  # type: ignore[no-any-return]

    @property
    def flags(self) -> Any:
        return self.one_sample().flags

    @property
    def base(self) -> Any:
        return self.value.base

    def memory(self) -> Any:
        """The ordinary array of all samples of all levels."""
        return self.value.memory() if isinstance(self.value, BatchedArray) else self.value

    @property
    def __array_interface__(self) -> Any:
        raise PerSample("an address in memory")

    def one_sample(self) -> Any:
        """The ordinary array of a single sample: of the first."""
        memory = self.memory()
        levels = memory.ndim - self.ndim
        if 0 in memory.shape[:levels]:
            return np.empty(self.shape, memory.dtype)
        return memory[(0,) * levels + (...,)]

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    # -- NumPy's protocols --------------------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise PerSample("NumPy wants a plain array")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if not state.modes:
            raise RuntimeError(ESCAPED)
        out = options.get("out")
        if ufunc.signature is not None:  # a product of matrices, or the like
            if ufunc not in RULES or method != "__call__" or out is not None:
                raise PerSample(ufunc.__name__)
            return RULES[ufunc](*inputs)
        if method == "at":
            return at(ufunc, *inputs)
        level = highest((inputs, out, options.get("where")))
        if method == "__call__":
            return call_ufunc(ufunc, level, inputs, options)
        if method == "reduce" or method == "accumulate":
            if out is not None and out[0] is not None:
                raise PerSample("a reduction into memory that is there already")
            options = {key: value for key, value in options.items() if value is not None or key == "axis"}
            return reduce(getattr(ufunc, method), level, inputs[0], options, method == "reduce")
        raise PerSample(f"{ufunc.__name__}.{method}")

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not state.modes:
            raise RuntimeError(ESCAPED)
        rule = RULES.get(function)
        if rule is not None:
            return rule(*args, **kwargs)
        return by_sample(function, args, kwargs)

    # -- elements -----------------------------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if is_basic(parts) or is_shiftable(parts):
            return BatchedArray(self.value[(ALL, *parts)], self.level)
        return by_sample(lambda x, k: x[k], (self, parts), {})

    def __setitem__(self, key: Any, new: Any) -> None:
        parts = key if isinstance(key, tuple) else (key,)
        level = highest((self, parts, new))
        if level != self.level:
            raise SharedMemory(IN_PLACE)
        if not (is_basic(parts) or is_shiftable(parts)):
            by_sample(lambda x, k, v: x.__setitem__(k, v), (self, parts, new), {})
            return
        into = (ALL, *parts)
        if isinstance(new, BatchedArray) and new.level == level:
            new = widened(new, self.value[into].ndim - 1)
        self.value[into] = new

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return iter([self[i, ...] for i in range(self.shape[0])])

    def _agreed(self, read: Callable[[Any], Any]) -> Any:
        """What all samples say, if they say the same."""
        if self.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous.")
        samples = self.value if self.batch_size else [np.zeros(self.shape, plain(self.dtype))]  # or an invented one
        found = {read(sample) for sample in samples}
        if len(found) != 1:
            raise PerSample(CONTROL_FLOW if read is bool else ITEM)
        return found.pop()

    def __bool__(self) -> bool:
        if self.size == 1 and isinstance(self.value, np.ndarray):
            if self.value.all():
                return True
            if not self.value.any():
                return False
        return bool(self._agreed(bool))

    def refusal(self, what: str) -> Exception:
        """The error for what a user cannot do with one value for each sample."""
        if what == "deepcopy":
            return NotImplementedError("Cannot access storage of BatchedTensorImpl")
        return RuntimeError(REFUSALS[what])

    def shown(self) -> str:
        """As PyTorch prints it: with the number of maps around as its level."""
        inner = self.value.shown() if isinstance(self.value, BatchedArray) else repr(wrap(self.value))
        lines = "\n".join(["    " + line if line else "" for line in inner.split("\n")])
        return f"BatchedTensor(lvl={depth_of(self.level)}, bdim=0, value=\n{lines}\n)"

    def as_many(self, array: Any) -> BatchedArray:
        """A copy of an array for each sample of this one."""
        value = self.value.as_many(array) if isinstance(self.value, BatchedArray) else array
        return BatchedArray(np.broadcast_to(value, (self.batch_size, *value.shape)).copy(), self.level)

    def placed(self, place: Any, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> BatchedArray:
        """The memory of each sample under another shape and strides, in elements: what `place` does for one array."""
        step = self.value.strides[0] // self.itemsize
        return BatchedArray(place(self.value, (self.batch_size, *size), (step, *stride), offset), self.level)

    def item(self) -> Any:
        return self._agreed(lambda sample: sample.item())

    # -- methods of an array ------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """What other methods and attributes arrays have, the samples have one by one."""
        if hasattr(np.ndarray, name) and not name.startswith("__"):
            raise PerSample(f"ndarray.{name}")
        raise AttributeError(f"'BatchedArray' object has no attribute '{name}'")

    def _made(self, value: Array) -> BatchedArray:
        return BatchedArray(value, self.level)

    def reshape(self, *shape: Any, order: str = "C") -> BatchedArray:
        sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if -1 in sizes:
            rest = math.prod([s for s in sizes if s != -1])
            sizes = tuple([self.size // rest if s == -1 and rest else s for s in sizes])
        return self._made(self.value.reshape((self.batch_size, *sizes)))

    def astype(self, dtype: Any, order: str = "K", copy: bool = True, casting: str = "unsafe") -> BatchedArray:
        return self._made(self.value.astype(plain(np.dtype(dtype)), copy=copy))

    def copy(self, order: str = "C") -> BatchedArray:
        return self._made(self.value.copy(order=order))

    def view(self, dtype: Any = None) -> BatchedArray:
        return self._made(self.value.view() if dtype is None else self.value.view(plain(np.dtype(dtype))))

    def transpose(self, *axes: Any) -> BatchedArray:
        order = tuple(axes[0]) if len(axes) == 1 and isinstance(axes[0], (tuple, list, np.ndarray)) else axes
        order = tuple(range(self.ndim))[::-1] if not order or order == (None,) else order
        return self._made(self.value.transpose((0, *[int(a) % self.ndim + 1 for a in order])))

    def swapaxes(self, first: int, second: int) -> BatchedArray:
        return self._made(self.value.swapaxes(first % self.ndim + 1, second % self.ndim + 1))

    def squeeze(self, axis: Any = None) -> BatchedArray:
        drop = range(self.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        drop = [a % self.ndim for a in drop if axis is not None or self.shape[a] == 1]
        return self.reshape([s for d, s in enumerate(self.shape) if d not in drop])

    def ravel(self, order: str = "C") -> BatchedArray:
        return self.reshape(-1)

    def fill(self, number: Any) -> None:
        self[...] = number

    def conj(self) -> BatchedArray:
        return self._made(self.value.conj())

    def take(self, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
        return np.take(self, indices, axis)

    @property
    def T(self) -> BatchedArray:
        return self.transpose()


# What these methods, and NumPy's functions of the same names, reduce by.
_REDUCTIONS: dict[str, Any] = {
    "sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, "any": np.logical_or,
    "all": np.logical_and,
}  # fmt: skip
_OPERATORS: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "matmul": np.matmul, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift,
}  # fmt: skip
_COMPARISONS: dict[str, Any] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


def _reduction(ufunc: Any) -> Callable[..., Any]:
    def method(
        self: BatchedArray, axis: Any = None, *, dtype: Any = None, out: Any = None, keepdims: Any = False
    ) -> Any:
        return ufunc.reduce(self, axis=axis, dtype=dtype, keepdims=keepdims)

    return method


def _operator(ufunc: Any) -> Callable[[Any, Any], Any]:
    # as with NumPy's arrays, an operation with a tensor is the tensor's
    return lambda a, b: NotImplemented if isinstance(b, TensorBase) else ufunc(a, b)


def _install() -> None:
    for name, ufunc in _REDUCTIONS.items():
        method = RULES[getattr(np, name)] = _reduction(ufunc)
        setattr(BatchedArray, name, method)
    for name, kind in (("int", int), ("index", int), ("float", float), ("complex", complex)):
        setattr(BatchedArray, f"__{name}__", lambda a, f=kind: a._agreed(f))
    for name, ufunc in _OPERATORS.items():
        setattr(BatchedArray, f"__{name}__", _operator(ufunc))
        setattr(BatchedArray, f"__r{name}__", lambda a, b, f=ufunc: f(b, a))
        setattr(BatchedArray, f"__i{name}__", lambda a, b, f=ufunc: f(a, b, out=a))
    for name, ufunc in _COMPARISONS.items():
        setattr(BatchedArray, f"__{name}__", _operator(ufunc))
    for name, ufunc in (("neg", np.negative), ("invert", np.invert), ("abs", np.abs), ("pos", np.positive)):
        setattr(BatchedArray, f"__{name}__", lambda a, f=ufunc: f(a))


_install()

# -- levels -----------------------------------------------------------------------------------------------------------


def spread(array: Any, level: int, size: int) -> Any:
    """The samples of a level, also of an array that is the same for all: that is repeated, without copying."""
    if array.__class__ is BatchedArray and array.level == level:
        return array.value
    array = array if array.__class__ is BatchedArray else np.asarray(array)
    return np.broadcast_to(array, (size, *array.shape))


def spread_all(arrays: list[Any]) -> tuple[list[Any], int]:
    """The samples of the highest level in each of several arrays, and that level."""
    level = highest(arrays)
    size = size_at(arrays, level)
    assert size is not None
    return [spread(x, level, size) for x in arrays], level


# -- computing --------------------------------------------------------------------------------------------------------


def call_ufunc(ufunc: Any, level: int, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """An elementwise function of all samples of a level at once."""
    outs = options.get("out")
    where = options.get("where", True)
    *values, where = lined_up([*inputs, where], level)
    options = {key: plain(value) for key, value in options.items() if key not in ("out", "where")}
    if where is not True:
        options["where"] = where
    if outs is not None and any([o is not None for o in outs]):
        for out in outs:
            if out is not None and highest(out) != level:
                raise SharedMemory(IN_PLACE) if out.__class__ is BatchedArray else PerSample("memory for one sample")
        ufunc(*values, out=tuple([None if o is None else o.value for o in outs]), **options)
        return outs[0] if len(outs) == 1 else outs
    result = ufunc(*values, **options)
    if result.__class__ is tuple:
        return tuple([BatchedArray(r, level) for r in result])
    return BatchedArray(result, level)


def reduce(function: Any, level: int, array: Any, options: dict[str, Any], all_axes: bool) -> Any:
    """A reduction (or accumulation) along dimensions of each sample."""
    ndim = array.ndim
    axis = options.pop("axis", 0)
    options = {key: plain(value) for key, value in options.items()}
    if all_axes:
        axes = range(ndim) if axis is None else [axis] if isinstance(axis, (int, np.integer)) else axis
        return BatchedArray(function(array.value, axis=shifted(axes, ndim), **options), level)
    return BatchedArray(function(array.value, axis=axis % ndim + 1, **options), level)


def shifted(axes: Any, ndim: int) -> tuple[int, ...]:
    """Dimensions of a sample as dimensions of the value."""
    return tuple([int(a) % ndim + 1 for a in axes]) if ndim else ()


def is_basic(parts: tuple[Any, ...]) -> bool:
    """Numbers, slices, None and Ellipsis only: a view."""
    return all([p is None or p is ... or p.__class__ is slice or isinstance(p, (int, np.integer)) for p in parts])


def is_shiftable(parts: tuple[Any, ...]) -> bool:
    """Index arrays, the same for all samples, whose dimensions stay where they are if one is put in front."""
    arrays = [i for i, p in enumerate(parts) if isinstance(p, (np.ndarray, list, int, np.integer))]
    others = [p for p in parts if not (p is None or p is ... or p.__class__ is slice)]
    plain_arrays = all([isinstance(p, (np.ndarray, list, int, np.integer)) for p in others])
    return plain_arrays and len(arrays) == arrays[-1] - arrays[0] + 1


def by_sample(function: Any, args: Any, kwargs: Any) -> Any:
    """A function of each sample of the highest level, one after the other."""
    level = highest((args, kwargs))
    size = size_at((args, kwargs), level) or 0
    results = [function(*sample(args, i, level), **sample(kwargs, i, level)) for i in range(size)]
    if not results:
        results = [function(*sample(args, None, level), **sample(kwargs, None, level))]
        return joined(results, level, empty=True)
    return joined(results, level)


def at(ufunc: Any, into: Array, places: Any, *values: Any) -> None:
    """ufunc.at, which changes `into`."""
    if highest((into, places, values)) != highest(into):
        raise SharedMemory(IN_PLACE) if into.__class__ is BatchedArray else PerSample("memory for one sample")
    by_sample(ufunc.at, (into, places, *values), {})


def sample(values: Any, i: int | None, level: int) -> Any:
    """The i-th sample of everything that has samples; None: an invented one, where there are none."""
    kind = values.__class__
    if kind is BatchedArray:
        if values.level != level:
            return values
        return np.zeros(values.shape, plain(values.dtype)) if i is None else values.value[i, ...]
    if kind is tuple or kind is list:
        return kind([sample(v, i, level) for v in values])
    if kind is dict:
        return {key: sample(v, i, level) for key, v in values.items()}
    return values


def joined(results: list[Any], level: int, empty: bool = False) -> Any:
    """The results of all samples as one."""
    first = results[0]
    if first is None:
        return None
    if isinstance(first, (tuple, list)):
        parts = [joined([r[k] for r in results], level, empty) for k in range(len(first))]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if type(first) in (bool, int, float, str):
        if any([r != first for r in results]):
            raise PerSample("the samples disagree")
        return first
    if empty:
        return BatchedArray(np.empty((0, *first.shape), plain(first.dtype)), level)
    return BatchedArray(np.stack(results), level)
