"""Random numbers written straight into memory that is there, and draws of all sizes after each other."""

from __future__ import annotations

import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import leafgrad as torch
from leafgrad.kernels import _random_rounding
from leafgrad.ops.random import distributions

Array = np.ndarray[Any, Any]
FLOATS = [np.dtype(kind) for kind in ("float16", ml_dtypes.bfloat16, "float32", "float64")]
CALLS: list[tuple[str, tuple[Any, ...], list[Any]]] = [
    ("uniform", (), [*FLOATS, np.dtype("complex64"), np.dtype("complex128")]),
    ("uniform", (-2.5, 7.25), FLOATS),
    ("normal", (), [*FLOATS, np.dtype("complex64"), np.dtype("complex128")]),
    ("normal", (1.5, 0.1), FLOATS),
    ("log_normal", (0.5, 0.25), FLOATS),
    ("exponential", (2.0,), FLOATS),
    ("cauchy", (1.0, 2.0), FLOATS),
    ("geometric", (0.3,), [*FLOATS, np.dtype("uint8"), np.dtype("int64")]),
    ("bernoulli_p", (0.3,), [*FLOATS, np.dtype("bool"), np.dtype("uint8"), np.dtype("int64")]),
    ("random_", (-3, 90), [*FLOATS, np.dtype("int8"), np.dtype("int32"), np.dtype("int64")]),
    ("random_", (None, None), [*FLOATS, np.dtype("bool"), np.dtype("uint8"), np.dtype("int64")]),
    ("random_", (-(2**62), 2**62), [np.dtype("int64")]),
]


@pytest.mark.parametrize(
    ("call", "parameters", "dtype"),
    [(call, parameters, dtype) for call, parameters, dtypes in CALLS for dtype in dtypes],
    ids=str,
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (5, 7), (2, 700)])
def test_into_memory(call: str, parameters: tuple[Any, ...], dtype: Any, shape: tuple[int, ...]) -> None:
    fresh, writing = distributions.Generator().manual_seed(5), distributions.Generator().manual_seed(5)
    for _ in range(3):
        want = getattr(distributions, call)(fresh, shape, dtype, *parameters)
        memory = np.full((*shape, 2), 1, dtype).reshape(2, *shape)
        got = getattr(distributions, call)(writing, shape, dtype, *parameters, out=memory[0, ...])
        assert got.shape == want.shape == shape
        assert want.dtype == dtype
        assert memory[0].tobytes() == want.tobytes()
        assert (memory[1] == 1).all(), "wrote beyond its memory"
    assert np.array_equal(fresh.get_state_array(), writing.get_state_array())


def test_an_array_with_a_dtype_object_of_its_own() -> None:
    for kind in ("float32", "float64", "int64"):
        array = pickle.loads(pickle.dumps(np.zeros(40, kind)))
        assert array.dtype == np.dtype(kind)
        if kind == "int64":
            got = distributions.random_(distributions.Generator(), 40, array.dtype, 0, 9, out=array)
            want = distributions.random_(distributions.Generator(), 40, kind, 0, 9)
        else:
            got = distributions.normal(distributions.Generator(), 40, array.dtype, out=array)
            want = distributions.normal(distributions.Generator(), 40, kind)
        assert got is array
        assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("seed", range(5))
def test_draws_of_any_size_are_pieces_of_one_stream(seed: int) -> None:
    """However the words are asked for, one after the other or a million at once, they are the same words."""
    sizes = np.random.default_rng(seed).choice([0, 1, 2, 3, 15, 16, 17, 300, 623, 624, 625, 1248, 9984, 12345], 40)
    whole = distributions.uniform(distributions.Generator().manual_seed(seed), int(sizes.sum()), np.float32)
    gen = distributions.Generator().manual_seed(seed)
    parts = []
    for size in sizes.tolist():
        parts.append(distributions.uniform(gen, size, np.float32))
        if size % 2:  # a state is what it is wherever the words are fetched from
            later = distributions.Generator()
            later.set_state_array(gen.get_state_array())
            assert np.array_equal(later.get_state_array(), gen.get_state_array())
            gen = later
    assert np.array_equal(np.concatenate(parts), whole)


def test_what_lies_otherwise_in_memory_is_filled_in_its_order() -> None:
    torch.manual_seed(3)
    plain = torch.zeros(6, 4).uniform_(-1, 1)
    torch.manual_seed(3)
    turned = torch.zeros(6, 4).t().uniform_(-1, 1)
    assert turned.t().tolist() == plain.tolist()


def test_known_sums_round_once() -> None:
    u: Array = (np.arange(0, 2**24, 997).astype(np.float32) * np.float32(2.0**-24)).astype(np.float32)
    for low, high in ((-0.1, 0.1), (-3.0, 0.7), (5.0, 6.0), (-1e-3, 1e3)):
        span, start = float(np.float32(high) - np.float32(low)), float(np.float32(low))
        careful, quick = u.copy(), u.copy()
        _random_rounding.add_scaled(careful, span, start)
        _random_rounding.add_scaled(quick, span, start, exact=True)
        assert np.array_equal(careful, quick)


def test_spacing() -> None:
    for x in (1.0, 0.1, 3e38, 1e-40, 2.0**-149, -7.0):
        value = np.float32(x)
        assert _random_rounding.spacing(float(value)) == abs(float(np.spacing(value)))
    assert _random_rounding.spacing(0.0) == np.inf
