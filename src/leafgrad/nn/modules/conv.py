"""Convolutions: Conv1d, Conv2d, Conv3d and their transposes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.nn import functional as F
from leafgrad.nn import init
from leafgrad.nn.modules._own_names import named_by_subclass
from leafgrad.nn.modules.lazy import LazyModuleMixin
from leafgrad.nn.modules.linear import uninitialized
from leafgrad.nn.modules.module import Module
from leafgrad.nn.modules.utils import ntuple
from leafgrad.nn.parameter import UninitializedParameter
from leafgrad.ops.signature import Device, Dtype

__all__ = [
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d", "LazyConv1d", "LazyConv2d",
    "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d",
]  # fmt: skip

Sizes = int | Sequence[int]
MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions have in common. `dims` is the number of dimensions that a window has."""

    dims: int
    transposed = False
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    output_padding: tuple[int, ...]
    groups: int
    padding_mode: str

    if TYPE_CHECKING:

        def __call__(self, input: Tensor, *args: Any) -> Tensor: ...

    def _set_up(
        self,
        channels: tuple[int, int],
        kernel_size: Sizes,
        stride: Sizes,
        padding: str | Sizes,
        dilation: Sizes,
        output_padding: Sizes,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Device | None,
        dtype: Dtype | None,
    ) -> None:
        super().__init__()
        self.in_channels, self.out_channels = channels
        self.transposed = type(self).transposed  # files have the attributes of modules only
        self.kernel_size, self.stride, self.dilation, self.output_padding = [
            ntuple(value, self.dims) for value in (kernel_size, stride, dilation, output_padding)
        ]
        self.padding = padding if isinstance(padding, str) else ntuple(padding, self.dims)
        self.groups = groups
        self.padding_mode = padding_mode
        self._check()
        self._reversed_padding_repeated_twice = self._padding_of_pad()
        self.weight = uninitialized(self._weight_shape(), dtype, device)
        if bias:
            self.bias = uninitialized((self.out_channels,), dtype, device)
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        """Each group has all of its own channels; those of the input come first if transposed."""
        if self.transposed:
            return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    def _check(self) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        if self.out_channels % self.groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {self.padding!r}, should be one of {{'same', 'valid'}}")
            if self.padding == "same" and any([s != 1 for s in self.stride]):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if self.padding_mode not in MODES:
            modes = "{" + ", ".join(map(repr, MODES)) + "}"
            raise ValueError(f"padding_mode must be one of {modes}, but got padding_mode={self.padding_mode!r}")

    def _padding_of_pad(self) -> list[int]:
        """The padding as F.pad takes it: the last dimension first, before and behind."""
        if self.padding == "valid":
            return [0] * (2 * self.dims)
        if isinstance(self.padding, str):
            needed = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size)]
            return [side for n in reversed(needed) for side in (n // 2, n - n // 2)]
        return [p for p in reversed(self.padding) for _ in range(2)]

    def reset_parameters(self) -> None:
        """reset_parameters(): draw new numbers, the weight's before the bias's."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        none, one = (0,) * self.dims, (1,) * self.dims
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        parts += [f"padding={self.padding}"] if self.padding != none else []
        parts += [f"dilation={self.dilation}"] if self.dilation != one else []
        parts += [f"output_padding={self.output_padding}"] if self.output_padding != none else []
        parts += [f"groups={self.groups}"] if self.groups != 1 else []
        parts += ["bias=False"] if self.bias is None else []
        parts += [f"padding_mode={self.padding_mode}"] if self.padding_mode != "zeros" else []
        return ", ".join(parts)


@named_by_subclass("__init__", "forward")
class _Conv(_ConvNd):
    """ConvNd, whose function is `function`."""

    function: str

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        channels = in_channels, out_channels
        self._set_up(channels, kernel_size, stride, padding, dilation, 0, groups, bias, padding_mode, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, self.padding_mode)
            padding = 0
        return getattr(F, self.function)(  # type: ignore[no-any-return]
            input, weight, bias, self.stride, padding, self.dilation, self.groups
        )


class Conv1d(_Conv):
    """Conv1d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
    padding_mode='zeros', device=None, dtype=None): a convolution of inputs (n, c, length)."""

    dims, function = 1, "conv1d"


class Conv2d(_Conv):
    """Conv2d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
    padding_mode='zeros', device=None, dtype=None): a convolution of inputs (n, c, height, width)."""

    dims, function = 2, "conv2d"


class Conv3d(_Conv):
    """Conv3d(in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
    padding_mode='zeros', device=None, dtype=None): a convolution of inputs (n, c, depth, height, width)."""

    dims, function = 3, "conv3d"


@named_by_subclass("__init__", "forward")
class _ConvTransposeNd(_ConvNd):
    """ConvTransposeNd, whose function is `function`."""

    transposed = True
    function: str

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        channels = in_channels, out_channels
        self._set_up(
            channels, kernel_size, stride, padding, dilation, output_padding, groups, bias, padding_mode, device, dtype
        )

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        extra = self.output_padding if output_size is None else self._output_padding(input, output_size)
        return getattr(F, self.function)(  # type: ignore[no-any-return]
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )

    def _output_padding(self, input: Tensor, output_size: Sequence[int]) -> tuple[int, ...]:
        """By how much the result has to be longer than its windows, to have the size that is asked for."""
        dims, batched = self.dims, input.dim() == self.dims + 2
        wanted = tuple(output_size)
        if len(wanted) == dims + 1 + batched:
            wanted = wanted[-dims:]
        if len(wanted) != dims:
            raise ValueError(
                f"ConvTranspose{dims}D: for {input.dim()}D input, output_size must have {dims} or {dims + 1 + batched} "
                f"elements (got {len(output_size)})"
            )
        padding: Any = self.padding
        each = zip(input.shape[-dims:], self.stride, padding, self.dilation, self.kernel_size)
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in each]
        most = [size + s - 1 for size, s in zip(least, self.stride)]
        if any([not low <= size <= high for low, size, high in zip(least, wanted, most)]):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} (for an "
                f"input of {input.shape[-dims:]})"
            )
        return tuple([size - low for size, low in zip(wanted, least)])


class ConvTranspose1d(_ConvTransposeNd):
    """ConvTranspose1d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
    bias=True, dilation=1, padding_mode='zeros', device=None, dtype=None): the transpose of Conv1d."""

    dims, function = 1, "conv_transpose1d"


class ConvTranspose2d(_ConvTransposeNd):
    """ConvTranspose2d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
    bias=True, dilation=1, padding_mode='zeros', device=None, dtype=None): the transpose of Conv2d."""

    dims, function = 2, "conv_transpose2d"


class ConvTranspose3d(_ConvTransposeNd):
    """ConvTranspose3d(in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1,
    bias=True, dilation=1, padding_mode='zeros', device=None, dtype=None): the transpose of Conv3d."""

    dims, function = 3, "conv_transpose3d"


# -- lazy ones --------------------------------------------------------------------------------------------------------


class _LazyConv(LazyModuleMixin):
    """Takes in_channels from the first input."""

    def _await_channels(
        self: Any, out_channels: int, bias: bool, device: Device | None = None, dtype: Dtype | None = None
    ) -> None:
        """The end of a constructor, which has made a module without channels and without a bias."""
        self.out_channels = out_channels
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self: Any) -> None:
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._channels_of(input)
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        with no_grad():
            self.weight.materialize(self._weight_shape())
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()

    def _channels_of(self: Any, input: Tensor) -> int:
        with_samples = self.dims + 2
        if input.dim() not in (with_samples - 1, with_samples):
            raise RuntimeError(
                f"Expected {with_samples - 1}D (unbatched) or {with_samples}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        return input.shape[-self.dims - 1]  # type: ignore[no-any-return]


@named_by_subclass("__init__")
class _LazyForward(_LazyConv):
    """LazyConvNd."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._await_channels(out_channels, bias, device, dtype)


@named_by_subclass("__init__")
class _LazyTransposed(_LazyConv):
    """LazyConvTransposeNd."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Device | None = None,
        dtype: Dtype | None = None,
    ) -> None:
        rest = groups, False, dilation, padding_mode, device, dtype
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, *rest)
        self._await_channels(out_channels, bias, device, dtype)


class LazyConv1d(_LazyForward, Conv1d):
    """LazyConv1d(out_channels, kernel_size, ...): a Conv1d that takes in_channels from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyForward, Conv2d):
    """LazyConv2d(out_channels, kernel_size, ...): a Conv2d that takes in_channels from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyForward, Conv3d):
    """LazyConv3d(out_channels, kernel_size, ...): a Conv3d that takes in_channels from its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):
    """LazyConvTranspose1d(out_channels, kernel_size, ...): a ConvTranspose1d that takes in_channels from its first
    input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):
    """LazyConvTranspose2d(out_channels, kernel_size, ...): a ConvTranspose2d that takes in_channels from its first
    input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):
    """LazyConvTranspose3d(out_channels, kernel_size, ...): a ConvTranspose3d that takes in_channels from its first
    input."""

    cls_to_become = ConvTranspose3d
