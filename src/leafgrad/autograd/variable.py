"""`Variable`, the name that tensors with gradients had before they were one with tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import errors
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state


class _IsTensor(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase)


class ExecutionEngine:
    """What programs ask of the engine itself."""

    def queue_callback(self, callback: Callable[[], Any]) -> None:
        """queue_callback(callback): call it when the backward pass that is running has ended."""
        if not state.depth and not state.calling_back:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        state.callbacks.append(callback)


class Variable(metaclass=_IsTensor):
    """Variable(data=None, requires_grad=False): a tensor on the memory of `data`. Every tensor is one."""

    _execution_engine = ExecutionEngine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        from leafgrad.ops.creation.factories import empty

        if volatile is not None:
            errors.warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        if data is None:
            data = empty(0)
        if not isinstance(data, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        made: Any = data.detach()  # type: ignore[attr-defined]
        return made.requires_grad_(requires_grad)
