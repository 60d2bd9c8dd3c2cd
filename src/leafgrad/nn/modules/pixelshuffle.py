"""Pixels as channels, and channels as pixels."""

from __future__ import annotations

from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn.modules.linear import _Layer

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(_Layer):
    """PixelShuffle(upscale_factor): channels (..., c * r², h, w) become pixels (..., c, h * r, w * r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(_Layer):
    """PixelUnshuffle(downscale_factor): pixels (..., c, h * r, w * r) become channels (..., c * r², h, w)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
