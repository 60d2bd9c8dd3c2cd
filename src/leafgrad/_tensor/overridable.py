"""How tensors of subclasses take calls over: `__torch_function__` for methods, operators and attributes of Tensor.

Each method has a second form, an overridable one, which asks `overridden` (leafgrad/_core/overrides.py) and then calls
the method. Plain tensors have nothing to do with it. Subclasses have all the overridable forms, from a base class that
is put before Tensor when they are defined; Tensor itself has them while a mode is on. And `Tensor.add`, asked of the
class, is the overridable form, so that this is what `__torch_function__` gets, compares and calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from leafgrad import errors
from leafgrad._core import overrides
from leafgrad._core.overrides import UNCHANGED, is_reflected, overridden
from leafgrad._core.tensor import TensorBase, links
from leafgrad._core.threads import RLock
from leafgrad._missing import missing_method
from leafgrad.ops.names import ABSENT, ATTRIBUTES
from leafgrad.ops.signature import in_python_form

absent = {*ABSENT.split()}  # placeholders, of what PyTorch has there
# Attributes of Tensor that nobody can take over, as in PyTorch.
NEVER = absent | {
    "__annotations__", "__array_priority__", "__copy__", "__dict__", "__doc__", "__getattr__", "__getstate__",
    "__hash__", "__init_subclass__", "__iter__", "__module__", "__new__", "__setstate__", "__slots__",
    "__torch_function__", "__weakref__", "as_subclass", "set_",
}  # fmt: skip
UNDERSCORED = {"_backward_hooks", "_base", "_version"}  # attributes with an underscore that users know
# What Python's messages call the operators. (`/` was `__div__` in Python 2.)
COMPARISONS = {"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
BINARY = {
    "__add__": "+", "__and__": "&", "__div__": "/", "__floordiv__": "//", "__lshift__": "<<", "__matmul__": "@",
    "__mod__": "%", "__mul__": "*", "__or__": "|", "__pow__": "** or pow()", "__rshift__": ">>", "__sub__": "-",
    "__truediv__": "/", "__xor__": "^",
}  # fmt: skip

owners: dict[str, type] = {}  # which class has what overridable forms stand for
forms: dict[str, Any] = {}  # the overridable forms, by name


def is_overridable(name: str) -> bool:
    known = name[0] != "_" or name in UNDERSCORED or (name[:2] == name[-2:] == "__" and "mypyc" not in name)
    return known and name not in NEVER


@functools.cache
def classes() -> tuple[type, ...]:
    """The bases of Tensor that have its methods."""
    order: tuple[type, ...] = type.__getattribute__(links.tensor_class, "__mro__")
    return order[1 : order.index(TensorBase)]


@functools.cache
def names() -> set[str]:
    """All methods, operators and attributes that can be taken over."""
    return {name for cls in classes() for name in vars(cls) if is_overridable(name)}


def form_of(name: str) -> Any:
    """The overridable form of a method or attribute of Tensor; None if it has none."""
    if name not in forms:
        owner = next((cls for cls in classes() if name in vars(cls)), None)
        if owner is None or not is_overridable(name):
            return None
        owners[name] = owner
        is_attribute = isinstance(vars(owner)[name], property) or name in ATTRIBUTES
        forms.setdefault(name, OverridableAttribute(name) if is_attribute else overridable_method(name))
    return forms[name]


def original(name: str) -> Any:
    """What is behind an overridable form: also if somebody has put another method on Tensor in its place."""
    own = type.__getattribute__(links.tensor_class, "__dict__")
    return own[name] if name in own else method_of_tensor(name)


def method_of_tensor(name: str) -> Any:
    """What leafgrad itself has by this name."""
    found = vars(owners[name])[name]
    return found.loaded() if hasattr(found, "loaded") else found  # see _missing.Later


# -- methods and operators ---------------------------------------------------------------------------------------------


def overridable_method(name: str) -> Any:
    """The overridable form of a method."""

    def method(*args: Any, **kwargs: Any) -> Any:
        behind = original(name)  # first: it may be loaded only now, and then says what it is called
        called = overrides.methods_of_operators.get(name)
        if called is not None:
            return form_of(called)(*args, **kwargs)
        in_python = name in overrides.methods_in_python
        given, named = in_python_form(behind, args, kwargs) if in_python else (args, kwargs)
        result = overridden(lambda: chosen, given, named, None, in_python, lambda: takes_one_argument(name))
        return behind(*args, **kwargs) if result is UNCHANGED else result

    forward = name.replace("__r", "__", 1) if is_reflected(name) else name
    is_binary = forward in BINARY or forward in COMPARISONS
    chosen: Any = binary_operator(name, forward, method) if is_binary else method
    chosen.__name__ = name
    chosen.__qualname__ = f"Tensor.{name}"
    chosen.__module__ = "leafgrad"
    chosen.torch_name = f"torch.Tensor.{name}"
    return chosen


@functools.cache
def takes_one_argument(name: str) -> bool:
    """Is the tensor all that a method takes?"""
    from inspect import signature

    return len(signature(original(name)).parameters) == 1


def reflected(name: str) -> Callable[..., Any]:
    """The form of a reflected operator that subclasses have. It is another function than that of Tensor, because only
    then Python asks the right operand first, if that is of a subclass."""
    return lambda self, other: form_of(name)(self, other)


def binary_operator(name: str, forward: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """An operator leaves what it cannot do to the other operand. Python asks the right operand first if that is of a
    subclass; PyTorch's operators are asked in the order in which they are written."""

    def operator(self: Any, other: Any) -> Any:
        if forward != name and isinstance(other, TensorBase):
            return form_of(forward)(other, self)
        try:
            result = method(self, other)
        except TypeError:
            result = NotImplemented
        if result is NotImplemented and isinstance(other, TensorBase):  # which Python would ask, and is not asked
            return refused(name, self, other)
        return result

    return operator


def refused(name: str, self: Any, other: Any) -> Any:
    """What Python makes of an operator that both operands have refused."""
    if name in ("__eq__", "__ne__"):
        return (self is other) == (name == "__eq__")
    names = f"'{type(self).__name__}' and '{type(other).__name__}'"
    if name in COMPARISONS:
        raise TypeError(f"'{COMPARISONS[name]}' not supported between instances of {names}")
    raise TypeError(f"unsupported operand type(s) for {BINARY[name]}: {names}")


# -- attributes --------------------------------------------------------------------------------------------------------


class OverridableAttribute(property):
    """The overridable form of an attribute: its `__get__`, `__set__` and `__delete__` are what is taken over."""

    def __init__(self, name: str) -> None:
        found = original(name)
        super().__init__(found.fget, found.fset, found.fdel, found.__doc__)
        self.__name__ = name
        self.torch_name = f"torch.Tensor.{name}"

    def __get__(self, tensor: Any, cls: type | None = None) -> Any:
        if tensor is None:
            return self
        result = overridden(lambda: self.__get__, (tensor,), {}, of_one=lambda: True)
        return super().__get__(tensor, cls) if result is UNCHANGED else result

    def __set__(self, tensor: Any, value: Any) -> None:
        if overridden(lambda: self.__set__, (tensor, value), {}, (tensor,), of_one=lambda: True) is UNCHANGED:
            super().__set__(tensor, value)

    def __delete__(self, tensor: Any) -> None:
        if overridden(lambda: self.__delete__, (tensor,), {}) is UNCHANGED:
            super().__delete__(tensor)


# -- who has the overridable forms -------------------------------------------------------------------------------------


class OverridableType(type):
    """The class of Tensor: attributes that are asked of the class are the overridable ones. What instances have is
    looked up without it."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> NoReturn:
            raise missing_method(name, f"type object '{cls.__name__}'")

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__()} - absent)

    def __getattribute__(cls, name: str) -> Any:
        found = type.__getattribute__(cls, name)
        known = is_overridable(name) and isinstance(links.tensor_class, OverridableType)
        form = form_of(name) if known else None
        if form is None:
            return found
        behind = method_of_tensor(name)
        if found is not behind:  # a subclass has its own, or somebody has put another one there
            return found
        if not isinstance(form, property) and not hasattr(form, "__wrapped__"):
            form.__doc__ = behind.__doc__
            form.__wrapped__ = behind
        return form


_bases: list[type] = []


def base_class(name: str) -> type:
    """A class that has the overridable forms of everything, to be put among the bases of another."""
    space = {each: form_of(each) for each in names()}
    return type(name, (), {"__slots__": (), "__hash__": object.__hash__, **space})


def prepare(cls: type) -> None:
    """A subclass of Tensor has been defined: its methods are overridable, unless its `__torch_function__` is switched
    off."""
    if cls.__torch_function__ is overrides.disabled:  # type: ignore[attr-defined]
        overrides.add_plain(cls)
        return
    if not _bases:
        _bases.append(base_class("Overridable"))
        for name in names():
            if is_reflected(name):
                setattr(_bases[0], name, reflected(name))
    if _bases[0] not in cls.__mro__:
        bases = list(cls.__bases__)
        at = next(at for at, base in enumerate(bases) if issubclass(base, TensorBase))
        cls.__bases__ = (*bases[:at], _bases[0], *bases[at:])


_lock = RLock()


def push_mode(mode: Any) -> None:
    """A mode begins. The first one of all threads makes the methods of Tensor overridable: they lie in a base of the
    class, and the overridable forms are put before it."""
    with _lock:
        if not overrides.modes_of_all_threads:
            links.tensor_class.__bases__ = (base_in_modes(), *links.tensor_class.__bases__)
        overrides.modes_of_all_threads.append(mode)
    overrides.handling.modes.append(mode)


def pop_mode() -> Any:
    """The innermost mode of this thread ends."""
    return remove_mode(overrides.handling.modes[-1])


def remove_mode(mode: Any) -> Any:
    """A mode of this thread ends."""
    overrides.handling.modes[:] = [other for other in overrides.handling.modes if other is not mode]
    with _lock:
        at = next(at for at, other in enumerate(overrides.modes_of_all_threads) if other is mode)
        del overrides.modes_of_all_threads[at]
        if not overrides.modes_of_all_threads:
            links.tensor_class.__bases__ = links.tensor_class.__bases__[1:]
    return mode


@functools.cache
def base_in_modes() -> type:
    return base_class("OverridableInModes")


warned: list[bool] = []


def warn_of_method() -> None:
    """`__torch_function__` is no classmethod, of which PyTorch warns once."""
    if not warned:
        warned.append(True)
        errors.warn(
            "Defining your `__torch_function__` as a plain method is deprecated and will be an error in future, please "
            "define it as a classmethod."
        )


overrides.warn_of_method.append(warn_of_method)
