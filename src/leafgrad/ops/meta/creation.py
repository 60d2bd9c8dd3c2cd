"""New arrays without data, and arrays with memory in their form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad._core.op import GradientRules, Op
from leafgrad._core.recorder import record
from leafgrad._core.tensor import in_own_class, is_meta, with_layout_noted, wrap
from leafgrad._core.thread_state import state
from leafgrad._device import memory_format, preserve_format
from leafgrad._layouts import order_of
from leafgrad.ops.meta.arrays import MetaArray, laid_out, made_like, no_data, plain


def made(make: Callable[..., Any], args: tuple[Any, ...], kind: Any, form: tuple[Any, ...]) -> MetaArray:
    """What `make(*args, kind)` would return; `form` is its shape, perhaps with its strides, if that is known. The shape
    may also be the first argument. Otherwise it is made, and what is in it forgotten."""
    if form:
        shape, *strides = form
        return MetaArray.new(shape, kind, [s * kind.itemsize for s in strides[0]] if strides else None)
    if args and isinstance(args[0], tuple):
        wanted = next((each for each in args if isinstance(each, memory_format)), None)
        if wanted is preserve_format:
            raise RuntimeError("unsupported memory format Preserve")
        order = range(len(args[0])) if wanted is None else order_of(len(args[0]), wanted)
        return laid_out(args[0], kind, list(order))
    return MetaArray.like(make(*args, kind))


def allocated(array: MetaArray) -> Any:
    """An array with memory of its own, whose values are not set, in the form of one without data."""
    kind = plain(array.dtype)
    if not array.size:
        return np.empty(array.shape, kind)
    memory = np.empty(array.nbytes_reached() // array.itemsize, kind)
    return np.ndarray(array.shape, kind, memory, 0, array.strides)


def moved(t: Any, dtype: Any = None, wanted: Any = None) -> Any:
    """A tensor of the form of another, without data; that itself, if it is one already and nothing else is wanted."""
    if is_meta(t.array) and (dtype is None or dtype.np == t.array.dtype) and wanted is None:
        return t
    made = with_layout_noted(wrap(made_like(t.array, None if dtype is None else dtype.np, wanted)))
    if t.requires_grad and state.recording:
        return with_layout_noted(in_own_class(record(to_meta, (t,), (t.array,), (), made.array)))
    return made


def no_gradient(g: Any, saved: Any, inputs: Any) -> Any:
    raise no_data()


# What is recorded when a tensor loses its data: its gradient would have none either.
to_meta = Op("to_meta", "ToCopyBackward0", MetaArray.like, GradientRules(no_gradient, lambda mask: ()))


def leaf(t: Any) -> Any:
    """A leaf of the form of a new tensor, without data."""
    return moved(t.detach()).requires_grad_(t.requires_grad)
