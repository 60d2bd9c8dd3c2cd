"""Which public functions and methods have a form of their own for tensors without data, and what becomes of calls that
one of these takes part in.

Such calls leave the usual way where classes of arguments are looked at (`overridden` in leafgrad/_core/overrides.py)
and come here, to `called`. Most functions run as they are, while the mode `Meta` finds the form of what they compute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import errors
from leafgrad._core.overrides import UNCHANGED, handling
from leafgrad._core.tensor import TensorBase, links
from leafgrad.ops.meta.arrays import MetaArray
from leafgrad.ops.meta.results import without_data
from leafgrad.ops.registry import registry

Function = Callable[..., Any]
FORMS: dict[str, Function] = {}


def meta_form(*functions: str) -> Callable[[Function], Function]:
    """What public functions, methods or attributes do with tensors without data, where it is not what they do with
    others."""

    def register(form: Function) -> Function:
        FORMS.update(dict.fromkeys(functions, form))
        return form

    return register


def public_name(function: Any) -> str:
    """The name by which users know a function, a method or an attribute; with "=" that of an attribute that is set."""
    owner = getattr(function, "__self__", None)
    if owner is not None and function.__name__ in ("__get__", "__set__", "__delete__"):
        return str(owner.__name__) + ("" if function.__name__ == "__get__" else "=")
    return str(function.__name__)


def called(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What becomes of a call with a tensor without data among its arguments."""
    name = public_name(function)
    form = FORMS.get(name)
    if form is not None and (result := form(*args, **kwargs)) is not UNCHANGED:
        return result
    if handling.inside is links.meta_call:
        return UNCHANGED
    check_devices(name, tensors_in((*args, *kwargs.values())))
    with without_data():
        return function(*args, **kwargs)


def tensors_in(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if isinstance(value, TensorBase):
            found.append(value)
        elif value.__class__ is list or value.__class__ is tuple:
            found += tensors_in(value)
    return found


def check_devices(name: str, tensors: list[Any]) -> None:
    """Refuse tensors of both devices for operations that go through them side by side, and results that would have
    to be computed of what has no data."""
    with_data = [t for t in tensors if not isinstance(t.array, MetaArray) and t.array.ndim]
    if not with_data:
        return
    first, other = ("cpu", "meta") if not isinstance(tensors[0].array, MetaArray) else ("meta", "cpu")
    entry = registry.get(name)
    is_aligned = entry is not None and (entry.core.vmap[0] == "elementwise" or entry.variadic)
    says_where = first == "cpu" and tensors[0].array.dtype.kind in "iu"  # as the first argument of an embedding
    if not is_aligned and (first == "meta" or says_where):
        return
    raise errors.mistake(RuntimeError, f"Tensor on device {other} is not on the expected device {first}!")


links.meta_call = called
