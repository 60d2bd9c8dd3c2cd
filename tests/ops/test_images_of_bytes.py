"""Images of bytes are resampled in fixed point, as PyTorch does it: the values here are its own."""

from __future__ import annotations

import pytest

import leafgrad as torch
from leafgrad.nn.functional import interpolate

SIZES = ((4, 5), (15, 3), (9, 11))
SUMS = [
    ("bilinear", False, False, [934894, 4743527, 22421859]),
    ("bilinear", True, False, [917062, 4430250, 22725555]),
    ("bilinear", False, True, [918061, 4670288, 22421859]),
    ("bicubic", False, False, [927491, 4672860, 22415166]),
    ("bicubic", True, False, [913704, 4430732, 22766041]),
    ("bicubic", False, True, [921831, 4684777, 22375590]),
]


@pytest.mark.parametrize("mode, align_corners, antialias, wanted", SUMS)
@pytest.mark.parametrize("kind", ["contiguous_format", "channels_last"])
def test_images_of_bytes(mode: str, align_corners: bool, antialias: bool, wanted: list[int], kind: str) -> None:
    image = (torch.arange(2 * 3 * 9 * 7) * 37 % 256).byte().reshape(2, 3, 9, 7)
    image = image.contiguous(memory_format=getattr(torch, kind))
    for size, number in zip(SIZES, wanted, strict=True):
        out = interpolate(image, size, mode=mode, align_corners=align_corners, antialias=antialias)
        assert out.dtype is torch.uint8 and out.is_contiguous(memory_format=getattr(torch, kind))
        assert (out.long().flatten() * torch.arange(1, out.numel() + 1)).sum().item() == number


def test_each_direction_is_rounded_by_itself() -> None:
    image = torch.arange(16).byte().reshape(1, 1, 4, 4)
    wanted = [[1, 3, 4], [6, 8, 9], [11, 13, 14]]
    assert interpolate(image, (3, 3), mode="bilinear")[0, 0].tolist() == wanted
    assert interpolate(image, (3, 3), mode="bicubic")[0, 0].tolist() == wanted
    assert interpolate(image[..., ::2, ::2], (1, 1), mode="bilinear").tolist() == [[[[5]]]]


def test_values_stay_between_those_of_bytes() -> None:
    edge = torch.tensor([0, 0, 255, 255, 0, 255], dtype=torch.uint8).repeat(6, 1)[None, None]
    out = interpolate(edge, (6, 23), mode="bicubic")
    assert out.min().item() == 0 and out.max().item() == 255
