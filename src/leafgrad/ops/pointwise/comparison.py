"""Comparison, bits and logic: functions of two tensors that have no gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad._core.bind import bind
from leafgrad._core.tensor import TensorBase, constant
from leafgrad._dtypes import BOOL, COMPLEX, FLOAT
from leafgrad.ops.pointwise.elementwise import is_reflected, not_an_operand, tensors_only
from leafgrad.ops.promotion import BinaryRules, mixed_binary
from leafgrad.ops.registry import Family, Operation, registry
from leafgrad.ops.samples import S, pairs
from leafgrad.ops.signature import Number, Tensor


class Comparison(Family, family=True):
    """bool results, no gradient. Computed in the common dtype of the operands."""

    checked = False
    inputs = ("input", "other")
    differentiable = False
    vmap = "elementwise"
    in_place = True
    out = True
    samples = staticmethod(pairs())

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        core = operation.core
        operation.rules = BinaryRules(False, body.get("refuses", ()), "", operation.kernel_name)

        def function(input: Tensor, other: Tensor | Number) -> Tensor:
            result = compare(core, input, other)
            if result is NotImplemented:
                raise not_an_operand(operation.name, input, other)
            return result

        function.__name__ = function.__qualname__ = operation.name
        function.__doc__ = operation.doc
        return body["wraps"](function) if "wraps" in body else function

    @staticmethod
    def operator(operation: Operation, name: str) -> Callable[..., Any]:
        core = operation.core
        if is_reflected(name):
            return lambda self, other: mixed_binary(core, other, self)
        return lambda self, other: compare(core, self, other)


_FAST = {np.dtype(np.float32), np.dtype(np.float64)}


def compare(core: Any, a: Any, b: Any) -> Any:
    """Apply to two float tensors of one dtype, or to one and a number, at once; to all else by way of promotion."""
    if isinstance(a, TensorBase) and a.array.dtype in _FAST and COMPUTES_FLOATS[core.name]:
        x = a.array
        if isinstance(b, TensorBase):
            y: Any = b.array
            tensors: tuple[Any, ...] = (a, b)
            same = x.dtype is y.dtype
        else:
            same = b.__class__ is int or b.__class__ is float
            y, tensors = constant(b, x.dtype) if same else None, (a, None)
        if same:
            try:
                return bind(core, tensors, (), (x, y))
            except ValueError:
                pass  # shapes that do not fit together: the long way has the words for it
    return mixed_binary(core, a, b)


COMPUTES_FLOATS: dict[str, bool] = {}


def _binary_without_gradient(name: str, ufunc: Any, doc: str, **flags: Any) -> Operation:
    body = {"__doc__": f"{name}(input, other): {doc}", "kernel": ufunc, **flags}
    COMPUTES_FLOATS[name] = FLOAT not in flags.get("refuses", ())
    operation = registry[name] = Operation(name, Comparison, body)
    return operation


def _comparison(name: str, alias: str, ufunc: Any, doc: str, **flags: Any) -> Operation:
    doc = f"is input {doc} other, element by element?"
    return _binary_without_gradient(name, ufunc, doc, aliases=(alias,), operators=(f"__{name}__",), **flags)


eq = _binary_without_gradient("eq", np.equal, "is input equal to other, element by element?", operators=("__eq__",))
ne = _comparison("ne", "not_equal", np.not_equal, "different from")
lt = _comparison("lt", "less", np.less, "less than", refuses=(COMPLEX,))
le = _comparison("le", "less_equal", np.less_equal, "at most", refuses=(COMPLEX,))
gt = _comparison("gt", "greater", np.greater, "greater than", refuses=(COMPLEX,))
ge = _comparison("ge", "greater_equal", np.greater_equal, "at least", refuses=(COMPLEX,))


def _integers(t: Any) -> list[S]:
    return [
        S(t(3, 4, dtype="int64", low=0, high=9), t(4, dtype="int64", low=0, high=5)),
        S(t(3, dtype="int64", low=0, high=9), 3),
        S(t(3, dtype="bool"), t(3, dtype="bool")),
    ]


def _shifts(t: Any) -> list[S]:
    return [S(t(3, 4, dtype="int64", low=0, high=9), t(4, dtype="int64", low=0, high=5))]


def _bits(name: str, ufunc: Any, doc: str, operator: str) -> Operation:
    operators = (f"__{operator}__", f"__r{operator}__")
    refuses = (FLOAT, COMPLEX)
    return _binary_without_gradient(name, ufunc, doc, refuses=refuses, samples=_integers, operators=operators)


bitwise_and = _bits("bitwise_and", np.bitwise_and, "bits set in both.", "and")
bitwise_or = _bits("bitwise_or", np.bitwise_or, "bits set in one or both.", "or")
bitwise_xor = _bits("bitwise_xor", np.bitwise_xor, "bits set in exactly one.", "xor")


def _shift(ufunc: Any, past_the_end: Callable[[Any], Any]) -> Any:
    """Shifts by a negative number or past the width are defined: everything is shifted out."""

    def kernel(x: Any, y: Any) -> Any:
        width = 8 * x.dtype.itemsize
        inside = (y >= 0) & (y < width)
        return np.where(inside, ufunc(x, np.where(inside, y, 0)), past_the_end(x)).astype(x.dtype, copy=False)

    return kernel


bitwise_left_shift = _binary_without_gradient(
    "bitwise_left_shift",
    _shift(np.left_shift, np.zeros_like),
    "bits moved up.",
    refuses=(BOOL, FLOAT, COMPLEX),
    kernel_name="lshift_cpu",
    operators=("__lshift__", "__rlshift__"),
    samples=_shifts,
)
bitwise_right_shift = _binary_without_gradient(
    "bitwise_right_shift",
    _shift(np.right_shift, lambda x: np.where(x < 0, -1, 0)),
    "bits moved down.",
    refuses=(BOOL, FLOAT, COMPLEX),
    kernel_name="rshift_cpu",
    operators=("__rshift__", "__rrshift__"),
    samples=_shifts,
)


def _logical(ufunc: Any) -> Any:
    return lambda x, y: ufunc(x, y)


def _logic(name: str, ufunc: Any, doc: str) -> Operation:
    samples = lambda t: [S(t(3, 4), t(4)), S(t(3, dtype="bool"), t(3)), S(t(0), t(0))]
    return _binary_without_gradient(name, _logical(ufunc), doc, wraps=tensors_only, samples=samples)


logical_and = _logic("logical_and", np.logical_and, "are both nonzero?")
logical_or = _logic("logical_or", np.logical_or, "is one nonzero?")
logical_xor = _logic("logical_xor", np.logical_xor, "is exactly one nonzero?")
