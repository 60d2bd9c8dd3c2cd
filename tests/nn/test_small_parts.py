"""Small parts of nn: gradients of convolutions, losses by number, options, arguments of factories."""

import gc
import importlib
import re
import warnings

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
    assert F.grad is gradients
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


def test_modules_are_not_copied_by_to():
    layer = nn.Linear(2, 2)
    for args, kwargs in (
        (("cpu",), {"copy": False}),
        (("cpu", leafgrad.float64, False, True), {}),
        ((leafgrad.float64, False, True), {}),
    ):
        with pytest.raises(RuntimeError, match=r"\.to\(\) does not accept copy argument"):
            layer.to(*args, **kwargs)
    assert layer.to("cpu", leafgrad.float64, True).weight.dtype is leafgrad.float64


def test_buffers_are_assigned_by_the_registering_method_of_the_class():
    class Old(nn.Module):
        def register_buffer(self, name, value):  # as before there was `persistent`
            super().register_buffer(name, value)

    module = Old()
    module.kept = nn.Buffer(leafgrad.ones(1))
    assert list(module.state_dict()) == ["kept"]
    with pytest.raises(RuntimeError, match="without the persistent parameter is not allowed"):
        module.other = nn.Buffer(leafgrad.ones(1), persistent=False)
    module.plain = 5
    with pytest.raises(KeyError, match="attribute 'plain' already exists"):
        module.plain = nn.Buffer(leafgrad.ones(1))


def test_loading_leaves_no_cycle_of_references():
    layer = nn.Linear(2, 2)
    state = layer.state_dict()
    gc.collect()
    gc.disable()
    try:
        layer.load_state_dict(state)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_storages_of_shared_modules_are_shared():
    layer = nn.Linear(2, 2)
    assert not layer.weight.untyped_storage().is_shared()
    layer.share_memory()
    assert all(p.untyped_storage().is_shared() for p in layer.parameters())


def test_instance_norms_of_ones_own():
    class OfTwo(nn.modules.instancenorm._InstanceNorm):
        def _get_no_batch_dim(self):
            return 2

        def _check_input_dim(self, input):
            pass

    x = leafgrad.randn(3, 4)
    assert leafgrad.equal(OfTwo(3)(x), nn.InstanceNorm1d(3)(x))
    assert leafgrad.equal(OfTwo(3)(x[None]), nn.InstanceNorm1d(3)(x[None]))


def test_transformers_of_no_sequences():
    layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    out = layer(leafgrad.rand(0, 5, 8), leafgrad.rand(0, 4, 8))
    out.sum().backward()
    assert out.shape == (0, 5, 8) and not layer.linear1.weight.grad.any()
    assert nn.MultiheadAttention(8, 2)(*[leafgrad.rand(5, 0, 8)] * 3)[1].shape == (0, 5, 5)


@pytest.mark.parametrize("align", [True, False])
def test_grids_of_one_place_are_warned_of(align):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        F.affine_grid(leafgrad.zeros(1, 2, 3), (1, 1, 2, 1), align_corners=align)
    assert ["unit-size grids" in str(warning.message) for warning in given] == [True] * align


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
def test_sizes_beyond_all_integers_are_refused(mode):
    with pytest.raises(RuntimeError, match="cannot be converted to type int64_t without overflow"):
        F.interpolate(leafgrad.ones(1, 1, 16, 16), scale_factor=1e20, mode=mode)


def test_windows_that_do_not_fit_into_what_is_folded():
    with pytest.raises(RuntimeError, match=r"sliding blocks as \(-4, -3\), which is too small"):
        F.fold(leafgrad.zeros(1, 12, 12), (4, 5), 2, dilation=8)


def test_padding_gets_no_gradient_even_of_nan():
    weight = leafgrad.ones(4, 3, requires_grad=True)
    indices = leafgrad.tensor([[1, 2], [2, 0]])
    for options in ({}, {"scale_grad_by_freq": True}):
        weight.grad = None
        rows = F.embedding(indices, weight, padding_idx=2, **options)
        rows.backward(leafgrad.where(indices.eq(2)[..., None], float("nan"), 1.0).expand(2, 2, 3))
        assert weight.grad.sum(1).tolist() == [3, 3, 0, 0]
    with pytest.raises(RuntimeError, match="within the number of embeddings, -4 through 3, but got 4"):
        F.embedding_bag(indices, weight, padding_idx=4)


def test_results_of_activations_are_written_into_out():
    x, out = leafgrad.randn(2, 3), leafgrad.empty(0)
    for function in (F.logsigmoid, F.softplus, F.gelu):
        assert function(x, out=out) is out and leafgrad.equal(out, function(x))


def test_running_statistics_have_no_tangents():
    x, mean, variance = leafgrad.randn(3, 2, 5), leafgrad.zeros(2), leafgrad.ones(2)
    forward = leafgrad.autograd.forward_ad
    with forward.dual_level():
        F.batch_norm(x, forward.make_dual(mean, mean), variance)
        with pytest.raises(RuntimeError, match="not differentiable wrt running_mean and running_var"):
            F.batch_norm(forward.make_dual(x, x), forward.make_dual(mean, mean), variance)


def encoder(**options):
    leafgrad.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    return nn.TransformerEncoder(layer, 2, **options).eval()


def test_evaluated_encoders_forget_what_is_padding():
    x, padding = leafgrad.randn(3, 3, 4), leafgrad.tensor([[0, 1, 1], [1, 1, 1], [0, 0, 0]]).bool()
    with leafgrad.no_grad():
        out = encoder()(x, src_key_padding_mask=padding)
        assert out[padding].eq(0).all() and leafgrad.allclose(out[2], encoder()(x[2:])[0])
        unchecked = encoder(mask_check=False)(x[:1], src_key_padding_mask=padding[:1].flip(1))
        assert leafgrad.equal(unchecked, encoder()(x[:1], src_key_padding_mask=padding[:1]))
        with pytest.raises(RuntimeError, match="at least one constituent tensor should have non-zero numel"):
            encoder()(x[1:2], src_key_padding_mask=padding[1:2])


def test_queries_without_keys_find_nan_in_evaluation_only():
    attention, x = nn.MultiheadAttention(4, 2, batch_first=True).eval(), leafgrad.randn(2, 3, 4)
    padding = leafgrad.tensor([[1, 1, 1], [0, 0, 1]]).bool()
    mask = leafgrad.tensor([[True], [False], [False]]).expand(3, 3)
    find = lambda **masks: attention(x, x, x, need_weights=False, **masks)[0].isnan().all(-1).tolist()
    with leafgrad.no_grad():
        assert find(key_padding_mask=padding) == [[True] * 3, [False] * 3]
        assert find(attn_mask=mask) == [[True, False, False]] * 2
        heads = mask.expand(4, 3, 3)  # for each of the sequences and heads
        assert find(key_padding_mask=padding, attn_mask=heads) == [[True] * 3, [True, False, False]]
        summands = leafgrad.zeros(3, 3).masked_fill(mask, -leafgrad.inf)
        assert find(attn_mask=summands) == [[False] * 3] * 2
        layers = encoder(enable_nested_tensor=False)
        assert layers(x, src_key_padding_mask=padding)[0].isnan().all()
        assert layers(x, mask=summands).isnan().all(-1).tolist() == [[True] * 3] * 2
    assert not leafgrad.tensor(find(key_padding_mask=padding)).any()


@pytest.mark.parametrize(
    ("dtype", "bias", "message"),
    [
        (leafgrad.float64, True, r"Input type \(double\) and bias type \(float\) should be the same"),
        (leafgrad.int64, True, r"Input type \(long int\) and bias type \(float\) should be the same"),
        (leafgrad.float64, False, "expected scalar type Double but found Float"),
        (leafgrad.complex64, False, r"Input type \(CPUComplexFloatType\) and weight type \(torch.FloatTensor\) should"),
    ],
)
def test_convolutions_of_another_dtype_speak_of_the_bias_first(dtype, bias, message):
    with pytest.raises(RuntimeError, match=message):
        nn.Conv2d(1, 1, 1, bias=bias)(leafgrad.ones(1, 1, 2, 2, dtype=dtype))
    if dtype is leafgrad.float64:
        with pytest.raises(RuntimeError, match="expected scalar type Double but found Float"):
            nn.ConvTranspose2d(1, 1, 1, bias=bias)(leafgrad.ones(1, 1, 2, 2, dtype=dtype))


@pytest.mark.parametrize("norm", [nn.LayerNorm(4), nn.GroupNorm(2, 3 + 1), nn.BatchNorm1d(4)])
def test_norms_of_another_dtype(norm):
    x = leafgrad.ones(2, 4)
    with pytest.raises(RuntimeError, match=r"mixed dtype \(CPU\): all inputs must share same datatype"):
        norm(x.double())
    assert norm(x.half()).dtype is leafgrad.float16
    norm.bias.data = norm.bias.data.double()
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        norm(x)
    with pytest.raises(RuntimeError, match=r"mixed dtype \(CPU\): expect parameter to have scalar type of Float"):
        norm(x.half())


def test_indices_of_embeddings_are_integers_even_if_there_are_none():
    for table in (nn.Embedding(3, 2), nn.EmbeddingBag(3, 2)):
        for indices, name in ((leafgrad.zeros(0, 2), "torch.FloatTensor"), (leafgrad.ones(1, 2).bool(), "CPUBoolType")):
            with pytest.raises(RuntimeError, match=f"scalar types: Long, Int; but got {name} instead"):
                table(indices)


def test_channels_are_not_dropped_where_nothing_is():
    with pytest.warns(UserWarning, match="Received a 1-D input"):
        assert F.dropout2d(leafgrad.ones(5), 0.0).shape == (5,)
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="at least 2 dimensions"):
        F.dropout2d(leafgrad.ones(5), 0.5)


def test_pools_of_shapes_and_dtypes_that_they_do_not_take():
    with pytest.raises(RuntimeError, match="Expected 3D or 4D tensor, but got"):
        F.fractional_max_pool2d(leafgrad.ones(1, 2, 4, 6, 6), 2, 3)
    with pytest.raises(NotImplementedError, match="not implemented for 'ComplexFloat'"):
        F.fractional_max_pool2d(leafgrad.ones(2, 4, 6, 6, dtype=leafgrad.complex64), 2, 3)
    indices = leafgrad.zeros(1, 1, 2, 2, dtype=leafgrad.int64)
    with pytest.raises(NotImplementedError, match="\"max_unpool2d\" not implemented for 'Long'"):
        F.max_unpool2d(indices, indices, 2)
    with pytest.raises(RuntimeError, match="non-zero size for non-batch dimensions"):
        F.max_unpool2d(leafgrad.ones(1, 0, 2, 2), indices[:, :0], 2)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("activation", "MultiheadAttention"),
        ("container", "ParameterDict"),
        ("container", "ParameterList"),
        ("loss", "LinearCrossEntropyLoss"),
    ],
)
def test_layers_are_found_in_the_modules_that_pytorch_has_them_in(place, name):
    module = importlib.import_module(f"leafgrad.nn.modules.{place}")
    assert getattr(module, name) is getattr(nn, name)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        getattr(module, "Nothing")  # noqa: B009


def test_wrong_calls_of_layers_name_the_layer() -> None:
    for call, words in (
        (lambda: nn.Conv2d(3, 16), "Conv2d.__init__() missing 1 required positional argument: 'kernel_size'"),
        (lambda: nn.ConvTranspose1d(3), "ConvTranspose1d.__init__() missing 2 required positional arguments"),
        (lambda: nn.ReLU(True, 1), "ReLU.__init__() takes from 1 to 2 positional arguments but 3 were given"),
        (lambda: nn.MaxPool2d(2)(1, 2), "MaxPool2d.forward() takes 2 positional arguments but 3 were given"),
        (lambda: nn.LSTM(1, 1)(), "LSTM.forward() missing 1 required positional argument: 'input'"),
        (lambda: nn.LazyConv2d(1), "LazyConv2d.__init__() missing 1 required positional argument: 'kernel_size'"),
    ):
        with pytest.raises(TypeError, match=re.escape(words)):
            call()  # type: ignore[no-untyped-call]

    class Own(nn.Conv2d):
        pass

    assert Own.__init__ is nn.Conv2d.__init__ and nn.LazyConv2d.forward is nn.Conv2d.forward
