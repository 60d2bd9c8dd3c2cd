"""Linear maps along one dimension: each result is a sum of few elements, each times a weight. Padding that repeats
elements and interpolation are such maps, one for each dimension, and their gradients are the transposed ones.

They are no matrices, because a zero in a matrix times an element that is not finite would spread it over all results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad.kernels.convolution import NATIVE
from leafgrad.kernels.pooling import is_native
from leafgrad.ops.conv.convolution import widened
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, transposed

if NATIVE:
    from leafgrad.kernels import _images

A = Any  # an array, or a tensor under create_graph
Array = Any
# Of several results at once, one element each: which results (None: all of them), which elements, times what.
Tap = tuple[Any, Array, Any]


class AxisMap:
    """results[i] = the sum of weight * elements[j] over all (i, j, weight) that are given; without weights, of the
    elements themselves."""

    __slots__ = ("_lists", "_taps", "_transpose", "elements", "results", "size_in", "size_out", "weights")

    def __init__(self, size_in: int, size_out: int, results: Array, elements: Array, weights: Array | None) -> None:
        self.size_in = size_in
        self.size_out = size_out
        self.results = results
        self.elements = elements
        self.weights = weights
        self._lists: dict[Any, Any] = {}
        self._taps: list[Tap] | None = None
        self._transpose: AxisMap | None = None

    @property
    def transpose(self) -> AxisMap:
        if self._transpose is None:
            made = AxisMap(self.size_out, self.size_in, self.elements, self.results, self.weights)
            made._transpose = self
            self._transpose = made
        return self._transpose

    @property
    def taps(self) -> list[Tap]:
        """The same in parts that have each result once at most."""
        if self._taps is None:
            order = np.argsort(self.results, kind="stable")
            results, elements = self.results[order], self.elements[order]
            weights = None if self.weights is None else self.weights[order]
            starts = np.searchsorted(results, results)  # of the run of entries for one result
            turn = np.arange(results.size) - starts
            found = []
            for n in range(int(turn.max(initial=-1)) + 1):
                chosen = turn == n
                whole = int(chosen.sum()) == self.size_out
                at = None if whole else results[chosen]
                found.append((at, elements[chosen], None if weights is None else weights[chosen]))
            self._taps = found
        return self._taps

    def lists(self, kind: Any) -> tuple[Array, Array, Array | None]:
        """For the native loop: where the elements of each result begin in a list, the list, and the weights."""
        if (found := self._lists.get(kind)) is None:
            order = np.argsort(self.results, kind="stable")
            starts = np.searchsorted(self.results[order], np.arange(self.size_out + 1)).astype(np.int64)
            weights = None if self.weights is None else self.weights[order].astype(kind)
            found = self._lists[kind] = starts, self.elements[order].astype(np.int64), weights
        return found

    def apply(self, x: Array, axis: int) -> Array:
        """All results along a dimension, counted from the front."""
        behind = (1,) * (x.ndim - axis - 1)
        lead = (slice(None),) * axis
        out: Any = None
        for results, elements, weights in self.taps:
            part = x.take(elements, axis)
            if weights is not None:
                part *= weights.astype(x.dtype, copy=False).reshape((-1, *behind))
            if out is None and results is None:
                out = part
                continue
            if out is None:
                out = np.zeros((*x.shape[:axis], self.size_out, *x.shape[axis + 1 :]), x.dtype)
            if results is None:
                out += part
            else:
                out[(*lead, results)] += part
        return np.zeros((*x.shape[:axis], self.size_out, *x.shape[axis + 1 :]), x.dtype) if out is None else out


def mapped(x: Array, maps: Sequence[AxisMap]) -> Array:
    """Maps along the last dimensions, one for each: natively, or first those after which there are fewer elements."""
    kind = x.dtype
    (out,) = widened(x)
    if out.__class__ is np.ndarray and is_native(out) and len(maps) <= 3 and all([each.size_out for each in maps]):
        found = _images.map_axes(np.ascontiguousarray(out), tuple([each.lists(out.dtype) for each in maps]))
        return found.astype(kind, copy=False)
    first = x.ndim - len(maps)
    order = sorted(range(len(maps)), key=lambda i: maps[i].size_out / max(maps[i].size_in, 1))
    for i in order:
        out = maps[i].apply(out, first + i)
    return out.astype(kind, copy=False)


@op
class along_axes(Family):
    """along_axes(input, maps): linear maps along the last dimensions."""

    options = ("maps",)
    public_name = ""
    node_name = "ReplicationPad1DBackwardBackward0"  # one of many
    aten = "replication_pad1d_backward"
    jvp = "linear"
    holomorphic = False  # weights are real
    vmap = "dims"
    reference = lambda torch, x, maps: transposed(
        torch, lambda y: torch.nn.functional.pad(y, (1, 2), "replicate"), (*x.shape[:-1], maps[0].size_out), x
    )

    def kernel(x: A, maps: Any) -> A:
        return mapped(x, maps)

    def vjp(g: A, maps: A) -> A:
        return along_axes(g, tuple([each.transpose for each in maps]))

    samples = lambda t: [S(t(2, 3, 7), (AxisMap(7, 4, np.array([0, 0, 1, 2, 3, 3, 3]), np.arange(7), None),))]
