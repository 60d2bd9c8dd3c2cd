"""The checks of the other tests, shown to fail: each is given an operation that is broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.ops.pointwise.elementwise import Unary
from leafgrad.ops.registry import Family, Operation, registry
from leafgrad.ops.samples import S
from op_checks import (
    assert_close,
    cases,
    check_gradient,
    check_second_gradient,
    drawn,
    laid_out,
    numeric_gradient,
    raised_by_leafgrad,
    tolerance,
)
from op_promises import (
    check_change,
    check_forward_derivative,
    check_layout,
    check_linearity,
    check_memory,
    check_narrow_dtype,
    check_rule_memory,
    uses,
)

A = Any


def operation(**body: Any) -> Operation:
    """An operation of one tensor that is not in the registry; by default the square."""
    square = {"kernel": np.square, "vjp": lambda g, input: g * (2 * input), "integers": "same"}
    return Operation("made_up", Unary, {"__doc__": "made_up(input): for tests.", **square, **body})


def operation_of_two(**body: Any) -> Operation:
    def call(input: Any, other: Any) -> Any:
        return made.record(input, other)

    product = {
        "kernel": np.multiply,
        "vjp_input": lambda g, other: g * other,
        "vjp_other": lambda g, input: g * input,
        "samples": lambda t: [S(t(3, 4), t(3, 4)), S(t(), t())],
        "inputs": ("input", "other"),
        "call": call,
    }
    made = Operation("made_up", Family, {"__doc__": "made_up(input, other): for tests.", **product, **body})
    return made


def first_derivative(entry: Operation, dtype: str = "float64") -> None:
    for case in cases(entry, dtype):
        check_gradient(case)


def second_derivative(entry: Operation, dtype: str = "float64") -> None:
    for case in cases(entry, dtype):
        check_second_gradient(case)


def array_of(x: A) -> Any:
    return x.array if isinstance(x, TensorBase) else x


def in_place(x: Any) -> Any:
    x *= x
    return x


def in_memory_order(x: Any) -> Any:
    return np.square(x.ravel(order="K").reshape(x.shape))


def overwriting(g: A) -> A:
    g *= 3
    return g


def twice(g: A) -> tuple[A, A]:
    h = g * 3.0
    return h, h


def hiding() -> Operation:
    """Keeps its input as an option, where no version is looked at."""

    def call(input: Any) -> Any:
        return made.record(input, input.array)

    body = {"kernel": lambda x, kept: np.square(x), "vjp": lambda g, kept: g * (2 * kept), "options": ("kept",)}
    samples = lambda t: [S(t(3, 4))]
    doc = {"__doc__": "made_up(input): for tests.", "call": call, "samples": samples}
    made = Operation("made_up", Family, {**doc, **body})
    return made


CHECKS: dict[str, Callable[[Operation], None]] = {
    "gradient": first_derivative,
    "complex gradient": lambda o: first_derivative(o, "complex128"),
    "second gradient": second_derivative,
    "complex second gradient": lambda o: second_derivative(o, "complex128"),
    "float32": lambda o: check_narrow_dtype(o, "float32"),
    "bfloat16": lambda o: check_narrow_dtype(o, "bfloat16"),
    "transposed": lambda o: check_layout(o, "transposed"),
    "expanded": lambda o: check_layout(o, "expanded"),
    "memory": check_memory,
    "rule memory": lambda o: check_rule_memory(o, uses(o)),
    "linear rule": lambda o: check_linearity(o, uses(o)),
    "forward derivative": lambda o: check_forward_derivative(o, uses(o)),
    "change": check_change,
}

BROKEN: list[tuple[str, str, Operation]] = [
    ("gradient", "a wrong factor", operation(vjp=lambda g, input: g * input)),
    ("gradient", "a lost sign", operation(vjp=lambda g, input: g * abs(2 * input))),
    ("complex gradient", "no conjugation", operation(holomorphic=False)),
    ("complex gradient", "conjugation where there is none", operation(kernel=np.conj, vjp=lambda g: g)),
    ("second gradient", "a rule that leaves the graph", operation(vjp=lambda g, input: g * (2 * array_of(input)))),
    ("complex second gradient", "the same for complex", operation(vjp=lambda g, input: g * (2 * array_of(input)))),
    (
        "second gradient",
        "half of a rule that leaves the graph",
        operation(vjp=lambda g, input: g * input + g * array_of(input)),
    ),
    ("float32", "digits lost on the way", operation(kernel=lambda x: (x * x + 64) - 64)),
    ("float32", "digits of the gradient lost", operation(vjp=lambda g, input: g * ((2 * input + 512) - 512))),
    ("bfloat16", "digits lost on the way", operation(kernel=lambda x: (x * x + 64) - 64)),
    ("transposed", "elements in the order of memory", operation(kernel=in_memory_order)),
    ("expanded", "strides taken for granted", operation(kernel=lambda x: np.square(x) * (x.strides.count(0) + 1))),
    ("memory", "an input overwritten", operation(kernel=in_place)),
    ("memory", "a given gradient overwritten", operation(kernel=lambda x: 3 * x, vjp=overwriting)),
    ("memory", "a saved array as a gradient", operation(vjp=lambda g, out: out)),
    ("rule memory", "a saved array as a gradient", operation(vjp=lambda g, input: input)),
    ("rule memory", "a view of a saved array", operation(vjp=lambda g, input: input[...])),
    ("rule memory", "the given gradient overwritten", operation(kernel=lambda x: 3 * x, vjp=overwriting)),
    ("rule memory", "one array for two inputs", operation_of_two(vjp_all=lambda g, needs: twice(g))),
    ("linear rule", "a constant added", operation(vjp=lambda g, input: g * (2 * input) + 1)),
    ("linear rule", "a sign of g", operation(vjp=lambda g, input: abs(g) * (2 * input))),
    ("forward derivative", "linear, but it is not", operation(jvp="linear")),
    ("forward derivative", "bilinear taken for linear", operation_of_two(jvp="linear")),
    (
        "forward derivative",
        "elementwise, but it mixes elements",
        operation(kernel=lambda x: np.cumsum(x), vjp=lambda g: np.cumsum(g[::-1])[::-1], samples=lambda t: [S(t(4))]),
    ),
    ("change", "values kept behind the recorder's back", hiding()),
]


@pytest.mark.parametrize(("check", "how", "broken"), BROKEN, ids=[f"{check}: {how}" for check, how, _ in BROKEN])
def test_a_broken_operation_is_found(check: str, how: str, broken: Operation) -> None:
    with pytest.raises(AssertionError):
        CHECKS[check](broken)


@pytest.mark.parametrize("check", CHECKS)
def test_a_sound_operation_passes(check: str) -> None:
    CHECKS[check](operation())
    if check not in ("forward derivative",):  # the product is not the square
        CHECKS[check](operation_of_two())


def test_a_saved_result_is_noticed_too() -> None:
    check_change(operation(kernel=np.exp, vjp=lambda g, out: g * out))


# -- the helpers ------------------------------------------------------------------------------------------------------


def test_closeness_has_a_limit() -> None:
    x = np.array([1.0, -100.0])
    assert_close(x, x * (1 + 0.9e-3), 1e-3, "")
    with pytest.raises(AssertionError):
        assert_close(x, x + 0.2001, 1e-3, "")
    with pytest.raises(AssertionError):
        assert_close(x, np.array([1.0, np.nan]), 1e-3, "")
    with pytest.raises(AssertionError):
        assert_close(x, x[:1], 1e-3, "")
    with pytest.raises(AssertionError):
        assert_close(np.array([2**62]), np.array([2**62 + 1]), 0.0, "")
    assert tolerance(np.dtype("int64")) == 0 < tolerance(np.dtype("float64")) < tolerance(np.dtype("float32"))


def test_central_differences_follow_the_convention_for_complex_numbers() -> None:
    """L = Re(conj(c) f(z)) has the gradient conj(f'(z)) c if f is holomorphic, and f(z) = |z|**2 has 2 z Re(c)."""
    z, c = np.array([1.5 - 0.5j]), np.array([0.3 + 2.0j])
    (found,) = numeric_gradient(lambda xs: [xs[0] ** 3], [z], [c])
    np.testing.assert_allclose(found, np.conj(3 * z**2) * c, rtol=1e-8)
    (found,) = numeric_gradient(lambda xs: [np.abs(xs[0]) ** 2], [z], [c.real])
    np.testing.assert_allclose(found, 2 * z * c.real, rtol=1e-8)


def test_errors_of_numpy_are_told_from_those_of_leafgrad() -> None:
    with pytest.raises(TypeError) as ours:
        lg.add(lg.ones(1), "x")
    assert raised_by_leafgrad(ours.value)
    broken = operation(kernel=lambda x: np.left_shift(x, 1.5))
    with pytest.raises(TypeError) as numpys:
        broken.function(wrap(np.ones(2)))
    assert not raised_by_leafgrad(numpys.value)


@pytest.mark.parametrize("layout", ["transposed", "stepped", "expanded"])
def test_layouts_are_what_they_are_called(layout: str) -> None:
    values = drawn((0, 0), (3, 4), "float64", False, None, None)
    made = laid_out(values, layout)
    assert made.shape == (3, 4) and not made.flags.c_contiguous
    if layout == "expanded":
        assert 0 in made.strides and np.array_equal(made[:, 0], values[:, 0])
    else:
        assert np.array_equal(made, values)
        assert made.flags.f_contiguous == (layout == "transposed")


# -- blocks that cannot be understood ---------------------------------------------------------------------------------


def test_a_block_needs_documentation_and_samples() -> None:
    with pytest.raises(TypeError, match="op made_up has no documentation"):
        operation(__doc__=None)
    with pytest.raises(TypeError, match="op made_up has no samples for the tests"):
        operation(samples=None)


def test_rules_that_cannot_be_read_are_refused_when_the_operation_is_recorded() -> None:
    x = wrap(np.ones(2)).requires_grad_()
    with pytest.raises(TypeError, match="op made_up has no gradient rule"):
        operation(vjp=None).function(x)
    with pytest.raises(TypeError, match="op made_up: a rule asks for 'whatever'"):
        operation(vjp=lambda g, whatever: g).function(x)


def test_the_class_statement_of_a_block_makes_an_operation_and_registers_nothing() -> None:
    class made_up_(Unary):
        """made_up(input): for tests."""

        kernel = np.square

        def vjp(g: A, input: A) -> A:
            return g * (2 * input)

    assert isinstance(made_up_, Operation) and made_up_.name == "made_up" and "made_up" not in registry
    x = wrap(np.array([3.0])).requires_grad_()
    made_up_.function(x).sum().backward()
    assert x.grad.tolist() == [6.0]
