"""The dtype of every result, for all pairs of dtypes and all kinds of operands, against PyTorch."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import pytest

from compare import DTYPES, difference

# An operand as a function of the module: a tensor with dimensions, one without, a Python number.
OPERANDS: dict[str, Callable[[Any], Any]] = {}
for _name in DTYPES:
    OPERANDS[f"{_name} tensor"] = lambda m, d=_name: m.tensor([1, 2, 3]).to(getattr(m, d))
    OPERANDS[f"{_name} scalar"] = lambda m, d=_name: m.tensor(2).to(getattr(m, d))
for _number in (True, 2, 1.5, 1 + 2j):
    OPERANDS[f"number {_number}"] = lambda m, n=_number: n
TENSORS = [name for name in OPERANDS if not name.startswith("number")]

BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda m, a, b: a + b,
    "sub": lambda m, a, b: a - b,
    "mul": lambda m, a, b: a * b,
    "div": lambda m, a, b: a / b,
    "floordiv": lambda m, a, b: a // b,
    "mod": lambda m, a, b: a % b,
    "pow": lambda m, a, b: a**b,
    "eq": lambda m, a, b: a == b,
    "ne": lambda m, a, b: a != b,
    "lt": lambda m, a, b: a < b,
    "ge": lambda m, a, b: a >= b,
    "and": lambda m, a, b: a & b,
    "or": lambda m, a, b: a | b,
    "xor": lambda m, a, b: a ^ b,
    "lshift": lambda m, a, b: a << b,
    "logical_and": lambda m, a, b: m.logical_and(a, b),
    "where": lambda m, a, b: m.where(m.tensor([True, False, True]), a, b),
    "maximum": lambda m, a, b: m.maximum(a, b),
    "div_trunc": lambda m, a, b: m.div(a, b, rounding_mode="trunc"),
    "result_type": lambda m, a, b: m.result_type(a, b),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    function = BINARY[name]
    found = {}
    for first, left in OPERANDS.items():
        for second, right in OPERANDS.items():
            if first.startswith("number") and second.startswith("number"):
                continue
            what = difference(lambda m, a=left, b=right: function(m, a(m), b(m)), tolerance=2e-3)
            if what:
                found[first, second] = what
    assert found == {}


IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "iadd": operator.iadd,
    "imul": operator.imul,
    "itruediv": operator.itruediv,
    "ifloordiv": operator.ifloordiv,
    "ipow": operator.ipow,
    "copy_": lambda a, b: a.copy_(b),
    "fill_": lambda a, b: a.fill_(b),
    "eq_": lambda a, b: a.eq_(b),
    "logical_or_": lambda a, b: a.logical_or_(b),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name: str) -> None:
    function = IN_PLACE[name]
    found = {}
    for first in TENSORS:
        for second, right in OPERANDS.items():
            if name == "logical_or_" and second.startswith("number"):
                continue
            what = difference(lambda m, a=OPERANDS[first], b=right: function(a(m), b(m)), tolerance=2e-3)
            if what:
                found[first, second] = what
    assert found == {}


@pytest.mark.parametrize("source", DTYPES)
def test_conversions(source: str) -> None:
    """Every dtype to every other, with values that wrap around, lose their fraction or become infinite."""
    values = {"b": [True, False], "i": [0, 1, -1, 127, 128, 300, -300, 70000], "f": [0.0, 1.5, -1.5, 2.5, 100.7]}
    kind = "b" if source == "bool" else "i" if "int" in source else "f"
    numbers = [abs(v) for v in values[kind]] if source == "uint8" else values[kind]
    for target in DTYPES:
        what = difference(lambda m, t=target: m.tensor(numbers).to(getattr(m, source)).to(getattr(m, t)))
        assert not what, (source, target, what)


UNARY = (
    "exp", "log", "sqrt", "tanh", "sigmoid", "sin", "cos", "abs", "neg", "sign", "sgn", "floor", "ceil", "trunc",
    "round", "square", "reciprocal", "rsqrt", "relu", "isnan", "isinf", "isfinite", "logical_not", "bitwise_not",
    "positive",
)  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    found = {}
    for first, operand in OPERANDS.items():
        what = difference(lambda m, a=operand: getattr(m, name)(a(m)), tolerance=5e-3)
        if what:
            found[first] = what
    assert found == {}


DEFAULT_DTYPE = """
tensor(1.5), tensor([1, 2.0]), tensor(1j), arange(2.0), ones(2), eye(2), linspace(0, 1, 3), full((2,), 1.5), zeros(2),
tensor([1]) / 2, tensor([1]) + 1.5, exp(torch.tensor([1])), tensor([True]) * 1.5, tensor(2) * 1j, Tensor([1]).dtype
"""


def test_default_dtype() -> None:
    for default in ("float64", "float32", "float16", "bfloat16"):
        for expression in re.split(r",\s+(?=[a-zA-Z])", DEFAULT_DTYPE.strip()):

            def function(m: Any, d: str = default, e: str = expression) -> Any:
                m.set_default_dtype(getattr(m, d))
                try:
                    return eval(f"torch.{e}", {"torch": m})
                finally:
                    m.set_default_dtype(m.float32)

            if default == "bfloat16" and "j" in expression:
                continue  # PyTorch has no complex dtype for it
            assert not difference(function, tolerance=1e-2), (default, expression)
