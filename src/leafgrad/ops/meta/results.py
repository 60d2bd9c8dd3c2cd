"""What an operation makes of arrays without data: the shape, the strides and the dtype of its result.

A block says by `meta` how that is found:

    meta = "kernel"                  by the kernel itself, which makes a view
    meta = "refused"                 not at all: it depends on the data
    meta(*inputs, *options)          a function that returns the shape of the result, an array of its shape and dtype,
                                     or a list of these; NotImplemented where one of the other ways is to be taken

Where it says nothing, its batching rule tells which dimensions have nothing to do with each other. Then the kernel runs
on two elements of each (`elementwise`), or along the dimensions that its options name (`along_dims`). What remains is
computed on zeros of the true shape, which costs what the operation costs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.function import CallNode
from leafgrad._core.modes import Below, Mode, Rule, switches
from leafgrad._core.node import Node
from leafgrad._core.op import Op
from leafgrad._core.overrides import handling
from leafgrad._core.tensor import TensorBase, links, wrap
from leafgrad._core.thread_state import every_thread, state
from leafgrad._layouts import in_common_order
from leafgrad._missing import part
from leafgrad.ops.meta.arrays import MetaArray, computing, in_order_of, laid_out, no_data, no_item, plain
from leafgrad.ops.registry import registry

Array = Any
MOST_ELEMENTS = 2**30  # of an array whose operation is computed on zeros
WITH_STRIDES = 2**22  # elements up to which these zeros lie in memory as the tensor does
FEW = 64  # elements of a dimension that need not be made smaller


class Meta(Mode):
    """The mode that is on while a public function runs on tensors without data."""

    wants_tensors = True

    def execute(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        if isinstance(out, MetaArray):
            for array in arrays if op is links.assign else ():
                if broadcast([array.shape, out.shape]) != out.shape:
                    raise ValueError(f"could not broadcast {array.shape} into {out.shape}")
            return out
        if not any([x.__class__ is MetaArray for x in arrays]) and not contains(options):
            return below(op, arrays, options, out)
        if out is not None:
            raise no_data()
        return result_of(op, arrays, options, below)

    def run_rule(self, node: Node, g: Any, saved: Any, inputs: Any, below: Rule) -> Sequence[Any]:
        """The gradients of a node. Where its rule looks at values they are made up, unless they are to be recorded: a
        gradient has the form of the value that it belongs to."""
        try:
            return below(node, g, saved, inputs)
        except (AttributeError, NotImplementedError, RuntimeError, TypeError):
            if state.recording or isinstance(node, CallNode) or node.op.name not in registry:
                raise
        forms = [edge.array if isinstance(edge, TensorBase) else edge for edge in inputs]
        return [None if form is None else wrap(MetaArray.new(form.shape, form.dtype)) for form in forms]


@contextlib.contextmanager
def without_data() -> Iterator[None]:
    """The mode, under all others that are on in this thread."""
    mode = Meta()
    state.modes.insert(0, mode)
    with every_thread:
        switches.modes += 1
    state.refresh()
    before, handling.inside = handling.inside, links.meta_call
    try:
        yield
    finally:
        handling.inside = before
        mode.__exit__()


def contains(value: Any) -> bool:
    """Is there an array without data in this?"""
    if value.__class__ is tuple or value.__class__ is list:
        return any([contains(each) for each in value])
    return value.__class__ is MetaArray


def result_of(op: Op, arrays: Sequence[Any], options: tuple[Any, ...], below: Below) -> Any:
    entry: Any = registry.get(op.name)
    rule: Any = None if entry is None else entry.meta
    if rule == "kernel":
        return below(op, arrays, options, None)
    if rule == "refused":
        raise depends_on_data(entry.aten_function)
    if callable(rule):
        made = rule(*arrays, *options)
        if made is not NotImplemented:
            kind = next(x for x in arrays if x is not None).dtype
            return [of_shape(m, kind) for m in made] if isinstance(made, list) else of_shape(made, kind)
    if not contains(options):
        way = {"elementwise": elementwise, "dims": along_dims}.get(op.vmap[0])
        found = NotImplemented if way is None else way(op, arrays, options, below)
        if found is not NotImplemented:
            return found
    return on_zeros(op, arrays, options, below)


def of_shape(made: Any, kind: Any) -> Any:
    """What a rule of a block has returned: a shape, or an array of the shape and dtype of the result."""
    return MetaArray.new(made.shape, made.dtype) if isinstance(made, np.ndarray) else MetaArray.new(made, kind)


def depends_on_data(aten: str) -> Exception:
    first = (
        f"aten::{aten}: attempted to run this operator with Meta tensors, but there was no fake impl or "
        "Meta kernel registered."
    )
    return errors.mistake(NotImplementedError, first, ("why", "the shape of the result depends on the data"))


# -- by kinds of operations -------------------------------------------------------------------------------------------


def elementwise(op: Op, arrays: Sequence[Any], options: tuple[Any, ...], below: Below) -> Any:
    """The dtype is that of one element's result; the shapes are broadcast."""
    small = [None if x is None else sample(x, [min(n, 2) for n in x.shape], 1) for x in arrays]
    found = below(op, small, options, None)
    shape = broadcast([x.shape for x in arrays if x is not None])
    results = found if isinstance(found, (tuple, list)) else [found]
    if not all([isinstance(r, (np.ndarray, np.generic)) and r.ndim == len(shape) for r in results]):
        return NotImplemented
    if op.follows_layout and len(results) == 1:
        results = [in_common_order(small, np.asarray(results[0]))]
    made = [enlarged(np.asarray(r), shape) for r in results]
    return made if isinstance(found, (tuple, list)) else made[0]


def along_dims(op: Op, arrays: Sequence[Any], options: tuple[Any, ...], below: Below) -> Any:
    """The other dimensions than those in the options have no part in it: one element of each will do. Of a long one
    that has, two short ones tell whether the result keeps its size."""
    named = named_dims(op.vmap[1], options, arrays[0].ndim) if len(arrays) == 1 else None
    if not named:
        return NotImplemented
    shape = arrays[0].shape
    long = [d for d in named if shape[d] > FEW]
    found: list[Any] = []
    tried: list[list[int]] = []
    for first, step in ((FEW + 1, 1), (2 * FEW, 2)) if long else ((0, 0),):
        sizes = [shape[d] if d in named else min(n, 2) for d, n in enumerate(shape)]
        for place, d in enumerate(long):
            sizes[d] = first + step * place
        try:
            results = below(op, (sample(arrays[0], sizes),), options, None)
        except Exception:
            return NotImplemented  # for what the true shape has to say
        found.append(results)
        tried.append(sizes)
    made = []
    many = isinstance(found[0], (tuple, list))
    for each in zip(*found, strict=True) if many else [tuple(found)]:
        if not all([isinstance(r, (np.ndarray, np.generic)) for r in each]):
            return NotImplemented
        whole = restored(shape, named, tried, [r.shape for r in each])
        if whole is None:
            return NotImplemented
        made.append(enlarged(np.asarray(each[0]), whole))
    return made if many else made[0]


def named_dims(names: Sequence[str], options: tuple[Any, ...], ndim: int) -> list[int]:
    """The dimensions that options name, see `along_dims` in leafgrad/func/batching_rules.py."""
    dims: list[int] = []
    for name, option in zip(names, options or (None,)):
        if name == "dims":
            dims += range(ndim) if option is None else [d % ndim for d in option] if ndim else []
        elif name == "shape":
            return []
        elif name.rstrip("012") == "dim" and ndim and option.__class__ is int:
            dims.append(option % ndim)
    return dims


def restored(
    shape: tuple[int, ...], named: list[int], tried: list[list[int]], found: list[tuple[int, ...]]
) -> tuple[int, ...] | None:
    """The shape of a result, of those that smaller arrays have: all dimensions are there, or all but the named ones."""
    if len(found[0]) == len(shape) - len(set(named)):
        return tuple([n for d, n in enumerate(shape) if d not in named])
    if len(found[0]) != len(shape):
        return None
    sizes = []
    for d, n in enumerate(shape):
        small, got = [each[d] for each in tried], [each[d] for each in found]
        if d not in named:
            if got != small:
                return None
            sizes.append(n)
        elif got == small:
            sizes.append(n)
        elif len(set(got)) == 1:
            sizes.append(got[0])
        else:
            return None
    return tuple(sizes)


# -- on zeros ---------------------------------------------------------------------------------------------------------


def on_zeros(op: Op, arrays: Sequence[Any], options: tuple[Any, ...], below: Below) -> Any:
    """The form of what the operation makes of zeros."""
    given = filled([*arrays, *options])
    count = len(arrays)
    result = below(op, given[:count], tuple(given[count:]), None)
    if op.follows_layout and isinstance(result, np.ndarray):
        result = in_common_order(given[:count], result)
    return emptied(result)


def filled(value: Any) -> Any:
    """The same with zeros in place of arrays without data."""
    if value.__class__ is MetaArray:
        return zeros(value)
    if value.__class__ in (tuple, list):
        return value.__class__([filled(each) for each in value])
    if value.__class__ is dict:
        return {key: filled(each) for key, each in value.items()}
    return value


def zeros(array: MetaArray) -> Any:
    kind = plain(array.dtype)
    if array.size > MOST_ELEMENTS:
        raise errors.mistake(
            NotImplementedError,
            f"leafgrad finds the shape of this operation's result by computing it, which would take too long for "
            f"{array.size} elements",
        )
    if array.size > WITH_STRIDES or not array.size:
        return np.broadcast_to(np.zeros((), kind), array.shape)
    memory = np.zeros((array.nbytes_reached() + array.itemsize - 1) // array.itemsize, kind)
    return np.lib.stride_tricks.as_strided(memory, array.shape, array.strides)


def emptied(value: Any) -> Any:
    """The form of a result: an array without data for each array."""
    if isinstance(value, (np.ndarray, np.generic)):
        return MetaArray.like(value)
    if value.__class__ in (tuple, list):
        return value.__class__([emptied(each) for each in value])
    return value


def sample(array: Any, shape: Sequence[int], value: int = 0) -> Any:
    """Numbers in the dtype of an array, in another shape but in the same order in memory."""
    kind = plain(array.dtype)
    if array.flags.c_contiguous:
        return np.full(tuple(shape), value, kind)
    order = sorted(range(array.ndim), key=lambda d: -array.strides[d])
    made = np.full([shape[d] for d in order], value, kind).transpose(np.argsort(order))
    expanded = [0 if step == 0 and n > 1 else own for step, n, own in zip(array.strides, array.shape, made.strides)]
    return np.lib.stride_tricks.as_strided(made, made.shape, expanded)


def enlarged(small: Any, shape: Sequence[int]) -> MetaArray:
    """A result of another shape than that of smaller arrays, in the same order in memory."""
    if small.flags.c_contiguous:
        return MetaArray.new(shape, small.dtype)
    return laid_out(shape, small.dtype, sorted(range(small.ndim), key=lambda d: -small.strides[d]))


def broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape of what is computed of arrays of these shapes, element by element."""
    result: list[int] = [1] * max([len(shape) for shape in shapes], default=0)
    for shape in shapes:
        for place, size in enumerate(shape[::-1], 1):
            if size != 1:
                if result[-place] not in (1, size):
                    raise ValueError(f"shapes cannot be broadcast: {', '.join(map(str, shapes))}")
                result[-place] = size
    return tuple(result)


# -- NumPy's functions ------------------------------------------------------------------------------------------------


def numpy_result(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What a function or method of NumPy makes of arrays without data."""
    if function in OF_NUMPY:
        return OF_NUMPY[function](*args, **kwargs)
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    out = out[0] if isinstance(out, tuple) else out
    if out is not None:
        if not isinstance(out, MetaArray):
            raise no_data()
        return out
    if isinstance(function, np.ufunc) and function.signature is None:
        operands = [a if isinstance(a, (MetaArray, np.ndarray)) else np.asarray(a) for a in args]
        small = [
            sample(a, (1,) * a.ndim) if isinstance(x, (MetaArray, np.ndarray)) else x for a, x in zip(operands, args)
        ]
        found = function(*small, **{key: plain(value) for key, value in kwargs.items() if key != "where"})
        shape = broadcast([a.shape for a in operands])
        if isinstance(found, tuple):
            return tuple([in_order_of(operands, shape, each.dtype) for each in found])
        return in_order_of(operands, shape, found.dtype)
    result = function(*filled(list(args)), **{key: plain(value) for key, value in filled(kwargs).items()})
    if isinstance(result, (bool, int, float, complex)) and not isinstance(result, np.generic):
        raise no_item()
    return emptied(result)


def copied_to(dst: Any, src: Any, casting: str = "", where: Any = True) -> None:
    """np.copyto."""
    if not isinstance(dst, MetaArray):
        raise no_data()


def of_same_shape(x: Any, *args: Any, **options: Any) -> Any:
    """np.zeros_like and its relatives."""
    kind = next((each for each in args if isinstance(each, (np.dtype, type))), options.get("dtype"))
    shape = options.get("shape")
    kept = options.get("order", "K") == "K" and "C" not in args and shape is None
    kind = x.dtype if kind is None else kind
    return in_order_of((x,), x.shape, kind) if kept else MetaArray.new(x.shape if shape is None else shape, kind)


def moved(x: Any, source: Any, destination: Any) -> Any:
    """np.moveaxis."""
    places = [
        [d % x.ndim for d in (each if isinstance(each, (tuple, list)) else (each,))] for each in (source, destination)
    ]
    order = [d for d in range(x.ndim) if d not in places[0]]
    for to, what in sorted(zip(places[1], places[0])):
        order.insert(to, what)
    return x.transpose(order)


def with_dims(x: Any, axis: Any) -> Any:
    """np.expand_dims."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = x.ndim + len(axes)
    new = {a % ndim for a in axes}
    return x[tuple([None if d in new else slice(None) for d in range(ndim)])]


def counted(x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """np.count_nonzero."""
    if axis is None and not keepdims:
        raise no_item()
    return emptied(np.count_nonzero(zeros(x), axis, keepdims=keepdims))


def refused(*args: Any, **kwargs: Any) -> Any:
    raise part("ops.index.masks").nonzero.meta(None)


OF_NUMPY: dict[Any, Callable[..., Any]] = {
    np.copyto: copied_to, np.empty_like: of_same_shape, np.zeros_like: of_same_shape, np.ones_like: of_same_shape,
    np.full_like: of_same_shape, np.transpose: lambda x, axes=None: x.transpose(axes),
    np.swapaxes: lambda x, a, b: x.swapaxes(a, b), np.squeeze: lambda x, axis=None: x.squeeze(axis),
    np.reshape: lambda x, shape, **options: x.reshape(shape), np.ravel: lambda x, order="C": x.reshape(-1),
    np.moveaxis: moved, np.expand_dims: with_dims,
    np.broadcast_to: lambda x, shape, **options: x.expanded((shape,) if isinstance(shape, int) else shape),
    np.may_share_memory: lambda a, b: getattr(a, "memory", a) is getattr(b, "memory", b),
    np.shares_memory: lambda a, b: getattr(a, "memory", a) is getattr(b, "memory", b),
    np.shape: lambda x: x.shape, np.ndim: lambda x: x.ndim, np.size: lambda x: x.size,
    np.broadcast_arrays: lambda *xs: tuple([np.broadcast_to(x, broadcast([y.shape for y in xs])) for x in xs]),
    np.diagonal: lambda x, offset=0, axis1=0, axis2=1: x.diagonal(offset, axis1, axis2),
    np.nonzero: refused, np.flatnonzero: refused, np.argwhere: refused, np.unique: refused,
    np.count_nonzero: counted,
    np.result_type: lambda *xs: np.result_type(*[plain(x.dtype) if isinstance(x, MetaArray) else x for x in xs]),
}  # fmt: skip

computing.append(numpy_result)
