"""Small parts of nn: gradients of convolutions, losses by number, options, arguments of factories."""

import pytest

import leafgrad
from leafgrad import nn
from leafgrad.nn import functional as F
from leafgrad.nn import grad as gradients


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_gradients_of_convolutions(dims):
    leafgrad.manual_seed(0)
    x = leafgrad.randn(2, 4, *[6] * dims, requires_grad=True)
    weight = leafgrad.randn(6, 2, *[3] * dims, requires_grad=True)
    options = 2, 1, 1, 2
    y = getattr(F, f"conv{dims}d")(x, weight, None, *options)
    g = leafgrad.randn(y.shape)
    expected = leafgrad.autograd.grad(y, (x, weight), g)
    of_input = getattr(gradients, f"conv{dims}d_input")(x.shape, weight, g, *options)
    of_weight = getattr(gradients, f"conv{dims}d_weight")(x, weight.shape, g, *options)
    assert leafgrad.allclose(of_input, expected[0], 1e-5, 1e-5)
    assert leafgrad.allclose(of_weight, expected[1], 1e-5, 1e-5)
    assert of_input.requires_grad and of_weight.requires_grad
    with leafgrad.no_grad():
        assert not getattr(gradients, f"conv{dims}d_input")(x.shape, weight, g, *options).requires_grad


@pytest.mark.parametrize(("number", "name"), [(0, "none"), (1, "mean"), (2, "sum")])
def test_losses_by_number(number, name):
    x, y, sign = leafgrad.randn(3, 4), leafgrad.rand(3, 4), leafgrad.tensor([1.0, -1.0, 1.0])
    pairs = [
        (leafgrad.binary_cross_entropy_with_logits(x, y, None, None, number),
         F.binary_cross_entropy_with_logits(x, y, reduction=name)),
        (leafgrad.cosine_embedding_loss(x, y, sign, 0.1, number),
         F.cosine_embedding_loss(x, y, sign, 0.1, reduction=name)),
        (leafgrad.hinge_embedding_loss(x, y, 1.0, number), F.hinge_embedding_loss(x, y, 1.0, reduction=name)),
        (leafgrad.margin_ranking_loss(x, y, y, 0.0, number), F.margin_ranking_loss(x, y, y, 0.0, reduction=name)),
        (leafgrad.poisson_nll_loss(x, y, True, False, 1e-8, number), F.poisson_nll_loss(x, y, reduction=name)),
        (leafgrad.triplet_margin_loss(x, y, y + 1, reduction=number),
         F.triplet_margin_loss(x, y, y + 1, reduction=name)),
    ]  # fmt: skip
    for found, expected in pairs:
        assert leafgrad.equal(found, expected)
    each = y * (y.log() - x)
    assert leafgrad.allclose(leafgrad.kl_div(x, y, number), each if number == 0 else getattr(each, name)(), 1e-5)
    with pytest.raises(RuntimeError, match="not a valid value"):
        leafgrad.kl_div(x, y, 3)


def test_arguments_of_factories():
    assert nn.factory_kwargs(None) == {}
    assert nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"device": 2}}) == {"dtype": 1, "device": 2}
    with pytest.raises(TypeError, match="unexpected kwargs"):
        nn.factory_kwargs({"x": 1})
    with pytest.raises(TypeError, match="dtype specified twice"):
        nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"dtype": 2}})


def test_options_of_linear_cross_entropy():
    x, weight, target = leafgrad.randn(8, 4), leafgrad.randn(9, 4), leafgrad.arange(8)
    options = nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    found = F.linear_cross_entropy(x, weight, target, options=options)
    assert leafgrad.equal(found, F.linear_cross_entropy(x, weight, target))
    for wrong in (
        {"batch_chunk_size": 0},
        {"acc_policy": "x"},
        {"chunking_method": "x"},
        {"acc_dtype": leafgrad.int64},
    ):
        with pytest.raises(ValueError):
            nn.LinearCrossEntropyOptions(**wrong)


def test_bags_of_what_is_no_index():
    bag, indices = nn.EmbeddingBag(5, 2), leafgrad.tensor([1, 2])
    with pytest.raises(RuntimeError, match="to have one of the following scalar types: Long, Int"):
        bag(indices, leafgrad.tensor([0.0]))
    with pytest.raises(RuntimeError, match="number of offset should be at least 1"):
        nn.EmbeddingBag(5, 2, include_last_offset=True)(indices, leafgrad.tensor([], dtype=leafgrad.int64))


def test_classes_that_are_not_there():
    with pytest.raises(RuntimeError, match="target out of range"):
        F.multi_margin_loss(leafgrad.ones(2, 3), leafgrad.tensor([0, 3]))
