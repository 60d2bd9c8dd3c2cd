"""Rounding. These functions are piecewise constant: their gradient is zero wherever there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._dtypes import BOOL, COMPLEX, FLOAT, from_numpy_dtype
from leafgrad.ops.creation.fresh import zeros_like
from leafgrad.ops.pointwise.elementwise import Unary
from leafgrad.ops.registry import Family, Operation, op, registry
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Tensor

A = Any  # an array, or a tensor under create_graph


def _rounding(name: str, ufunc: Callable[[Any], Any], doc: str, **flags: Any) -> Operation:
    def kernel(x: Any) -> Any:
        return x.copy() if x.dtype.kind in "iu" else ufunc(x)

    body = {
        "__doc__": doc,
        "kernel": kernel,
        "vjp": zeros_like,
        "as_float": False,
        "kernel_name": f"{name}_vml_cpu",
        "refuses": {BOOL: None, COMPLEX: (NotImplementedError, f"{name} is not supported for complex inputs")},
        **flags,
    }
    operation = Operation(name, Unary, body)
    registry[name] = operation
    return operation


floor = _rounding("floor", np.floor, "floor(input): the largest integer not above each element.")
ceil = _rounding("ceil", np.ceil, "ceil(input): the smallest integer not below each element.")
trunc = _rounding("trunc", np.trunc, "trunc(input): each element without its fraction.", aliases=("fix",))


@op
class round_(Family):
    """round(input, *, decimals=0): each element rounded to so many decimals, halves to the even neighbour."""

    options = ("decimals",)
    jvp = "elementwise"
    vmap = "elementwise"
    in_place = True
    node_names = ("RoundBackward1",)  # to decimals
    out = True

    def kernel(x: A, decimals: int) -> A:
        if x.dtype.kind in "iu":
            return x.copy()
        if decimals == 0:
            return np.rint(x)
        scale = x.dtype.type(10 ** abs(decimals))
        return np.rint(x * scale) / scale if decimals > 0 else np.rint(x / scale) * scale

    def call(input: Tensor, *, decimals: int = 0) -> Tensor:
        kind = from_numpy_dtype(input.array.dtype)
        if kind.category in (BOOL, COMPLEX) or (decimals and kind.category < FLOAT):
            raise NotImplementedError(
                f"\"round_{'cpu' if decimals else 'vml_cpu'}\" not implemented for '{kind.alias}'"
            )
        core = round_.named["RoundBackward1"] if decimals else round_.core
        return bind(core, (input,), (decimals,))

    def vjp(g: A) -> A:
        return zeros_like(g)

    samples = staticmethod(lambda t: [S(t(3, 2)), S(t(3), decimals=1), S(t(), decimals=-1), S(t(0))])
