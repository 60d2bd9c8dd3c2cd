"""Comparing leafgrad with an installed PyTorch: the same code on both, then the same values, dtypes, errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import leafgrad

DTYPES = (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
    "complex128",
)  # fmt: skip


def to_torch(t: Any) -> torch.Tensor:
    """A leafgrad tensor as PyTorch's, by way of NumPy."""
    if str(t.dtype) == "torch.bfloat16":
        return torch.from_numpy(t.detach().float().numpy().copy()).bfloat16()
    return torch.from_numpy(np.array(t.detach().numpy()))


def facts(value: Any) -> Any:
    """What is compared of a result: of a tensor shape, dtype, requires_grad, strides and values."""
    if isinstance(value, (torch.Tensor, leafgrad.Tensor)):
        if str(value.dtype) == "torch.complex32":  # leafgrad has none and uses the next wider one
            value = value.to(torch.complex64)
        plain = value.detach()
        if str(value.dtype) == "torch.bfloat16":
            plain = plain.float()
        array = np.array(plain.resolve_conj().numpy())
        return tuple(value.shape), str(value.dtype), value.requires_grad, value.stride(), array
    if isinstance(value, (tuple, list)):
        return [facts(v) for v in value]
    if str(value) == "torch.complex32":
        return "torch.complex64"
    return str(value) if type(value).__module__.startswith(("torch", "leafgrad")) else value


def differ(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return True
        if a.dtype.kind in "fc" and tolerance:
            return not np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
        return not np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if isinstance(a, (tuple, list)):
        return type(a) is not type(b) or len(a) != len(b) or any(differ(x, y, tolerance) for x, y in zip(a, b))
    return bool(a != b and not (a != a and b != b))


def run(function: Callable[[Any], Any], module: Any, seeded: bool = False) -> tuple[Any, list[str]]:
    """The result of function(module), or the exception, and the warnings."""
    if seeded:
        module.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(module)
        except Exception as error:
            return error, []
    # PyTorch warns of its own old parts when it first needs them: which test that is depends on their order
    return result, [str(w.message) for w in caught if "`torch.jit.script` is deprecated" not in str(w.message)]


def difference(
    function: Callable[[Any], Any], tolerance: float = 0.0, messages: bool = False, seeded: bool = False
) -> str:
    """'' if leafgrad and PyTorch do the same, else what they do."""
    expected, expected_warnings = run(function, torch, seeded)
    got, got_warnings = run(function, leafgrad, seeded)
    if isinstance(expected, NotImplementedError) and "'ComplexHalf'" in str(expected):
        return ""  # leafgrad computes such things in complex64
    if isinstance(expected, Exception) or isinstance(got, Exception):
        same = isinstance(expected, Exception) and isinstance(got, type(expected))
        if same and messages:
            same = str(got).split("\n")[0][:50] == str(expected).split("\n")[0][:50]
        return "" if same else f"PyTorch: {expected!r:.200}, leafgrad: {got!r:.200}"
    if differ(facts(expected), facts(got), tolerance):
        return f"PyTorch: {facts(expected)!r:.300}, leafgrad: {facts(got)!r:.300}"
    if messages and [w[:40] for w in expected_warnings if w] != [w[:40] for w in got_warnings]:
        return f"PyTorch warns {expected_warnings}, leafgrad {got_warnings}"
    return ""


def evaluate(expression: str, **names: Any) -> Callable[[Any], Any]:
    """An expression as a function of the module that it calls `torch`."""
    code = compile(expression, expression, "eval")
    return lambda module: eval(code, {"torch": module, "np": np, "inf": float("inf"), "nan": float("nan"), **names})


def check(expressions: str, tolerance: float = 0.0, messages: bool = False, seeded: bool = False) -> None:
    """Every line, an expression with `torch`, does the same on both. `messages` compares those of errors and warnings,
    `seeded` starts the default generator anew for each."""
    lines = [line.strip() for line in expressions.strip().splitlines() if line.strip()]
    found = {line: difference(evaluate(line), tolerance, messages, seeded) for line in lines}
    wrong = [f"{line}: {what}" for line, what in found.items() if what]
    assert not wrong, "\n".join(wrong)
