"""The graphs of all operations, functions and modules: `grad_fn` and `next_functions` show what PyTorch's show."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import leafgrad
from leafgrad import nn
from op_checks import Entry, cases, is_public
from op_torch import Both, compared, identity
from topology_scenarios import trees

# vander is compared with powers, because PyTorch cannot differentiate its own; einsum takes other steps.
OTHERS = {"vander", "einsum"}


@pytest.mark.parametrize("entry", [e for e in compared if is_public(e) and e.name not in OTHERS], ids=identity)
@pytest.mark.filterwarnings("ignore")
def test_operations_and_functions(entry: Entry) -> None:
    for dtype in ("float32", "complex64"):
        for case in cases(entry, dtype):
            both = Both(case, dtype)
            for ours, theirs in zip(both.outputs, both.torch_outputs, strict=True):
                if theirs.grad_fn is not None:
                    assert trees(ours, both.leaves) == trees(theirs, both.torch_leaves), case


# Modules that cannot be made without arguments, or take something else than a matrix.
ARGUMENTS: dict[str, list[tuple[Any, ...]]] = {
    "Linear": [(4, 2), (4, 2, False)],
    "Softmax": [(-1,)],
    "LogSoftmax": [(-1,)],
    "Flatten": [(0,)],
}
TARGETS = {"CrossEntropyLoss": lambda T: T.tensor([0, 1, 2]), "NLLLoss": lambda T: T.tensor([0, 1, 2])}
CONTAINERS = {"DataParallel", "Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"}
MODULES = sorted(
    name for name, found in vars(nn).items()
    if isinstance(found, type) and issubclass(found, nn.Module) and name not in CONTAINERS
)  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str) -> None:
    def graphs(T: Any) -> list[Any]:
        found = []
        for arguments in ARGUMENTS.get(name, [()]):
            for shape in [(3, 4), *([(4,), (2, 3, 4)] if not name.endswith("Loss") else [])]:
                x = T.full(shape, 0.5).requires_grad_()
                module = getattr(T.nn, name)(*arguments)
                given = [TARGETS.get(name, lambda T: T.zeros(3, 4))(T)] if name.endswith("Loss") else []
                result = module(x * 1 if name == "Identity" else x, *given)
                found.append(trees(result, [x, *module.parameters()]))
        return found

    assert graphs(leafgrad) == graphs(torch)


def test_a_network() -> None:
    def graph(T: Any) -> Any:
        model = T.nn.Sequential(T.nn.Linear(4, 3), T.nn.ReLU(), T.nn.Linear(3, 2))
        loss = T.nn.CrossEntropyLoss()(model(T.ones(2, 4)), T.tensor([0, 1]))
        return trees(loss, list(model.parameters()))

    assert graph(leafgrad) == graph(torch)
