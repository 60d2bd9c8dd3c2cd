"""Recurrent layers and packed sequences of leafgrad beside those of PyTorch: what the rows of module_rows/recurrent.py
do not show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import leafgrad
import leafgrad.nn.utils.rnn
from both_libraries import LIBRARIES, same, same_error, values


def evaluated(lib: Any, expression: str) -> Any:
    lib.manual_seed(0)
    names = {"r": lib.randn, "t": lib.tensor, "nn": lib.nn, "lib": lib, **vars(lib.nn.utils.rnn)}
    return eval(expression, names)


PACKED = "pack_padded_sequence(r(4, 3, 2), [4, 2, 1])"


@pytest.mark.parametrize(
    "expression",
    [
        PACKED,
        "pack_padded_sequence(r(3, 4), t([2, 4, 3]), batch_first=True, enforce_sorted=False)",
        "pack_padded_sequence(r(3, 2, 4), t([3., 2.]))",
        f"pad_packed_sequence({PACKED}, total_length=6, padding_value=-1.0)",
        "pad_packed_sequence(pack_sequence([t([1, 2]), t([3, 4, 5])], enforce_sorted=False), batch_first=True)",
        "pad_sequence([r(2, 3), r(4, 3), r(1, 3)])",
        "pad_sequence([r(2), r(4)], batch_first=True, padding_value=9.0, padding_side='left')",
        "pad_sequence([t([1, 2]), t([1.5, 2, 3])])",
        "pad_sequence(r(2, 3, 1))",
        "pack_sequence([t([1, 2, 3]), t([4, 5])])",
        "unpack_sequence(pack_sequence([r(1, 2), r(3, 2)], enforce_sorted=False))",
        "unpad_sequence(r(3, 2, 1), t([3, 1]))",
        "invert_permutation(t([2, 0, 1]))",
        "invert_permutation(None)",
        "PackedSequence((r(3, 2), t([2, 1])))",
        f"{PACKED}.double()",
        f"{PACKED}.to(lib.float16).long()",
        f"repr({PACKED})",
        f"({PACKED}.is_cuda, {PACKED}.is_pinned(), {PACKED}._fields)",
        "[name for name, _ in nn.LSTM(2, 3, 2, proj_size=1, bidirectional=True).named_parameters()]",
        "[[w.shape for w in weights] for weights in nn.GRU(2, 3, 2, bias=False).all_weights]",
        "nn.LSTM(2, 3)._flat_weights_names",
        "nn.LSTM(2, 3, 2).get_expected_cell_size(r(4, 5, 2), None)",
        "nn.RNN(2, 3).flatten_parameters()",
        "nn.LSTM(2, 3)(r(4, 0, 2))[1]",
    ],
)
def test_results(expression: str) -> None:
    same(lambda lib: evaluated(lib, expression))


@pytest.mark.parametrize(
    "expression",
    [
        "pack_padded_sequence(r(5, 2, 3), [5])",
        "pack_padded_sequence(r(5, 2, 3), [5, 0])",
        "pack_padded_sequence(r(5, 2, 3), [4, 5])",
        "pack_padded_sequence(r(0, 2, 3), [1, 1])",
        "pack_padded_sequence(r(5), [5])",
        "pack_padded_sequence(r(5, 2, 3), t([[5, 2]]))",
        f"pad_packed_sequence({PACKED}, total_length=2)",
        "pad_packed_sequence(PackedSequence(r(0, 2), t([], dtype=lib.int64)))",
        "pad_sequence([])",
        "pad_sequence([r(2, 3), r(3, 4)])",
        "pad_sequence([r(2)], padding_side='x')",
        "pad_sequence(5)",
        "pack_sequence([r(1), r(2)])",
        "PackedSequence(r(3, 2))",
        "nn.LSTM(3, 4)(r(0, 2, 3))",
        "nn.LSTM(3, 4)(r(5, 2, 4))",
        "nn.LSTM(3, 4)(r(5, 2, 3).double())",
        "nn.LSTM(3, 4)(r(5))",
        "nn.LSTM(3, 4)(r(5, 2, 3), (r(1, 3, 4), r(1, 3, 4)))",
        "nn.LSTM(3, 4)(r(5, 2, 3), (r(1, 2, 4), r(1, 4)))",
        "nn.LSTM(3, 4)(r(5, 3), (r(1, 2, 4), r(1, 2, 4)))",
        "nn.GRU(3, 4)(r(5, 2, 3), r(1, 3, 4))",
        "nn.GRU(3, 4)(r(5, 2, 3), r(2, 4))",
        "nn.GRU(3, 4)(r(5))",
        "nn.RNN(3, 4)(r(1, 1, 1, 1))",
        "nn.RNN(3, 4)(r(2, 3), r(1, 1, 4))",
        "nn.LSTM(3, 0)",
        "nn.LSTM(0, 3)",
        "nn.LSTM(3.0, 4)",
        "nn.LSTM(3, 4, 0)",
        "nn.LSTM(3, 4, bias=1)",
        "nn.LSTM(3, 4, dropout=2)",
        "nn.LSTM(3, 4, dropout=True)",
        "nn.LSTM(3, 4, proj_size=5)",
        "nn.LSTM(3, 4, proj_size=-1)",
        "nn.GRU(3, 4, proj_size=2)",
        "nn.RNN(3, 4, proj_size=2)",
        "nn.RNN(3, 4, nonlinearity='x')",
        "nn.RNNBase('X', 3, 4)",
        "nn.LSTMCell(3, 4)(r(2, 5))",
        "nn.LSTMCell(3, 4)(r(2, 3), (r(3, 4), r(3, 4)))",
        "nn.LSTMCell(3, 4)(r(2, 3), (r(2, 5), r(2, 5)))",
        "nn.LSTMCell(3, 4)(r(2, 3), (r(1, 1, 1), r(1)))",
        "nn.GRUCell(3, 4)(r(1, 1, 1))",
        "nn.GRUCell(3, 4)(r(1, 3), r(1, 1, 1))",
        "nn.RNNCell(3, 4, nonlinearity='x')(r(1, 3))",
        "lib.rnn_tanh_cell(r(2, 3), r(2, 4), r(4, 3), r(4, 5))",
        "lib.rnn_relu_cell(r(2, 3), r(2, 5), r(5, 3), r(4, 5))",
        "lib.lstm_cell(r(2, 3), [r(2, 4)], r(4, 3), r(4, 5))",
    ],
)
def test_errors(expression: str) -> None:
    same_error(lambda lib: evaluated(lib, expression))


FUNCTIONS = {"lstm": (4, 2), "gru": (3, 1), "rnn_tanh": (1, 1), "rnn_relu": (1, 1)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    """lstm, gru, ... by position and by name, over padded and packed sequences."""
    gates, states = FUNCTIONS[name]

    def program(lib: Any) -> list[Any]:
        lib.manual_seed(0)
        function = getattr(lib, name)
        state = lambda: lib.randn(1, 3, 2) if states == 1 else (lib.randn(1, 3, 2), lib.randn(1, 3, 2))
        weights = [lib.randn(2 * gates, 4), lib.randn(2 * gates, 2)]
        padded = function(lib.randn(5, 3, 4), state(), weights, False, 1, 0.0, False, False, False)
        options = {"has_biases": False, "num_layers": 1, "dropout": 0.0, "train": True, "bidirectional": False}
        sizes = lib.tensor([3, 2, 1])
        packed = function(data=lib.randn(6, 4), batch_sizes=sizes, hx=state(), params=weights, **options)
        return [*padded, *packed]

    for ours, theirs in zip(*[program(lib) for lib in LIBRARIES], strict=True):
        np.testing.assert_allclose(values(ours), values(theirs), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_second_gradients(kind: str) -> None:
    def program(lib: Any) -> list[Any]:
        lib.manual_seed(0)
        layer = getattr(lib.nn, kind)(3, 2, 2, bidirectional=True).double()
        x = lib.randn(4, 3, 3, dtype=lib.float64, requires_grad=True)
        out, _ = layer(lib.nn.utils.rnn.pack_padded_sequence(x, [4, 2, 1]))
        (first,) = lib.autograd.grad(out.data.pow(2).sum(), x, create_graph=True)
        return list(lib.autograd.grad(first.pow(2).sum(), [x, *layer.parameters()]))

    for ours, theirs in zip(program(leafgrad), program(torch), strict=True):
        np.testing.assert_allclose(values(ours), values(theirs), rtol=1e-9, atol=1e-12)
