"""torch.utils._python_dispatch: modes that are asked about each operation, below autograd.

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            print(func)                              # aten.mul.Tensor
            return func(*args, **(kwargs or {}))

    with Log():
        loss.backward()

`func` is the operation under its name in `torch.ops.aten`, `args` are its tensors, without their history, and its
options; what is returned stands in place of its result. Operations that run inside of `__torch_dispatch__` are not
shown to this mode, but to those outside of it. Not seen are the making of tensors and of random numbers, and that a
result is written in place: `exp_` is shown as `exp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leafgrad import _missing
from leafgrad._core.modes import Below, Observer, pop, push
from leafgrad._core.op import Op
from leafgrad._core.overrides import CLASS_METHOD
from leafgrad._core.tensor import TensorBase, as_array, links, wrap
from leafgrad._core.thread_state import state
from leafgrad.ops import aten

__all__ = ["TorchDispatchMode", "is_in_torch_dispatch_mode"]


class TorchDispatchMode:
    """The base class: `__torch_dispatch__(func, types, args=(), kwargs=None)` is asked about operations in a `with`
    block."""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        push(Dispatching(self))
        return self

    def __exit__(self, *error: Any) -> None:
        pop(next(mode for mode in reversed(state.modes) if isinstance(mode, Dispatching) and mode.owner is self))

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        return cls(*args, **kwargs)


class Dispatching(Observer):
    """What the modes of a thread know of a TorchDispatchMode that is on."""

    def __init__(self, owner: TorchDispatchMode) -> None:
        super().__init__()
        self.owner = owner

    def observe(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        if op is links.assign or op.name == "create":
            return below(op, arrays, options, out)
        call = Call(op, arrays, options, out, below)
        handler = self.owner.__torch_dispatch__
        if getattr(handler, "__self__", self.owner) is type(self.owner):
            raise RuntimeError(CLASS_METHOD.format("__torch_dispatch__"))
        with call:
            result = handler(call.func, (), call.args, {})
        return plain(result)


class Call(aten.PendingCall):
    """An operation that a mode has been asked about, and that runs when the mode calls `func`."""

    def __init__(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> None:
        self.func = aten.named(op)
        self.op, self.arrays, self.options, self.out, self.below = op, arrays, options, out, below
        self.given = [i for i, a in enumerate(arrays) if a is not None]
        self.args = (*[shown(arrays[i]) for i in self.given], *options)

    def run(self, args: tuple[Any, ...]) -> Any:
        """The operation with these arguments, which may be others than those that were shown."""
        arrays = list(self.arrays)
        for i, t in zip(self.given, args, strict=False):
            arrays[i] = plain(t)
        result = self.below(self.op, arrays, args[len(self.given) :], self.out)
        return tuple([shown(r) for r in result]) if isinstance(result, (list, tuple)) else shown(result)


def shown(array: Any) -> Any:
    """An array as a tensor; numbers and the like as they are."""
    return wrap(as_array(array)) if hasattr(array, "dtype") and hasattr(array, "shape") else array


def plain(value: Any) -> Any:
    """Tensors as arrays."""
    if isinstance(value, (list, tuple)):
        return type(value)([plain(v) for v in value])  # kernels with several results return tuples of them
    return value.array if isinstance(value, TensorBase) else value


def _get_current_dispatch_mode_stack() -> list[Any]:
    """The modes that are on in this thread, the innermost last."""
    return [mode.owner for mode in state.modes if isinstance(mode, Dispatching)]


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """is_in_torch_dispatch_mode(): is one on?"""
    return bool(_get_current_dispatch_mode_stack())


def _get_current_dispatch_mode() -> Any:
    """The innermost of them, or None."""
    modes = _get_current_dispatch_mode_stack()
    return modes[-1] if modes else None


__getattr__ = _missing.attributes_of(__name__)
