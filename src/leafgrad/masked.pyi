# Written by tools/make_stubs.py from the declarations of the operations: not to be edited.

import builtins
from collections.abc import Sequence
from typing import Any, Literal, overload

from leafgrad import return_types
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.signature import Device, Dim, DimOrDims, Dtype, Layout, MemoryFormat, Number, Rounding, Shape
from leafgrad.random import Generator

def amax(input: Tensor, dim: DimOrDims | None = None, *, keepdim: builtins.bool = False, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.amax(input, dim=None, *, keepdim=False, dtype=None, mask=None): the largest element that is kept."""
def amin(input: Tensor, dim: DimOrDims | None = None, *, keepdim: builtins.bool = False, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.amin(input, dim=None, *, keepdim=False, dtype=None, mask=None): the smallest element that is kept."""
def argmax(input: Tensor, dim: Dim | None = None, *, keepdim: builtins.bool = False, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None): the place of the largest element that is kept, in the dtype of the input."""
def argmin(input: Tensor, dim: Dim | None = None, *, keepdim: builtins.bool = False, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None): the place of the smallest element that is kept, in the dtype of the input."""
def cumprod(input: Tensor, dim: Dim, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.cumprod(input, dim, *, dtype=None, mask=None): the products of the elements up to each that are kept."""
def cumsum(input: Tensor, dim: Dim, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.cumsum(input, dim, *, dtype=None, mask=None): the sums of the elements up to each that are kept."""
def log_softmax(input: Tensor, dim: Dim, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.log_softmax(input, dim, *, dtype=None, mask=None): the logarithm of the softmax of those that are kept."""
def logaddexp(input: Tensor, other: Tensor, *, dtype: Dtype | None = None, input_mask: Tensor | None = None, other_mask: Tensor | None = None) -> Tensor:
    """masked.logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None): log(exp(x) + exp(y)), of that which is kept."""
def logsumexp(input: Tensor, dim: DimOrDims | None = None, *, keepdim: builtins.bool = False, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None): log(sum(exp(x))) of those that are kept."""
def mean(input: Tensor, dim: DimOrDims | None = None, *, keepdim: builtins.bool = False, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.mean(input, dim=None, *, keepdim=False, dtype=None, mask=None): the average of those that are kept."""
def median(input: Tensor, dim: Dim = -1, *, keepdim: builtins.bool = False, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.median(input, dim=-1, *, keepdim=False, dtype=None, mask=None): the lower median of those that are kept."""
def norm(input: Tensor, ord: builtins.float | None = 2.0, dim: DimOrDims | None = None, *, keepdim: builtins.bool = False, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None): the norm of those that are kept."""
def normalize(input: Tensor, ord: builtins.float, dim: Dim, *, eps: builtins.float = 1e-12, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None): those that are kept over their norm, which counts as eps if it is less."""
def prod(input: Tensor, dim: DimOrDims | None = None, *, keepdim: builtins.bool = False, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.prod(input, dim=None, *, keepdim=False, dtype=None, mask=None): the product of those that are kept."""
def softmax(input: Tensor, dim: Dim, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.softmax(input, dim, *, dtype=None, mask=None): exp(x) / sum(exp(x)) of those that are kept."""
def softmin(input: Tensor, dim: Dim, *, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.softmin(input, dim, *, dtype=None, mask=None): exp(-x) / sum(exp(-x)) of those that are kept."""
def std(input: Tensor, dim: DimOrDims | None = None, unbiased: builtins.bool | None = None, *, correction: builtins.float | None = None, keepdim: builtins.bool = False, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None): the standard deviation of those that are kept."""
def sum(input: Tensor, dim: DimOrDims | None = None, *, keepdim: builtins.bool = False, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.sum(input, dim=None, *, keepdim=False, dtype=None, mask=None): the sum of the elements that are kept."""
def var(input: Tensor, dim: DimOrDims | None = None, unbiased: builtins.bool | None = None, *, correction: builtins.float | None = None, keepdim: builtins.bool = False, dtype: Dtype | None = None, mask: Tensor | None = None) -> Tensor:
    """masked.var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None): the variance of those that are kept."""
