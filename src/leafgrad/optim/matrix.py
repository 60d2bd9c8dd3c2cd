"""Optimisers that treat a parameter as a whole, not element by element: their step is made of public operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import errors
from leafgrad._core import origin
from leafgrad._core.modes import about_to_change, switches
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state as thread
from leafgrad.autograd.grad_mode import enable_grad, no_grad
from leafgrad.ops.registry import Family
from leafgrad.optim.optimizer import Group, Optimizer


class PartOfAStep(Family, family=True):
    """An operation on the arrays of many parameters."""

    variadic = True
    differentiable = False
    derivatives = 0
    method = False
    public_name = ""


class MatrixOptimizer(Optimizer):
    """A subclass says how the parameters of a group that have a gradient change: `_change`."""

    _takes_sparse = False

    def _change(self, params: list[Any], group: Group) -> None:
        raise NotImplementedError

    def _note_change(self, params: list[Any]) -> None:
        """Parameters are about to change in place, by no operation that would say so itself."""
        watched = switches.modes and thread.in_modes
        frame = origin.user_frame()
        here = (frame.f_code, frame.f_lasti)
        for p in params:
            if watched:
                about_to_change(p)
            p.version[0] += 1
            p.version[1] = here

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """step(closure=None): update all parameters that have a gradient. A closure computes the loss again."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            if any([p.is_complex() for p in params]):
                raise RuntimeError(f"{type(self).__name__} does not support complex parameters")
            if not self._takes_sparse and any([p.grad.is_sparse for p in params]):
                raise errors.mistake(RuntimeError, f"{type(self).__name__} does not support sparse gradients")
            self._change(params, group)
        return loss

    @staticmethod
    def _check_rate(lr: Any) -> None:
        if isinstance(lr, TensorBase) and lr.array.size != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr < 0.0:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
