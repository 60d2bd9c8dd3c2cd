"""How the weights of convolutions lie in memory."""

from __future__ import annotations

from typing import Any

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module: Any, memory_format: Any, dims: int) -> Any:
    kinds = (f"Conv{dims}d", f"ConvTranspose{dims}d")
    for each in module.modules():
        if any([kind.__name__ in kinds for kind in type(each).__mro__]):
            each.weight.data = each.weight.detach().clone(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """convert_conv2d_weight_memory_format(module, memory_format): the weights of all Conv2d and ConvTranspose2d of a
    module in this format."""
    return _convert(module, memory_format, 2)


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """convert_conv3d_weight_memory_format(module, memory_format): the weights of all Conv3d and ConvTranspose3d of a
    module in this format."""
    return _convert(module, memory_format, 3)
