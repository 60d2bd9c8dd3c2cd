"""What optimisers keep for a parameter: its first values, and those of a state that is loaded."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from leafgrad import _dtypes
from leafgrad._core.tensor import TensorBase, wrap

State = dict[str, Any]

_f32: Any = np.dtype(np.float32)
_f64: Any = np.dtype(np.float64)

# What optimisers that were saved long ago do not know of, and what it was then.
YOUNGER_OPTIONS = {
    "amsgrad": False, "capturable": False, "centered": False, "differentiable": False, "foreach": None, "fused": None,
    "maximize": False, "momentum": 0, "nesterov": False,
}  # fmt: skip


def loaded(name: str, value: Any, p: Any) -> Any:
    """A value of a loaded state as the parameter needs it: in its dtype, except for the number of the step."""
    if isinstance(value, TensorBase):
        is_cast = name != "step" and p.is_floating_point()
        return value.to(dtype=p.dtype) if is_cast else value  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return {key: loaded(key, entry, p) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, deque)):
        return type(value)(loaded("", entry, p) for entry in value)
    return value


def step_counter(count: float = 0.0) -> Any:
    """How many steps a parameter has had: a tensor, as in PyTorch."""
    kind = _f64 if _dtypes.get_default_dtype() is _dtypes.float64 else _f32
    return wrap(np.array(count, kind))


def count_in_tensors(state: dict[Any, State]) -> None:
    """States from long ago have numbers of steps that are numbers."""
    for values in state.values():
        if isinstance(values.get("step"), (int, float)):
            values["step"] = step_counter(float(values["step"]))


def zeros_for(p: Any) -> Any:
    """A tensor of zeros with the shape, dtype and memory layout of a parameter."""
    return wrap(np.zeros_like(p.array))


def full_for(p: Any, value: Any) -> Any:
    """The same with a number in place of zero; complex numbers are pairs of it."""
    number = float(value)
    return wrap(np.full_like(p.array, complex(number, number) if p.array.dtype.kind == "c" else number))
