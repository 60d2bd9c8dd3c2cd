"""Padding: with a constant, or with what the input has elsewhere."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase
from leafgrad._layouts import laid_like
from leafgrad.kernels.moving import in_rows, native_move
from leafgrad.ops.conv.axis_maps import AxisMap, along_axes, mapped
from leafgrad.ops.conv.layout import in_format_of
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Number, Shape, Tensor

A = Any  # an array, or a tensor under create_graph
Ints = tuple[int, ...]


def by_dimension(pad: Sequence[int]) -> list[tuple[int, int]]:
    """How much to put before and behind the last dimensions, of which PyTorch names the last one first."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return pairs[::-1]


@native_move("padded")
def with_zeros(x: A, pad: Ints) -> A:
    """Zeros around the input; no number is negative."""
    pairs = by_dimension(pad)
    lead = x.ndim - len(pairs)
    out: A = np.zeros((*x.shape[:lead], *[n + sum(pair) for n, pair in zip(x.shape[lead:], pairs)]), x.dtype)
    out[(..., *[slice(before, before + n) for n, (before, _) in zip(x.shape[lead:], pairs)])] = x
    return in_format_of(x, out)


@op
class constant_pad_nd(Family):
    """constant_pad_nd(input, pad, value=0): with `value` around the input; pad = (left, right, top, bottom, ...). Where
    numbers are negative, elements are left out."""

    options = ("pad", "value")
    method = False
    vmap = "dims"

    def kernel(x: A, pad: Ints, value: Any) -> A:
        if value == 0 and "-" not in repr(value) and min(pad, default=0) >= 0 < max(pad, default=0):
            return with_zeros(x, pad)
        pairs = by_dimension(pad)
        lead = x.ndim - len(pairs)
        own = x.shape[lead:]
        sizes = [n + before + behind for n, (before, behind) in zip(own, pairs)]
        kept = x
        if min(pad, default=0) < 0:
            kept = x[(..., *[slice(max(-before, 0), n - max(-behind, 0)) for n, (before, behind) in zip(own, pairs)])]
        if max(pad, default=0) <= 0:
            return kept.copy() if kept.flags.c_contiguous else laid_like(kept, kept)
        out: A = np.empty((*x.shape[:lead], *sizes), x.dtype)
        out[...] = np.asarray(value).astype(x.dtype)
        inner = [slice(max(before, 0), size - max(behind, 0)) for size, (before, behind) in zip(sizes, pairs)]
        out[(..., *inner)] = kept
        return in_format_of(x, out)

    def call(input: Tensor, pad: Shape, value: Number = 0) -> Tensor:
        shape = input.array.shape
        if len(pad) % 2:
            raise refused(f"Length of pad must be even but instead it equals {len(pad)}")
        if len(pad) > 2 * len(shape):
            raise refused(
                "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
                f"{len(pad)}while the input has {len(shape)} dimensions.",
                input,
            )  # fmt: skip
        for dim, (before, behind) in enumerate(by_dimension(pad), len(shape) - len(pad) // 2):
            if shape[dim] + before + behind < 0:
                raise refused("narrow(): length must be non-negative.", input)
        if isinstance(value, complex) and input.array.dtype.kind != "c":
            raise refused("value cannot be converted to type double without overflow")
        return bind(constant_pad_nd.core, (input,), (tuple(pad), value))

    def vjp(g: A, pad: A) -> A:
        return constant_pad_nd(g, tuple([-p for p in pad]), 0)

    samples = lambda t: [
        S(t(3, 4), (1, 2)),
        S(t(2, 3, 4), (1, 0, -1, 2), 2.5),
        S(t(3), (-1, -1), 1),
        S(t(2, 3), ()),
        S(t(0, 2), (1, 1, 1, 0), 3),
    ]


NODES = {
    f"{kind}Pad{n}DBackward0": f"{kind.lower()}_pad{n}d" for kind in ("Reflection", "Replication") for n in (1, 2, 3)
}
MODES = {"reflect": "reflection", "replicate": "replication", "circular": "circular"}


@functools.cache
def padding_map(size: int, before: int, behind: int, mode: str) -> AxisMap:
    """Each result is the element that a mode finds for its place."""
    at = np.arange(-before, size + behind)
    if mode == "reflect":
        at = np.abs(at)
        at = np.minimum(at, 2 * (size - 1) - at)
    elif mode == "replicate":
        at = at.clip(0, size - 1)
    else:  # of what is left, if numbers are negative
        first, last = max(-before, 0), size - max(-behind, 0)
        at = first + (at - first) % max(last - first, 1)
    return AxisMap(size, at.size, np.arange(at.size), at, None)


def padding_maps(sizes: Ints, padding: Ints, mode: str) -> tuple[AxisMap, ...]:
    pairs = by_dimension(padding)
    return tuple([padding_map(n, *pair, mode) for n, pair in zip(sizes[-len(pairs) :], pairs)])


@op
class pad_with_own(Family):
    """pad_with_own(input, padding, mode): with the input's own elements around it: mirrored ('reflect'), the nearest
    ('replicate'), or those of the other end ('circular')."""

    options = ("padding", "mode")
    public_name = ""
    aten_function = "pad"
    saved_as = {"mode": "", "input_shape": ""}
    node_name = "CopySlices"  # circular
    node_names = tuple(NODES)
    aten = {**NODES, "CopySlices": "_pad_circular"}
    piecewise_linear = tuple(NODES)
    holomorphic = False  # elements are only chosen
    jvp = "linear"
    vmap = "dims"
    reference = lambda torch, x, padding, mode: torch.nn.functional.pad(x, padding, mode)

    def kernel(x: A, padding: Ints, mode: str) -> A:
        out = mapped(x, padding_maps(x.shape, padding, mode))
        return in_rows(out) if mode == "circular" else in_format_of(x, out)

    def call(input: Tensor, padding: Shape, mode: str) -> Tensor:
        padding = tuple(padding)
        check_padding(input, padding, mode)
        if mode == "circular":
            core = pad_with_own.core
        else:
            core = pad_with_own.named[f"{MODES[mode].capitalize()}Pad{len(padding) // 2}DBackward0"]
        return bind(core, (input,), (padding, mode))

    def vjp(g: A, padding: A, mode: A, input_shape: A) -> A:
        return along_axes(g, tuple([each.transpose for each in padding_maps(input_shape, padding, mode)]))

    samples = lambda t: [
        S(t(2, 3, 4), (1, 2), "reflect"),
        S(t(2, 3, 4), (2, 0, 1, 2), "reflect"),
        S(t(2, 3), (3, 1), "replicate"),
        S(t(1, 2, 2, 3), (1, 3, -1, 2), "replicate"),
        S(t(1, 1, 2, 2, 3), (0, 1, 1, 0, 1, 1), "replicate"),
        S(t(2, 3, 4), (2, 1), "circular"),
        S(t(1, 2, 3, 3), (2, 1, -1, 2), "circular"),
    ]


# -- what is refused --------------------------------------------------------------------------------------------------


def refused(first: str, *tensors: TensorBase) -> RuntimeError:
    return errors.mistake(RuntimeError, first, *[("input", errors.describe(t)) for t in tensors])


def check_padding(input: TensorBase, padding: Ints, mode: str) -> None:
    """Padding with own elements: of the last one, two or three dimensions, with one or two dimensions before them."""
    shape, dims = input.array.shape, len(padding) // 2
    if dims not in (1, 2, 3) or len(shape) not in (dims + 1, dims + 2):
        first = f"Padding size {len(padding)} is not supported for {len(shape)}D input tensor."
        raise errors.mistake(NotImplementedError, first, ("input", errors.describe(input)))
    sizes, pairs = shape[-dims:], by_dimension(padding)
    if mode == "circular":
        if any([max(pair) > size for pair, size in zip(pairs, sizes)]):
            raise refused("Padding value causes wrapping around more than once.", input)
        if any([sum(pair) + size < 0 for pair, size in zip(pairs, sizes)]):
            raise refused("Negative padding value is resulting in an empty dimension", input)
        return
    if 0 in shape[len(shape) - dims - 1 :]:
        ranks = f"{dims + 1}D or {dims + 2}D (batch mode)"
        raise refused(
            f"Expected {ranks} tensor with possibly 0 batch size and other non-zero dimensions for input, but got: "
            f"{list(shape)}",
            input,
        )
    for at, (pair, size) in enumerate(zip(pairs[::-1], sizes[::-1])):
        if mode == "reflect" and max(pair) >= size:
            dim = len(shape) - 1 - at
            raise refused(
                f"Argument #{4 + 2 * at}: Padding size should be less than the corresponding input dimension, but got: "
                f"padding {pair} at dimension {dim} of input {list(shape)}",
                input,
            )
    results = [size + sum(pair) for pair, size in zip(pairs, sizes)]
    if min(results) < 1:
        given, found = [" ".join([f"{n}: {v}" for n, v in zip("DHW"[3 - dims :], s)]) for s in (sizes, results)]
        raise refused(f"input ({given}) is too small. Calculated output {found}", input)
    if input.array.dtype.kind == "b":
        words = f"\"{MODES[mode]}_pad{dims}d\" not implemented for 'Bool'"
        raise errors.mistake(NotImplementedError, words)
