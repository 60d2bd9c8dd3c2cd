# Written by tools/make_stubs.py from the declarations of the operations: not to be edited.

import builtins
from collections.abc import Sequence
from typing import Any, Literal, overload

from leafgrad import return_types
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.signature import Device, Dim, DimOrDims, Dtype, Layout, MemoryFormat, Number, Rounding, Shape
from leafgrad.random import Generator

def bartlett(M: builtins.int, *, sym: builtins.bool = True, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """signal.windows.bartlett(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): a triangle."""
def blackman(M: builtins.int, *, sym: builtins.bool = True, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """signal.windows.blackman(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): 0.42 - 0.5 cos(x) + 0.08 cos(2 x)."""
def cosine(M: builtins.int, *, sym: builtins.bool = True, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """signal.windows.cosine(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): half a period of a sine."""
def exponential(M: builtins.int, *, center: builtins.float | None = None, tau: builtins.float = 1.0, sym: builtins.bool = True, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """signal.windows.exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): exp(-|k - center| / tau)."""
def gaussian(M: builtins.int, *, std: builtins.float = 1.0, sym: builtins.bool = True, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """signal.windows.gaussian(M, *, std=1.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): the bell of a normal distribution."""
def general_cosine(M: builtins.int, *, a: Any, sym: builtins.bool = True, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """signal.windows.general_cosine(M, *, a, sym=True, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): a[0] - a[1] cos(x) + a[2] cos(2 x) - ..."""
def general_hamming(M: builtins.int, *, alpha: builtins.float = 0.54, sym: builtins.bool = True, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """signal.windows.general_hamming(M, *, alpha=0.54, sym=True, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): alpha - (1 - alpha) cos(x)."""
def hamming(M: builtins.int, *, sym: builtins.bool = True, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """signal.windows.hamming(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): 0.54 - 0.46 cos(x)."""
def hann(M: builtins.int, *, sym: builtins.bool = True, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """signal.windows.hann(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): (1 - cos(x)) / 2."""
def kaiser(M: builtins.int, *, beta: builtins.float = 12.0, sym: builtins.bool = True, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """signal.windows.kaiser(M, *, beta=12.0, sym=True, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): a Bessel function of a half circle."""
def nuttall(M: builtins.int, *, sym: builtins.bool = True, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """signal.windows.nuttall(M, *, sym=True, dtype=None, layout=strided, device=None, requires_grad=False, pin_memory=False): four cosines, whose weights keep what leaks low."""
