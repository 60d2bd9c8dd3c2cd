"""One step of a recurrent layer: torch.lstm_cell, torch.gru_cell, torch.rnn_tanh_cell, torch.rnn_relu_cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad.ops.arguments import declared_and_checked
from leafgrad.ops.recurrent.layers import Weights, layer
from leafgrad.ops.signature import Tensor, Tensors, by_name


def stepped(kind: str, gates: int, input: Any, states: Any, weights: Weights) -> Any:
    """The states after one step."""
    check(gates, input, states, weights)
    out, last = layer(kind, input, tuple(states), weights, (input.shape[0],), False)
    return last if kind == "lstm" else out


def check(gates: int, input: TensorBase, states: Sequence[TensorBase], weights: Weights) -> None:
    """PyTorch's words about shapes that do not fit."""
    x, w = input.array.shape, weights.w_ih.array.shape
    if x[-1] != w[1]:
        raise errors.mistake(RuntimeError, f"input has inconsistent input_size: got {x[-1]} expected {w[1]}")
    size = weights.w_hh.array.shape[1]
    for name, weight in (("weight_ih", weights.w_ih), ("weight_hh", weights.w_hh)):
        rows = weight.array.shape[0]
        if rows != gates * size:
            first = f"{name} first dim must be {gates} * hidden_size = {gates * size}, but got {rows}"
            raise errors.mistake(RuntimeError, first)
    for i, given in enumerate(states):
        state = given.array.shape
        if x[0] != state[0]:
            raise errors.mistake(RuntimeError, f"Input batch size {x[0]} doesn't match hidden{i} batch size {state[0]}")
        if state[1] != size:
            first = f"hidden{i} has inconsistent hidden_size: got {state[1]}, expected {size}"
            raise errors.mistake(RuntimeError, first)


@declared_and_checked
def lstm_cell(
    input: Tensor, hx: Tensors, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None): the states after one step. See nn.LSTMCell."""
    if len(hx) != 2:
        raise errors.mistake(RuntimeError, "lstm_cell expects two hidden states")
    h, c = stepped("lstm", 4, input, hx, Weights(w_ih, w_hh, b_ih, b_hh))
    return h, c


@declared_and_checked
def gru_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None): the state after one step. See nn.GRUCell."""
    return stepped("gru", 3, input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))


@declared_and_checked
def rnn_tanh_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None): tanh(W x + U h + b). See nn.RNNCell."""
    return stepped("tanh", 1, input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))


@declared_and_checked
def rnn_relu_cell(
    input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None
) -> Tensor:
    """rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None): relu(W x + U h + b). See nn.RNNCell."""
    return stepped("relu", 1, input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))


FUNCTIONS = by_name(lstm_cell, gru_cell, rnn_tanh_cell, rnn_relu_cell)
