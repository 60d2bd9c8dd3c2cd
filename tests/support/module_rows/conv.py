"""Convolutions."""

from __future__ import annotations

from module_cases import Case

ROWS = {
    "Conv1d": Case(lambda nn: nn.Conv1d(2, 3, 3), (2, 2, 5)),
    "Conv1d, one sample": Case(lambda nn: nn.Conv1d(2, 4, 2, stride=2, groups=2, bias=False), (2, 6)),
    "Conv2d": Case(lambda nn: nn.Conv2d(3, 4, 3, padding=1), (2, 3, 4, 5)),
    "Conv2d, strided": Case(lambda nn: nn.Conv2d(2, 3, (3, 2), (2, 1), (1, 2), (1, 2), bias=False), (2, 2, 5, 5)),
    "Conv2d, same": Case(lambda nn: nn.Conv2d(2, 2, (3, 5), padding="same"), (1, 2, 4, 4)),
    "Conv2d, depthwise": Case(lambda nn: nn.Conv2d(4, 4, 3, groups=4, padding=2, dilation=2), (2, 4, 5, 5)),
    "Conv2d, multiplied": Case(lambda nn: nn.Conv2d(2, 6, 3, groups=2, padding="valid"), (1, 2, 4, 4)),
    "Conv2d, 1x1": Case(lambda nn: nn.Conv2d(3, 5, 1, stride=2), (2, 3, 4, 3)),
    "Conv2d, reflect": Case(lambda nn: nn.Conv2d(2, 2, 3, padding=(1, 2), padding_mode="reflect"), (1, 2, 4, 4)),
    "Conv2d, replicate": Case(lambda nn: nn.Conv2d(2, 2, 3, padding="same", padding_mode="replicate"), (1, 2, 4, 4)),
    "Conv1d, circular": Case(lambda nn: nn.Conv1d(2, 2, 3, padding=2, padding_mode="circular"), (1, 2, 4)),
    "Conv3d": Case(lambda nn: nn.Conv3d(2, 2, 2, padding=(1, 0, 1), stride=(2, 1, 1)), (1, 2, 3, 3, 4)),
    "ConvTranspose1d": Case(lambda nn: nn.ConvTranspose1d(2, 3, 3, stride=2, padding=1, output_padding=1), (2, 2, 4)),
    "ConvTranspose2d": Case(lambda nn: nn.ConvTranspose2d(3, 4, 3), (2, 3, 4, 3)),
    "ConvTranspose2d, groups": Case(
        lambda nn: nn.ConvTranspose2d(4, 2, (3, 2), (2, 1), groups=2, dilation=(1, 3), bias=False), (1, 4, 3, 3)
    ),
    "ConvTranspose2d, size": Case(
        lambda nn: nn.ConvTranspose2d(2, 2, 3, stride=2), (1, 2, 3, 3), call=lambda module, x: module(x, [8, 7])
    ),
    "ConvTranspose3d": Case(lambda nn: nn.ConvTranspose3d(2, 2, 2, stride=(1, 2, 1)), (2, 2, 2, 2)),
    "LazyConv1d": Case(lambda nn: nn.LazyConv1d(3, 2, bias=False), (2, 2, 4)),
    "LazyConv2d": Case(lambda nn: nn.LazyConv2d(4, 3, padding=1, groups=2), (1, 2, 4, 4)),
    "LazyConv3d": Case(lambda nn: nn.LazyConv3d(2, 2), (1, 2, 2, 3)),
    "LazyConvTranspose1d": Case(lambda nn: nn.LazyConvTranspose1d(3, 2, stride=2), (2, 2, 4)),
    "LazyConvTranspose2d": Case(lambda nn: nn.LazyConvTranspose2d(4, 3, groups=2), (1, 2, 2, 3)),
    "LazyConvTranspose3d": Case(lambda nn: nn.LazyConvTranspose3d(2, 2, bias=False), (1, 2, 2, 2, 2)),
}
