"""A layer of cells over a whole sequence as one operation, for each kind of cell.

Rows and `sizes` are those of leafgrad/kernels/recurrent.py. Each operation takes the inputs of all steps, the initial
states, the weights of inputs and states and their biases, and returns what its rule needs beside the states. The rules
on arrays are kernels; under create_graph the same formulas run on tensors, one step after the other,
with gates that are computed anew from the states: these depend on the inputs through the operation itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._dtypes import BOOL, COMPLEX, INTEGER, from_numpy_dtype
from leafgrad.kernels import recurrent
from leafgrad.kernels.fused.recurrent import gru_step_backward, lstm_step_backward
from leafgrad.kernels.recurrent import RNN, TAKEN, gates_of, previous, steps, transposed
from leafgrad.ops.linalg.affine import linear
from leafgrad.ops.linalg.products import times
from leafgrad.ops.pointwise.elementwise import sigmoid, tanh
from leafgrad.ops.products_of_torch import of_sequence
from leafgrad.ops.reduce.common import raw, total
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


def from_inputs(input: A, w_ih: A, *biases: A) -> A:
    """What the inputs add to the gates, on tensors."""
    added = [bias for bias in biases if bias is not None]
    return linear.call(input, w_ih, sum(added[1:], added[0]) if added else None)


def to_weights(needs: A, back: A, rows: A, to_bias: A = None) -> tuple[A, A]:
    """The gradients of weights and bias, if they are needed, given that of the gates and what they are multiplied with.
    Both biases of a layer may have the same gradient, `to_bias`, of which one gets a copy."""
    if needs[1] and to_bias is None:
        to_bias = total(back, (0,)) if isinstance(back, np.ndarray) else back.sum(0)
    elif needs[1] and not isinstance(to_bias, TensorBase):
        to_bias = to_bias.copy()
    return times(back.T, rows) if needs[0] else None, to_bias if needs[1] else None


def updated(state: A, now: A) -> A:
    """A state whose first rows are replaced."""
    return joined([now, state[now.shape[0] :]])


class Sequence(Family, family=True):
    """Operations that run a cell over a sequence."""

    public_name = ""
    method = False
    inputs: tuple[str, ...] = ("input", "h0", "w_ih", "w_hh", "b_ih", "b_hh")
    options: tuple[str, ...] = ("sizes", "reverse")
    refuses = (BOOL, INTEGER, COMPLEX)
    products = of_sequence
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


def check(operation: Any, input: TensorBase) -> None:
    if is_taken(input.array.dtype):
        return
    kind = from_numpy_dtype(input.array.dtype)
    operation.check(kind)
    if not is_taken(kind.np):
        raise NotImplementedError(f"\"{operation.name}\" not implemented for '{kind.alias}'")


def reference_steps(torch: Any, cell: Any, input: Any, states: Any, sizes: Sizes, reverse: bool) -> list[Any]:
    """What cells compute in PyTorch, step by step: the rows of each of their states."""
    if input.dtype.is_complex or not input.dtype.is_floating_point or input.dtype.itemsize == 2:
        raise NotImplementedError("refused here as well")
    found: dict[int, Any] = {}
    states = list(states)
    for start, stop in steps(sizes, reverse):
        size = stop - start
        now = cell(input[start:stop], *[state[:size] for state in states])
        found[start] = now
        states = [torch.cat([new, old[size:]]) for new, old in zip(now, states)]
    return [torch.cat([found[start][k] for start in sorted(found)]) for k in range(len(states))]


def of_layer(t: Any, gates: int, states: int, *kind: str) -> list[Any]:
    """Samples of layers with and without biases, of three features and states of two."""
    return [
        S(t(sum(sizes), 3), *[t(sizes[0], 2) for _ in range(states)], t(2 * gates, 3), t(2 * gates, 2),
          *[None if reverse else t(2 * gates) for _ in range(2)], *kind, sizes, reverse)
        for sizes, reverse in SIZES
    ]  # fmt: skip


SIZES = [((2, 2, 2), False), ((3, 2, 1), False), ((3, 3, 1), True), ((1,), False)]

# -- LSTM -------------------------------------------------------------------------------------------------------------


@op
class lstm_sequence(Sequence):
    """lstm_sequence(input, h0, c0, w_ih, w_hh, b_ih, b_hh, sizes, reverse): the states and the cells of an LSTM
    layer."""

    inputs = ("input", "h0", "c0", "w_ih", "w_hh", "b_ih", "b_hh")
    results = 3
    node_name = "MkldnnRnnLayerBackward0"
    aten = "lstm"
    vmap = samples_in_rows(3)

    def kernel(x: A, h0: A, c0: A, w_ih: A, w_hh: A, b_ih: A, b_hh: A, sizes: Sizes, reverse: bool) -> A:
        w_ih, w_hh = transposed(w_ih, len(x)), transposed(w_hh, len(x))
        return recurrent.lstm(x, h0, c0, w_ih, w_hh, recurrent.sum_of(b_ih, b_hh), sizes, reverse)

    def call(
        input: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, sizes: Sizes, reverse: bool
    ) -> Any:
        check(lstm_sequence, input)
        out, cells, _ = lstm_sequence.record(input, h0, c0, w_ih, w_hh, b_ih, b_hh, sizes, reverse)
        return out, cells

    def vjp_all(
        g: A, needs: A, input: A, h0: A, c0: A, w_ih: A, w_hh: A, b_ih: A, b_hh: A, out: A, out1: A, out2: A, sizes: A,
        reverse: A,
    ) -> A:  # fmt: skip
        if are_tensors(g):
            before = previous(h0, out, sizes, reverse, joined)
            gates = from_inputs(input, w_ih, b_ih, b_hh) + before @ w_hh.t()
            back, dh, dc = lstm_gradient(g, gates, c0, w_hh, out, out1, sizes, reverse)
        else:
            back, dh, dc = recurrent.lstm_backward(g[0], g[1], c0, w_hh, out1, out2, sizes, reverse)
            before = previous(h0, out, sizes, reverse, np.concatenate) if needs[4] else None
        to_w_ih, to_b_ih = to_weights(needs[3::2], back, input)
        to_w_hh, to_b_hh = to_weights(needs[4::2], back, before, to_b_ih)
        return times(back, w_ih) if needs[0] else None, dh, dc, to_w_ih, to_w_hh, to_b_ih, to_b_hh

    def reference(
        torch: Any, input: Any, h0: Any, c0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, sizes: Sizes,
        reverse: bool,
    ) -> Any:  # fmt: skip
        cell = lambda x, h, c: torch.lstm_cell(x, (h, c), w_ih, w_hh, b_ih, b_hh)
        return tuple(reference_steps(torch, cell, input, (h0, c0), sizes, reverse))

    samples = lambda t: of_layer(t, 4, 2)


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
    """gru_sequence(input, h0, w_ih, w_hh, b_ih, b_hh, sizes, reverse): the states of a GRU layer."""

    results = 3
    node_name = "StackBackward0"
    aten = "gru"
    vmap = samples_in_rows(2)

    def kernel(x: A, h0: A, w_ih: A, w_hh: A, b_ih: A, b_hh: A, sizes: Sizes, reverse: bool) -> A:
        w_ih, w_hh = transposed(w_ih, len(x)), transposed(w_hh, len(x))
        return recurrent.gru(x, h0, w_ih, w_hh, b_ih, b_hh, sizes, reverse)

    def call(input: Any, h0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, sizes: Sizes, reverse: bool) -> Any:
        check(gru_sequence, input)
        return gru_sequence.record(input, h0, w_ih, w_hh, b_ih, b_hh, sizes, reverse)[0]

    def vjp_all(
        g: A, needs: A, input: A, h0: A, w_ih: A, w_hh: A, b_ih: A, b_hh: A, out: A, out1: A, out2: A, sizes: A,
        reverse: A,
    ) -> A:  # fmt: skip
        if are_tensors(g):
            before, pre = previous(h0, out, sizes, reverse, joined), from_inputs(input, w_ih, b_ih)
            back, inner, dh = gru_gradient(g, pre, before, h0, w_hh, b_hh, out, sizes, reverse)
        else:
            before = previous(h0, out, sizes, reverse, np.concatenate) if needs[3] else None
            back, inner, dh = recurrent.gru_backward(g[0], h0, w_hh, out, out1, out2, sizes, reverse)
        to_w_ih, to_b_ih = to_weights(needs[2::2], back, input)
        to_w_hh, to_b_hh = to_weights(needs[3::2], inner, before)
        return times(back, w_ih) if needs[0] else None, dh, to_w_ih, to_w_hh, to_b_ih, to_b_hh

    def reference(
        torch: Any, input: Any, h0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, sizes: Sizes, reverse: bool
    ) -> Any:
        cell = lambda x, h: (torch.gru_cell(x, h, w_ih, w_hh, b_ih, b_hh),)
        return reference_steps(torch, cell, input, (h0,), sizes, reverse)[0]

    samples = lambda t: of_layer(t, 3, 1)


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
    """rnn_sequence(input, h0, w_ih, w_hh, b_ih, b_hh, kind, sizes, reverse): the states of a layer of simple cells,
    tanh or relu."""

    options = ("kind", "sizes", "reverse")
    node_name = "StackBackward0"
    aten = "rnn_tanh"
    vmap = samples_in_rows(2)

    def kernel(x: A, h0: A, w_ih: A, w_hh: A, b_ih: A, b_hh: A, kind: str, sizes: Sizes, reverse: bool) -> A:
        w_ih, w_hh = transposed(w_ih, len(x)), transposed(w_hh, len(x))
        return RNN[kind][0](x, h0, w_ih, w_hh, recurrent.sum_of(b_ih, b_hh), sizes, reverse)[0]

    def call(
        input: Any, h0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, kind: str, sizes: Sizes, reverse: bool
    ) -> Any:
        check(rnn_sequence, input)
        return rnn_sequence.record(input, h0, w_ih, w_hh, b_ih, b_hh, kind, sizes, reverse)

    def vjp_all(g: A, needs: A, input: A, h0: A, w_ih: A, w_hh: A, out: A, kind: A, sizes: A, reverse: A) -> A:
        if isinstance(g, TensorBase):
            before = previous(h0, out, sizes, reverse, joined)
            back, dh = rnn_gradient(g, h0, w_hh, out, kind, sizes, reverse)
        else:
            before = previous(h0, out, sizes, reverse, np.concatenate) if needs[3] else None
            back, dh = RNN[kind][1](g, h0, w_hh, out, sizes, reverse)
        to_w_ih, to_b_ih = to_weights(needs[2::2], back, input)
        to_w_hh, to_b_hh = to_weights(needs[3::2], back, before, to_b_ih)
        return times(back, w_ih) if needs[0] else None, dh, to_w_ih, to_w_hh, to_b_ih, to_b_hh

    def reference(
        torch: Any, input: Any, h0: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, kind: str, sizes: Sizes,
        reverse: bool,
    ) -> Any:  # fmt: skip
        cell = lambda x, h: (getattr(torch, f"rnn_{kind}_cell")(x, h, w_ih, w_hh, b_ih, b_hh),)
        return reference_steps(torch, cell, input, (h0,), sizes, reverse)[0]

    samples = lambda t: of_layer(t, 1, 1, "tanh") + of_layer(t, 1, 1, "relu")[2:3]


def rnn_gradient(g: A, h0: A, w: A, out: A, kind: str, sizes: Sizes, reverse: bool) -> tuple[A, A]:
    """`recurrent.rnn_backward` on tensors."""
    dh = wrap(np.zeros(raw(h0).shape, raw(h0).dtype))
    found: dict[int, Any] = {}
    for start, stop in reversed(steps(sizes, reverse)):
        found[start] = RNN[kind][2](dh[: stop - start], g[start:stop], out[start:stop])
        dh = updated(dh, found[start] @ w)
    return joined([found[start] for start in sorted(found)]), dh
