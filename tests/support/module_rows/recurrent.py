"""Recurrent layers and cells, with padded and with packed sequences."""

from __future__ import annotations

import sys
from typing import Any

from module_cases import Case


def packed(batch_first: bool = False, sorted_before: bool = True) -> Any:
    """A call with sequences of lengths 4, 2 and 2, or in another order, that are packed before and padded after."""

    def call(module: Any, x: Any, *initial: Any) -> Any:
        rnn = sys.modules[type(module).__module__.partition(".")[0]].nn.utils.rnn
        lengths = [4, 2, 2] if sorted_before else [2, 4, 1]
        sequence = rnn.pack_padded_sequence(x, lengths, batch_first=batch_first, enforce_sorted=sorted_before)
        out, last = module(sequence, *[initial if len(initial) == 2 else initial[0]] if initial else [])
        padded, _ = rnn.pad_packed_sequence(out, batch_first=batch_first, padding_value=0.5)
        return padded, last

    return call


def with_states(module: Any, x: Any, h: Any, c: Any) -> Any:
    return module(x, (h, c))


ROWS = {
    "RNN": Case(lambda nn: nn.RNN(3, 4), (5, 2, 3)),
    "RNN relu": Case(lambda nn: nn.RNN(3, 4, 2, "relu", bias=False, batch_first=True), (2, 5, 3)),
    "RNN of one sequence": Case(lambda nn: nn.RNN(3, 4, bidirectional=True), (5, 3), (2, 4)),
    "RNN packed": Case(lambda nn: nn.RNN(3, 2, bidirectional=True), (4, 3, 3), call=packed()),
    "LSTM": Case(lambda nn: nn.LSTM(3, 4), (5, 2, 3)),
    "LSTM with states": Case(
        lambda nn: nn.LSTM(3, 2, 2, batch_first=True, bidirectional=True), (3, 4, 3), (4, 3, 2), (4, 3, 2),
        call=with_states,
    ),
    "LSTM of one sequence": Case(
        lambda nn: nn.LSTM(3, 2, batch_first=True, bias=False), (4, 3), (1, 2), (1, 2), call=with_states
    ),
    "LSTM projected": Case(lambda nn: nn.LSTM(3, 4, 2, proj_size=2, bidirectional=True), (3, 2, 3)),
    "LSTM with dropout": Case(lambda nn: nn.LSTM(3, 4, 3, dropout=0.4), (5, 2, 3)),
    "LSTM packed": Case(lambda nn: nn.LSTM(3, 2, 2, bidirectional=True), (4, 3, 3), call=packed()),
    "LSTM packed with states": Case(
        lambda nn: nn.LSTM(3, 2), (4, 3, 3), (1, 3, 2), (1, 3, 2), call=packed(sorted_before=False)
    ),
    "GRU": Case(lambda nn: nn.GRU(3, 4), (5, 2, 3)),
    "GRU with a state": Case(lambda nn: nn.GRU(3, 2, 2, bias=False, bidirectional=True), (4, 3, 3), (4, 3, 2)),
    "GRU with dropout": Case(
        lambda nn: nn.GRU(3, 4, 2, batch_first=True, dropout=0.5, bidirectional=True), (2, 5, 3)
    ),
    "GRU packed": Case(
        lambda nn: nn.GRU(3, 2, batch_first=True, bidirectional=True), (3, 4, 3), (2, 3, 2),
        call=packed(batch_first=True, sorted_before=False),
    ),
    "RNNCell": Case(lambda nn: nn.RNNCell(3, 4), (2, 3)),
    "RNNCell relu": Case(lambda nn: nn.RNNCell(3, 4, False, "relu"), (3,), (4,)),
    "LSTMCell": Case(lambda nn: nn.LSTMCell(3, 4), (2, 3)),
    "LSTMCell with states": Case(lambda nn: nn.LSTMCell(3, 4, bias=False), (3,), (4,), (4,), call=with_states),
    "GRUCell": Case(lambda nn: nn.GRUCell(3, 4), (2, 3), (2, 4)),
    "GRUCell of one": Case(lambda nn: nn.GRUCell(3, 4, bias=False), (3,)),
}  # fmt: skip
