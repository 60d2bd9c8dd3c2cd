"""The graphs of all operations, functions and modules: `grad_fn` and `next_functions` show what PyTorch's show."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import leafgrad
from module_cases import CASES, prepared, tensors_in
from op_checks import Entry, cases, is_public
from op_torch import Both, compared, identity
from topology_scenarios import trees

# vander is compared with powers, because PyTorch cannot differentiate its own; einsum and bilinear take
# other steps; rms_norm and the distances add eps by another overload.
OTHERS = {"vander", "einsum", "bilinear", "rms_norm", "pairwise_distance", "cosine_similarity"}
OTHERS |= {"dist", "renorm"}  # composed of several operations, each of them one in PyTorch


@pytest.mark.parametrize("entry", [e for e in compared if is_public(e) and e.name not in OTHERS], ids=identity)
@pytest.mark.filterwarnings("ignore")
def test_operations_and_functions(entry: Entry) -> None:
    for dtype in ("float32", "complex64"):
        for case in cases(entry, dtype):
            both = Both(case, dtype)
            for ours, theirs in zip(both.outputs, both.torch_outputs, strict=True):
                if theirs.grad_fn is not None:
                    assert trees(ours, both.leaves) == trees(theirs, both.torch_leaves), case


# Modules of these functions, and losses that are operations of their own in PyTorch or add numbers by another overload.
OTHER_STEPS = (
    "Bilinear", "RMSNorm", "EmbeddingBag", "PoissonNLLLoss of rates", "CTCLoss of joined targets", "HingeEmbeddingLoss",
    "CosineEmbeddingLoss", "MarginRankingLoss", "MultiMarginLoss", "MultiLabelMarginLoss", "SoftMarginLoss",
    "TripletMargin", "PairwiseDistance", "CosineSimilarity", "AdaptiveLogSoftmaxWithLoss", "LinearCrossEntropyLoss",
)  # fmt: skip
OTHER_MODULES = {name for name in CASES if name.partition(": ")[2].startswith(OTHER_STEPS)}
OTHER_MODULES |= {name for name in CASES if "ircular" in name}  # one operation, in PyTorch slices that are copied
OTHER_MODULES |= {"dropout: Dropout1d in place"}  # Linear is one operation; PyTorch's result is a view, written into
# Sequences and attention are fused in other places than in PyTorch, and as a tree the graph of a sequence has no end.
OTHER_MODULES |= {name for name in CASES if name.startswith(("attention:", "recurrent:", "transformer:"))}


@pytest.mark.parametrize("name", [name for name in CASES if name not in OTHER_MODULES])
@pytest.mark.filterwarnings("ignore")
def test_modules(name: str) -> None:
    def graphs(T: Any) -> list[Any]:
        module, inputs = prepared(T, CASES[name], "float32")
        results = tensors_in(CASES[name].call(module, *inputs))
        leaves = [t for t in (*tensors_in(inputs), *module.parameters()) if t.requires_grad]
        return [trees(result, leaves) for result in results if result.grad_fn is not None]

    assert graphs(leafgrad) == graphs(torch)


def test_a_network() -> None:
    def graph(T: Any) -> Any:
        model = T.nn.Sequential(T.nn.Linear(4, 3), T.nn.ReLU(), T.nn.Linear(3, 2))
        loss = T.nn.CrossEntropyLoss()(model(T.ones(2, 4)), T.tensor([0, 1]))
        return trees(loss, list(model.parameters()))

    assert graph(leafgrad) == graph(torch)
