"""What nodes say that they have saved: nothing under a name that PyTorch's node does not have, and of numbers, sizes
and the like all that it has. Of tensors they may save less."""

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


# Numbers that PyTorch's nodes show and ours do not.
LACKING = {
    "linear": FUSED,
    "matmul": FUSED,
    "cross_entropy": FUSED,
    "special_ndtr": FUSED,
    "imag_part": "a step that PyTorch makes by way of pairs of numbers",
    "squeeze": "which dimension was named, if it was not left out",
    "squeeze_copy": "which dimension was named, if it was not left out",
    "split": "the size, if there is one piece",
    "unsafe_split": "the size, if there is one piece",
    "split_copy": "the size, if there is one piece",
    "chunk": "the size, if there is one piece",
    "unsafe_chunk": "the size, if there is one piece",
    "select_scatter": "a view and what is written to it",
    "slice_scatter": "a view and what is written to it",
    "diagonal_scatter": "a view and what is written to it",
    "as_strided_scatter": "a view and what is written to it",
    "index_put": "places in memory instead of indices",
    "linalg_svdvals": "a size of a result that is not saved",
    "rsub": "a factor that is a product by itself",
    "batch_norm": "running means that are not there",
}
LACKING |= {f"fft_{name}": "a factor instead of the way to find it" for name in dir(torch.fft)}


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
                if entry.name not in LACKING:
                    check_numbers(a, b)


def check_numbers(ours: Any, theirs: Any) -> None:
    """All that PyTorch's node shows and that is no tensor, nor the size of an input that needs no gradient."""
    needs = len([edge for edge, _ in theirs.next_functions if edge is not None])
    for name in sorted(saved(theirs) - saved(ours)):
        if name.startswith("_saved_") and not ("_sym_" in name or name.endswith("source_dim")) | (needs == 0):
            value = getattr(theirs, name)
            assert value is None or isinstance(value, torch.Tensor), (ours.name(), name, value)


@pytest.mark.parametrize("library", [lg, torch], ids=["leafgrad", "torch"])
def test_numbers_and_sizes_are_shown(library: Any) -> None:
    x: Any = library.ones(2, 3, requires_grad=True)
    assert x.unsqueeze(1).grad_fn._saved_dim == 1
    assert x.mean().grad_fn._saved_self_sym_numel == 6
    assert x[:, 1:].grad_fn._saved_start == 1
    assert x.select(1, 2).grad_fn._saved_index == 2
    assert x[1].grad_fn._saved_dim == 0
    assert (x + 1).grad_fn._saved_alpha == 1
    assert library.addmm(x, x[:, :2], x, beta=2).grad_fn._saved_beta == 2
    assert x.split(1).__getitem__(0).grad_fn._saved_split_size == 1
    assert (x @ library.ones(3, 2)).grad_fn._saved_self_sym_sizes in ((2, 3), ())
    strided = x.as_strided((2,), (1,), 1)
    assert strided.grad_fn._saved_size == (2,) and strided.grad_fn._saved_storage_offset == 1
    assert x.as_strided((2,), (1,)).grad_fn._saved_storage_offset is None
    assert library.div(x, 2.0, rounding_mode="trunc").grad_fn._saved_rounding_mode == "trunc"
    chosen = x[:, library.tensor([0, 2])].grad_fn._saved_indices
    assert chosen[0] is None and chosen[1].tolist() == [0, 2]
    loss = library.nn.functional.mse_loss(x, library.zeros(2, 3))
    assert loss.grad_fn._saved_reduction == 1
    image: Any = library.ones(1, 1, 3, 3, requires_grad=True)
    convolved = library.nn.functional.conv2d(image, library.ones(1, 1, 2, 2), stride=2)
    assert convolved.grad_fn._saved_stride == (2, 2) and convolved.grad_fn._saved_transposed is False
    assert library.nn.functional.unfold(image, 3).grad_fn._saved_self_sym_argsize_minus_2 == 3
    pooled = library.nn.functional.max_pool2d(image, 2, ceil_mode=True)
    assert pooled.grad_fn._saved_ceil_mode is True


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
