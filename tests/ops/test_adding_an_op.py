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
def shunt() -> Iterator[Operation]:
    with example() as made:
        yield made


def test_leafgrad_does_not_have_it() -> None:
    assert not hasattr(lg, "shunt") and not hasattr(lg.Tensor, "shunt_") and "shunt" not in registry


def test_all_forms(shunt: Operation) -> None:
    x, y = lg.tensor([3.0, 4.0], requires_grad=True), lg.tensor([6.0, 4.0])
    assert registry["shunt"] is shunt
    assert lg.shunt(x, y).tolist() == x.shunt(y).tolist() == [2.0, 2.0]
    assert lg.shunt(x, y).grad_fn.name() == "ShuntBackward0"
    z = y.clone()
    assert z.shunt_(x.detach()) is z and z.tolist() == [2.0, 2.0]
    out = lg.empty(2)
    assert lg.shunt(x.detach(), y, out=out) is out and out.tolist() == [2.0, 2.0]
    assert lg.shunt(lg.ones(2, 1), lg.ones(3, dtype=lg.float64)).shape == (2, 3)


def test_derivatives(shunt: Operation) -> None:
    x, y = lg.tensor([3.0], requires_grad=True), lg.tensor([6.0], requires_grad=True)
    lg.shunt(x, y).backward()
    np.testing.assert_allclose([x.grad.item(), y.grad.item()], [4 / 9, 1 / 9], rtol=1e-6)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, lg.tensor([2.0]))
        np.testing.assert_allclose(forward_ad.unpack_dual(lg.shunt(dual, y)).tangent.detach(), [8 / 9], rtol=1e-6)


@pytest.mark.filterwarnings("error:There is a performance drop")
def test_vmap(shunt: Operation) -> None:
    x, y = lg.rand(4, 3), lg.rand(3)
    assert lg.equal(vmap(lg.shunt, (0, None))(x, y), lg.shunt(x, y))


def test_stubs(shunt: Operation) -> None:
    script: Any = imported(PAGE.parent / "tools" / "make_stubs.py", "make_stubs_with_shunt")
    assert "def shunt(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:" in script.functions_stub()
    assert "def shunt(self, other: Tensor) -> Tensor:" in script.methods_stub()
    assert "def shunt_(self, other: Tensor) -> Self:" in script.methods_stub()


@pytest.mark.parametrize("kind", KINDS)
def test_its_values_are_asked_for(shunt: Operation, kind: str) -> None:
    """tests/torch/test_op_values_torch.py makes them."""
    with pytest.raises(AssertionError, match=re.escape(HINT)):
        check_values(shunt, kind)


def test_documentation(shunt: Operation) -> None:
    for form in (lg.shunt, lg.Tensor.shunt):
        assert "shunt(input, other): 1 / (1 / input + 1 / other)" in pydoc.plain(pydoc.render_doc(form))
    assert pydoc.plain(pydoc.render_doc(lg.Tensor.shunt_)).rstrip().endswith("shunt, in place.")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: lg.shunt(1.0, x),
            TypeError,
            "shunt(): argument 'input' (position 1) must be Tensor, not float",
        ),
        (
            lambda x: lg.shunt(x, [1.0]),
            TypeError,
            "shunt(): argument 'other' (position 2) must be Tensor, not list",
        ),
        (lambda x: lg.shunt(x.long(), x.long()), NotImplementedError, "\"shunt_cpu\" not implemented for 'Long'"),
        (lambda x: lg.shunt(x > 0, x > 0), NotImplementedError, "\"shunt_cpu\" not implemented for 'Bool'"),
        (lambda x: x.shunt(x + 1j), NotImplementedError, "\"shunt_cpu\" not implemented for 'ComplexFloat'"),
        (
            lambda x: lg.shunt(x, lg.ones(3)),
            RuntimeError,
            "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
        ),
    ],
)
def test_errors_in_pytorchs_words(shunt: Operation, call: Any, error: type[Exception], message: str) -> None:
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
def test_it_passes(shunt: Operation, check: Any) -> None:
    check(shunt)
