# Written by tools/make_stubs.py from the declarations of the operations: not to be edited.

import builtins
from collections.abc import Sequence
from typing import Any, Literal, overload

from leafgrad import _C as _C
from leafgrad import __config__ as __config__
from leafgrad import __future__ as __future__
from leafgrad import _custom_ops as _custom_ops
from leafgrad import _dynamo as _dynamo
from leafgrad import _functorch as _functorch
from leafgrad import _inductor as _inductor
from leafgrad import _jit_internal as _jit_internal
from leafgrad import _prims_common as _prims_common
from leafgrad import _subclasses as _subclasses
from leafgrad import _utils as _utils
from leafgrad import _vmap_internals as _vmap_internals
from leafgrad import accelerator as accelerator
from leafgrad import amp as amp
from leafgrad import ao as ao
from leafgrad import autograd as autograd
from leafgrad import backends as backends
from leafgrad import compiler as compiler
from leafgrad import cpu as cpu
from leafgrad import cuda as cuda
from leafgrad import distributed as distributed
from leafgrad import distributions as distributions
from leafgrad import export as export
from leafgrad import fft as fft
from leafgrad import func as func
from leafgrad import functional as functional
from leafgrad import futures as futures
from leafgrad import fx as fx
from leafgrad import hub as hub
from leafgrad import io as io
from leafgrad import jit as jit
from leafgrad import library as library
from leafgrad import linalg as linalg
from leafgrad import masked as masked
from leafgrad import mps as mps
from leafgrad import mtia as mtia
from leafgrad import multiprocessing as multiprocessing
from leafgrad import nested as nested
from leafgrad import nn as nn
from leafgrad import onnx as onnx
from leafgrad import ops as ops
from leafgrad import optim as optim
from leafgrad import overrides as overrides
from leafgrad import profiler as profiler
from leafgrad import quantization as quantization
from leafgrad import quasirandom as quasirandom
from leafgrad import random as random
from leafgrad import return_types as return_types
from leafgrad import serialization as serialization
from leafgrad import signal as signal
from leafgrad import sparse as sparse
from leafgrad import special as special
from leafgrad import storage as storage
from leafgrad import testing as testing
from leafgrad import torch_version as torch_version
from leafgrad import types as types
from leafgrad import utils as utils
from leafgrad import version as version
from leafgrad import xpu as xpu
from leafgrad._device import Size as Size
from leafgrad._device import device as device
from leafgrad._device import layout as layout
from leafgrad._device import memory_format as memory_format
from leafgrad._dtypes import dtype as dtype
from leafgrad._dtypes import finfo as finfo
from leafgrad._dtypes import get_default_dtype as get_default_dtype
from leafgrad._dtypes import iinfo as iinfo
from leafgrad._dtypes import set_default_dtype as set_default_dtype
from leafgrad._explain.check import check as check
from leafgrad._explain.explanation import explain as explain
from leafgrad._explain.grad_report import grad_report as grad_report
from leafgrad._explain.graph import graph as graph
from leafgrad._explain.graph_memory import graph_memory as graph_memory
from leafgrad._explain.guard import guard as guard
from leafgrad._explain.summary import summary as summary
from leafgrad._explain.vjp_report import vjp_report as vjp_report
from leafgrad._explain.why import why as why
from leafgrad._files.reading import load as load
from leafgrad._files.writing import save as save
from leafgrad._library.tags import Tag as Tag
from leafgrad._settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from leafgrad._settings import compiled_with_cxx11_abi as compiled_with_cxx11_abi
from leafgrad._settings import get_default_device as get_default_device
from leafgrad._settings import get_deterministic_debug_mode as get_deterministic_debug_mode
from leafgrad._settings import get_device_module as get_device_module
from leafgrad._settings import get_file_path as get_file_path
from leafgrad._settings import get_float32_matmul_precision as get_float32_matmul_precision
from leafgrad._settings import get_num_interop_threads as get_num_interop_threads
from leafgrad._settings import get_num_threads as get_num_threads
from leafgrad._settings import is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled
from leafgrad._settings import is_inference_mode_enabled as is_inference_mode_enabled
from leafgrad._settings import is_vulkan_available as is_vulkan_available
from leafgrad._settings import is_warn_always_enabled as is_warn_always_enabled
from leafgrad._settings import memory_stats as memory_stats
from leafgrad._settings import set_default_device as set_default_device
from leafgrad._settings import set_default_tensor_type as set_default_tensor_type
from leafgrad._settings import set_deterministic_debug_mode as set_deterministic_debug_mode
from leafgrad._settings import set_float32_matmul_precision as set_float32_matmul_precision
from leafgrad._settings import set_flush_denormal as set_flush_denormal
from leafgrad._settings import set_num_interop_threads as set_num_interop_threads
from leafgrad._settings import set_num_threads as set_num_threads
from leafgrad._settings import set_warn_always as set_warn_always
from leafgrad._settings import show_config as show_config
from leafgrad._settings import typename as typename
from leafgrad._settings import use_deterministic_algorithms as use_deterministic_algorithms
from leafgrad._symbolic import SymBool as SymBool
from leafgrad._symbolic import SymFloat as SymFloat
from leafgrad._symbolic import SymInt as SymInt
from leafgrad._symbolic import cond as cond
from leafgrad._symbolic import sym_float as sym_float
from leafgrad._symbolic import sym_int as sym_int
from leafgrad._symbolic import sym_ite as sym_ite
from leafgrad._symbolic import sym_max as sym_max
from leafgrad._symbolic import sym_min as sym_min
from leafgrad._symbolic import sym_not as sym_not
from leafgrad._symbolic import sym_sqrt as sym_sqrt
from leafgrad._symbolic import sym_sum as sym_sum
from leafgrad._tensor.printing import set_printoptions as set_printoptions
from leafgrad._tensor.tensor import Tensor as Tensor
from leafgrad.amp.autocast_mode import autocast as autocast
from leafgrad.amp.autocast_mode import autocast_decrement_nesting as autocast_decrement_nesting
from leafgrad.amp.autocast_mode import autocast_increment_nesting as autocast_increment_nesting
from leafgrad.amp.autocast_mode import clear_autocast_cache as clear_autocast_cache
from leafgrad.amp.autocast_mode import get_autocast_cpu_dtype as get_autocast_cpu_dtype
from leafgrad.amp.autocast_mode import get_autocast_dtype as get_autocast_dtype
from leafgrad.amp.autocast_mode import get_autocast_gpu_dtype as get_autocast_gpu_dtype
from leafgrad.amp.autocast_mode import is_autocast_cache_enabled as is_autocast_cache_enabled
from leafgrad.amp.autocast_mode import is_autocast_cpu_enabled as is_autocast_cpu_enabled
from leafgrad.amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
from leafgrad.amp.autocast_mode import set_autocast_cache_enabled as set_autocast_cache_enabled
from leafgrad.amp.autocast_mode import set_autocast_cpu_dtype as set_autocast_cpu_dtype
from leafgrad.amp.autocast_mode import set_autocast_cpu_enabled as set_autocast_cpu_enabled
from leafgrad.amp.autocast_mode import set_autocast_dtype as set_autocast_dtype
from leafgrad.amp.autocast_mode import set_autocast_enabled as set_autocast_enabled
from leafgrad.amp.autocast_mode import set_autocast_gpu_dtype as set_autocast_gpu_dtype
from leafgrad.amp.grad_scaler import GradScaler as GradScaler
from leafgrad.autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from leafgrad.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from leafgrad.autograd.anomaly_mode import set_anomaly_enabled as set_anomaly_enabled
from leafgrad.autograd.grad_mode import enable_grad as enable_grad
from leafgrad.autograd.grad_mode import inference_mode as inference_mode
from leafgrad.autograd.grad_mode import is_grad_enabled as is_grad_enabled
from leafgrad.autograd.grad_mode import no_grad as no_grad
from leafgrad.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from leafgrad.compiler import compile as compile
from leafgrad.cuda import AcceleratorError as AcceleratorError
from leafgrad.cuda import OutOfMemoryError as OutOfMemoryError
from leafgrad.func.vmap import vmap as vmap
from leafgrad.futures import Future as Future
from leafgrad.nn.numbered_losses import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from leafgrad.nn.numbered_losses import cosine_embedding_loss as cosine_embedding_loss
from leafgrad.nn.numbered_losses import ctc_loss as ctc_loss
from leafgrad.nn.numbered_losses import hinge_embedding_loss as hinge_embedding_loss
from leafgrad.nn.numbered_losses import kl_div as kl_div
from leafgrad.nn.numbered_losses import margin_ranking_loss as margin_ranking_loss
from leafgrad.nn.numbered_losses import poisson_nll_loss as poisson_nll_loss
from leafgrad.nn.numbered_losses import triplet_margin_loss as triplet_margin_loss
from leafgrad.ops.creation.legacy import TensorType as TensorType
from leafgrad.ops.random.generator import Generator as Generator
from leafgrad.ops.shape.storage import StorageType as StorageType
from leafgrad.ops.shape.storage import TypedStorage as TypedStorage
from leafgrad.ops.shape.storage import UntypedStorage as UntypedStorage
from leafgrad.utils.dlpack import to_dlpack as to_dlpack
from leafgrad.ops.signature import Device, Dim, DimOrDims, Dtype, Layout, MemoryFormat, Number, Rounding, Shape

BFloat16Storage: StorageType
BFloat16Tensor: TensorType
BoolStorage: StorageType
BoolTensor: TensorType
ByteStorage: StorageType
ByteTensor: TensorType
CharStorage: StorageType
CharTensor: TensorType
ComplexDoubleStorage: StorageType
ComplexFloatStorage: StorageType
DoubleStorage: StorageType
DoubleTensor: TensorType
FloatStorage: StorageType
FloatTensor: TensorType
HalfStorage: StorageType
HalfTensor: TensorType
IntStorage: StorageType
IntTensor: TensorType
LongStorage: StorageType
LongTensor: TensorType
ShortStorage: StorageType
ShortTensor: TensorType
Storage: StorageType
bfloat16: dtype
bool: dtype
cdouble: dtype
cfloat: dtype
chalf: dtype
channels_last: memory_format
channels_last_3d: memory_format
complex128: dtype
complex32: dtype
complex64: dtype
contiguous_format: memory_format
default_generator: Generator
double: dtype
e: builtins.float
float: dtype
float16: dtype
float32: dtype
float64: dtype
float8_e4m3fn: dtype
float8_e4m3fnuz: dtype
float8_e5m2: dtype
float8_e5m2fnuz: dtype
float8_e8m0fnu: dtype
half: dtype
inf: builtins.float
int: dtype
int16: dtype
int32: dtype
int64: dtype
int8: dtype
jagged: layout
legacy_contiguous_format: memory_format
long: dtype
nan: builtins.float
newaxis: None
pi: builtins.float
preserve_format: memory_format
short: dtype
sparse_bsc: layout
sparse_bsr: layout
sparse_coo: layout
sparse_csc: layout
sparse_csr: layout
strided: layout
uint16: dtype
uint32: dtype
uint64: dtype
uint8: dtype
__version__: builtins.str

def abs(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the distance of each element from zero."""
def abs_(input: Tensor) -> Tensor:
    """abs, in place; not for complex numbers, whose absolute values are real."""
def absolute(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the distance of each element from zero."""
def absolute_(input: Tensor) -> Tensor:
    """abs, in place; not for complex numbers, whose absolute values are real."""
def acos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the angle whose cosine is each element."""
def acos_(input: Tensor) -> Tensor:
    """acos, in place."""
def acosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the number whose hyperbolic cosine is each element."""
def acosh_(input: Tensor) -> Tensor:
    """acosh, in place."""
def adaptive_avg_pool1d(input: Tensor, output_size: DimOrDims) -> Tensor:
    """the means of as many windows."""
def adaptive_max_pool1d(input: Tensor, output_size: DimOrDims) -> tuple[Tensor, Tensor]:
    """the largest elements of as many windows, and their indices."""
def add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """input + alpha * other."""
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta input + alpha times the sum of all products."""
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None) -> Tensor:
    """input + value * tensor1 / tensor2."""
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1, out: Tensor | None = None) -> Tensor:
    """input + value * tensor1 * tensor2."""
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta * input + alpha * (mat1 @ mat2)."""
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta input + alpha mat @ vec."""
def addmv_(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """addmv, in place."""
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta input + alpha outer(vec1, vec2)."""
def adjoint(input: Tensor) -> Tensor:
    """the last two dimensions exchanged, and conjugated."""
def affine_grid_generator(theta: Tensor, size: Shape, align_corners: builtins.bool) -> Tensor:
    """where the elements of images of this size are in images that are mapped to them by theta, (n, 2, 3) or (n, 3, 4)."""
def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """a copy."""
def all(input: Tensor, dim: DimOrDims | None = None, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """are all elements nonzero, in the tensor or along dimensions?"""
def allclose(input: Tensor, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
    """is every element close to the other?"""
def alpha_dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """elements switched off with probability p."""
def alpha_dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """elements switched off with probability p, in place."""
def amax(input: Tensor, dim: DimOrDims | None = (), keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """the largest element of all, or along dimensions."""
def amin(input: Tensor, dim: DimOrDims | None = (), keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """the smallest element of all, or along dimensions."""
def aminmax(input: Tensor, *, dim: Dim | None = None, keepdim: builtins.bool = False, out: tuple[Tensor, ...] | None = None) -> return_types.aminmax:
    """the smallest and the largest element, as (min, max)."""
def angle(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the angle of each complex number from the axis of the real ones; pi for negative real numbers."""
def any(input: Tensor, dim: DimOrDims | None = None, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """is any element nonzero, in the tensor or along dimensions?"""
@overload
def arange(end: Number, *, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """start, start + step, ... up to but without end."""
@overload
def arange(start: Number, end: Number, step: Number = 1, *, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor: ...
def arccos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the angle whose cosine is each element."""
def arccos_(input: Tensor) -> Tensor:
    """arccos, in place."""
def arccosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the number whose hyperbolic cosine is each element."""
def arccosh_(input: Tensor) -> Tensor:
    """arccosh, in place."""
def arcsin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the angle whose sine is each element."""
def arcsin_(input: Tensor) -> Tensor:
    """arcsin, in place."""
def arcsinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the number whose hyperbolic sine is each element."""
def arcsinh_(input: Tensor) -> Tensor:
    """arcsinh, in place."""
def arctan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the angle whose tangent is each element."""
def arctan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the angle from the axis of `other` to the point (other, input), between -pi and pi."""
def arctan_(input: Tensor) -> Tensor:
    """arctan, in place."""
def arctanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the number whose hyperbolic tangent is each element."""
def arctanh_(input: Tensor) -> Tensor:
    """arctanh, in place."""
def argmax(input: Tensor, dim: Dim | None = None, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """the index of the largest element, the first of equals."""
def argmin(input: Tensor, dim: Dim | None = None, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """the index of the smallest element, the first of equals."""
def argsort(input: Tensor, dim: Dim = -1, descending: builtins.bool = False, *, stable: builtins.bool = False) -> Tensor:
    """the indices that sort along a dimension."""
def argwhere(input: Tensor) -> Tensor:
    """the positions of the elements that are not zero, one row for each."""
def as_strided(input: Tensor, size: Shape, stride: Shape, storage_offset: builtins.int | None = None) -> Tensor:
    """the memory of input under any shape and strides; the offset counts from the beginning of the memory, by default it is input's own."""
def as_strided_copy(input: Tensor, size: Shape, stride: Shape, storage_offset: builtins.int | None = None, *, out: Tensor | None = None) -> Tensor:
    """a copy of what as_strided shows."""
def as_strided_scatter(input: Tensor, src: Tensor, size: Shape, stride: Shape, storage_offset: builtins.int | None = None) -> Tensor:
    """a copy of input with the elements that as_strided shows replaced by src."""
def as_tensor(data: Any, dtype: Dtype | None = None, device: Device | None = None) -> Tensor:
    """data itself if it is a tensor, its memory if it is a NumPy array, else a new tensor."""
def asarray(obj: Any, *, dtype: Dtype | None = None, device: Device | None = None, copy: builtins.bool | None = None, requires_grad: builtins.bool | None = None) -> Tensor:
    """a tensor of obj, which shares its memory where that is possible (always with copy=False, or an error; never with copy=True)."""
def asin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the angle whose sine is each element."""
def asin_(input: Tensor) -> Tensor:
    """asin, in place."""
def asinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the number whose hyperbolic sine is each element."""
def asinh_(input: Tensor) -> Tensor:
    """asinh, in place."""
def atan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the angle whose tangent is each element."""
def atan2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the angle from the axis of `other` to the point (other, input), between -pi and pi."""
def atan_(input: Tensor) -> Tensor:
    """atan, in place."""
def atanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the number whose hyperbolic tangent is each element."""
def atanh_(input: Tensor) -> Tensor:
    """atanh, in place."""
@overload
def atleast_1d(tensor: Tensor) -> Tensor:
    """numbers as vectors of one element; everything else as it is."""
@overload
def atleast_1d(first: Tensor, second: Tensor, *more: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_1d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
@overload
def atleast_2d(tensor: Tensor) -> Tensor:
    """numbers and vectors as matrices of one row."""
@overload
def atleast_2d(first: Tensor, second: Tensor, *more: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_2d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
@overload
def atleast_3d(tensor: Tensor) -> Tensor:
    """with three dimensions, (n) as (1, n, 1) and (n, m) as (n, m, 1)."""
@overload
def atleast_3d(first: Tensor, second: Tensor, *more: Tensor) -> tuple[Tensor, ...]: ...
@overload
def atleast_3d(tensors: Sequence[Tensor]) -> tuple[Tensor, ...]: ...
def avg_pool1d(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = (), padding: DimOrDims = 0, ceil_mode: builtins.bool = False, count_include_pad: builtins.bool = True) -> Tensor:
    """the mean of each window."""
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """beta input + alpha bmm(batch1, batch2)."""
def bartlett_window(window_length: builtins.int, periodic: builtins.bool = True, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """a triangle."""
def batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: builtins.bool, momentum: builtins.float, eps: builtins.float, cudnn_enabled: builtins.bool) -> Tensor:
    """the channels, dimension 1, each with the mean 0 and the variance 1, then times weight plus bias. In training these are the mean and the variance of the input, and the running ones follow them; otherwise the running ones."""
def bernoulli(input: Tensor, p: builtins.float | None = None, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """ones with the probabilities that input gives (or all with probability p), zeros elsewhere."""
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """the sum over i and j of input1[..., i] weight[o, i, j] input2[..., j], plus bias[o]."""
def bincount(input: Tensor, weights: Tensor | None = None, minlength: builtins.int = 0) -> Tensor:
    """how often each of the numbers 0, 1, ... occurs among non-negative integers, or the sum of the weights there."""
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """how many of `count` trials succeed, each with probability `prob`."""
def bitwise_and(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """bits set in both."""
def bitwise_left_shift(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """bits moved up."""
def bitwise_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """each element with all bits flipped."""
def bitwise_or(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """bits set in one or both."""
def bitwise_right_shift(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """bits moved down."""
def bitwise_xor(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """bits set in exactly one."""
def blackman_window(window_length: builtins.int, periodic: builtins.bool = True, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x)."""
def block_diag(*tensors: Tensor) -> Tensor:
    """a matrix of zeros with these matrices along its diagonal; vectors are rows."""
def bmm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the products of two equally long stacks of matrices, (b, n, k) with (b, k, m)."""
def broadcast_shapes(*shapes: builtins.int | Shape) -> Size:
    """the one shape that tensors of all these shapes broadcast to."""
def broadcast_tensors(*tensors: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]:
    """all of them expanded to the one shape that they broadcast to."""
@overload
def broadcast_to(input: Tensor, *size: builtins.int) -> Tensor:
    """another name of expand."""
@overload
def broadcast_to(input: Tensor, size: Shape) -> Tensor: ...
def bucketize(input: Tensor | Number, boundaries: Tensor, *, out_int32: builtins.bool = False, right: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """the number of the interval in which each element lies, between boundaries in order; with right=True an element on a boundary is in the interval behind it."""
def can_cast(from_: Dtype, to: Dtype) -> builtins.bool:
    """may values of a dtype be put into a tensor of another, in place?"""
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """all ways to take one element of each vector, a row for each; of one vector, itself."""
def cat(tensors: Sequence[Tensor], dim: Dim = 0, *, out: Tensor | None = None) -> Tensor:
    """tensors one after the other along a dimension."""
def cdist(x1: Tensor, x2: Tensor, p: builtins.float = 2.0, compute_mode: builtins.str | None = 'use_mm_for_euclid_dist_if_necessary') -> Tensor:
    """the distances between all rows of two matrices."""
def ceil(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the smallest integer not below each element."""
def ceil_(input: Tensor) -> Tensor:
    """ceil, in place."""
def celu(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """x above zero, alpha (exp(x / alpha) - 1) below."""
def celu_(input: Tensor, alpha: Number = 1.0) -> Tensor:
    """celu, in place."""
def chain_matmul(*matrices: Tensor) -> Tensor:
    """the product of matrices. torch.linalg.multi_dot is the newer form."""
def channel_shuffle(input: Tensor, groups: builtins.int) -> Tensor:
    """of channels (n, groups * c, ...), the first of each group, then the second."""
def cholesky(input: Tensor, upper: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """the triangular matrix L of A = L L*, or its adjoint. torch.linalg.cholesky is the newer form."""
def cholesky_inverse(input: Tensor, upper: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """the inverse of L L*, or of L* L, if L is upper."""
def cholesky_solve(input: Tensor, input2: Tensor, upper: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """the solution of AX = B, where A is L L* (or L* L, if that is upper)."""
def chunk(input: Tensor, chunks: builtins.int, dim: Dim = 0) -> tuple[Tensor, ...]:
    """at most `chunks` pieces of equal size; the last may be smaller."""
def clamp(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None, *, out: Tensor | None = None) -> Tensor:
    """each element, but not below min and not above max."""
def clamp_(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
    """clamp, in place."""
def clamp_max(input: Tensor, max: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """each element, but not above max."""
def clamp_max_(input: Tensor, max: Tensor | Number) -> Tensor:
    """clamp_max, in place."""
def clamp_min(input: Tensor, min: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """each element, but not below min."""
def clamp_min_(input: Tensor, min: Tensor | Number) -> Tensor:
    """clamp_min, in place."""
def clip(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None, *, out: Tensor | None = None) -> Tensor:
    """each element, but not below min and not above max."""
def clip_(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
    """clamp, in place."""
def clone(input: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """a copy through which gradients flow."""
def column_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """side by side; numbers and vectors are columns."""
def combinations(input: Tensor, r: builtins.int = 2, with_replacement: builtins.bool = False) -> Tensor:
    """all ways to take r elements of a vector, a row for each."""
def complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor:
    """complex numbers with these parts."""
def concat(tensors: Sequence[Tensor], dim: Dim = 0, *, out: Tensor | None = None) -> Tensor:
    """tensors one after the other along a dimension."""
def concatenate(tensors: Sequence[Tensor], dim: Dim = 0, *, out: Tensor | None = None) -> Tensor:
    """tensors one after the other along a dimension."""
def conj(input: Tensor) -> Tensor:
    """the complex conjugate; real tensors stay as they are."""
def conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the complex conjugate, computed at once."""
def conj_physical_(input: Tensor) -> Tensor:
    """conj_physical, in place."""
def constant_pad_nd(input: Tensor, pad: Shape, value: Number = 0) -> Tensor:
    """with `value` around the input; pad = (left, right, top, bottom, ...). Where numbers are negative, elements are left out."""
@overload
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, dilation: DimOrDims = 1, groups: builtins.int = 1) -> Tensor:
    """the sum of each window of the input times the weight, plus the bias. padding='same' keeps the size, 'valid' is no padding."""
@overload
def conv1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: builtins.str = 'valid', dilation: DimOrDims = 1, groups: builtins.int = 1) -> Tensor: ...
@overload
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, dilation: DimOrDims = 1, groups: builtins.int = 1) -> Tensor:
    """the sum of each window of the input times the weight, plus the bias. padding='same' keeps the size, 'valid' is no padding."""
@overload
def conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: builtins.str = 'valid', dilation: DimOrDims = 1, groups: builtins.int = 1) -> Tensor: ...
@overload
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, dilation: DimOrDims = 1, groups: builtins.int = 1) -> Tensor:
    """the sum of each window of the input times the weight, plus the bias. padding='same' keeps the size, 'valid' is no padding."""
@overload
def conv3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: builtins.str = 'valid', dilation: DimOrDims = 1, groups: builtins.int = 1) -> Tensor: ...
def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: builtins.int = 0) -> Tensor:
    """the convolution of an input (time, batch, channels) with a weight (width, channels, output channels), plus the bias, with `pad` zeros before and after."""
def conv_transpose1d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, output_padding: DimOrDims = 0, groups: builtins.int = 1, dilation: DimOrDims = 1) -> Tensor:
    """the transpose of conv1d: each element of the input times the weight, added up where the windows are."""
def conv_transpose2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, output_padding: DimOrDims = 0, groups: builtins.int = 1, dilation: DimOrDims = 1) -> Tensor:
    """the transpose of conv2d: each element of the input times the weight, added up where the windows are."""
def conv_transpose3d(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: DimOrDims = 1, padding: DimOrDims = 0, output_padding: DimOrDims = 0, groups: builtins.int = 1, dilation: DimOrDims = 1) -> Tensor:
    """the transpose of conv3d: each element of the input times the weight, added up where the windows are."""
def convolution(input: Tensor, weight: Tensor, bias: Tensor | None, stride: Shape, padding: Shape, dilation: Shape, transposed: builtins.bool, output_padding: Shape, groups: builtins.int) -> Tensor:
    """the sum of each window of an input (n, c, ...) times the weight (o, c / groups, ...); or the transpose of that."""
def copysign(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """the size of input with the sign of other, element by element."""
def corrcoef(input: Tensor) -> Tensor:
    """the correlations of variables, which are rows."""
def cos(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the cosine of each element."""
def cos_(input: Tensor) -> Tensor:
    """cos, in place."""
def cosh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the hyperbolic cosine of each element."""
def cosh_(input: Tensor) -> Tensor:
    """cosh, in place."""
def cosine_similarity(x1: Tensor, x2: Tensor, dim: builtins.int = 1, eps: builtins.float = 1e-08) -> Tensor:
    """the cosine of the angle between vectors along a dimension, whose norms count as eps at least."""
def count_nonzero(input: Tensor, dim: DimOrDims | None = None) -> Tensor:
    """how many elements are not zero, in the tensor or along dimensions."""
def cov(input: Tensor, *, correction: builtins.int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
    """the covariances of variables, which are rows, over observations, which are columns: each so many times, or of such weight."""
def cross(input: Tensor, other: Tensor, dim: Dim | None = None, *, out: Tensor | None = None) -> Tensor:
    """the vector product along a dimension of size three: the first such, if none is given."""
def cummax(input: Tensor, dim: Dim, *, out: tuple[Tensor, ...] | None = None) -> return_types.cummax:
    """the largest element up to each along a dimension, and its index."""
def cummin(input: Tensor, dim: Dim, *, out: tuple[Tensor, ...] | None = None) -> return_types.cummin:
    """the smallest element up to each along a dimension, and its index."""
def cumprod(input: Tensor, dim: Dim, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """the product up to and including each element along a dimension."""
def cumsum(input: Tensor, dim: Dim, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """the sum up to and including each element along a dimension."""
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: Dim = -1) -> Tensor:
    """the areas under a curve up to each of its points."""
def deg2rad(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """angles in degrees as angles in radians."""
def deg2rad_(input: Tensor) -> Tensor:
    """deg2rad, in place."""
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the determinant of a square matrix."""
def detach(input: Tensor) -> Tensor:
    """the same memory without the history: gradients end here."""
def diag(input: Tensor, diagonal: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """a matrix with this vector on its diagonal, or a copy of the diagonal of this matrix."""
def diag_embed(input: Tensor, offset: builtins.int = 0, dim1: Dim = -2, dim2: Dim = -1) -> Tensor:
    """zeros with the last dimension of input on the diagonal of two dimensions of the result."""
def diagflat(input: Tensor, offset: builtins.int = 0) -> Tensor:
    """a matrix with all elements of input on its diagonal."""
def diagonal(input: Tensor, offset: builtins.int = 0, dim1: Dim = 0, dim2: Dim = 1) -> Tensor:
    """the diagonal of two dimensions, as the last one of the result."""
def diagonal_copy(input: Tensor, offset: builtins.int = 0, dim1: Dim = 0, dim2: Dim = 1, *, out: Tensor | None = None) -> Tensor:
    """a copy of a diagonal."""
def diagonal_scatter(input: Tensor, src: Tensor, offset: builtins.int = 0, dim1: Dim = 0, dim2: Dim = 1) -> Tensor:
    """a copy of input with a diagonal replaced by src."""
def diff(input: Tensor, n: builtins.int = 1, dim: Dim = -1, prepend: Tensor | None = None, append: Tensor | None = None, *, out: Tensor | None = None) -> Tensor:
    """the differences of neighbours along a dimension, n times; what is to stand before and behind may be given."""
def digamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the derivative of lgamma at each element."""
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor:
    """the p-norm of input - other."""
def div(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: Rounding | None = None, out: Tensor | None = None) -> Tensor:
    """input / other; rounded towards zero by 'trunc', down by 'floor'."""
def divide(input: Tensor | Number, other: Tensor | Number, *, rounding_mode: Rounding | None = None, out: Tensor | None = None) -> Tensor:
    """input / other; rounded towards zero by 'trunc', down by 'floor'."""
def dot(input: Tensor, tensor: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the sum of the products of the elements of two vectors."""
def dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """elements switched off with probability p."""
def dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """elements switched off with probability p, in place."""
@overload
def dsplit(input: Tensor, sections: builtins.int) -> tuple[Tensor, ...]:
    """pieces along the third dimension, cut at indices, or in pieces of equal size."""
@overload
def dsplit(input: Tensor, indices: Shape) -> tuple[Tensor, ...]: ...
def dstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """behind each other, along dimension 2."""
def eig(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """removed from PyTorch. Instead: torch.linalg.eig(A)."""
def einsum(equation: builtins.str, *operands: Tensor) -> Tensor:
    """the sum of products that an equation names: 'ij,jk->ik' is a product of matrices, 'ii' a trace, '...ij->...ji' a transpose of many. Letters that are missing on the right are summed over; without an arrow those are the ones that stand there twice. Also einsum(operand, [0, 1], ..., [1, 0]), with numbers."""
def embedding(weight: Tensor, indices: Tensor, padding_idx: builtins.int = -1, scale_grad_by_freq: builtins.bool = False, sparse: builtins.bool = False) -> Tensor:
    """the rows of weight that the indices name. nn.functional.embedding is the form for programs."""
def embedding_bag(weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: builtins.bool = False, mode: builtins.int = 0, sparse: builtins.bool = False, per_sample_weights: Tensor | None = None, include_last_offset: builtins.bool = False, padding_idx: builtins.int | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """the sums (mode 0), means (1) or maxima (2) of the rows of weight that each bag of indices names, the bag of each index, the number of indices in each bag, and for maxima the rows that they are from. nn.functional.embedding_bag is the form for programs."""
@overload
def empty(*size: builtins.int, memory_format: MemoryFormat | None = None, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """a tensor whose values are whatever was in memory."""
@overload
def empty(size: Shape, *, memory_format: MemoryFormat | None = None, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor: ...
def empty_like(input: Tensor, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """a tensor in the shape of input whose values are not set."""
def empty_permuted(size: Shape, physical_layout: Shape, *, dtype: Dtype | None = None, device: Device | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """a tensor of any values whose dimensions lie in memory in this order, the one with the largest step first."""
def empty_strided(size: Shape, stride: Shape, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """a tensor without set values, its elements lying as far apart as `stride` says."""
def eq(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """is input equal to other, element by element?"""
def equal(input: Tensor, other: Tensor) -> builtins.bool:
    """do both have the same shape and the same elements?"""
def erf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the error function of each element."""
def erf_(input: Tensor) -> Tensor:
    """erf, in place."""
def erfc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 - erf(x) of each element, precise where that is small."""
def erfc_(input: Tensor) -> Tensor:
    """erfc, in place."""
def erfinv(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the number whose error function is each element."""
def exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """e to the power of each element."""
def exp2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """2 to the power of each element."""
def exp2_(input: Tensor) -> Tensor:
    """exp2, in place."""
def exp_(input: Tensor) -> Tensor:
    """exp, in place."""
def expand_copy(input: Tensor, size: Shape, *, implicit: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """a copy of expand(size)."""
def expm1(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """exp(x) - 1 of each element, precise near zero."""
def expm1_(input: Tensor) -> Tensor:
    """expm1, in place."""
def eye(n: builtins.int, m: builtins.int | None = None, *, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """ones on the diagonal of an n x m matrix."""
def feature_alpha_dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """channels switched off with probability p."""
def feature_alpha_dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """channels switched off with probability p, in place."""
def feature_dropout(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """channels switched off with probability p."""
def feature_dropout_(input: Tensor, p: builtins.float, train: builtins.bool) -> Tensor:
    """channels switched off with probability p, in place."""
def fill(input: Tensor, value: Tensor | Number) -> Tensor:
    """one value, a number or a tensor without dimensions, everywhere."""
def fill_(input: Tensor, value: Tensor | Number) -> Tensor:
    """one value, a number or a tensor without dimensions, everywhere."""
def fix(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """each element without its fraction."""
def fix_(input: Tensor) -> Tensor:
    """fix, in place."""
def flatten(input: Tensor, start_dim: Dim = 0, end_dim: Dim = -1) -> Tensor:
    """dimensions start_dim to end_dim made one."""
@overload
def flip(input: Tensor, *dims: builtins.int) -> Tensor:
    """a copy in which the order of the elements along some dimensions is reversed."""
@overload
def flip(input: Tensor, dims: Shape) -> Tensor: ...
def fliplr(input: Tensor) -> Tensor:
    """columns in reverse order."""
def flipud(input: Tensor) -> Tensor:
    """rows in reverse order."""
def float_power(input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input to the power of exponent, computed in double precision."""
def floor(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the largest integer not above each element."""
def floor_(input: Tensor) -> Tensor:
    """floor, in place."""
def floor_divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input / other, rounded down. It has no derivative, as in PyTorch."""
def fmax(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the larger of each two elements; if one of them is nan, the other."""
def fmin(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the smaller of each two elements; if one of them is nan, the other."""
def fmod(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """what division rounded towards zero leaves, with the sign of input."""
def frac(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the fraction of each element, with its sign."""
def frac_(input: Tensor) -> Tensor:
    """frac, in place."""
def frexp(input: Tensor, *, out: tuple[Tensor, ...] | None = None) -> tuple[Tensor, Tensor]:
    """a named tuple (mantissa, exponent) of which input is mantissa * 2**exponent, element by element, with mantissas between 0.5 and 1 (or -1 and -0.5)."""
def frobenius_norm(input: Tensor, dim: DimOrDims, keepdim: builtins.bool = False) -> Tensor:
    """the square root of the sum of squares."""
def from_dlpack(ext_tensor: Any, *, device: Device | None = None, copy: builtins.bool | None = None) -> Tensor:
    """a tensor that shares memory with another library's."""
def from_file(filename: builtins.str, shared: builtins.bool | None = None, size: builtins.int | None = 0, *, dtype: Dtype | None = None, layout: Any = None, device: Device | None = None, pin_memory: builtins.bool | None = False, requires_grad: builtins.bool | None = False) -> Tensor:
    """a vector of the elements in a file, which is read when they are used; if it is shared, changes go into the file."""
def from_numpy(ndarray: Any) -> Tensor:
    """a tensor that shares memory with a NumPy array."""
def frombuffer(buffer: Any, *, dtype: Dtype, count: builtins.int = -1, offset: builtins.int = 0, requires_grad: builtins.bool = False) -> Tensor:
    """a vector that shares memory with an object that has a buffer."""
def full(size: Shape, fill_value: Number, *, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """one value everywhere, which also decides the dtype if none is given."""
def full_like(input: Tensor, fill_value: Number, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """one value in the shape of input."""
def gather(input: Tensor, dim: Dim, index: Tensor, *, sparse_grad: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """out[i][j] = input[index[i][j]][j] for dim 0, and likewise for the others."""
def gcd(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the greatest common divisor of each two elements."""
def gcd_(input: Tensor, other: Tensor) -> Tensor:
    """gcd, in place."""
def ge(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """is input at least other, element by element?"""
def geqrf(input: Tensor, *, out: tuple[Tensor, ...] | None = None) -> return_types.geqrf:
    """the QR decomposition as LAPACK has it: R with the vectors of the reflections below it, and their factors, as linalg.householder_product takes them."""
def ger(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the matrix of all products of an element of one vector with an element of the other."""
def get_rng_state() -> Tensor:
    """the state of the default generator, a tensor of bytes."""
def gradient(input: Tensor, *, spacing: Any = 1, dim: DimOrDims | None = None, edge_order: builtins.int = 1) -> tuple[Tensor, ...]:
    """the slopes along each dimension, by central differences; `spacing` is how far points are apart, or a tensor with the coordinates for each dimension."""
def greater(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """is input greater than other, element by element?"""
def greater_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """is input at least other, element by element?"""
def grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: builtins.int, padding_mode: builtins.int, align_corners: builtins.bool) -> Tensor:
    """the values of images (n, c, ...) at the places of a grid (n, ..., 2 or 3), whose coordinates go from -1 to 1."""
def grid_sampler_2d(input: Tensor, grid: Tensor, interpolation_mode: builtins.int, padding_mode: builtins.int, align_corners: builtins.bool) -> Tensor:
    """the values of images (n, c, ...) at the places of a grid (n, ..., 2 or 3), whose coordinates go from -1 to 1."""
def grid_sampler_3d(input: Tensor, grid: Tensor, interpolation_mode: builtins.int, padding_mode: builtins.int, align_corners: builtins.bool) -> Tensor:
    """the values of images (n, c, ...) at the places of a grid (n, ..., 2 or 3), whose coordinates go from -1 to 1."""
def group_norm(input: Tensor, num_groups: builtins.int, weight: Tensor | None = None, bias: Tensor | None = None, eps: builtins.float = 1e-05, cudnn_enabled: builtins.bool = True) -> Tensor:
    """the channels, dimension 1, in groups, each of which is standardized by itself; weight and bias are those of channels."""
@overload
def gru(data: Tensor, batch_sizes: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: builtins.bool, num_layers: builtins.int, dropout: builtins.float, train: builtins.bool, bidirectional: builtins.bool) -> tuple[Tensor, Tensor]:
    """layers of GRU cells over sequences; or gru(data, batch_sizes, hx, ...) over packed ones. See nn.GRU."""
@overload
def gru(input: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: builtins.bool, num_layers: builtins.int, dropout: builtins.float, train: builtins.bool, bidirectional: builtins.bool, batch_first: builtins.bool) -> tuple[Tensor, Tensor]: ...
def gru_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """the state after one step. See nn.GRUCell."""
def gt(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """is input greater than other, element by element?"""
def hamming_window(window_length: builtins.int, periodic: builtins.bool = True, alpha: builtins.float = 0.54, beta: builtins.float = 0.46, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """alpha - beta cos(2 pi x)."""
def hann_window(window_length: builtins.int, periodic: builtins.bool = True, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """(1 - cos(2 pi x)) / 2."""
def hardshrink(input: Tensor, lambd: Number = 0.5, *, out: Tensor | None = None) -> Tensor:
    """each element, or zero where it is between -lambd and lambd."""
def hash_tensor(input: Tensor, dim: DimOrDims = (), *, keepdim: builtins.bool = False, mode: builtins.int = 0, out: Tensor | None = None) -> Tensor:
    """the bits of all elements (as float64 or int64), or of those along dimensions, combined by exclusive or: a number of 64 bits, which most changes of an element change."""
def heaviside(input: Tensor, values: Tensor, *, out: Tensor | None = None) -> Tensor:
    """0 below zero, 1 above, and `values` at zero. It has no derivative, as in PyTorch."""
def histc(input: Tensor, bins: builtins.int = 100, min: Number = 0, max: Number = 0, *, out: Tensor | None = None) -> Tensor:
    """how many elements lie in each of some intervals of equal length between min and max; if these are the same, between the smallest and the largest element."""
@overload
def histogram(input: Tensor, bins: builtins.int = 100, *, range: Sequence[builtins.float] | None = None, weight: Tensor | None = None, density: builtins.bool = False, out: tuple[Tensor, ...] | None = None) -> return_types.histogram:
    """how many elements (or how much weight) lie in each interval, and the ends of the intervals: `bins` are those ends, or how many of equal length there are."""
@overload
def histogram(input: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: builtins.bool = False, out: tuple[Tensor, ...] | None = None) -> return_types.histogram: ...
def histogramdd(input: Tensor, bins: builtins.int | Sequence[builtins.int] | Sequence[Tensor], range: Sequence[builtins.float] | None = None, weight: Tensor | None = None, density: builtins.bool = False) -> return_types.histogramdd:
    """how many of the points, whose coordinates are the last dimension, lie in each box of a grid, and the ends of its intervals in each dimension: `bins` are those ends, or how many intervals of equal length there are."""
@overload
def hsplit(input: Tensor, sections: builtins.int) -> tuple[Tensor, ...]:
    """pieces of columns, or of a vector, cut at indices, or in pieces of equal size."""
@overload
def hsplit(input: Tensor, indices: Shape) -> tuple[Tensor, ...]: ...
def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """the product of a sparse matrix and a dense one, with one sparse dimension."""
def hstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """side by side, along dimension 1 (dimension 0 for vectors)."""
def hypot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the square root of input**2 + other**2, element by element."""
def i0(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the modified Bessel function of the first kind, of order 0, of each element."""
def i0_(input: Tensor) -> Tensor:
    """i0, in place."""
def igamma(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the regularized lower incomplete gamma function P(input, other)."""
def igammac(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the regularized upper incomplete gamma function Q(input, other) = 1 - P(input, other)."""
def imag(input: Tensor) -> Tensor:
    """the imaginary part, as a view. Only complex tensors have one."""
def index_add(input: Tensor, dim: Dim, index: Tensor, source: Tensor, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """input with alpha times the slices of source added to those that the vector `index` names."""
def index_copy(input: Tensor, dim: Dim, index: Tensor, source: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input with the slices that the vector `index` names replaced by source."""
def index_fill(input: Tensor, dim: Dim, index: Tensor, value: Tensor | Number) -> Tensor:
    """input with the slices that the vector `index` names filled with value."""
def index_put(input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: builtins.bool = False) -> Tensor:
    """a copy of input with input[indices] = values, or with values added there."""
def index_put_(input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: builtins.bool = False) -> Tensor:
    """index_put, in place."""
def index_reduce(input: Tensor, dim: Dim, index: Tensor, source: Tensor, reduce: builtins.str, *, include_self: builtins.bool = True, out: Tensor | None = None) -> Tensor:
    """the slices of source that the vector `index` assigns to one slice of input, brought together by their prod, mean, amax or amin."""
def index_select(input: Tensor, dim: Dim, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the slices of input along `dim` that the vector `index` names."""
def initial_seed() -> builtins.int:
    """the number with which the default generator was started."""
def inner(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the sums of products along the last dimension of both."""
def instance_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, use_input_stats: builtins.bool, momentum: builtins.float, eps: builtins.float, cudnn_enabled: builtins.bool) -> Tensor:
    """batch_norm of each sample by itself."""
def inverse(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the inverse of a square matrix, as linalg.inv."""
def is_complex(input: Tensor) -> builtins.bool:
    """is the dtype complex?"""
def is_conj(input: Tensor) -> builtins.bool:
    """is it a view, made by conj(), that PyTorch conjugates when it is read? Here it is a copy."""
def is_floating_point(input: Tensor) -> builtins.bool:
    """is the dtype a floating point one?"""
def is_inference(input: Tensor) -> builtins.bool:
    """was it made inside inference_mode, so that it can never be part of a graph?"""
def is_neg(input: Tensor) -> builtins.bool:
    """is it the imaginary part of such a view, which PyTorch negates when it is read?"""
def is_nonzero(input: Tensor) -> builtins.bool:
    """is the one element something else than zero?"""
def is_same_size(input: Tensor, other: Tensor) -> builtins.bool:
    """do both have the same shape?"""
def is_signed(input: Tensor) -> builtins.bool:
    """can the dtype hold negative numbers?"""
def is_storage(obj: Any) -> builtins.bool:
    """is it a storage?"""
def is_tensor(obj: builtins.object) -> builtins.bool:
    """is it a Tensor?"""
def isclose(input: Tensor, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> Tensor:
    """|input - other| <= atol + rtol * |other|?"""
def isfinite(input: Tensor) -> Tensor:
    """is each element neither infinite nor nan?"""
@overload
def isin(elements: Tensor, test_elements: Tensor, *, assume_unique: builtins.bool = False, invert: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """which elements are among the test elements (with `invert`: are not)."""
@overload
def isin(elements: Tensor, test_elements: Number, *, assume_unique: builtins.bool = False, invert: builtins.bool = False, out: Tensor | None = None) -> Tensor: ...
@overload
def isin(elements: Number, test_elements: Tensor, *, assume_unique: builtins.bool = False, invert: builtins.bool = False, out: Tensor | None = None) -> Tensor: ...
def isinf(input: Tensor) -> Tensor:
    """is each element infinite?"""
def isnan(input: Tensor) -> Tensor:
    """is each element not a number?"""
def isneginf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """is each element negative infinity?"""
def isposinf(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """is each element positive infinity?"""
def isreal(input: Tensor) -> Tensor:
    """has each element no imaginary part?"""
def istft(input: Tensor, n_fft: builtins.int, hop_length: builtins.int | None = None, win_length: builtins.int | None = None, window: Tensor | None = None, center: builtins.bool = True, normalized: builtins.bool = False, onesided: builtins.bool | None = None, length: builtins.int | None = None, return_complex: builtins.bool = False) -> Tensor:
    """the inverse of stft: pieces are added up where they overlap, and divided by the sum of the squared windows there."""
def kaiser_window(window_length: builtins.int, periodic: builtins.bool = True, beta: builtins.float = 12.0, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """a Bessel function of a half circle."""
def kron(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the Kronecker product: each element of input times all of other."""
def kthvalue(input: Tensor, k: builtins.int, dim: Dim = -1, keepdim: builtins.bool = False, *, out: tuple[Tensor, ...] | None = None) -> return_types.kthvalue:
    """the k-th smallest element along a dimension, and its index."""
def layer_norm(input: Tensor, normalized_shape: Shape, weight: Tensor | None = None, bias: Tensor | None = None, eps: builtins.float = 1e-05, cudnn_enable: builtins.bool = True) -> Tensor:
    """(x - mean) / sqrt(var + eps) over the last dimensions, then times weight plus bias."""
def lcm(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the least common multiple of each two elements."""
def lcm_(input: Tensor, other: Tensor) -> Tensor:
    """lcm, in place."""
def ldexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input * 2**other, element by element."""
def ldexp_(input: Tensor, other: Tensor) -> Tensor:
    """ldexp, in place."""
def le(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """is input at most other, element by element?"""
def lerp(input: Tensor, end: Tensor, weight: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input + weight * (end - input)."""
def less(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """is input less than other, element by element?"""
def less_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """is input at most other, element by element?"""
def lgamma(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the logarithm of the absolute value of the gamma function of each element."""
def linspace(start: Number | Tensor, end: Number | Tensor, steps: builtins.int, *, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """`steps` numbers at equal distances, from start to end inclusive."""
def lobpcg(A: Tensor, k: builtins.int | None = None, B: Tensor | None = None, X: Tensor | None = None, n: builtins.int | None = None, iK: Tensor | None = None, niter: builtins.int | None = None, tol: builtins.float | None = None, largest: builtins.bool | None = None, method: builtins.str | None = None, tracker: Any = None, ortho_iparams: Any = None, ortho_fparams: Any = None, ortho_bparams: Any = None) -> tuple[Tensor, Tensor]:
    """the k largest or smallest eigenvalues of A x = λ B x, and the eigenvectors, for symmetric A and positive definite B. X is where the search begins, of n random vectors otherwise; iK a preconditioner, about the inverse of A."""
def log(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the natural logarithm of each element."""
def log10(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the logarithm of each element to base 10."""
def log10_(input: Tensor) -> Tensor:
    """log10, in place."""
def log1p(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(1 + x) of each element, precise near zero."""
def log1p_(input: Tensor) -> Tensor:
    """log1p, in place."""
def log2(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the logarithm of each element to base 2."""
def log2_(input: Tensor) -> Tensor:
    """log2, in place."""
def log_(input: Tensor) -> Tensor:
    """log, in place."""
def log_softmax(input: Tensor, dim: Dim, dtype: Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(softmax(input)), without the loss of precision."""
def logaddexp(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log(exp(input) + exp(other)), without overflow."""
def logaddexp2(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """log2(2**input + 2**other), without overflow."""
def logcumsumexp(input: Tensor, dim: Dim, *, out: Tensor | None = None) -> Tensor:
    """log(cumsum(exp(input))) along a dimension, computed without overflow."""
def logdet(input: Tensor) -> Tensor:
    """the logarithm of the determinant of a square matrix; nan if that is negative."""
def logical_and(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """are both nonzero?"""
def logical_not(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """is each element zero?"""
def logical_or(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """is one nonzero?"""
def logical_xor(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """is exactly one nonzero?"""
def logit(input: Tensor, eps: builtins.float | None = None, *, out: Tensor | None = None) -> Tensor:
    """log(x / (1 - x)) of each element, which is first clamped to [eps, 1 - eps]."""
def logit_(input: Tensor, eps: builtins.float | None = None) -> Tensor:
    """logit, in place."""
def logspace(start: Number | Tensor, end: Number | Tensor, steps: builtins.int, base: builtins.float = 10.0, *, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """base to the power of linspace(start, end, steps)."""
def logsumexp(input: Tensor, dim: DimOrDims, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """log(sum(exp(input))) along dimensions."""
@overload
def lstm(data: Tensor, batch_sizes: Tensor, hx: Sequence[Tensor], params: Sequence[Tensor], has_biases: builtins.bool, num_layers: builtins.int, dropout: builtins.float, train: builtins.bool, bidirectional: builtins.bool) -> tuple[Tensor, Tensor, Tensor]:
    """layers of LSTM cells over sequences; or lstm(data, batch_sizes, hx, ...) over packed ones. See nn.LSTM."""
@overload
def lstm(input: Tensor, hx: Sequence[Tensor], params: Sequence[Tensor], has_biases: builtins.bool, num_layers: builtins.int, dropout: builtins.float, train: builtins.bool, bidirectional: builtins.bool, batch_first: builtins.bool) -> tuple[Tensor, Tensor, Tensor]: ...
def lstm_cell(input: Tensor, hx: Sequence[Tensor], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """the states after one step. See nn.LSTMCell."""
def lstsq(input: Tensor, A: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """removed from PyTorch. Instead: torch.linalg.lstsq(A, B), with the arguments in this order."""
def lt(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """is input less than other, element by element?"""
def lu(input: Tensor, pivot: builtins.bool = True, get_infos: builtins.bool = False, out: Any = None) -> tuple[Tensor, ...]:
    """what torch.linalg.lu_factor returns, or lu_factor_ex."""
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the solution of AX = b for the matrix A that lu_factor has decomposed."""
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: builtins.bool = True, unpack_pivots: builtins.bool = True, *, out: tuple[Tensor, ...] | None = None) -> return_types.lu_unpack:
    """P, L and U of what lu_factor returns; empty tensors for what is not wanted."""
def manual_seed(seed: builtins.int) -> Generator:
    """start the default generator anew; -1 means 2**64 - 1, and so on."""
def masked_fill(input: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """value where the mask is True, input elsewhere."""
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """the elements of source, one after the other, where the mask is True."""
def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the elements where the mask is True, in one dimension."""
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the product of two tensors: of vectors, matrices, or stacks of matrices, whose leading dimensions are broadcast."""
def matrix_exp(A: Tensor) -> Tensor:
    """the exponential of a square matrix, 1 + A + A A / 2 + ..."""
def matrix_power(input: Tensor, n: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """a square matrix times itself, n times; of its inverse, if n is negative."""
def matrix_rank(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """removed from PyTorch. Instead: torch.linalg.matrix_rank(A)."""
@overload
def max(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the largest element; the largest along a dimension as (values, indices); the largest of each two."""
@overload
def max(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def max(input: Tensor, dim: Dim, keepdim: builtins.bool = False, *, out: tuple[Tensor, ...] | None = None) -> return_types.max: ...
def max_pool1d(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = (), padding: DimOrDims = 0, dilation: DimOrDims = 1, ceil_mode: builtins.bool = False) -> Tensor:
    """the largest element of each window."""
def max_pool1d_with_indices(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = (), padding: DimOrDims = 0, dilation: DimOrDims = 1, ceil_mode: builtins.bool = False) -> tuple[Tensor, Tensor]:
    """the largest element of each window, and its index."""
def max_pool2d(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = (), padding: DimOrDims = 0, dilation: DimOrDims = 1, ceil_mode: builtins.bool = False) -> Tensor:
    """the largest element of each window."""
def max_pool3d(input: Tensor, kernel_size: DimOrDims, stride: DimOrDims | None = (), padding: DimOrDims = 0, dilation: DimOrDims = 1, ceil_mode: builtins.bool = False) -> Tensor:
    """the largest element of each window."""
def maximum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the larger of each two elements; nan if one of them is."""
@overload
def mean(input: Tensor, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """the mean of all elements, or along dimensions."""
@overload
def mean(input: Tensor, dim: DimOrDims | None, keepdim: builtins.bool = False, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def median(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the median, nan if there is a nan. Along a dimension, as (values, indices)."""
@overload
def median(input: Tensor, dim: Dim, keepdim: builtins.bool = False, *, out: tuple[Tensor, ...] | None = None) -> return_types.median: ...
def meshgrid(*tensors: Tensor | Sequence[Tensor], indexing: builtins.str | None = None) -> tuple[Tensor, ...]:
    """for each of some vectors, its elements spread over the grid of all of them. 'ij' lets the first vector vary along dimension 0, 'xy' along dimension 1."""
@overload
def min(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the smallest element; the smallest along a dimension as (values, indices); the smallest of each two."""
@overload
def min(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...
@overload
def min(input: Tensor, dim: Dim, keepdim: builtins.bool = False, *, out: tuple[Tensor, ...] | None = None) -> return_types.min: ...
def minimum(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the smaller of each two elements; nan if one of them is."""
def mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the product of two matrices, (n, k) with (k, m)."""
def mode(input: Tensor, dim: Dim = -1, keepdim: builtins.bool = False, *, out: tuple[Tensor, ...] | None = None) -> return_types.mode:
    """the most frequent element along a dimension, the smallest of several, and where it is last."""
def moveaxis(input: Tensor, source: DimOrDims, destination: DimOrDims) -> Tensor:
    """the dimensions `source` moved to the places `destination`."""
def movedim(input: Tensor, source: DimOrDims, destination: DimOrDims) -> Tensor:
    """the dimensions `source` moved to the places `destination`."""
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the elements in order along the first dimension."""
def mul(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input * other."""
def multinomial(input: Tensor, num_samples: builtins.int, replacement: builtins.bool = False, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """indices drawn with probabilities in proportion to each row of input."""
def multiply(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input * other."""
def mv(input: Tensor, vec: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the product of a matrix (n, k) and a vector (k)."""
def mvlgamma(input: Tensor, p: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """the logarithm of the multivariate gamma function of dimension p of each element."""
def nan_to_num(input: Tensor, nan: builtins.float | None = None, posinf: builtins.float | None = None, neginf: builtins.float | None = None, *, out: Tensor | None = None) -> Tensor:
    """each element, with these numbers in place of nan and of infinities (None: the largest and smallest that there are)."""
def nan_to_num_(input: Tensor, nan: builtins.float | None = None, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> Tensor:
    """nan_to_num, in place."""
def nanmean(input: Tensor, dim: DimOrDims | None = None, keepdim: builtins.bool = False, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """the mean of all elements that are not nan."""
@overload
def nanmedian(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the median of the elements that are numbers. Along a dimension, as (values, indices)."""
@overload
def nanmedian(input: Tensor, dim: Dim, keepdim: builtins.bool = False, *, out: tuple[Tensor, ...] | None = None) -> return_types.nanmedian: ...
def nanquantile(input: Tensor, q: builtins.float | Tensor, dim: Dim | None = None, keepdim: builtins.bool = False, *, interpolation: builtins.str = 'linear', out: Tensor | None = None) -> Tensor:
    """quantile of those elements that are not nan."""
def nansum(input: Tensor, dim: DimOrDims | None = None, keepdim: builtins.bool = False, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """the sum of all elements that are not nan."""
def narrow(input: Tensor, dim: Dim, start: builtins.int | Tensor, length: builtins.int) -> Tensor:
    """`length` positions of dimension `dim`, from `start` on, as a view."""
def narrow_copy(input: Tensor, dim: Dim, start: builtins.int | Tensor, length: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """a copy of narrow(dim, start, length)."""
def native_batch_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None, running_var: Tensor | None, training: builtins.bool, momentum: builtins.float, eps: builtins.float) -> tuple[Tensor, Tensor, Tensor]:
    """batch_norm, and in training the means and one over the standard deviations."""
def native_dropout(input: Tensor, p: builtins.float, train: builtins.bool | None) -> tuple[Tensor, Tensor]:
    """dropout, and which elements it kept."""
def native_group_norm(input: Tensor, weight: Tensor | None, bias: Tensor | None, N: builtins.int, C: builtins.int, HxW: builtins.int, group: builtins.int, eps: builtins.float) -> tuple[Tensor, Tensor, Tensor]:
    """group_norm of N samples with C channels of HxW elements, the means, and one over the standard deviations."""
def native_layer_norm(input: Tensor, normalized_shape: Shape, weight: Tensor | None, bias: Tensor | None, eps: builtins.float) -> tuple[Tensor, Tensor, Tensor]:
    """layer_norm, the means, and one over the standard deviations."""
def ne(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """is input different from other, element by element?"""
def neg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """each element with its sign changed."""
def neg_(input: Tensor) -> Tensor:
    """neg, in place."""
def negative(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """each element with its sign changed."""
def negative_(input: Tensor) -> Tensor:
    """negative, in place."""
def nextafter(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the next float after input in the direction of other."""
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[False] = False, out: Tensor | None = None) -> Tensor:
    """the positions of the elements that are not zero, one row for each; with as_tuple one vector for each dimension."""
@overload
def nonzero(input: Tensor, *, as_tuple: Literal[True], out: tuple[Tensor, ...] | None = None) -> tuple[Tensor, ...]: ...
def nonzero_static(input: Tensor, *, size: builtins.int, fill_value: builtins.int = -1) -> Tensor:
    """exactly `size` rows of nonzero, filled up or cut off."""
def norm(input: Tensor, p: Number | builtins.str | None = 'fro', dim: DimOrDims | None = None, keepdim: builtins.bool = False, dtype: Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """(sum of abs(x)**p) ** (1/p), of all elements or along dimensions; 'fro' is p = 2, and 'nuc' the sum of the singular values of the matrices in two dimensions."""
def norm_except_dim(v: Tensor, pow: builtins.int = 2, dim: builtins.int = 0) -> Tensor:
    """the norms over all dimensions but one, which weight_norm divides by."""
@overload
def normal(mean: Tensor, std: Tensor | builtins.float = 1.0, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
    """normally distributed numbers around `mean`, which like `std` may be a tensor; if both are numbers, `size` is needed and dtype=, device=, ... are allowed."""
@overload
def normal(mean: builtins.float, std: Tensor, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor: ...
@overload
def normal(mean: builtins.float, std: builtins.float, size: Shape, *, generator: Generator | None = None, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor: ...
def not_equal(input: Tensor, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """is input different from other, element by element?"""
def nuclear_norm(input: Tensor, dim: DimOrDims = (-2, -1), keepdim: builtins.bool = False) -> Tensor:
    """the sum of the singular values."""
def numel(input: Tensor) -> builtins.int:
    """the number of elements."""
@overload
def ones(*size: builtins.int, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """a tensor of ones."""
@overload
def ones(size: Shape, *, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor: ...
def ones_like(input: Tensor, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """ones in the shape of input."""
def orgqr(input: Tensor, input2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """what torch.linalg.householder_product returns, by its older name."""
def ormqr(input: Tensor, input2: Tensor, input3: Tensor, left: builtins.bool = True, transpose: builtins.bool = False, *, out: Tensor | None = None) -> Tensor:
    """Q times other, where Q is the product of the reflections in input and tau, as geqrf returns them; or with left=False other times Q, or with transpose=True the adjoint of Q."""
def outer(input: Tensor, vec2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the matrix of all products of an element of one vector with an element of the other."""
def pairwise_distance(x1: Tensor, x2: Tensor, p: builtins.float = 2.0, eps: builtins.float = 1e-06, keepdim: builtins.bool = False) -> Tensor:
    """the p-norm of x1 - x2 + eps along the last dimension."""
def pca_lowrank(A: Tensor, q: builtins.int | None = None, center: builtins.bool = True, niter: builtins.int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V of the q largest principal components of the rows of A, from which their mean is taken away if `center` says so."""
def pdist(input: Tensor, p: builtins.float = 2) -> Tensor:
    """the distances between each two rows of a matrix."""
@overload
def permute(input: Tensor, *dims: builtins.int) -> Tensor:
    """the dimensions in another order."""
@overload
def permute(input: Tensor, dims: Shape) -> Tensor: ...
def permute_copy(input: Tensor, dims: Shape, *, out: Tensor | None = None) -> Tensor:
    """a copy of permute(dims)."""
def pinverse(input: Tensor, rcond: builtins.float = 1e-15) -> Tensor:
    """the pseudo-inverse, in which singular values up to rcond times the largest count as zero."""
def pixel_shuffle(input: Tensor, upscale_factor: builtins.int) -> Tensor:
    """channels (..., c * r², h, w) become pixels (..., c, h * r, w * r)."""
def pixel_unshuffle(input: Tensor, downscale_factor: builtins.int) -> Tensor:
    """pixels (..., c, h * r, w * r) become channels (..., c * r², h, w)."""
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """numbers of events, of which input says how many are expected."""
def polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor:
    """complex numbers with these absolute values and angles."""
def polygamma(n: builtins.int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the n-th derivative of digamma at each element."""
def positive(input: Tensor) -> Tensor:
    """the tensor itself."""
def pow(input: Tensor | Number, exponent: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input to the power of exponent, either of them a tensor or a number."""
def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x above zero, weight * x below; one weight for all, or one for each channel."""
@overload
def prod(input: Tensor, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """the product of all elements, or along a dimension."""
@overload
def prod(input: Tensor, dim: Dim, keepdim: builtins.bool = False, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
def promote_types(type1: Dtype, type2: Dtype) -> Dtype:
    """the smallest dtype that holds both."""
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Tensor:
    """elements of the flat input replaced by source, or added to."""
def qr(input: Tensor, some: builtins.bool = True, *, out: tuple[Tensor, ...] | None = None) -> return_types.qr:
    """Q and R, whose product is input. torch.linalg.qr is the newer form."""
def quantile(input: Tensor, q: builtins.float | Tensor, dim: Dim | None = None, keepdim: builtins.bool = False, *, interpolation: builtins.str = 'linear', out: Tensor | None = None) -> Tensor:
    """the value below which a fraction q of the elements lies; of all of them, or along a dimension."""
def rad2deg(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """angles in radians as angles in degrees."""
def rad2deg_(input: Tensor) -> Tensor:
    """rad2deg, in place."""
@overload
def rand(*size: builtins.int, generator: Generator | None = None, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """uniform numbers in [0, 1)."""
@overload
def rand(size: Shape, *, generator: Generator | None = None, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor: ...
def rand_like(input: Tensor, *, generator: Generator | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """uniform numbers in [0, 1) in the shape of input."""
@overload
def randint(high: builtins.int, size: Shape, *, generator: Generator | None = None, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """integers in [low, high), of int64 if nothing else is asked for."""
@overload
def randint(low: builtins.int, high: builtins.int, size: Shape, *, generator: Generator | None = None, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor: ...
@overload
def randint_like(input: Tensor, high: builtins.int, *, generator: Generator | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """integers in [low, high) in the shape and dtype of input."""
@overload
def randint_like(input: Tensor, low: builtins.int, high: builtins.int, *, generator: Generator | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False, memory_format: MemoryFormat | None = None) -> Tensor: ...
@overload
def randn(*size: builtins.int, generator: Generator | None = None, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """numbers of the standard normal distribution."""
@overload
def randn(size: Shape, *, generator: Generator | None = None, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor: ...
def randn_like(input: Tensor, *, generator: Generator | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """numbers of the standard normal distribution in the shape of input."""
def randperm(n: builtins.int, *, generator: Generator | None = None, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """0, 1, ..., n - 1 in random order, of int64 if nothing else is asked for."""
def range(start: Number, end: Number, step: Number = 1, *, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """start, start + step, ... up to and including end. PyTorch has deprecated it: arange leaves the end out, as Python's range does."""
def ravel(input: Tensor) -> Tensor:
    """all elements in one dimension; a view where that is possible."""
def real(input: Tensor) -> Tensor:
    """the real part, as a view."""
def reciprocal(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """one divided by each element."""
def reciprocal_(input: Tensor) -> Tensor:
    """reciprocal, in place."""
def relu(input: Tensor) -> Tensor:
    """each element, but not less than zero."""
def relu_(input: Tensor) -> Tensor:
    """relu, in place."""
def remainder(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """what floor division leaves, with the sign of the divisor."""
def renorm(input: Tensor, p: Number, dim: Dim, maxnorm: Number, *, out: Tensor | None = None) -> Tensor:
    """input with each slice along a dimension made smaller whose p-norm is above maxnorm."""
@overload
def repeat_interleave(repeats: Tensor, *, output_size: builtins.int | None = None) -> Tensor:
    """each element (each slice of a dimension) so many times in a row. repeat_interleave(repeats): each index as many times as the element there says."""
@overload
def repeat_interleave(input: Tensor, repeats: Tensor, dim: Dim | None = None, *, output_size: builtins.int | None = None) -> Tensor: ...
@overload
def repeat_interleave(input: Tensor, repeats: builtins.int, dim: Dim | None = None, *, output_size: builtins.int | None = None) -> Tensor: ...
@overload
def reshape(input: Tensor, *shape: builtins.int) -> Tensor:
    """another shape; a view where that is possible, otherwise a copy."""
@overload
def reshape(input: Tensor, shape: Shape) -> Tensor: ...
def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    """Tensor.resize_as_ as a function."""
def resolve_conj(input: Tensor) -> Tensor:
    """the tensor itself, or a copy if it is conjugated when it is read."""
def resolve_neg(input: Tensor) -> Tensor:
    """the tensor itself, or a copy if it is negated when it is read."""
def result_type(tensor1: Tensor | Number, tensor2: Tensor | Number) -> Dtype:
    """the dtype that arithmetic on two tensors or numbers has."""
def rms_norm(input: Tensor, normalized_shape: Shape, weight: Tensor | None = None, eps: builtins.float | None = None) -> Tensor:
    """x / sqrt(mean(x**2) + eps) over the last dimensions, then times weight. Without an eps it is that of the dtype."""
@overload
def rnn_relu(data: Tensor, batch_sizes: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: builtins.bool, num_layers: builtins.int, dropout: builtins.float, train: builtins.bool, bidirectional: builtins.bool) -> tuple[Tensor, Tensor]:
    """layers of cells relu(W x + U h + b) over sequences; or rnn_relu(data, batch_sizes, hx, ...) over packed ones. See nn.RNN."""
@overload
def rnn_relu(input: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: builtins.bool, num_layers: builtins.int, dropout: builtins.float, train: builtins.bool, bidirectional: builtins.bool, batch_first: builtins.bool) -> tuple[Tensor, Tensor]: ...
def rnn_relu_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """relu(W x + U h + b). See nn.RNNCell."""
@overload
def rnn_tanh(data: Tensor, batch_sizes: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: builtins.bool, num_layers: builtins.int, dropout: builtins.float, train: builtins.bool, bidirectional: builtins.bool) -> tuple[Tensor, Tensor]:
    """layers of cells tanh(W x + U h + b) over sequences; or rnn_tanh(data, batch_sizes, hx, ...) over packed ones. See nn.RNN."""
@overload
def rnn_tanh(input: Tensor, hx: Tensor, params: Sequence[Tensor], has_biases: builtins.bool, num_layers: builtins.int, dropout: builtins.float, train: builtins.bool, bidirectional: builtins.bool, batch_first: builtins.bool) -> tuple[Tensor, Tensor]: ...
def rnn_tanh_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None) -> Tensor:
    """tanh(W x + U h + b). See nn.RNNCell."""
def roll(input: Tensor, shifts: builtins.int | Shape, dims: DimOrDims | None = None) -> Tensor:
    """elements shifted along dimensions; what leaves at the end enters at the start."""
def rot90(input: Tensor, k: builtins.int = 1, dims: Shape = (0, 1)) -> Tensor:
    """turned k times by 90 degrees, from the first of two dimensions to the second."""
def round(input: Tensor, *, decimals: builtins.int = 0, out: Tensor | None = None) -> Tensor:
    """each element rounded to so many decimals, halves to the even neighbour."""
def round_(input: Tensor, *, decimals: builtins.int = 0) -> Tensor:
    """round, in place."""
def row_stack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """on top of each other, along dimension 0; vectors are rows."""
def rrelu(input: Tensor, lower: Number = 0.125, upper: Number = 0.3333333333333333, training: builtins.bool = False) -> Tensor:
    """x above zero; below, x times a random slope, or the mean of the slopes if it is not training."""
def rrelu_(input: Tensor, lower: Number = 0.125, upper: Number = 0.3333333333333333, training: builtins.bool = False) -> Tensor:
    """rrelu, in place."""
def rsqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """one divided by the square root of each element."""
def rsqrt_(input: Tensor) -> Tensor:
    """rsqrt, in place."""
def rsub(input: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
    """other - alpha * input."""
def scalar_tensor(s: Number, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """one number, in the default dtype if none is given."""
@overload
def scatter(input: Tensor, dim: Dim, index: Tensor, src: Tensor, *, reduce: builtins.str | None = None, out: Tensor | None = None) -> Tensor:
    """out[index[i][j]][j] = src[i][j] for dim 0, and likewise for the others. In the place of src may stand a number. With reduce='add' or 'multiply' it adds to what is there, or multiplies it."""
@overload
def scatter(input: Tensor, dim: Dim, index: Tensor, value: Number, *, reduce: builtins.str | None = None, out: Tensor | None = None) -> Tensor: ...
def scatter_add(input: Tensor, dim: Dim, index: Tensor, src: Tensor, *, out: Tensor | None = None) -> Tensor:
    """out[index[i][j]][j] += src[i][j] for dim 0, and likewise for the others."""
def scatter_reduce(input: Tensor, dim: Dim, index: Tensor, src: Tensor, reduce: builtins.str, *, include_self: builtins.bool = True, out: Tensor | None = None) -> Tensor:
    """the elements of src that `scatter` would write to one place, brought together by their sum, prod, mean, amax or amin."""
def searchsorted(sorted_sequence: Tensor, input: Tensor | Number, *, out_int32: builtins.bool = False, right: builtins.bool = False, side: builtins.str | None = None, sorter: Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """where elements would have to be inserted into a sequence to keep it in order; with right=True behind those that are equal."""
def seed() -> builtins.int:
    """start the default generator anew with a number from the operating system, which is returned."""
def segment_reduce(data: Tensor, reduce: builtins.str, *, lengths: Tensor | None = None, indices: Tensor | None = None, offsets: Tensor | None = None, axis: Dim = 0, unsafe: builtins.bool = False, initial: Number | None = None) -> Tensor:
    """the 'sum', 'mean', 'max', 'min' or 'prod' of each segment along a dimension. Their lengths are given, or where they begin, with the end of the last; in the dimensions before, each row has segments of its own."""
def select(input: Tensor, dim: Dim, index: builtins.int) -> Tensor:
    """input without dimension `dim`, at position `index` of it."""
def select_copy(input: Tensor, dim: Dim, index: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """a copy of select(dim, index)."""
def select_scatter(input: Tensor, src: Tensor, dim: Dim, index: builtins.int) -> Tensor:
    """a copy of input in which select(dim, index) is replaced by src."""
def selu(input: Tensor) -> Tensor:
    """elu with two constants that keep mean and variance through layers."""
def selu_(input: Tensor) -> Tensor:
    """selu, in place."""
def set_rng_state(new_state: Tensor) -> None:
    """go on from a state that get_rng_state() returned."""
def sgn(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sign(input), and for complex numbers x / abs(x)."""
def sigmoid(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """1 / (1 + exp(-x)) of each element."""
def sigmoid_(input: Tensor) -> Tensor:
    """sigmoid, in place."""
def sign(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """-1, 0 or 1 for each element."""
def signbit(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """has each element a minus sign, also if it is zero?"""
def sin(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the sine of each element."""
def sin_(input: Tensor) -> Tensor:
    """sin, in place."""
def sinc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """sin(pi x) / (pi x) of each element, and 1 for zero."""
def sinc_(input: Tensor) -> Tensor:
    """sinc, in place."""
def sinh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the hyperbolic sine of each element."""
def sinh_(input: Tensor) -> Tensor:
    """sinh, in place."""
def slice_copy(input: Tensor, dim: Dim = 0, start: builtins.int | None = None, end: builtins.int | None = None, step: builtins.int = 1, *, out: Tensor | None = None) -> Tensor:
    """a copy of a slice of one dimension."""
def slice_scatter(input: Tensor, src: Tensor, dim: Dim = 0, start: builtins.int | None = None, end: builtins.int | None = None, step: builtins.int = 1, *, out: Tensor | None = None) -> Tensor:
    """a copy of input with a slice replaced by src."""
def slogdet(input: Tensor, *, out: tuple[Tensor, ...] | None = None) -> return_types.slogdet:
    """the sign of the determinant, and the logarithm of its absolute value."""
def smm(input: Tensor, mat2: Tensor) -> Tensor:
    """the product of a sparse matrix and a dense one, as a sparse one."""
def softmax(input: Tensor, dim: Dim, dtype: Dtype | None = None, *, out: Tensor | None = None) -> Tensor:
    """exp(input) divided by its sum along a dimension."""
def solve(input: Tensor, A: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """removed from PyTorch. Instead: torch.linalg.solve(A, B)."""
def sort(input: Tensor, dim: Dim = -1, descending: builtins.bool = False, *, stable: builtins.bool | None = None, out: tuple[Tensor, ...] | None = None) -> return_types.sort:
    """the elements in order along a dimension, and the indices of where they were."""
def sparse_bsc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Shape | None = None, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, pin_memory: builtins.bool = False, requires_grad: builtins.bool = False, check_invariants: builtins.bool | None = None) -> Tensor:
    """a sparse tensor of its parts."""
def sparse_bsr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Shape | None = None, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, pin_memory: builtins.bool = False, requires_grad: builtins.bool = False, check_invariants: builtins.bool | None = None) -> Tensor:
    """a sparse tensor of its parts."""
def sparse_compressed_tensor(compressed_indices: Any, plain_indices: Any, values: Any, size: Shape | None = None, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, pin_memory: builtins.bool = False, requires_grad: builtins.bool = False, check_invariants: builtins.bool | None = None) -> Tensor:
    """a sparse tensor of the parts of one of the compressed layouts."""
@overload
def sparse_coo_tensor(indices: Any, values: Any, size: Shape | None = None, *, dtype: Dtype | None = None, device: Device | None = None, pin_memory: builtins.bool = False, requires_grad: builtins.bool = False, check_invariants: builtins.bool | None = None, is_coalesced: builtins.bool | None = None) -> Tensor:
    """a sparse tensor that has `values` at `indices`, a row for each sparse dimension. Gradients flow to the values."""
@overload
def sparse_coo_tensor(size: Shape, *, dtype: Dtype | None = None, device: Device | None = None, requires_grad: builtins.bool = False) -> Tensor: ...
def sparse_csc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Shape | None = None, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, pin_memory: builtins.bool = False, requires_grad: builtins.bool = False, check_invariants: builtins.bool | None = None) -> Tensor:
    """a sparse tensor of its parts."""
def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Shape | None = None, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, pin_memory: builtins.bool = False, requires_grad: builtins.bool = False, check_invariants: builtins.bool | None = None) -> Tensor:
    """a sparse tensor of its parts."""
@overload
def split(tensor: Tensor, split_size_or_sections: builtins.int | Shape, dim: Dim = 0) -> tuple[Tensor, ...]:
    """pieces of one size (the last may be smaller), or of given sizes."""
@overload
def split(tensor: Tensor, *, split_size: builtins.int | Shape, dim: Dim = 0) -> tuple[Tensor, ...]: ...
def split_copy(input: Tensor, split_size: builtins.int, dim: Dim = 0, *, out: tuple[Tensor, ...] | None = None) -> tuple[Tensor, ...]:
    """copies of the pieces of split."""
def split_with_sizes(input: Tensor, split_sizes: Shape, dim: Dim = 0) -> tuple[Tensor, ...]:
    """consecutive pieces of the given sizes."""
def split_with_sizes_copy(input: Tensor, split_sizes: Shape, dim: Dim = 0, *, out: tuple[Tensor, ...] | None = None) -> tuple[Tensor, ...]:
    """copies of the pieces of split_with_sizes."""
def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """the product of two matrices, mm."""
def sqrt(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the square root of each element."""
def sqrt_(input: Tensor) -> Tensor:
    """sqrt, in place."""
def square(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """each element times itself."""
def square_(input: Tensor) -> Tensor:
    """square, in place."""
def squeeze(input: Tensor, dim: DimOrDims | None = None) -> Tensor:
    """without dimensions of size 1, all of them or those of `dim`."""
def squeeze_copy(input: Tensor, dim: DimOrDims | None = None, *, out: Tensor | None = None) -> Tensor:
    """a copy of squeeze(dim)."""
def sspaddmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta input + alpha mat1 @ mat2, of which mat2 alone is dense."""
def stack(tensors: Sequence[Tensor], dim: Dim = 0, *, out: Tensor | None = None) -> Tensor:
    """tensors of one shape along a new dimension."""
@overload
def std(input: Tensor, dim: DimOrDims | None = None, *, correction: Number = 1, keepdim: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """the standard deviation, the square root of `var`."""
@overload
def std(input: Tensor, dim: DimOrDims | None, unbiased: builtins.bool, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def std(input: Tensor, unbiased: builtins.bool, *, out: Tensor | None = None) -> Tensor: ...
@overload
def std_mean(input: Tensor, dim: DimOrDims | None = None, *, correction: Number = 1, keepdim: builtins.bool = False) -> tuple[Tensor, Tensor]:
    """standard deviation and mean, as a pair."""
@overload
def std_mean(input: Tensor, dim: DimOrDims | None, unbiased: builtins.bool, keepdim: builtins.bool = False) -> tuple[Tensor, Tensor]: ...
@overload
def std_mean(input: Tensor, unbiased: builtins.bool) -> tuple[Tensor, Tensor]: ...
def stft(input: Tensor, n_fft: builtins.int, hop_length: builtins.int | None = None, win_length: builtins.int | None = None, window: Tensor | None = None, center: builtins.bool = True, pad_mode: builtins.str = 'reflect', normalized: builtins.bool = False, onesided: builtins.bool | None = None, return_complex: builtins.bool | None = None, align_to_window: builtins.bool | None = None) -> Tensor:
    """the Fourier transforms of pieces of n_fft data points, which begin hop_length apart, times a window: frequencies by times."""
def sub(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """input - alpha * other."""
def subtract(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1, out: Tensor | None = None) -> Tensor:
    """input - alpha * other."""
@overload
def sum(input: Tensor, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """the sum of all elements, or along dimensions."""
@overload
def sum(input: Tensor, dim: DimOrDims | None, keepdim: builtins.bool = False, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor: ...
def svd(input: Tensor, some: builtins.bool = True, compute_uv: builtins.bool = True, *, out: tuple[Tensor, ...] | None = None) -> return_types.svd:
    """U, S and V, where U diag(S) V* is input. torch.linalg.svd is the newer form."""
def svd_lowrank(A: Tensor, q: builtins.int | None = 6, niter: builtins.int | None = 2, M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V of the q largest singular values, or nearly so, of A, or of A - M: A is about U diag(S) V*."""
def swapaxes(input: Tensor, axis0: Dim, axis1: Dim) -> Tensor:
    """another name of transpose."""
def swapdims(input: Tensor, dim0: Dim, dim1: Dim) -> Tensor:
    """two dimensions exchanged."""
def symeig(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """removed from PyTorch. Instead: torch.linalg.eigh(A), or with UPLO='U' of the upper triangle."""
def t(input: Tensor) -> Tensor:
    """a matrix with rows and columns exchanged; vectors and numbers stay as they are."""
def t_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """a copy of t()."""
def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """elements of the flat input, in the shape of index."""
def take_along_dim(input: Tensor, indices: Tensor, dim: Dim | None = None, *, out: Tensor | None = None) -> Tensor:
    """gather with broadcasting; of the flat input if dim is None."""
def tan(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the tangent of each element."""
def tan_(input: Tensor) -> Tensor:
    """tan, in place."""
def tanh(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the hyperbolic tangent of each element."""
def tanh_(input: Tensor) -> Tensor:
    """tanh, in place."""
def tensor(data: Any, *, dtype: Dtype | None = None, device: Device | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """a new leaf with a copy of data."""
@overload
def tensor_split(input: Tensor, indices_or_sections: builtins.int | Shape | Tensor, dim: Dim = 0) -> tuple[Tensor, ...]:
    """pieces of almost equal size, or cut at the given indices."""
@overload
def tensor_split(input: Tensor, *, indices: Shape, dim: Dim = 0) -> tuple[Tensor, ...]: ...
@overload
def tensor_split(input: Tensor, *, sections: builtins.int, dim: Dim = 0) -> tuple[Tensor, ...]: ...
def tensordot(a: Tensor, b: Tensor, dims: builtins.int | Any = 2, out: Any = None) -> Tensor:
    """the product of two tensors, summed over the last dimensions of a and the first of b, or over pairs of dimensions."""
def threshold(input: Tensor, threshold: Number, value: Number, *, out: Tensor | None = None) -> Tensor:
    """x above the threshold, `value` elsewhere."""
def threshold_(input: Tensor, threshold: Number, value: Number) -> Tensor:
    """threshold, in place."""
@overload
def tile(input: Tensor, *dims: builtins.int) -> Tensor:
    """repeat, where missing dimensions count as one."""
@overload
def tile(input: Tensor, dims: Shape) -> Tensor: ...
def topk(input: Tensor, k: builtins.int, dim: Dim = -1, largest: builtins.bool = True, sorted: builtins.bool = True, *, out: tuple[Tensor, ...] | None = None) -> return_types.topk:
    """the k largest (or smallest) elements along a dimension, and their indices."""
def trace(input: Tensor) -> Tensor:
    """the sum of the diagonal of a matrix."""
def transpose(input: Tensor, dim0: Dim, dim1: Dim) -> Tensor:
    """two dimensions exchanged."""
def transpose_copy(input: Tensor, dim0: Dim, dim1: Dim, *, out: Tensor | None = None) -> Tensor:
    """a copy of transpose(dim0, dim1)."""
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: Dim = -1) -> Tensor:
    """the area under a curve through points y, at x or dx apart."""
def trapz(y: Tensor, x: Tensor | None = None, *, dx: Number | None = None, dim: Dim = -1) -> Tensor:
    """the area under a curve through points y, at x or dx apart."""
def triangular_solve(input: Tensor, A: Tensor, upper: builtins.bool = True, transpose: builtins.bool = False, unitriangular: builtins.bool = False, *, out: tuple[Tensor, ...] | None = None) -> return_types.triangular_solve:
    """the solution of AX = b for a triangular A, or for its transpose, and a copy of A. torch.linalg.solve_triangular is the newer form."""
def tril(input: Tensor, diagonal: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """the lower triangle of matrices, zero above `diagonal`."""
def tril_indices(row: builtins.int, col: builtins.int, offset: builtins.int = 0, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """the places of the lower triangle of a matrix, row numbers above column numbers."""
def triu(input: Tensor, diagonal: builtins.int = 0, *, out: Tensor | None = None) -> Tensor:
    """the upper triangle of matrices, zero below `diagonal`."""
def triu_indices(row: builtins.int, col: builtins.int, offset: builtins.int = 0, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """the places of the upper triangle of a matrix, row numbers above column numbers."""
def true_divide(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input / other, in floating point."""
def trunc(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """each element without its fraction."""
def trunc_(input: Tensor) -> Tensor:
    """trunc, in place."""
def unbind(input: Tensor, dim: Dim = 0) -> tuple[Tensor, ...]:
    """all slices along a dimension, which disappears."""
def unbind_copy(input: Tensor, dim: Dim = 0, *, out: tuple[Tensor, ...] | None = None) -> tuple[Tensor, ...]:
    """copies of the slices of unbind."""
def unflatten(input: Tensor, dim: Dim, sizes: Shape) -> Tensor:
    """one dimension made several; one of the sizes may be -1."""
def unfold_copy(input: Tensor, dimension: Dim, size: builtins.int, step: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """a copy of unfold(dimension, size, step)."""
def unique(input: Tensor, sorted: builtins.bool = True, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: Dim | None = None) -> Tensor | tuple[Tensor, ...]:
    """the distinct elements (or the distinct slices along a dimension), in order; where each element is among them; how often each of them occurs."""
def unique_consecutive(input: Tensor, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: Dim | None = None) -> Tensor | tuple[Tensor, ...]:
    """the first of equal elements (or slices along a dimension) that follow each other; which of them each element belongs to; how many there are."""
def unravel_index(indices: Tensor, shape: builtins.int | Shape) -> tuple[Tensor, ...]:
    """for positions in a flat array, the positions in each dimension of this shape."""
def unsafe_chunk(input: Tensor, chunks: builtins.int, dim: Dim = 0) -> tuple[Tensor, ...]:
    """chunk, but the pieces do not count as views."""
def unsafe_split(tensor: Tensor, split_size: builtins.int, dim: Dim = 0) -> tuple[Tensor, ...]:
    """split by a size, but the pieces do not count as views."""
def unsafe_split_with_sizes(input: Tensor, split_sizes: Shape, dim: Dim = 0) -> tuple[Tensor, ...]:
    """split_with_sizes, but the pieces do not count as views."""
def unsqueeze(input: Tensor, dim: Dim) -> Tensor:
    """with a new dimension of size 1 at `dim`."""
def unsqueeze_copy(input: Tensor, dim: Dim, *, out: Tensor | None = None) -> Tensor:
    """a copy of unsqueeze(dim)."""
def vander(x: Tensor, N: builtins.int | None = None, increasing: builtins.bool = False) -> Tensor:
    """the Vandermonde matrix of a vector, whose columns are its powers."""
@overload
def var(input: Tensor, dim: DimOrDims | None = None, *, correction: Number = 1, keepdim: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """the variance of all elements, or along dimensions."""
@overload
def var(input: Tensor, dim: DimOrDims | None, unbiased: builtins.bool, keepdim: builtins.bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def var(input: Tensor, unbiased: builtins.bool, *, out: Tensor | None = None) -> Tensor: ...
@overload
def var_mean(input: Tensor, dim: DimOrDims | None = None, *, correction: Number = 1, keepdim: builtins.bool = False) -> tuple[Tensor, Tensor]:
    """variance and mean, as a pair."""
@overload
def var_mean(input: Tensor, dim: DimOrDims | None, unbiased: builtins.bool, keepdim: builtins.bool = False) -> tuple[Tensor, Tensor]: ...
@overload
def var_mean(input: Tensor, unbiased: builtins.bool) -> tuple[Tensor, Tensor]: ...
def vdot(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """dot(conj(input), other)."""
def view_as_complex(input: Tensor) -> Tensor:
    """the memory of pairs of real numbers, the last dimension, as complex ones."""
def view_as_complex_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """a copy of view_as_complex."""
def view_as_real(input: Tensor) -> Tensor:
    """the memory of complex numbers as pairs of real ones, in a new last dimension."""
def view_as_real_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """a copy of view_as_real."""
@overload
def view_copy(input: Tensor, size: Shape, *, out: Tensor | None = None) -> Tensor:
    """a copy of view(size), which may also be a dtype."""
@overload
def view_copy(input: Tensor, dtype: Dtype, *, out: Tensor | None = None) -> Tensor: ...
@overload
def vsplit(input: Tensor, sections: builtins.int) -> tuple[Tensor, ...]:
    """pieces of rows, cut at indices, or in pieces of equal size."""
@overload
def vsplit(input: Tensor, indices: Shape) -> tuple[Tensor, ...]: ...
def vstack(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """on top of each other, along dimension 0; vectors are rows."""
@overload
def where(condition: Tensor, *, out: tuple[Tensor, ...] | None = None) -> tuple[Tensor, ...]:
    """elements of input where the condition holds, of other elsewhere."""
@overload
def where(condition: Tensor, input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor: ...
def xlogy(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor:
    """input * log(other), and zero where input is zero."""
def xlogy_(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """xlogy, in place."""
def zero_(input: Tensor) -> Tensor:
    """zeros everywhere."""
@overload
def zeros(*size: builtins.int, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
    """a tensor of zeros."""
@overload
def zeros(size: Shape, *, out: Tensor | None = None, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor: ...
def zeros_like(input: Tensor, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False, memory_format: MemoryFormat | None = None) -> Tensor:
    """zeros in the shape of input."""
