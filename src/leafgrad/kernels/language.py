"""What fused kernels are written in: Python that runs on arrays and on tensors, and is also translated to C.

    @elementwise
    def silu_backward(g: Vector, x: Vector) -> Vector:
        s = sigmoid(x)
        return g * s * (1 + x * (1 - s))

    @rowwise                                    # x is a row, and row_max and row_sum make one number of it
    def softmax(x: Vector) -> Vector:
        e = exp(x - row_max(x))
        return e * (1 / row_sum(e))

    @summed                                     # over all elements
    def squared_error(x: Vector, y: Vector) -> Total:
        return total((x - y) * (x - y))

Such a function has three lives. Where leafgrad was compiled, it is called for float32 and float64 arrays as one loop in
machine code (translator.py, _fused.c). Otherwise it runs as it stands, on NumPy arrays; half precision is computed in
single. And on tensors it runs as it stands, too, and is recorded: so it may be the rule of a gradient.

Arguments, by their annotations:

    Vector    an array; over rows its last dimension is the row
    Updated   an array that the function returns a new value of, in this order; None if the caller has none
    Mask      an array of bools, like a Vector
    Number    an option
    Pair      two options in a tuple, which get names of their own: beta1, beta2 = betas
    PerRow    one number for each row: an array whose last dimension is 1
    Index     the same with int64, the place of an element in its row
    Shared    one vector for all rows

A function returns vectors, conditions, numbers of rows, column_sum(vector), or several of them. Whoever calls it may
give one more argument: the array, or a tuple of arrays, to which results are written; elementwise these may be the
memory of arguments.

Statements are assignments, a return at the end and, elementwise, `if option:` with assignments. Expressions have
+ - * /, **2, comparisons, & | ~ of conditions, `x if option else y`, the functions below, and elementwise kernels of
the same file. What is computed of options alone is double, and has every power.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from leafgrad.kernels import clip
from leafgrad.kernels.halves import converted, widened
from leafgrad.kernels.select import choose

try:
    from leafgrad.kernels import _fused
except ImportError:  # not built
    NATIVE, instructions = False, ""
else:
    NATIVE, instructions = True, _fused.instructions

Vector: TypeAlias = Any
Updated: TypeAlias = Any
Mask: TypeAlias = Any
Number: TypeAlias = Any
Pair: TypeAlias = Any
PerRow: TypeAlias = Any
Index: TypeAlias = Any
Shared: TypeAlias = Any
Total: TypeAlias = Any
A: TypeAlias = Any

# What is done with tensors: leafgrad/_core/fused.py decides.
on_tensors: Callable[..., Any] = lambda kernel, function, args: function(*args)

# -- kernels ----------------------------------------------------------------------------------------------------------


def elementwise(function: Callable[..., Any]) -> Any:
    """A kernel that does the same with every element."""
    return kernel_of(function)


def rowwise(function: Callable[..., Any]) -> Any:
    """A kernel that does the same with every row."""
    return kernel_of(function)


def summed(function: Callable[..., Any]) -> Any:
    """A kernel that makes one number, or several, of all elements."""
    return kernel_of(function)


def written_in_c(function: Callable[..., Any]) -> Any:
    """A kernel that does the same with every element, of which only the form for NumPy is in Python: the other one is
    in special_kernels.h."""
    return kernel_of(function)


F32, F64, ndarray = np.dtype(np.float32), np.dtype(np.float64), np.ndarray


def kernel_of(function: Callable[..., Any]) -> Any:
    count = function.__code__.co_argcount

    def python(*args: Any) -> Any:
        """The function as it stands; half precision by way of single."""
        if len(args) > count:
            return written(kernel(*args[:count]), args[count])
        # Arguments are arrays of one precision or tensors, all of them, so that the first decides as a rule. To look at
        # each would be a thirtieth of a small training step.
        first = args[0]
        if first.__class__ is ndarray and (first.dtype is F32 or first.dtype is F64):
            return function(*args)
        for a in args:
            if a.__class__ is ndarray and is_half(a.dtype):
                return in_dtype(kernel(*[in_single(each, a.dtype) for each in args]), a.dtype)
            if is_tensor(a):
                return on_tensors(kernel, function, args)
        return function(*args)

    python.__name__, python.__doc__ = function.__name__, function.__doc__
    python.__wrapped__ = function  # type: ignore[attr-defined]
    kernel: Callable[..., Any] = python
    if NATIVE:
        with contextlib.suppress(KeyError):  # of a build that is older than the source
            kernel = _fused.Kernel(function.__qualname__.replace(".", "_"), python)
    return kernel


def as_written(kernel: Any) -> Any:
    """The function that a kernel was made of."""
    return getattr(getattr(kernel, "python", kernel), "__wrapped__", kernel)


def is_half(dtype: Any) -> bool:
    return bool(dtype.itemsize == 2 and dtype.kind not in "iu")


def in_single(x: Any, half: Any) -> Any:
    return widened(x) if x.__class__ is np.ndarray and x.dtype == half else x


def in_dtype(results: Any, dtype: Any) -> Any:
    """Results in single precision, rounded."""
    if isinstance(results, tuple):
        return tuple([in_dtype(each, dtype) for each in results])
    return converted(results, dtype) if results.dtype == np.float32 else results


def written(results: Any, out: Any) -> Any:
    """Results, copied to where they are wanted."""
    if not isinstance(results, tuple):
        results, out = (results,), (out,)
        return written(results, out)[0]
    for i, (target, result) in enumerate(zip(out, results)):
        if target is not None:
            np.copyto(target, result, casting="unsafe")
            results = (*results[:i], target, *results[i + 1 :])
    return results


# -- functions --------------------------------------------------------------------------------------------------------
# Tensors have methods of these names, arrays do not.


def exp(x: A) -> A:
    return x.exp() if hasattr(x, "exp") else np.exp(x)


def exp_to_one(x: A) -> A:
    """exp of numbers that are not positive, so that nothing can be too large."""
    return exp(x)


def expm1(x: A) -> A:
    return x.expm1() if hasattr(x, "expm1") else np.expm1(x)


def log(x: A) -> A:
    return x.log() if hasattr(x, "log") else np.log(x)


def log1p(x: A) -> A:
    return x.log1p() if hasattr(x, "log1p") else np.log1p(x)


def tanh(x: A) -> A:
    return x.tanh() if hasattr(x, "tanh") else np.tanh(x)


def sigmoid(x: A) -> A:
    return x.sigmoid() if hasattr(x, "sigmoid") else 1 / (1 + np.exp(-x))


def erf(x: A) -> A:
    if hasattr(x, "erf"):
        return x.erf()
    from leafgrad.kernels import error_functions  # two modules fewer at the start of every program

    return error_functions.erf(x)


def normal_cdf(x: A) -> A:
    """The probability that a standard normal variable is below x, as exact as a sum with numbers near one needs it."""
    return 0.5 + 0.5 * erf(x * math.sqrt(0.5))


def normal_density(x: A) -> A:
    """The derivative of normal_cdf."""
    return exp_to_one(-0.5 * x * x) * (1 / math.sqrt(2 * math.pi))


def sqrt(x: A) -> A:
    return x.sqrt() if hasattr(x, "sqrt") else np.sqrt(x)


def abs(x: A) -> A:
    return x.abs() if hasattr(x, "abs") else np.absolute(x)


def sign(x: A) -> A:
    """-1, 0 or 1; 0 for nan."""
    return x.sign() if hasattr(x, "sign") else (x > 0).astype(x.dtype) - (x < 0)


def isnan(x: A) -> A:
    return x.isnan() if hasattr(x, "isnan") else np.isnan(x)


def copysign(x: A, sign: A) -> A:
    return x.copysign(sign) if hasattr(x, "copysign") else np.copysign(x, sign)


def trunc(x: A) -> A:
    return x.trunc() if hasattr(x, "trunc") else np.trunc(x)


def maximum(a: A, b: A) -> A:
    """The larger of two; nan if one is."""
    if is_tensor(a):
        return a.maximum(b) if is_tensor(b) else a.clamp(min=b)
    return b.clamp(min=a) if is_tensor(b) else np.maximum(a, b)


def minimum(a: A, b: A) -> A:
    if is_tensor(a):
        return a.minimum(b) if is_tensor(b) else a.clamp(max=b)
    return b.clamp(max=a) if is_tensor(b) else np.minimum(a, b)


def not_below(x: A, low: A) -> A:
    """x, or `low` where it is less than that. nan and -0.0 stay."""
    if is_tensor(x):
        return x.clamp(min=low)
    if x.__class__ is ndarray and (x.dtype is F32 or x.dtype is F64):  # a quarter of the time of the step below
        return clip(x, constant(low, x.dtype), constant(math.inf, x.dtype))
    return where(x < low, low, x)


def clipped(x: A, low: A, high: A) -> A:
    """x, but not below `low` and not above `high`. nan and -0.0 stay."""
    if is_tensor(x):
        return x.clamp(low, high)
    if x.__class__ is ndarray and (x.dtype is F32 or x.dtype is F64):
        return clip(x, constant(low, x.dtype), constant(high, x.dtype))
    x = not_below(x, low)
    return where(x > high, high, x)


@functools.lru_cache(maxsize=64)
def constant(number: float, dtype: Any) -> A:
    return np.array(number, dtype)


def where(condition: A, yes: A, no: A) -> A:
    if is_tensor(yes):
        return yes.where(condition, no)
    if is_tensor(no):
        return no.where(~condition, yes)
    if isinstance(yes, float | int):
        yes = np.asarray(yes, getattr(no, "dtype", None))
    if isinstance(no, float | int):
        no = np.asarray(no, yes.dtype)
    return choose(condition, yes, no)


def copied(x: A) -> A:
    """The same in memory of its own."""
    return x.clone() if is_tensor(x) else np.positive(x)


def detached(x: A) -> A:
    """The same without its history."""
    return x.detach() if is_tensor(x) else x


def is_tensor(x: A) -> bool:
    return hasattr(x, "needs_grad")


def row_sum(x: A) -> A:
    return x.sum(-1, keepdim=True) if is_tensor(x) else sum_of_rows(x)


def row_mean(x: A) -> A:
    return x.mean(-1, keepdim=True) if is_tensor(x) else sum_of_rows(x) / x.shape[-1]


def sum_of_rows(x: A) -> A:
    if x.__class__ is not ndarray or not 0 < x.ndim <= 2 or x.shape[-1] > LONG:
        return np.add.reduce(x, -1, keepdims=True)
    # a product with ones: a third of the time of a reduction of short rows
    return x.dot(ones(x.shape[-1], x.dtype)).reshape(*x.shape[:-1], 1)


LONG = 1024  # elements from which on a sum is better added up pairwise


@functools.lru_cache(maxsize=64)
def ones(n: int, dtype: Any) -> A:
    return np.ones(n, dtype)


def row_max(x: A) -> A:
    """The largest element of a row. A number of which nothing is to be differentiated."""
    if is_tensor(x):
        return x.detach().amax(-1, keepdim=True)
    if x.__class__ is not ndarray or not x.ndim or not x.size:
        return np.maximum.reduce(x, -1, keepdims=True)
    # NumPy finds the place of an extreme in half the time of the extreme
    return x.take(x.argmax(-1) + row_starts(x).reshape(x.shape[:-1])).reshape(*x.shape[:-1], 1)


def row_starts(x: A) -> A:
    """Where each row begins, if all lie one behind the other."""
    return starts_of(x.size, x.shape[-1]) if x.size <= SMALL else np.arange(0, x.size, x.shape[-1])


SMALL = 65_536  # elements up to which the time of np.arange counts


@functools.lru_cache(maxsize=64)
def starts_of(size: int, step: int) -> A:
    return np.arange(0, size, step)


def column_sum(x: A) -> A:
    """The sum over all rows, a vector."""
    columns = x.reshape(-1, x.shape[-1])
    # in double precision: NumPy adds one row after the other, which loses digits of long sums
    return columns.sum(0) if is_tensor(x) else np.add.reduce(columns, 0, np.result_type(x.dtype, F64)).astype(x.dtype)


def total(x: A) -> A:
    """The sum over all elements, in a kernel that is `summed`."""
    return np.add.reduce(x, None) if x.__class__ is np.ndarray else x.sum()


def total_of_squares(x: A) -> A:
    """total(x * x)."""
    if x.__class__ is np.ndarray and x.size <= 4096:  # half the time of a product and a sum
        flat = x.reshape(-1)
        return flat.dot(flat)
    return total(x * x)


def pick(x: A, index: A) -> A:
    """The element of a row at an index, a number of the row."""
    if is_tensor(x):
        return x.gather(-1, index)
    return x.take(row_starts(x) + index.reshape(-1)).reshape(index.shape)


def less_at(x: A, index: A, y: A) -> A:
    """A row, with a number subtracted from the element at an index."""
    if is_tensor(x):
        return x.scatter_add(-1, index, -y)
    out = np.array(x, order="C")
    out.reshape(-1)[row_starts(x) + index.reshape(-1)] -= y.reshape(-1)
    return out
