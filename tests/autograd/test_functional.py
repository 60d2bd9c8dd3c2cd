"""autograd.functional: derivatives that can be written down, the forms in which they come, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp

X = [0.5, -1.0, 2.0]
MATRIX = [[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]]


def tensor(values: Any, **how: Any) -> Any:
    return torch.tensor(values, dtype=torch.float64, **how)


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.detach().numpy(), np.asarray(expected), rtol=1e-12, atol=1e-12)


def curve(x: Any) -> Any:
    """A function of three numbers with three results: its Jacobian is [[2a, 0, 0], [b*c...], ...], see `slope`."""
    a, b, c = x[0], x[1], x[2]
    return torch.stack([a**2, a * b * c, c.exp()])


def slope(x: list[float]) -> Any:
    a, b, c = x
    return np.array([[2 * a, 0, 0], [b * c, a * c, a * b], [0, 0, np.exp(c)]])


def height(x: Any) -> Any:
    """One number made of three: its second derivatives are `bend`."""
    a, b, c = x[0], x[1], x[2]
    return a**3 + a * b * c**2


def bend(x: list[float]) -> Any:
    a, b, c = x
    return np.array([[6 * a, c**2, 2 * b * c], [c**2, 0, 2 * a * c], [2 * b * c, 2 * a * c, 2 * a * b]])


WAYS = [
    pytest.param({}, id="one_by_one"),
    pytest.param({"vectorize": True}, id="in_one_batch"),
    pytest.param({"vectorize": True, "strategy": "forward-mode"}, id="forward_mode"),
]


def for_hessian(way: dict[str, Any]) -> dict[str, Any]:
    return {"outer_jacobian_strategy" if key == "strategy" else key: value for key, value in way.items()}


# -- values -----------------------------------------------------------------------------------------------------------


def test_products_with_a_jacobian() -> None:
    v = [1.0, -2.0, 0.5]
    value, product = vjp(curve, tensor(X), tensor(v))
    same(value, curve(tensor(X)))
    same(product, np.array(v) @ slope(X))
    value, product = jvp(curve, tensor(X), tensor(v))
    same(value, curve(tensor(X)))
    same(product, slope(X) @ np.array(v))


@pytest.mark.parametrize("function", [hvp, vhp])
def test_products_with_a_hessian(function: Callable[..., Any]) -> None:
    v = [1.0, -2.0, 0.5]
    value, product = function(height, tensor(X), tensor(v))
    same(value, height(tensor(X)))
    same(product, bend(X) @ np.array(v))


@pytest.mark.parametrize("way", WAYS)
def test_jacobian(way: dict[str, Any]) -> None:
    same(jacobian(curve, tensor(X), **way), slope(X))
    same(jacobian(lambda x: tensor(MATRIX) @ x, tensor(X), **way), MATRIX)


@pytest.mark.parametrize("way", WAYS)
def test_hessian(way: dict[str, Any]) -> None:
    same(hessian(height, tensor(X), **for_hessian(way)), bend(X))


@pytest.mark.parametrize("way", WAYS)
def test_a_jacobian_has_the_shape_of_the_output_and_then_that_of_the_input(way: dict[str, Any]) -> None:
    x = torch.ones(2, 3, dtype=torch.float64)
    assert jacobian(lambda a: a.sum(0)[:, None], x, **way).shape == (3, 1, 2, 3)
    assert jacobian(lambda a: a.sum(), x, **way).shape == (2, 3)
    assert jacobian(lambda a: a * torch.ones(4, dtype=torch.float64), tensor(1.0), **way).shape == (4,)
    assert hessian(lambda a: (a**2).sum(), x, **for_hessian(way)).shape == (2, 3, 2, 3)


@pytest.mark.parametrize("way", WAYS)
def test_tuples_come_out_where_tuples_go_in(way: dict[str, Any]) -> None:
    x, y = tensor(X), tensor([2.0])
    of_x, of_y = jacobian(lambda a, b: a * b, (x, y), **way)
    same(of_x, 2 * np.eye(3))
    same(of_y, np.array(X)[:, None])
    (first, second) = jacobian(lambda a: (a * 2, a.sum()), x, **way)
    same(first, 2 * np.eye(3))
    same(second, np.ones(3))
    both = jacobian(lambda a, b: (a * b, b**2), (x, y), **way)
    assert isinstance(both, tuple) and isinstance(both[0], tuple)
    same(both[1][0], np.zeros((1, 3)))
    same(both[1][1], [[4.0]])
    blocks = hessian(lambda a, b: (a**2).sum() * b.sum(), (x, y), **for_hessian(way))
    same(blocks[0][0], 4 * np.eye(3))
    same(blocks[0][1], 2 * np.array(X)[:, None])
    same(blocks[1][0], 2 * np.array(X)[None])
    same(blocks[1][1], [[0.0]])


def test_products_of_several_tensors() -> None:
    x, y = tensor(X), tensor([2.0])
    _, products = vjp(lambda a, b: (a * b, b**2), (x, y), (torch.ones_like(x), tensor([3.0])))
    same(products[0], [2.0, 2.0, 2.0])
    same(products[1], [sum(X) + 12.0])
    _, products = jvp(lambda a, b: (a * b, b**2), (x, y), (torch.ones_like(x), tensor([3.0])))
    same(products[0], 2 + 3 * np.array(X))
    same(products[1], [12.0])
    for function in (hvp, vhp):
        _, products = function(lambda a, b: (a**2).sum() * b.sum(), (x, y), (torch.ones_like(x), tensor([3.0])))
        same(products[0], 4 + 6 * np.array(X))
        same(products[1], [2 * sum(X)])


def test_a_vector_of_one_may_be_left_out() -> None:
    x = tensor([3.0])
    for function in (vjp, jvp, hvp, vhp):
        _, product = function(lambda a: (a**2).sum(), x)
        same(product.sum(), 6.0 if function in (vjp, jvp) else 2.0)


@pytest.mark.parametrize("function", [vjp, jvp])
def test_complex_numbers(function: Callable[..., Any]) -> None:
    z, v = torch.tensor([1 + 2j], dtype=torch.complex128), torch.tensor([0.5 - 1j], dtype=torch.complex128)
    _, product = function(lambda a: a**2, z, v)
    expected = 2 * (1 + 2j) * (0.5 - 1j) if function is jvp else np.conj(2 * (1 + 2j)) * (0.5 - 1j)
    same(product, [expected])


# -- graphs -----------------------------------------------------------------------------------------------------------


def test_without_create_graph_nothing_is_connected() -> None:
    x = tensor(X, requires_grad=True)
    ones = torch.ones_like(x)
    for function in (vjp, jvp):
        assert not any([t.requires_grad for t in function(curve, x, ones)])
    for function in (hvp, vhp):
        assert not any([t.requires_grad for t in function(height, x, ones)])
    assert not jacobian(curve, x).requires_grad
    assert not hessian(height, x).requires_grad
    assert x.grad is None


@pytest.mark.parametrize("vectorize", [False, True])
def test_derivatives_can_be_differentiated(vectorize: bool) -> None:
    x = tensor(X, requires_grad=True)
    ones = torch.ones(3, dtype=torch.float64)
    found = {
        "vjp": vjp(lambda a: a**4, x, ones, create_graph=True)[1],
        "jvp": jvp(lambda a: a**4, x, ones, create_graph=True)[1],
        "jacobian": jacobian(lambda a: a**4, x, create_graph=True, vectorize=vectorize),
    }
    for name, derivative in found.items():
        (gradient,) = torch.autograd.grad(derivative.sum(), x)
        np.testing.assert_allclose(gradient.numpy(), 12 * np.array(X) ** 2, err_msg=name)
    found = {
        "hvp": hvp(lambda a: (a**4).sum(), x, ones, create_graph=True)[1],
        "vhp": vhp(lambda a: (a**4).sum(), x, ones, create_graph=True)[1],
        "hessian": hessian(lambda a: (a**4).sum(), x, create_graph=True, vectorize=vectorize),
    }
    for name, derivative in found.items():
        (gradient,) = torch.autograd.grad(derivative.sum(), x)
        np.testing.assert_allclose(gradient.numpy(), 24 * np.array(X), err_msg=name)


@pytest.mark.parametrize("name", ["vjp", "jvp", "hvp", "vhp"])
def test_products_pass_gradcheck_themselves(name: str) -> None:
    function: Any = {"vjp": vjp, "jvp": jvp, "hvp": hvp, "vhp": vhp}[name]
    of = curve if name in ("vjp", "jvp") else height
    x, v = tensor(X, requires_grad=True), tensor([1.0, -2.0, 0.5], requires_grad=True)
    assert torch.autograd.gradcheck(lambda a, b: function(of, a, b, create_graph=True), (x, v))
    assert torch.autograd.gradgradcheck(lambda a, b: function(of, a, b, create_graph=True), (x, v))


def test_inputs_are_seen_not_copied_and_left_as_they_are() -> None:
    x = tensor(X)
    seen: list[Any] = []

    def function(a: Any) -> Any:
        seen.append((a.data_ptr() == x.data_ptr(), a is x, a.requires_grad))
        return a * 2

    vjp(function, x, torch.ones_like(x))
    assert seen == [(True, False, True)]
    assert not x.requires_grad


def test_they_work_where_recording_is_off() -> None:
    with torch.no_grad():
        same(jacobian(curve, tensor(X)), slope(X))
        assert vjp(lambda a: a**2, tensor(X), tensor(X), create_graph=True)[1].requires_grad


# -- strict -----------------------------------------------------------------------------------------------------------


def test_what_does_not_depend_on_the_input_is_zero() -> None:
    x, ones = tensor(X), torch.ones(3, dtype=torch.float64)
    same(vjp(lambda a: ones * 2, x, ones)[1], np.zeros(3))
    same(jvp(lambda a: ones * 2, x, ones)[1], np.zeros(3))
    same(hvp(lambda a: a.sum(), x, ones)[1], np.zeros(3))
    same(vhp(lambda a: a.sum(), x, ones)[1], np.zeros(3))
    same(jacobian(lambda a: ones * 2, x), np.zeros((3, 3)))
    same(hessian(lambda a: a.sum(), x), np.zeros((3, 3)))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x, o: vjp(lambda a: o * 2, x, o, strict=True), "Output 0 of the user-provided function does not req"),
        (lambda x, o: vjp(lambda a, b: a * 2, (x, x), o, strict=True), "independent of input 1"),
        (lambda x, o: vjp(lambda a: a * 2, x, o, create_graph=True, strict=True), "The jacobian .* create_graph=True"),
        (lambda x, o: jvp(lambda a: a * 2, x, o, create_graph=True, strict=True), "The jacobian .* create_graph=True"),
        (lambda x, o: hvp(lambda a: a.sum(), x, o, strict=True), "While computing the hessian"),
        (lambda x, o: vhp(lambda a: a.sum(), x, o, strict=True), "While computing the hessian"),
        (lambda x, o: jacobian(lambda a, b: a * 2, (x, x), strict=True), "Output 0 .* independent of input 1"),
        (lambda x, o: hessian(lambda a: a.sum(), x, strict=True), "While computing the hessian"),
    ],
)
def test_strict_mode_refuses_zeros_of_that_kind(call: Callable[..., Any], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        call(tensor(X), torch.ones(3, dtype=torch.float64))


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda x: vjp(curve, 1.0), TypeError, "The inputs given to vjp must be either a Tensor or a tuple of Tensors"),
        (lambda x: jvp(lambda a: 1.0, x, x), TypeError, "The outputs of the user-provided function given to jvp must"),
        (lambda x: vjp(curve, x), RuntimeError, "The vector v can only be None if the user-provided function returns"),
        (lambda x: jvp(curve, x), RuntimeError, "The vector v can only be None if the input to the user-provided"),
        (lambda x: vjp(curve, x, x[:2]), RuntimeError, "v has invalid size: should be torch.Size"),
        (lambda x: jvp(curve, x, (x, x)), RuntimeError, "The given v should contain a single Tensor"),
        (lambda x: jvp(curve, (x, x), (x,)), RuntimeError, "v is a tuple of invalid length: should be 2 but got 1"),
        (lambda x: hvp(curve, x, x), RuntimeError, "The Tensor returned by the function given to hvp should contain"),
        (
            lambda x: vhp(lambda a: (a, a), x, x),
            RuntimeError,
            "The function given to vhp should return a single Tensor",
        ),
        (lambda x: jacobian(curve, x, strategy="sideways"), AssertionError, "Expected strategy to be either"),
        (lambda x: jacobian(curve, x, strategy="forward-mode"), NotImplementedError, "only implemented for `vectorize"),
        (lambda x: jacobian(curve, x, strict=True, vectorize=True), RuntimeError, "are not supported together"),
        (lambda x: jacobian(lambda a: a * 1j, x), RuntimeError, "only for real scalar outputs"),
    ],
)
def test_errors_name_what_is_wrong(call: Callable[..., Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call(tensor(X))


def test_errors_tell_the_line() -> None:
    with pytest.raises(RuntimeError) as caught:
        hvp(curve, tensor(X), tensor(X))
    assert "test_functional.py" in str(caught.value)
    assert "return y.sum()" in str(caught.value)
