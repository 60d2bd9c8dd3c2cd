"""Every operation beside PyTorch's function of the same name, on the operation's own samples.

Values, dtypes, first and second gradients, refusals and names in the graph are those of the installed PyTorch. Where
they are not, op_torch.py says why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import leafgrad as lg
from leafgrad._dtypes import COMPLEX
from leafgrad.ops.pointwise.elementwise import Unary
from leafgrad.ops.registry import Operation, registry
from leafgrad.ops.samples import ValuesOnly
from op_checks import Case, Entry, cases, entries, is_public, public_name
from op_torch import Both, attempt, compared, identity

pytestmark = [
    pytest.mark.filterwarnings("ignore:Casting complex values to real"),
    pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental"),
    pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter"),
    pytest.mark.filterwarnings("ignore:index_reduce.. is in beta"),
    pytest.mark.filterwarnings("ignore:torch.(triangular_solve|lu_solve) is deprecated"),  # leafgrad does not warn
]

DTYPES = ["float64", "float32", "complex128", "int64", "bool", "float16", "bfloat16"]
FLOATS = ["float64", "float32", "complex128", "float16", "bfloat16"]

every_op = pytest.mark.parametrize("entry", compared, ids=identity)
public_ops = pytest.mark.parametrize("entry", [e for e in compared if is_public(e)], ids=identity)


def samples(entry: Entry, dtypes: list[str]) -> list[tuple[Case, str]]:
    """What is not public is only called with dtypes that its callers have checked."""
    return [(c, d) for d in dtypes if is_public(entry) or d in ("float64", "float32") for c in cases(entry, d)]


@every_op
def test_values(entry: Entry) -> None:
    for case, dtype in samples(entry, DTYPES):
        Both(case, dtype).check_values()


@every_op
def test_gradients(entry: Entry) -> None:
    for case, dtype in samples(entry, FLOATS):
        Both(case, dtype).check_gradients(second=dtype in ("float64", "float32", "complex128"))


# One node in PyTorch's graph, several here: these are composed of other operations.
COMPOSED = ("dist", "pairwise_distance", "renorm")


@public_ops
def test_names_in_the_graph(entry: Entry) -> None:
    for case, dtype in samples(entry, ["float64", "complex128"]):
        if entry.name not in COMPOSED:
            Both(case, dtype).check_names()


@pytest.mark.parametrize("operation", registry.values(), ids=identity)
def test_declared_names_are_those_of_pytorch(operation: Operation) -> None:
    """In the graph and in the dispatcher, but for what is leafgrad's own and nobody calls."""
    if not isinstance(operation.samples, ValuesOnly):
        aten = operation.aten.values() if isinstance(operation.aten, dict) else [operation.aten]
        assert all([hasattr(torch.ops.aten, name) for name in (*aten, operation.aten_function)])
        if operation.differentiable:
            names = {operation.core.node_name, operation.by_number.node_name, *operation.named}
            outermost = {name.partition("(")[0] for name in names}  # of what is several operations in PyTorch
            assert outermost <= {*vars(torch._C._functions), "NotImplemented"}


# -- methods and in-place forms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", [e for e in entries() if public_name(e)], ids=identity)
def test_names_are_where_pytorch_has_them(entry: Entry) -> None:
    name = public_name(entry)
    for ours, theirs in ((lg, torch), (lg.Tensor, torch.Tensor), (lg.nn.functional, torch.nn.functional)):
        assert hasattr(ours, name) <= hasattr(theirs, name), f"{ours} should not have {name}"
    assert hasattr(lg, name) == hasattr(torch, name)
    assert hasattr(lg.Tensor, name) == hasattr(torch.Tensor, name)
    assert hasattr(lg.Tensor, name + "_") == hasattr(torch.Tensor, name + "_")
    for alias in entry.aliases:
        assert hasattr(torch, alias) and hasattr(torch.Tensor, alias) == bool(entry.method)
    for operator in entry.operators:
        assert hasattr(torch.Tensor, operator)


def in_place(name: str) -> Callable[..., Any]:
    """The in-place form of a method, applied to a copy; in either library."""
    return lambda input, *args, **kwargs: getattr(input.clone(), name + "_")(*args, **kwargs)


def has_form(entry: Entry) -> bool:
    name = public_name(entry)
    return bool(name) and all([hasattr(cls, name + "_") for cls in (lg.Tensor, torch.Tensor)])


# PyTorch makes bools of the sums again.
REFUSED_IN_PLACE = {("cumsum", "bool"), ("cumprod", "bool")}
# Wrong in PyTorch: it takes logic in place for the identity, and does not conjugate products of complex numbers.
WRONG_IN_PLACE = {(name, "float64") for name in ("logical_not", "logical_and", "logical_or", "logical_xor")}
WRONG_IN_PLACE |= {(name, "float32") for name, _ in WRONG_IN_PLACE} | {
    (name, "complex128") for name, _ in WRONG_IN_PLACE
}
WRONG_IN_PLACE |= {("scatter_reduce", "complex128"), ("index_reduce", "complex128")}
# Not differentiated by PyTorch, in place only.
WRONG_IN_PLACE |= {
    (name, kind) for name in ("asinh", "acosh", "atanh") for kind in ("float64", "float32", "complex128")
}


@pytest.mark.parametrize("entry", [e for e in compared if has_form(e)], ids=identity)
def test_in_place_forms(entry: Entry) -> None:
    """Where there is an out-of-place form: what refuses that is compared above, and here comes after other refusals."""
    form = in_place(public_name(entry))
    for case, dtype in samples(entry, ["float64", "float32", "complex128", "int64", "bool"]):
        is_tensor = isinstance(case.call(case.tensors, lambda *args, **kwargs: args[0]), lg.Tensor)
        refused, results = attempt(case.outputs)
        # PyTorch makes the tensor larger here, as nowhere else; leafgrad refuses it
        if entry.name == "addbmm" and refused is None and results[0].shape != case.tensors[0].shape:
            continue
        if is_tensor and refused is None and (entry.name, dtype) not in REFUSED_IN_PLACE:
            both = Both(case, dtype, form, form)
            both.check_values()
            if (entry.name, dtype) not in WRONG_IN_PLACE:
                both.check_gradients(second=dtype == "float64")


# -- the checks themselves --------------------------------------------------------------------------------------------


def imitation(**body: Any) -> Operation:
    """An operation that calls itself exp, but is not in the registry."""
    exp = {"kernel": np.exp, "vjp": lambda g, out: g * out, "__doc__": "exp(input): for tests."}
    return Operation("exp", Unary, {**exp, **body})


def array_of(x: Any) -> Any:
    return x.array if isinstance(x, lg.Tensor) else x


WRONG = {
    "a value": imitation(kernel=lambda x: np.exp(x) * (1 + 1e-13)),
    "a dtype": imitation(as_float=False, kernel=lambda x: np.exp(x).astype(x.dtype)),
    "a dtype that is refused": imitation(refuses=(COMPLEX,)),
    "a gradient": imitation(vjp=lambda g, out: g * out * 2),
    "a second gradient": imitation(vjp=lambda g, out: g * array_of(out)),
    "no gradient": imitation(differentiable=False),
    "a name": imitation(node_name="ExpBackward1"),
}


def everything(operation: Operation) -> None:
    for test in (test_values, test_gradients, test_names_in_the_graph):
        test(operation)


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_found(what: str) -> None:
    with pytest.raises(AssertionError):
        everything(WRONG[what])


def test_what_is_right_passes() -> None:
    everything(imitation())
