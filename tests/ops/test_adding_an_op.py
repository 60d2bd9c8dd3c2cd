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
def hypot() -> Iterator[Operation]:
    with example() as made:
        yield made


def test_leafgrad_does_not_have_it() -> None:
    assert not hasattr(lg, "hypot") and not hasattr(lg.Tensor, "hypot_") and "hypot" not in registry


def test_all_forms(hypot: Operation) -> None:
    x, y = lg.tensor([3.0, 5.0], requires_grad=True), lg.tensor([4.0, 12.0])
    assert registry["hypot"] is hypot
    assert lg.hypot(x, y).tolist() == x.hypot(y).tolist() == [5.0, 13.0]
    assert lg.hypot(x, y).grad_fn.name() == "HypotBackward0"
    z = y.clone()
    assert z.hypot_(x.detach()) is z and z.tolist() == [5.0, 13.0]
    out = lg.empty(2)
    assert lg.hypot(x.detach(), y, out=out) is out and out.tolist() == [5.0, 13.0]
    assert lg.hypot(lg.ones(2, 1), lg.ones(3, dtype=lg.float64)).shape == (2, 3)


def test_derivatives(hypot: Operation) -> None:
    x, y = lg.tensor([3.0], requires_grad=True), lg.tensor([4.0], requires_grad=True)
    lg.hypot(x, y).backward()
    np.testing.assert_allclose([x.grad.item(), y.grad.item()], [0.6, 0.8], rtol=1e-6)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, lg.tensor([2.0]))
        np.testing.assert_allclose(forward_ad.unpack_dual(lg.hypot(dual, y)).tangent.detach(), [1.2], rtol=1e-6)


@pytest.mark.filterwarnings("error:There is a performance drop")
def test_vmap(hypot: Operation) -> None:
    x, y = lg.rand(4, 3), lg.rand(3)
    assert lg.equal(vmap(lg.hypot, (0, None))(x, y), lg.hypot(x, y))


def test_stubs(hypot: Operation) -> None:
    script: Any = imported(PAGE.parent / "tools" / "make_stubs.py", "make_stubs_with_hypot")
    assert "def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:" in script.functions_stub()
    assert "def hypot(self, other: Tensor) -> Tensor:" in script.methods_stub()
    assert "def hypot_(self, other: Tensor) -> Self:" in script.methods_stub()


@pytest.mark.parametrize("kind", KINDS)
def test_its_values_are_asked_for(hypot: Operation, kind: str) -> None:
    """tests/torch/test_op_values_torch.py makes them."""
    with pytest.raises(AssertionError, match=re.escape(HINT)):
        check_values(hypot, kind)


def test_documentation(hypot: Operation) -> None:
    for form in (lg.hypot, lg.Tensor.hypot):
        assert "hypot(input, other): the square root of input**2 + other**2" in pydoc.plain(pydoc.render_doc(form))
    assert pydoc.plain(pydoc.render_doc(lg.Tensor.hypot_)).rstrip().endswith("hypot, in place.")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: lg.hypot(1.0, x), TypeError, "hypot(): argument 'input' (position 1) must be Tensor, not float"),
        (lambda x: lg.hypot(x, [1.0]), TypeError, "hypot(): argument 'other' (position 2) must be Tensor, not list"),
        (lambda x: lg.hypot(x.long(), x.long()), NotImplementedError, "\"hypot_cpu\" not implemented for 'Long'"),
        (lambda x: lg.hypot(x > 0, x > 0), NotImplementedError, "\"hypot_cpu\" not implemented for 'Bool'"),
        (lambda x: x.hypot(x + 1j), NotImplementedError, "\"hypot_cpu\" not implemented for 'ComplexFloat'"),
        (
            lambda x: lg.hypot(x, lg.ones(3)),
            RuntimeError,
            "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
        ),
    ],
)
def test_errors_in_pytorchs_words(hypot: Operation, call: Any, error: type[Exception], message: str) -> None:
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
def test_it_passes(hypot: Operation, check: Any) -> None:
    check(hypot)
