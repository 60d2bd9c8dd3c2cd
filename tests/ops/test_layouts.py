"""How results lie in memory when their input has gaps, was transposed or expanded. The strides are PyTorch's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import leafgrad as torch
from leafgrad.nn import functional as F


def numbered(*shape: int) -> Any:
    return torch.arange(float(torch.ones(shape).numel())).reshape(shape)


VIEWS: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "transposed": (lambda: numbered(3, 4).t(), (1, 4)),
    "every other column": (lambda: numbered(3, 4)[:, ::2], (2, 1)),
    "transposed, every other row": (lambda: numbered(3, 4).t()[::2], (1, 2)),
    "a middle dimension with gaps": (lambda: numbered(4, 4, 4)[:, 1:3].permute(2, 0, 1), (1, 8, 4)),
    "expanded behind": (lambda: numbered(3, 1).expand(3, 4), (4, 1)),
    "expanded in front, transposed": (lambda: numbered(2, 3).t().expand(4, 3, 2), (6, 1, 3)),
    "expanded between": (lambda: numbered(2, 1, 3).permute(2, 1, 0).expand(3, 4, 2), (1, 3, 12)),
}
LIKE: dict[str, Callable[[Any], Any]] = {
    "empty_like": torch.empty_like,
    "rand_like": torch.rand_like,
    "clone": lambda x: x.clone(),
    "double": lambda x: x.double(),
    "flip": lambda x: x.flip(0),
    "sort": lambda x: x.sort(0).values,
    "indices of sort": lambda x: x.sort(0).indices,
}


@pytest.mark.parametrize("function", LIKE)
@pytest.mark.parametrize("view", VIEWS)
def test_what_is_like_a_tensor_lies_in_its_order_without_gaps(view: str, function: str) -> None:
    make, strides = VIEWS[view]
    assert LIKE[function](make()).stride() == strides


def test_random_numbers_follow_the_order_in_memory() -> None:
    torch.manual_seed(0)
    expected = torch.rand(3, 2)
    torch.manual_seed(0)
    assert torch.rand_like(numbered(3, 4)[:, ::2].t()).t().tolist() == expected.tolist()
    torch.manual_seed(0)
    mask = F.dropout(torch.ones(3, 2)) != 0
    torch.manual_seed(0)
    assert ((F.dropout(torch.ones(3, 4)[:, ::2].t()) != 0).t() == mask).all()


@pytest.mark.parametrize("view", VIEWS)
def test_values_are_those_of_a_contiguous_tensor(view: str) -> None:
    x = VIEWS[view][0]()
    plain = x.contiguous()
    assert x.flip(0).tolist() == plain.flip(0).tolist() and x.clone().tolist() == plain.tolist()
    assert x.sort(0, descending=True).values.tolist() == plain.sort(0, descending=True).values.tolist()
    assert x.double().tolist() == plain.tolist()


def test_the_size_of_a_storage_counts_its_memory() -> None:
    x = torch.ones(10, 100)
    for storage in (x.untyped_storage(), x[0].untyped_storage(), torch.TypedStorage(1000)):
        assert 0 <= sys.getsizeof(storage) - 4000 < 200


def test_storages_with_a_dtype_are_deprecated_as_in_pytorch_which_is_said_once() -> None:
    program = "import leafgrad as torch; torch.ones(2).storage(); torch.FloatStorage(3)"
    ran = subprocess.run([sys.executable, "-W", "always", "-c", program], capture_output=True, text=True, check=True)
    assert ran.stderr.count("UserWarning: TypedStorage is deprecated. It will be removed") == 1


def test_memory_that_tensors_show_cannot_grow() -> None:
    x = torch.arange(3.0)
    storage = x.untyped_storage()
    assert not storage.resizable()
    with pytest.raises(RuntimeError, match=r"not resizable\n(.|\n)*cannot move to a larger one"):
        storage.resize_(16)
    del x
    assert storage.resizable() and storage.resize_(16).nbytes() == 16 and storage.tolist()[6:8] == [128, 63]


KEEPING: dict[str, Callable[[Any], Any]] = {
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "group_norm": lambda x: F.group_norm(x, 2, torch.ones(4), torch.zeros(4)),
    "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:], torch.ones(x.shape[-1])),
    "constant": lambda x: F.pad(x, (1, 1), value=2.0),
    "reflect": lambda x: F.pad(x, (1, 1) * (x.ndim - 2), "reflect"),
    "replicate": lambda x: F.pad(x, (1, 1) * (x.ndim - 2), "replicate"),
    "max_pool": lambda x: (F.max_pool2d if x.ndim == 4 else F.max_pool3d)(x, 2),
}
OF_IMAGES: dict[str, Callable[[Any], Any]] = {
    "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 2),
    "avg_pool": lambda x: (F.avg_pool2d if x.ndim == 4 else F.avg_pool3d)(x, 2),
    "adaptive_avg_pool": lambda x: (F.adaptive_avg_pool2d if x.ndim == 4 else F.adaptive_avg_pool3d)(x, 2),
    "adaptive_max_pool": lambda x: (F.adaptive_max_pool2d if x.ndim == 4 else F.adaptive_max_pool3d)(x, 2),
}
ROWS: dict[str, Callable[[Any], Any]] = {
    "circular": lambda x: F.pad(x, (1, 1) * (x.ndim - 2), "circular"),
    "instance_norm": F.instance_norm,
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
}


@pytest.mark.parametrize("function", [*KEEPING, *OF_IMAGES, *ROWS])
@pytest.mark.parametrize("wanted", [torch.channels_last, torch.channels_last_3d])
def test_channels_stay_last_where_they_do_in_pytorch(function: str, wanted: Any) -> None:
    image = wanted is torch.channels_last
    if not image and function.startswith("pixel"):
        return
    call = {**KEEPING, **OF_IMAGES, **ROWS}[function]
    rows = numbered(*(2, 4, 4, 6) if image else (2, 4, 4, 4, 6)).sin()
    out = call(rows.contiguous(memory_format=wanted))
    stays = function in KEEPING or (image and function in OF_IMAGES)
    assert out.is_contiguous(memory_format=wanted if stays else torch.contiguous_format)
    assert torch.allclose(out, call(rows), 1e-5, 1e-5) and call(rows).is_contiguous()
