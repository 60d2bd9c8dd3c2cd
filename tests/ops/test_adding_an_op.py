"""The op that CONTRIBUTING.md adds as an example: from that one block it has all its forms, and passes what the tests
ask of every op. It is gone when these tests are over."""

from __future__ import annotations

import inspect
import pydoc
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from added_op import PAGE, example, imported
from leafgrad.autograd import forward_ad
from leafgrad.func import vmap
from leafgrad.ops.registry import Operation, registry
from op_values import HINT, KINDS
from op_values import check as check_values

HERE = Path(__file__).parent
# where the tests are that walk the registry
GENERIC = ["test_ops", "test_ops_gradients", "test_ops_inplace", "test_registry_gradcheck", "test_registry_forward",
           "test_vmap_ops"]  # fmt: skip

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values to real")


@pytest.fixture(scope="module")
def lean() -> Iterator[Operation]:
    with example() as made:
        yield made


def test_leafgrad_does_not_have_it() -> None:
    assert not hasattr(lg, "lean") and not hasattr(lg.Tensor, "lean_") and "lean" not in registry


def test_all_forms(lean: Operation) -> None:
    x, y = lg.tensor([3.0, 8.0], requires_grad=True), lg.tensor([4.0, 6.0])
    assert registry["lean"] is lean
    np.testing.assert_allclose(lg.lean(x, y).detach(), [0.6, 0.8], rtol=1e-6)
    assert lg.lean(x, y).tolist() == x.lean(y).tolist()
    assert lg.lean(x, y).grad_fn.name() == "LeanBackward0"
    z = x.detach().clone()
    assert z.lean_(y) is z and z.tolist() == lg.lean(x, y).tolist()
    out = lg.empty(2)
    assert lg.lean(x.detach(), y, out=out) is out and out.tolist() == z.tolist()
    assert lg.lean(lg.ones(2, 1), lg.ones(3, dtype=lg.float64)).shape == (2, 3)


def test_derivatives(lean: Operation) -> None:
    x, y = lg.tensor([3.0], requires_grad=True), lg.tensor([4.0], requires_grad=True)
    lg.lean(x, y).backward()
    np.testing.assert_allclose([x.grad.item(), y.grad.item()], [0.128, -0.096], rtol=1e-6)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, lg.tensor([2.0]))
        np.testing.assert_allclose(forward_ad.unpack_dual(lg.lean(dual, y)).tangent.detach(), [0.256], rtol=1e-6)


@pytest.mark.filterwarnings("error:There is a performance drop")
def test_vmap(lean: Operation) -> None:
    x, y = lg.rand(4, 3), lg.rand(3)
    assert lg.equal(vmap(lg.lean, (0, None))(x, y), lg.lean(x, y))


def test_stubs(lean: Operation) -> None:
    script: Any = imported(PAGE.parent / "tools" / "make_stubs.py", "make_stubs_with_lean")
    assert "def lean(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:" in script.functions_stub()
    assert "def lean(self, other: Tensor) -> Tensor:" in script.methods_stub()
    assert "def lean_(self, other: Tensor) -> Self:" in script.methods_stub()


@pytest.mark.parametrize("kind", KINDS)
def test_its_values_are_asked_for(lean: Operation, kind: str) -> None:
    """tests/torch/test_op_values_torch.py makes them."""
    with pytest.raises(AssertionError, match=re.escape(HINT)):
        check_values(lean, kind)


def test_documentation(lean: Operation) -> None:
    for form in (lg.lean, lg.Tensor.lean):
        assert "lean(input, other): input / sqrt(input**2 + other**2)" in pydoc.plain(pydoc.render_doc(form))
    assert pydoc.plain(pydoc.render_doc(lg.Tensor.lean_)).rstrip().endswith("lean, in place.")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: lg.lean(1.0, x),
            TypeError,
            "lean(): argument 'input' (position 1) must be Tensor, not float",
        ),
        (
            lambda x: lg.lean(x, [1.0]),
            TypeError,
            "lean(): argument 'other' (position 2) must be Tensor, not list",
        ),
        (lambda x: lg.lean(x.long(), x.long()), NotImplementedError, "\"lean_cpu\" not implemented for 'Long'"),
        (lambda x: lg.lean(x > 0, x > 0), NotImplementedError, "\"lean_cpu\" not implemented for 'Bool'"),
        (lambda x: x.lean(x + 1j), NotImplementedError, "\"lean_cpu\" not implemented for 'ComplexFloat'"),
        (
            lambda x: lg.lean(x, lg.ones(3)),
            RuntimeError,
            "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
        ),
    ],
)
def test_errors_in_pytorchs_words(lean: Operation, call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call(lg.ones(2))
    assert str(caught.value).splitlines()[0] == message


# Tests of ops that declare `constants`, or that vmap refuses.
OF_SOME_OPS = ("test_arguments_that_have_no_gradient_refuse_one", "test_refusals")


def generic_checks() -> list[Any]:
    """The tests that take one op, whichever it is."""
    found = []
    for name in GENERIC:
        for function in vars(imported(HERE / f"{name}.py", f"generic_{name}")).values():
            if inspect.isfunction(function) and function.__name__.startswith("test_"):
                if [*inspect.signature(function).parameters] in (["entry"], ["operation"]):
                    found.append(function)
    return [function for function in found if function.__name__ not in OF_SOME_OPS]


@pytest.mark.filterwarnings("ignore")  # as the tests do themselves, by marks that are not heeded here
@pytest.mark.parametrize("check", generic_checks(), ids=lambda check: check.__name__)
def test_it_passes(lean: Operation, check: Any) -> None:
    check(lean)
