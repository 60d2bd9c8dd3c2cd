"""Recurrent layers over a whole sequence, on arrays: all time steps in one call, and their gradients in another.

The numbers of all steps lie one below the other, in the order of time: `sizes` tells how many rows each step has, which
can only become fewer, as in PyTorch's packed sequences. Row i of a step belongs to sequence i. What the input adds to
the gates, `pre`, is a single product that was computed before; here is what one step needs of the step before.

    forward     h = 0-th state; for each step: gates from pre[rows] + h @ w.T, then h
    backward    for each step from the last: the gradient of pre[rows] of that of the state, and the gradient of the
                state before, a product of it and w

What a step does beside its product is one kernel (leafgrad/kernels/fused/recurrent.py).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from leafgrad.kernels.fused import recurrent as fused

Array = Any
Sizes = tuple[int, ...]


def steps(sizes: Sizes, reverse: bool) -> list[tuple[int, int]]:
    """Where the rows of each step begin and end, in the order in which the layer reads them."""
    ends = list(accumulate(sizes))
    found = [(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    return found[::-1] if reverse else found


def carried(state: Array, initial: Array, size: int) -> Array:
    """The state before a step with `size` rows. Read backward, sequences begin one after the other."""
    have = len(state)
    return state[:size] if have >= size else np.concatenate([state, initial[have:size]])


def previous(initial: Any, states: Any, sizes: Sizes, reverse: bool, join: Callable[..., Any]) -> Any:
    """The states before all steps, of the states after them: arrays, or tensors with another `join`."""
    size = sizes[0]
    if size == sizes[-1]:
        rest = states[size:] if reverse else states[: len(states) - size]
        return join([rest, initial] if reverse else [initial, rest])
    starts = [start for start, _ in steps(sizes, False)]
    if not reverse:
        return join([initial, *[states[start : start + now] for start, now in zip(starts, sizes[1:])]])
    parts = []
    for start, now, later in zip(starts[1:], sizes, sizes[1:]):
        parts += [states[start : start + later], initial[later:now]]
    return join([*parts, initial[: sizes[-1]]])


TAKEN = (np.dtype(np.float32), np.dtype(np.float64))  # what these functions compute in


def gates_of(rows: Array, count: int) -> list[Array]:
    """The gates side by side in each row, one by one."""
    n = rows.shape[1] // count
    return [rows[:, k * n : (k + 1) * n] for k in range(count)]


def transposed(w: Array, sizes: Sizes) -> Array:
    """w.T, of which many products are faster in a copy."""
    return np.ascontiguousarray(w.T) if len(sizes) > 4 else w.T


def new_rows(like: Array, n: int) -> Array:
    return np.empty((len(like), n), like.dtype)


# -- LSTM -------------------------------------------------------------------------------------------------------------


def lstm(pre: Array, h0: Array, c0: Array, w: Array, sizes: Sizes, reverse: bool) -> tuple[Array, Array, Array]:
    """(the states, the cells and the gates i, f, g, o of all steps)."""
    n = h0.shape[1]
    out, cells, gates = new_rows(pre, n), new_rows(pre, n), np.empty(pre.shape, pre.dtype)
    h, c, across = h0, c0, transposed(w, sizes)
    for start, stop in steps(sizes, reverse):
        now, h, before = gates[start:stop], carried(h, h0, stop - start), carried(c, c0, stop - start)
        np.dot(h, across, out=now)
        h, c, parts = out[start:stop], cells[start:stop], gates_of(now, 4)
        fused.lstm_step(*parts, *gates_of(pre[start:stop], 4), before, (*parts, c, h))
    return out, cells, gates


def lstm_backward(
    of_out: Array | None, of_cells: Array | None, c0: Array, w: Array, cells: Array, gates: Array, sizes: Sizes,
    reverse: bool,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """(the gradients of pre, h0 and c0), given those of the states and of the cells."""
    before = previous(c0, cells, sizes, reverse, np.concatenate)
    back, none = np.empty(gates.shape, gates.dtype), np.zeros((1, 1), gates.dtype)
    dh, dc = np.zeros(c0.shape, gates.dtype), np.zeros(c0.shape, gates.dtype)
    for start, stop in reversed(steps(sizes, reverse)):
        h, c, now = dh[: stop - start], dc[: stop - start], back[start:stop]
        own = [none if g is None else g[start:stop] for g in (of_out, of_cells)]
        kept = gates_of(gates[start:stop], 4)
        places = (*gates_of(now, 4), c)
        fused.lstm_step_backward(h, own[0], c, own[1], *kept, before[start:stop], cells[start:stop], places)
        np.dot(now, w, out=h)
    return back, dh, dc


# -- GRU --------------------------------------------------------------------------------------------------------------


def gru(pre: Array, h0: Array, w: Array, bias: Array | None, sizes: Sizes, reverse: bool) -> tuple[Array, Array, Array]:
    """(the states of all steps; the gates r and z, and what the state adds to the third; the new values n)."""
    n = h0.shape[1]
    out, gates, news = new_rows(pre, n), np.empty(pre.shape, pre.dtype), new_rows(pre, n)
    added = gates_of((np.zeros(3 * n, pre.dtype) if bias is None else bias)[None], 3)
    h, across = h0, transposed(w, sizes)
    for start, stop in steps(sizes, reverse):
        before, now = carried(h, h0, stop - start), gates[start:stop]
        np.dot(before, across, out=now)
        h, parts = out[start:stop], gates_of(now, 3)
        fused.gru_step(*parts, *added, *gates_of(pre[start:stop], 3), before, (*parts, news[start:stop], h))
    return out, gates, news


def gru_backward(
    of_out: Array, h0: Array, w: Array, before: Array, gates: Array, news: Array, sizes: Sizes, reverse: bool
) -> tuple[Array, Array, Array]:
    """(the gradients of pre, of what the state adds to the gates, and of h0). `before`: the states before."""
    n = h0.shape[1]
    back, inner, dh = np.empty(gates.shape, gates.dtype), np.empty(gates.shape, gates.dtype), np.zeros_like(h0)
    for start, stop in reversed(steps(sizes, reverse)):
        h, own, now = dh[: stop - start], back[start:stop], inner[start:stop]
        kept, news_now = gates_of(gates[start:stop], 3), news[start:stop]
        places = (*gates_of(own, 3), now[:, 2 * n :], h)
        fused.gru_step_backward(h, of_out[start:stop], *kept, news_now, before[start:stop], places)
        now[:, : 2 * n] = own[:, : 2 * n]
        h += now.dot(w)
    return back, inner, dh


# -- RNN --------------------------------------------------------------------------------------------------------------

STEPS = {
    "tanh": (fused.rnn_tanh_step, fused.rnn_tanh_step_backward),
    "relu": (fused.rnn_relu_step, fused.rnn_relu_step_backward),
}


def rnn(pre: Array, h0: Array, w: Array, kind: str, sizes: Sizes, reverse: bool) -> Array:
    """The states of all steps, tanh or relu of pre + h @ w.T."""
    out, h, across, step = np.empty(pre.shape, pre.dtype), h0, transposed(w, sizes), STEPS[kind][0]
    for start, stop in steps(sizes, reverse):
        now = out[start:stop]
        np.dot(carried(h, h0, stop - start), across, out=now)
        h = step(now, pre[start:stop], now)
    return out


def rnn_backward(
    of_out: Array, h0: Array, w: Array, out: Array, kind: str, sizes: Sizes, reverse: bool
) -> tuple[Array, Array]:
    """(the gradients of pre and of h0); `out` are the states after the steps."""
    back, dh, step = np.empty(of_out.shape, of_out.dtype), np.zeros(h0.shape, out.dtype), STEPS[kind][1]
    for start, stop in reversed(steps(sizes, reverse)):
        h, now = dh[: stop - start], back[start:stop]
        step(h, of_out[start:stop], out[start:stop], now)
        np.dot(now, w, out=h)
    return back, dh
