"""Writes random_streams.json: what PyTorch's CPU generator gives, for tests that run without PyTorch.

Run it with PyTorch installed: ``python tests/data/make_random_streams.py``.

streams: each is one generator, seeded with `seed`, from which `call` is drawn once for every one of `sizes`:
    dtype, args: of the draw, as leafgrad.random takes them
    digests: four hexadecimal digits per size, of the bytes of the result, for results that no C library can change
    values: instead of digests, the first, middle and last number of each size, in hexadecimal
    engine: digest of the generator's words and position after the last draw
mixed: draws of all kinds one after the other from one generator, with a digest of each and of the state at the end
states: digests of the saved state after so many 32-bit draws
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

SIZES = [0, 1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 100, 1000, 9999, 10000]
FLOATS = ["float32", "float64", "float16", "bfloat16"]
INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]


def probabilities(size: int, dtype: str) -> torch.Tensor:
    """The same numbers as in tests/ops/test_random_streams.py."""
    numbers = ((np.arange(size) * 37 + 11) % 101 + 1) / 103
    return torch.from_numpy(numbers).to(torch.float32).to(getattr(torch, dtype))


def draw(gen: torch.Generator, call: str, dtype: str, size: int, args: dict[str, Any]) -> torch.Tensor:
    kind = getattr(torch, dtype)
    if call == "randint":
        return torch.randint(args["low"], args["high"], (size,), dtype=kind, generator=gen)
    if call == "randperm":
        return torch.randperm(size, dtype=kind, generator=gen)
    if call == "bernoulli_t":
        return torch.bernoulli(probabilities(size, dtype), generator=gen)
    if call == "multinomial":
        return torch.multinomial(probabilities(size, dtype), **args, generator=gen)
    if call in ("poisson", "standard_gamma"):
        function = torch.poisson if call == "poisson" else torch._standard_gamma
        return function(probabilities(size, dtype) * args["scale"], generator=gen)
    if call == "binomial":
        return torch.binomial(torch.full((size,), args["count"], dtype=kind), probabilities(size, dtype), generator=gen)
    empty = torch.empty(size, dtype=kind)
    if call == "normal" and not args.get("contiguous", True):
        empty = torch.empty(2 * size, dtype=kind)[::2]
    method = {"bernoulli_p": "bernoulli_", "random_": "random_"}.get(call, call + "_")
    names = {"low": "from", "high": "to"}
    keywords = {names.get(name, name): value for name, value in args.items() if name != "contiguous"}
    if call == "random_" and "low" in args and "high" not in args:
        keywords["to"] = None
    filled: torch.Tensor = getattr(empty, method)(**keywords, generator=gen)
    return filled.clone(memory_format=torch.contiguous_format)


def digest(data: bytes, length: int) -> str:
    return hashlib.sha256(data).hexdigest()[:length]


def raw(tensor: torch.Tensor) -> bytes:
    return tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def engine_bytes(gen: torch.Generator) -> bytes:
    """The state up to the cached normal, whose last bit depends on the C library."""
    return gen.get_state().numpy().tobytes()[: 24 + 624 * 8]


def stream(call: str, dtype: str, sizes: list[int] | None = None, exact: bool = True, **args: Any) -> dict[str, Any]:
    sizes = SIZES if sizes is None else sizes
    seed = 2**40 + len(call) * 1000 + len(dtype)
    gen = torch.Generator().manual_seed(seed)
    results = [draw(gen, call, dtype, size, args) for size in sizes]
    case: dict[str, Any] = {"call": call, "dtype": dtype, "args": args, "seed": seed}
    if sizes is not SIZES:
        case["sizes"] = sizes
    if exact:
        case["digests"] = "".join(digest(raw(result), 4) for result in results)
    else:
        picked = [result[[0, len(result) // 2, -1]] for result in results if len(result)]
        case["values"] = [number.hex() for number in torch.cat(picked).tolist()]
    case["engine"] = digest(engine_bytes(gen), 8)
    return case


def streams() -> list[dict[str, Any]]:
    short = [1, 5, 16, 17, 100]
    cases = []
    for dtype in FLOATS:
        cases += [stream("uniform", dtype), stream("uniform", dtype, low=-0.577, high=0.577)]
    cases += [stream("uniform", "complex64"), stream("uniform", "complex128")]
    for dtype in ("float32", "float16", "bfloat16", "complex64"):
        cases += [stream("normal", dtype), stream("normal", dtype, mean=-1.7, std=2.9)]
    cases += [stream("normal", "float32", std=0.02), stream("normal", "float32", contiguous=False)]
    cases += [stream("normal", "float64", exact=False), stream("normal", "float64", short, False, mean=-1.7, std=2.9)]
    for call, args in (("exponential", {"lambd": 0.3}), ("cauchy", {"median": 0.5, "sigma": 2.0}), ("log_normal", {})):
        cases += [stream(call, dtype, **args) for dtype in ("float32", "bfloat16")]
        cases += [stream(call, "float64", short, False, **args)]
    for dtype in FLOATS:
        cases += [stream("bernoulli_t", dtype), stream("multinomial", dtype, SIZES[1:], num_samples=1)]
        cases += [stream("multinomial", dtype, SIZES[1:], num_samples=20, replacement=True)]
    cases += [stream("multinomial", dtype, SIZES[3:], num_samples=3) for dtype in ("float32", "float64")]
    for dtype in (*FLOATS, *INTEGERS):
        cases += [stream("random_", dtype), stream("geometric", dtype, short, p=0.3)]
        cases += [stream("randperm", dtype, SIZES[:12] if dtype in ("float32", "int64") else [5, 100])]
    for dtype in (*FLOATS, *INTEGERS):
        cases += [stream("randint", dtype, low=3, high=100)]
    for low, high in ((0, 2**28 - 1), (0, 2**28), (-5, 2**40), (-(2**63), 2**63 - 1)):
        cases += [stream("randint", dtype, short, low=low, high=high) for dtype in ("int64", "float32")]
    cases += [stream("random_", dtype, short, low=-(2**63)) for dtype in ("int64", "float64")]
    cases += [stream("random_", dtype, short, low=5) for dtype in ("int32", "float16")]
    for scale in (0.5, 8.0, 300.0):
        cases += [stream("poisson", dtype, scale=scale) for dtype in FLOATS]
        cases += [stream("standard_gamma", "float32", scale=scale)]
        cases += [stream("standard_gamma", "float64", short, False, scale=scale)]
    cases += [stream("binomial", dtype, count=count) for dtype in ("float32", "float64") for count in (3.0, 200.0)]
    cases += [stream("bernoulli_p", dtype, p=0.37) for dtype in ("float32", "float64", "int64", "bool")]
    return cases


def mixed() -> dict[str, Any]:
    """Odd sizes of small normals leave half a pair behind for a later draw to find."""
    steps: list[tuple[str, str, int, dict[str, Any]]] = [
        ("normal", "float32", 3, {}),
        ("uniform", "float32", 5, {}),
        ("normal", "float32", 100, {}),
        ("randint", "int64", 7, {"low": 0, "high": 10}),
        ("randperm", "int64", 9, {}),
        ("normal", "float16", 1, {}),
        ("normal", "float16", 45, {}),
        ("uniform", "float64", 4, {}),
        ("normal", "complex64", 5, {}),
        ("bernoulli_p", "float32", 6, {"p": 0.5}),
        ("normal", "float32", 0, {}),
        ("randint", "int64", 3, {"low": 0, "high": 2**40}),
        ("normal", "float32", 2, {}),
        ("exponential", "float32", 11, {}),
        ("log_normal", "float32", 3, {}),
        ("multinomial", "float32", 12, {"num_samples": 4}),
        ("normal", "float32", 17, {}),
        ("standard_gamma", "float32", 3, {"scale": 2.0}),
        ("poisson", "float32", 8, {"scale": 30.0}),
        ("bernoulli_t", "float32", 13, {}),
        ("normal", "float32", 1, {}),
    ]
    gen = torch.Generator().manual_seed(2024)
    drawn = [(*step, digest(raw(draw(gen, *step)), 8)) for step in steps]
    return {"seed": 2024, "engine": digest(engine_bytes(gen), 8), "steps": drawn}


def states() -> list[tuple[int, int, str]]:
    found = []
    for seed in (0, 2**64 - 1):
        for words in (0, 1, 623, 624, 625, 5000):
            gen = torch.Generator().manual_seed(seed)
            torch.rand(words, generator=gen)
            found.append((seed, words, digest(gen.get_state().numpy().tobytes(), 16)))
    return found


if __name__ == "__main__":
    data = {"sizes": SIZES, "streams": streams(), "mixed": mixed(), "states": states()}
    text = json.dumps(data, separators=(",", ":")).replace('{"call"', '\n{"call"')  # one stream a line
    Path(__file__).with_name("random_streams.json").write_text(text + "\n", "utf-8")
