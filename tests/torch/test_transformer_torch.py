"""Transformers of leafgrad beside those of PyTorch: warnings and errors. What they compute is in module_rows/."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import pytest

import leafgrad
import leafgrad.nn
from both_libraries import same, same_error, values


def warned(expression: str, lib: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        eval(expression, {"nn": lib.nn, "layer": lib.nn.TransformerEncoderLayer})
    return [str(each.message).partition("\n")[0] for each in caught]


@pytest.mark.parametrize(
    "arguments",
    [
        "encoder_layer=layer(4, 2)",
        "encoder_layer=layer(4, 1, batch_first=True)",
        "encoder_layer=layer(4, 2, batch_first=True, norm_first=True)",
        "encoder_layer=layer(4, 2, batch_first=True, bias=False)",
        "encoder_layer=layer(4, 2, batch_first=True, activation=nn.Tanh())",
        "encoder_layer=layer(4, 2, batch_first=True)",
        "encoder_layer=layer(4, 2), enable_nested_tensor=False",
        "encoder_layer=nn.TransformerDecoderLayer(4, 2)",
    ],
)
def test_warnings_of_encoders(arguments: str) -> None:
    same(lambda lib: warned(f"nn.TransformerEncoder(num_layers=1, {arguments})", lib))


@pytest.mark.parametrize(
    "expression",
    [
        "layer(4, 2, activation='gelux')",
        "layer(4, 2, 8)(r(3, 2, 4), is_causal=True)",
        "nn.Transformer(4, 2, 1, 1, 8, batch_first=True)(r(2, 3, 4), r(3, 3, 4))",
        "nn.Transformer(4, 2, 1, 1, 8)(r(2, 3, 4), r(2, 4, 4))",
        "nn.Transformer(4, 2, 1, 1, 8, batch_first=True)(r(2, 3, 4), r(2, 3, 5))",
    ],
)
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
def test_errors(expression: str) -> None:
    names = lambda lib: {"nn": lib.nn, "layer": lib.nn.TransformerEncoderLayer, "r": lib.randn}
    same_error(lambda lib: eval(expression, names(lib)))


def test_masks() -> None:
    same(lambda lib: lib.nn.Transformer.generate_square_subsequent_mask(3))
    same(lambda lib: lib.nn.Transformer.generate_square_subsequent_mask(2, dtype=lib.float64))


def test_layers_are_pickled() -> None:
    layer = leafgrad.nn.TransformerEncoderLayer(4, 2, 8, 0.0, activation="relu")
    x = leafgrad.randn(3, 2, 4)
    assert values(pickle.loads(pickle.dumps(layer))(x)).tolist() == values(layer(x)).tolist()
