"""Padding as layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn.modules._own_names import named_by_subclass
from leafgrad.nn.modules.linear import _Layer
from leafgrad.nn.modules.utils import ntuple

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]  # fmt: skip

Sizes = int | Sequence[int]


@named_by_subclass("__init__")
class _Pad(_Layer):
    """Padding of the last `dims` dimensions: as much everywhere, or (left, right, top, bottom, ...)."""

    dims: int
    mode: str
    padding: tuple[int, ...]

    def __init__(self, padding: Sizes) -> None:
        super().__init__()
        self.padding = ntuple(padding, 2 * self.dims)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


@named_by_subclass("__init__")
class _ConstantPad(_Pad):
    value: Any

    def __init__(self, padding: Sizes, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


@named_by_subclass("__init__")
class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Sizes) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ConstantPad1d(_ConstantPad):
    """ConstantPad1d(padding, value): the last dimension padded with one number."""

    dims = 1


class ConstantPad2d(_ConstantPad):
    """ConstantPad2d(padding, value): the last two dimensions padded with one number."""

    dims = 2


class ConstantPad3d(_ConstantPad):
    """ConstantPad3d(padding, value): the last three dimensions padded with one number."""

    dims = 3


class ZeroPad1d(_ZeroPad):
    """ZeroPad1d(padding): the last dimension padded with zeros."""

    dims = 1


class ZeroPad2d(_ZeroPad):
    """ZeroPad2d(padding): the last two dimensions padded with zeros."""

    dims = 2


class ZeroPad3d(_ZeroPad):
    """ZeroPad3d(padding): the last three dimensions padded with zeros."""

    dims = 3


class ReflectionPad1d(_Pad):
    """ReflectionPad1d(padding): the last dimension padded with the elements mirrored."""

    dims, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """ReflectionPad2d(padding): the last two dimensions padded with the elements mirrored."""

    dims, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """ReflectionPad3d(padding): the last three dimensions padded with the elements mirrored."""

    dims, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """ReplicationPad1d(padding): the last dimension padded with the nearest elements."""

    dims, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """ReplicationPad2d(padding): the last two dimensions padded with the nearest elements."""

    dims, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """ReplicationPad3d(padding): the last three dimensions padded with the nearest elements."""

    dims, mode = 3, "replicate"


class _CircularPad(_Pad):
    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        least = self.dims + 1
        if input.dim() not in (least, least + 1):
            raise ValueError(f"expected {least}D or {least + 1}D input (got {input.dim()}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPad):
    """CircularPad1d(padding): the last dimension padded with the elements of the other end."""

    dims = 1


class CircularPad2d(_CircularPad):
    """CircularPad2d(padding): the last two dimensions padded with the elements of the other end."""

    dims = 2


class CircularPad3d(_CircularPad):
    """CircularPad3d(padding): the last three dimensions padded with the elements of the other end."""

    dims = 3
