"""`_foreach_...`: operations on lists of tensors, as optimisers use them. Each is the method of the same name of one
tensor after the other; an argument that is a list has one item for each of them, any other is for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad.ops.public_forms import overridable_function
from leafgrad.ops.signature import Dtype, MemoryFormat, Number, Tensor, Tensors

OF_ONE = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma",
    "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc",
)  # fmt: skip
OF_TWO = ("add", "clamp_max", "clamp_min", "div", "maximum", "minimum", "mul", "pow", "sub")
WITH_ALPHA = ("add", "sub")
# A number is a bound, and so are tensors in place, where the methods of these names do not take them.
AS_BOUNDS = {"maximum": "clamp_min", "minimum": "clamp_max"}


# -- lists ------------------------------------------------------------------------------------------------------------


def checked(name: str, tensors: Any, position: int = 1) -> Sequence[TensorBase]:
    """A list of tensors with something in it."""
    if not isinstance(tensors, (list, tuple)):
        kind = type(tensors).__name__
        argument = f"argument 'self' (position {position})"
        raise errors.mistake(TypeError, f"{name}(): {argument} must be tuple of Tensors, not {kind}")
    if not tensors:
        raise errors.mistake(RuntimeError, "Tensor list must have at least one tensor.")
    for i, each in enumerate(tensors):
        if not isinstance(each, TensorBase):
            kind = type(each).__name__
            raise errors.mistake(
                TypeError, f"expected Tensor as element {i} in argument {position - 1}, but got {kind}"
            )
    return tensors


def for_each(tensors: Sequence[Any], value: Any) -> Sequence[Any]:
    """One item of an argument for each tensor."""
    if not isinstance(value, (list, tuple)):
        return [value] * len(tensors)
    if len(value) != len(tensors):
        words = "Tensor list must have same number of elements as scalar list."
        if value and isinstance(value[0], TensorBase):
            words = f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(value)}"
        raise errors.mistake(RuntimeError, words)
    return value


def scalar(value: Any) -> Any:
    """An argument of a function of two: a tensor for all of them has no dimensions."""
    if isinstance(value, TensorBase) and value.array.ndim:
        raise errors.mistake(
            RuntimeError,
            f"scalar tensor expected to be 0 dim but it has {value.array.ndim} dimensions and {value.array.size} "
            "elements.",
        )
    return value


def numbers(value: Any) -> Any:
    """Numbers that are given as the elements of a tensor."""
    return value.tolist() if isinstance(value, TensorBase) else value  # type: ignore[attr-defined]


# -- functions --------------------------------------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable[..., Any]] = {}


def put(method: str, doc: str, make: Callable[[str], Callable[..., Any]], forms: Sequence[str] = ("", "_")) -> None:
    """The functions `_foreach_<method>` and, in place, `_foreach_<method>_`: the first returns a tuple, the second the
    list that it was given."""
    for form in forms:
        name = f"_foreach_{method}{form}"
        function = make(form)
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"{name}({doc}): {method}{form} of each tensor of a list."
        FUNCTIONS[name] = overridable_function(function)


def applied(form: str, tensors: Sequence[Any], results: list[Any]) -> Any:
    return tensors if form else tuple(results)


def of_one(method: str) -> Callable[[str], Callable[..., Any]]:
    def make(form: str) -> Callable[..., Any]:
        def function(self: Tensors) -> tuple[Tensor, ...]:
            tensors = checked(f"_foreach_{method}{form}", self)
            return applied(form, tensors, [getattr(t, method + form)() for t in tensors])  # type: ignore[no-any-return]

        return function

    return make


def call_of_two(method: str, form: str, tensor: Any, other: Any, **options: Any) -> Any:
    if method in AS_BOUNDS and (form or not isinstance(other, TensorBase)):
        method = AS_BOUNDS[method]
    return getattr(tensor, method + form)(other, **options)


def of_two(method: str) -> Callable[[str], Callable[..., Any]]:
    def make(form: str) -> Callable[..., Any]:
        def function(self: Tensors, other: Tensors | Tensor | Number, *, alpha: Number = 1) -> tuple[Tensor, ...]:
            options = {} if alpha == 1 else {"alpha": alpha}
            if options and method not in WITH_ALPHA:
                raise TypeError(f"_foreach_{method}{form}() got an unexpected keyword argument 'alpha'")
            if method == "pow" and not form and not isinstance(self, (list, tuple)):  # a number to the powers
                return tuple([self**each for each in checked("_foreach_pow", other, 2)])
            tensors = checked(f"_foreach_{method}{form}", self)
            pairs = zip(tensors, for_each(tensors, scalar(other)), strict=True)
            return applied(form, tensors, [call_of_two(method, form, t, o, **options) for t, o in pairs])  # type: ignore[no-any-return]

        return function

    return make


def adding(method: str) -> Callable[[str], Callable[..., Any]]:
    def make(form: str) -> Callable[..., Any]:
        def function(
            self: Tensors,
            tensor1: Tensors,
            tensor2: Tensors,
            scalars: Sequence[Number] | Tensor | Number | None = None,
            *,
            value: Number = 1,
        ) -> tuple[Tensor, ...]:
            tensors = checked(f"_foreach_{method}{form}", self)
            factors = numbers(value if scalars is None else scalars)
            given = [for_each(tensors, v) for v in (tensor1, tensor2, factors)]
            results = [getattr(t, method + form)(a, b, value=v) for t, a, b, v in zip(tensors, *given, strict=True)]
            return applied(form, tensors, results)  # type: ignore[no-any-return]

        return function

    return make


def _lerp(form: str) -> Callable[..., Any]:
    def function(self: Tensors, tensors1: Tensors, weight: Tensors | Number) -> tuple[Tensor, ...]:
        tensors = checked(f"_foreach_lerp{form}", self)
        given = [for_each(tensors, v) for v in (tensors1, weight)]
        results = [getattr(t, f"lerp{form}")(end, w) for t, end, w in zip(tensors, *given, strict=True)]
        return applied(form, tensors, results)  # type: ignore[no-any-return]

    return function


def _clone(form: str) -> Callable[..., Any]:
    def function(self: Tensors, *, memory_format: MemoryFormat | None = None) -> tuple[Tensor, ...]:
        options = {} if memory_format is None else {"memory_format": memory_format}
        return tuple([t.clone(**options) for t in checked("_foreach_clone", self)])  # type: ignore[attr-defined]

    return function


def _copy(form: str) -> Callable[..., Any]:
    def function(self: Tensors, src: Tensors, non_blocking: bool = False) -> Tensors:
        tensors = checked("_foreach_copy_", self)
        for target, source in zip(tensors, for_each(tensors, src), strict=True):
            target.copy_(source, non_blocking)  # type: ignore[attr-defined]
        return tensors

    return function


def _norm(form: str) -> Callable[..., Any]:
    def function(self: Tensors, ord: Number = 2, dtype: Dtype | None = None) -> tuple[Tensor, ...]:
        return tuple([t.norm(ord, dtype=dtype) for t in checked("_foreach_norm", self)])  # type: ignore[attr-defined]

    return function


def _powsum(form: str) -> Callable[..., Any]:
    def function(self: Tensors, ord: Number = 2, dtype: Dtype | None = None) -> tuple[Tensor, ...]:
        powers = [t.abs().pow(ord) for t in checked("_foreach_powsum", self)]  # type: ignore[attr-defined]
        return tuple([power.sum(dtype=dtype) for power in powers])

    return function


def _products(form: str) -> Callable[..., Any]:
    def function(self: Tensors, mat2: Tensors) -> tuple[Tensor, ...]:
        tensors = checked("_foreach_mm", self)
        return tuple([a.mm(b) for a, b in zip(tensors, for_each(tensors, mat2), strict=True)])  # type: ignore[attr-defined]

    return function


for _method in OF_ONE:
    put(_method, "self", of_one(_method))
for _method in OF_TWO:
    put(_method, "self, other, *, alpha=1" if _method in WITH_ALPHA else "self, other", of_two(_method))
for _method in ("addcdiv", "addcmul"):
    put(_method, "self, tensor1, tensor2, scalars=None, *, value=1", adding(_method))
put("lerp", "self, tensors1, weight", _lerp)
put("clone", "self, *, memory_format=None", _clone, [""])
put("copy", "self, src, non_blocking=False", _copy, ["_"])
put("zero", "self", of_one("zero"), ["_"])
put("max", "self", of_one("max"), [""])
put("mm", "self, mat2", _products, [""])
put("norm", "self, ord=2, dtype=None", _norm, [""])
put("powsum", "self, ord=2, dtype=None", _powsum, [""])
