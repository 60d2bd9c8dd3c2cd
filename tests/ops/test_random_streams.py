"""Random numbers against what PyTorch drew (data/random_streams.json, made by data/make_random_streams.py)."""

from __future__ import annotations

import copy
import hashlib
import json
import math
import pickle
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from leafgrad.kernels import _random_numpy, _random_rounding
from leafgrad.ops.random import distributions, generator

Array = np.ndarray[Any, Any]

DATA = Path(__file__).parents[1] / "data"
STORED: dict[str, Any] = json.loads((DATA / "random_streams.json").read_text("utf-8"))
# float64 logarithms and sines are the C library's, and C libraries differ in the last bit.
ULPS = 4


def numpy_dtype(name: str) -> np.dtype[Any]:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def probabilities(size: int, dtype: str) -> Array:
    """The same numbers as in data/make_random_streams.py."""
    numbers = ((np.arange(size) * 37 + 11) % 101 + 1) / 103
    return numbers.astype(np.float32).astype(numpy_dtype(dtype))


def draw(gen: distributions.Generator, call: str, dtype: str, size: int, args: dict[str, Any]) -> Array:
    if call == "randint":
        return distributions.randint(gen, args["low"], args["high"], (size,), numpy_dtype(dtype))
    if call == "randperm":
        return distributions.randperm(gen, size, numpy_dtype(dtype))
    if call in ("bernoulli_t", "multinomial"):
        result: Array = getattr(distributions, call)(gen, probabilities(size, dtype), **args)
        return result
    if call in ("poisson", "standard_gamma"):
        parameters = probabilities(size, dtype) * numpy_dtype(dtype).type(args["scale"])
        return (
            distributions.poisson(gen, parameters)
            if call == "poisson"
            else distributions.standard_gamma(gen, parameters)
        )
    if call == "binomial":
        chances = probabilities(size, dtype)
        return distributions.binomial(gen, np.stack([np.full_like(chances, args["count"]), chances]))
    result = getattr(distributions, call)(gen, (size,), numpy_dtype(dtype), **args)
    return result


def digest(data: bytes, length: int) -> str:
    return hashlib.sha256(data).hexdigest()[:length]


def engine_digest(gen: distributions.Generator) -> str:
    return digest(gen.get_state_array().tobytes()[: 24 + 624 * 8], 8)


def name_of(case: dict[str, Any]) -> str:
    args = ",".join(f"{key}={value}" for key, value in case["args"].items())
    return f"{case['call']}-{case['dtype']}-{args}"


@pytest.mark.filterwarnings("ignore:.*is out of bounds:UserWarning")
@pytest.mark.parametrize("case", STORED["streams"], ids=name_of)
def test_stream(case: dict[str, Any]) -> None:
    gen = distributions.Generator().manual_seed(case["seed"])
    sizes = case.get("sizes", STORED["sizes"])
    results = [draw(gen, case["call"], case["dtype"], size, case["args"]) for size in sizes]
    for result in results:
        assert result.flags.c_contiguous and result.flags.writeable
        assert result.dtype == (np.int64 if case["call"] == "multinomial" else numpy_dtype(case["dtype"]))
    if "digests" in case:
        expected = [case["digests"][4 * i : 4 * i + 4] for i in range(len(sizes))]
        wrong = [size for size, result, want in zip(sizes, results, expected) if digest(result.tobytes(), 4) != want]
        assert not wrong, f"sizes that differ: {wrong}"
    else:
        picked = np.concatenate([result[[0, len(result) // 2, -1]] for result in results if len(result)])
        np.testing.assert_array_max_ulp(picked, np.array([float.fromhex(x) for x in case["values"]]), ULPS)
    assert engine_digest(gen) == case["engine"], "drew more or fewer words than PyTorch"


def test_mixed_draws_stay_in_step() -> None:
    mixed = STORED["mixed"]
    gen = distributions.Generator().manual_seed(mixed["seed"])
    for number, (call, dtype, size, args, want) in enumerate(mixed["steps"]):
        result = draw(gen, call, dtype, size, args)
        assert digest(result.tobytes(), 8) == want, f"step {number}: {call} {dtype} {size}"
    assert engine_digest(gen) == mixed["engine"]


def test_numbers_everybody_knows() -> None:
    gen = distributions.Generator()
    known = {
        0: [1.5409960746765137, -0.293428897857666, -2.1787893772125244, 0.5684312582015991],
        42: [0.33669036626815796, 0.12880940735340118, 0.23446236550807953, 0.23033303022384644],
    }
    for seed, numbers in known.items():
        assert distributions.normal(gen.manual_seed(seed), 4, np.float32).tolist() == numbers
    assert distributions.uniform(gen.manual_seed(0), 2, np.float32).tolist() == [
        0.49625658988952637,
        0.7682217955589294,
    ]
    assert distributions.randperm(gen.manual_seed(0), 4).tolist() == [0, 1, 3, 2]
    assert distributions.randint(gen.manual_seed(0), 0, 10, (4,)).tolist() == [4, 9, 3, 0]


def test_numbers_of_events_without_end() -> None:
    """PyTorch's numbers. It counts events in 64 bits, and what does not fit becomes the lowest of them."""
    gen, lowest, inf, nan = distributions.Generator(), -(2.0**63), math.inf, math.nan
    rates = np.array([inf, 1e19, 5e18, 1e300])
    numbers = distributions.poisson(gen.manual_seed(0), rates)
    assert numbers.tolist() == [lowest, lowest, 4.999999997676256e18, lowest]
    assert distributions.uniform(gen, 1, np.float64).tolist() == [0.4528688488811142]
    numbers = distributions.binomial(gen.manual_seed(0), np.stack([np.full(6, inf), np.full(6, 0.3)]))
    assert np.array_equal(numbers, [inf, nan, inf, nan, nan, nan], equal_nan=True)
    assert distributions.uniform(gen, 1, np.float64).tolist() == [0.40728157436444157]
    assert distributions.binomial(gen.manual_seed(0), np.array([[10.0], [1e-320]])).tolist() == [0]


def test_parameters_in_any_layout() -> None:
    """Transposed, repeated, turned round, without elements or dimensions: drawn row by row, the result is dense."""
    gen = distributions.Generator()
    for dtype in (np.float32, np.float64):
        base = np.linspace(0.2, 30, 24, dtype=dtype).reshape(4, 6)
        for odd in (base.T, base[::-1, ::2], np.broadcast_to(base[:1], (3, 6)), base[:, :0], base[1, 1, ...]):
            for draw_them in (distributions.standard_gamma, distributions.dirichlet, distributions.poisson):
                got, want = draw_them(gen.manual_seed(3), odd), draw_them(gen.manual_seed(3), odd.copy("C"))
                assert got.dtype == dtype
                assert got.shape == odd.shape
                assert got.flags.c_contiguous
                assert got.tobytes() == want.tobytes()
            trials = np.stack([np.floor(odd), odd / 64])
            got, want = (distributions.binomial(gen.manual_seed(3), each) for each in (trials, trials.copy("C")))
            assert got.dtype == dtype
            assert np.array_equal(got, want)


# ---------------------------------------------------------------------------------------------- generators


@pytest.mark.parametrize(("seed", "words", "want"), STORED["states"])
def test_saved_state_is_pytorchs(seed: int, words: int, want: str) -> None:
    gen = distributions.Generator().manual_seed(seed)
    distributions.uniform(gen, words, np.float32)
    assert digest(gen.get_state_array().tobytes(), 16) == want


def test_state_carries_the_waiting_normal() -> None:
    gen = distributions.Generator().manual_seed(3)
    distributions.normal(gen, 5, np.float64)
    state = gen.get_state_array()
    ahead = distributions.normal(gen, 4, np.float64)
    gen.manual_seed(99)
    gen.set_state_array(state)
    assert gen.initial_seed() == 3
    assert np.array_equal(distributions.normal(gen, 4, np.float64), ahead)


def test_state_hands_on_the_float_normal() -> None:
    record = np.frombuffer(distributions.Generator().get_state_array().tobytes(), generator.STATE).copy()
    record["float_normal"], record["float_normal_valid"] = 1.5, True
    state = np.frombuffer(record.tobytes(), np.uint8)
    gen = distributions.Generator()
    gen.set_state_array(state)
    assert np.array_equal(gen.get_state_array(), state)


def test_copies_draw_the_same() -> None:
    gen = distributions.Generator().manual_seed(7)
    distributions.normal(gen, 3, np.float32)
    copies = [gen.clone_state(), copy.deepcopy(gen), pickle.loads(pickle.dumps(gen))]
    want = distributions.normal(gen, 20, np.float32).tobytes() + distributions.normal(gen, 1, np.float32).tobytes()
    for twin in copies:
        assert (
            distributions.normal(twin, 20, np.float32).tobytes() + distributions.normal(twin, 1, np.float32).tobytes()
            == want
        )


def test_seeds() -> None:
    gen = distributions.Generator()
    assert str(gen.device) == "cpu"
    assert gen.initial_seed() == 67280421310721
    assert gen.manual_seed(-1) is gen and gen.initial_seed() == 2**64 - 1
    assert gen.manual_seed(-(2**63)).initial_seed() == 2**63
    # Only 32 bits of a seed count.
    low = distributions.uniform(gen.manual_seed(5), 3, np.float64)
    assert np.array_equal(low, distributions.uniform(gen.manual_seed(5 + 2**32), 3, np.float64))
    assert gen.seed() == gen.initial_seed() != gen.seed()
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            gen.manual_seed(seed)
    with pytest.raises(RuntimeError, match="manual_seed expected a long, but got float"):
        gen.manual_seed(1.5)  # type: ignore[arg-type]


def test_seeding_forgets_the_waiting_normal() -> None:
    gen = distributions.Generator().manual_seed(0)
    first = distributions.normal(gen, 1, np.float32)
    assert np.array_equal(distributions.normal(gen.manual_seed(0), 1, np.float32), first)


def test_default_generator() -> None:
    state = distributions.default_generator.get_state_array()
    try:
        assert distributions.manual_seed(11) is distributions.default_generator
        assert distributions.initial_seed() == 11
        drawn = distributions.uniform(None, 4, np.float32)
        assert np.array_equal(drawn, distributions.uniform(distributions.Generator().manual_seed(11), 4, np.float32))
        assert distributions.seed() == distributions.initial_seed()
    finally:
        distributions.default_generator.set_state_array(state)


@pytest.mark.parametrize(("device", "complaint"), [("cuda", "cuda"), ("meta", "META device type not an accelerator.")])
def test_only_the_cpu_has_a_generator(device: str, complaint: str) -> None:
    with pytest.raises(RuntimeError, match=complaint):
        distributions.Generator(device)


def test_states_that_are_refused() -> None:
    gen = distributions.Generator()
    with pytest.raises(TypeError, match="RNG state must be a torch"):
        gen.set_state_array(np.zeros(5056, np.float32))  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="Expected a CPUGeneratorImplState of size 5056 but"):
        gen.set_state_array(np.zeros(5048, np.uint8))
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        gen.set_state_array(np.zeros(5056, np.uint8))


def test_threads_share_a_generator_without_tearing_it() -> None:
    gen = distributions.Generator().manual_seed(1)
    drawn: list[bytes] = []

    def work() -> None:
        for _ in range(200):
            drawn.append(distributions.uniform(gen, 3, np.float64).tobytes())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = distributions.Generator().manual_seed(1)
    assert sorted(drawn) == sorted(distributions.uniform(alone, 3, np.float64).tobytes() for _ in range(800))


def test_import_is_cheap() -> None:
    code = "import sys, leafgrad.random as r; r.manual_seed(0); assert 'numpy.random' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------------------------------------- arithmetic


def fma(a: Array, b: float, c: float) -> Array:
    result = a.copy()
    _random_rounding.add_scaled(result, b, c)
    return result


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fma_rounds_once(dtype: type) -> None:
    rng = np.random.default_rng(5)
    a = rng.random(300).astype(dtype)
    for b, c in ((0.3, 1.7), (-7.1, 7.0), (1e-3, 1e3), (2.0, -1.0), (1e30, -3e29)):
        factor, term = float(dtype(b)), float(dtype(c))
        got = fma(a, factor, term)
        for x, y in zip(a.tolist(), got.tolist()):
            exact = Fraction(x) * Fraction(factor) + Fraction(term)
            neighbours = [np.nextafter(dtype(y), dtype(np.inf)), np.nextafter(dtype(y), dtype(-np.inf))]
            assert all(abs(Fraction(y) - exact) <= abs(Fraction(float(z)) - exact) for z in neighbours)


def test_fma_settles_false_ties() -> None:
    # a * b is just above half a unit in the last place of c, by less than float64 can add to c.
    a = np.array([1 + 2.0**-23, 1 - 2.0**-24], np.float32)
    tiny = float(np.float32(2.0**-24 * (1 + 2.0**-23)))
    got = fma(a, tiny, 1.0)
    assert got.tolist() == [1 + 2.0**-23, 1 + 2.0**-23]
    above = fma(np.array([1 + 2.0**-23], np.float32), 2.0**-24, 1.0 + 2.0**-23)
    assert above.tolist() == [1 + 2.0**-22]


def test_fma_of_huge_numbers() -> None:
    assert fma(np.array([0.25, 1.0]), 2.0**1023, -(2.0**1022)).tolist() == [-(2.0**1021), 2.0**1022]


def test_fma_of_tiny_numbers() -> None:
    third = 1 / 3
    got = fma(np.array([third, 1.0, -1.0]), 3 * 2.0**-1074, 2.0**-1073).tolist()
    assert got == [3 * 2.0**-1074, 5 * 2.0**-1074, -(2.0**-1074)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fma_and_the_sign_of_zero(dtype: type) -> None:
    least = float(np.finfo(dtype).smallest_subnormal)
    a = np.array([-0.0, 0.0, -0.25, 0.25], dtype)
    for b, c, negative in (
        (1.0, 0.0, [False, False, True, False]),
        (least, 0.0, [False, False, True, False]),  # too small to be seen, but negative
        (least, -0.0, [True, False, True, False]),
        (0.0, 0.0, [False] * 4),
        (0.0, -0.0, [True, False, True, False]),
    ):
        assert np.signbit(fma(a, b, c)).tolist() == negative, (b, c)


@pytest.mark.parametrize("name", ["log", "log1p", "sin", "cos", "tan", "exp"])
def test_libm_is_the_c_library(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.linspace(0.01, 0.99, 12).reshape(3, 4) * (-1 if name == "log1p" else 1)
    want = [[getattr(math, name)(value) for value in row] for row in x.tolist()]
    assert _random_numpy.libm(name)(x).tolist() == want
    # A NumPy that computes something else is not used.
    monkeypatch.setattr(np, name, lambda x: np.zeros(x.shape))
    assert _random_numpy.libm.__wrapped__(name)(x).tolist() == want


def test_extreme_uniforms_give_finite_normals() -> None:
    last = 1 - 2.0**-24
    corners = np.array([[[0.0, last] * 4, [0.0] * 4 + [last] * 4]], np.float32)
    normals = corners.reshape(-1)
    _random_numpy.box_muller(normals)
    assert np.isfinite(normals).all() and abs(normals).max() > 5.7


# ---------------------------------------------------------------------------------------------- errors


def refused(call: str, *args: Any) -> str:
    gen = distributions.Generator()
    before = gen.get_state_array()
    with pytest.raises((RuntimeError, NotImplementedError)) as caught:
        getattr(distributions, call)(gen, *args)
    assert np.array_equal(gen.get_state_array(), before)
    return str(caught.value)


def test_messages() -> None:
    ones = np.ones(3)
    assert refused("uniform", 3, np.float32, 2.0, 1.0).endswith("range, but found from=2 > to=1")
    assert refused("uniform", 3, np.float16, 0.0, 1e6) == "to is out of bounds for c10::Half"
    assert "numeric_limits<Float>::max(), but found to=3e+38 and from=-3e+38" in refused(
        "uniform", 3, np.float32, -3e38, 3e38
    )
    assert refused("uniform", 3, np.int64) == "\"check_uniform_bounds\" not implemented for 'Long'"
    assert refused("normal", 3, np.float32, 0.0, -1.5) == "normal expects std >= 0.0, but found std -1.5"
    assert refused("normal", 3, np.bool_) == "\"normal_kernel_cpu\" not implemented for 'Bool'"
    assert refused("bernoulli_p", 3, np.float32, 1.5) == "bernoulli_ expects p to be in [0, 1], but got p=1.5"
    assert refused("bernoulli_t", ones * 2).startswith("Expected p_in >= 0 && p_in <= 1 to be true")
    assert refused("bernoulli_t", ones.astype(np.int32)) == "\"bernoulli_tensor_cpu_p_\" not implemented for 'Int'"
    assert refused("exponential", 3, np.float32, -1.0) == "exponential_ expects lambda > 0.0, but found lambda=-1"
    assert refused("exponential", 3, np.uint8).endswith("dtype must be a floating point but you specified Byte")
    assert refused("cauchy", 3, np.float32, 0.0, 0.0) == "cauchy_ expects sigma > 0.0, but found sigma=0"
    assert refused("cauchy", 3, np.uint8).endswith("but you specified unsigned char")
    assert refused("log_normal", 3, np.float32, 0.0, 0.0) == "log_normal_ expects std > 0.0, but found std=0"
    assert refused("geometric", 3, np.float32, 1.0) == "geometric_ expects p to be in (0, 1), but got p=1"
    assert refused("randint", 5, 3, (2,), np.uint8).endswith("but got from=5 >= to=3")
    assert refused("randint", -1, 3, (2,), np.uint8) == "from is out of bounds for unsigned char"
    assert refused("randint", 0, 2**40, (2,), np.int32) == "to - 1 is out of bounds for int"
    assert refused("randint", 0, 3, (2,), np.complex64).startswith("check_random_bounds handles only")
    assert refused("uniform", 3, np.float64, -1e308, 1e308).startswith(
        "uniform_ expects to-from <= std::numeric_limits"
    )
    assert refused("randperm", -1) == "Trying to create tensor with negative dimension -1: [-1]"
    assert refused("randperm", 257, np.uint8) == "value cannot be converted to type uint8_t without overflow"
    assert refused("randperm", 2050, np.float16) == "n cannot be greater than 2049 for Half type."
    assert refused("randperm", 2**24 + 2, np.float32) == "n cannot be greater than 2^24+1 for Float type."
    assert refused("multinomial", ones, 4).startswith("cannot sample n_sample > prob_dist.size(-1)")
    assert refused("multinomial", ones, 0) == "cannot sample n_sample <= 0 samples"
    assert refused("multinomial", -ones, 1).startswith("probability tensor contains either `inf`, `nan`")
    assert refused("multinomial", ones * 0, 1).endswith("(sum of probabilities <= 0)")
    assert refused("multinomial", -ones, 2, True).endswith("(encountering probability entry < 0)")
    assert refused("multinomial", np.array([1, math.inf]), 2, True).endswith("entry = infinity or NaN)")
    assert refused("multinomial", np.ones((2, 2, 2)), 1) == "prob_dist must be 1 or 2 dim"


def test_floats_with_gaps_warn() -> None:
    with pytest.warns(UserWarning, match=r"to - 1 is out of bounds \[-\(2\^11\), 2\^11\]"):
        distributions.randint(distributions.Generator(), 0, 5000, (3,), np.float16)


def test_shapes() -> None:
    gen = distributions.Generator()
    assert distributions.normal(gen, (2, 3, 4), np.float32).shape == (2, 3, 4)
    assert distributions.normal(gen, (), np.complex128).shape == ()
    assert distributions.uniform(gen, (0, 3), np.complex64).shape == (0, 3)
    assert distributions.multinomial(gen, np.ones((4, 3)), 2).shape == (4, 2)
    assert distributions.multinomial(gen, np.ones((0, 3)), 2, True).shape == (0, 2)
    assert distributions.bernoulli_t(gen, np.full((2, 2), 0.5), np.int8).dtype == np.int8
