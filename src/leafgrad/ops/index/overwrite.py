"""Operations that change some elements of a tensor and leave the others: what they have in common.

Each has an out-of-place form, which writes into a copy, and an in-place form, which writes into the memory itself and
copies nothing. Both record the same node, so no rule may need the old values or the result.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import arrays_in, bind, execute
from leafgrad._core.inplace import count_change, is_free
from leafgrad._core.modes import about_to_change, applied_in_modes, changed_in_modes
from leafgrad._core.op import Op
from leafgrad._core.recorder import make_node, needs_recording
from leafgrad._core.tensor import TensorBase, wrap, wrap_node
from leafgrad._dtypes import from_numpy_dtype
from leafgrad._layouts import copy_in_format
from leafgrad.kernels.moving import copied
from leafgrad.kernels.select import INTEGERS
from leafgrad.ops.creation.numbers import fits, refuse_overflow, to_array
from leafgrad.ops.inplace import check_history, check_writable, rebase, stand_in
from leafgrad.ops.out import check_overlap, is_expanded
from leafgrad.ops.registry import Family, Operation

A = Any  # an array, or a tensor under create_graph
Array = Any

MANY = 8_192  # elements from which on it pays to look how many a mask selects
FEW = 8  # a mask selects few elements if it is at most one of so many


class Overwriting(Family, family=True):
    """Operations that change some elements of a tensor. A block has

    prepare(input, ...)   the arguments, checked: (tensors, options), where tensors[0] is the input, and perhaps one of
                          the `node_names`
    @on_a_copy
    kernel(x, ...)        which changes an array: a copy of the input, or its own memory
    """

    writes_into = True
    # Does PyTorch only warn of expanded tensors, which show one element several times, with these words? It refuses
    # to write to them otherwise.
    warns_of_expanded = ""
    # Is what is read in other memory than what is written? Masks need not be, if they are read in the same order.
    reads_elsewhere = True

    # the gradient of a choice is a choice, and needs no conjugation
    holomorphic = False

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        prepare = body["prepare"]
        warning, elsewhere = body["warns_of_expanded"], body["reads_elsewhere"]

        @functools.wraps(prepare)
        def function(input: Any, *args: Any, **kwargs: Any) -> Any:
            tensors, options, *name = prepare(input, *args, **kwargs)
            return bind(operation.named[name[0]] if name else operation.core, tensors, options)

        @functools.wraps(prepare)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            check_history(self, args)
            tensors, options, *name = prepare(self, *args, **kwargs)
            if tensors[0].array.shape != self.array.shape:
                raise errors.in_place_shape(operation.name, self.array.shape, tensors[0].array.shape)
            core = operation.named[name[0]] if name else operation.core
            return overwrite(self, core, tensors[1:], options, warning, elsewhere)

        name = function.__name__ = function.__qualname__ = operation.name
        function.__doc__ = operation.doc
        method.__name__ = method.__qualname__ = name + "_"
        method.__doc__ = f"{name}_(...): {name}, in place."
        operation.in_place = method
        return function


def expanded_warning(name: str, example: str) -> str:
    return (
        f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
        f"This also applies to advanced indexing e.g. {example}"
    )


def on_a_clone(write: Callable[..., None]) -> Callable[..., Any]:
    """`on_a_copy`, where the copy lies in memory as the input does."""
    return on_a_copy(write, copy_in_format)


def on_a_copy(write: Callable[..., None], copy: Callable[[Array], Array] | None = None) -> Callable[..., Any]:
    """The kernel of a change of an array: of a copy, row by row unless told, or, if that is given for the result, of
    the input itself."""
    arguments = write.__code__.co_argcount

    def kernel(x: Array, *rest: Any) -> Array:
        if len(rest) == arguments:
            write(x, *rest[:-1])
            return x
        if copy is not None and not x.flags.c_contiguous:
            out = copy(x)
        else:
            out = copied(x) if x.__class__ is np.ndarray else np.array(x, order="C")
        write(out, *rest)
        return out

    return kernel


def overwrite(
    x: Any, core: Op, others: Sequence[Any], options: tuple[Any, ...], warning: str = "", elsewhere: bool = True
) -> Any:
    """Change the memory of x, and record it as `core` of (x, *others, *options). The last two arguments are
    `warns_of_expanded` and `reads_elsewhere` of the block."""
    arrays = arrays_in((x, *others))
    if len(others) <= 2 and is_free(x, *others):  # the usual case
        execute(core, arrays, options, x.array)
        count_change(x)
        return x
    check_writable(x, *others)
    if warning and is_expanded(x.array):
        errors.warn(warning)
    check_overlap(x.array, x.version, others if elsewhere else others[:1], None, not warning, elsewhere)
    old = (stand_in(x), *others)
    shadow = wrap(x.array)  # which gets the tangents
    applied_in_modes(core, old, arrays, options, (shadow,))
    result = None
    if needs_recording((x, *others)) and x.array.dtype.kind not in "biu":
        node = make_node(core, old, arrays, options, (), (), x.array.shape, x.array.dtype)
        result = wrap_node(x.array, node)
    about_to_change(x)
    execute(core, arrays, options, x.array)
    count_change(x)
    rebase(x, result)
    changed_in_modes(x, shadow)
    return x


def fill_where(x: Array, mask: Array, value: Array) -> None:
    """Write a zero-dimensional array of the same dtype to where a mask of the same shape is True.

    NumPy decides for each element, and where the mask follows no pattern the processor guesses wrong every second
    time. So few elements are looked for, and many are chosen by their bits: x ^ ((x ^ value) & pattern).
    """
    bits = INTEGERS.get(x.dtype)
    if x.size < MANY or bits is None or not (x.flags.c_contiguous and mask.flags.c_contiguous):
        np.putmask(x, mask, value)
    elif np.count_nonzero(mask) * FEW <= x.size:
        x.reshape(-1)[np.flatnonzero(mask)] = value
    else:
        pattern = mask.view(np.int8).astype(bits)
        np.negative(pattern, pattern)  # -1 is all ones
        own = x.view(bits)
        np.bitwise_and(pattern, np.bitwise_xor(own, value.view(bits)), pattern)
        np.bitwise_xor(own, pattern, own)


def number_as(value: Any, array: Array, rounds: bool = False) -> Array:
    """A Python number in the dtype of an array, which has to be able to hold it, or `rounds` to half precision."""
    if fits(value, array.dtype):
        return np.array(value, array.dtype)
    if rounds and isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("Overflow when unpacking long long")
    return converted(value, array, rounds)


def converted(value: Any, array: Array, rounds: bool = False) -> Array:
    """The same, for numbers of the size of a machine's."""
    kind = from_numpy_dtype(array.dtype)
    refuse_overflow(value, kind, rounds)
    return to_array(value, kind)


def zero(g: A) -> Array:
    return np.zeros((), g.array.dtype if isinstance(g, TensorBase) else g.dtype)


def same_dtype(x: Array, source: Array, message: str) -> None:
    """The message has {} where it names their dtypes."""
    if x.dtype != source.dtype:
        raise errors.mistake(
            RuntimeError, message.format(*[from_numpy_dtype(array.dtype).alias for array in (x, source)])
        )


def value_tensor(name: str, input: TensorBase, value: Any) -> Any:
    """The value of a fill, a number or a tensor without dimensions, as a tensor."""
    if isinstance(value, TensorBase):
        if value.array.ndim:
            raise errors.mistake(
                RuntimeError,
                f"{name}_ only supports a 0-dimensional value tensor, but got tensor with {value.array.ndim} "
                f"dimension(s).",
            )
        if value.array.dtype.kind == "c" and input.array.dtype.kind != "c":
            number_as(value.array.item(), input.array)  # refused, unless it is a real number
        return value
    return wrap(number_as(value, input.array))
