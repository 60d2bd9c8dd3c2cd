"""torch.jit: programs that ask to be scripted or traced get what they gave, and are told so once.

May import `_absent`, `_missing`, `compiler`, `errors`, `futures` and `nn`.
"""

from __future__ import annotations

import builtins
import typing
from typing import Any, Final

from leafgrad import _absent, errors
from leafgrad._missing import torch_name
from leafgrad.compiler import same, told_once
from leafgrad.futures import Future
from leafgrad.nn.modules.module import Module
from leafgrad.nn.parameter import is_lazy

__all__ = ["Final", "annotate", "fork", "freeze", "ignore", "script", "trace", "wait"]


def script(obj: Any, optimize: Any = None, example_inputs: Any = None) -> Any:
    """script(obj): the module, class or function itself."""
    if builtins.isinstance(obj, Module):
        refuse_uninitialized(obj)
    told_once("torch.jit.script")
    return obj


def refuse_uninitialized(module: Module) -> None:
    """A lazy module learns its sizes from its first input, and can be scripted after that."""
    for part in module.modules():
        for what, tensors in (("parameters", part._parameters), ("buffers", part._buffers)):
            if names := [name for name, tensor in tensors.items() if is_lazy(tensor)]:
                kind = type(part)
                raise errors.mistake(
                    RuntimeError,
                    f"'{torch_name(kind.__module__)}.{kind.__qualname__}' has uninitialized {what} {', '.join(names)}. "
                    "Did you forget to run a forward pass?",
                )


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: Any = None,
    check_trace: bool = True,
    check_inputs: Any = None,
    check_tolerance: float = 1e-05,
    strict: bool = True,
    example_kwarg_inputs: Any = None,
) -> Any:
    """trace(func, example_inputs=None, ...): the module or function itself, which is not called."""
    told_once("torch.jit.trace")
    return func


def trace_module(mod: Any, inputs: Any, optimize: Any = None, check_trace: bool = True, strict: bool = True) -> Any:
    """trace_module(mod, inputs, ...): the module itself, which is not called."""
    told_once("torch.jit.trace_module")
    return mod


def ignore(drop: Any = False) -> Any:
    """ignore(fn) or ignore(drop=False)(fn): the function itself."""
    return drop if callable(drop) else same


script_method = script_if_tracing = unused = export = interface = same
_overload = _overload_method = _script_if_tracing = same


def freeze(mod: Any, preserved_attrs: Any = None, optimize_numerics: bool = True) -> Any:
    """freeze(mod): the module itself."""
    return mod


def optimize_for_inference(mod: Any, other_methods: Any = None) -> Any:
    """optimize_for_inference(mod): the module itself."""
    return mod


def annotate(the_type: Any, the_value: Any) -> Any:
    """annotate(the_type, the_value): the value."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """isinstance(obj, target_type): Python's, for classes and generic types such as list[int], by their origin."""
    kinds: tuple[Any, ...] = target_type if builtins.isinstance(target_type, tuple) else (target_type,)
    plain: list[Any] = [typing.get_origin(kind) or kind for kind in kinds]
    return builtins.isinstance(obj, tuple(plain))


def fork(func: Any, *args: Any, **kwargs: Any) -> Future[Any]:
    """fork(func, *args, **kwargs): calls the function at once."""
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """wait(future): its result."""
    return future.wait()


globals().update(_absent.answers(__name__, is_scripting=False, is_tracing=False))
__getattr__ = _absent.names_refused(__name__, "leafgrad does not have {name}: it runs programs as the Python they are")
