"""Resampling, windows side by side, dimensions joined and split."""

from __future__ import annotations

from module_cases import Case

ROWS = {
    "Upsample": Case(lambda nn: nn.Upsample(scale_factor=2), (1, 2, 3)),
    "Upsample, size": Case(lambda nn: nn.Upsample((5, 2)), (1, 2, 3, 4)),
    "Upsample, exact": Case(lambda nn: nn.Upsample(scale_factor=(0.7, 1.6), mode="nearest-exact"), (1, 2, 3, 4)),
    "Upsample, volume": Case(lambda nn: nn.Upsample(3), (1, 1, 2, 3, 2)),
    "Upsample, linear": Case(lambda nn: nn.Upsample(scale_factor=1.7, mode="linear"), (1, 2, 5)),
    "Upsample, bilinear": Case(lambda nn: nn.Upsample(scale_factor=2, mode="bilinear"), (1, 2, 3, 4)),
    "Upsample, recomputed": Case(
        lambda nn: nn.Upsample(scale_factor=1.7, mode="bilinear", recompute_scale_factor=True), (1, 1, 3, 4)
    ),
    "Upsample, bicubic": Case(lambda nn: nn.Upsample((5, 3), mode="bicubic"), (1, 2, 3, 4)),
    "Upsample, trilinear": Case(lambda nn: nn.Upsample(3, mode="trilinear", align_corners=True), (1, 1, 2, 3, 2)),
    "Upsample, area": Case(lambda nn: nn.Upsample((2, 3), mode="area"), (1, 2, 3, 4)),
    "UpsamplingNearest2d": Case(lambda nn: nn.UpsamplingNearest2d(scale_factor=1.5), (1, 2, 3, 4)),
    "UpsamplingBilinear2d": Case(lambda nn: nn.UpsamplingBilinear2d(5), (1, 2, 3, 4)),
    "PixelShuffle": Case(lambda nn: nn.PixelShuffle(2), (1, 8, 2, 3)),
    "PixelUnshuffle": Case(lambda nn: nn.PixelUnshuffle(2), (2, 4, 2)),
    "ChannelShuffle": Case(lambda nn: nn.ChannelShuffle(3), (1, 6, 2, 2)),
    "Unfold": Case(lambda nn: nn.Unfold((2, 3), padding=1, stride=(2, 1)), (1, 2, 4, 3)),
    "Fold": Case(lambda nn: nn.Fold((4, 3), 2, padding=(0, 1)), (1, 8, 12)),
    "Flatten": Case(lambda nn: nn.Flatten(), (2, 3, 2)),
    "LocalResponseNorm": Case(lambda nn: nn.LocalResponseNorm(2, alpha=0.5), (1, 4, 3)),
    "LocalResponseNorm, images": Case(lambda nn: nn.LocalResponseNorm(3, 0.1, 0.5, 2), (1, 4, 2, 2)),
    "Unflatten": Case(lambda nn: nn.Unflatten(1, (2, 3)), (2, 6)),
}
