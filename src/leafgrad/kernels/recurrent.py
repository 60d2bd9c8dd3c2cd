"""Recurrent layers over a whole sequence, on arrays: all time steps in one call, and their gradients in another.

The numbers of all steps lie one below the other, in the order of time: `sizes` tells how many rows each step has, which
can only become fewer, as in PyTorch's packed sequences. Row i of a step belongs to sequence i. What the input adds to
the gates is a single product for all steps; what one step needs of the step before is done step by step. Where
_recurrent.c was built, it does both for a few sequences after the other.

    forward     h = 0-th state; for each step: gates from those of the input, rows of it, + h @ w.T, then h
    backward    for each step from the last: the gradient of the gates of that of the state, and the gradient of the
                state before, a product of it and w

What a step does beside its product is one kernel (leafgrad/kernels/fused/recurrent.py).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from leafgrad.kernels import native_forms
from leafgrad.kernels.fused import recurrent as fused
from leafgrad.kernels.moving import copied
from leafgrad.kernels.products import product

Array = Any
Sizes = tuple[int, ...]
native_steps = native_forms("_recurrent")
TAKEN = (np.dtype(np.float32), np.dtype(np.float64))  # what these functions compute in


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
    if len(sizes) == 1:
        return initial
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


def gates_of(rows: Array, count: int) -> list[Array]:
    """The gates side by side in each row, one by one."""
    n = rows.shape[1] // count
    return [rows[:, k * n : (k + 1) * n] for k in range(count)]


def of_inputs(x: Array, w: Array, bias: Array | None) -> Array:
    """What the inputs of all steps add to the gates, a new array."""
    return product(x, w) if bias is None else product(x, w, bias)


def sum_of(first: Array | None, second: Array | None) -> Array | None:
    """Of two biases, or the one that there is."""
    return second if first is None else first if second is None else first + second


def transposed(w: Array, rows: int) -> Array:
    """w.T for the products of all steps, which are faster with a copy if they have more than a few rows."""
    return copied(w.T) if rows > 4 else w.T


def new_rows(like: Array, n: int) -> Array:
    return np.empty((len(like), n), like.dtype)


# -- LSTM -------------------------------------------------------------------------------------------------------------


@native_steps("lstm")
def lstm(
    x: Array, h0: Array, c0: Array, w_ih: Array, w_hh: Array, bias: Array | None, sizes: Sizes, reverse: bool
) -> tuple[Array, Array, Array]:
    """(the states, the cells and the gates i, f, g, o of all steps). Weights are transposed, and the bias is the sum of
    the two that a layer has."""
    n, gates = h0.shape[1], of_inputs(x, w_ih, bias)
    out, cells = new_rows(gates, n), new_rows(gates, n)
    h, c = h0, c0
    for start, stop in steps(sizes, reverse):
        now, before = gates[start:stop], carried(c, c0, stop - start)
        now += carried(h, h0, stop - start).dot(w_hh)
        h, c, parts = out[start:stop], cells[start:stop], gates_of(now, 4)
        fused.lstm_step(*parts, before, (*parts, c, h))
    return out, cells, gates


@native_steps("lstm_backward")
def lstm_backward(
    of_out: Array | None, of_cells: Array | None, c0: Array, w: Array, cells: Array, gates: Array, sizes: Sizes,
    reverse: bool,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """(the gradients of what the gates are functions of, of h0 and of c0), given those of the states and cells."""
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


@native_steps("gru")
def gru(
    x: Array, h0: Array, w_ih: Array, w_hh: Array, b_ih: Array | None, bias: Array | None, sizes: Sizes, reverse: bool
) -> tuple[Array, Array, Array]:
    """(the states of all steps; the gates r and z, and what the state adds to the third; the new values n). Weights are
    transposed."""
    n, pre = h0.shape[1], of_inputs(x, w_ih, b_ih)
    out, gates, news = new_rows(pre, n), np.empty(pre.shape, pre.dtype), new_rows(pre, n)
    added = gates_of((np.zeros(3 * n, pre.dtype) if bias is None else bias)[None], 3)
    h = h0
    for start, stop in steps(sizes, reverse):
        before, now = carried(h, h0, stop - start), gates[start:stop]
        np.dot(before, w_hh, out=now)
        h, parts = out[start:stop], gates_of(now, 3)
        fused.gru_step(*parts, *added, *gates_of(pre[start:stop], 3), before, (*parts, news[start:stop], h))
    return out, gates, news


@native_steps("gru_backward")
def gru_backward(
    of_out: Array, h0: Array, w: Array, out: Array, gates: Array, news: Array, sizes: Sizes, reverse: bool
) -> tuple[Array, Array, Array]:
    """(the gradients of what the inputs add to the gates, of what the state adds to them, and of h0)."""
    n, before = h0.shape[1], previous(h0, out, sizes, reverse, np.concatenate)
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


def run_steps(
    step: Any, x: Array, h0: Array, w_ih: Array, w_hh: Array, bias: Array | None, sizes: Sizes, reverse: bool
) -> tuple[Array]:
    """The states of all steps. Weights are transposed, and the bias is the sum of two."""
    h, out = h0, of_inputs(x, w_ih, bias)
    for start, stop in steps(sizes, reverse):
        now = out[start:stop]
        now += carried(h, h0, stop - start).dot(w_hh)
        h = step(now, now)
    return (out,)


def run_steps_backward(
    step: Any, of_out: Array, h0: Array, w: Array, out: Array, sizes: Sizes, reverse: bool
) -> tuple[Array, Array]:
    """(the gradients of what the inputs add to the states, and of h0); `out` are the states after the steps."""
    back, dh = np.empty(of_out.shape, of_out.dtype), np.zeros(h0.shape, out.dtype)
    for start, stop in reversed(steps(sizes, reverse)):
        h, now = dh[: stop - start], back[start:stop]
        step(h, of_out[start:stop], out[start:stop], now)
        np.dot(now, w, out=h)
    return back, dh


@native_steps("rnn_tanh")
def rnn_tanh(
    x: Array, h0: Array, w_ih: Array, w_hh: Array, bias: Array | None, sizes: Sizes, reverse: bool
) -> tuple[Array]:
    return run_steps(fused.rnn_tanh_step, x, h0, w_ih, w_hh, bias, sizes, reverse)


@native_steps("rnn_tanh_backward")
def rnn_tanh_backward(of_out: Array, h0: Array, w: Array, out: Array, sizes: Sizes, reverse: bool) -> tuple[Any, Any]:
    return run_steps_backward(fused.rnn_tanh_step_backward, of_out, h0, w, out, sizes, reverse)


@native_steps("rnn_relu")
def rnn_relu(
    x: Array, h0: Array, w_ih: Array, w_hh: Array, bias: Array | None, sizes: Sizes, reverse: bool
) -> tuple[Array]:
    return run_steps(fused.rnn_relu_step, x, h0, w_ih, w_hh, bias, sizes, reverse)


@native_steps("rnn_relu_backward")
def rnn_relu_backward(of_out: Array, h0: Array, w: Array, out: Array, sizes: Sizes, reverse: bool) -> tuple[Any, Any]:
    return run_steps_backward(fused.rnn_relu_step_backward, of_out, h0, w, out, sizes, reverse)


RNN = {
    "tanh": (rnn_tanh, rnn_tanh_backward, fused.rnn_tanh_step_backward),
    "relu": (rnn_relu, rnn_relu_backward, fused.rnn_relu_step_backward),
}
