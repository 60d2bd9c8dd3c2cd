"""Recurrent layers without PyTorch: the operation for a whole sequence against the same composed of others, their
derivatives, maps, and packed sequences."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad import nn
from leafgrad.nn.utils.rnn import pack_sequence, unpack_sequence
from leafgrad.ops.recurrent import layers
from leafgrad.ops.recurrent.layers import Weights

KINDS = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}


def weights_of(kind: str, make: Any) -> Weights:
    gates = KINDS[kind]
    return Weights(*[make(2 * gates, width) for width in (3, 2)], *[make(2 * gates) for _ in range(2)])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("sizes", [(3, 3, 3), (3, 2, 2, 1)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_sequence_as_one_operation(kind: str, sizes: tuple[int, ...], reverse: bool) -> None:
    """Results, gradients and second gradients."""
    make = lambda *shape: lg.randn(*shape, dtype=lg.float64, requires_grad=True)
    lg.manual_seed(0)
    weights, rows = weights_of(kind, make), make(sum(sizes), 3)
    initial = tuple([make(3, 2) for _ in range(2 if kind == "lstm" else 1)])
    leaves = [rows, *initial, *weights[:4]]
    out, last = layers.layer(kind, rows, initial, weights, sizes, reverse)
    bias = weights.b_ih if kind == "gru" else weights.b_ih + weights.b_hh
    states = layers.composed(kind, rows @ weights.w_ih.t() + bias, initial, weights, sizes, reverse)
    other = [states[0], *[layers.last_rows(state, sizes, reverse) for state in states]]
    found = []
    for results in ([out, *last], other):
        loss = sum([(t * t.detach().cos()).sum() for t in results])
        first = lg.autograd.grad(loss, leaves, create_graph=True)
        second = lg.autograd.grad(sum([g.sin().sum() for g in first]), leaves, retain_graph=True)
        plain = lg.autograd.grad(loss, leaves)
        found.append([t.detach().numpy() for t in (*results, *first, *second, *plain)])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_maps_over_sequences_and_over_weights(kind: str) -> None:
    lg.manual_seed(0)
    layer = getattr(nn, kind)(3, 2)
    sequences = lg.randn(4, 5, 3)
    each = lg.stack([layer(sequence)[0] for sequence in sequences])
    mapped = lg.func.vmap(lambda sequence: layer(sequence)[0])(sequences)
    np.testing.assert_allclose(mapped.detach().numpy(), each.detach().numpy(), rtol=1e-5, atol=1e-6)

    others = [getattr(nn, kind)(3, 2) for _ in range(3)]
    weights = {name: lg.stack([dict(m.named_parameters())[name] for m in others]) for name in layer.state_dict()}
    run = lambda own: lg.func.functional_call(layer, own, (sequences[0],))[0]
    expected = lg.stack([m(sequences[0])[0] for m in others])
    ours = lg.func.vmap(run)(weights)
    np.testing.assert_allclose(ours.detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_half_precision_is_composed(kind: str) -> None:
    lg.manual_seed(0)
    layer = getattr(nn, kind)(3, 2, 2, bidirectional=True)
    x = lg.randn(4, 3, 3)
    wide, _ = layer(x)
    half, _ = layer.to(lg.bfloat16)(x.to(lg.bfloat16))
    assert half.dtype is lg.bfloat16
    np.testing.assert_allclose(half.detach().float().numpy(), wide.detach().numpy(), atol=0.03)


def test_packed_sequences_are_copied_and_pickled() -> None:
    packed = pack_sequence([lg.arange(2.0), lg.arange(4.0)], enforce_sorted=False)
    for twin in (copy.deepcopy(packed), pickle.loads(pickle.dumps(packed))):
        assert type(twin) is type(packed) and [t.tolist() for t in twin] == [t.tolist() for t in packed]
    assert [t.tolist() for t in unpack_sequence(packed)] == [[0, 1], [0, 1, 2, 3]]


def test_dropout_of_a_single_layer_warns() -> None:
    with pytest.warns(UserWarning, match="dropout option adds dropout after all but last recurrent layer"):
        nn.LSTM(2, 3, dropout=0.5)


def test_a_sequence_longer_than_its_padding_is_refused() -> None:
    with pytest.raises(RuntimeError, match="Expected no sequence to be longer than the padded length, but got 6"):
        lg.nn.utils.rnn.pack_padded_sequence(lg.ones(5, 2), [6, 1])


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((1, 20), "Input batch size 3 doesn't match hidden1 batch size 1"),
        ((3, 1), "hidden1 has inconsistent hidden_size: got 1, expected 20"),
        ((3, 19), "hidden1 has inconsistent hidden_size: got 19, expected 20"),
    ],
)
def test_cells_are_not_broadcast(shape: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        nn.LSTMCell(10, 20)(lg.zeros(3, 10), (lg.zeros(3, 20), lg.zeros(shape)))
    with pytest.raises(RuntimeError, match=message.replace("hidden1", "hidden0")):
        nn.GRUCell(10, 20)(lg.zeros(3, 10), lg.zeros(shape))
