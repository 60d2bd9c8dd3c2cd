"""The argument `out=`: results written into a tensor that is already there.

A block says that its function takes it (`out = True`); no kernel knows about it. What looks at the arguments
(leafgrad/ops/arguments.py) calls `into_out`: the result is computed as always, then written into `out`, whose shape it
takes if need be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.inplace import assign
from leafgrad._core.modes import about_to_change
from leafgrad._core.tensor import TensorBase, conjugate_behind, is_batched, with_layout_noted
from leafgrad._core.thread_state import shared_modes, state
from leafgrad._dtypes import can_cast, dtype, from_numpy_dtype

# What functions that convert nothing say of an `out` of another dtype. The first is what `out = True` means.
EXACT = "Expected out tensor to have dtype {wanted.cpp}, but got {given.cpp} instead"


class Castable(str):
    """What functions say that convert their result to the dtype of `out`, of one that cannot hold it."""

    error: type[Exception] = RuntimeError

    def allows(self, source: dtype, target: dtype) -> bool:
        return can_cast(source, target)


class SameKind(Castable):
    """What functions say that convert their result to another precision only."""

    def allows(self, source: dtype, target: dtype) -> bool:
        return source.category == target.category


class Elementwise(str):
    """What functions say that go through all operands element by element: `out` may be one of them, but not lie across
    one."""


class CastableElementwise(Castable, Elementwise):
    """The same for functions that convert their result."""


class CastableOfTensors(CastableElementwise):
    """What functions say that convert their result if arguments beside the first are tensors, and nothing otherwise."""


class Apart(str):
    """What functions say that take elements from anywhere, so that `out` must not share memory with what they read."""


class CastableApart(Castable, Apart):
    """The same for functions that convert their result."""


class Computed(str):
    """What functions say that compute in the dtype of `out`, if they are told to compute in another one."""


CASTS = Castable("result type {wanted.alias} can't be cast to the desired output type {given.alias}")
ELEMENTWISE = CastableElementwise(CASTS)
SAME_DTYPE = Elementwise("Found dtype {given.alias} but expected {wanted.alias}")
CASTS_OF_TENSORS = CastableOfTensors(CASTS)
COMPUTED = Computed(EXACT)
EXACT_AND_APART = Apart(EXACT)


def castable(function: str, result: str = "result") -> Castable:
    return Castable(
        f"{function}: Expected {result} to be safely castable from {{wanted.alias}} dtype, but got {result} with dtype "
        "{given.alias}"
    )


def into_out(
    name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], out: Any, refusal: Any = True
) -> Any:
    """The results of a function, written into `out`. `refusal` is what is said of dtypes of `out` that do not fit: by
    all results, or each of them."""
    targets = out if isinstance(out, (tuple, list)) else (out,)
    if not all([isinstance(t, TensorBase) for t in targets]):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    check_no_gradient(name, [*args, *kwargs.values(), *targets])
    if kwargs.get("as_tuple"):
        raise RuntimeError(f"{name} does not support the out kwarg when as_tuple is True")
    if isinstance(refusal, Computed) and kwargs.get("dtype") is None:
        kwargs = {**kwargs, "dtype": from_numpy_dtype(targets[0].array.dtype)}
    if isinstance(refusal, CastableOfTensors):
        if not any([isinstance(each, TensorBase) for each in (*args[1:], *kwargs.values())]):
            refusal = SAME_DTYPE
    result = function(*args, **kwargs)
    if isinstance(result, tuple) != isinstance(out, (tuple, list)) or (
        isinstance(result, tuple) and len(result) != len(targets)
    ):
        count = len(result) if isinstance(result, tuple) else 1
        raise TypeError(f"{name}(): argument 'out' must hold as many tensors as there are results, here {count}")
    results = result if isinstance(result, tuple) else (result,)
    said = refusal if isinstance(refusal, tuple) else (refusal,) * len(results)
    read = tensors_in([*args, *kwargs.values()])
    for target, value, words in zip(targets, results, said):
        source, own = from_numpy_dtype(value.array.dtype), from_numpy_dtype(target.array.dtype)
        if source is not own and not (isinstance(words, Castable) and words.allows(source, own)):
            text = EXACT if words is True else words
            raise errors.mistake(getattr(words, "error", RuntimeError), text.format(wanted=source, given=own))
        if isinstance(words, Apart):
            check_overlap(target.array, target.version, read, elsewhere=True)
        elif isinstance(words, Elementwise) and value.array.shape == target.array.shape:
            check_overlap(target.array, target.version, read, value.array.shape)
        write_out(name, target, value.array)
    return type(result)(targets) if isinstance(result, tuple) else out


def tensors_in(values: list[Any]) -> list[TensorBase]:
    """The tensors among arguments, also those in lists."""
    lists = [value if isinstance(value, (tuple, list)) else (value,) for value in values]
    return [value for each in lists for value in each if isinstance(value, TensorBase)]


def check_no_gradient(name: str, values: list[Any]) -> None:
    """Writing into `out` cannot be differentiated, so nothing involved may ask for it."""
    for value in values:
        if isinstance(value, (tuple, list)):
            check_no_gradient(name, list(value))
        elif isinstance(value, TensorBase) and state.recording and wants_gradient(value):
            raise RuntimeError(
                f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
                "arguments requires grad."
            )
        elif isinstance(value, TensorBase) and shared_modes and state.forward_mode and has_tangent(value):
            raise NotImplementedError(
                f"Trying to use forward AD with {name}_out that does not support it because it is an out= function"
            )


def wants_gradient(t: TensorBase) -> bool:
    """Does it require grad, or the tensor that it is a view of?"""
    view = None if t.rare is None else t.rare.view
    return t.needs_grad or (view is not None and view.base.needs_grad)


def has_tangent(t: TensorBase) -> bool:
    """Does forward mode know a derivative of this tensor, or of what it is a view of?"""
    rare = t.rare
    if rare is None:
        return False
    base = None if rare.view is None else rare.view.base.rare
    return bool(rare.tangents) or (base is not None and bool(base.tangents))


def write_out(name: str, out: TensorBase, array: Any) -> Any:
    """Write a result into `out`: the dtype must be able to hold it; another shape is taken over, with a warning."""
    source, target = from_numpy_dtype(array.dtype), from_numpy_dtype(out.array.dtype)
    if not can_cast(source, target):
        raise RuntimeError(f"result type {source.alias} can't be cast to the desired output type {target.alias}")
    if out.array.size and out.array.shape != array.shape:
        errors.warn(
            f"An output with one or more elements was resized since it had shape {errors.size(out.array.shape)}, which "
            f"does not match the required output shape {errors.size(array.shape)}. This behavior is deprecated, and in "
            "a future PyTorch release outputs will not be resized unless they have zero elements. You can explicitly "
            "reuse an out tensor t by resizing it, inplace, to zero elements with t.resize_(0)."
        )
    resize_output(out, array.shape, array)
    return store_output(name, out, array)


def resize_output(out: TensorBase, shape: tuple[int, ...], result: Any = None) -> None:
    """Give `out` another shape: new memory, in which it lies as the result does, if there is one already."""
    if out.array.shape != shape:
        kind = out.array.dtype
        out.array = np.empty_like(result, kind) if result.__class__ is np.ndarray else np.empty(shape, kind)
        with_layout_noted(out)


def store_output(name: str, out: TensorBase, array: Any) -> Any:
    """The values of `array` in `out`, which has its shape."""
    check_no_gradient(name, [out])
    if out.rare is not None and out.rare.inference and not state.inference:
        raise errors.inference_changed(out)
    if out.rare is not None and conjugate_behind(out) is not None:
        raise errors.copy_of_view_changed(out)
    check_no_overlap(out.array)
    about_to_change(out)
    assign(out, array)
    return out


def is_expanded(array: Any) -> bool:
    """Does an array show one memory location several times, along a dimension of step 0?"""
    if 0 not in array.strides or array.size <= 1:
        return False
    return any([step == 0 and size > 1 for step, size in zip(array.strides, array.shape)])


def check_no_overlap(array: Any) -> None:
    """An expanded tensor shows one memory location several times: writing to it would be ambiguous."""
    if is_expanded(array):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


def check_overlap(
    array: Any,
    version: Any,
    others: Sequence[TensorBase],
    shape: tuple[int, ...] | None = None,
    once: bool = True,
    elsewhere: bool = False,
) -> None:
    """Refuse to write to memory that appears several times in `array` (if it has to appear `once`), or that is read in
    another order at the same time, or at all, if what is read has to be `elsewhere`. `version` is the one that all who
    share the memory of `array` have; `shape` is what the others are broadcast to before they are read, if anything."""
    if once and 0 in array.strides:
        check_no_overlap(array)
    for t in others:
        read = t.array if shape is None or t.version is not version else np.broadcast_to(t.array, shape)
        if t.version is version and overlaps(array, read, not elsewhere):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                f"memory location. Please clone() the tensor before performing the operation.\n  at {errors.here()}"
            )


def overlaps(a: Any, b: Any, partly: bool = True) -> bool:
    """Do two arrays without gaps share memory? If only `partly` counts: and not simply all of it in the same order?"""
    a, b = [x.memory() if is_batched(x) else x for x in (a, b)]
    first, second = occupied(a), occupied(b)
    if first is None or second is None:
        return False
    if a.size == 0 or b.size == 0:
        return False
    if partly and first == second and a.shape == b.shape:
        # the step of a dimension of size one is never taken, so it does not matter
        return any([m != n and size != 1 for m, n, size in zip(a.strides, b.strides, a.shape)])
    return first[0] < second[1] and second[0] < first[1]


def occupied(array: Any) -> tuple[int, int] | None:
    """The range of memory that an array fills, or None if it leaves gaps."""
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        step = array.itemsize
        for stride, size in sorted(zip(array.strides, array.shape)):
            if size > 1:
                if stride != step:
                    return None
                step *= size
    start = array.__array_interface__["data"][0]
    return start, start + array.nbytes
