"""autograd.functional, compared with the installed PyTorch: results, their graphs, errors and their first sentences."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import leafgrad
from compare import differ, facts
from scenarios import first_sentence


def names(lib: Any) -> dict[str, Any]:
    """What the expressions below may use."""

    class NoGradient(lib.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return None

    return {
        "torch": lib,
        "F": lib.autograd.functional,
        "x": lib.tensor([1.0, 2.0]),
        "y": lib.tensor([[3.0, 4.0, 5.0]]),
        "p": lib.tensor([0.5, 1.5], requires_grad=True),
        "z": lib.tensor([1 + 1j, 2 - 1j]),
        "integers": lib.tensor([1, 2]),
        "ones": lib.ones(2),
        "ones3": lib.ones(1, 3),
        "matrix": lib.tensor([[1.0, -1.0], [0.5, 2.0], [0.0, 3.0]]),
        "no_gradient": NoGradient.apply,
        "inside_no_grad": lib.no_grad(),
    }


def outcome(expression: str, lib: Any) -> Any:
    """What can be seen of an expression: values, forms, whether there is a graph; or the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return without_strides(facts(eval(expression, names(lib))))
        except Exception as error:
            return type(error).__name__, first_sentence(str(error))


def without_strides(seen: Any) -> Any:
    """Zeros that were expanded, and sums that were not added up, are laid out as it happens."""
    if isinstance(seen, tuple):
        return (*seen[:3], seen[4])
    return [without_strides(each) for each in seen] if isinstance(seen, list) else seen


def compare(expression: str) -> None:
    expected, got = outcome(expression, torch), outcome(expression, leafgrad)
    assert not differ(got, expected, 1e-5), f"{expression}\nleafgrad: {got}\nPyTorch:  {expected}"


# In each line, f is the function, func a function that it can take, and v a vector of the right form.
PRODUCTS = """
f(func, x, v)
f(func, (x,), (v,))
f(func, (x,), v)
f(func, x)
f(func, torch.tensor(2.0))
f(func, torch.tensor([[2.0]]))
f(func, x, torch.ones(3))
f(func, x, torch.ones(2, 1))
f(func, x, (v, v))
f(func, x, ())
f(func, x, 1.0)
f(func, x, [v])
f(func, x, v.double())
f(func, x.double(), v.double())
f(func, x, v.long())
f(func, (x,), (None,))
f(func, 1.0)
f(func, None)
f(func, (x, 1.0))
f(func, [x], v)
f(func, integers, v)
f(lambda a: 1.0, x, v)
f(lambda a: None, x, v)
f(lambda a: (func(a), 1.0), x, v)
f(lambda a: [func(a)], x, v)
f(lambda a: (func(a),), x, v)
f(lambda a: (func(a), func(a)), x, v)
f(lambda a: (func(a), func(a) * 2), x, (v, v))
f(lambda a: (func(a), integers), x, (v, ones))
f(lambda a: a.sum().view(1, 1), x, v)
f(lambda a: a.sum().view(1, 1), x)
f(lambda a: func(a).detach(), x, v)
f(lambda a: func(a).detach(), x, v, strict=True)
f(lambda a: func(a).detach(), x, torch.ones(3), strict=True)
f(lambda a: func(ones), x, v)
f(lambda a: func(ones), x, v, strict=True)
f(lambda a: func(p), x, v)
f(lambda a: func(p), x, v, strict=True)
f(lambda a: func(p), x, v, create_graph=True)
f(lambda a, b: func(a), (x, y), vs)
f(lambda a, b: func(a), (x, y), vs, strict=True)
f(lambda a, b: func(a) * b.sum(), (x, y), vs)
f(lambda a, b: func(a) * b.sum(), (x, y), vs, create_graph=True)
f(lambda a, b: func(a) * b.sum(), (x, y), vs, strict=True)
f(lambda a, b: func(a) * b.sum(), (x, y), (ones, ones))
f(lambda a, b: func(a) * b.sum(), (x, y), ones3)
f(lambda a, b: func(a) * b.sum(), (x.double(), y), vs)
f(lambda a, b: func(a) * b.sum(), (p, y), vs, create_graph=True)
f(lambda a: func(a) + no_gradient(a).sum(), x, v)
f(lambda a: func(no_gradient(a)), x, v)
f(lambda a: func(no_gradient(a)), x, v, strict=True)
f(lambda a: linear(a), x, v)
f(lambda a: linear(a), x, v, strict=True)
f(lambda a: linear(a), x, v, create_graph=True)
f(lambda a: linear(a), x, v, create_graph=True, strict=True)
f(lambda a: linear(a), p, v, create_graph=True, strict=True)
f(func, x, v, create_graph=True)
f(func, x, v, create_graph=True, strict=True)
f(func, p, v)
f(func, p, v, create_graph=True)
f(func, p, v, True, True)
f(func, x, v.clone().requires_grad_())
f(func, x, v.clone().requires_grad_(), create_graph=True)
inside_no_grad(lambda: f(func, p, v))()
inside_no_grad(lambda: f(func, p, v, create_graph=True))()
inside_no_grad(lambda: f(func, p, v, strict=True))()
f(lambda a: func(a.mul_(2)), x.clone(), v)
f(lambda a: func(a.clone().mul_(2)), x, v)
f(func, z, z)
f(lambda a: func(a).abs().sum(), z, v if f is F.vjp else z)
f(func, x, z)
f(func, x[::1], v)
f(func, y.t(), y.t())
f(lambda a, b: func(a + b), (x, x), vs)
f(lambda a: a[0] if single else a, x, v)
f(lambda a: a[0] if single else a, x, v, create_graph=True)
"""

OF_NUMBERS = "func=lambda a: (a**3).sum(), linear=lambda a: (a * 2).sum()"
SETUP = {
    "vjp": "f=F.vjp, func=lambda a: a**3, linear=lambda a: a * 2, v=ones, vs=ones, single=False",
    "jvp": "f=F.jvp, func=lambda a: a**3, linear=lambda a: a * 2, v=ones, vs=(ones, ones3), single=False",
    "hvp": f"f=F.hvp, {OF_NUMBERS}, v=ones, vs=(ones, ones3), single=True",
    "vhp": f"f=F.vhp, {OF_NUMBERS}, v=ones, vs=(ones, ones3), single=True",
}


@pytest.mark.parametrize("line", PRODUCTS.strip().splitlines())
@pytest.mark.parametrize("name", SETUP)
def test_products(name: str, line: str) -> None:
    compare(f"(lambda {SETUP[name]}: {line})()")


MORE_PRODUCTS = """
F.vjp(lambda a: a.exp().sum(1), matrix, torch.ones(3))
F.jvp(lambda a: a.exp().sum(1), matrix, torch.ones(3, 2))
F.vjp(lambda a: (a**2, a.sum()), x, (ones, torch.tensor(3.0)))
F.vjp(lambda a: (a**2, a.sum()), x, (ones, ones))
F.vjp(lambda a: (a**2, a.sum()), x, ones)
F.jvp(lambda a: (a**2, a.sum()), x, ones)
F.jvp(lambda a: (a**2, a * 2), x, ones, create_graph=True, strict=True)
F.jvp(lambda a: (a**2, p * 2), x, ones, strict=True)
F.jvp(lambda a: (a**2, ones * 2), x, ones, strict=True)
F.jvp(lambda a: (a**2, integers), x, ones)
F.hvp(lambda a: (a * p).sum(), x, ones, strict=True)
F.vhp(lambda a: (a * p).sum(), x, ones, strict=True)
F.hvp(lambda a, b: (a**2 * p).sum() + (b * 2).sum(), (x, y), (ones, ones3), strict=True)
F.vhp(lambda a, b: (a**2 * p).sum() + (b * 2).sum(), (x, y), (ones, ones3), strict=True)
F.hvp(lambda a: (a * a).sum(), x, ones, create_graph=True, strict=True)
F.vhp(lambda a: (a * a).sum(), x, ones, create_graph=True, strict=True)
F.hvp(lambda a: (a**2).sum(), x, ones, create_graph=True, strict=True)
F.vhp(lambda a: (a**2).sum(), x, ones, create_graph=True, strict=True)
F.hvp(lambda a: a[0] * a[1] ** 2, x, torch.tensor([1.0, -2.0]))
F.vhp(lambda a: a[0] * a[1] ** 2, x, torch.tensor([1.0, -2.0]))
torch.autograd.grad(F.vjp(lambda a: a**3, p, ones, create_graph=True)[1].sum(), p)
torch.autograd.grad(F.jvp(lambda a: a**3, p, ones, create_graph=True)[1].sum(), p)
torch.autograd.grad(F.hvp(lambda a: (a**4).sum(), p, ones, create_graph=True)[1].sum(), p)
torch.autograd.grad(F.vhp(lambda a: (a**4).sum(), p, ones, create_graph=True)[1].sum(), p)
torch.autograd.grad(F.vjp(lambda a: a**3, x, p, create_graph=True)[1].sum(), p)
torch.autograd.grad(F.jvp(lambda a: a**3, x, p, create_graph=True)[1].sum(), p)
F.vjp(lambda a: a, x, ones)[0].data_ptr() == x.data_ptr()
"""


@pytest.mark.parametrize("line", MORE_PRODUCTS.strip().splitlines())
def test_more_products(line: str) -> None:
    compare(line)


JACOBIANS = """
f(func, x)
f(func, (x,))
f(func, torch.tensor(2.0))
f(func, torch.tensor([[2.0]]))
f(func, x.double())
f(func, matrix)
f(func, 1.0)
f(func, (x, 1.0))
f(func, [x])
f(func, integers)
f(lambda a: 1.0, x)
f(lambda a: (func(a), 1.0), x)
f(lambda a: [func(a)], x)
f(lambda a: (func(a),), x)
f(lambda a: (func(a), func(a) * 2), x)
f(lambda a: (func(a), integers), x)
f(lambda a: a.sum().view(1, 1), x)
f(lambda a: (a**2).sum().view(1, 1), x)
f(lambda a: func(a).detach(), x)
f(lambda a: func(a).detach(), x, strict=True)
f(lambda a: func(ones), x)
f(lambda a: func(p), x)
f(lambda a: func(p), x, strict=True)
f(lambda a, b: func(a), (x, y))
f(lambda a, b: func(a), (x, y), strict=True)
f(lambda a, b: func(a) * b.sum(), (x, y))
f(lambda a, b: func(a) * b.sum(), (x, y), create_graph=True)
f(lambda a, b: func(a) * b.sum(), (x, y), strict=True)
f(lambda a, b: func(a) * (b**2).sum(), (x, y), strict=True)
f(lambda a, b: func(a) * b.sum(), (x, y.double()))
f(lambda a, b: func(a) + (b**2).sum(), (x, y), strict=True)
f(lambda a: linear(a), x)
f(lambda a: linear(a), x, strict=True)
f(lambda a: linear(a), x, create_graph=True)
f(lambda a: linear(a), x, create_graph=True, strict=True)
f(func, x, create_graph=True)
f(func, x, create_graph=True, strict=True)
f(func, x, True, True)
f(func, p)
f(func, p, create_graph=True)
inside_no_grad(lambda: f(func, p))()
inside_no_grad(lambda: f(func, p, create_graph=True))()
f(lambda a: func(a).double(), x)
f(func, z)
f(lambda a: func(a) * 1j, x)
f(func, torch.ones(0))
f(lambda a: func(a.mul_(2)), x.clone())
f(lambda a: a[0] if f is F.hessian else a, x)
f(lambda a: a[0] if f is F.hessian else a, x, create_graph=True)
f(lambda a: func(no_gradient(a)), x)
f(lambda a: func(no_gradient(a)), x, strict=True)
"""

KINDS = {
    "jacobian": "f=F.jacobian, func=lambda a: a**3, linear=lambda a: a * 2",
    "hessian": f"f=F.hessian, {OF_NUMBERS}",
}


@pytest.mark.parametrize("line", JACOBIANS.strip().splitlines())
@pytest.mark.parametrize("name", KINDS)
def test_jacobians(name: str, line: str) -> None:
    compare(f"(lambda {KINDS[name]}: {line})()")


# Which rows of a batch have a graph behind them depends on how batches are computed; 0 + -0j is another matter too.
IN_BATCHES_OTHERWISE = (
    "func(a) * b.sum(), (x, y), create_graph",
    "f(func, torch.ones(0))",
    "func(a) * 1j",
    "f(func, z)",
)


@pytest.mark.parametrize("line", JACOBIANS.strip().splitlines())
@pytest.mark.parametrize("name", KINDS)
def test_jacobians_in_one_batch(name: str, line: str) -> None:
    if not any([part in line for part in IN_BATCHES_OTHERWISE]):
        compare(f"(lambda {KINDS[name]}: {line[:-1]}, vectorize=True))()".replace(")(), vectorize=True)", "))()"))


MORE_JACOBIANS = """
F.jacobian(lambda a, b: (a * b.sum(), b * 2), (x, y))
F.jacobian(lambda a, b: (a * b.sum(), b * 2), (x, y), create_graph=True)
F.jacobian(lambda a, b: (a * b.sum(), b**2), (x, y), strict=True)
F.jacobian(lambda a, b: (a * b.sum(), b * 2), (x, y), vectorize=True)
F.jacobian(lambda a: a @ matrix.t() + 1, torch.ones(4, 2), vectorize=True)
F.jacobian(lambda a: torch.stack([a[0] ** 2, torch.tensor(1.0)]), x, create_graph=True, strict=True)
F.jacobian(lambda a: a.exp().sum(1), matrix)
F.jacobian(lambda a: a.exp().sum(1), matrix, create_graph=True)
F.jacobian(lambda a: a**2, x, strategy="foo")
F.jacobian(lambda a: a**2, x, strategy="forward-mode")
F.jacobian(lambda a: a**2, x, strategy="forward-mode", create_graph=True)
F.jacobian(lambda a: a**2, x, strategy="forward-mode", strict=True)
F.jacobian(lambda a: a**2, x, strict=True, vectorize=True)
F.jacobian(lambda a: a.detach(), x, strict=True, vectorize=True)
F.hessian(lambda a: (a**2).sum(), x, outer_jacobian_strategy="foo")
F.hessian(lambda a: (a**2).sum(), x, outer_jacobian_strategy="forward-mode")
F.hessian(lambda a: (a**2).sum(), x, create_graph=True, strict=True)
F.hessian(lambda a: (a * a).sum(), x, create_graph=True, strict=True)
F.hessian(lambda a, b: (2 * a**2).sum() + (3 * b**2).sum(), (x, y))
F.hessian(lambda a, b: (a**2).sum() * b.sum(), (x, y), strict=True)
F.hessian(lambda a, b: (a**2).sum() * b.sum(), (x, y), create_graph=True)
F.hessian(lambda a: (a**3).sum(), matrix)
torch.autograd.grad(F.jacobian(lambda a: a**3, p, create_graph=True).sum(), p)
torch.autograd.grad(F.hessian(lambda a: (a**4).sum(), p, create_graph=True).sum(), p)
torch.autograd.grad(F.jacobian(lambda a: a**3, p, create_graph=True, vectorize=True).sum(), p)
torch.autograd.grad(F.hessian(lambda a: (a**4).sum(), p, create_graph=True, vectorize=True).sum(), p)
F.jacobian(lambda a: F.jacobian(lambda b: b**3, a, create_graph=True), x)
"""


@pytest.mark.parametrize("line", MORE_JACOBIANS.strip().splitlines())
def test_more_jacobians(line: str) -> None:
    compare(line)


# -- forward mode -----------------------------------------------------------------------------------------------------

# Where inputs are a tuple PyTorch returns lists, though its documentation promises tuples, as leafgrad returns.
FORWARD = """
F.jacobian(lambda a: a**3, x, HOW)
F.jacobian(lambda a: a**3, torch.tensor(2.0), HOW)
F.jacobian(lambda a: a.exp().sum(1), matrix, HOW)
F.jacobian(lambda a: (a**3, a.sum()), x, HOW)
F.jacobian(lambda a: (a**3,), x, HOW)
F.jacobian(lambda a: (a**2, integers), x, HOW)
F.jacobian(lambda a: a @ matrix.t() + 1, torch.ones(4, 2), HOW)
F.jacobian(lambda a: a.detach(), x, HOW)
F.jacobian(lambda a: ones * 2, x, HOW)
F.jacobian(lambda a: p * 2, x, HOW)
F.jacobian(lambda a: a.double() * 2, x, HOW)
F.jacobian(lambda a: a * 1j, x, HOW)
F.jacobian(lambda a: a**2, z, HOW)
F.jacobian(lambda a: a**2, p, HOW)
inside_no_grad(lambda: F.jacobian(lambda a: a**2, p, HOW))()
F.jacobian(lambda a: a**2, integers, HOW)
F.jacobian(lambda a: a**2, 1.0, HOW)
F.jacobian(lambda a: a**2, [x], HOW)
F.jacobian(lambda a: a, x, HOW)
F.jacobian(lambda a: a.mul_(2), x.clone(), HOW)
list(F.jacobian(lambda a, b: a * b.sum(), (x, y), HOW))
[list(row) for row in F.jacobian(lambda a, b: (a * b.sum(), b**2), (x, y), HOW)]
F.hessian(lambda a: (a**3).sum(), x, OUTER)
F.hessian(lambda a: (a**3).sum(), torch.tensor(2.0), OUTER)
F.hessian(lambda a: (a**3).sum(), matrix, OUTER)
F.hessian(lambda a: (a**3).sum(), p, OUTER)
F.hessian(lambda a: (a * 2).sum(), x, OUTER)
F.hessian(lambda a: a**2, x, OUTER)
F.hessian(lambda a: (a.sum(), a.sum()), x, OUTER)
F.hessian(lambda a: 1.0, x, OUTER)
[list(row) for row in F.hessian(lambda a, b: (a**2).sum() * (b**3).sum(), (x, y), OUTER)]
"""


@pytest.mark.parametrize("line", FORWARD.strip().splitlines())
def test_forward_mode(line: str) -> None:
    line = line.replace("HOW", "vectorize=True, strategy='forward-mode'")
    compare(line.replace("OUTER", "vectorize=True, outer_jacobian_strategy='forward-mode'"))


# -- a batch of gradients ---------------------------------------------------------------------------------------------

BATCHES = """
G(p**2, p, torch.eye(2), is_grads_batched=True)
G(p**2, p, torch.ones(3, 2), is_grads_batched=True)
G([p**2], [p], [torch.eye(2)], is_grads_batched=True)
G((p**2).sum(), p, torch.ones(3), is_grads_batched=True)
G(p**2, p, is_grads_batched=True)
G(p**2, p, ones, is_grads_batched=True)
G(p**2, p, torch.ones(2, 3), is_grads_batched=True)
G(p**2, p, 1.0, is_grads_batched=True)
G(p**2, p, [1.0], is_grads_batched=True)
G((p**2).sum(), p, torch.tensor(1.0), is_grads_batched=True)
G(p**2, p, torch.ones(0, 2), is_grads_batched=True)
G(p**2, (p, q), torch.eye(2), is_grads_batched=True)
G(p**2, (p, q), torch.eye(2), is_grads_batched=True, allow_unused=True)[0]
G(p**2, (p, q), torch.eye(2), is_grads_batched=True, allow_unused=True)[1] is None
G(p**2, (p, q), torch.eye(2), is_grads_batched=True, materialize_grads=True)
G((p**2, (p * q).sum()), (p, q), (torch.eye(2), torch.ones(2)), is_grads_batched=True)
G((p**2, (p * q).sum()), p, (torch.eye(2), torch.ones(3)), is_grads_batched=True)
G(p**3, p, torch.eye(2), is_grads_batched=True, create_graph=True)
G(G(p**3, p, torch.eye(2), is_grads_batched=True, create_graph=True)[0].sum(), p)
G(ones, p, torch.eye(2), is_grads_batched=True)
(lambda s: [G(s, p, torch.eye(2), is_grads_batched=True), G(s, p, torch.eye(2), is_grads_batched=True)])(p**2)
(lambda s: [G(s, p, torch.eye(2), is_grads_batched=True, retain_graph=True), G(s, p, ones)])(p**2)
"""


@pytest.mark.parametrize("line", BATCHES.strip().splitlines())
def test_a_batch_of_gradients(line: str) -> None:
    compare(f"(lambda G, q: {line})(torch.autograd.grad, torch.tensor([2.0, 3.0], requires_grad=True))")
