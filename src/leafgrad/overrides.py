"""leafgrad.overrides: tools for those who write a `__torch_function__`, and the modes that take calls over.

How calls are taken over is in leafgrad/_core/overrides.py and leafgrad/_tensor/overridable.py.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

import leafgrad
from leafgrad import _missing
from leafgrad._core.overrides import handling, name_of, taken_over, takes_over, taking_over
from leafgrad._tensor import install, overridable
from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional
from leafgrad.ops.signature import Declaration

__all__ = [
    "TorchFunctionMode", "get_ignored_functions", "get_overridable_functions", "get_testing_overrides",
    "handle_torch_function", "has_torch_function", "is_tensor_like", "is_tensor_method_or_property", "resolve_name",
    "wrap_torch_function",
]  # fmt: skip


class TorchFunctionMode:
    """While it is on (`with Mode(): ...`), its `__torch_function__` is called instead of all public functions, methods
    and attributes in this thread. What it calls itself goes to the mode outside of it, if there is one."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        overridable.push_mode(self)
        return self

    def __exit__(self, *error: Any) -> None:
        overridable.pop_mode()


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that changes nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _get_current_function_mode_stack() -> list[Any]:
    """The modes that are on in this thread, the innermost last."""
    return list(handling.modes)


def _get_current_function_mode() -> Any:
    """The innermost of them, or None."""
    return handling.modes[-1] if handling.modes else None


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """has_torch_function(relevant_args): does one of these take calls over, or is a mode on?"""
    if not isinstance(relevant_args, Iterable):
        raise TypeError("expected a sequence")
    return (bool(handling.modes) and handling.at_all) or any([takes_over(value) for value in relevant_args])


def has_torch_function_unary(arg: Any) -> bool:
    """has_torch_function_unary(arg): the same for one argument."""
    return has_torch_function((arg,))


def has_torch_function_variadic(*args: Any) -> bool:
    """has_torch_function_variadic(*args): the same for several."""
    return has_torch_function(args)


def handle_torch_function(public_api: Any, relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """handle_torch_function(public_api, relevant_args, *args, **kwargs): the result of those who take the call over."""
    return taken_over(public_api, taking_over(relevant_args, with_tensors=True), args, kwargs, in_python=True)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Any], Any]:
    """wrap_torch_function(dispatcher): a decorator for functions whose calls may be taken over by the arguments that
    `dispatcher` returns."""

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """is_tensor_like(inp): is it a tensor, or of a class with a `__torch_function__`?"""
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


# -- what can be taken over --------------------------------------------------------------------------------------------


@functools.cache
def functions() -> dict[Any, str]:
    """The functions of `leafgrad` and their names, without classes like FloatTensor."""
    found = {name: getattr(leafgrad, name) for name in sorted(install.MODULES)}
    return {function: name for name, function in found.items() if isinstance(function, FunctionType)}


@functools.cache
def get_ignored_functions() -> set[Any]:
    """get_ignored_functions(): public functions that arguments cannot take over, because none of them is a tensor:
    those that make tensors, or look at dtypes and shapes."""
    return {function for function in functions() if not takes_tensors(function)}


def takes_tensors(function: Any) -> bool:
    """Has a function a parameter for tensors, and not only for numbers that may come as one?"""
    declaration = getattr(function, "__wrapped__", None)
    if not isinstance(declaration, Declaration):  # somebody has put a function of his own in its place
        return True
    parameters = [p for form in declaration.all_signatures() for p in form.parameters.values()]
    return any([str(p.annotation).startswith("Tensor") for p in parameters if p.name != "out"])


@functools.cache
def get_overridable_functions() -> dict[Any, list[Any]]:
    """get_overridable_functions(): modules, and the class Tensor, with their functions that can be taken over."""
    ignored = get_ignored_functions()
    found: dict[Any, list[Any]] = {
        leafgrad: [f for f in functions() if f not in ignored],
        functional: [getattr(functional, name) for name in vars(functional)["__all__"]],
    }
    methods: list[Any] = []
    for name in sorted(overridable.names()):
        form = getattr(Tensor, name)
        if isinstance(form, property):
            found[form] = [form.__get__]
        else:
            methods.append(form)
    found[Tensor] = methods
    return found


def resolve_name(f: Any) -> str | None:
    """resolve_name(f): the name of a public function, method or attribute; None if it is none."""
    known = names_by_function().get(f)
    attribute = isinstance(getattr(f, "__self__", None), overridable.OverridableAttribute)
    if known is None and attribute and f.__name__ != "__delete__":
        return name_of(f)
    return known


@functools.cache
def names_by_function() -> dict[Any, str]:
    found = {function: name_of(function) for others in get_overridable_functions().values() for function in others}
    return {**found, **{function: f"torch.{name}" for function, name in functions().items()}}


def is_tensor_method_or_property(func: Any) -> bool:
    """is_tensor_method_or_property(func): is it a method or the getter of an attribute of Tensor?"""
    return func in get_overridable_functions()[Tensor] or getattr(func, "__name__", None) == "__get__"


def get_testing_overrides() -> dict[Any, Callable[..., Any]]:
    """get_testing_overrides(): for each function that can be taken over, one with the same parameters that returns
    -1."""
    return {function: dummy(function) for found in get_overridable_functions().values() for function in found}


def dummy(function: Any) -> Callable[..., Any]:
    made: Any = lambda *args, **kwargs: -1
    made.__signature__ = inspect.signature(function)
    return made  # type: ignore[no-any-return]


__getattr__ = _missing.attributes_of(__name__)
