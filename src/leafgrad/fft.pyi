# Written by tools/make_stubs.py from the declarations of the operations: not to be edited.

import builtins
from collections.abc import Sequence
from typing import Any, Literal, overload

from leafgrad import return_types
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.signature import Device, Dim, DimOrDims, Dtype, Layout, MemoryFormat, Number, Rounding, Shape
from leafgrad.random import Generator

def fft(input: Tensor, n: builtins.int | None = None, dim: Dim = -1, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.fft(input, n=None, dim=-1, norm=None): the sums over x of input[x] exp(-2 pi i k x / n)."""
def fft2(input: Tensor, s: Shape | builtins.int | None = None, dim: DimOrDims = (-2, -1), norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.fft2(input, s=None, dim=(-2, -1), norm=None): the Fourier transform along two dimensions."""
def fftfreq(n: builtins.int, d: builtins.float = 1.0, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """fft.fftfreq(n, d=1.0, *, dtype=None, layout=None, device=None, requires_grad=False): the frequencies of an fft of n data points that are d apart."""
def fftn(input: Tensor, s: Shape | builtins.int | None = None, dim: DimOrDims | None = None, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.fftn(input, s=None, dim=None, norm=None): the Fourier transform along some dimensions, or all."""
def fftshift(input: Tensor, dim: DimOrDims | None = None) -> Tensor:
    """fft.fftshift(input, dim=None): an fft with the frequency zero in the middle."""
def hfft(input: Tensor, n: builtins.int | None = None, dim: Dim = -1, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.hfft(input, n=None, dim=-1, norm=None): the fft of a Hermitian signal, of which the first half is given: real numbers, n of them."""
def hfft2(input: Tensor, s: Shape | builtins.int | None = None, dim: DimOrDims = (-2, -1), norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.hfft2(input, s=None, dim=(-2, -1), norm=None): the Fourier transform of a Hermitian signal, of which half is given, along two dimensions."""
def hfftn(input: Tensor, s: Shape | builtins.int | None = None, dim: DimOrDims | None = None, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.hfftn(input, s=None, dim=None, norm=None): the Fourier transform of a Hermitian signal, of which half is given, along some dimensions, or all."""
def ifft(input: Tensor, n: builtins.int | None = None, dim: Dim = -1, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.ifft(input, n=None, dim=-1, norm=None): the inverse of fft."""
def ifft2(input: Tensor, s: Shape | builtins.int | None = None, dim: DimOrDims = (-2, -1), norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.ifft2(input, s=None, dim=(-2, -1), norm=None): the inverse of fft along two dimensions."""
def ifftn(input: Tensor, s: Shape | builtins.int | None = None, dim: DimOrDims | None = None, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.ifftn(input, s=None, dim=None, norm=None): the inverse of fft along some dimensions, or all."""
def ifftshift(input: Tensor, dim: DimOrDims | None = None) -> Tensor:
    """fft.ifftshift(input, dim=None): the inverse of fftshift."""
def ihfft(input: Tensor, n: builtins.int | None = None, dim: Dim = -1, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.ihfft(input, n=None, dim=-1, norm=None): the inverse of hfft."""
def ihfft2(input: Tensor, s: Shape | builtins.int | None = None, dim: DimOrDims = (-2, -1), norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.ihfft2(input, s=None, dim=(-2, -1), norm=None): the inverse of hfft along two dimensions."""
def ihfftn(input: Tensor, s: Shape | builtins.int | None = None, dim: DimOrDims | None = None, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.ihfftn(input, s=None, dim=None, norm=None): the inverse of hfft along some dimensions, or all."""
def irfft(input: Tensor, n: builtins.int | None = None, dim: Dim = -1, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.irfft(input, n=None, dim=-1, norm=None): the inverse of rfft; n is the number of real numbers."""
def irfft2(input: Tensor, s: Shape | builtins.int | None = None, dim: DimOrDims = (-2, -1), norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.irfft2(input, s=None, dim=(-2, -1), norm=None): the inverse of rfft along two dimensions."""
def irfftn(input: Tensor, s: Shape | builtins.int | None = None, dim: DimOrDims | None = None, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.irfftn(input, s=None, dim=None, norm=None): the inverse of rfft along some dimensions, or all."""
def rfft(input: Tensor, n: builtins.int | None = None, dim: Dim = -1, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.rfft(input, n=None, dim=-1, norm=None): the first half of the fft of real numbers."""
def rfft2(input: Tensor, s: Shape | builtins.int | None = None, dim: DimOrDims = (-2, -1), norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.rfft2(input, s=None, dim=(-2, -1), norm=None): the first half of the Fourier transform of real numbers along two dimensions."""
def rfftfreq(n: builtins.int, d: builtins.float = 1.0, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """fft.rfftfreq(n, d=1.0, *, dtype=None, layout=None, device=None, requires_grad=False): the frequencies of an rfft of n data points that are d apart."""
def rfftn(input: Tensor, s: Shape | builtins.int | None = None, dim: DimOrDims | None = None, norm: builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """fft.rfftn(input, s=None, dim=None, norm=None): the first half of the Fourier transform of real numbers along some dimensions, or all."""
