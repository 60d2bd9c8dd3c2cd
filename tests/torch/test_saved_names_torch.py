"""What nodes say that they have saved: nothing under a name that PyTorch's node does not have. They may save less."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import leafgrad as lg
from leafgrad._core.tensor import wrap
from op_checks import Case, Entry, cases, is_public
from op_torch import array_to_torch, compared, identity, in_torch, tensors

pytestmark = [
    pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter"),
    pytest.mark.filterwarnings("ignore:index_reduce.. is in beta"),
    pytest.mark.filterwarnings("ignore:.*torch.* is deprecated"),  # cross, qr, lu, ...
]

FUSED = "several nodes of PyTorch's in one, which shows what its own rule asks for"
OTHER_NAMES = {
    "linear": FUSED,
    "matmul": FUSED,
    "cross_entropy": FUSED,
    "nll_loss": "the shape of the scores instead of the scores",
    "matrix_power": FUSED,
    "lu_unpack": "the whole shape instead of its last two sizes",
    "trapezoid": "a number as a tensor",
    "cumulative_trapezoid": "a number as a tensor",
    "norm": FUSED,
    "aminmax": "two nodes, where PyTorch has one",
    "clamp_max": "a clamp whose other bound is None",
    "clamp_min": "a clamp whose other bound is None",
    "index_put": "places in memory instead of indices",
    "index_reduce": "a scatter_reduce under another name",
    "remainder": "the operands of two tensors, also where the second is a number",
    "fmod": "the operands of two tensors, also where the second is a number",
    "pow": "a number as a tensor",
    "float_power": "a number as a tensor",
    "xlogy": "a number as a tensor",
    "special_xlog1py": "a number as a tensor",
    "special_ndtr": FUSED,
    "narrow_copy": "the index of a slice",
    "chunk": "the sizes, also where all are the same",
    "unsafe_chunk": "the sizes, also where all are the same",
}


def saved(node: Any) -> set[str]:
    """The names of saved values, and of those that are tensors once more."""
    return {name for name in dir(node) if name.startswith(("_saved_", "_raw_saved_"))}


def recorded(case: Case, only: int, convert: Any, function: Any) -> list[Any]:
    """The nodes of the results, when one argument wants a gradient."""
    given, results = [convert(t.array.copy()) for t in case.tensors], list[Any]()
    given[only].requires_grad_()
    tensors(case.call(given, function), results)
    return [t.grad_fn for t in results]


@pytest.mark.parametrize("entry", [e for e in compared if is_public(e)], ids=identity)
def test_saved_values_have_pytorchs_names(entry: Entry) -> None:
    for case in cases(entry):
        for only in case.variable():
            ours = recorded(case, only, wrap, entry.function)
            theirs = recorded(case, only, array_to_torch, in_torch(entry))
            for a, b in zip(ours, theirs, strict=True):
                if a is None or b is None or a.name() != b.name():
                    continue
                unknown = saved(a) - saved(b)
                assert not unknown or entry.name in OTHER_NAMES, (entry.name, a.name(), unknown)


def test_what_was_not_needed_is_none() -> None:
    for module in (lg, torch):
        x: Any = module.ones(2, requires_grad=True)
        product = x * module.ones(2)
        assert product.grad_fn._saved_self is None
        assert product.grad_fn._saved_other is not None
        assert product.grad_fn._raw_saved_self.unpack() is None
        product.sum().backward()
        assert product.grad_fn._saved_self is None
        with pytest.raises(RuntimeError, match="already been freed"):
            product.grad_fn._saved_other
