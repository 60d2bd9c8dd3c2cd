"""Which changes of a tensor make backward fail: those that make it fail in PyTorch.

That nothing else makes the gradient wrong is shown, for all operations, in test_ops_inplace.py.
"""

from __future__ import annotations

from collections.abc import Callable
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

# Here the same changes make backward fail, no more and no fewer. Elsewhere leafgrad saves less in places.
EXACTLY = """
    add sub mul div exp log sqrt tanh sigmoid relu maximum minimum where clamp abs sin cos reciprocal rsqrt
    mm bmm mv linear sum mean prod max min amax var std softmax log_softmax logsumexp mse_loss
    cat stack index_select masked_fill
""".split()  # noqa: SIM905  a table of words is easier to read than a list of strings

# Rules that save a tensor which PyTorch does not.
SAVES_MORE = {
    "cross_entropy": "the scores, of which PyTorch saves the softmax; but not the classes",
    "kron": "the operands, whose changes make the gradient wrong in PyTorch: its unsafe views do not notice them",
    "linalg_cond": "the matrix, of which PyTorch saves the singular vectors",
    "linalg_svdvals": "the matrix, of which PyTorch saves the singular vectors",
    "matmul": "the operands, which PyTorch has copied if it had to change their shape",
    "norm": "the matrix, of which PyTorch saves the singular vectors",
    "special_ndtr": "the argument, of which PyTorch saves a multiple",
}


Call = tuple[list[Any], list[Any]]  # arguments and results


def changes_noticed(module: Any, call: Callable[[], Call], only: int) -> list[bool]:
    """For each argument and result: does backward fail if it was changed, when argument `only` wants a gradient?"""
    found: list[bool] = []
    while True:
        given, results = call()
        if len(found) == len(given) + len(results):
            return found
        roots, target = [t for t in results if t.requires_grad], [*given, *results][len(found)]
        error = None
        if roots and target.numel():
            with module.no_grad():
                target.zero_()
            try:
                module.autograd.grad(roots, given[only], [module.ones_like(t) for t in roots])
            except RuntimeError as failed:
                error = failed
        found.append(error is not None)


def calling(case: Case, only: int, function: Callable[..., Any], convert: Callable[[Any], Any]) -> Callable[[], Call]:
    """The call of a sample in leafgrad or PyTorch, each time with new tensors."""

    def call() -> Call:
        given, results = [convert(t.array.copy()) for t in case.tensors], list[Any]()
        given[only].requires_grad_()
        tensors(case.call(given, function), results)
        return given, results

    return call


@pytest.mark.parametrize("entry", [e for e in compared if is_public(e) and e.name not in SAVES_MORE], ids=identity)
def test_the_same_changes_are_noticed(entry: Entry) -> None:
    for case in cases(entry):
        for only in case.variable():
            ours = changes_noticed(lg, calling(case, only, entry.function, wrap), only)
            theirs = changes_noticed(torch, calling(case, only, in_torch(entry), array_to_torch), only)
            if entry.name not in EXACTLY or (entry.name == "div" and "rounding_mode" in case.apart[1]):
                theirs = [a and b for a, b in zip(ours, theirs, strict=True)]
            assert ours == theirs, f"{case}, tensor {only} wants a gradient: {ours}, PyTorch: {theirs}"


def test_the_operations_to_compare_exist() -> None:
    assert set(EXACTLY) | set(SAVES_MORE) <= {e.name for e in compared}
