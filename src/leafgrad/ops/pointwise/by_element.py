"""Elements one by one through a function of the user's, in place: apply_, map_ and map2_."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.inplace import assign
from leafgrad._core.modes import about_to_change
from leafgrad._core.tensor import TensorBase
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.ops.public_forms import checked_methods
from leafgrad.ops.signature import Tensor


def _changed(name: str, function: Callable[..., Any], self: Any, others: dict[str, TensorBase]) -> Any:
    for each in (self, *others.values()):
        if each.needs_grad:
            first = f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
            raise errors.mistake(RuntimeError, first)
    kind = from_numpy_dtype(self.array.dtype)
    for parameter, other in others.items():
        own = from_numpy_dtype(other.array.dtype)
        if own is not kind:
            first = f"{name}: expected torch.{kind.alias}Tensor for '{parameter}' (got torch.{own.alias}Tensor)"
            raise errors.mistake(TypeError, first)
    arrays = [self.array, *[other.expand(self.array.shape).array for other in others.values()]]  # type: ignore[attr-defined]
    numbers = [function(*each) for each in zip(*[x.reshape(-1).tolist() for x in arrays], strict=True)]
    wrong = next((n for n in numbers if not isinstance(n, (int, float, complex, TensorBase, np.generic))), None)
    if wrong is not None:
        raise TypeError(f"must be real number, not {type(wrong).__name__}")
    about_to_change(self)
    assign(self, np.array(numbers).astype(self.array.dtype).reshape(self.array.shape))
    return self


def apply_(self: Tensor, callable: Any) -> Tensor:
    """apply_(callable): each element replaced by what a function of Python's makes of it."""
    return _changed("apply_", callable, self, {})


def map_(self: Tensor, other: Tensor, callable: Any) -> Tensor:
    """map_(other, callable): each element replaced by what a function makes of it and of the element of `other`."""
    return _changed("map_", callable, self, {"other": other})


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Any) -> Tensor:
    """map2_(x, y, callable): each element replaced by what a function makes of it and of the elements of x and y."""
    return _changed("map2_", callable, self, {"x": x, "y": y})


METHODS = checked_methods(apply_, map_, map2_)
