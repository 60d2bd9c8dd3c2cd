"""The steps of recurrent layers in C against the same on NumPy, for sequences of any lengths, in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import leafgrad
from leafgrad import kernels
from leafgrad.kernels import recurrent
from leafgrad.kernels.products import find_blas

INPUTS = 7
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
SIZES = [(1,), (3,), (16, 16, 16), (20, 19, 19, 7, 1), (70, 64, 9), (3,) * 9]


def layer(name: str, sizes: tuple[int, ...], n: int, kind: Any) -> tuple[list[Any], Any]:
    """Arguments of the function of this name without the sizes, and a generator for more."""
    rng = np.random.default_rng(0)
    make = lambda *shape: rng.standard_normal(shape).astype(kind)
    rows, count, wide = sum(sizes), sizes[0], GATES[name] * n
    given = [
        make(rows, INPUTS),
        make(count, n),
        *([make(count, n)] if name == "lstm" else []),
        make(INPUTS, wide) / kind(INPUTS**0.5),
        make(n, wide) / kind(n**0.5),
        make(wide),
    ]
    return given + ([make(wide)] if name == "gru" else []), make


def both(name: str, args: list[Any], *options: Any) -> list[list[Any]]:
    """What the native function and the one on NumPy return."""
    native = getattr(recurrent, name)
    given = [None if x is None else x.copy() for x in args]
    found = [[*function(*given, *options)] for function in (native, native.otherwise)]
    assert all([x is None or np.array_equal(x, y) for x, y in zip(args, given, strict=True)])  # they change nothing
    return found


def assert_alike(found: list[list[Any]], kind: Any) -> None:
    tolerance = 2e-5 if kind is np.float32 else 1e-12
    for ours, theirs in zip(*found, strict=True):
        assert ours.dtype == kind
        largest = max(1, abs(theirs).max())  # sums of many such numbers
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * largest)


@pytest.mark.skipif(not kernels.NATIVE or not find_blas(), reason="there is one form only")
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 5, 64, 150])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", GATES)
def test_both_forms_agree(name: str, reverse: bool, n: int, kind: Any) -> None:
    for sizes in SIZES:
        given, make = layer(name, sizes, n, kind)
        assert_alike(both(name, given, sizes, reverse), kind)
        assert_alike(both(name, [*given[:-1], None], sizes, reverse), kind)
        rows, w = sum(sizes), np.ascontiguousarray(given[4 if name == "lstm" else 3].T)
        states, gates = make(rows, n), abs(make(rows, GATES[name] * n)) % 1
        if name == "lstm":
            for own in ([make(rows, n), None], [None, make(rows, n)], [make(rows, n), make(rows, n)]):
                assert_alike(both("lstm_backward", [*own, given[2], w, states, gates], sizes, reverse), kind)
        elif name == "gru":
            kept = [make(rows, n), given[1], w, states, gates, make(rows, n)]
            assert_alike(both("gru_backward", kept, sizes, reverse), kind)
        else:
            assert_alike(both(f"{name}_backward", [make(rows, n), given[1], w, states], sizes, reverse), kind)


def test_the_number_of_threads_changes_nothing() -> None:
    before = leafgrad.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 5):
            leafgrad.set_num_threads(threads)
            given, _ = layer("lstm", (64,) * 12, 40, np.float32)
            found.append([*recurrent.lstm(*given, (64,) * 12, False)])
            given, _ = layer("lstm", (8,) * 99, 64, np.float32)  # one group: the products of inputs are shared
            found[-1] += recurrent.lstm(*given, (8,) * 99, False)
    finally:
        leafgrad.set_num_threads(before)
    for other in found[1:]:
        assert all([np.array_equal(x, y) for x, y in zip(found[0], other, strict=True)])


def test_what_it_does_not_take_goes_to_numpy() -> None:
    """Arrays may lie in any order; shapes that do not fit get NumPy's words."""
    given, make = layer("lstm", (3, 3), 4, np.float32)
    found = recurrent.lstm(*[np.asfortranarray(x) for x in given], (3, 3), False)
    for ours, expected in zip(found, recurrent.lstm(*given, (3, 3), False), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="shape"):
        recurrent.lstm(make(5, INPUTS), *given[1:], (3, 3), False)
