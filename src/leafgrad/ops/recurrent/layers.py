"""torch.lstm, torch.gru, torch.rnn_tanh and torch.rnn_relu: several layers, in one direction or both, over padded or
packed sequences.

A layer in one direction is one operation for all steps (`sequences`). What those do not take, half precision and states
that are projected (`proj_size`), is composed of other operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import execute
from leafgrad._core.modes import switches
from leafgrad._core.overrides import call_of_arrays, handling
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._core.thread_state import state
from leafgrad.kernels.recurrent import gates_of, steps
from leafgrad.ops.arguments import matched
from leafgrad.ops.index.gather import index_select
from leafgrad.ops.linalg.affine import linear
from leafgrad.ops.pointwise.elementwise import sigmoid, tanh
from leafgrad.ops.pointwise.relu import relu
from leafgrad.ops.public_forms import overridable_function
from leafgrad.ops.random.dropout import dropout_mask
from leafgrad.ops.recurrent.sequences import gru_sequence, is_taken, lstm_sequence, rnn_sequence
from leafgrad.ops.shape.join import cat, stack
from leafgrad.ops.signature import by_name, declared

Sizes = tuple[int, ...]
States = tuple[Any, ...]  # the state; of an LSTM the state and the cell


class Weights(NamedTuple):
    """The weights of a layer in one direction."""

    w_ih: Any
    w_hh: Any
    b_ih: Any = None
    b_hh: Any = None
    w_hr: Any = None  # by which the states of an LSTM are projected


def grouped(params: Sequence[Any], has_biases: bool, projects: bool) -> list[Weights]:
    """A list of all weights, one layer and direction after the other."""
    size = 2 + 2 * has_biases + projects
    groups = [params[at : at + size] for at in range(0, len(params), size)]
    if projects and not has_biases:
        return [Weights(w_ih, w_hh, None, None, w_hr) for w_ih, w_hh, w_hr in groups]
    return [Weights(*group) for group in groups]


# -- a layer in one direction -----------------------------------------------------------------------------------------


def layer(kind: str, rows: Any, initial: States, weights: Weights, sizes: Sizes, reverse: bool) -> tuple[Any, States]:
    """The states after all steps, row by row, and the last ones of each sequence."""
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    if w_hr is not None or not are_taken(rows, initial, weights):
        bias = b_ih if kind == "gru" or b_ih is None else b_ih + b_hh
        found: Any = composed(kind, linear.call(rows, w_ih, bias), initial, weights, sizes, reverse)
    elif kind == "lstm":
        h, c = initial
        found = lstm_sequence.call(rows, h, c, w_ih, w_hh, b_ih, b_hh, sizes, reverse)
    elif kind == "gru":
        found = (gru_sequence.call(rows, initial[0], w_ih, w_hh, b_ih, b_hh, sizes, reverse),)
    else:
        found = (rnn_sequence.call(rows, initial[0], w_ih, w_hh, b_ih, b_hh, kind, sizes, reverse),)
    if len(sizes) == 1:
        return found[0], found
    return found[0], tuple([last_rows(each, sizes, reverse) for each in found])


def are_taken(rows: Any, initial: States, weights: Weights) -> bool:
    """Are these of a dtype and of shapes that the operations for whole sequences compute with? If not, operations for
    single steps do, or say what is wrong. So they do in mixed precision, too."""
    x, kind, w_ih, w_hh = rows.array, rows.array.dtype, weights.w_ih.array, weights.w_hh.array
    if not is_taken(kind) or w_ih.dtype != kind or w_hh.dtype != kind or (switches.autocasts and state.autocast):
        return False
    if x.ndim != 2 or w_ih.ndim != 2 or x.shape[1] != w_ih.shape[1] or w_hh.shape[0] != w_ih.shape[0]:
        return False
    for each in initial:
        if each.array.dtype != kind or each.array.ndim != 2 or each.array.shape[1] != w_hh.shape[1]:
            return False
    for bias in (weights.b_ih, weights.b_hh):
        if bias is not None and (bias.array.dtype != kind or bias.array.shape != w_ih.shape[:1]):
            return False
    return True


def last_rows(rows: Any, sizes: Sizes, reverse: bool) -> Any:
    """The last state of each sequence, of the states after all steps."""
    count = sizes[0]
    if reverse:
        return rows[:count]
    if sizes[-1] == count:
        return rows[rows.shape[0] - count :]
    at = np.empty(count, np.int64)
    for start, stop in steps(sizes, False):  # later ones overwrite earlier ones
        at[: stop - start] = np.arange(start, stop)
    return index_select.function(rows, 0, wrap(at))


def composed(kind: str, pre: Any, initial: States, weights: Weights, sizes: Sizes, reverse: bool) -> States:
    """The states after all steps, each step composed of other operations."""
    found: dict[int, States] = {}
    states = initial
    for start, stop in steps(sizes, reverse):
        size = stop - start
        before = tuple([joined_state(state, first, size) for state, first in zip(states, initial, strict=True)])
        states = found[start] = step(kind, pre[start:stop], before, weights)
    return tuple([cat.call([found[start][k] for start in sorted(found)]) for k in range(len(initial))])


def joined_state(state: Any, initial: Any, size: int) -> Any:
    """The state before a step of so many sequences, as in `carried` of the kernels."""
    have = state.shape[0]
    return state[:size] if have >= size else cat.call([state, initial[have:size]])


def step(kind: str, pre: Any, before: States, weights: Weights) -> States:
    """One step of a cell."""
    h, w_hh = before[0], weights.w_hh
    if kind == "gru":
        (r, z, new), (h_r, h_z, inner) = gates_of(pre, 3), gates_of(linear.call(h, w_hh, weights.b_hh), 3)
        r, z = sigmoid.record(r + h_r), sigmoid.record(z + h_z)
        new = tanh.record(new + r * inner)
        return ((h - new) * z + new,)
    gates = pre + linear.call(h, w_hh, None)
    if kind != "lstm":
        return ((tanh if kind == "tanh" else relu).record(gates),)
    i, f, new, o = gates_of(gates, 4)
    c = sigmoid.record(f) * before[1] + sigmoid.record(i) * tanh.record(new)
    h = sigmoid.record(o) * tanh.record(c)
    return (h if weights.w_hr is None else linear.call(h, weights.w_hr, None)), c


# -- all layers -------------------------------------------------------------------------------------------------------


def layers(
    kind: str, rows: Any, initial: States, groups: Sequence[Weights], sizes: Sizes, dropout: float, both: bool
) -> tuple[Any, States]:
    """The states of the last layer, row by row, and the last ones of all layers."""
    directions = 2 if both else 1
    last: list[States] = []
    for at in range(0, len(groups), directions):
        if at and dropout:
            kept = wrap(execute(dropout_mask.core, (rows.array,), (float(dropout),)))
            rows = rows * kept
        found = []
        for k in range(directions):
            first = tuple([state[at + k] for state in initial])
            out, states = layer(kind, rows, first, groups[at + k], sizes, k == 1)
            found.append(out)
            last.append(states)
        rows = cat.call(found, 1) if both else found[0]
    return rows, tuple([stack.function([states[k] for states in last]) for k in range(len(initial))])


def over_padded(
    kind: str, input: Any, initial: States, groups: Sequence[Weights], dropout: float, both: bool, batch_first: bool
) -> tuple[Any, States]:
    """Sequences of one length, (time, batch, features) or the other way round."""
    if batch_first:
        input = input.transpose(0, 1)
    length, count, width = input.shape
    if not length:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    rows, last = layers(kind, input.reshape(length * count, width), initial, groups, (count,) * length, dropout, both)
    out = rows.reshape(length, count, rows.shape[1])
    return out.transpose(0, 1) if batch_first else out, last


def sizes_of(batch_sizes: TensorBase) -> Sizes:
    return tuple(batch_sizes.array.tolist())


# -- public functions -------------------------------------------------------------------------------------------------

REST = "params: Tensors, has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool"


def forms(hx: str, result: str) -> tuple[str, str]:
    return (
        f"(data: Tensor, batch_sizes: Tensor, hx: {hx}, {REST}) -> {result}",
        f"(input: Tensor, hx: {hx}, {REST}, batch_first: bool) -> {result}",
    )


def recurrent(kind: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """A call of one of the functions below, in either form: (all states of the last layer, the last of all layers)."""
    call = call_of_arrays((*args, *kwargs.values()))
    if call not in (None, handling.inside):
        return call(function, args, kwargs)  # type: ignore[no-any-return]
    given = matched(function, args, kwargs)
    hx, params = given["hx"], given["params"]
    if kind == "lstm" and len(hx) != 2:
        raise errors.mistake(RuntimeError, "lstm expects two hidden states")
    initial = tuple(hx) if kind == "lstm" else (hx,)
    projects = kind == "lstm" and initial[0].shape[2] != initial[1].shape[2]
    groups = grouped(params, given["has_biases"], projects)
    dropout = given["dropout"] if given["train"] else 0.0
    if "batch_sizes" in given:
        sizes = sizes_of(given["batch_sizes"])
        out, last = layers(kind, given["data"], initial, groups, sizes, dropout, given["bidirectional"])
    else:
        out, last = over_padded(
            kind, given["input"], initial, groups, dropout, given["bidirectional"], given["batch_first"]
        )
    return out, *last


@declared(*forms("Tensors", "tuple[Tensor, Tensor, Tensor]"))
def lstm(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first): layers of LSTM
    cells over sequences; or lstm(data, batch_sizes, hx, ...) over packed ones. See nn.LSTM."""
    return recurrent("lstm", lstm, args, kwargs)


@declared(*forms("Tensor", "tuple[Tensor, Tensor]"))
def gru(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first): layers of GRU cells
    over sequences; or gru(data, batch_sizes, hx, ...) over packed ones. See nn.GRU."""
    return recurrent("gru", gru, args, kwargs)


@declared(*forms("Tensor", "tuple[Tensor, Tensor]"))
def rnn_tanh(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first): layers of cells
    tanh(W x + U h + b) over sequences; or rnn_tanh(data, batch_sizes, hx, ...) over packed ones. See nn.RNN."""
    return recurrent("tanh", rnn_tanh, args, kwargs)


@declared(*forms("Tensor", "tuple[Tensor, Tensor]"))
def rnn_relu(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    """rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first): layers of cells
    relu(W x + U h + b) over sequences; or rnn_relu(data, batch_sizes, hx, ...) over packed ones. See nn.RNN."""
    return recurrent("relu", rnn_relu, args, kwargs)


FUNCTIONS = by_name(*[overridable_function(each) for each in (lstm, gru, rnn_tanh, rnn_relu)])
