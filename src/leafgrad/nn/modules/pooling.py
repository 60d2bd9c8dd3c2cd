"""Pooling as layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn.modules._own_names import named_by_subclass
from leafgrad.nn.modules.linear import _Layer
from leafgrad.nn.modules.module import Module
from leafgrad.nn.modules.utils import ntuple

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d",
    "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d",
    "MaxUnpool3d",
]  # fmt: skip

Sizes = int | Sequence[int]


@named_by_subclass("forward")
class _MaxPoolNd(Module):
    dims: int

    if TYPE_CHECKING:

        def __call__(self, input: Tensor) -> Any: ...  # a tensor, or two with return_indices

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        options = self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        return getattr(F, f"max_pool{self.dims}d")(input, *options)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


@named_by_subclass("__init__", "forward")
class _MaxUnpoolNd(Module):
    dims: int

    if TYPE_CHECKING:

        def __call__(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor: ...

    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        super().__init__()
        self.kernel_size = ntuple(kernel_size, self.dims)
        self.stride = ntuple(kernel_size if stride is None else stride, self.dims)
        self.padding = ntuple(padding, self.dims)

    def forward(self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        options = self.kernel_size, self.stride, self.padding, output_size
        return getattr(F, f"max_unpool{self.dims}d")(input, indices, *options)  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_Layer):
    """AvgPool1d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True): the mean of each window
    of inputs (n, c, length)."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = ntuple(kernel_size, 1)
        self.stride = ntuple(kernel_size if stride is None else stride, 1)
        self.padding = ntuple(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        options = self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        return F.avg_pool1d(input, *options)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


@named_by_subclass("__init__", "forward")
class _AvgPool(_Layer):
    dims: int

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        windows = self.kernel_size, self.stride, self.padding, self.ceil_mode
        return getattr(F, f"avg_pool{self.dims}d")(  # type: ignore[no-any-return]
            input, *windows, self.count_include_pad, self.divisor_override
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


@named_by_subclass("__init__", "forward")
class _FractionalMaxPool(Module):
    dims: int

    if TYPE_CHECKING:

        def __call__(self, input: Tensor) -> Any: ...  # a tensor, or two with return_indices

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        if self.dims == 3 and min(ntuple(kernel_size, 3)) <= 0:
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.kernel_size = ntuple(kernel_size, self.dims)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else ntuple(output_size, self.dims)
        self.output_ratio = None if output_ratio is None else ntuple(output_ratio, self.dims)
        if output_size is None and output_ratio is None:
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all([0 < ratio < 1 for ratio in self.output_ratio]):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        options = self.kernel_size, self.output_size, self.output_ratio, self.return_indices
        return getattr(F, f"fractional_max_pool{self.dims}d")(input, *options, _random_samples=self._random_samples)


@named_by_subclass("forward")
class _LPPoolNd(_Layer):
    dims: int

    def __init__(
        self, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        options = float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        return getattr(F, f"lp_pool{self.dims}d")(input, *options)  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


@named_by_subclass("forward")
class _AdaptiveMaxPoolNd(Module):
    dims: int

    if TYPE_CHECKING:

        def __call__(self, input: Tensor) -> Any: ...  # a tensor, or two with return_indices

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        return getattr(F, f"adaptive_max_pool{self.dims}d")(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


@named_by_subclass("forward")
class _AdaptiveAvgPoolNd(_Layer):
    dims: int

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        return getattr(F, f"adaptive_avg_pool{self.dims}d")(input, self.output_size)  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class MaxPool1d(_MaxPoolNd):
    """MaxPool1d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False): the largest
    element of each window of inputs (n, c, length)."""

    dims = 1


class MaxPool2d(_MaxPoolNd):
    """MaxPool2d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False): the largest
    element of each window of inputs (n, c, height, width)."""

    dims = 2


class MaxPool3d(_MaxPoolNd):
    """MaxPool3d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False): the largest
    element of each window of inputs (n, c, depth, height, width)."""

    dims = 3


class MaxUnpool1d(_MaxUnpoolNd):
    """MaxUnpool1d(kernel_size, stride=None, padding=0): puts the elements that MaxPool has found at their places,
    among zeros; the transpose of inputs (n, c, length)."""

    dims = 1


class MaxUnpool2d(_MaxUnpoolNd):
    """MaxUnpool2d(kernel_size, stride=None, padding=0): puts the elements that MaxPool has found at their places,
    among zeros; the transpose of inputs (n, c, height, width)."""

    dims = 2


class MaxUnpool3d(_MaxUnpoolNd):
    """MaxUnpool3d(kernel_size, stride=None, padding=0): puts the elements that MaxPool has found at their places,
    among zeros; the transpose of inputs (n, c, depth, height, width)."""

    dims = 3


class AvgPool2d(_AvgPool):
    """AvgPool2d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
    divisor_override=None): the mean of each window of inputs (n, c, height, width)."""

    dims = 2


class AvgPool3d(_AvgPool):
    """AvgPool3d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
    divisor_override=None): the mean of each window of inputs (n, c, depth, height, width)."""

    dims = 3


class FractionalMaxPool2d(_FractionalMaxPool):
    """FractionalMaxPool2d(kernel_size, output_size=None, output_ratio=None, return_indices=False): the largest
    elements of windows at random places of inputs (n, c, height, width)."""

    dims = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """FractionalMaxPool3d(kernel_size, output_size=None, output_ratio=None, return_indices=False): the largest
    elements of windows at random places of inputs (n, c, depth, height, width)."""

    dims = 3


class LPPool1d(_LPPoolNd):
    """LPPool1d(norm_type, kernel_size, stride=None, ceil_mode=False): the norm of each window of inputs (n, c,
    length)."""

    dims = 1


class LPPool2d(_LPPoolNd):
    """LPPool2d(norm_type, kernel_size, stride=None, ceil_mode=False): the norm of each window of inputs (n, c,
    height, width)."""

    dims = 2


class LPPool3d(_LPPoolNd):
    """LPPool3d(norm_type, kernel_size, stride=None, ceil_mode=False): the norm of each window of inputs (n, c,
    depth, height, width)."""

    dims = 3


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """AdaptiveMaxPool1d(output_size, return_indices=False): the largest elements of as many windows of inputs (n, c,
    length)."""

    dims = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """AdaptiveMaxPool2d(output_size, return_indices=False): the largest elements of as many windows of inputs (n, c,
    height, width)."""

    dims = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """AdaptiveMaxPool3d(output_size, return_indices=False): the largest elements of as many windows of inputs (n, c,
    depth, height, width)."""

    dims = 3


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """AdaptiveAvgPool1d(output_size): the means of as many windows of inputs (n, c, length)."""

    dims = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """AdaptiveAvgPool2d(output_size): the means of as many windows of inputs (n, c, height, width)."""

    dims = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """AdaptiveAvgPool3d(output_size): the means of as many windows of inputs (n, c, depth, height, width)."""

    dims = 3
