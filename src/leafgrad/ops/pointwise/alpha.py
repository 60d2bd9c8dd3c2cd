"""`alpha`, the factor that sums and differences take for their second operand."""

from __future__ import annotations

from typing import Any

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import BOOL, COMPLEX, FLOAT
from leafgrad._dtypes import dtype as Dtype
from leafgrad.ops.arguments import REFUSED, as_number
from leafgrad.ops.creation.numbers import refuse_overflow, to_array
from leafgrad.ops.promotion import operand

ALPHA = ("(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor",)


def checked_alpha(alpha: Any, kind: Dtype) -> Any:
    """A factor as results of this dtype are computed with, if they can be."""
    if isinstance(alpha, bool) and kind.category != BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if not isinstance(alpha, int) and kind.category < FLOAT:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and kind.category < COMPLEX:
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    refuse_overflow(alpha, kind)
    if kind.category == BOOL:
        return bool(alpha)
    return to_array(alpha, kind).item() if kind.itemsize == 2 else alpha


def alpha_in_front(name: str, input: Any, alpha: Any, other: Any) -> tuple[Any, Any]:
    """The factor and the operand of `add(input, alpha, other)`, which PyTorch has deprecated and still takes."""
    number = as_number(alpha)
    if number is REFUSED or not isinstance(input, TensorBase) or operand(other) is None:
        raise errors.mistake(TypeError, f"{name}() takes 2 positional arguments but 3 were given")
    errors.warn(
        f"This overload of {name} is deprecated:\n\t{name}(Tensor input, Number alpha, Tensor other)\nConsider using "
        f"one of the following signatures instead:\n\t{name}(Tensor input, Tensor other, *, Number alpha = 1)"
    )
    return number, other
