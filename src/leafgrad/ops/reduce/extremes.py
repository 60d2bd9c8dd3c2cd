"""Extremes: the largest and smallest elements, and where they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad import errors, return_types
from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase, as_array
from leafgrad.kernels import native_reduction, native_search
from leafgrad.ops.creation.fresh import zero_like
from leafgrad.ops.index.gather import gather
from leafgrad.ops.pointwise.select import maximum, minimum
from leafgrad.ops.pointwise.where import where
from leafgrad.ops.reduce.common import (
    F32,
    F64,
    Reduction,
    dims_of,
    extreme_along,
    extreme_of_all,
    max_reduce,
    min_reduce,
    one_dim,
    raw,
    refused,
    restore,
)
from leafgrad.ops.registry import Family, Operation, composite, op, registry
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Dim, DimOrDims, Tensor
from leafgrad.return_types import named_result

A = Any  # an array, or a tensor under create_graph


@op
class put_along(Family):
    """put_along(input, index, dim, size): zeros, `size` along `dim`, with the elements of input where `index` says."""

    options = ("index", "dim", "size")
    public_name = ""
    reference = lambda torch, x, index, dim, size: torch.zeros(
        *x.shape[:dim], size, *x.shape[dim + 1 :], dtype=x.dtype
    ).scatter(dim, index, x)
    aten = "scatter"
    node_name = "ScatterBackward0"
    jvp = "linear"

    def kernel(x: A, index: Any, dim: int, size: int) -> A:
        out = np.zeros(x.shape[:dim] + (size,) + x.shape[dim + 1 :], x.dtype)
        np.put_along_axis(out, index, x, dim)
        return out

    def call(input: Any, index: TensorBase, dim: int, size: int) -> Any:
        return put_along.record(input, index.array, dim, size)

    def vjp(g: A, index: A, dim: A) -> A:
        return gather(g, index, dim)

    def vmap(batch: A, x: A, index: Any, dim: int, size: int) -> A:
        if not x.ndim:
            return NotImplemented
        return batch.apply((batch.value(x),), (batch.value(index), dim % x.ndim + 1, size))

    samples = staticmethod(lambda t: [S(t(3, 1), t(3, 1, dtype="int64", low=0, high=4), 1, 4)])


# -- max, min ---------------------------------------------------------------------------------------------------------

_WITH_DIM = staticmethod(lambda t: [S(t(3, 4), 0, False), S(t(2, 3, 4), 1, True)])
_FORMS = staticmethod(
    lambda t: [
        *[S(t(3, 4)), S(t(5)), S(t()), S(t(3, 4), 0), S(t(2, 3, 4), -2, keepdim=True), S(t(), 0), S(t(0, 3), 1)],
        *[S(t(3, 4), t(3, 4)), S(t(3, 1), t(4))],
    ]
)


def _extreme(name: str, reduce: Any, find: Any, of_two: Any, best: str) -> tuple[Any, Any]:
    """max or min: (the op for a whole tensor with its three call forms, the op along a dimension)."""

    def call(
        input: Tensor, dim: Dim | Tensor | None = None, keepdim: bool = False, *, other: Tensor | None = None
    ) -> Any:
        x = input.array
        if dim is None and other is None and x.size and x.dtype.kind != "c":
            return bind(whole.core, (input,))
        if isinstance(dim, TensorBase):
            dim, other = None, dim
        if other is not None:
            return of_two.function(input, other)
        if dim is None:
            raise _empty(name) if x.size == 0 else refused(f"{name}_all", input)
        at = one_dim(dim, x.ndim)
        if x.dtype.kind == "c":
            raise RuntimeError(f"{name}(): does not support complex input\n  at {errors.here()}")
        _check_size(name, x, (at,))
        return whole.result_of(along.record(input, at, keepdim))

    def along_kernel(x: Any, dim: int, keepdim: bool) -> tuple[Any, Any]:
        if x.ndim == 0:
            return x.copy(), np.zeros((), np.int64)
        values, indices = extreme_along(x, dim, reduce, find)
        if keepdim:
            return values, indices
        shape = x.shape[:dim] + x.shape[dim + 1 :]
        return values.reshape(shape), indices.reshape(shape)

    def along_vjp(g: A, input_shape: A, dim: A, keepdim: A, out1: A) -> A:
        if not input_shape:
            return g[0].reshape(())
        index = restore(raw(out1), input_shape, (dim,), keepdim)
        return put_along(restore(g[0], input_shape, (dim,), keepdim), index, dim, input_shape[dim])

    def whole_vjp(g: A, input: A, out: A) -> A:
        x, value = raw(input), raw(out)
        won = np.isnan(x) if np.isnan(value) else x == value
        if g.__class__ is np.ndarray and won.flags.c_contiguous and np.count_nonzero(won) == 1:
            back = np.zeros(won.shape, g.dtype)  # one element alone, which is nearly always so, gets all
            back.reshape(-1)[won.argmax()] = g
            return back
        return where(won, g / int(np.count_nonzero(won)), zero_like(g))

    along: Any = Operation(
        f"{name}_dim",
        Family,
        {
            "__module__": __name__,
            "__doc__": f"{name}_dim(input, dim, keepdim): the {best} elements along a dimension, and their indices.",
            "options": ("dim", "keepdim"),
            "results": 2,
            "row_major": True,
            "kernel": native_search(f"{name}_along")(along_kernel),
            "call": lambda input, dim, keepdim: tuple(along.record(input, dim, keepdim)),
            "vjp": along_vjp,
            "vmap": "dims",
            "node_name": f"{name.capitalize()}Backward0",
            "public_name": "",
            "reference": name,
            "aten": name,
            "samples": _WITH_DIM,
        },
    )
    whole: Any = Operation(
        name,
        Reduction,
        {
            "__module__": __name__,
            "__doc__": f"{name}(input), {name}(input, dim, keepdim=False), {name}(input, other): the {best} element; "
            f"the {best} along a dimension as (values, indices); the {best} of each two.",
            "kernel": native_reduction(name)(lambda x: extreme_of_all(x, reduce, find)),
            "call": call,
            "vjp": whole_vjp,
            "vmap": lambda batch, x: batch.wrap(registry["a" + name](batch.flat(x), (1,), False)),
            "node_name": f"{name.capitalize()}Backward1",
            "result_names": ("values", "indices"),
            "samples": _FORMS,
            "signatures": (
                "(input: Tensor) -> Tensor",
                "(input: Tensor, other: Tensor) -> Tensor",
                f"(input: Tensor, dim: Dim, keepdim: bool = False) -> return_types.{name}",
            ),
        },
    )
    return op(whole), op(along)


def _empty(name: str, error: type[Exception] = RuntimeError) -> Exception:
    advice = "" if error is IndexError else " Specify the reduction dim with the 'dim' argument."
    return error(
        f"{name}(): Expected reduction dim to be specified for input.numel() == 0.{advice}\n  at {errors.here()}"
    )


def _check_size(name: str, x: Any, dims: DimOrDims, called: str = "") -> None:
    """There is no largest among no elements. `dims` are as the user gave them."""
    for dim in dims if isinstance(dims, Sequence) else (dims,):
        if x.ndim and x.shape[dim] == 0:
            who = called or f"{name}()"
            raise IndexError(f"{who}: Expected reduction dim {dim} to have non-zero size.\n  at {errors.here()}")


max, max_dim = _extreme("max", max_reduce, np.ndarray.argmax, maximum, "largest")
min, min_dim = _extreme("min", min_reduce, np.ndarray.argmin, minimum, "smallest")


# -- amax, amin -------------------------------------------------------------------------------------------------------


def _even_extreme(name: str, reduce: Any, kernel: str, best: str) -> Any:
    """amax or amin: values only, and a gradient that equals share."""

    def call(input: Tensor, dim: DimOrDims | None = (), keepdim: bool = False) -> Tensor:
        x = input.array
        dims = dims_of(dim, x.ndim)
        if x.size and (x.dtype is F32 or x.dtype is F64):  # the usual call at once
            return bind(operation.core, (input,), (dims, keepdim))
        if x.size == 0:
            if dim is None or dim == ():
                raise _empty(name)
            _check_size(name, x, dim)
        if x.dtype.kind == "c":
            raise refused(kernel, input)
        return operation.record(input, dims, keepdim)

    def vjp(g: A, input: A, out: A, input_shape: A, dims: A, keepdim: A) -> A:
        won = raw(input) == restore(raw(out), input_shape, dims, keepdim)
        counts = np.count_nonzero(won, axis=dims, keepdims=True)
        if g.__class__ is np.ndarray and (counts == 1).all():  # nobody shares, nearly always
            return restore(g, input_shape, dims, keepdim) * won
        share = as_array(won / counts)  # of a single element NumPy makes a scalar, which takes the product over
        return restore(g, input_shape, dims, keepdim) * share.astype(raw(out).dtype)

    body = {
        "__module__": __name__,
        "__doc__": f"{name}(input, dim=(), keepdim=False): the {best} element of all, or along dimensions.",
        "node_names": ("AminmaxBackward0",),
        "options": ("dims", "keepdim"),
        "row_major": True,
        "silent": False,
        "out": "Expected the dtype for input and out to match, but got {wanted.alias} for input's dtype and "
        "{given.alias} for out's dtype.",
        "kernel": native_reduction(name[1:])(lambda x, dims, keepdim: reduce(x, dims, None, None, keepdim)),
        "call": call,
        "vjp": vjp,
        "samples": lambda t: [
            *[S(t(3, 4)), S(t(3, 4), 0), S(t(2, 3, 4), (0, -1), True), S(t()), S(t(), 0), S(t(0, 3), 1)],
        ],
    }
    operation = op(Operation(name, Reduction, body))
    return operation


amax = _even_extreme("amax", max_reduce, "max_values_cpu", "largest")
amin = _even_extreme("amin", min_reduce, "min_values_cpu", "smallest")


# -- argmax, argmin ---------------------------------------------------------------------------------------------------


def _place_of_extreme(name: str, find: Callable[..., Any], best: str) -> Any:
    """argmax or argmin: the index of the first of the best elements."""

    def call(input: Tensor, dim: Dim | None = None, keepdim: bool = False) -> Tensor:
        x = input.array
        if dim.__class__ is int and x.ndim and x.size and (x.dtype is F32 or x.dtype is F64):  # the usual call at once
            return bind(operation.core, (input,), (one_dim(dim, x.ndim), keepdim))
        if x.dtype.kind in "bc":
            kind = "bool" if x.dtype.kind == "b" else "complex"
            raise RuntimeError(f"{name}(): does not support {kind} input\n  at {errors.here()}")
        if dim is None:
            if x.size == 0:
                raise _empty(name, IndexError)
            return operation.record(input, None, keepdim)
        at = one_dim(dim, x.ndim)
        _check_size(name, x, (at,))
        return operation.record(input, at if x.ndim else None, keepdim)

    def vmap(batch: Any, x: A, dim: int | None, keepdim: bool) -> A:
        if dim is not None and x.ndim:
            return batch.apply((batch.value(x),), (dim % x.ndim + 1, keepdim))
        out = batch.run((batch.flat(x),), (1, False))
        return batch.wrap(out.reshape((-1,) + (1,) * x.ndim) if keepdim else out)

    body = {
        "__module__": __name__,
        "__doc__": f"{name}(input, dim=None, keepdim=False): the index of the {best} element, the first of equals.",
        "options": ("dim", "keepdim"),
        "row_major": True,
        "silent": False,
        "kernel": native_search(name)(lambda x, dim, keepdim: find(x, dim, keepdims=keepdim)),
        "call": call,
        "vmap": vmap,
        "differentiable": False,
        "samples": lambda t: [S(t(3, 4)), S(t(3, 4), 0), S(t(3, 4), -1, True), S(t(3), keepdim=True), S(t(), 0)],
    }
    operation = op(Operation(name, Reduction, body))
    return operation


argmax = _place_of_extreme("argmax", np.ndarray.argmax, "largest")
argmin = _place_of_extreme("argmin", np.ndarray.argmin, "smallest")


# -- aminmax ----------------------------------------------------------------------------------------------------------


_AMINMAX: Any = named_result("aminmax", "min", "max")


@composite(lambda t: [S(t(3, 4)), S(t(3, 4), dim=0), S(t(2, 3, 4), dim=-2, keepdim=True), S(t(), dim=0)], out=True)
def aminmax(input: Tensor, *, dim: Dim | None = None, keepdim: bool = False) -> return_types.aminmax:
    """aminmax(input, *, dim=None, keepdim=False): the smallest and the largest element, as (min, max)."""
    x = input.array
    if dim is None and x.size == 0:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    dims = tuple(range(x.ndim)) if dim is None else (one_dim(dim, x.ndim),)
    _check_size("aminmax", x, dims, "aminmax")
    if x.dtype.kind == "c":
        raise refused("aminmax_cpu", input)
    if x.ndim == 0:
        dims = ()
    cores = [operation.named["AminmaxBackward0"] for operation in (amin, amax)]
    return _AMINMAX([bind(core, (input,), (dims, keepdim)) for core in cores])  # type: ignore[no-any-return]
