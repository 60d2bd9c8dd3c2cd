"""Modules that apply one function, made from that function rather than written out one by one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from leafgrad._tensor.tensor import Tensor
from leafgrad.nn import functional as F
from leafgrad.nn.modules.module import Module


def module_of(
    name: str, function: Callable[..., Any], doc: str, *, hidden: tuple[str, ...] = (), **options: Any
) -> type[Any]:
    """A Module class whose forward is `function(input, **options)`, with the options as arguments of the constructor.

    `options` are their defaults, in PyTorch's order. The printed form shows them; those in `hidden` only if they are
    not at their default.
    """
    parameters = [
        inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
        for key, default in options.items()
    ]
    signature = inspect.Signature(parameters)
    names = tuple(options)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        Module.__init__(self)
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}.__init__() {error}") from None
        given.apply_defaults()
        self.__dict__.update(given.arguments)

    def forward(self: Any, input: Any) -> Any:
        return function(input, *[getattr(self, key) for key in names])

    # a small network spends much of its time in calls, so the two usual cases have shorter ones
    def forward_without_option(self: Any, input: Any) -> Any:
        return function(input)

    def forward_with_one_option(self: Any, input: Any) -> Any:
        return function(input, getattr(self, names[0]))

    def extra_repr(self: Any) -> str:
        shown = [k for k in names if k not in hidden or getattr(self, k) != options[k]]
        return ", ".join(f"{key}={getattr(self, key)!r}" for key in shown)

    called = [forward_without_option, forward_with_one_option, forward][min(len(names), 2)]
    for method, its_name in ((__init__, "__init__"), (called, "forward"), (extra_repr, "extra_repr")):
        method.__name__, method.__qualname__ = its_name, f"{name}.{its_name}"
    members = {
        "__init__": __init__,
        "forward": called,
        "extra_repr": extra_repr,
        "__signature__": signature,
        "__doc__": f"{name}{signature}: {doc}",
        "__module__": __name__,
    }
    return type(name, (Module,), members)


if TYPE_CHECKING:

    class _Activation(Module):
        def __call__(self, input: Tensor) -> Tensor: ...

    class _AlongDimension(_Activation):
        dim: int | None

        def __init__(self, dim: int | None = None) -> None: ...

    class ReLU(_Activation):
        inplace: bool

        def __init__(self, inplace: bool = False) -> None: ...

    class Tanh(_Activation): ...

    class Sigmoid(_Activation): ...

    class Softmax(_AlongDimension): ...

    class LogSoftmax(_AlongDimension): ...

else:
    ReLU = module_of("ReLU", F.relu, "max(0, x), element by element.", hidden=("inplace",), inplace=False)
    Tanh = module_of("Tanh", F.tanh, "tanh(x), element by element.")
    Sigmoid = module_of("Sigmoid", F.sigmoid, "1 / (1 + exp(-x)), element by element.")
    Softmax = module_of("Softmax", F.softmax, "exp(x) / sum(exp(x)) along one dimension.", dim=None)
    LogSoftmax = module_of("LogSoftmax", F.log_softmax, "x - log(sum(exp(x))) along one dimension.", dim=None)
