"""Attention of leafgrad beside that of PyTorch: functions, masks and errors. Layers are in module_rows/."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import leafgrad
import leafgrad.nn.functional
from both_libraries import LIBRARIES, same, same_error, values

CALLS = [  # shapes of queries, keys and values, a mask and options
    ((3, 4), (5, 4), (5, 2), "", {}),
    ((2, 3, 4), (2, 5, 4), (2, 5, 4), "bool", {}),
    ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4), "bool", {"scale": 0.3}),
    ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4), "float", {}),
    ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4), "closed row", {}),
    ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4), "closed row of floats", {}),
    ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4), "", {"is_causal": True}),
    ((2, 2, 5, 4), (2, 2, 3, 4), (2, 2, 3, 4), "", {"is_causal": True, "dropout_p": 0.4}),
    ((2, 2, 3, 4), (2, 2, 5, 4), (2, 2, 5, 4), "float", {"dropout_p": 0.4}),
    ((1, 4, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4), "", {"enable_gqa": True}),
    ((3, 4), (0, 4), (0, 2), "", {}),
]


def mask_of(lib: Any, kind: str, rows: int, columns: int) -> Any:
    if not kind:
        return None
    mask = lib.arange(rows * columns).reshape(rows, columns) % 3 != 0
    if "closed" in kind:
        mask[1] = False
    if kind in ("bool", "closed row"):
        return mask
    return lib.where(mask, lib.randn(rows, columns, dtype=lib.float64), -math.inf)


@pytest.mark.parametrize(("q", "k", "v", "kind", "options"), CALLS)
def test_attention(q: Any, k: Any, v: Any, kind: str, options: dict[str, Any]) -> None:
    found = []
    for lib in LIBRARIES:
        lib.manual_seed(0)
        inputs = [lib.randn(shape, dtype=lib.float64, requires_grad=True) for shape in (q, k, v)]
        mask = mask_of(lib, kind, q[-2], k[-2])
        out = lib.nn.functional.scaled_dot_product_attention(*inputs, mask, **options)
        out.sin().sum().backward()
        found.append([values(t) for t in (out, *[x.grad for x in inputs], lib.randn(2))])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_gradient_of_a_mask() -> None:
    found = []
    for lib in LIBRARIES:
        lib.manual_seed(0)
        mask = mask_of(lib, "closed row of floats", 3, 5).requires_grad_()
        query, key = lib.randn(2, 3, 4, dtype=lib.float64), lib.randn(2, 5, 4, dtype=lib.float64)
        lib.nn.functional.scaled_dot_product_attention(query, key, key, mask).sin().sum().backward()
        found.append(values(mask.grad))
    np.testing.assert_allclose(*found, rtol=1e-10, atol=1e-12)


def test_second_gradients_and_maps() -> None:
    lg = leafgrad
    lg.manual_seed(0)
    attention = lg.nn.functional.scaled_dot_product_attention
    query, key = lg.randn(3, 4, dtype=lg.float64, requires_grad=True), lg.randn(5, 4, dtype=lg.float64)
    mask = mask_of(lg, "closed row", 3, 5)
    assert lg.autograd.gradgradcheck(lambda q: attention(q, key, key, mask), query)
    queries = lg.randn(3, 3, 4, dtype=lg.float64)
    mapped = lg.func.vmap(lambda q, m: attention(q, key, key, m))(queries, lg.stack([mask, ~mask, mask]))
    each = lg.stack([attention(q, key, key, m) for q, m in zip(queries, (mask, ~mask, mask), strict=True)])
    np.testing.assert_allclose(values(mapped), values(each), rtol=1e-12)


@pytest.mark.parametrize(
    "expression",
    [
        "F.scaled_dot_product_attention(r(4), r(5, 4), r(5, 3))",
        "F.scaled_dot_product_attention(r(3, 4), r(5, 4).double(), r(5, 3))",
        "F.scaled_dot_product_attention(r(3, 4), r(5, 4), r(5, 4), lib.ones(3, 5), is_causal=True)",
        "F.scaled_dot_product_attention(r(3, 4), r(5, 4), r(5, 4), lib.ones(3, 4))",
        "F.scaled_dot_product_attention(r(3, 4), r(5, 4), r(5, 4), lib.ones(3, 5).long())",
        "F.scaled_dot_product_attention(r(3, 4), r(5, 3), r(5, 3))",
        "F.scaled_dot_product_attention(r(1, 2, 3, 4), r(1, 4, 5, 4), r(1, 4, 5, 4), enable_gqa=True)",
        "F.scaled_dot_product_attention(r(3, 4), r(5, 4), r(5, 4), dropout_p=1.5)",
        "nn.MultiheadAttention(5, 2)",
        "nn.MultiheadAttention(0, 2)",
        "m(r(4), r(4), r(4))",
        "m(r(3, 2, 4), r(3, 4), r(3, 4))",
        "m(r(3, 4), r(3, 2, 4), r(3, 4))",
        "m(r(3, 2, 5), r(3, 2, 5), r(3, 2, 5))",
        "m(r(3, 2, 4), r(3, 2, 4), r(5, 2, 4))",
        "m(r(3, 2, 4), r(3, 2, 4), r(3, 2, 4), attn_mask=lib.ones(3, 4))",
        "m(r(3, 2, 4), r(3, 2, 4), r(3, 2, 4), attn_mask=lib.ones(2, 3, 3))",
        "m(r(3, 2, 4), r(3, 2, 4), r(3, 2, 4), attn_mask=lib.ones(3))",
        "m(r(3, 2, 4), r(3, 2, 4), r(3, 2, 4), attn_mask=lib.ones(3, 3).long())",
        "m(r(3, 4), r(3, 4), r(3, 4), attn_mask=lib.ones(3, 3, 3))",
        "m(r(3, 2, 4), r(3, 2, 4), r(3, 2, 4), key_padding_mask=lib.ones(3, 2))",
        "m(r(3, 2, 4), r(3, 2, 4), r(3, 2, 4), key_padding_mask=lib.ones(3))",
        "m(r(3, 2, 4), r(3, 2, 4), r(3, 2, 4), is_causal=True)",
    ],
)
def test_errors(expression: str) -> None:
    names = lambda lib: {"r": lib.randn, "lib": lib, "nn": lib.nn, "F": lib.nn.functional}
    same_error(lambda lib: eval(expression, {**names(lib), "m": lib.nn.MultiheadAttention(4, 2)}))


@pytest.mark.parametrize("backends", ["MATH", "[MATH, FLASH_ATTENTION]", "'x'", "3", "[CUDNN_ATTENTION]", "[]"])
def test_choice_of_an_algorithm(backends: str) -> None:
    def program(lib: Any) -> Any:
        attention = import_module(f"{lib.__name__}.nn.attention")
        x = lib.ones(1, 1, 2, 2)
        try:
            with attention.sdpa_kernel(eval(backends, dict(attention.SDPBackend.__members__))):
                return lib.nn.functional.scaled_dot_product_attention(x, x, x)
        except (AssertionError, RuntimeError) as error:
            return type(error).__name__, str(error).partition("\n")[0]

    same(program)
