"""Comparison, bits and logic: functions of two tensors that have no gradient; and tests of single elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad._core.bind import binary
from leafgrad._core.recorder import settle
from leafgrad._dtypes import BOOL, COMPLEX, FLOAT
from leafgrad._layouts import empty_like_array
from leafgrad.kernels import native
from leafgrad.kernels.fused import elements
from leafgrad.kernels.language import F32, F64
from leafgrad.ops.out import ELEMENTWISE, SAME_DTYPE
from leafgrad.ops.pointwise.elementwise import Binary, Unary
from leafgrad.ops.promotion import mixed_binary
from leafgrad.ops.registry import Operation, op
from leafgrad.ops.samples import S
from leafgrad.ops.signature import Tensor


class Comparison(Binary, family=True):
    """bool results, no gradient. Computed in the common dtype of the operands."""

    is_pair = False
    differentiable = False
    jvp = "transpose"
    takes = ("Tensor", "Tensor | Number")
    apply: Any = staticmethod(binary)


def _registered(name: str, family: type, kernel: Any, doc: str, **flags: Any) -> Any:
    return op(Operation(name, family, {"__module__": __name__, "__doc__": doc, "kernel": kernel, **flags}))


def _binary_without_gradient(name: str, kernel: Any, doc: str, **flags: Any) -> Any:
    return _registered(name, Comparison, kernel, f"{name}(input, other): {doc}", **flags)


def _comparison(name: str, alias: str, ufunc: Any, doc: str, **flags: Any) -> Any:
    doc = f"is input {doc} other, element by element?"
    return _binary_without_gradient(name, native(ufunc), doc, aliases=(alias,), operators=(f"__{name}__",), **flags)


eq = _binary_without_gradient(
    "eq",
    native(np.equal),
    "is input equal to other, element by element?",
    operators=("__eq__",),
    own_operators=True,
)
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


def _bits(name: str, kernel: Any, doc: str, operator: str, **flags: Any) -> Any:
    operators = (f"__{operator}__", f"__r{operator}__")
    flags = {"refuses": (FLOAT, COMPLEX), "samples": _integers, "own_operators": True, **flags}
    takes = ("Tensor | Number", "Tensor | Number")
    return _binary_without_gradient(name, kernel, doc, apply=mixed_binary, operators=operators, takes=takes, **flags)


bitwise_and = _bits("bitwise_and", native(np.bitwise_and), "bits set in both.", "and")
bitwise_or = _bits("bitwise_or", native(np.bitwise_or), "bits set in one or both.", "or")
bitwise_xor = _bits("bitwise_xor", native(np.bitwise_xor), "bits set in exactly one.", "xor")


# By a negative number or past the width everything is shifted out, in NumPy as in PyTorch.
_SHIFTS = {"refuses": (BOOL, FLOAT, COMPLEX), "samples": _shifts}
bitwise_left_shift = _bits(
    "bitwise_left_shift",
    native(np.left_shift),
    "bits moved up.",
    "lshift",
    kernel_name="lshift_cpu",
    in_python=("__rlshift__",),
    **_SHIFTS,
)
bitwise_right_shift = _bits(
    "bitwise_right_shift",
    native(np.right_shift),
    "bits moved down.",
    "rshift",
    kernel_name="rshift_cpu",
    in_python=("__rrshift__",),
    **_SHIFTS,
)


def _logic(name: str, ufunc: Any, fused: Any, doc: str) -> Any:
    loop = native(ufunc)

    def kernel(x: Any, y: Any, *out: Any) -> Any:
        return fused(x, y, *out) if x.dtype is F32 or x.dtype is F64 else loop(x, y, *out)

    samples = lambda t: [S(t(3, 4), t(4)), S(t(3, dtype="bool"), t(3)), S(t(0), t(0))]
    return _binary_without_gradient(name, kernel, doc, takes=("Tensor", "Tensor"), samples=samples)


logical_and = _logic("logical_and", np.logical_and, elements.both, "are both nonzero?")
logical_or = _logic("logical_or", np.logical_or, elements.either, "is one nonzero?")
logical_xor = _logic("logical_xor", np.logical_xor, elements.only_one, "is exactly one nonzero?")


# -- tests of single elements ------------------------------------------------------------------------------------------


class Test(Unary, family=True):
    """bool for each element of one tensor; no gradient."""

    differentiable = False
    jvp = "transpose"
    as_float = False
    in_place = False
    out = False


class ComposedTest(Test, family=True):
    """One that PyTorch composes of operations with a history: a view that cannot follow its base is refused."""

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        test = Test.public(operation, body)

        def function(input: Tensor) -> Tensor:
            if input.rare is not None:
                settle(input)
            return test(input)

        return function


def _test(name: str, kernel: Any, doc: str, family: type = Test, **flags: Any) -> Any:
    return _registered(name, family, kernel, f"{name}(input): {doc}", **flags)


ONLY_BOOLS = "{} does not support non-boolean outputs."


def _infinity(name: str, value: float, doc: str) -> Any:
    refuses = {COMPLEX: (RuntimeError, f"{name} does not support complex inputs.")}
    return _test(name, lambda x: x == value, doc, out=ONLY_BOOLS.format(name), refuses=refuses, keeps_zero=True)


def _invert(self: Any) -> Any:
    """`~x`."""
    if self.array.dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not.function(self)


isnan = _test("isnan", native(np.isnan), "is each element not a number?", keeps_zero=True)
isinf = _test("isinf", native(np.isinf), "is each element infinite?", keeps_zero=True)
isfinite = _test("isfinite", native(np.isfinite), "is each element neither infinite nor nan?", ComposedTest)
isposinf = _infinity("isposinf", np.inf, "is each element positive infinity?")
isneginf = _infinity("isneginf", -np.inf, "is each element negative infinity?")
signbit = _test(
    "signbit",
    lambda x: np.signbit(x) if x.dtype.kind == "f" else x < 0,
    "has each element a minus sign, also if it is zero?",
    out=ONLY_BOOLS.format("signbit"),
    keeps_zero=True,
    refuses={COMPLEX: (NotImplementedError, "signbit is not implemented for complex tensors.")},
)


def _isreal(x: Any) -> Any:
    if x.dtype.kind == "c":
        return np.equal(x.imag, 0)
    yes = empty_like_array(x, bool)
    yes[...] = True
    return yes


isreal = _test("isreal", _isreal, "has each element no imaginary part?")
logical_not = _test(
    "logical_not",
    native(np.logical_not),
    "is each element zero?",
    in_place=True,
    in_place_function=False,
    out=ELEMENTWISE,
)
bitwise_not = _test(
    "bitwise_not",
    native(np.invert),
    "each element with all bits flipped.",
    samples=lambda t: [S(t(3, dtype="int64", low=0, high=9)), S(t(3, dtype="bool"))],
    refuses=(FLOAT, COMPLEX),
    in_place=True,
    in_place_function=False,
    out=SAME_DTYPE,
    operators={"__invert__": _invert},
    own_operators=True,
)
