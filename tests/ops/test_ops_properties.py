"""Laws that hold for any shapes and any functions: broadcasting, and the linearity of the derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import leafgrad as lg
from leafgrad._core.tensor import wrap
from leafgrad.ops.registry import Operation, registry
from op_checks import assert_close, tolerance
from op_promises import DOUBLE

pytestmark = pytest.mark.slow

# fixed examples: a failure must not come and go
law = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])

binary = [
    o for o in registry.values()
    if o.is_pair and o.differentiable and not o.constants and o.core.node_name != "NotImplemented"
]  # fmt: skip
UFUNCS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "true_div": np.true_divide, "maximum": np.maximum}
UFUNCS |= {"minimum": np.minimum, "pow_tensor": np.power, "rsub_same": lambda x, y: y - x}

two_shapes = mutually_broadcastable_shapes(num_shapes=2, max_dims=4, min_side=0, max_side=3)


def positive(shape: tuple[int, ...], seed: int) -> Any:
    """Away from zero, where powers and quotients are at home."""
    return wrap(np.random.default_rng(seed).uniform(0.4, 2.0, shape)).requires_grad_()


def summed_to(array: Any, shape: tuple[int, ...]) -> Any:
    """Broadcasting undone, written out: repeated elements get the sum over their repetitions."""
    while array.ndim > len(shape):
        array = array.sum(0)
    for i, size in enumerate(shape):
        if size == 1:
            array = array.sum(i, keepdims=True)
    return array


def test_the_binary_family_is_known() -> None:
    assert {o.name for o in binary} >= {*UFUNCS, "remainder", "div_floor", "div_trunc"}


@pytest.mark.parametrize("operation", binary, ids=lambda operation: operation.name)
@law
@given(shapes=two_shapes, seed=st.integers(0, 99))
def test_broadcasting_repeats_values_and_sums_gradients(operation: Operation, shapes: Any, seed: int) -> None:
    """A call that broadcasts is the call on operands that were repeated by hand."""
    a, b = [positive(shape, seed + i) for i, shape in enumerate(shapes.input_shapes)]
    out = operation.function(a, b)
    assert tuple(out.shape) == shapes.result_shape
    wide_a, wide_b = [wrap(np.broadcast_to(t.array, out.shape).copy()).requires_grad_() for t in (a, b)]
    wide_out = operation.function(wide_a, wide_b)
    assert_close(out.array, wide_out.array, DOUBLE, operation.name)
    c = wrap(np.random.default_rng(seed + 2).uniform(-1, 1, out.shape))
    wide_gradients = lg.autograd.grad(wide_out, (wide_a, wide_b), c)
    for create_graph in (False, True):
        found = lg.autograd.grad(out, (a, b), c, retain_graph=True, create_graph=create_graph)
        for t, g, w in zip((a, b), found, wide_gradients, strict=True):
            assert g.shape == t.shape
            assert_close(g.array, summed_to(w.array, tuple(t.shape)), 4 * DOUBLE, operation.name)  # sums of up to 81


@pytest.mark.parametrize("name", UFUNCS)
@law
@given(shapes=two_shapes, seed=st.integers(0, 99), kinds=st.tuples(*[st.sampled_from(["float32", "float64"])] * 2))
def test_values_are_those_of_numpy(name: str, shapes: Any, seed: int, kinds: tuple[str, str]) -> None:
    made = [positive(shape, seed + i) for i, shape in enumerate(shapes.input_shapes)]
    a, b = [t.array.astype(kind) for t, kind in zip(made, kinds, strict=True)]
    out = registry[name].function(wrap(a), wrap(b)).array
    wide = [k for k, x in zip(kinds, (a, b), strict=True) if x.ndim] or list(kinds)  # those without dimensions give way
    assert out.dtype == max(wide)
    assert_close(out, np.asarray(UFUNCS[name](a.astype(out.dtype), b.astype(out.dtype))), tolerance(out.dtype), name)


FUNCTIONS = {
    "sin": lambda x: x.sin(),
    "exp of a sum": lambda x: x.sum(-1, keepdim=True).exp() + x,
    "softmax": lambda x: x.softmax(-1),
    "cube": lambda x: x**3,
    "product with itself": lambda x: x * x.flip(-1),
    "norm": lambda x: x / x.norm(),
    "largest": lambda x: x.amax(-1, keepdim=True) * x,
    "running sum": lambda x: x.cumsum(-1) if hasattr(x, "cumsum") else x.flip(-1),
}
functions = st.sampled_from(sorted(FUNCTIONS))


def gradient(f: Any, x: Any, c: Any) -> Any:
    return lg.autograd.grad(f(x), x, c)[0].array


@law
@given(one=functions, two=functions, seed=st.integers(0, 999), a=st.floats(-3, 3), b=st.floats(-3, 3))
def test_the_derivative_is_linear_in_the_function(one: str, two: str, seed: int, a: float, b: float) -> None:
    """(a f + b g)' = a f' + b g'"""
    f, g, x = FUNCTIONS[one], FUNCTIONS[two], positive((2, 3), seed)
    c = wrap(np.random.default_rng(seed).uniform(-1, 1, (2, 3)))
    both = gradient(lambda t: a * f(t) + b * g(t), x, c)
    assert_close(both, a * gradient(f, x, c) + b * gradient(g, x, c), 4 * DOUBLE, (one, two))


@law
@given(one=functions, two=functions, seed=st.integers(0, 999))
def test_the_derivative_of_a_product(one: str, two: str, seed: int) -> None:
    """(f g)' = f' g + f g'"""
    f, g, x = FUNCTIONS[one], FUNCTIONS[two], positive((2, 3), seed)
    c = wrap(np.random.default_rng(seed).uniform(-1, 1, (2, 3)))
    parts = gradient(f, x, c * g(x).detach()) + gradient(g, x, c * f(x).detach())
    assert_close(gradient(lambda t: f(t) * g(t), x, c), parts, 4 * DOUBLE, (one, two))


@law
@given(one=functions, two=functions, seed=st.integers(0, 999))
def test_the_chain_rule(one: str, two: str, seed: int) -> None:
    """f(g(x))' is g' of f' at g(x), taken apart by hand at a leaf in between."""
    f, g, x = FUNCTIONS[one], FUNCTIONS[two], positive((2, 3), seed)
    c = wrap(np.random.default_rng(seed).uniform(-1, 1, (2, 3)))
    between = g(x).detach().requires_grad_()
    inner = wrap(gradient(f, between, c))
    assert_close(gradient(lambda t: f(g(t)), x, c), gradient(g, x, inner), 4 * DOUBLE, (one, two))


@law
@given(name=functions, seed=st.integers(0, 999), times=st.integers(1, 4))
def test_gradients_of_several_backward_passes_add_up(name: str, seed: int, times: int) -> None:
    f, x = FUNCTIONS[name], positive((2, 3), seed)
    cotangents = [wrap(c) for c in np.random.default_rng(seed).uniform(-1, 1, (times, 2, 3))]
    for c in cotangents:
        f(x).backward(c)
    total = wrap(np.sum([c.array for c in cotangents], axis=0))
    assert_close(x.grad.array, gradient(f, x, total), 4 * DOUBLE, name)
