"""A layer of cells over a whole sequence as one operation, for each kind of cell.

Rows and `sizes` are those of leafgrad/kernels/recurrent.py. Each operation returns what its rule needs beside the
states. The rules on arrays are kernels; under create_graph the same formulas run on tensors, one step after the other,
with gates that are computed anew from the states: these depend on the inputs through the operation itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._dtypes import BOOL, COMPLEX, INTEGER, from_numpy_dtype
from leafgrad.kernels import recurrent
from leafgrad.kernels.fused.recurrent import gru_step_backward, lstm_step_backward
from leafgrad.kernels.recurrent import STEPS, TAKEN, gates_of, previous, steps
from leafgrad.ops.linalg.products import times
from leafgrad.ops.pointwise.elementwise import sigmoid, tanh
from leafgrad.ops.reduce.common import raw
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S
from leafgrad.ops.shape.join import cat

A = Any  # an array, or a tensor under create_graph
Sizes = tuple[int, ...]


def joined(parts: list[Any], dim: int = 0) -> Any:
    return cat.call(parts, dim)


def are_tensors(g: Any) -> bool:
    return any([isinstance(each, TensorBase) for each in g])


def gradient(g: Any, at: int, like: A) -> A:
    """The gradient of a result, which may be missing."""
    if g[at] is not None:
        return g[at]
    zeros = np.zeros(raw(like).shape, raw(like).dtype)
    return wrap(zeros) if isinstance(like, TensorBase) else zeros


def updated(state: A, now: A) -> A:
    """A state whose first rows are replaced."""
    return joined([now, state[now.shape[0] :]])


class Sequence(Family, family=True):
    """Operations that run a cell over a sequence."""

    public_name = ""
    method = False
    refuses = (BOOL, INTEGER, COMPLEX)
    exempt = {
        "half precision": "layers in it are composed of other operations: see leafgrad/ops/recurrent/layers.py",
        "observed bits": "on tensors the gradient is composed step by step, which rounds otherwise",
    }


def samples_in_rows(count: int) -> Any:
    """How many samples are computed at once: their sequences are sequences of one layer, row r of sample s is row
    r * samples + s, if they share the weights, the inputs after the first `count`."""

    def vmap(batch: A, *args: A) -> A:
        rows, weights, (*kind, sizes, reverse) = batch.arrays[:count], batch.arrays[count:], batch.options
        if batch.holds(*weights):
            return batch.by_sample()
        size = batch.size
        folded = [np.swapaxes(x, 0, 1).reshape(-1, x.shape[2]) for x in batch.values(*rows)]
        found = batch.run((*folded, *weights), (*kind, tuple([size * each for each in sizes]), reverse))
        apart = [np.swapaxes(x.reshape(-1, size, x.shape[1]), 0, 1) for x in ([found] if kind else found)]
        return batch.wrap(apart[0] if kind else apart)

    return vmap


def is_taken(kind: Any) -> bool:
    """Is it a dtype that these operations compute in?"""
    return kind in TAKEN


def check(operation: Any, pre: TensorBase) -> None:
    kind = from_numpy_dtype(pre.array.dtype)
    operation.check(kind)
    if not is_taken(pre.array.dtype):
        raise NotImplementedError(f"\"{operation.name}\" not implemented for '{kind.alias}'")


def reference_steps(torch: Any, cell: Any, pre: Any, states: Any, sizes: Sizes, reverse: bool) -> list[Any]:
    """What cells compute in PyTorch, step by step: the rows of each of their states."""
    if pre.dtype.is_complex or not pre.dtype.is_floating_point or pre.dtype.itemsize == 2:
        raise NotImplementedError("refused here as well")
    found: dict[int, Any] = {}
    states = list(states)
    for start, stop in steps(sizes, reverse):
        size = stop - start
        now = cell(pre[start:stop], *[state[:size] for state in states])
        found[start] = now
        states = [torch.cat([new, old[size:]]) for new, old in zip(now, states)]
    return [torch.cat([found[start][k] for start in sorted(found)]) for k in range(len(states))]


SIZES = [((2, 2, 2), False), ((3, 2, 1), False), ((3, 3, 1), True), ((1,), False)]

# -- LSTM -------------------------------------------------------------------------------------------------------------


@op
class lstm_sequence(Sequence):
    """lstm_sequence(pre, h0, c0, w, sizes, reverse): the states and the cells of an LSTM layer; `pre` are the inputs
    times their weights with all biases."""

    inputs = ("pre", "h0", "c0", "w")
    options = ("sizes", "reverse")
    results = 3
    node_name = "MkldnnRnnLayerBackward0"
    aten = "lstm"
    kernel = recurrent.lstm
    vmap = samples_in_rows(3)

    def call(pre: Any, h0: Any, c0: Any, w: Any, sizes: Sizes, reverse: bool) -> Any:
        check(lstm_sequence, pre)
        return tuple(lstm_sequence.record(pre, h0, c0, w, sizes, reverse)[:2])

    def vjp_all(g: A, needs: A, pre: A, h0: A, c0: A, w: A, out: A, out1: A, out2: A, sizes: A, reverse: A) -> A:
        if are_tensors(g):
            h_before = previous(h0, out, sizes, reverse, joined)
            back, dh, dc = lstm_gradient(g, pre + h_before @ w.t(), c0, w, out, out1, sizes, reverse)
        else:
            back, dh, dc = recurrent.lstm_backward(g[0], g[1], c0, w, out1, out2, sizes, reverse)
            h_before = previous(h0, out, sizes, reverse, np.concatenate)
        return back, dh, dc, times(back.T, h_before) if needs[3] else None

    def reference(torch: Any, pre: Any, h0: Any, c0: Any, w: Any, sizes: Sizes, reverse: bool) -> Any:
        def cell(x: Any, h: Any, c: Any) -> Any:
            i, f, g, o = (x + h @ w.t()).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            return o.sigmoid() * c.tanh(), c

        return tuple(reference_steps(torch, cell, pre, (h0, c0), sizes, reverse))

    samples = lambda t: [
        S(t(sum(sizes), 8), t(sizes[0], 2), t(sizes[0], 2), t(8, 2), sizes, reverse) for sizes, reverse in SIZES
    ]


def lstm_gradient(g: Any, gates: A, c0: A, w: A, out: A, cells: A, sizes: Sizes, reverse: bool) -> tuple[A, A, A]:
    """`recurrent.lstm_backward` on tensors, of gates before their nonlinearities."""
    i, f, new, o = gates_of(gates, 4)
    i, f, new, o = sigmoid(i), sigmoid(f), tanh(new), sigmoid(o)
    before = previous(c0, cells, sizes, reverse, joined)
    dh = dc = wrap(np.zeros(raw(c0).shape, raw(c0).dtype))
    of_out, of_cells = gradient(g, 0, out), gradient(g, 1, cells)
    found: dict[int, Any] = {}
    for start, stop in reversed(steps(sizes, reverse)):
        kept = [each[start:stop] for each in (i, f, new, o, before, cells)]
        later, later_cell = dh[: stop - start], dc[: stop - start]
        *parts, c = lstm_step_backward(later, of_out[start:stop], later_cell, of_cells[start:stop], *kept)
        found[start] = joined(parts, 1)
        dc, dh = updated(dc, c), updated(dh, found[start] @ w)
    return joined([found[start] for start in sorted(found)]), dh, dc


# -- GRU --------------------------------------------------------------------------------------------------------------


@op
class gru_sequence(Sequence):
    """gru_sequence(pre, h0, w, bias, sizes, reverse): the states of a GRU layer; `pre` are the inputs times their
    weights with their bias, `bias` is that of the states."""

    inputs = ("pre", "h0", "w", "bias")
    options = ("sizes", "reverse")
    results = 3
    node_name = "StackBackward0"
    aten = "gru"
    kernel = recurrent.gru
    vmap = samples_in_rows(2)

    def call(pre: Any, h0: Any, w: Any, bias: Any, sizes: Sizes, reverse: bool) -> Any:
        check(gru_sequence, pre)
        return gru_sequence.record(pre, h0, w, bias, sizes, reverse)[0]

    def vjp_all(g: A, needs: A, pre: A, h0: A, w: A, bias: A, out: A, out1: A, out2: A, sizes: A, reverse: A) -> A:
        if are_tensors(g):
            before = previous(h0, out, sizes, reverse, joined)
            back, inner, dh = gru_gradient(g, pre, before, h0, w, bias, out, sizes, reverse)
        else:
            before = previous(h0, out, sizes, reverse, np.concatenate)
            back, inner, dh = recurrent.gru_backward(g[0], h0, w, before, out1, out2, sizes, reverse)
        return back, dh, times(inner.T, before) if needs[2] else None, inner.sum(0) if needs[3] else None

    def reference(torch: Any, pre: Any, h0: Any, w: Any, bias: Any, sizes: Sizes, reverse: bool) -> Any:
        def cell(x: Any, h: Any) -> Any:
            own, inner = x.chunk(3, 1), (h @ w.t() + (0 if bias is None else bias)).chunk(3, 1)
            r, z = (own[0] + inner[0]).sigmoid(), (own[1] + inner[1]).sigmoid()
            new = (own[2] + r * inner[2]).tanh()
            return ((1 - z) * new + z * h,)

        return reference_steps(torch, cell, pre, (h0,), sizes, reverse)[0]

    samples = lambda t: [
        S(t(sum(sizes), 6), t(sizes[0], 2), t(6, 2), None if reverse else t(6), sizes, reverse)
        for sizes, reverse in SIZES
    ]


def gru_gradient(
    g: Any, pre: A, before: A, h0: A, w: A, bias: A, out: A, sizes: Sizes, reverse: bool
) -> tuple[A, A, A]:
    """`recurrent.gru_backward` on tensors."""
    inner = before @ w.t() if bias is None else before @ w.t() + bias
    (own_r, own_z, own_n), (r, z, n) = gates_of(pre, 3), gates_of(inner, 3)
    r, z = sigmoid(own_r + r), sigmoid(own_z + z)
    new = tanh(own_n + r * n)
    dh = wrap(np.zeros(raw(h0).shape, raw(h0).dtype))
    of_out = gradient(g, 0, out)
    found: dict[int, tuple[Any, Any]] = {}
    for start, stop in reversed(steps(sizes, reverse)):
        kept = [each[start:stop] for each in (of_out, r, z, n, new, before)]
        to_r, to_z, to_new, to_inner, h = gru_step_backward(dh[: stop - start], *kept)
        found[start] = joined([to_r, to_z, to_new], 1), joined([to_r, to_z, to_inner], 1)
        dh = updated(dh, h + found[start][1] @ w)
    in_order = [found[start] for start in sorted(found)]
    return joined([back for back, _ in in_order]), joined([of_gates for _, of_gates in in_order]), dh


# -- RNN --------------------------------------------------------------------------------------------------------------


@op
class rnn_sequence(Sequence):
    """rnn_sequence(pre, h0, w, kind, sizes, reverse): the states of a layer of simple cells, tanh or relu."""

    inputs = ("pre", "h0", "w")
    options = ("kind", "sizes", "reverse")
    node_name = "StackBackward0"
    aten = "rnn_tanh"
    kernel = recurrent.rnn
    vmap = samples_in_rows(2)

    def call(pre: Any, h0: Any, w: Any, kind: str, sizes: Sizes, reverse: bool) -> Any:
        check(rnn_sequence, pre)
        return rnn_sequence.record(pre, h0, w, kind, sizes, reverse)

    def vjp_all(g: A, needs: A, h0: A, w: A, out: A, kind: A, sizes: A, reverse: A) -> A:
        if isinstance(g, TensorBase):
            before = previous(h0, out, sizes, reverse, joined)
            back, dh = rnn_gradient(g, h0, w, out, kind, sizes, reverse)
        else:
            before = previous(h0, out, sizes, reverse, np.concatenate)
            back, dh = recurrent.rnn_backward(g, h0, w, out, kind, sizes, reverse)
        return back, dh, times(back.T, before) if needs[2] else None

    def reference(torch: Any, pre: Any, h0: Any, w: Any, kind: str, sizes: Sizes, reverse: bool) -> Any:
        cell = lambda x, h: (getattr(x + h @ w.t(), kind)(),)
        return reference_steps(torch, cell, pre, (h0,), sizes, reverse)[0]

    samples = lambda t: [
        S(t(sum(sizes), 2), t(sizes[0], 2), t(2, 2), ("tanh", "relu")[reverse], sizes, reverse)
        for sizes, reverse in SIZES
    ]


def rnn_gradient(g: A, h0: A, w: A, out: A, kind: str, sizes: Sizes, reverse: bool) -> tuple[A, A]:
    """`recurrent.rnn_backward` on tensors."""
    dh = wrap(np.zeros(raw(h0).shape, raw(h0).dtype))
    found: dict[int, Any] = {}
    for start, stop in reversed(steps(sizes, reverse)):
        found[start] = STEPS[kind][1](dh[: stop - start], g[start:stop], out[start:stop])
        dh = updated(dh, found[start] @ w)
    return joined([found[start] for start in sorted(found)]), dh
