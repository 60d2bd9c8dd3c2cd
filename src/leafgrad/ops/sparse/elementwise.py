"""Sparse forms of functions that work element by element: on the values, where zero stays zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, links, wrap
from leafgrad._core.thread_state import state
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.ops.promotion import NUMBERS, common_dtype
from leafgrad.ops.registry import Operation
from leafgrad.ops.sparse.arrays import SparseArray, not_for_sparse, nothing
from leafgrad.ops.sparse.blocks import (
    apply,
    is_sparse,
    record,
    sparse_coalesced,
    sparse_conj,
    sparse_converted,
    sparse_copied,
    sparse_divided,
    sparse_product,
    sparse_scaled,
    sparse_sum,
    sparse_values,
    with_values,
)
from leafgrad.ops.sparse.forms import changed, keeping_zero, sparse_form, take_place, to_strided


def node_name(entry: Any) -> str:
    """What the graph calls a function of the values."""
    return str(entry.core.node_name) if isinstance(entry, Operation) else "PowBackward0"


def on_values(entry: Any) -> Any:
    """The sparse form of a function that is zero at zero: it is computed on the values of a coalesced tensor."""

    def form(input: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        own = apply(sparse_coalesced, input)
        result = with_values(own, entry.function(apply(sparse_values, own), *args, **kwargs), node_name(entry))
        return take_place(input, result) if inplace else result

    return form


keeping_zero.append(on_values)


def in_dtype(t: Any, kind: Any) -> Any:
    """A tensor of any layout in another dtype."""
    if t.array.dtype == kind.np:
        return t
    return apply(sparse_converted, t, kind) if is_sparse(t) else t.to(kind)


def check_shapes(name: str, a: Any, b: Any) -> None:
    if a.array.shape == b.array.shape:
        return
    shapes = [f"[{', '.join(map(str, t.array.shape))}]" for t in (a, b)]
    if is_sparse(a):
        first = f"{name}: expected sizes of 'self' and 'other' to match, but {shapes[0]} != {shapes[1]}"
    else:
        first = (
            f"add: expected 'self' and 'other' to have same size, but self has size {shapes[0]} while other has size "
            f"{shapes[1]} (FYI: dense-sparse addition does not currently support broadcasting)"
        )
    raise errors.mistake(RuntimeError, first)


def summed(name: str, node: str, input: Any, other: Any, alpha: Any) -> Any:
    """input + alpha * other."""
    if not isinstance(input, TensorBase):
        input = wrap_number(input, other)
    if state.depth and isinstance(other, TensorBase) and not is_sparse(other):  # the engine adds in any order
        input, other = other, input
    if not isinstance(other, TensorBase) or not is_sparse(other):
        first = "add(sparse, dense) is not supported. Use add(dense, sparse) instead."
        raise errors.mistake(RuntimeError, first, fix="dense + sparse")
    check_shapes("add", input, other)
    kind = common_dtype(input, other)
    a, b = in_dtype(input, kind), in_dtype(other, kind)
    return record(sparse_sum, node, a, b if alpha == 1 else apply(sparse_scaled, b, alpha))


def wrap_number(value: Any, like: Any) -> Any:
    kind = common_dtype(like, value)
    return wrap(np.asarray(value, kind.np))


@sparse_form("add", "__add__", "__radd__")
def add(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    return summed("add", "AddBackward0", input, other, alpha)


@sparse_form("add_", "__iadd__", any_layout=True)
def add_(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    if not is_sparse(input):
        check_shapes("add", input, other)
    if names_rows(input, other):
        own = other.array
        return input.index_add_(0, wrap(own.indices[0]), wrap(own.values), alpha=alpha)
    return changed("add_", (input, other), {"alpha": alpha}, add)


def names_rows(input: Any, other: Any) -> bool:
    """Is a sparse tensor one of rows of a dense one, as gradients of embeddings are, and nothing to be recorded? Then
    these rows alone change: a step of SGD on 256 of 200,000 takes 0.1 ms, and 4.3 by a dense form of them."""
    if not isinstance(other, TensorBase) or other.array.__class__ is not SparseArray or is_sparse(input):
        return False
    if state.recording and (input.needs_grad or other.needs_grad):
        return False
    own, dense = other.array, input.array
    return bool(own.sparse_dim == 1 and own.shape == dense.shape and own.dtype == dense.dtype)


@sparse_form("sub", "subtract", "__sub__")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    return summed("sub", "SubBackward0", input, other, -alpha)


@sparse_form("rsub", "__rsub__")
def rsub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    return summed("sub", "RsubBackward1", other, input, -alpha)


@sparse_form("mul", "multiply", "__mul__", "__rmul__")
def mul(input: Any, other: Any) -> Any:
    if not isinstance(input, TensorBase):
        input, other = other, input
    if isinstance(other, NUMBERS):
        return apply(sparse_scaled, in_dtype(input, common_dtype(input, other)), other)
    if not isinstance(other, TensorBase):
        return NotImplemented
    kind = common_dtype(input, other)
    return apply(sparse_product, in_dtype(input, kind), in_dtype(other, kind))


@sparse_form("mul_", "__imul__")
def mul_(input: Any, other: Any) -> Any:
    if not is_sparse(input):
        return input.mul_(to_strided(other))
    result = changed("mul_", (input, other), {}, mul)
    if not isinstance(other, TensorBase) or not is_sparse(other):  # then PyTorch does not know any more that it is
        result.array = SparseArray(result.array.indices, result.array.values, result.array.shape)
    return result


@sparse_form("div", "divide", "true_divide", "__truediv__", "__div__")
def div(input: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    check_divisor(other)
    if rounding_mode is not None:
        own = apply(sparse_coalesced, input)
        values = links.functions["div"](apply(sparse_values, own), other, rounding_mode=rounding_mode)
        return with_values(own, values, "DivBackward2")
    if isinstance(other, TensorBase):
        if other.needs_grad:
            return mul(input, links.functions["reciprocal"](other))
        other = other.array.item()
    kind = common_dtype(input, other, as_float=True)
    return apply(sparse_divided, in_dtype(input, kind), other)


@sparse_form("div_", "divide_", "true_divide_", "__itruediv__")
def div_(input: Any, other: Any, *, rounding_mode: Any = None) -> Any:
    check_divisor(other)  # also for a dense tensor, which its sparse divisor would make nan
    return changed("div_", (input, other), {"rounding_mode": rounding_mode}, div)


def check_divisor(other: Any, what: str = "division") -> None:
    if isinstance(other, TensorBase) and (other.array.ndim or is_sparse(other)):
        shape = (
            f"shape [{', '.join(map(str, other.array.shape))}] for divisor" if other.array.ndim else "a sparse divisor"
        )
        raise errors.mistake(
            RuntimeError, f"Sparse {what} requires a scalar or zero-dim dense tensor divisor (got {shape})"
        )


@sparse_form("floor_divide", "__floordiv__")
def floor_divide(input: Any, other: Any) -> Any:
    check_divisor(other, "floor division")
    return div(input, other, rounding_mode="floor")


@sparse_form("__rtruediv__", "__rdiv__", "reciprocal")
def reciprocal(input: Any, *args: Any) -> Any:
    raise not_for_sparse("reciprocal", input.array.layout)


@sparse_form("neg", "negative", "__neg__")
def neg(input: Any) -> Any:
    return record(sparse_scaled, "NegBackward0", input, -1)


@sparse_form("pow", "__pow__")
def pow(input: Any, exponent: Any) -> Any:
    if not isinstance(exponent, NUMBERS) or not is_sparse(input):
        raise not_for_sparse("pow.Tensor_Tensor", (input if is_sparse(input) else exponent).array.layout)
    if exponent == 0:
        return links.functions["ones"](input.shape, dtype=input.dtype)
    own = apply(sparse_coalesced, input)
    return with_values(own, apply(sparse_values, own) ** exponent, "PowBackward0")


@sparse_form("conj", "conj_physical")
def conj(input: Any) -> Any:
    return apply(sparse_conj, input) if input.array.dtype.kind == "c" else input


@sparse_form("real")
def real(input: Any) -> Any:
    return (
        input
        if input.array.dtype.kind != "c"
        else with_values(input, apply(sparse_values, input).real, "RealBackward0")
    )


@sparse_form("imag")
def imag(input: Any) -> Any:
    if input.array.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return with_values(input, apply(sparse_values, input).imag, "ImagBackward0")


@sparse_form("any")
def any(input: Any) -> Any:
    return wrap(np.asarray(input.array.coalesce().values.any()))


@sparse_form("norm", "native_norm")
def norm(input: Any, p: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    if dim not in (None, (), []):
        raise errors.mistake(RuntimeError, "norm_sparse currently only supports full reductions")
    return apply(sparse_values, apply(sparse_coalesced, input)).norm(p, dtype=dtype)


@sparse_form("clone", any_layout=True)
def clone(input: Any, *, memory_format: Any = None) -> Any:
    return apply(sparse_copied, input)


@sparse_form("zero_", any_layout=True)
def zero_(input: Any) -> Any:
    array = input.array
    if isinstance(array, SparseArray):
        made = nothing(array.shape, array.dtype, array.sparse_dim)
    else:
        made = array.with_values(array.values * 0)
    return take_place(input, wrap(made))


@sparse_form("copy_", any_layout=True)
def copy_(input: Any, other: Any, non_blocking: bool = False) -> Any:
    if is_sparse(input) != is_sparse(other):
        kinds = [t.type() for t in (input, other)]
        raise errors.mistake(
            RuntimeError,
            f"copy_() between dense and sparse Tensors is not implemented! Found self type = {kinds[0]} and src type = "
            f"{kinds[1]}",
        )
    kind = from_numpy_dtype(input.array.dtype)
    return take_place(input, apply(sparse_copied, in_dtype(other, kind)))
