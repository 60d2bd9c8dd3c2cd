"""Functions with an underscore compute what their public parts do."""

from __future__ import annotations

import pytest

import leafgrad as torch


def test_the_gradient_of_softmax_from_its_result() -> None:
    x, g = torch.randn(3, 4, requires_grad=True), torch.randn(3, 4)
    out = torch.softmax(x, 1)
    (wanted,) = torch.autograd.grad(out, x, g)
    assert torch.allclose(torch._softmax_backward_data(g, out.detach(), 1, torch.float32), wanted)


def test_a_row_without_anything_has_zeros_and_no_gradient() -> None:
    x = torch.tensor([[0.0, 1.0], [-torch.inf, -torch.inf]], requires_grad=True)
    out = torch.ops.aten._safe_softmax.default(x, 1)
    (gradient,) = torch.autograd.grad(out[:, 0].sum(), x)
    assert torch.allclose(out[0], torch.softmax(x[0], 0)) and out[1].tolist() == gradient[1].tolist() == [0.0, 0.0]


def test_batch_norm_without_running_statistics() -> None:
    x = torch.randn(5, 3)
    for got, wanted in zip(
        torch._native_batch_norm_legit(x, None, None, True, 0.1, 1e-5),
        torch.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5),
        strict=True,
    ):
        assert torch.equal(got, wanted)


def test_chunks_side_by_side() -> None:
    one, two = torch.arange(1, 4), torch.arange(4, 6)
    assert torch._chunk_cat([one, two], 0, 2).tolist() == [[1, 2, 4], [3, 0, 5]]


def test_indices_are_not_looked_at_where_a_mask_is_false() -> None:
    x, mask = torch.arange(4.0), torch.tensor([True, False, True])
    at = [torch.tensor([3, 99, 0])]
    assert torch._unsafe_masked_index(x, mask, at, -1).tolist() == [3.0, -1.0, 0.0]
    added = torch._unsafe_masked_index_put_accumulate(x, mask, at, torch.ones(3))
    assert added.tolist() == [1.0, 1.0, 2.0, 4.0]


@pytest.mark.parametrize("transposed", [False, True])
def test_gradients_of_a_convolution_as_a_function(transposed: bool) -> None:
    x = torch.randn(2, 4, 5, 6, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(*((4, 3) if transposed else (6, 2)), 3, 2, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(6, dtype=torch.float64, requires_grad=True)
    options = [2, 1], [1, 0], [1, 1], transposed, [1, 0] if transposed else [0, 0], 2
    y = torch.convolution(x, weight, bias, *options)
    g = torch.randn(y.shape, dtype=torch.float64)
    function = torch.ops.aten.convolution_backward
    found = function(g, x, weight, [6], *options, [True, True, True])
    for ours, expected in zip(found, torch.autograd.grad(y, (x, weight, bias), g), strict=True):
        assert torch.allclose(ours, expected)
    assert [part is None for part in function(g, x, weight, [6], *options, (False, True, False))] == [True, False, True]


def test_slices_and_the_gradient_of_dropout_by_their_names_in_the_dispatcher() -> None:
    aten, x = torch.ops.aten, torch.arange(6)
    assert aten.slice.Tensor(x, 0, 1, 5, 2).tolist() == [1, 3] and aten.slice(x).tolist() == x.tolist()
    assert aten.slice.Tensor(x.view(2, 3), -1, -2).tolist() == [[1, 2], [4, 5]]
    aten.slice(x, 0, 4).zero_()  # a view
    assert x.tolist() == [0, 1, 2, 3, 0, 0]
    with pytest.raises(RuntimeError, match="slice step must be positive"):
        aten.slice(x, 0, 0, 3, 0)
    kept = torch.tensor([True, False])
    assert aten.native_dropout_backward(torch.tensor([3.0, 4.0]), kept, 2.0).tolist() == [6.0, 0.0]


def test_the_gradient_of_max_pool_lies_as_the_image_does() -> None:
    for kind in (torch.contiguous_format, torch.channels_last):
        image = torch.arange(48.0).reshape(1, 3, 4, 4).contiguous(memory_format=kind)
        out, places = torch.nn.functional.max_pool2d(image, 2, return_indices=True)
        back = torch.ops.aten.max_pool2d_with_indices_backward
        g = back(torch.ones_like(out), image, [2, 2], [2, 2], [0, 0], [1, 1], False, places)
        assert g.stride() == image.stride() and g.sum().item() == 12
