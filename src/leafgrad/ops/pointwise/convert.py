"""Copies, other dtypes, and the two parts of a complex number."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.events import graph_break
from leafgrad._core.modes import switches
from leafgrad._core.tensor import (
    Conjugate,
    RareFields,
    TensorBase,
    conjugate_behind,
    links,
    note_conjugate,
    with_layout_noted,
    wrap,
)
from leafgrad._core.thread_state import state
from leafgrad._device import channels_last
from leafgrad._dtypes import bool_, complex128, float64, from_numpy_dtype
from leafgrad._dtypes import dtype as Dtype
from leafgrad._layouts import copy_in_format, is_dense, laid_like, lies_in_format
from leafgrad.kernels.moving import copied
from leafgrad.ops.promotion import convert
from leafgrad.ops.registry import Family, composite, op
from leafgrad.ops.samples import S, ValuesOnly, real
from leafgrad.ops.shape.view_history import ViewFamily, view_of
from leafgrad.ops.signature import MemoryFormat, Tensor

A = Any  # an array, or a tensor under create_graph


@op
class clone(Family):
    """clone(input, *, memory_format=preserve_format): a copy through which gradients flow."""

    checked = "function"
    jvp = "linear"
    vmap = "elementwise"
    samples = staticmethod(real())

    kernel = copied

    def call(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
        if memory_format is None and input.array.flags.c_contiguous:
            return clone.record(input)
        return with_layout_noted(clone_in_format.record(input, memory_format))

    def vjp(g: A) -> A:
        return g


links.clone = clone.core


@op
class clone_in_format(Family):
    """clone_in_format(input, memory_format): a copy whose elements lie in memory as the format says."""

    options = ("memory_format",)
    jvp = "linear"
    node_name = "CloneBackward0"
    public_name = ""
    reference = lambda torch, x, kind: x.clone(memory_format=kind or torch.preserve_format)
    aten = "clone"
    samples = staticmethod(lambda t: [S(t(3, 2), None), S(t(2, 3, 4, 5), channels_last)])
    kernel = copy_in_format

    def vjp(g: A) -> A:
        return g


@op
class to_dtype(Family):
    """to_dtype(input, dtype): the same values in another dtype; what `to`, `float`, `double`, ... do."""

    options = ("kind",)
    jvp = "linear"
    vmap = "elementwise"
    node_name = "ToCopyBackward0"
    public_name = ""
    reference = "Tensor.to"
    aten = "_to_copy"
    aten_function = "to"
    holomorphic = False
    samples = staticmethod(lambda t: [S(t(3, 2), float64), S(t(3, 2), complex128), S(t(0), complex128)])

    def kernel(x: A, kind: Any) -> A:
        converted = convert(x, kind)
        return converted if x.flags.c_contiguous or is_dense(x) else laid_like(x, converted)

    def call(input: A, kind: Dtype) -> Any:
        have, wanted = input.array.dtype, kind.np
        if have is wanted or have == wanted:
            return input
        if have.kind == "c" and not kind.is_complex and kind is not bool_:
            errors.warn("Casting complex values to real discards the imaginary part")
        return to_dtype.record(input, kind)

    def vjp(g: A) -> A:
        return g  # the engine brings gradients to the dtype of the value they belong to


links.to_dtype = to_dtype.core


@composite(lambda t: [S(t(3, 2)), S(t(2, 3, 4, 5), memory_format=channels_last)], method_only=True, checked="function")
def contiguous(input: Tensor, memory_format: MemoryFormat | None = None) -> Tensor:
    """contiguous(input, memory_format=contiguous_format): the tensor itself if its elements lie in memory one after the
    other, otherwise a copy in which they do."""
    if lies_in_format(input.array, memory_format):
        return input
    if memory_format is None:
        return clone.record(input)
    return with_layout_noted(clone_in_format.record(input, memory_format))


@composite(ValuesOnly("has no gradient on purpose", real(), lambda torch, x: x.detach()), checked="function")
def detach(input: Tensor) -> Tensor:
    """detach(input): the same memory without the history: gradients end here."""
    result: TensorBase = wrap(input.array)
    result.version = input.version
    cut = None
    if input.needs_grad:
        cut = graph_break("detach", input)
        if input.array.__class__ is np.ndarray:
            cut.memory = weakref.ref(input.array)
    elif input.rare is not None:
        cut = input.rare.graph_break
    inference = input.rare is not None and input.rare.inference
    result.rare = None  # a view of a tensor that was made outside inference_mode is an ordinary tensor inside as well
    if cut is not None or inference:
        result.rare = RareFields()
        result.rare.graph_break = cut
        result.rare.inference = inference
    if input.rare is None:
        return result
    note_conjugate(input, result)
    return with_layout_noted(result)


# -- complex numbers --------------------------------------------------------------------------------------------------


@op
class conj(Family):
    """conj(input): the complex conjugate; real tensors stay as they are."""

    node_names = ("ConjPhysicalBackward0",)
    holomorphic = False
    jvp = "linear"
    vmap = "elementwise"
    samples = staticmethod(real())
    kernel = np.conj

    def call(input: Tensor) -> Tensor:
        if input.array.dtype.kind != "c":
            return input
        result: TensorBase = conj.record(input)
        if result.rare is None:
            result.rare = RareFields()
        base, is_set = input, True
        if input.rare is not None:
            known, outer = conjugate_behind(input), input.rare.view
            base = known.base if known is not None else input if outer is None else outer.base
            is_set = known is None or not known.is_set
        result.rare.conjugate = Conjugate(base, input, base.version[0], is_set)
        switches.conjugated = True
        return result

    def vjp(g: A) -> A:
        return conj(g)


class ComplexView(ViewFamily, family=True):
    """The memory of complex numbers seen as real ones, or the other way round."""

    holomorphic = False
    vmap = "elementwise"
    method = False


@op
class real_part(ComplexView):
    """real(input): the real part, as a view."""

    node_name = "SelectBackward0(ViewAsRealBackward0(input))"
    public_name = "real"
    is_property = "assigned"
    samples = staticmethod(lambda t: [S(t(3, 2)), S(t())])

    def kernel(x: A) -> A:
        return x.real

    def call(input: Tensor) -> Tensor:
        return input if input.array.dtype.kind != "c" else view_of(real_part, input)

    def vjp(g: A) -> A:
        return g  # the engine makes it complex


@op
class imag_part(ComplexView):
    """imag(input): the imaginary part, as a view. Only complex tensors have one."""

    node_name = "SelectBackward0(ViewAsRealBackward0(input))"
    public_name = "imag"
    is_property = "assigned"
    samples = staticmethod(lambda t: [S(t(3, 2, dtype="complex128")), S(t(dtype="complex128"))])

    def kernel(x: A) -> A:
        return x.imag

    def call(input: Tensor) -> Tensor:
        if input.array.dtype.kind != "c":
            raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
        return view_of(imag_part, input)

    def vjp(g: A) -> A:
        return g * 1j


def to_array_dtype(t: TensorBase, np_dtype: Any) -> Any:
    """What the engine uses to cast a gradient that is a tensor."""
    return to_dtype.function(t, from_numpy_dtype(np_dtype))


def with_array(t: TensorBase, array: Any) -> Any:
    """A leaf under another array (its value as it was saved: in another dtype, or as hooks have changed it), gradients
    going to the leaf."""
    before = bool(state.recording)
    state.record(True)
    try:
        made = to_dtype.record(t, from_numpy_dtype(array.dtype))
    finally:
        state.record(before)
    made.array = array
    return made
