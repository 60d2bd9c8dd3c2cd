"""Pooling and padding."""

from __future__ import annotations

from typing import Any

from module_cases import Case


def there_and_back(module: Any, x: Any) -> Any:
    """Through max_pool and its reverse."""
    pool, unpool = module
    values, indices = pool(x)
    return unpool(values, indices, x.shape), indices


def pair(n: int, *arguments: Any) -> Any:
    return lambda nn: nn.ModuleList(
        [getattr(nn, f"MaxPool{n}d")(*arguments, return_indices=True), getattr(nn, f"MaxUnpool{n}d")(*arguments)]
    )


ROWS = {
    "MaxPool1d": Case(lambda nn: nn.MaxPool1d(3, 2, 1), (2, 2, 6)),
    "MaxPool2d": Case(lambda nn: nn.MaxPool2d(2), (1, 2, 4, 5)),
    "MaxPool2d, overlapping": Case(lambda nn: nn.MaxPool2d((3, 2), 1, (1, 0), 2, ceil_mode=True), (2, 5, 5)),
    "MaxPool2d, indices": Case(lambda nn: nn.MaxPool2d(3, 2, 1, return_indices=True, ceil_mode=True), (1, 2, 4, 4)),
    "MaxPool3d": Case(lambda nn: nn.MaxPool3d(2, stride=1), (1, 2, 3, 3, 3)),
    "MaxUnpool1d": Case(pair(1, 2), (2, 2, 5), call=there_and_back),
    "MaxUnpool2d": Case(pair(2, 2, 2), (1, 2, 4, 5), call=there_and_back),
    "MaxUnpool3d": Case(pair(3, 2), (1, 2, 4, 2, 2), call=there_and_back),
    "AvgPool1d": Case(lambda nn: nn.AvgPool1d(3, 2, 1), (2, 2, 6)),
    "AvgPool2d": Case(lambda nn: nn.AvgPool2d(3, 2, 1, True, False), (1, 2, 4, 6)),
    "AvgPool3d": Case(lambda nn: nn.AvgPool3d((2, 1, 2), divisor_override=3), (1, 2, 3, 4)),
    "LPPool1d": Case(lambda nn: nn.LPPool1d(2, 3), (2, 2, 6)),
    "LPPool2d": Case(lambda nn: nn.LPPool2d(2, 2, 1, ceil_mode=True), (1, 2, 3, 4)),
    "LPPool3d": Case(lambda nn: nn.LPPool3d(4, 2), (1, 2, 2, 4)),
    "AdaptiveMaxPool1d": Case(lambda nn: nn.AdaptiveMaxPool1d(4), (2, 2, 6)),
    "AdaptiveMaxPool2d": Case(lambda nn: nn.AdaptiveMaxPool2d((3, None), return_indices=True), (1, 2, 5, 4)),
    "AdaptiveMaxPool3d": Case(lambda nn: nn.AdaptiveMaxPool3d(2), (2, 3, 4, 3)),
    "AdaptiveAvgPool1d": Case(lambda nn: nn.AdaptiveAvgPool1d(4), (2, 2, 6)),
    "AdaptiveAvgPool2d": Case(lambda nn: nn.AdaptiveAvgPool2d((3, None)), (1, 2, 5, 4)),
    "AdaptiveAvgPool2d, one": Case(lambda nn: nn.AdaptiveAvgPool2d(1), (1, 2, 3, 4)),
    "AdaptiveAvgPool3d": Case(lambda nn: nn.AdaptiveAvgPool3d((1, 2, 3)), (2, 3, 4, 3)),
    "FractionalMaxPool2d": Case(lambda nn: nn.FractionalMaxPool2d(2, (2, 3)), (2, 2, 5, 6)),
    "FractionalMaxPool3d": Case(lambda nn: nn.FractionalMaxPool3d(2, output_ratio=0.5), (1, 2, 5, 4, 6)),
    "ConstantPad1d": Case(lambda nn: nn.ConstantPad1d(2, 1.5), (2, 3)),
    "ConstantPad2d": Case(lambda nn: nn.ConstantPad2d((1, -1, 0, 2), -1), (2, 3, 3)),
    "ConstantPad3d": Case(lambda nn: nn.ConstantPad3d(1, 2), (1, 2, 2, 2)),
    "ZeroPad1d": Case(lambda nn: nn.ZeroPad1d((1, 2)), (2, 3)),
    "ZeroPad2d": Case(lambda nn: nn.ZeroPad2d(1), (1, 2, 3, 2)),
    "ZeroPad3d": Case(lambda nn: nn.ZeroPad3d((1, 0, 2, 1, 0, 1)), (1, 1, 2, 1, 2)),
    "ReflectionPad1d": Case(lambda nn: nn.ReflectionPad1d(2), (2, 3)),
    "ReflectionPad2d": Case(lambda nn: nn.ReflectionPad2d((1, 2, 0, 1)), (1, 2, 3, 3)),
    "ReflectionPad3d": Case(lambda nn: nn.ReflectionPad3d(1), (1, 2, 3, 2)),
    "ReplicationPad1d": Case(lambda nn: nn.ReplicationPad1d((3, 1)), (2, 3)),
    "ReplicationPad2d": Case(lambda nn: nn.ReplicationPad2d(2), (1, 2, 2, 3)),
    "ReplicationPad3d": Case(lambda nn: nn.ReplicationPad3d((1, 1, 0, 2, 1, 0)), (1, 1, 2, 2, 3)),
    "CircularPad1d": Case(lambda nn: nn.CircularPad1d((2, 1)), (2, 3)),
    "CircularPad2d": Case(lambda nn: nn.CircularPad2d(1), (1, 2, 2, 3)),
    "CircularPad3d": Case(lambda nn: nn.CircularPad3d((1, 0, 1, 1, 0, 1)), (1, 1, 2, 2, 3)),
}
