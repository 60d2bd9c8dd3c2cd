"""Tensors without data (`device="meta"`): what they say of themselves, what they refuse, copies and files."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad import nn
from leafgrad.utils._device import DeviceContext, set_device


def empty(*shape: int, **options: Any) -> Any:
    return torch.empty(*shape, device="meta", **options)


def test_what_a_tensor_says_of_itself() -> None:
    x = empty(2, 3, dtype=torch.float64)
    assert x.is_meta
    assert not x.is_cpu
    assert x.device == torch.device("meta") != torch.device("cpu")
    assert (x.shape, x.dtype, x.stride(), x.numel(), x.element_size(), x.nbytes) == (
        (2, 3), torch.float64, (3, 1), 6, 8, 48,
    )  # fmt: skip
    assert x.data_ptr() == 0
    assert x.type() == "torch.meta.DoubleTensor"
    assert isinstance(x, torch.Tensor)
    assert type(x).__name__ == "Tensor"
    assert not torch.ones(1).is_meta


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (lambda: empty(3, 4), "tensor(..., device='meta', size=(3, 4))"),
        (lambda: empty(()), "tensor(..., device='meta', size=())"),
        (lambda: empty(2, dtype=torch.int64), "tensor(..., device='meta', size=(2,), dtype=torch.int64)"),
        (lambda: empty(2, requires_grad=True), "tensor(..., device='meta', size=(2,), requires_grad=True)"),
        (lambda: empty(2, requires_grad=True) * 2, "tensor(..., device='meta', size=(2,), grad_fn=<MulBackward0>)"),
        (
            lambda: nn.Parameter(empty(2)),
            "Parameter containing:\ntensor(..., device='meta', size=(2,), requires_grad=True)",
        ),
    ],
)
def test_printed_form(made: Callable[[], Any], shown: str) -> None:
    assert repr(made()) == str(made()) == f"{made()}" == shown


REFUSALS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (lambda x: x.sum().item(), RuntimeError, "Tensor.item() cannot be called on meta tensors"),
    (lambda x: x.item(), RuntimeError, "a Tensor with 6 elements cannot be converted to Scalar"),
    (lambda x: float(x.sum()), RuntimeError, "Tensor.item() cannot be called on meta tensors"),
    (lambda x: bool(x.sum()), RuntimeError, "Tensor.item() cannot be called on meta tensors"),
    (lambda x: bool(x), RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
    (lambda x: 1 in x, RuntimeError, "Tensor.item() cannot be called on meta tensors"),
    (lambda x: x.tolist(), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    (lambda x: x.numpy(), TypeError, "can't convert meta device type tensor to numpy."),
    (lambda x: np.asarray(x), TypeError, "can't convert meta device type tensor to numpy."),
    (lambda x: x.cpu(), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    (lambda x: x.to("cpu"), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    (lambda x: torch.ones(2, 3).copy_(x), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    (lambda x: x[x > 0], NotImplementedError, "The register_meta function for torch.nonzero() raises unimplemented"),
    (lambda x: torch.equal(x, x), NotImplementedError, "aten::equal: attempted to run this operator with Meta tensors"),
    (lambda x: x.unique(), NotImplementedError, "aten::_unique2: attempted to run this operator with Meta tensors"),
    (lambda x: x + torch.ones(2, 3), RuntimeError, "Tensor on device cpu is not on the expected device meta!"),
    (lambda x: torch.ones(2, 3) + x, RuntimeError, "Tensor on device meta is not on the expected device cpu!"),
    (lambda x: torch.cat([x, torch.ones(2, 3)]), RuntimeError, "Tensor on device cpu is not on the expected device"),
    (lambda x: torch.ones(4, 2) @ x, RuntimeError, "Tensor on device meta is not on the expected device cpu!"),
    (lambda x: x + empty(4), RuntimeError, "The size of tensor a (3) must match the size of tensor b (4)"),
    (lambda x: x @ x, RuntimeError, "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
    (lambda x: x.t().view(6), RuntimeError, "view size is not compatible with input tensor's size and stride"),
    (lambda x: setattr(x, "data", torch.ones(2, 3)), RuntimeError, "Attempted to call `variable.set_data(tensor)`"),
    (lambda x: setattr(x, "grad", torch.ones(2, 3)), RuntimeError, "attempting to assign a gradient with device type"),
    (lambda x: x.untyped_storage()[0], NotImplementedError, "Not available for 'meta' device type"),
    (lambda x: x.copy_(torch.ones(4)), RuntimeError, "output with shape [2, 3] doesn't match the broadcast shape"),
    (lambda x: torch.ones(2, 3).index_put_((torch.tensor([0]),), x[0]), NotImplementedError, "Cannot copy out of"),
    (lambda x: torch.ones(3, device="cuda"), AssertionError, "Torch not compiled with CUDA enabled"),
]


@pytest.mark.parametrize(("call", "kind", "sentence"), REFUSALS)
def test_refusals(call: Callable[[Any], Any], kind: type[Exception], sentence: str) -> None:
    with pytest.raises(kind) as caught:
        call(empty(2, 3))
    assert type(caught.value) is kind
    assert str(caught.value).startswith(sentence)


def test_numbers_and_indices_may_be_on_the_cpu() -> None:
    x = empty(2, 3)
    for result in (x + torch.tensor(2.0), torch.tensor(2.0) * x, x[torch.tensor([1, 0])]):
        assert result.is_meta
        assert result.shape == (2, 3)
    assert nn.functional.embedding(torch.tensor([1, 0, 1]), x).shape == (3, 3)
    assert x.copy_(torch.ones(2, 3)) is x


def test_views_share_memory_and_versions() -> None:
    x = empty(3, 4)
    part = x[1:, 2:]
    assert (part.storage_offset(), part.stride(), part.is_contiguous()) == (6, (4, 1), False)
    assert part._base is x
    part.add_(1)
    assert x._version == 1
    assert part.untyped_storage()._cdata == x.untyped_storage()._cdata
    assert x.as_strided((2, 2), (1, 2), 3).storage_offset() == 3
    assert part.as_strided((2,), (1,)).storage_offset() == 6
    assert x.untyped_storage().nbytes() == part.untyped_storage().nbytes() == 48
    assert x.view(torch.int32).dtype is torch.int32
    assert empty(2).resize_(5).shape == (5,)


def test_changes_do_nothing_but_count() -> None:
    x = empty(2, 3)
    assert x.zero_() is x.fill_(3).normal_().uniform_().bernoulli_().random_() is x
    x[0] = 1
    x[:, 0] = torch.ones(2)
    x[x > 0] = 2
    x += 1
    assert x._version == 10
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        empty(2, requires_grad=True).add_(1)


def test_moving_there() -> None:
    x = torch.ones(2, 3).t()
    there = x.to("meta")
    assert (there.shape, there.stride(), there.is_meta) == ((3, 2), (1, 3), True)
    assert there.to("meta") is there
    assert x.to(torch.device("meta"), torch.float64).dtype is torch.float64
    assert x.to(there).is_meta
    assert x.type_as(there).is_meta
    recorded = torch.ones(2, requires_grad=True).to("meta")
    assert recorded.grad_fn.name() == "ToCopyBackward0"
    with pytest.raises(NotImplementedError, match="no data"):
        recorded.sum().backward()


FACTORIES: list[Callable[..., Any]] = [
    lambda **o: torch.zeros(2, 3, **o), lambda **o: torch.ones(2, **o), lambda **o: torch.full((2,), 3, **o),
    lambda **o: torch.rand(2, **o), lambda **o: torch.randn(2, **o), lambda **o: torch.randint(5, (3,), **o),
    lambda **o: torch.arange(5, **o), lambda **o: torch.linspace(0, 1, 5, **o), lambda **o: torch.eye(3, **o),
    lambda **o: torch.randperm(4, **o), lambda **o: torch.empty_strided((2, 3), (1, 2), **o),
    lambda **o: torch.tril_indices(3, 3, **o), lambda **o: torch.hann_window(4, **o),
    lambda **o: torch.scalar_tensor(2, **o), lambda **o: torch.tensor([1, 2.0], **o),
    lambda **o: torch.as_tensor([[1]], **o), lambda **o: torch.asarray([1.0], **o),
    lambda **o: torch.fft.fftfreq(4, **o), lambda **o: torch.empty_permuted((2, 3), (1, 0), **o),
    lambda **o: torch.empty(2, 3, 4, 5, memory_format=torch.channels_last, **o),
]  # fmt: skip


@pytest.mark.parametrize("make", FACTORIES)
def test_functions_that_make_tensors(make: Callable[..., Any]) -> None:
    with_data = make()
    with torch.device("meta"):
        inside = make()
        assert make(device="cpu").device.type == "cpu"
    for made in (make(device="meta"), make(device=torch.device("meta")), inside):
        assert made.is_meta
        assert (made.shape, made.dtype, made.stride()) == (with_data.shape, with_data.dtype, with_data.stride())
    assert not make().is_meta


def test_likes_and_news() -> None:
    x, with_data = empty(2, 3), torch.ones(3, 2).t()
    for like in (torch.zeros_like, torch.ones_like, torch.rand_like, torch.empty_like, torch.randn_like):
        assert like(x).is_meta
        assert like(with_data, device="meta").stride() == (1, 2)
        assert like(x, device="cpu").device.type == "cpu"
    for new in (
        x.new_zeros(2),
        x.new_ones(2),
        x.new_full((2,), 3),
        x.new_tensor([1.0]),
        x.new_empty_strided((2,), (1,)),
    ):
        assert new.is_meta
    assert with_data.new_zeros(2, device="meta").is_meta
    assert torch.equal(x.new_zeros(2, device="cpu"), torch.zeros(2))


def test_devices_as_contexts() -> None:
    x = torch.ones(2)
    with torch.device("meta"):
        assert torch.get_default_device() == torch.device("meta")
        with torch.device("cpu"):
            assert torch.ones(2).device.type == "cpu"
        assert torch.ones(2).is_meta
        assert not torch.ones_like(x).is_meta
        assert not torch.Tensor(2).is_meta
        assert not torch.from_numpy(np.ones(2)).is_meta
    assert torch.get_default_device() == torch.device("cpu")
    with DeviceContext("meta"):
        assert torch.zeros(1).is_meta

    @set_device("meta")
    def function() -> Any:
        return torch.ones(2)

    assert function().is_meta
    torch.set_default_device("meta")
    try:
        assert torch.ones(2).is_meta
        assert nn.Linear(2, 2).weight.is_meta
        assert torch.get_default_device().type == "meta"
    finally:
        torch.set_default_device(None)
    assert not torch.ones(2).is_meta


def test_parameters() -> None:
    p = nn.Parameter(empty(2, 3))
    assert isinstance(p, nn.Parameter)
    assert type(p).__name__ == "Parameter"
    assert p.requires_grad
    assert p.is_leaf
    assert not isinstance(p * 2, nn.Parameter)
    assert type(type(p)(torch.ones(2))) is nn.Parameter  # as libraries make others of the same class
    buffer = nn.Buffer(empty(2))
    assert buffer.is_meta

    class Own(nn.Parameter):
        pass

    own = Own(empty(2))
    assert isinstance(own, Own)
    assert own.is_meta


def test_gradients() -> None:
    p = nn.Parameter(empty(2, 3))
    ((p * 2).sin() @ empty(3, 4)).sum().backward()
    assert p.grad.is_meta
    assert p.grad.shape == (2, 3)
    (g,) = torch.autograd.grad((p**3).sum(), p, create_graph=True)
    assert g.requires_grad
    assert torch.autograd.grad(g.sum(), p)[0].shape == (2, 3)
    seen = []
    p.register_hook(lambda g: seen.append(g.is_meta))
    p.amax().backward()
    assert seen == [True]


@pytest.mark.parametrize("make", [lambda: empty(2, 3).t(), lambda: nn.Parameter(empty(2, 3))])
def test_copies_and_files(make: Callable[[], Any]) -> None:
    x = make()
    buffer = io.BytesIO()
    torch.save({"x": x}, buffer)
    assert len(buffer.getvalue()) < 2000
    buffer.seek(0)
    for other in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x)), torch.load(buffer)["x"]):
        assert type(other) is type(x)
        assert other is not x
        assert (other.shape, other.stride(), other.requires_grad) == (x.shape, x.stride(), x.requires_grad)


def test_files_without_their_data() -> None:
    buffer = io.BytesIO()
    both = torch.ones(3, 4)
    torch.save({"x": both, "y": both[1], "z": torch.arange(3)}, buffer)
    for wanted in ("meta", torch.device("meta"), {"cpu": "meta"}):
        buffer.seek(0)
        loaded = torch.load(buffer, map_location=wanted)
        assert all([t.is_meta for t in loaded.values()])
        assert (loaded["x"].shape, loaded["y"].storage_offset(), loaded["z"].dtype) == ((3, 4), 4, torch.int64)
        assert loaded["x"].untyped_storage()._cdata == loaded["y"].untyped_storage()._cdata


def test_values_are_not_compared() -> None:
    torch.testing.assert_close(empty(2), empty(2))
    with pytest.raises(AssertionError, match="shape"):
        torch.testing.assert_close(empty(2), empty(3))
    with pytest.raises(AssertionError, match="device"):
        torch.testing.assert_close(empty(2), torch.ones(2))


def test_tensors_with_data_are_none_the_wiser() -> None:
    with torch.device("meta"):
        pass
    x = torch.ones(3, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]
    assert type(x * 2) is torch.Tensor


def test_questions_that_are_answered_without_data() -> None:
    p = nn.Parameter(empty(2))
    loss = (p * 2).sum()
    assert "shape ()" in str(torch.explain(loss))
    assert not isinstance(p, torch.FloatTensor)
    with pytest.raises(RuntimeError, match="META device type not an accelerator"):
        torch.Generator("meta")
