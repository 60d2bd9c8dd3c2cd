# Written by tools/make_stubs.py from the declarations of the operations: not to be edited.

import builtins
from collections.abc import Sequence
from typing import Any, Literal, overload

from leafgrad import return_types
from leafgrad._tensor.tensor import Tensor
from leafgrad.ops.signature import Device, Dim, DimOrDims, Dtype, Layout, MemoryFormat, Number, Rounding, Shape
from leafgrad.random import Generator

def cholesky(A: Tensor, *, upper: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """linalg.cholesky(A, *, upper=False): the triangular matrix L of A = L L*, or its adjoint."""
def cholesky_ex(A: Tensor, *, upper: builtins.bool = False, check_errors: builtins.bool = False, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_cholesky_ex:
    """linalg.cholesky_ex(A, *, upper=False, check_errors=False): the triangular matrix L of A = L L*, or its adjoint, and a code that is not zero where A is not positive-definite."""
def cond(input: Tensor, p: Number | builtins.str | None = None, *, out: Tensor | None = None) -> Tensor:
    """linalg.cond(A, p=None): the condition number: the norm of matrices times that of their inverses. None and 2 mean the largest singular value over the smallest, -2 the reverse."""
def cross(input: Tensor, other: Tensor, *, dim: Dim = -1, out: Tensor | None = None) -> Tensor:
    """linalg.cross(input, other, *, dim=-1): the vector product along a dimension of size three."""
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the determinant of a square matrix."""
def diagonal(A: Tensor, *, offset: builtins.int = 0, dim1: Dim = -2, dim2: Dim = -1) -> Tensor:
    """linalg.diagonal(A, *, offset=0, dim1=-2, dim2=-1): the diagonals of matrices, as a view."""
def eig(A: Tensor, *, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_eig:
    """linalg.eig(A): the eigenvalues and eigenvectors of square matrices, as complex numbers."""
def eigh(A: Tensor, UPLO: builtins.str = 'L', *, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_eigh:
    """linalg.eigh(A, UPLO='L'): the eigenvalues, rising, and eigenvectors of Hermitian matrices, of which only the lower or upper triangle is looked at."""
def eigvals(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """linalg.eigvals(A): the eigenvalues of square matrices, as complex numbers, in no order."""
def eigvalsh(A: Tensor, UPLO: builtins.str = 'L', *, out: Tensor | None = None) -> Tensor:
    """linalg.eigvalsh(A, UPLO='L'): the eigenvalues of Hermitian matrices, rising."""
def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """linalg.householder_product(A, tau): the first columns of the product of reflections 1 - tau v v*, whose vectors v stand in the columns of A below the diagonal."""
def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """linalg.inv(A): the inverse of a square matrix."""
def inv_ex(A: Tensor, *, check_errors: builtins.bool = False, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_inv_ex:
    """linalg.inv_ex(A, *, check_errors=False): the inverse, and a code that is not zero where there is none."""
def ldl_factor(A: Tensor, *, hermitian: builtins.bool = False, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_ldl_factor:
    """linalg.ldl_factor(A, *, hermitian=False): L and D of a symmetric (or Hermitian) matrix in one, and the pivots."""
def ldl_factor_ex(A: Tensor, *, hermitian: builtins.bool = False, check_errors: builtins.bool = False, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_ldl_factor_ex:
    """linalg.ldl_factor_ex(A, *, hermitian=False, check_errors=False): L and D of a symmetric (or Hermitian) matrix in one, the pivots, and a code that is not zero where a pivot is."""
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """linalg.ldl_solve(LD, pivots, B, *, hermitian=False): the solution of AX = B, where A is given as linalg.ldl_factor returns it."""
def lstsq(input: Tensor, b: Tensor, rcond: builtins.float | None = None, *, driver: builtins.str | None = None, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_lstsq:
    """linalg.lstsq(A, B, rcond=None, *, driver=None): the X for which the squares of AX - B are least, the sums of these squares, the rank of A, and its singular values, if the driver computes them."""
def lu(A: Tensor, *, pivot: builtins.bool = True, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_lu:
    """linalg.lu(A, *, pivot=True): P, L and U, whose product is A: the order of its rows, and triangular matrices."""
def lu_factor(A: Tensor, *, pivot: builtins.bool = True, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_lu_factor:
    """linalg.lu_factor(A, *, pivot=True): L and U in one matrix, and the rows that were swapped."""
def lu_factor_ex(A: Tensor, *, pivot: builtins.bool = True, check_errors: builtins.bool = False, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_lu_factor_ex:
    """linalg.lu_factor_ex(A, *, pivot=True, check_errors=False): L and U in one matrix, the rows that were swapped, and a code that is not zero where U is singular."""
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: builtins.bool = True, adjoint: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """linalg.lu_solve(LU, pivots, B, *, left=True, adjoint=False): the solution X of AX = B, with left=False of XA = B, for the matrix A of which lu_factor has made LU and pivots, or for its adjoint."""
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """the product of two tensors: of vectors, matrices, or stacks of matrices, whose leading dimensions are broadcast."""
def matrix_exp(A: Tensor) -> Tensor:
    """the exponential of a square matrix, 1 + A + A A / 2 + ..."""
def matrix_norm(A: Tensor, ord: Number | builtins.str = 'fro', dim: Shape = (-2, -1), keepdim: builtins.bool = False, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """linalg.matrix_norm(A, ord='fro', dim=(-2, -1), keepdim=False, *, dtype=None): the norm of the matrices in two dimensions: 'fro' the root of the sum of squares, 'nuc' the sum of the singular values, 2 and -2 the largest and smallest of them, 1 and -1 those of the sums of columns, inf and -inf those of rows."""
def matrix_power(input: Tensor, n: builtins.int, *, out: Tensor | None = None) -> Tensor:
    """a square matrix times itself, n times; of its inverse, if n is negative."""
def matrix_rank(input: Tensor, tol: builtins.float | Tensor | None = None, hermitian: builtins.bool = False, *, atol: builtins.float | Tensor | None = None, rtol: builtins.float | Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """linalg.matrix_rank(A, *, atol=None, rtol=None, hermitian=False): how many singular values are larger than max(atol, rtol * the largest)."""
def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """linalg.multi_dot(tensors): the product of matrices, in the order that takes the fewest multiplications; the first and the last may be vectors."""
def norm(A: Tensor, ord: Number | builtins.str | None = None, dim: DimOrDims | None = None, keepdim: builtins.bool = False, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """linalg.norm(A, ord=None, dim=None, keepdim=False, *, dtype=None): the norm of matrices, if there are two dimensions or the order is one of matrices only, otherwise of vectors."""
def pinv(input: Tensor, rcond: builtins.float | Tensor | None = None, hermitian: builtins.bool = False, *, atol: builtins.float | Tensor | None = None, rtol: builtins.float | Tensor | None = None, out: Tensor | None = None) -> Tensor:
    """linalg.pinv(A, *, atol=None, rtol=None, hermitian=False): the pseudo-inverse of matrices, in which singular values up to max(atol, rtol * the largest) count as zero."""
def qr(A: Tensor, mode: builtins.str = 'reduced', *, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_qr:
    """linalg.qr(A, mode='reduced'): Q and R, whose product is A: a matrix with orthonormal columns, and an upper triangular one. 'complete' makes Q square, 'r' leaves it out."""
def slogdet(A: Tensor, *, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_slogdet:
    """linalg.slogdet(A): the sign of the determinant (or what it is to its absolute value, if complex), and the logarithm of the absolute value."""
def solve(A: Tensor, B: Tensor, *, left: builtins.bool = True, out: Tensor | None = None) -> Tensor:
    """linalg.solve(A, B, *, left=True): the solution X of AX = B, or with left=False of XA = B."""
def solve_ex(A: Tensor, B: Tensor, *, left: builtins.bool = True, check_errors: builtins.bool = False, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_solve_ex:
    """linalg.solve_ex(A, B, *, left=True, check_errors=False): the solution of AX = B, or with left=False of XA = B, and a code that is not zero where A is singular."""
def solve_triangular(A: Tensor, B: Tensor, *, upper: builtins.bool, left: builtins.bool = True, unitriangular: builtins.bool = False, out: Tensor | None = None) -> Tensor:
    """linalg.solve_triangular(A, B, *, upper, left=True, unitriangular=False): the solution X of AX = B, or with left=False of XA = B, where A is a triangular matrix: the other triangle of it is not looked at."""
def svd(A: Tensor, full_matrices: builtins.bool = True, *, driver: builtins.str | None = None, out: tuple[Tensor, ...] | None = None) -> return_types.linalg_svd:
    """linalg.svd(A, full_matrices=True, *, driver=None): U, S and Vh, whose product U diag(S) Vh is A: the singular values, falling, and unitary matrices."""
def svdvals(A: Tensor, *, driver: builtins.str | None = None, out: Tensor | None = None) -> Tensor:
    """linalg.svdvals(A, *, driver=None): the singular values of matrices, falling."""
def tensorinv(A: Tensor, ind: builtins.int = 2, *, out: Tensor | None = None) -> Tensor:
    """linalg.tensorinv(A, ind=2): the inverse of A as a map from its last dimensions to its first `ind`."""
def tensorsolve(A: Tensor, B: Tensor, dims: Shape | None = None, *, out: Tensor | None = None) -> Tensor:
    """linalg.tensorsolve(A, B, dims=None): the X for which the product of A and X over the last dimensions of A is B; `dims` are moved to the end of A before."""
def vander(x: Tensor, *, N: builtins.int | None = None) -> Tensor:
    """linalg.vander(x, *, N=None): the powers from 0 to N - 1 of each element, along a new last dimension."""
def vecdot(x: Tensor, y: Tensor, *, dim: Dim = -1, out: Tensor | None = None) -> Tensor:
    """linalg.vecdot(x, y, *, dim=-1): the sums of conj(x) y along a dimension."""
def vector_norm(x: Tensor, ord: Number = 2, dim: DimOrDims | None = None, keepdim: builtins.bool = False, *, dtype: Dtype | None = None, out: Tensor | None = None) -> Tensor:
    """(sum of abs(x)**ord) ** (1/ord) along dimensions; ord = inf and -inf are the largest and smallest abs(x), ord = 0 is the number of elements that are not zero."""
