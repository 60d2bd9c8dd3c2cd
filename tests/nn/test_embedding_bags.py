"""Bags of rows: in which precision they are summed, what torch.embedding_bag returns, what is refused."""

import pytest

import leafgrad
from leafgrad.nn import functional as F

INDICES = leafgrad.tensor([0, 1, 2, 1])
OFFSETS = leafgrad.tensor([0, 2, 2])  # the bag in the middle is empty
TABLE = leafgrad.tensor([[1.0, 6.0], [2.0, 5.0], [3.0, 4.0], [9.0, 9.0]])


@pytest.mark.parametrize("dtype", [leafgrad.float16, leafgrad.bfloat16])
def test_sums_of_short_numbers_are_rounded_once(dtype):
    if dtype is leafgrad.bfloat16:
        pytest.importorskip("ml_dtypes")
    leafgrad.manual_seed(0)
    weight = leafgrad.randn(50, 8).to(dtype)
    indices, factors = leafgrad.randint(0, 50, (2, 150)), leafgrad.randn(2, 150).to(dtype)
    total = F.embedding_bag(indices, weight.float(), mode="sum").to(dtype)
    assert leafgrad.equal(F.embedding_bag(indices, weight, mode="sum"), total)
    assert leafgrad.equal(F.embedding_bag(indices, weight, mode="mean"), total / 150)
    weighted = F.embedding_bag(indices, weight.float(), mode="sum", per_sample_weights=factors.float()).to(dtype)
    assert leafgrad.equal(F.embedding_bag(indices, weight, mode="sum", per_sample_weights=factors), weighted)


@pytest.mark.parametrize(
    ("mode", "rows"),
    [(0, [[3, 11], [0, 0], [5, 9]]), (1, [[1.5, 5.5], [0, 0], [2.5, 4.5]]), (2, [[2, 6], [0, 0], [3, 5]])],
)
def test_function_with_the_bags_beside_the_result(mode, rows):
    result, bag_of_each, sizes, maxima = leafgrad.embedding_bag(TABLE, INDICES, OFFSETS, False, mode)
    assert result.tolist() == rows
    assert bag_of_each.tolist() == [0, 0, 2, 2] and sizes.tolist() == [2, 0, 2]
    assert maxima.tolist() == ([[1, 0], [0, 0], [2, 1]] if mode == 2 else [2, 0, 2])


def test_padding_and_the_last_offset():
    options = False, 2, False, None, True, 1
    result, _, sizes, maxima = leafgrad.embedding_bag(TABLE, INDICES, leafgrad.tensor([0, 2, 4]), *options)
    assert result.tolist() == [[1, 6], [3, 4]]
    assert sizes.tolist() == [1, 1] and maxima.tolist() == [[0, 0], [2, 2]]


def test_gradient_of_the_function():
    weight = TABLE.clone().requires_grad_()
    leafgrad.embedding_bag(weight, INDICES, OFFSETS, mode=1)[0].sum().backward()
    assert weight.grad.tolist() == [[0.5, 0.5], [1, 1], [0.5, 0.5], [0, 0]]


@pytest.mark.parametrize("wrong", [-1, 4])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_rows_that_are_not_there(mode, wrong):
    with pytest.raises(RuntimeError, match=f"Expected idx >= 0 && idx < num_embeddings but found idx to be {wrong}"):
        F.embedding_bag(leafgrad.tensor([[0, wrong]]), TABLE, mode=mode)


def test_weights_of_another_type():
    first = "'weight' to have the same type as .* type torch.FloatTensor does not equal torch.DoubleTensor"
    with pytest.raises(RuntimeError, match=first):
        F.embedding_bag(INDICES, TABLE, OFFSETS, mode="sum", per_sample_weights=leafgrad.ones(4).double())


@pytest.mark.parametrize(
    ("change", "first"),
    [
        ({"weight": TABLE[0]}, "weight has to be a 2D Tensor, but got Tensor of dimension 1"),
        ({"offsets": OFFSETS[None]}, "offsets has to be a 1D Tensor, but got Tensor of dimension 2"),
        ({"mode": 3}, "`mode` must be sum, mean, or max."),
        ({"mode": 1, "per_sample_weights": leafgrad.ones(4)}, "per_sample_weights only supported with mode='sum'"),
        ({"per_sample_weights": leafgrad.ones(3)}, "must have as many elements as there are indices"),
    ],
)
def test_refusals_of_the_function(change, first):
    with pytest.raises(RuntimeError, match=first):
        leafgrad.embedding_bag(**({"weight": TABLE, "indices": INDICES, "offsets": OFFSETS} | change))
