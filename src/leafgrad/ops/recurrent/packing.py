"""Sequences of several lengths, padded or packed: which rows of (time, batch, ...) are there, one below the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.tensor import is_meta, links
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S

A = Any  # an array, or a tensor under create_graph
Places = tuple[Any, Any]  # time and batch of each row

AT: Places = (np.array([0, 0, 1, 2]), np.array([0, 1, 0, 0]))


def places_of(sizes: Any) -> Places:
    """Where the rows of a packed sequence are when it is padded, given how many each time step has."""
    total = int(sizes.sum())
    time = np.repeat(np.arange(len(sizes)), sizes)
    return time, np.arange(total) - np.repeat(np.cumsum(sizes) - sizes, sizes)


@op
class pack_rows(Family):
    """pack_rows(input, at): the rows of (time, batch, ...) that are at these places."""

    options = ("at",)
    public_name = ""
    method = False
    holomorphic = False
    jvp = "linear"
    node_name = "PackPaddedSequenceBackward0"
    aten = "_pack_padded_sequence"
    reference = lambda torch, x, at: x[torch.as_tensor(at[0]), torch.as_tensor(at[1])]

    def kernel(x: A, at: Places) -> A:
        return x[at]

    def vjp(g: A, at: A, input_shape: A) -> A:
        return pad_rows(g, at, tuple(input_shape[:2]), 0)

    def vmap(batch: A, x: A, at: Places) -> A:
        return batch.wrap(batch.value(x)[(slice(None), *at)])

    samples = lambda t: [S(t(3, 2, 4), AT), S(t(3, 2), AT)]


@op
class pad_rows(Family):
    """pad_rows(input, at, shape, value): rows at these places of (time, batch, ...), and a number everywhere else."""

    options = ("at", "shape", "value")
    public_name = ""
    method = False
    holomorphic = False
    node_name = "CopySlices"
    aten = "_pad_packed_sequence"

    def kernel(x: A, at: Places, shape: tuple[int, int], value: Any) -> A:
        out = np.full((*shape, *x.shape[1:]), value, x.dtype)
        out[at] = x
        return out

    def vjp(g: A, at: A) -> A:
        return pack_rows(g, at)

    def vmap(batch: A, x: A, at: Places, shape: tuple[int, int], value: Any) -> A:
        rows = np.swapaxes(batch.value(x), 0, 1)
        return batch.wrap(np.moveaxis(batch.run((rows,), (at, shape, value)), 2, 0))

    def reference(torch: Any, x: Any, at: Places, shape: Any, value: Any) -> Any:
        out = torch.full((*shape, *x.shape[1:]), value, dtype=x.dtype)
        return out.index_put((torch.as_tensor(at[0]), torch.as_tensor(at[1])), x)

    samples = lambda t: [S(t(4, 3), AT, (3, 2), 1), S(t(4), AT, (4, 2), 0)]


def packed(input: Any, at: Places) -> Any:
    """The rows of a tensor (time, batch, ...) at these places."""
    return links.meta_call(pack_rows.record, (input, at), {}) if is_meta(input.array) else pack_rows.record(input, at)


def padded_rows(input: Any, at: Places, shape: tuple[int, int], value: Any) -> Any:
    """A tensor (time, batch, ...) with rows at these places, and a number everywhere else."""
    if is_meta(input.array):
        return links.meta_call(pad_rows.record, (input, at, shape, value), {})
    return pad_rows.record(input, at, shape, value)
