"""`x.grad = g`: what may become the gradient of a tensor."""

from __future__ import annotations

import sys
from typing import Any, Final

from leafgrad._core.events import GRAD, NO_GRADIENT, noted_again
from leafgrad._core.node import take_order
from leafgrad._core.origin import COMPILED
from leafgrad._core.saved import messages
from leafgrad._core.tensor import OWN_DTYPE, RareFields, TensorBase, is_meta

_getframe: Final[Any] = sys._getframe
_DEPTH: Final = 0 if COMPILED else 1  # compiled functions have no frame


def accumulate_anew(t: TensorBase) -> None:
    """A leaf was given other memory: who asks for its gradient now does not mean that of graphs from before."""
    if t.node is None and t.needs_grad:
        if t.rare is None:
            t.rare = RareFields()
        t.rare.accumulates_since = take_order()


def set_grad(t: TensorBase, value: Any) -> None:
    """The setter of `Tensor.grad`, which takes a tensor of the same form, or None."""
    if value is None:
        t._grad = None
        noted_again(NO_GRADIENT, t, _getframe(_DEPTH))
        return
    if not isinstance(value, TensorBase):
        got = type(value).__name__
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {got}")
    if value.array.__class__ is not t.array.__class__ and is_meta(t.array) != is_meta(value.array):
        own, given = ["meta" if is_meta(each.array) else "cpu" for each in (t, value)]
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{given}' to a tensor with device type '{own}'. Please "
            "ensure that the gradient and the tensor are on the same device"
        )
    wanted = OWN_DTYPE if t.rare is None else t.rare.grad_dtype
    if wanted is not None and value.array.dtype != (t.array.dtype if wanted is OWN_DTYPE else wanted):
        raise messages().grad_dtype(t, value)
    if value.array.shape != t.array.shape:
        raise messages().grad_shape(t, value)
    if value is t:
        raise RuntimeError("can't assign Variable as its own grad")
    t._grad = value
    noted_again(GRAD, t, _getframe(_DEPTH))
