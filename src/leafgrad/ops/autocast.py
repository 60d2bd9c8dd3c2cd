"""Mixed precision: operations that compute in another dtype than that of their inputs while autocast is on.

A block says `autocast = "lower"` if it is fast and safe in half precision, as matrix products are, "float32" if it
needs the range or the digits, as losses do, and "promote" if all its inputs must be of one dtype. The others take what
comes. The conversions are recorded operations before it. This happens before a function looks at its inputs, since it
might refuse those of different dtypes; that is why it is no mode of the executor, which comes after that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from leafgrad._core.bind import bind
from leafgrad._core.modes import switches
from leafgrad._core.tensor import TensorBase, links
from leafgrad._core.thread_state import state
from leafgrad._dtypes import bfloat16, dtype, float16, float32, from_numpy_dtype

CO_VARARGS = 4  # a flag of code objects, as `inspect` has it
CONVERTED = (float32, float16, bfloat16)  # double precision is left alone


@functools.cache
def autocasting(kind: str | None, call: Callable[..., Any]) -> Any:
    """A function whose inputs are converted first, while autocast is on in this thread. It is written as text, with the
    parameters of the other one, because a call that passes on whatever it is given takes several times as long."""
    if kind is None:
        return call
    code = call.__code__
    first = code.co_varnames[: code.co_argcount]
    named = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    further = [f"*{code.co_varnames[len(first) + len(named)]}"] if code.co_flags & CO_VARARGS else []
    taken = ", ".join([*first, *(further or ["*"] if named else further), *named])
    passed = ", ".join([*first, *further])
    by_name = ", ".join([f"{name}={name}" for name in named])
    text = f"""def autocast({taken}):
    if not switches.autocasts or state.autocast is None:
        return call({", ".join([part for part in (passed, by_name) if part])})
    return call_converted(call, kind, [{passed}], dict({by_name}))
"""
    names = {"switches": switches, "state": state, "call": call, "call_converted": call_converted, "kind": kind}
    exec(compile(text, __file__, "exec"), names)
    made: Any = names["autocast"]
    made.__defaults__, made.__kwdefaults__ = call.__defaults__, call.__kwdefaults__
    made.__name__, made.__qualname__ = call.__name__, call.__qualname__
    made.__doc__, made.__module__ = call.__doc__, call.__module__
    made.behind = call  # whose code has PyTorch's name, as this has, of which there may be copies
    made.__code__ = made.__code__.replace(co_name=code.co_name)
    return made


def call_converted(call: Callable[..., Any], kind: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function while autocast is on."""
    lower = state.autocast
    state.autocast = None  # what it computes with is its own business
    try:
        inputs = [*args, *kwargs.values()]
        wanted = lower if kind == "lower" else float32 if kind == "float32" or is_wide(inputs) else lower
        given = [converted(value, wanted, lower) for value in inputs]
        return call(*given[: len(args)], **dict(zip(kwargs, given[len(args) :])))
    finally:
        state.autocast = lower


def lowered(*values: Any) -> list[Any]:
    """The inputs of a function that is no operation and computes in the lower dtype."""
    lower = state.autocast
    return [*values] if lower is None else [converted(value, lower, lower) for value in values]


def is_wide(values: Any) -> bool:
    """Is there single precision among the inputs?"""
    for value in values:
        if isinstance(value, TensorBase):
            if value.array.dtype == float32.np:
                return True
        elif isinstance(value, list | tuple) and is_wide(value):
            return True
    return False


def converted(value: Any, wanted: dtype, lower: dtype) -> Any:
    """A tensor in the wanted dtype, and so those in a list; everything else as it is."""
    if isinstance(value, TensorBase):
        have = value.array.dtype
        if have.kind in "biuc" or have == wanted.np or from_numpy_dtype(have) not in CONVERTED:
            return value
        return cached(value, wanted) if wanted is lower else bind(links.to_dtype, (value,), (wanted,))
    if value.__class__ is list or value.__class__ is tuple:
        return value.__class__([converted(each, wanted, lower) for each in value])
    return value


def cached(value: TensorBase, wanted: dtype) -> Any:
    """Parameters are converted once, until autocast ends: their gradients meet in the lower dtype."""
    cache = state.autocasted
    is_parameter = value.needs_grad and value.node is None and value.array.dtype == float32.np
    if cache is None or not is_parameter or not state.recording or getattr(value, "_base", None) is not None:
        return bind(links.to_dtype, (value,), (wanted,))
    known = cache.get(id(value))
    if known is None:
        known = cache[id(value)] = (value, bind(links.to_dtype, (value,), (wanted,)))
    return known[1]
