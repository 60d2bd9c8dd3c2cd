"""Random numbers compared with the installed PyTorch, draw by draw, and states handed over in both directions."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from leafgrad.ops.random import distributions, generator

# The same draw on either side, as the tests without PyTorch make it.
HERE = Path(__file__).parent
torch_draw: Callable[..., torch.Tensor] = runpy.run_path(str(HERE.parent / "data" / "make_random_streams.py"))["draw"]
leafgrad_draw: Callable[..., Any] = runpy.run_path(str(HERE.parent / "ops" / "test_random_streams.py"))["draw"]

SIZES = [*range(41), 100, 1000, 9999, 10000]
FLOATS = ["float32", "float64", "float16", "bfloat16"]
COMPLEXES = ["complex64", "complex128"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]

pytestmark = pytest.mark.filterwarnings("ignore:.*is out of bounds:UserWarning")


def raw(tensor: torch.Tensor) -> bytes:
    return tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


class Pair:
    """A generator on either side, drawing alike; `check` compares a result and what is left of the streams."""

    def __init__(self, seed: int) -> None:
        self.ours = distributions.Generator().manual_seed(seed)
        self.theirs = torch.Generator().manual_seed(seed)

    def check(self, result: Any, wanted: torch.Tensor, what: object) -> None:
        assert result.shape == tuple(wanted.shape), what
        assert result.tobytes() == raw(wanted), what
        assert self.ours.get_state_array().tobytes() == self.theirs.get_state().numpy().tobytes(), what

    def draw(self, call: str, dtype: str, size: int, args: dict[str, Any]) -> None:
        wanted = torch_draw(self.theirs, call, dtype, size, args)
        self.check(leafgrad_draw(self.ours, call, dtype, size, args), wanted, (call, dtype, size, args))


@pytest.mark.parametrize("dtype", FLOATS)
def test_parameters_at_the_ends_of_the_range(dtype: str) -> None:
    """Products that are too small, sums without a normal number: rounded once, and zeros with PyTorch's signs."""
    around = [(0, 1e-45), (0, 1e-40), (1e-40, 1e-42), (1e-310, 1e-312), (0, 1e-320), (2, 0), (-0.0, 1), (1e30, 1e38)]
    bounds = [(-1e-40, 1e-40), (0, 1e-45), (1, 1.0000001), (-1e-3, 1e4), (5e4, 6e4)]
    pair = Pair(8)
    for size in (5, 16, 40, 1000):
        for mean, std in around:
            pair.draw("normal", dtype, size, {"mean": mean, "std": std})
        for low, high in bounds:
            pair.draw("uniform", dtype, size, {"low": low, "high": high})


def cases() -> list[tuple[str, str, dict[str, Any]]]:
    table: list[tuple[str, list[str], list[dict[str, Any]]]] = [
        ("uniform", FLOATS + COMPLEXES, [{}, {"low": -0.5, "high": 0.5}, {"low": 1.1, "high": 5.7}]),
        ("uniform", FLOATS, [{"low": -1 / 3**0.5, "high": 1 / 3**0.5}, {"low": 3.0, "high": 3.0}]),
        ("normal", FLOATS + COMPLEXES, [{}, {"std": 0.02}, {"mean": 3.3}, {"mean": -1.7, "std": 2.9}, {"std": 0.0}]),
        ("normal", FLOATS, [{"contiguous": False}, {"contiguous": False, "mean": 1.5, "std": 0.3}]),
        ("log_normal", FLOATS, [{}, {"mean": 0.3, "std": 1.7}]),
        ("exponential", FLOATS, [{}, {"lambd": 0.3}, {"lambd": 7.7}]),
        ("cauchy", FLOATS, [{}, {"median": 0.3, "sigma": 1.7}]),
        ("geometric", FLOATS + INTEGERS, [{"p": 0.3}]),
        ("bernoulli_p", [*FLOATS, *INTEGERS, "bool"], [{"p": 0.37}, {"p": 0.0}, {"p": 1.0}]),
        ("bernoulli_t", FLOATS, [{}]),
        ("random_", [*FLOATS, *INTEGERS, "bool"], [{}, {"low": 1}]),
        ("random_", ["int64", "float64", "float32", "bfloat16"], [{"low": -(2**63)}]),
        ("randint", FLOATS + INTEGERS, [{"low": 0, "high": 2}, {"low": 3, "high": 100}]),
        ("randint", FLOATS + INTEGERS[1:], [{"low": -128, "high": 127}]),
        ("randint", ["bool"], [{"low": 0, "high": 2}]),
        (
            "randint",
            ["float16"],
            [{"low": 0, "high": 65504}, {"low": -2051, "high": 2051}, {"low": 2049, "high": 2060}],
        ),
    ]
    edges = [(0, 2**28 - 1), (0, 2**28), (-7, 2**32), (-(2**62), 2**62), (-(2**63), 2**63 - 1), (2**53 + 1, 2**54 + 1)]
    edges += [(16777217, 167772170), (-167772171, -5), (-(2**63) + 5, 2**63 - 1)]
    wide = ["int64", "float64", "float32", "bfloat16"]
    table.append(("randint", wide, [{"low": low, "high": high} for low, high in edges]))
    return [(call, dtype, args) for call, dtypes, choices in table for dtype in dtypes for args in choices]


@pytest.mark.parametrize(("call", "dtype", "args"), cases(), ids=str)
def test_every_size(call: str, dtype: str, args: dict[str, Any]) -> None:
    pair = Pair(17)
    for size in SIZES:
        pair.draw(call, dtype, size, args)


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_randperm(dtype: str) -> None:
    pair = Pair(23)
    limit = {"uint8": 256, "int8": 128, "float16": 2049}.get(dtype, 10000)
    for size in SIZES:
        pair.draw("randperm", dtype, min(size, limit), {})


# Several samples without replacement are left out for 16-bit floats: scores that round to the same number come in an
# order of PyTorch's own.
MULTINOMIALS = [
    (dtype, samples, replacement)
    for dtype in FLOATS
    for samples, replacement in ((1, False), (1, True), (2, True), (50, True), (5, False))
    if samples != 5 or dtype not in ("float16", "bfloat16")
]


@pytest.mark.parametrize(("dtype", "samples", "replacement"), MULTINOMIALS)
def test_multinomial(dtype: str, samples: int, replacement: bool) -> None:
    pair = Pair(29)
    for shape in ((5,), (100,), (1000,), (3, 7), (4, 300)):
        probs = torch.rand(shape, generator=torch.Generator().manual_seed(shape[-1])).to(getattr(torch, dtype))
        array = np.frombuffer(raw(probs), ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype).reshape(shape)
        wanted = torch.multinomial(probs, samples, replacement, generator=pair.theirs)
        pair.check(distributions.multinomial(pair.ours, array, samples, replacement), wanted, shape)
        if len(shape) == 2 and samples == 1:
            wanted = torch.multinomial(probs.t(), samples, replacement, generator=pair.theirs)
            pair.check(
                distributions.multinomial(pair.ours, array.T, samples, replacement), wanted, (shape, "transposed")
            )


@pytest.mark.parametrize("result_dtype", ["float32", "float64", "int32", "bool"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_bernoulli_into_another_dtype(dtype: str, result_dtype: str) -> None:
    pair = Pair(31)
    probs = torch.rand(5, 8, generator=torch.Generator().manual_seed(1)).to(getattr(torch, dtype))
    array = np.frombuffer(raw(probs), ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype).reshape(5, 8)
    wanted = torch.empty(5, 8, dtype=getattr(torch, result_dtype)).bernoulli_(probs, generator=pair.theirs)
    pair.check(distributions.bernoulli_t(pair.ours, array, np.dtype(result_dtype)), wanted, dtype)


# ---------------------------------------------------------------------------------------------- long sequences

MIXABLE = [case for case in cases() if case[1] in ("float32", "float64", "float16", "int64", "complex64")]
STEP = st.tuples(st.sampled_from(MIXABLE), st.one_of(st.integers(0, 40), st.integers(41, 700)))


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(-(2**63), 2**64 - 1), steps=st.lists(STEP, min_size=1, max_size=12))
def test_any_sequence_stays_in_step(seed: int, steps: list[tuple[tuple[str, str, dict[str, Any]], int]]) -> None:
    pair = Pair(seed)
    for (call, dtype, args), size in steps:
        pair.draw(call, dtype, size, args)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    words=st.integers(0, 2000),
    normals=st.integers(0, 3),
    after=st.lists(STEP, min_size=1, max_size=4),
)
def test_states_are_exchanged_both_ways(
    seed: int, words: int, normals: int, after: list[tuple[tuple[str, str, dict[str, Any]], int]]
) -> None:
    for from_torch in (True, False):
        pair = Pair(seed)
        if from_torch:
            torch.rand(words, generator=pair.theirs)
            torch.randn(normals, generator=pair.theirs)
            pair.ours.set_state_array(pair.theirs.get_state().numpy())
        else:
            distributions.uniform(pair.ours, words, np.float32)
            distributions.normal(pair.ours, normals, np.float32)
            pair.theirs.set_state(torch.from_numpy(pair.ours.get_state_array()))
        for (call, dtype, args), size in after:
            pair.draw(call, dtype, size, args)


def untemper(outputs: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The state words of MT19937 that will come out as these outputs."""
    y = outputs.astype(np.uint32)
    y = y ^ (y >> 18)
    y = y ^ ((y << 15) & 0xEFC60000)
    x = y
    for _ in range(5):
        x = y ^ ((x << 7) & 0x9D2C5680)
    y = x
    for _ in range(3):
        x = y ^ (x >> 11)
    return x


@pytest.mark.parametrize("start", [0, 2**23 - 2**17, 2**24 - 2**18])
def test_float32_normals_of_chosen_uniforms(start: int) -> None:
    """A state can be made up to yield given uniforms: here both ends and the middle of the 2**24 there are.

    With start=0 and 2**24 uniforms in place of 2**18 this proves all of them, in about a minute.
    """
    pair = Pair(0)
    record = np.frombuffer(pair.ours.get_state_array().tobytes(), generator.STATE).copy()
    record["left"], record["next"] = 624, 1  # the twist is behind us and 623 words are left
    for first in range(start, min(start + 2**18, 2**24), 304):
        uniforms = (first + np.arange(304)) % 2**24
        blocks = np.stack([uniforms.reshape(38, 8), uniforms[::-1].reshape(38, 8)], axis=1)
        record["words"][0, 1:609] = untemper(blocks.reshape(-1))
        state = np.frombuffer(record.tobytes(), np.uint8).copy()
        pair.ours.set_state_array(state)
        pair.theirs.set_state(torch.from_numpy(state))
        if first == start:
            got = distributions.uniform(pair.ours.clone_state(), 608, np.float32)
            assert np.array_equal(got * 2**24, blocks.reshape(-1))
        wanted = torch.randn(608, generator=pair.theirs)
        assert distributions.normal(pair.ours, 608, np.float32).tobytes() == raw(wanted), first


# ---------------------------------------------------------------------------------------------- seeds, users


@pytest.mark.parametrize("seed", [0, 1, -1, -5, 2**32, 2**63, 2**64 - 1, -(2**63)])
def test_seeds(seed: int) -> None:
    pair = Pair(seed)
    assert pair.ours.initial_seed() == pair.theirs.initial_seed()
    pair.draw("uniform", "float64", 5, {})


def test_a_new_generator_is_alike() -> None:
    assert distributions.Generator().get_state_array().tobytes() == torch.Generator().get_state().numpy().tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dropout_draws_like_bernoulli_p(dtype: str) -> None:
    state = torch.get_rng_state()
    try:
        torch.manual_seed(4)
        gen = distributions.Generator().manual_seed(4)
        ones = torch.ones(50, 7, dtype=getattr(torch, dtype))
        for p in (0.5, 0.1, 0.3):
            mask = distributions.bernoulli_p(gen, (50, 7), np.dtype(dtype), 1 - p)
            mask /= np.array(1 - p, dtype)
            assert raw(F.dropout(ones, p)) == mask.tobytes()
        # A mask has the strides of its input and is drawn in the order of memory.
        mask = distributions.bernoulli_p(gen, (50, 7), np.dtype(dtype), 0.6)
        mask /= np.array(0.6, dtype)
        assert raw(F.dropout(ones.t(), 0.4).t().contiguous()) == mask.tobytes()
        for nothing_drawn in (F.dropout(ones, 0.0), F.dropout(ones, 1.0), F.dropout(ones, 0.5, False)):
            assert nothing_drawn.shape == ones.shape
        assert torch.get_rng_state().numpy().tobytes() == gen.get_state_array().tobytes()
    finally:
        torch.set_rng_state(state)


ERRORS: list[tuple[Callable[[], Any], Callable[[], Any]]] = [
    (lambda: torch.empty(3).uniform_(2, 1), lambda: distributions.uniform(None, 3, np.float32, 2, 1)),
    (lambda: torch.empty(3).uniform_(-3e38, 3e38), lambda: distributions.uniform(None, 3, np.float32, -3e38, 3e38)),
    (lambda: torch.empty(3, dtype=torch.int8).uniform_(), lambda: distributions.uniform(None, 3, np.int8)),
    (lambda: torch.empty(3).normal_(0, -1.5), lambda: distributions.normal(None, 3, np.float32, 0, -1.5)),
    (lambda: torch.empty(3, dtype=torch.int64).normal_(), lambda: distributions.normal(None, 3, np.int64)),
    (lambda: torch.empty(3).bernoulli_(1.5), lambda: distributions.bernoulli_p(None, 3, np.float32, 1.5)),
    (lambda: torch.empty(3).exponential_(-1), lambda: distributions.exponential(None, 3, np.float32, -1)),
    (lambda: torch.empty(3, dtype=torch.int32).cauchy_(), lambda: distributions.cauchy(None, 3, np.int32)),
    (lambda: torch.empty(3).log_normal_(0, 0), lambda: distributions.log_normal(None, 3, np.float32, 0, 0)),
    (lambda: torch.empty(3).geometric_(1), lambda: distributions.geometric(None, 3, np.float32, 1)),
    (lambda: torch.randint(5, 3, (2,)), lambda: distributions.randint(None, 5, 3, (2,))),
    (
        lambda: torch.randint(0, 300, (2,), dtype=torch.uint8),
        lambda: distributions.randint(None, 0, 300, (2,), np.uint8),
    ),
    (
        lambda: torch.randint(0, 2**62, (2,), dtype=torch.float16),
        lambda: distributions.randint(None, 0, 2**62, (2,), np.float16),
    ),
    (
        lambda: torch.empty(3).double().uniform_(-1e308, 1e308),
        lambda: distributions.uniform(None, 3, np.float64, -1e308, 1e308),
    ),
    (lambda: torch.empty(3, dtype=torch.complex64).random_(), lambda: distributions.random_(None, 3, np.complex64)),
    (lambda: torch.randperm(-1), lambda: distributions.randperm(None, -1)),
    (lambda: torch.randperm(300, dtype=torch.uint8), lambda: distributions.randperm(None, 300, np.uint8)),
    (lambda: torch.randperm(3000, dtype=torch.float16), lambda: distributions.randperm(None, 3000, np.float16)),
    (lambda: torch.randperm(3, dtype=torch.bool), lambda: distributions.randperm(None, 3, np.bool_)),
    (lambda: torch.multinomial(torch.ones(3), 4), lambda: distributions.multinomial(None, np.ones(3), 4)),
    (lambda: torch.multinomial(torch.zeros(3), 1), lambda: distributions.multinomial(None, np.zeros(3), 1)),
    (lambda: torch.multinomial(-torch.ones(3), 1), lambda: distributions.multinomial(None, -np.ones(3), 1)),
    (lambda: torch.multinomial(-torch.ones(3), 2, True), lambda: distributions.multinomial(None, -np.ones(3), 2, True)),
]


@pytest.mark.parametrize(("theirs", "ours"), ERRORS)
def test_errors_begin_alike(theirs: Callable[[], Any], ours: Callable[[], Any]) -> None:
    with pytest.raises((RuntimeError, NotImplementedError)) as wanted:
        theirs()
    with pytest.raises(type(wanted.value)) as got:
        ours()
    assert str(got.value) == str(wanted.value).split("\n")[0]
