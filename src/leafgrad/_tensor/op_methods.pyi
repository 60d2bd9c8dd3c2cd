# Written by tools/make_stubs.py from the declarations of the operations: not to be edited.

import builtins
from collections.abc import Sequence
from typing import Any, Literal, Self, overload

from leafgrad import return_types
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.shape.storage import StorageType, TypedStorage, UntypedStorage
from leafgrad.ops.signature import Device, Dim, DimOrDims, Dtype, Layout, MemoryFormat, Number, Rounding, Shape
from leafgrad.random import Generator

class OpMethods:
    @property
    def H(self) -> Tensor:
        """H: a matrix transposed and conjugated."""
    @property
    def T(self) -> Tensor:
        """T: the dimensions in reverse order; meant for matrices."""
    def __abs__(self) -> Tensor: ...
    def __add__(self, other: Tensor | Number) -> Tensor: ...
    def __and__(self, other: Tensor | Number) -> Tensor: ...
    def __delitem__(self, index: Any) -> None: ...
    def __eq__(self, other: Tensor | Number) -> Tensor: ...  # type: ignore[override]
    def __floordiv__(self, other: Tensor | Number) -> Tensor: ...
    def __ge__(self, other: Tensor | Number) -> Tensor: ...
    def __getitem__(self, index: Any) -> Tensor: ...
    def __gt__(self, other: Tensor | Number) -> Tensor: ...
    def __iadd__(self, other: Tensor | Number) -> Self: ...
    def __iand__(self, other: Tensor | Number) -> Self: ...
    def __ifloordiv__(self, other: Tensor | Number) -> Self: ...
    def __ilshift__(self, other: Tensor | Number) -> Self: ...
    def __imod__(self, other: Tensor | Number) -> Self: ...
    def __imul__(self, other: Tensor | Number) -> Self: ...
    def __invert__(self) -> Tensor: ...
    def __ior__(self, other: Tensor | Number) -> Self: ...
    def __ipow__(self, other: Tensor | Number) -> Self: ...
    def __irshift__(self, other: Tensor | Number) -> Self: ...
    def __isub__(self, other: Tensor | Number) -> Self: ...
    def __itruediv__(self, other: Tensor | Number) -> Self: ...
    def __ixor__(self, other: Tensor | Number) -> Self: ...
    def __le__(self, other: Tensor | Number) -> Tensor: ...
    def __lshift__(self, other: Tensor | Number) -> Tensor: ...
    def __lt__(self, other: Tensor | Number) -> Tensor: ...
    def __matmul__(self, other: Tensor) -> Tensor: ...
    def __mod__(self, other: Tensor | Number) -> Tensor: ...
    def __mul__(self, other: Tensor | Number) -> Tensor: ...
    def __ne__(self, other: Tensor | Number) -> Tensor: ...  # type: ignore[override]
    def __neg__(self) -> Tensor: ...
    def __or__(self, other: Tensor | Number) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __pow__(self, other: Tensor | Number) -> Tensor: ...
    def __radd__(self, other: Tensor | Number) -> Tensor: ...
    def __rand__(self, other: Tensor | Number) -> Tensor: ...
    def __rfloordiv__(self, other: Tensor | Number) -> Tensor: ...
    def __rlshift__(self, other: Tensor | Number) -> Tensor: ...
    def __rmatmul__(self, other: Tensor) -> Tensor: ...
    def __rmod__(self, other: Tensor | Number) -> Tensor: ...
    def __rmul__(self, other: Tensor | Number) -> Tensor: ...
    def __ror__(self, other: Tensor | Number) -> Tensor: ...
    def __rpow__(self, other: Tensor | Number) -> Tensor: ...
    def __rrshift__(self, other: Tensor | Number) -> Tensor: ...
    def __rshift__(self, other: Tensor | Number) -> Tensor: ...
    def __rsub__(self, other: Tensor | Number) -> Tensor: ...
    def __rtruediv__(self, other: Tensor | Number) -> Tensor: ...
    def __rxor__(self, other: Tensor | Number) -> Tensor: ...
    def __setitem__(self, index: Any, value: Tensor | Number) -> None: ...
    def __sub__(self, other: Tensor | Number) -> Tensor: ...
    def __truediv__(self, other: Tensor | Number) -> Tensor: ...
    def __xor__(self, other: Tensor | Number) -> Tensor: ...
    def _coalesced_(self, coalesced: builtins.bool) -> Self:
        """say that it is coalesced, or that it is not."""
    def _dimI(self) -> builtins.int:
        """sparse_dim()"""
    def _dimV(self) -> builtins.int:
        """dense_dim()"""
    def _indices(self) -> Tensor:
        """the places of the values, coalesced or not."""
    def _nnz(self) -> builtins.int:
        """how many values a sparse tensor holds."""
    def _typed_storage(self) -> TypedStorage:
        """the memory of the tensor, with its dtype."""
    def _values(self) -> Tensor:
        """the values on the same memory, without their history."""
    def abs(self) -> Tensor:
        """the distance of each element from zero."""
    def abs_(self) -> Self:
        """abs, in place; not for complex numbers, whose absolute values are real."""
    def absolute(self) -> Tensor:
        """the distance of each element from zero."""
    def absolute_(self) -> Self:
        """abs, in place; not for complex numbers, whose absolute values are real."""
    def acos(self) -> Tensor:
        """the angle whose cosine is each element."""
    def acos_(self) -> Self:
        """acos, in place."""
    def acosh(self) -> Tensor:
        """the number whose hyperbolic cosine is each element."""
    def acosh_(self) -> Self:
        """acosh, in place."""
    def add(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """input + alpha * other."""
    def add_(self, other: Tensor | Number, *, alpha: Number = 1) -> Self:
        """add, in place."""
    def addbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta input + alpha times the sum of all products."""
    def addbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """addbmm, in place."""
    def addcdiv(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        """input + value * tensor1 / tensor2."""
    def addcdiv_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Self:
        """addcdiv, in place."""
    def addcmul(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
        """input + value * tensor1 * tensor2."""
    def addcmul_(self, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Self:
        """addcmul, in place."""
    def addmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta * input + alpha * (mat1 @ mat2)."""
    def addmm_(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """addmm, in place."""
    def addmv(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta input + alpha mat @ vec."""
    def addmv_(self, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """addmv, in place."""
    def addr(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta input + alpha outer(vec1, vec2)."""
    def addr_(self, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """addr, in place."""
    def adjoint(self) -> Tensor:
        """the last two dimensions exchanged, and conjugated."""
    def all(self, dim: DimOrDims | None = None, keepdim: builtins.bool = False) -> Tensor:
        """are all elements nonzero, in the tensor or along dimensions?"""
    def allclose(self, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> builtins.bool:
        """is every element close to the other?"""
    def amax(self, dim: DimOrDims | None = (), keepdim: builtins.bool = False) -> Tensor:
        """the largest element of all, or along dimensions."""
    def amin(self, dim: DimOrDims | None = (), keepdim: builtins.bool = False) -> Tensor:
        """the smallest element of all, or along dimensions."""
    def aminmax(self, *, dim: Dim | None = None, keepdim: builtins.bool = False) -> return_types.aminmax:
        """the smallest and the largest element, as (min, max)."""
    def angle(self) -> Tensor:
        """the angle of each complex number from the axis of the real ones; pi for negative real numbers."""
    def any(self, dim: DimOrDims | None = None, keepdim: builtins.bool = False) -> Tensor:
        """is any element nonzero, in the tensor or along dimensions?"""
    def apply_(self, callable: Any) -> Self:
        """each element replaced by what a function of Python's makes of it."""
    def arccos(self) -> Tensor:
        """the angle whose cosine is each element."""
    def arccos_(self) -> Self:
        """arccos, in place."""
    def arccosh(self) -> Tensor:
        """the number whose hyperbolic cosine is each element."""
    def arccosh_(self) -> Self:
        """arccosh, in place."""
    def arcsin(self) -> Tensor:
        """the angle whose sine is each element."""
    def arcsin_(self) -> Self:
        """arcsin, in place."""
    def arcsinh(self) -> Tensor:
        """the number whose hyperbolic sine is each element."""
    def arcsinh_(self) -> Self:
        """arcsinh, in place."""
    def arctan(self) -> Tensor:
        """the angle whose tangent is each element."""
    def arctan2(self, other: Tensor) -> Tensor:
        """the angle from the axis of `other` to the point (other, input), between -pi and pi."""
    def arctan2_(self, other: Tensor) -> Self:
        """arctan2, in place."""
    def arctan_(self) -> Self:
        """arctan, in place."""
    def arctanh(self) -> Tensor:
        """the number whose hyperbolic tangent is each element."""
    def arctanh_(self) -> Self:
        """arctanh, in place."""
    def argmax(self, dim: Dim | None = None, keepdim: builtins.bool = False) -> Tensor:
        """the index of the largest element, the first of equals."""
    def argmin(self, dim: Dim | None = None, keepdim: builtins.bool = False) -> Tensor:
        """the index of the smallest element, the first of equals."""
    def argsort(self, dim: Dim = -1, descending: builtins.bool = False, *, stable: builtins.bool = False) -> Tensor:
        """the indices that sort along a dimension."""
    def argwhere(self) -> Tensor:
        """the positions of the elements that are not zero, one row for each."""
    def as_strided(self, size: Shape, stride: Shape, storage_offset: builtins.int | None = None) -> Tensor:
        """the memory of input under any shape and strides; the offset counts from the beginning of the memory, by default it is input's own."""
    def as_strided_(self, size: Shape, stride: Shape, storage_offset: builtins.int | None = None) -> Self:
        """as_strided, in place."""
    def as_strided_scatter(self, src: Tensor, size: Shape, stride: Shape, storage_offset: builtins.int | None = None) -> Tensor:
        """a copy of input with the elements that as_strided shows replaced by src."""
    def asin(self) -> Tensor:
        """the angle whose sine is each element."""
    def asin_(self) -> Self:
        """asin, in place."""
    def asinh(self) -> Tensor:
        """the number whose hyperbolic sine is each element."""
    def asinh_(self) -> Self:
        """asinh, in place."""
    def atan(self) -> Tensor:
        """the angle whose tangent is each element."""
    def atan2(self, other: Tensor) -> Tensor:
        """the angle from the axis of `other` to the point (other, input), between -pi and pi."""
    def atan2_(self, other: Tensor) -> Self:
        """atan2, in place."""
    def atan_(self) -> Self:
        """atan, in place."""
    def atanh(self) -> Tensor:
        """the number whose hyperbolic tangent is each element."""
    def atanh_(self) -> Self:
        """atanh, in place."""
    def baddbmm(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta input + alpha bmm(batch1, batch2)."""
    def baddbmm_(self, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Self:
        """baddbmm, in place."""
    def bernoulli(self, p: builtins.float | None = None, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
        """ones with the probabilities that input gives (or all with probability p), zeros elsewhere."""
    def bernoulli_(self, p: Tensor | builtins.float = 0.5, *, generator: Generator | None = None) -> Self:
        """ones with probability p, a number or a tensor; zeros elsewhere."""
    def bfloat16(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """as torch.bfloat16."""
    def bincount(self, weights: Tensor | None = None, minlength: builtins.int = 0) -> Tensor:
        """how often each of the numbers 0, 1, ... occurs among non-negative integers, or the sum of the weights there."""
    def bitwise_and(self, other: Tensor | Number) -> Tensor:
        """bits set in both."""
    def bitwise_and_(self, other: Tensor | Number) -> Self:
        """bitwise_and, in place."""
    def bitwise_left_shift(self, other: Tensor | Number) -> Tensor:
        """bits moved up."""
    def bitwise_left_shift_(self, other: Tensor | Number) -> Self:
        """bitwise_left_shift, in place."""
    def bitwise_not(self) -> Tensor:
        """each element with all bits flipped."""
    def bitwise_not_(self) -> Self:
        """bitwise_not, in place."""
    def bitwise_or(self, other: Tensor | Number) -> Tensor:
        """bits set in one or both."""
    def bitwise_or_(self, other: Tensor | Number) -> Self:
        """bitwise_or, in place."""
    def bitwise_right_shift(self, other: Tensor | Number) -> Tensor:
        """bits moved down."""
    def bitwise_right_shift_(self, other: Tensor | Number) -> Self:
        """bitwise_right_shift, in place."""
    def bitwise_xor(self, other: Tensor | Number) -> Tensor:
        """bits set in exactly one."""
    def bitwise_xor_(self, other: Tensor | Number) -> Self:
        """bitwise_xor, in place."""
    def bmm(self, mat2: Tensor) -> Tensor:
        """the products of two equally long stacks of matrices, (b, n, k) with (b, k, m)."""
    def bool(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """as torch.bool."""
    @overload
    def broadcast_to(self, *size: builtins.int) -> Tensor:
        """another name of expand."""
    @overload
    def broadcast_to(self, size: Shape) -> Tensor: ...
    def byte(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """as torch.uint8."""
    def cauchy_(self, median: builtins.float = 0.0, sigma: builtins.float = 1.0, *, generator: Generator | None = None) -> Self:
        """numbers of the Cauchy distribution."""
    def ccol_indices(self) -> Tensor:
        """where columns begin, or what is in them, in a compressed layout."""
    def cdouble(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """as torch.complex128."""
    def ceil(self) -> Tensor:
        """the smallest integer not below each element."""
    def ceil_(self) -> Self:
        """ceil, in place."""
    def cfloat(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """as torch.complex64."""
    def char(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """as torch.int8."""
    def cholesky(self, upper: builtins.bool = False) -> Tensor:
        """the triangular matrix L of A = L L*, or its adjoint. torch.linalg.cholesky is the newer form."""
    def cholesky_inverse(self, upper: builtins.bool = False) -> Tensor:
        """the inverse of L L*, or of L* L, if L is upper."""
    def cholesky_solve(self, input2: Tensor, upper: builtins.bool = False) -> Tensor:
        """the solution of AX = B, where A is L L* (or L* L, if that is upper)."""
    def chunk(self, chunks: builtins.int, dim: Dim = 0) -> tuple[Tensor, ...]:
        """at most `chunks` pieces of equal size; the last may be smaller."""
    def clamp(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
        """each element, but not below min and not above max."""
    def clamp_(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Self:
        """clamp, in place."""
    def clamp_max(self, max: Tensor | Number) -> Tensor:
        """each element, but not above max."""
    def clamp_max_(self, max: Tensor | Number) -> Self:
        """clamp_max, in place."""
    def clamp_min(self, min: Tensor | Number) -> Tensor:
        """each element, but not below min."""
    def clamp_min_(self, min: Tensor | Number) -> Self:
        """clamp_min, in place."""
    def clip(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
        """each element, but not below min and not above max."""
    def clip_(self, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Self:
        """clamp, in place."""
    def clone(self, *, memory_format: MemoryFormat | None = None) -> Tensor:
        """a copy through which gradients flow."""
    def coalesce(self) -> Tensor:
        """in order, with one value for each place."""
    def col_indices(self) -> Tensor:
        """where rows begin, or what is in them, in a compressed layout."""
    def conj(self) -> Tensor:
        """the complex conjugate; real tensors stay as they are."""
    def conj_physical(self) -> Tensor:
        """the complex conjugate, computed at once."""
    def conj_physical_(self) -> Self:
        """conj_physical, in place."""
    def contiguous(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """the tensor itself if its elements lie in memory one after the other, otherwise a copy in which they do."""
    def copy_(self, other: Tensor | Number, non_blocking: builtins.bool = False) -> Self:
        """take over the values of another tensor, broadcast and converted."""
    def copysign(self, other: Tensor | Number) -> Tensor:
        """the size of input with the sign of other, element by element."""
    def copysign_(self, other: Tensor | Number) -> Self:
        """copysign, in place."""
    def corrcoef(self) -> Tensor:
        """the correlations of variables, which are rows."""
    def cos(self) -> Tensor:
        """the cosine of each element."""
    def cos_(self) -> Self:
        """cos, in place."""
    def cosh(self) -> Tensor:
        """the hyperbolic cosine of each element."""
    def cosh_(self) -> Self:
        """cosh, in place."""
    def count_nonzero(self, dim: DimOrDims | None = None) -> Tensor:
        """how many elements are not zero, in the tensor or along dimensions."""
    def cov(self, *, correction: builtins.int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Tensor:
        """the covariances of variables, which are rows, over observations, which are columns: each so many times, or of such weight."""
    def cpu(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """the tensor itself, which is always there."""
    def cross(self, other: Tensor, dim: Dim | None = None) -> Tensor:
        """the vector product along a dimension of size three: the first such, if none is given."""
    def crow_indices(self) -> Tensor:
        """where rows begin, or what is in them, in a compressed layout."""
    def cuda(self, device: Device | None = None, non_blocking: builtins.bool = False, memory_format: MemoryFormat | None = None) -> Tensor:
        """refused, leafgrad computes on the CPU only."""
    def cummax(self, dim: Dim) -> return_types.cummax:
        """the largest element up to each along a dimension, and its index."""
    def cummin(self, dim: Dim) -> return_types.cummin:
        """the smallest element up to each along a dimension, and its index."""
    def cumprod(self, dim: Dim, *, dtype: Dtype | None = None) -> Tensor:
        """the product up to and including each element along a dimension."""
    def cumprod_(self, dim: Dim, *, dtype: Dtype | None = None) -> Self:
        """cumprod, in place."""
    def cumsum(self, dim: Dim, *, dtype: Dtype | None = None) -> Tensor:
        """the sum up to and including each element along a dimension."""
    def cumsum_(self, dim: Dim, *, dtype: Dtype | None = None) -> Self:
        """cumsum, in place."""
    def deg2rad(self) -> Tensor:
        """angles in degrees as angles in radians."""
    def deg2rad_(self) -> Self:
        """deg2rad, in place."""
    def dense_dim(self) -> builtins.int:
        """how many dimensions are dense."""
    def det(self) -> Tensor:
        """the determinant of a square matrix."""
    def detach(self) -> Tensor:
        """the same memory without the history: gradients end here."""
    def diag(self, diagonal: builtins.int = 0) -> Tensor:
        """a matrix with this vector on its diagonal, or a copy of the diagonal of this matrix."""
    def diag_embed(self, offset: builtins.int = 0, dim1: Dim = -2, dim2: Dim = -1) -> Tensor:
        """zeros with the last dimension of input on the diagonal of two dimensions of the result."""
    def diagflat(self, offset: builtins.int = 0) -> Tensor:
        """a matrix with all elements of input on its diagonal."""
    def diagonal(self, offset: builtins.int = 0, dim1: Dim = 0, dim2: Dim = 1) -> Tensor:
        """the diagonal of two dimensions, as the last one of the result."""
    def diagonal_scatter(self, src: Tensor, offset: builtins.int = 0, dim1: Dim = 0, dim2: Dim = 1) -> Tensor:
        """a copy of input with a diagonal replaced by src."""
    def diff(self, n: builtins.int = 1, dim: Dim = -1, prepend: Tensor | None = None, append: Tensor | None = None) -> Tensor:
        """the differences of neighbours along a dimension, n times; what is to stand before and behind may be given."""
    def digamma(self) -> Tensor:
        """the derivative of lgamma at each element."""
    def digamma_(self) -> Self:
        """digamma, in place."""
    def dim_order(self, *, ambiguity_check: Any = False) -> tuple[builtins.int, ...]:
        """the dimensions as they lie in memory, the one with the largest step first. With the check it is an error if others would do as well: any others, or other formats of a list."""
    def dist(self, other: Tensor, p: Number = 2) -> Tensor:
        """the p-norm of input - other."""
    def div(self, other: Tensor | Number, *, rounding_mode: Rounding | None = None) -> Tensor:
        """input / other; rounded towards zero by 'trunc', down by 'floor'."""
    def div_(self, other: Tensor | Number, *, rounding_mode: Rounding | None = None) -> Self:
        """div, in place."""
    def divide(self, other: Tensor | Number, *, rounding_mode: Rounding | None = None) -> Tensor:
        """input / other; rounded towards zero by 'trunc', down by 'floor'."""
    def divide_(self, other: Tensor | Number, *, rounding_mode: Rounding | None = None) -> Self:
        """divide, in place."""
    def dot(self, tensor: Tensor) -> Tensor:
        """the sum of the products of the elements of two vectors."""
    def double(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """as torch.float64."""
    @overload
    def dsplit(self, sections: builtins.int) -> tuple[Tensor, ...]:
        """pieces along the third dimension, cut at indices, or in pieces of equal size."""
    @overload
    def dsplit(self, indices: Shape) -> tuple[Tensor, ...]: ...
    def eig(self, *args: Any, **kwargs: Any) -> Tensor:
        """removed from PyTorch. Instead: torch.linalg.eig(A)."""
    def eq(self, other: Tensor | Number) -> Tensor:
        """is input equal to other, element by element?"""
    def eq_(self, other: Tensor | Number) -> Self:
        """eq, in place."""
    def equal(self, other: Tensor) -> builtins.bool:
        """do both have the same shape and the same elements?"""
    def erf(self) -> Tensor:
        """the error function of each element."""
    def erf_(self) -> Self:
        """erf, in place."""
    def erfc(self) -> Tensor:
        """1 - erf(x) of each element, precise where that is small."""
    def erfc_(self) -> Self:
        """erfc, in place."""
    def erfinv(self) -> Tensor:
        """the number whose error function is each element."""
    def erfinv_(self) -> Self:
        """erfinv, in place."""
    def exp(self) -> Tensor:
        """e to the power of each element."""
    def exp2(self) -> Tensor:
        """2 to the power of each element."""
    def exp2_(self) -> Self:
        """exp2, in place."""
    def exp_(self) -> Self:
        """exp, in place."""
    @overload
    def expand(self, *size: builtins.int, implicit: builtins.bool = False) -> Tensor:
        """dimensions of size 1 repeated without copying; -1 keeps a size."""
    @overload
    def expand(self, size: Shape, *, implicit: builtins.bool = False) -> Tensor: ...
    def expand_as(self, other: Tensor) -> Tensor:
        """expanded to the shape of other."""
    def expm1(self) -> Tensor:
        """exp(x) - 1 of each element, precise near zero."""
    def expm1_(self) -> Self:
        """expm1, in place."""
    def exponential_(self, lambd: builtins.float = 1.0, *, generator: Generator | None = None) -> Self:
        """numbers of the exponential distribution."""
    def fill_(self, value: Tensor | Number) -> Self:
        """one value, a number or a tensor without dimensions, everywhere."""
    def fill_diagonal_(self, fill_value: Number, wrap: builtins.bool = False) -> Self:
        """set the main diagonal; in a matrix with more rows than columns `wrap` lets it begin again below."""
    def fix(self) -> Tensor:
        """each element without its fraction."""
    def fix_(self) -> Self:
        """fix, in place."""
    def flatten(self, start_dim: Dim = 0, end_dim: Dim = -1) -> Tensor:
        """dimensions start_dim to end_dim made one."""
    @overload
    def flip(self, *dims: builtins.int) -> Tensor:
        """a copy in which the order of the elements along some dimensions is reversed."""
    @overload
    def flip(self, dims: Shape) -> Tensor: ...
    def fliplr(self) -> Tensor:
        """columns in reverse order."""
    def flipud(self) -> Tensor:
        """rows in reverse order."""
    def float(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """as torch.float32."""
    def float_power(self, exponent: Tensor | Number) -> Tensor:
        """input to the power of exponent, computed in double precision."""
    def float_power_(self, exponent: Tensor | Number) -> Self:
        """float_power, in place: of double precision only."""
    def floor(self) -> Tensor:
        """the largest integer not above each element."""
    def floor_(self) -> Self:
        """floor, in place."""
    def floor_divide(self, other: Tensor | Number) -> Tensor:
        """input / other, rounded down. It has no derivative, as in PyTorch."""
    def floor_divide_(self, other: Tensor | Number) -> Self:
        """floor_divide, in place."""
    def fmax(self, other: Tensor) -> Tensor:
        """the larger of each two elements; if one of them is nan, the other."""
    def fmin(self, other: Tensor) -> Tensor:
        """the smaller of each two elements; if one of them is nan, the other."""
    def fmod(self, other: Tensor | Number) -> Tensor:
        """what division rounded towards zero leaves, with the sign of input."""
    def fmod_(self, other: Tensor | Number) -> Self:
        """fmod, in place."""
    def frac(self) -> Tensor:
        """the fraction of each element, with its sign."""
    def frac_(self) -> Self:
        """frac, in place."""
    def frexp(self) -> tuple[Tensor, Tensor]:
        """a named tuple (mantissa, exponent) of which input is mantissa * 2**exponent, element by element, with mantissas between 0.5 and 1 (or -1 and -0.5)."""
    def gather(self, dim: Dim, index: Tensor, *, sparse_grad: builtins.bool = False) -> Tensor:
        """out[i][j] = input[index[i][j]][j] for dim 0, and likewise for the others."""
    def gcd(self, other: Tensor) -> Tensor:
        """the greatest common divisor of each two elements."""
    def gcd_(self, other: Tensor) -> Self:
        """gcd, in place."""
    def ge(self, other: Tensor | Number) -> Tensor:
        """is input at least other, element by element?"""
    def ge_(self, other: Tensor | Number) -> Self:
        """ge, in place."""
    def geometric_(self, p: builtins.float, *, generator: Generator | None = None) -> Self:
        """how many trials it takes until one of probability p succeeds."""
    def geqrf(self) -> return_types.geqrf:
        """the QR decomposition as LAPACK has it: R with the vectors of the reflections below it, and their factors, as linalg.householder_product takes them."""
    def ger(self, vec2: Tensor) -> Tensor:
        """the matrix of all products of an element of one vector with an element of the other."""
    def greater(self, other: Tensor | Number) -> Tensor:
        """is input greater than other, element by element?"""
    def greater_(self, other: Tensor | Number) -> Self:
        """greater, in place."""
    def greater_equal(self, other: Tensor | Number) -> Tensor:
        """is input at least other, element by element?"""
    def greater_equal_(self, other: Tensor | Number) -> Self:
        """greater_equal, in place."""
    def gt(self, other: Tensor | Number) -> Tensor:
        """is input greater than other, element by element?"""
    def gt_(self, other: Tensor | Number) -> Self:
        """gt, in place."""
    def half(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """as torch.float16."""
    def hardshrink(self, lambd: Number = 0.5) -> Tensor:
        """each element, or zero where it is between -lambd and lambd."""
    def hash_tensor(self, dim: DimOrDims = (), *, keepdim: builtins.bool = False, mode: builtins.int = 0) -> Tensor:
        """the bits of all elements (as float64 or int64), or of those along dimensions, combined by exclusive or: a number of 64 bits, which most changes of an element change."""
    def heaviside(self, values: Tensor) -> Tensor:
        """0 below zero, 1 above, and `values` at zero. It has no derivative, as in PyTorch."""
    def heaviside_(self, values: Tensor) -> Self:
        """heaviside, in place."""
    def histc(self, bins: builtins.int = 100, min: Number = 0, max: Number = 0) -> Tensor:
        """how many elements lie in each of some intervals of equal length between min and max; if these are the same, between the smallest and the largest element."""
    @overload
    def histogram(self, bins: builtins.int = 100, *, range: Sequence[builtins.float] | None = None, weight: Tensor | None = None, density: builtins.bool = False) -> return_types.histogram:
        """how many elements (or how much weight) lie in each interval, and the ends of the intervals: `bins` are those ends, or how many of equal length there are."""
    @overload
    def histogram(self, bins: Tensor, *, weight: Tensor | None = None, density: builtins.bool = False) -> return_types.histogram: ...
    @overload
    def hsplit(self, sections: builtins.int) -> tuple[Tensor, ...]:
        """pieces of columns, or of a vector, cut at indices, or in pieces of equal size."""
    @overload
    def hsplit(self, indices: Shape) -> tuple[Tensor, ...]: ...
    def hypot(self, other: Tensor) -> Tensor:
        """the square root of input**2 + other**2, element by element."""
    def hypot_(self, other: Tensor) -> Self:
        """hypot, in place."""
    def i0(self) -> Tensor:
        """the modified Bessel function of the first kind, of order 0, of each element."""
    def i0_(self) -> Self:
        """i0, in place."""
    def igamma(self, other: Tensor) -> Tensor:
        """the regularized lower incomplete gamma function P(input, other)."""
    def igamma_(self, other: Tensor) -> Self:
        """igamma, in place."""
    def igammac(self, other: Tensor) -> Tensor:
        """the regularized upper incomplete gamma function Q(input, other) = 1 - P(input, other)."""
    def igammac_(self, other: Tensor) -> Self:
        """igammac, in place."""
    @property
    def imag(self) -> Tensor:
        """the imaginary part, as a view. Only complex tensors have one."""
    def index_add(self, dim: Dim, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
        """input with alpha times the slices of source added to those that the vector `index` names."""
    def index_add_(self, dim: Dim, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Self:
        """index_add, in place."""
    def index_copy(self, dim: Dim, index: Tensor, source: Tensor) -> Tensor:
        """input with the slices that the vector `index` names replaced by source."""
    def index_copy_(self, dim: Dim, index: Tensor, source: Tensor) -> Self:
        """index_copy, in place."""
    def index_fill(self, dim: Dim, index: Tensor, value: Tensor | Number) -> Tensor:
        """input with the slices that the vector `index` names filled with value."""
    def index_fill_(self, dim: Dim, index: Tensor, value: Tensor | Number) -> Self:
        """index_fill, in place."""
    def index_put(self, indices: Sequence[Tensor | None], values: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """a copy of input with input[indices] = values, or with values added there."""
    def index_put_(self, indices: Sequence[Tensor | None], values: Tensor, accumulate: builtins.bool = False) -> Self:
        """index_put, in place."""
    def index_reduce(self, dim: Dim, index: Tensor, source: Tensor, reduce: builtins.str, *, include_self: builtins.bool = True) -> Tensor:
        """the slices of source that the vector `index` assigns to one slice of input, brought together by their prod, mean, amax or amin."""
    def index_reduce_(self, dim: Dim, index: Tensor, source: Tensor, reduce: builtins.str, *, include_self: builtins.bool = True) -> Self:
        """index_reduce, in place."""
    def index_select(self, dim: Dim, index: Tensor) -> Tensor:
        """the slices of input along `dim` that the vector `index` names."""
    def indices(self) -> Tensor:
        """the places of the values, a column for each."""
    def inner(self, other: Tensor) -> Tensor:
        """the sums of products along the last dimension of both."""
    def int(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """as torch.int32."""
    def inverse(self) -> Tensor:
        """the inverse of a square matrix, as linalg.inv."""
    def is_coalesced(self) -> builtins.bool:
        """is there one value for each place, in order?"""
    def is_conj(self) -> builtins.bool:
        """is it a view, made by conj(), that PyTorch conjugates when it is read? Here it is a copy."""
    def is_contiguous(self, memory_format: MemoryFormat | None = None) -> builtins.bool:
        """do the elements lie in memory one after the other?"""
    def is_neg(self) -> builtins.bool:
        """is it the imaginary part of such a view, which PyTorch negates when it is read?"""
    def is_nonzero(self) -> builtins.bool:
        """is the one element something else than zero?"""
    def is_pinned(self) -> builtins.bool:
        """no, all memory is ordinary memory."""
    def is_same_size(self, other: Tensor) -> builtins.bool:
        """do both have the same shape?"""
    def is_set_to(self, tensor: Tensor) -> builtins.bool:
        """do both show the same memory in the same way?"""
    def is_shared(self) -> builtins.bool:
        """do the elements lie in memory that other processes can see?"""
    def isclose(self, other: Tensor, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False) -> Tensor:
        """|input - other| <= atol + rtol * |other|?"""
    def isfinite(self) -> Tensor:
        """is each element neither infinite nor nan?"""
    def isinf(self) -> Tensor:
        """is each element infinite?"""
    def isnan(self) -> Tensor:
        """is each element not a number?"""
    def isneginf(self) -> Tensor:
        """is each element negative infinity?"""
    def isposinf(self) -> Tensor:
        """is each element positive infinity?"""
    def isreal(self) -> Tensor:
        """has each element no imaginary part?"""
    def istft(self, n_fft: builtins.int, hop_length: builtins.int | None = None, win_length: builtins.int | None = None, window: Tensor | None = None, center: builtins.bool = True, normalized: builtins.bool = False, onesided: builtins.bool | None = None, length: builtins.int | None = None, return_complex: builtins.bool = False) -> Tensor:
        """the inverse of stft: pieces are added up where they overlap, and divided by the sum of the squared windows there."""
    def kron(self, other: Tensor) -> Tensor:
        """the Kronecker product: each element of input times all of other."""
    def kthvalue(self, k: builtins.int, dim: Dim = -1, keepdim: builtins.bool = False) -> return_types.kthvalue:
        """the k-th smallest element along a dimension, and its index."""
    def lcm(self, other: Tensor) -> Tensor:
        """the least common multiple of each two elements."""
    def lcm_(self, other: Tensor) -> Self:
        """lcm, in place."""
    def ldexp(self, other: Tensor) -> Tensor:
        """input * 2**other, element by element."""
    def ldexp_(self, other: Tensor) -> Self:
        """ldexp, in place."""
    def le(self, other: Tensor | Number) -> Tensor:
        """is input at most other, element by element?"""
    def le_(self, other: Tensor | Number) -> Self:
        """le, in place."""
    def lerp(self, end: Tensor, weight: Tensor | Number) -> Tensor:
        """input + weight * (end - input)."""
    def lerp_(self, end: Tensor, weight: Tensor | Number) -> Self:
        """lerp, in place."""
    def less(self, other: Tensor | Number) -> Tensor:
        """is input less than other, element by element?"""
    def less_(self, other: Tensor | Number) -> Self:
        """less, in place."""
    def less_equal(self, other: Tensor | Number) -> Tensor:
        """is input at most other, element by element?"""
    def less_equal_(self, other: Tensor | Number) -> Self:
        """less_equal, in place."""
    def lgamma(self) -> Tensor:
        """the logarithm of the absolute value of the gamma function of each element."""
    def lgamma_(self) -> Self:
        """lgamma, in place."""
    def log(self) -> Tensor:
        """the natural logarithm of each element."""
    def log10(self) -> Tensor:
        """the logarithm of each element to base 10."""
    def log10_(self) -> Self:
        """log10, in place."""
    def log1p(self) -> Tensor:
        """log(1 + x) of each element, precise near zero."""
    def log1p_(self) -> Self:
        """log1p, in place."""
    def log2(self) -> Tensor:
        """the logarithm of each element to base 2."""
    def log2_(self) -> Self:
        """log2, in place."""
    def log_(self) -> Self:
        """log, in place."""
    def log_normal_(self, mean: builtins.float = 1.0, std: builtins.float = 2.0, *, generator: Generator | None = None) -> Self:
        """exp of normally distributed numbers."""
    def log_softmax(self, dim: Dim, dtype: Dtype | None = None) -> Tensor:
        """log(softmax(input)), without the loss of precision."""
    def logaddexp(self, other: Tensor) -> Tensor:
        """log(exp(input) + exp(other)), without overflow."""
    def logaddexp2(self, other: Tensor) -> Tensor:
        """log2(2**input + 2**other), without overflow."""
    def logcumsumexp(self, dim: Dim) -> Tensor:
        """log(cumsum(exp(input))) along a dimension, computed without overflow."""
    def logdet(self) -> Tensor:
        """the logarithm of the determinant of a square matrix; nan if that is negative."""
    def logical_and(self, other: Tensor) -> Tensor:
        """are both nonzero?"""
    def logical_and_(self, other: Tensor) -> Self:
        """logical_and, in place."""
    def logical_not(self) -> Tensor:
        """is each element zero?"""
    def logical_not_(self) -> Self:
        """logical_not, in place."""
    def logical_or(self, other: Tensor) -> Tensor:
        """is one nonzero?"""
    def logical_or_(self, other: Tensor) -> Self:
        """logical_or, in place."""
    def logical_xor(self, other: Tensor) -> Tensor:
        """is exactly one nonzero?"""
    def logical_xor_(self, other: Tensor) -> Self:
        """logical_xor, in place."""
    def logit(self, eps: builtins.float | None = None) -> Tensor:
        """log(x / (1 - x)) of each element, which is first clamped to [eps, 1 - eps]."""
    def logit_(self, eps: builtins.float | None = None) -> Self:
        """logit, in place."""
    def logsumexp(self, dim: DimOrDims, keepdim: builtins.bool = False) -> Tensor:
        """log(sum(exp(input))) along dimensions."""
    def long(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """as torch.int64."""
    def lstsq(self, A: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """removed from PyTorch. Instead: torch.linalg.lstsq(A, B), with the arguments in this order."""
    def lt(self, other: Tensor | Number) -> Tensor:
        """is input less than other, element by element?"""
    def lt_(self, other: Tensor | Number) -> Self:
        """lt, in place."""
    def lu(self, pivot: builtins.bool = True, get_infos: builtins.bool = False, out: Any = None) -> tuple[Tensor, ...]:
        """what torch.linalg.lu_factor returns, or lu_factor_ex."""
    def lu_solve(self, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
        """the solution of AX = b for the matrix A that lu_factor has decomposed."""
    @property
    def mH(self) -> Tensor:
        """mH: the last two dimensions exchanged, and conjugated."""
    @property
    def mT(self) -> Tensor:
        """mT: the last two dimensions exchanged."""
    def map2_(self, x: Tensor, y: Tensor, callable: Any) -> Self:
        """each element replaced by what a function makes of it and of the elements of x and y."""
    def map_(self, other: Tensor, callable: Any) -> Self:
        """each element replaced by what a function makes of it and of the element of `other`."""
    def masked_fill(self, mask: Tensor, value: Tensor | Number) -> Tensor:
        """value where the mask is True, input elsewhere."""
    def masked_fill_(self, mask: Tensor, value: Tensor | Number) -> Self:
        """masked_fill, in place."""
    def masked_scatter(self, mask: Tensor, source: Tensor) -> Tensor:
        """the elements of source, one after the other, where the mask is True."""
    def masked_scatter_(self, mask: Tensor, source: Tensor) -> Self:
        """masked_scatter, in place."""
    def masked_select(self, mask: Tensor) -> Tensor:
        """the elements where the mask is True, in one dimension."""
    def matmul(self, other: Tensor) -> Tensor:
        """the product of two tensors: of vectors, matrices, or stacks of matrices, whose leading dimensions are broadcast."""
    def matrix_exp(self) -> Tensor:
        """the exponential of a square matrix, 1 + A + A A / 2 + ..."""
    def matrix_power(self, n: builtins.int) -> Tensor:
        """a square matrix times itself, n times; of its inverse, if n is negative."""
    @overload
    def max(self) -> Tensor:
        """the largest element; the largest along a dimension as (values, indices); the largest of each two."""
    @overload
    def max(self, other: Tensor) -> Tensor: ...
    @overload
    def max(self, dim: Dim, keepdim: builtins.bool = False) -> return_types.max: ...
    def maximum(self, other: Tensor) -> Tensor:
        """the larger of each two elements; nan if one of them is."""
    @overload
    def mean(self, *, dtype: Dtype | None = None) -> Tensor:
        """the mean of all elements, or along dimensions."""
    @overload
    def mean(self, dim: DimOrDims | None, keepdim: builtins.bool = False, *, dtype: Dtype | None = None) -> Tensor: ...
    @overload
    def median(self) -> Tensor:
        """the median, nan if there is a nan. Along a dimension, as (values, indices)."""
    @overload
    def median(self, dim: Dim, keepdim: builtins.bool = False) -> return_types.median: ...
    @overload
    def min(self) -> Tensor:
        """the smallest element; the smallest along a dimension as (values, indices); the smallest of each two."""
    @overload
    def min(self, other: Tensor) -> Tensor: ...
    @overload
    def min(self, dim: Dim, keepdim: builtins.bool = False) -> return_types.min: ...
    def minimum(self, other: Tensor) -> Tensor:
        """the smaller of each two elements; nan if one of them is."""
    def mm(self, mat2: Tensor) -> Tensor:
        """the product of two matrices, (n, k) with (k, m)."""
    def mode(self, dim: Dim = -1, keepdim: builtins.bool = False) -> return_types.mode:
        """the most frequent element along a dimension, the smallest of several, and where it is last."""
    def module_load(self, other: Tensor, assign: builtins.bool = False) -> Tensor:
        """what takes the place of this parameter or buffer when `load_state_dict` swaps tensors: the other one, or this one with its values. Subclasses may return something else."""
    def moveaxis(self, source: DimOrDims, destination: DimOrDims) -> Tensor:
        """the dimensions `source` moved to the places `destination`."""
    def movedim(self, source: DimOrDims, destination: DimOrDims) -> Tensor:
        """the dimensions `source` moved to the places `destination`."""
    def msort(self) -> Tensor:
        """the elements in order along the first dimension."""
    def mul(self, other: Tensor | Number) -> Tensor:
        """input * other."""
    def mul_(self, other: Tensor | Number) -> Self:
        """mul, in place."""
    def multinomial(self, num_samples: builtins.int, replacement: builtins.bool = False, *, generator: Generator | None = None, out: Tensor | None = None) -> Tensor:
        """indices drawn with probabilities in proportion to each row of input."""
    def multiply(self, other: Tensor | Number) -> Tensor:
        """input * other."""
    def multiply_(self, other: Tensor | Number) -> Self:
        """multiply, in place."""
    def mv(self, vec: Tensor) -> Tensor:
        """the product of a matrix (n, k) and a vector (k)."""
    def mvlgamma(self, p: builtins.int) -> Tensor:
        """the logarithm of the multivariate gamma function of dimension p of each element."""
    def mvlgamma_(self, p: builtins.int) -> Self:
        """mvlgamma, in place."""
    def nan_to_num(self, nan: builtins.float | None = None, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> Tensor:
        """each element, with these numbers in place of nan and of infinities (None: the largest and smallest that there are)."""
    def nan_to_num_(self, nan: builtins.float | None = None, posinf: builtins.float | None = None, neginf: builtins.float | None = None) -> Self:
        """nan_to_num, in place."""
    def nanmean(self, dim: DimOrDims | None = None, keepdim: builtins.bool = False, *, dtype: Dtype | None = None) -> Tensor:
        """the mean of all elements that are not nan."""
    @overload
    def nanmedian(self) -> Tensor:
        """the median of the elements that are numbers. Along a dimension, as (values, indices)."""
    @overload
    def nanmedian(self, dim: Dim, keepdim: builtins.bool = False) -> return_types.nanmedian: ...
    def nanquantile(self, q: builtins.float | Tensor, dim: Dim | None = None, keepdim: builtins.bool = False, *, interpolation: builtins.str = 'linear') -> Tensor:
        """quantile of those elements that are not nan."""
    def nansum(self, dim: DimOrDims | None = None, keepdim: builtins.bool = False, *, dtype: Dtype | None = None) -> Tensor:
        """the sum of all elements that are not nan."""
    def narrow(self, dim: Dim, start: builtins.int | Tensor, length: builtins.int) -> Tensor:
        """`length` positions of dimension `dim`, from `start` on, as a view."""
    def narrow_copy(self, dim: Dim, start: builtins.int | Tensor, length: builtins.int) -> Tensor:
        """a copy of narrow(dim, start, length)."""
    def ne(self, other: Tensor | Number) -> Tensor:
        """is input different from other, element by element?"""
    def ne_(self, other: Tensor | Number) -> Self:
        """ne, in place."""
    def neg(self) -> Tensor:
        """each element with its sign changed."""
    def neg_(self) -> Self:
        """neg, in place."""
    def negative(self) -> Tensor:
        """each element with its sign changed."""
    def negative_(self) -> Self:
        """negative, in place."""
    @overload
    def new(self, *size: builtins.int, device: Device | None = None) -> Tensor:
        """the old constructor in the dtype of this tensor."""
    @overload
    def new(self, data: Sequence[Any] | Tensor, *, device: Device | None = None) -> Tensor: ...
    @overload
    def new_empty(self, *size: builtins.int, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
        """a tensor in the dtype of this one whose values are not set."""
    @overload
    def new_empty(self, size: Shape, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor: ...
    def new_empty_strided(self, size: Shape, stride: Shape, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
        """as empty_strided, in the dtype of this tensor."""
    def new_full(self, size: Shape, fill_value: Number, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
        """one value in the dtype of this tensor."""
    @overload
    def new_ones(self, *size: builtins.int, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
        """ones in the dtype of this tensor."""
    @overload
    def new_ones(self, size: Shape, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor: ...
    def new_tensor(self, data: Any, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
        """a new leaf with a copy of data in the dtype of this tensor."""
    @overload
    def new_zeros(self, *size: builtins.int, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor:
        """zeros in the dtype of this tensor."""
    @overload
    def new_zeros(self, size: Shape, *, dtype: Dtype | None = None, layout: Layout | None = None, device: Device | None = None, requires_grad: builtins.bool | None = False, pin_memory: builtins.bool | None = False) -> Tensor: ...
    def nextafter(self, other: Tensor) -> Tensor:
        """the next float after input in the direction of other."""
    def nextafter_(self, other: Tensor) -> Self:
        """nextafter, in place."""
    @overload
    def nonzero(self, *, as_tuple: Literal[False] = False) -> Tensor:
        """the positions of the elements that are not zero, one row for each; with as_tuple one vector for each dimension."""
    @overload
    def nonzero(self, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...
    def nonzero_static(self, *, size: builtins.int, fill_value: builtins.int = -1) -> Tensor:
        """exactly `size` rows of nonzero, filled up or cut off."""
    def norm(self, p: Number | builtins.str | None = 'fro', dim: DimOrDims | None = None, keepdim: builtins.bool = False, dtype: Dtype | None = None) -> Tensor:
        """(sum of abs(x)**p) ** (1/p), of all elements or along dimensions; 'fro' is p = 2, and 'nuc' the sum of the singular values of the matrices in two dimensions."""
    def normal_(self, mean: builtins.float = 0.0, std: builtins.float = 1.0, *, generator: Generator | None = None) -> Self:
        """normally distributed numbers."""
    def not_equal(self, other: Tensor | Number) -> Tensor:
        """is input different from other, element by element?"""
    def not_equal_(self, other: Tensor | Number) -> Self:
        """not_equal, in place."""
    def orgqr(self, input2: Tensor) -> Tensor:
        """what torch.linalg.householder_product returns, by its older name."""
    def ormqr(self, input2: Tensor, input3: Tensor, left: builtins.bool = True, transpose: builtins.bool = False) -> Tensor:
        """Q times other, where Q is the product of the reflections in input and tau, as geqrf returns them; or with left=False other times Q, or with transpose=True the adjoint of Q."""
    def outer(self, vec2: Tensor) -> Tensor:
        """the matrix of all products of an element of one vector with an element of the other."""
    @overload
    def permute(self, *dims: builtins.int) -> Tensor:
        """the dimensions in another order."""
    @overload
    def permute(self, dims: Shape) -> Tensor: ...
    def pin_memory(self) -> Tensor:
        """refused, there is no device to pin memory for."""
    def pinverse(self, rcond: builtins.float = 1e-15) -> Tensor:
        """the pseudo-inverse, in which singular values up to rcond times the largest count as zero."""
    def polygamma(self, n: builtins.int) -> Tensor:
        """the n-th derivative of digamma at each element."""
    def polygamma_(self, n: builtins.int) -> Self:
        """polygamma, in place."""
    def positive(self) -> Tensor:
        """the tensor itself."""
    def pow(self, exponent: Tensor | Number) -> Tensor:
        """input to the power of exponent, either of them a tensor or a number."""
    def pow_(self, exponent: Tensor | Number) -> Self:
        """pow, in place."""
    def prelu(self, weight: Tensor) -> Tensor:
        """x above zero, weight * x below; one weight for all, or one for each channel."""
    @overload
    def prod(self, *, dtype: Dtype | None = None) -> Tensor:
        """the product of all elements, or along a dimension."""
    @overload
    def prod(self, dim: Dim, keepdim: builtins.bool = False, *, dtype: Dtype | None = None) -> Tensor: ...
    def put(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Tensor:
        """elements of the flat input replaced by source, or added to."""
    def put_(self, index: Tensor, source: Tensor, accumulate: builtins.bool = False) -> Self:
        """put, in place."""
    def qr(self, some: builtins.bool = True) -> return_types.qr:
        """Q and R, whose product is input. torch.linalg.qr is the newer form."""
    def quantile(self, q: builtins.float | Tensor, dim: Dim | None = None, keepdim: builtins.bool = False, *, interpolation: builtins.str = 'linear') -> Tensor:
        """the value below which a fraction q of the elements lies; of all of them, or along a dimension."""
    def rad2deg(self) -> Tensor:
        """angles in radians as angles in degrees."""
    def rad2deg_(self) -> Self:
        """rad2deg, in place."""
    @overload
    def random_(self, to: builtins.int | None = None, *, generator: Generator | None = None) -> Self:
        """integers in [from, to), by default all that the dtype holds."""
    @overload
    def random_(self, from_: builtins.int, to: builtins.int | None, *, generator: Generator | None = None) -> Self: ...
    def ravel(self) -> Tensor:
        """all elements in one dimension; a view where that is possible."""
    @property
    def real(self) -> Tensor:
        """the real part, as a view."""
    def reciprocal(self) -> Tensor:
        """one divided by each element."""
    def reciprocal_(self) -> Self:
        """reciprocal, in place."""
    def relu(self) -> Tensor:
        """each element, but not less than zero."""
    def relu_(self) -> Self:
        """relu, in place."""
    def remainder(self, other: Tensor | Number) -> Tensor:
        """what floor division leaves, with the sign of the divisor."""
    def remainder_(self, other: Tensor | Number) -> Self:
        """remainder, in place."""
    def renorm(self, p: Number, dim: Dim, maxnorm: Number) -> Tensor:
        """input with each slice along a dimension made smaller whose p-norm is above maxnorm."""
    def renorm_(self, p: Number, dim: Dim, maxnorm: Number) -> Self:
        """renorm, in place."""
    @overload
    def repeat(self, *repeats: builtins.int) -> Tensor:
        """a copy in which each dimension is repeated so many times."""
    @overload
    def repeat(self, repeats: Shape) -> Tensor: ...
    @overload
    def repeat_interleave(self, *, output_size: builtins.int | None = None) -> Tensor:
        """each element (each slice of a dimension) so many times in a row. repeat_interleave(repeats): each index as many times as the element there says."""
    @overload
    def repeat_interleave(self, repeats: Tensor, dim: Dim | None = None, *, output_size: builtins.int | None = None) -> Tensor: ...
    @overload
    def repeat_interleave(self, repeats: builtins.int, dim: Dim | None = None, *, output_size: builtins.int | None = None) -> Tensor: ...
    @overload
    def reshape(self, *shape: builtins.int) -> Tensor:
        """another shape; a view where that is possible, otherwise a copy."""
    @overload
    def reshape(self, shape: Shape) -> Tensor: ...
    def reshape_as(self, other: Tensor) -> Tensor:
        """reshaped to the shape of other."""
    @overload
    def resize_(self, *size: builtins.int, memory_format: MemoryFormat | None = None) -> Self:
        """another shape in the same memory where that suffices; new elements are not set."""
    @overload
    def resize_(self, size: Shape, *, memory_format: MemoryFormat | None = None) -> Self: ...
    def resize_as_(self, the_template: Tensor, memory_format: MemoryFormat | None = None) -> Self:
        """resize_ to the shape of another tensor; with preserve_format also to its memory format."""
    def resize_as_sparse_(self, the_template: Tensor) -> Self:
        """sparse_resize_ to the size of another."""
    def resolve_conj(self) -> Tensor:
        """the tensor itself, or a copy if it is conjugated when it is read."""
    def resolve_neg(self) -> Tensor:
        """the tensor itself, or a copy if it is negated when it is read."""
    def roll(self, shifts: builtins.int | Shape, dims: DimOrDims | None = None) -> Tensor:
        """elements shifted along dimensions; what leaves at the end enters at the start."""
    def rot90(self, k: builtins.int = 1, dims: Shape = (0, 1)) -> Tensor:
        """turned k times by 90 degrees, from the first of two dimensions to the second."""
    def round(self, *, decimals: builtins.int = 0) -> Tensor:
        """each element rounded to so many decimals, halves to the even neighbour."""
    def round_(self, *, decimals: builtins.int = 0) -> Self:
        """round, in place."""
    def row_indices(self) -> Tensor:
        """where columns begin, or what is in them, in a compressed layout."""
    def rsqrt(self) -> Tensor:
        """one divided by the square root of each element."""
    def rsqrt_(self) -> Self:
        """rsqrt, in place."""
    @overload
    def scatter(self, dim: Dim, index: Tensor, src: Tensor, *, reduce: builtins.str | None = None) -> Tensor:
        """out[index[i][j]][j] = src[i][j] for dim 0, and likewise for the others. In the place of src may stand a number. With reduce='add' or 'multiply' it adds to what is there, or multiplies it."""
    @overload
    def scatter(self, dim: Dim, index: Tensor, value: Number, *, reduce: builtins.str | None = None) -> Tensor: ...
    @overload
    def scatter_(self, dim: Dim, index: Tensor, src: Tensor, *, reduce: builtins.str | None = None) -> Self:
        """scatter, in place."""
    @overload
    def scatter_(self, dim: Dim, index: Tensor, value: Number, *, reduce: builtins.str | None = None) -> Self: ...
    def scatter_add(self, dim: Dim, index: Tensor, src: Tensor) -> Tensor:
        """out[index[i][j]][j] += src[i][j] for dim 0, and likewise for the others."""
    def scatter_add_(self, dim: Dim, index: Tensor, src: Tensor) -> Self:
        """scatter_add, in place."""
    def scatter_reduce(self, dim: Dim, index: Tensor, src: Tensor, reduce: builtins.str, *, include_self: builtins.bool = True) -> Tensor:
        """the elements of src that `scatter` would write to one place, brought together by their sum, prod, mean, amax or amin."""
    def scatter_reduce_(self, dim: Dim, index: Tensor, src: Tensor, reduce: builtins.str, *, include_self: builtins.bool = True) -> Self:
        """scatter_reduce, in place."""
    def select(self, dim: Dim, index: builtins.int) -> Tensor:
        """input without dimension `dim`, at position `index` of it."""
    def select_scatter(self, src: Tensor, dim: Dim, index: builtins.int) -> Tensor:
        """a copy of input in which select(dim, index) is replaced by src."""
    @overload
    def set_(self) -> Self:
        """show the memory of another tensor of the same dtype, as it does or in a shape of its own, or that of a storage. No gradient flows through it."""
    @overload
    def set_(self, source: Any) -> Self: ...
    @overload
    def set_(self, source: Any, storage_offset: builtins.int, size: Shape, stride: Shape = ()) -> Self: ...
    def sgn(self) -> Tensor:
        """sign(input), and for complex numbers x / abs(x)."""
    def sgn_(self) -> Self:
        """sgn, in place."""
    def share_memory_(self) -> Self:
        """move the elements to memory that other processes can see. A process that gets the tensor then sees changes, and makes them for all. Views that were made before keep the old memory."""
    def short(self, memory_format: MemoryFormat | None = None) -> Tensor:
        """as torch.int16."""
    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x)) of each element."""
    def sigmoid_(self) -> Self:
        """sigmoid, in place."""
    def sign(self) -> Tensor:
        """-1, 0 or 1 for each element."""
    def sign_(self) -> Self:
        """sign, in place."""
    def signbit(self) -> Tensor:
        """has each element a minus sign, also if it is zero?"""
    def sin(self) -> Tensor:
        """the sine of each element."""
    def sin_(self) -> Self:
        """sin, in place."""
    def sinc(self) -> Tensor:
        """sin(pi x) / (pi x) of each element, and 1 for zero."""
    def sinc_(self) -> Self:
        """sinc, in place."""
    def sinh(self) -> Tensor:
        """the hyperbolic sine of each element."""
    def sinh_(self) -> Self:
        """sinh, in place."""
    def slice_scatter(self, src: Tensor, dim: Dim = 0, start: builtins.int | None = None, end: builtins.int | None = None, step: builtins.int = 1) -> Tensor:
        """a copy of input with a slice replaced by src."""
    def slogdet(self) -> return_types.slogdet:
        """the sign of the determinant, and the logarithm of its absolute value."""
    def smm(self, mat2: Tensor) -> Tensor:
        """the product of a sparse matrix and a dense one, as a sparse one."""
    def softmax(self, dim: Dim, dtype: Dtype | None = None) -> Tensor:
        """exp(input) divided by its sum along a dimension."""
    def solve(self, A: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """removed from PyTorch. Instead: torch.linalg.solve(A, B)."""
    def sort(self, dim: Dim = -1, descending: builtins.bool = False, *, stable: builtins.bool | None = None) -> return_types.sort:
        """the elements in order along a dimension, and the indices of where they were."""
    def sparse_dim(self) -> builtins.int:
        """how many dimensions are sparse; none of a dense tensor."""
    def sparse_mask(self, mask: Tensor) -> Tensor:
        """the elements at the places of a sparse tensor, as one."""
    def sparse_resize_(self, size: Shape, sparse_dim: builtins.int, dense_dim: builtins.int) -> Self:
        """give a sparse tensor another size, in place."""
    def sparse_resize_and_clear_(self, size: Shape, sparse_dim: builtins.int, dense_dim: builtins.int) -> Self:
        """make it zeros of another size, in place."""
    @overload
    def split(self, split_size_or_sections: builtins.int | Shape, dim: Dim = 0) -> tuple[Tensor, ...]:
        """pieces of one size (the last may be smaller), or of given sizes."""
    @overload
    def split(self, *, split_size: builtins.int | Shape, dim: Dim = 0) -> tuple[Tensor, ...]: ...
    def split_with_sizes(self, split_sizes: Shape, dim: Dim = 0) -> tuple[Tensor, ...]:
        """consecutive pieces of the given sizes."""
    def sqrt(self) -> Tensor:
        """the square root of each element."""
    def sqrt_(self) -> Self:
        """sqrt, in place."""
    def square(self) -> Tensor:
        """each element times itself."""
    def square_(self) -> Self:
        """square, in place."""
    def squeeze(self, dim: DimOrDims | None = None) -> Tensor:
        """without dimensions of size 1, all of them or those of `dim`."""
    def squeeze_(self, dim: DimOrDims | None = None) -> Self:
        """squeeze, in place."""
    def sspaddmm(self, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
        """beta input + alpha mat1 @ mat2, of which mat2 alone is dense."""
    @overload
    def std(self, dim: DimOrDims | None = None, *, correction: Number = 1, keepdim: builtins.bool = False) -> Tensor:
        """the standard deviation, the square root of `var`."""
    @overload
    def std(self, dim: DimOrDims | None, unbiased: builtins.bool, keepdim: builtins.bool = False) -> Tensor: ...
    @overload
    def std(self, unbiased: builtins.bool) -> Tensor: ...
    def stft(self, n_fft: builtins.int, hop_length: builtins.int | None = None, win_length: builtins.int | None = None, window: Tensor | None = None, center: builtins.bool = True, pad_mode: builtins.str = 'reflect', normalized: builtins.bool = False, onesided: builtins.bool | None = None, return_complex: builtins.bool | None = None, align_to_window: builtins.bool | None = None) -> Tensor:
        """the Fourier transforms of pieces of n_fft data points, which begin hop_length apart, times a window: frequencies by times."""
    def storage(self) -> TypedStorage:
        """the memory of the tensor, with its dtype. PyTorch will replace it by untyped_storage()."""
    def storage_type(self) -> StorageType:
        """the class of storages of this dtype."""
    def sub(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """input - alpha * other."""
    def sub_(self, other: Tensor | Number, *, alpha: Number = 1) -> Self:
        """sub, in place."""
    def subtract(self, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        """input - alpha * other."""
    def subtract_(self, other: Tensor | Number, *, alpha: Number = 1) -> Self:
        """subtract, in place."""
    @overload
    def sum(self, *, dtype: Dtype | None = None) -> Tensor:
        """the sum of all elements, or along dimensions."""
    @overload
    def sum(self, dim: DimOrDims | None, keepdim: builtins.bool = False, *, dtype: Dtype | None = None) -> Tensor: ...
    @overload
    def sum_to_size(self, *size: builtins.int) -> Tensor:
        """summed over the dimensions in which `size` is 1 or missing: broadcasting undone."""
    @overload
    def sum_to_size(self, size: Shape) -> Tensor: ...
    def svd(self, some: builtins.bool = True, compute_uv: builtins.bool = True) -> return_types.svd:
        """U, S and V, where U diag(S) V* is input. torch.linalg.svd is the newer form."""
    def swapaxes(self, axis0: Dim, axis1: Dim) -> Tensor:
        """another name of transpose."""
    def swapaxes_(self, axis0: Dim, axis1: Dim) -> Self:
        """another name of transpose_."""
    def swapdims(self, dim0: Dim, dim1: Dim) -> Tensor:
        """two dimensions exchanged."""
    def swapdims_(self, dim0: Dim, dim1: Dim) -> Self:
        """swapdims, in place."""
    def symeig(self, *args: Any, **kwargs: Any) -> Tensor:
        """removed from PyTorch. Instead: torch.linalg.eigh(A), or with UPLO='U' of the upper triangle."""
    def t(self) -> Tensor:
        """a matrix with rows and columns exchanged; vectors and numbers stay as they are."""
    def t_(self) -> Self:
        """t, in place."""
    def take(self, index: Tensor) -> Tensor:
        """elements of the flat input, in the shape of index."""
    def take_along_dim(self, indices: Tensor, dim: Dim | None = None) -> Tensor:
        """gather with broadcasting; of the flat input if dim is None."""
    def tan(self) -> Tensor:
        """the tangent of each element."""
    def tan_(self) -> Self:
        """tan, in place."""
    def tanh(self) -> Tensor:
        """the hyperbolic tangent of each element."""
    def tanh_(self) -> Self:
        """tanh, in place."""
    @overload
    def tensor_split(self, indices_or_sections: builtins.int | Shape | Tensor, dim: Dim = 0) -> tuple[Tensor, ...]:
        """pieces of almost equal size, or cut at the given indices."""
    @overload
    def tensor_split(self, *, indices: Shape, dim: Dim = 0) -> tuple[Tensor, ...]: ...
    @overload
    def tensor_split(self, *, sections: builtins.int, dim: Dim = 0) -> tuple[Tensor, ...]: ...
    @overload
    def tile(self, *dims: builtins.int) -> Tensor:
        """repeat, where missing dimensions count as one."""
    @overload
    def tile(self, dims: Shape) -> Tensor: ...
    @overload
    def to(self, dtype: Dtype, non_blocking: builtins.bool = False, copy: builtins.bool = False, *, memory_format: MemoryFormat | None = None) -> Tensor:
        """this tensor in another dtype; itself if nothing changes and no copy is asked for."""
    @overload
    def to(self, tensor: Tensor, non_blocking: builtins.bool = False, copy: builtins.bool = False, *, memory_format: MemoryFormat | None = None) -> Tensor: ...
    @overload
    def to(self, device: Device | None = None, dtype: Dtype | None = None, non_blocking: builtins.bool = False, copy: builtins.bool = False, *, memory_format: MemoryFormat | None = None) -> Tensor: ...
    def to_dense(self, dtype: Dtype | None = None, *, masked_grad: builtins.bool | None = None) -> Tensor:
        """as a dense tensor, in another dtype if one is given. The gradient is one of the elements that the sparse tensor holds, unless masked_grad is False."""
    def to_sparse(self, sparse_dim: builtins.int | None = None, *, layout: Layout | None = None, blocksize: Shape | builtins.int | None = None, dense_dim: builtins.int | None = None) -> Tensor:
        """what is not zero, as a sparse tensor; the dimensions after the first `sparse_dim` are dense."""
    def to_sparse_bsc(self, blocksize: Shape | builtins.int, dense_dim: builtins.int | None = None) -> Tensor:
        """as a sparse tensor of compressed columns of blocks."""
    def to_sparse_bsr(self, blocksize: Shape | builtins.int, dense_dim: builtins.int | None = None) -> Tensor:
        """as a sparse tensor of compressed rows of blocks."""
    def to_sparse_coo(self) -> Tensor:
        """what is not zero, as a sparse tensor of coordinates and values."""
    def to_sparse_csc(self, dense_dim: builtins.int | None = None) -> Tensor:
        """as a sparse tensor of compressed columns."""
    def to_sparse_csr(self, dense_dim: builtins.int | None = None) -> Tensor:
        """as a sparse tensor of compressed rows."""
    def topk(self, k: builtins.int, dim: Dim = -1, largest: builtins.bool = True, sorted: builtins.bool = True) -> return_types.topk:
        """the k largest (or smallest) elements along a dimension, and their indices."""
    def trace(self) -> Tensor:
        """the sum of the diagonal of a matrix."""
    def transpose(self, dim0: Dim, dim1: Dim) -> Tensor:
        """two dimensions exchanged."""
    def transpose_(self, dim0: Dim, dim1: Dim) -> Self:
        """transpose, in place."""
    def triangular_solve(self, A: Tensor, upper: builtins.bool = True, transpose: builtins.bool = False, unitriangular: builtins.bool = False) -> return_types.triangular_solve:
        """the solution of AX = b for a triangular A, or for its transpose, and a copy of A. torch.linalg.solve_triangular is the newer form."""
    def tril(self, diagonal: builtins.int = 0) -> Tensor:
        """the lower triangle of matrices, zero above `diagonal`."""
    def tril_(self, diagonal: builtins.int = 0) -> Self:
        """tril, in place."""
    def triu(self, diagonal: builtins.int = 0) -> Tensor:
        """the upper triangle of matrices, zero below `diagonal`."""
    def triu_(self, diagonal: builtins.int = 0) -> Self:
        """triu, in place."""
    def true_divide(self, other: Tensor | Number) -> Tensor:
        """input / other, in floating point."""
    def true_divide_(self, other: Tensor | Number) -> Self:
        """true_divide, in place."""
    def trunc(self) -> Tensor:
        """each element without its fraction."""
    def trunc_(self) -> Self:
        """trunc, in place."""
    @overload
    def type(self) -> builtins.str:
        """the name of this tensor's type, or the tensor as another type."""
    @overload
    def type(self, dtype: Dtype | builtins.str | builtins.type, non_blocking: builtins.bool = False) -> Tensor: ...
    def type_as(self, other: Tensor) -> Tensor:
        """this tensor in the dtype of another."""
    def unbind(self, dim: Dim = 0) -> tuple[Tensor, ...]:
        """all slices along a dimension, which disappears."""
    def unflatten(self, dim: Dim, sizes: Shape) -> Tensor:
        """one dimension made several; one of the sizes may be -1."""
    def unfold(self, dimension: Dim, size: builtins.int, step: builtins.int) -> Tensor:
        """all windows of `size` elements along a dimension, `step` apart; the elements of a window are the last dimension of the result."""
    def uniform_(self, from_: builtins.float = 0.0, to: builtins.float = 1.0, *, generator: Generator | None = None) -> Self:
        """uniform numbers in [from, to)."""
    def unique(self, sorted: builtins.bool = True, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: Dim | None = None) -> Tensor | tuple[Tensor, ...]:
        """the distinct elements (or the distinct slices along a dimension), in order; where each element is among them; how often each of them occurs."""
    def unique_consecutive(self, return_inverse: builtins.bool = False, return_counts: builtins.bool = False, dim: Dim | None = None) -> Tensor | tuple[Tensor, ...]:
        """the first of equal elements (or slices along a dimension) that follow each other; which of them each element belongs to; how many there are."""
    def unsafe_chunk(self, chunks: builtins.int, dim: Dim = 0) -> tuple[Tensor, ...]:
        """chunk, but the pieces do not count as views."""
    def unsafe_split(self, split_size: builtins.int, dim: Dim = 0) -> tuple[Tensor, ...]:
        """split by a size, but the pieces do not count as views."""
    def unsafe_split_with_sizes(self, split_sizes: Shape, dim: Dim = 0) -> tuple[Tensor, ...]:
        """split_with_sizes, but the pieces do not count as views."""
    def unsqueeze(self, dim: Dim) -> Tensor:
        """with a new dimension of size 1 at `dim`."""
    def unsqueeze_(self, dim: Dim) -> Self:
        """unsqueeze, in place."""
    def untyped_storage(self) -> UntypedStorage:
        """the memory that the tensor shows, which others may show as well."""
    def values(self) -> Tensor:
        """the values of a sparse tensor, through which gradients flow."""
    @overload
    def var(self, dim: DimOrDims | None = None, *, correction: Number = 1, keepdim: builtins.bool = False) -> Tensor:
        """the variance of all elements, or along dimensions."""
    @overload
    def var(self, dim: DimOrDims | None, unbiased: builtins.bool, keepdim: builtins.bool = False) -> Tensor: ...
    @overload
    def var(self, unbiased: builtins.bool) -> Tensor: ...
    def vdot(self, other: Tensor) -> Tensor:
        """dot(conj(input), other)."""
    @overload
    def view(self, *size: builtins.int) -> Tensor:
        """the same memory under another shape; fails where that needs a copy."""
    @overload
    def view(self, size: Shape) -> Tensor: ...
    @overload
    def view(self, dtype: Dtype) -> Tensor: ...
    def view_as(self, other: Tensor) -> Tensor:
        """viewed under the shape of other."""
    @overload
    def vsplit(self, sections: builtins.int) -> tuple[Tensor, ...]:
        """pieces of rows, cut at indices, or in pieces of equal size."""
    @overload
    def vsplit(self, indices: Shape) -> tuple[Tensor, ...]: ...
    def where(self, condition: Tensor, other: Tensor | Number) -> Tensor:
        """this tensor's elements where the condition holds, of other elsewhere."""
    def xlogy(self, other: Tensor | Number) -> Tensor:
        """input * log(other), and zero where input is zero."""
    def xlogy_(self, other: Tensor | Number) -> Self:
        """xlogy, in place."""
    def xpu(self, device: Device | None = None, non_blocking: builtins.bool = False) -> Tensor:
        """refused, leafgrad computes on the CPU only."""
    def zero_(self) -> Self:
        """zeros everywhere."""
