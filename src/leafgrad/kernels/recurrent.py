"""Recurrent layers over a whole sequence, on arrays: all time steps in one call, and their gradients in another.

The numbers of all steps lie one below the other, in the order of time: `sizes` tells how many rows each step has, which
can only become fewer, as in PyTorch's packed sequences. Row i of a step belongs to sequence i. What the input adds to
the gates, `pre`, is a single product that was computed before; here is what one step needs of the step before.

    forward     h = 0-th state; for each step: gates from pre[rows] + h @ w.T, then h
    backward    for each step from the last: the gradient of pre[rows] is that of the state times a factor, and the
                gradient of the state before is a product of it and w. The factors of all steps are computed at once.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from leafgrad.kernels import add, divide, exponential, multiply, negative

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


def sigmoid_in_place(x: Array) -> None:
    negative(x, x)
    exponential(x, x)
    add(x, ONE[x.dtype], x)
    divide(ONE[x.dtype], x, x)


ONE = {np.dtype(kind): np.ones((), kind) for kind in (np.float32, np.float64)}


# -- LSTM -------------------------------------------------------------------------------------------------------------


def lstm(pre: Array, h0: Array, c0: Array, w: Array, sizes: Sizes, reverse: bool) -> tuple[Array, Array, Array]:
    """(the states, the cells and the gates i, f, g, o of all steps)."""
    n = h0.shape[1]
    out, cells, gates = (
        np.empty((len(pre), n), pre.dtype),
        np.empty((len(pre), n), pre.dtype),
        np.empty(pre.shape, pre.dtype),
    )
    h, c, across = h0, c0, w.T
    for start, stop in steps(sizes, reverse):
        now, h, c = gates[start:stop], carried(h, h0, stop - start), carried(c, c0, stop - start)
        np.dot(h, across, out=now)
        add(now, pre[start:stop], now)
        new = np.tanh(now[:, 2 * n : 3 * n])
        sigmoid_in_place(now)
        now[:, 2 * n : 3 * n] = new
        before, h, c = c, out[start:stop], cells[start:stop]
        np.multiply(now[:, n : 2 * n], before, c)
        multiply(new, now[:, :n], new)
        add(c, new, c)
        np.tanh(c, h)
        multiply(h, now[:, 3 * n :], h)
    return out, cells, gates


def lstm_factors(i: Any, f: Any, g: Any, o: Any, before: Any, t: Any) -> tuple[list[Any], Any]:
    """What the gradients of the gates are multiples of: i, f and g of the gradient of the cell, o of that of the
    state. And how much of the gradient of the state the cell gets. `before`: cells before; `t`: tanh(cells)."""
    return [g * i * (1 - i), before * f * (1 - f), i * (1 - g * g), t * o * (1 - o)], o * (1 - t * t)


def lstm_backward(
    of_out: Array | None, of_cells: Array | None, c0: Array, w: Array, cells: Array, gates: Array, sizes: Sizes,
    reverse: bool,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """(the gradients of pre, h0 and c0), given those of the states and of the cells."""
    n = c0.shape[1]
    i, f, g, o = [gates[:, k * n : (k + 1) * n] for k in range(4)]
    before = previous(c0, cells, sizes, reverse, np.concatenate)
    factors, through = lstm_factors(i, f, g, o, before, np.tanh(cells))
    back = np.concatenate(factors, 1)
    dh, dc = np.zeros(c0.shape, gates.dtype), np.zeros(c0.shape, gates.dtype)
    for start, stop in reversed(steps(sizes, reverse)):
        size = stop - start
        h, c, now = dh[:size], dc[:size], back[start:stop].reshape(size, 4, n)
        if of_out is not None:
            h += of_out[start:stop]
        if of_cells is not None:
            c += of_cells[start:stop]
        c += h * through[start:stop]
        now[:, :3] *= c[:, None]
        now[:, 3] *= h
        c *= f[start:stop]
        np.dot(back[start:stop], w, out=h)
    return back, dh, dc


# -- GRU --------------------------------------------------------------------------------------------------------------


def gru(pre: Array, h0: Array, w: Array, bias: Array | None, sizes: Sizes, reverse: bool) -> tuple[Array, Array, Array]:
    """(the states of all steps; the gates r and z, and what the state adds to the third; the new values n)."""
    n = h0.shape[1]
    out, gates, news = (
        np.empty((len(pre), n), pre.dtype),
        np.empty(pre.shape, pre.dtype),
        np.empty((len(pre), n), pre.dtype),
    )
    h, across = h0, w.T
    for start, stop in steps(sizes, reverse):
        before, now, new = carried(h, h0, stop - start), gates[start:stop], news[start:stop]
        np.dot(before, across, out=now)
        if bias is not None:
            now += bias
        both = now[:, : 2 * n] + pre[start:stop, : 2 * n]
        sigmoid_in_place(both)
        now[:, : 2 * n] = both
        np.multiply(both[:, :n], now[:, 2 * n :], new)
        new += pre[start:stop, 2 * n :]
        np.tanh(new, new)
        h = out[start:stop]
        np.subtract(before, new, h)
        h *= both[:, n:]
        h += new
    return out, gates, news


def gru_factors(r: Any, z: Any, inner: Any, new: Any, before: Any) -> tuple[list[Any], Any]:
    """What the gradients of what the state adds to the gates are multiples of, and that of the third of `pre`: of the
    gradient of the state. `inner`: what the state adds to the new values."""
    to_new = (1 - z) * (1 - new * new)
    to_inner = to_new * r
    return [to_inner * inner * (1 - r), (before - new) * z * (1 - z), to_inner], to_new


def gru_backward(
    of_out: Array, h0: Array, w: Array, before: Array, gates: Array, news: Array, sizes: Sizes, reverse: bool
) -> tuple[Array, Array, Array]:
    """(the gradients of pre, of what the state adds to the gates, and of h0). `before`: the states before."""
    n = h0.shape[1]
    r, z, inner = [gates[:, k * n : (k + 1) * n] for k in range(3)]
    factors, to_new = gru_factors(r, z, inner, news, before)
    back, dh = np.concatenate(factors, 1), np.zeros(h0.shape, gates.dtype)
    for start, stop in reversed(steps(sizes, reverse)):
        h, now = dh[: stop - start], back[start:stop]
        h += of_out[start:stop]
        now.reshape(stop - start, 3, n)[...] *= h[:, None]
        to_new[start:stop] *= h
        h *= z[start:stop]
        h += now.dot(w)
    return np.concatenate([back[:, : 2 * n], to_new], 1), back, dh


# -- RNN --------------------------------------------------------------------------------------------------------------


def rnn(pre: Array, h0: Array, w: Array, kind: str, sizes: Sizes, reverse: bool) -> Array:
    """The states of all steps, tanh or relu of pre + h @ w.T."""
    out, h, across = np.empty(pre.shape, pre.dtype), h0, w.T
    for start, stop in steps(sizes, reverse):
        now = out[start:stop]
        np.dot(carried(h, h0, stop - start), across, out=now)
        now += pre[start:stop]
        h = np.tanh(now, now) if kind == "tanh" else np.maximum(now, 0, out=now)
    return out


def rnn_backward(
    of_out: Array, h0: Array, w: Array, factors: Array, sizes: Sizes, reverse: bool
) -> tuple[Array, Array]:
    """(the gradients of pre and of h0); `factors` are the slopes of tanh or relu."""
    back, dh = np.empty(of_out.shape, of_out.dtype), np.zeros(h0.shape, factors.dtype)
    for start, stop in reversed(steps(sizes, reverse)):
        h, now = dh[: stop - start], back[start:stop]
        h += of_out[start:stop]
        np.multiply(h, factors[start:stop], now)
        np.dot(now, w, out=h)
    return back, dh
