"""Elements chosen by their size: maximum and minimum of two, and clamp."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import bind, execute
from leafgrad._core.inplace import count_change, is_free
from leafgrad._core.op import Op
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import COMPLEX, finfo, from_numpy_dtype
from leafgrad.kernels import clip, native
from leafgrad.kernels.fused import basic as fused
from leafgrad.kernels.fused.elements import in_place_of_nan
from leafgrad.ops.creation.fresh import zero_like, zeros_like
from leafgrad.ops.creation.numbers import fits, refuse_overflow, to_array
from leafgrad.ops.inplace import in_place
from leafgrad.ops.out import CASTS_OF_TENSORS
from leafgrad.ops.pointwise.comparison import isfinite
from leafgrad.ops.pointwise.elementwise import LIMITS, Binary
from leafgrad.ops.pointwise.where import mismatched_pair, where
from leafgrad.ops.promotion import as_tensor_operand, common_dtype
from leafgrad.ops.registry import Family, Operation, composite, op
from leafgrad.ops.samples import S, pairs
from leafgrad.ops.signature import Number, Tensor

A = Any  # an array, or a tensor under create_graph
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
NUMBER_OR_NONE = (float, int, type(None))


# -- of two tensors ---------------------------------------------------------------------------------------------------


def _extreme(name: str, ufunc: Any, returns: str, vjp_input: Any, vjp_other: Any) -> Any:
    """The larger or the smaller of two tensors, as an operation with these rules."""
    body = {
        "__module__": __name__,
        "__doc__": f"{name}(input, other): {returns}.",
        "kernel": native(ufunc, fills=True),
        "vjp_input": vjp_input,
        "vjp_other": vjp_other,
        "refuses": {COMPLEX: (RuntimeError, f"{name} not implemented for complex tensors.")},
        "in_place": False,
        "takes": ("Tensor", "Tensor"),
        "samples": pairs(numbers=False),
    }
    return op(Operation(name, Binary, body))


def _of_two(name: str, ufunc: Any, better: str, loses: Callable[[A, A], A]) -> Any:
    """maximum or minimum. The gradient goes to the chosen element, and half to each of two equals."""

    def share(g: A, equal: A, lost: A) -> A:
        return where(lost, zeros_like(g), where(equal, g / 2, g))

    def vjp_input(g: A, input: A, other: A) -> A:
        return share(g, input == other, loses(input, other))

    def vjp_other(g: A, input: A, other: A) -> A:
        return share(g, input == other, loses(other, input))

    return _extreme(name, ufunc, f"the {better} of each two elements; nan if one of them is", vjp_input, vjp_other)


maximum = _of_two("maximum", np.maximum, "larger", operator.lt)
minimum = _of_two("minimum", np.minimum, "smaller", operator.gt)


def _of_two_numbers(name: str, ufunc: Any, better: str, loses: Callable[[A, A], A]) -> Any:
    """fmax or fmin. The gradient goes to the chosen element, and of two equals to the first."""

    def first_is_chosen(input: A, other: A) -> A:
        return (other != other) | ~loses(input, other) & (input == input)

    def vjp_input(g: A, input: A, other: A) -> A:
        return where(first_is_chosen(input, other), g, zeros_like(g))

    def vjp_other(g: A, input: A, other: A) -> A:
        return where(first_is_chosen(input, other), zeros_like(g), g)

    returns = f"the {better} of each two elements; if one of them is nan, the other"
    return _extreme(name, ufunc, returns, vjp_input, vjp_other)


fmax = _of_two_numbers("fmax", np.fmax, "larger", operator.lt)
fmin = _of_two_numbers("fmin", np.fmin, "smaller", operator.gt)


# -- clamp ------------------------------------------------------------------------------------------------------------


def is_number(bound: Any) -> bool:
    """Is a bound of clamp a number, or none? If it is nan, nothing is within it."""
    return bound is None or (bound.__class__ is float and bound == bound)


def bounded(x: Any, low: Any, high: Any, *out: Any) -> Any:
    """The kernel of clamp: elements of an array, but not below `low` and not above `high`; None is no bound."""
    if low.__class__ is float and high.__class__ is float and -math.inf < low < high:  # what is asked below, at once
        if x.dtype is F32 or x.dtype is F64:
            return fused.clamp(x, low, high, *out)
    if (x.dtype is F32 or x.dtype is F64) and is_number(low) and is_number(high):
        return fused.clamp(x, -math.inf if low is None else low, math.inf if high is None else high, *out)
    limits = LIMITS.get(x.dtype)
    if limits is None or x.__class__ is not np.ndarray:  # np.clip would make float32 of bfloat16
        x = x if low is None else np.maximum(x, low, *out)
        return x if high is None else np.minimum(x, high, *out)
    return clip(x, limits[0] if low is None else low, limits[1] if high is None else high, *out)


def is_usual(bound: Any) -> bool:
    return bound is None or (bound.__class__ is float and -60_000 < bound < 60_000)


def _bounds(name: str, input: TensorBase, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Input and bounds in their common dtype, the bounds as numbers if they are floats, otherwise as arrays."""
    own = input.array.dtype
    if (own is F32 or own is F64) and is_usual(low) and is_usual(high):
        return input, low, high
    for bound in (low, high) if own.kind != "c" else ():
        if bound is not None and not isinstance(bound, complex) and not -60_000 < bound < 60_000:
            refuse_overflow(bound, common_dtype(input, bound))
    if own.kind == "f" and low.__class__ in NUMBER_OR_NONE and high.__class__ in NUMBER_OR_NONE:  # the common case
        return input, None if low is None else float(low), None if high is None else float(high)
    kind = common_dtype(input, *[v for v in (low, high) if v is not None])
    if isinstance(low, complex) or isinstance(high, complex):
        raise RuntimeError("value cannot be converted to type double without overflow")
    if kind.is_complex:
        raise NotImplementedError(f"{name} is not supported for complex types")
    if input.array.dtype != kind.np:
        input = input.to(kind)  # type: ignore[attr-defined]
    bounds = [None if v is None else to_array(v, kind) for v in (low, high)]
    return input, bounds[0], bounds[1]


def _kept(g: A, input: A, min: A, max: A) -> A:
    """The gradient where an element is within its bounds."""
    if is_number(min) and is_number(max):
        return fused.clamp_backward(g, input, -math.inf if min is None else min, math.inf if max is None else max)
    inside: Any = True
    if min is not None:
        inside = input >= min
    if max is not None:
        inside = inside & (input <= max)
    return where(inside, g, zero_like(g))


@op
class clamp(Family):
    """clamp(input, min=None, max=None): each element, but not below min and not above max."""

    options = ("min", "max")
    jvp = "elementwise"
    vmap = "elementwise"
    follows_layout = True
    node_name = "ClampBackward1"
    node_names = ("ClampMinBackward0", "ClampMaxBackward0")  # what clamp_min and clamp_max record
    aten = {"ClampBackward1": "clamp", "ClampMinBackward0": "clamp_min", "ClampMaxBackward0": "clamp_max"}
    aliases = ("clip",)
    out = CASTS_OF_TENSORS

    kernel = bounded
    writes_into = True
    vjp = _kept

    def call(input: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
        if min is None and max is None:
            raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
        return _clamp("clamp", input, min, max, clamp.core, clamp_by_tensors.core)

    def in_place(self: Tensor, min: Tensor | Number | None = None, max: Tensor | Number | None = None) -> Tensor:
        """clamp_(min=None, max=None): clamp, in place."""
        array = self.array
        limits = LIMITS.get(array.dtype)
        # the usual case: numbers for floats
        if limits is not None and is_free(self) and (min is not None or max is not None):
            if (min is None or fits(min, array.dtype)) and (max is None or fits(max, array.dtype)):
                given: tuple[A, A] = (min, max)  # numbers, as has just been asked
                bounds = [None if bound is None else float(bound) for bound in given]
                execute(clamp.core, (array,), tuple(bounds), array)
                count_change(self)
                return self
        return in_place(self, clamp.function, min, max)

    samples = staticmethod(
        lambda t: [S(t(3, 4), -0.5, 0.7), S(t(5), min=0.0), S(t(5), max=0.3), S(t(0), 0.0, 1.0), S(t(), -1, 1)]
    )


@op
class clamp_by_tensors(Family):
    """clamp_by_tensors(input, min, max): clamp with bounds that are tensors (or None), which get gradients too."""

    inputs = ("input", "min", "max")
    jvp = "elementwise"
    vmap = "elementwise"
    follows_layout = True
    node_name = "ClampBackward0"
    node_names = ("ClampMinBackward1(input, min)", "ClampMaxBackward1(input, max)")  # for one bound
    public_name = ""
    # PyTorch does not take a tensor and a number as bounds of one clamp
    reference = lambda torch, x, *bounds: torch.clamp(
        x, *[torch.tensor(b) if isinstance(b, float) else b for b in bounds]
    )
    aten = "clamp"

    kernel = clamp.kernel
    vjp_input = _kept

    def call(input: A, min: Any, max: Any) -> Any:
        return _clamp("clamp", input, min, max, clamp.core, clamp_by_tensors.core)

    def vjp_min(g: A, input: A, min: A, max: A) -> A:
        below = input < min
        return where(below if max is None else below & (min < max), g, zero_like(g))

    def vjp_max(g: A, input: A, min: A, max: A) -> A:
        above = input > max
        return where(above if min is None else above | (max < min), g, zero_like(g))

    samples = staticmethod(
        lambda t: [S(t(3, 4), t(3, 4), t(3, 4)), S(t(3), t(3), None), S(t(3, 2), None, t(2)), S(t(3), t(), 0.5)]
    )


def _clamp(name: str, input: TensorBase, low: Any, high: Any, by_numbers: Op, by_tensors: Op) -> Any:
    if low.__class__ is float and high.__class__ is float and -60_000 < low < high < 60_000:  # what `_bounds` asks
        kind = input.array.dtype
        if kind is F32 or kind is F64:
            return bind(by_numbers, (input,), (low, high))
    if not isinstance(low, TensorBase) and not isinstance(high, TensorBase):
        input, low, high = _bounds(name, input, low, high)
        return bind(by_numbers, (input,), (low, high))
    kind = common_dtype(input, *[v for v in (low, high) if v is not None])
    if kind.is_complex:
        raise NotImplementedError("clamp is not supported for complex types")
    tensors = [None if v is None else as_tensor_operand(v, input).to(kind) for v in (input, low, high)]  # type: ignore[attr-defined]
    try:
        return bind(by_tensors, tuple(tensors))
    except ValueError:
        arrays = [t.array for t in tensors if t is not None]
        raise errors.broadcast_mismatch("clamp", mismatched_pair(arrays)) from None


_MIN = clamp.named["ClampMinBackward0"], clamp_by_tensors.named["ClampMinBackward1(input, min)"]
_MAX = clamp.named["ClampMaxBackward0"], clamp_by_tensors.named["ClampMaxBackward1(input, max)"]


def _by_one_bound(t: Any) -> list[S]:
    return [S(t(3, 4), -0.5), S(t(3), t(3)), S(t(0), 0), S(t(), 0.1)]


@composite(_by_one_bound, in_place=True, in_place_function=True, out=CASTS_OF_TENSORS)
def clamp_min(input: Tensor, min: Tensor | Number) -> Tensor:
    """clamp_min(input, min): each element, but not below min."""
    return _clamp("clamp_min", input, min, None, *_MIN)


@composite(_by_one_bound, in_place=True, in_place_function=True, out=CASTS_OF_TENSORS)
def clamp_max(input: Tensor, max: Tensor | Number) -> Tensor:
    """clamp_max(input, max): each element, but not above max."""
    return _clamp("clamp_max", input, None, max, *_MAX)


# -- in place of what is no number ------------------------------------------------------------------------------------


LARGEST = {kind: float(np.finfo(kind).max) for kind in (F32, F64)}


def _numbers(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    if x.dtype is F32 or x.dtype is F64:
        most = LARGEST[x.dtype]
        ends = most if posinf is None else posinf, -most if neginf is None else neginf
        return in_place_of_nan(x, nan or 0.0, *ends, most)
    if x.dtype.kind in "biu":
        return x.copy(order="K")
    if x.dtype.kind == "c":
        out = np.empty_like(x)
        out.real, out.imag = [_numbers(part, nan, posinf, neginf) for part in (x.real, x.imag)]
        return out
    limits = finfo(from_numpy_dtype(x.dtype))
    values = (0.0 if nan is None else nan, limits.max if posinf is None else posinf)
    low = limits.min if neginf is None else neginf
    nan, posinf, neginf = [np.asarray(v, np.float64).astype(x.dtype) for v in (*values, low)]
    return np.where(x != x, nan, np.where(x == np.inf, posinf, np.where(x == -np.inf, neginf, x)))


@op
class nan_to_num(Family):
    """nan_to_num(input, nan=0.0, posinf=None, neginf=None): each element, with these numbers in place of nan and of
    infinities (None: the largest and smallest that there are)."""

    keeps_zero = True
    options = ("nan", "posinf", "neginf")
    kernel = _numbers
    jvp = "elementwise"
    vmap = "elementwise"
    follows_layout = True
    in_place = True
    in_place_function = True
    holomorphic = False
    out = "nan_to_num: dtype of out: {given.alias} should be same as input: {wanted.alias}"

    def call(
        input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
    ) -> Tensor:
        return bind(nan_to_num.core, (input,), (nan, posinf, neginf))

    def vjp(g: A, input: A) -> A:
        return where(isfinite(input), g, zeros_like(g))

    samples = staticmethod(lambda t: [S(t(3, 4)), S(t(5), 0.5, 3.0, -3.0), S(t(), posinf=1.0), S(t(0))])
