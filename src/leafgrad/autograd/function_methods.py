"""The methods of a `Function` that the user replaces, and how the arguments of `apply` become those of forward."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any


def with_any_parameters(method: Any) -> Any:
    """For type checkers: subclasses may give this method the parameters that they need."""
    return method


class FunctionMethods:
    """What a Function has of its own until the user defines it."""

    generate_vmap_rule = False

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """forward(ctx, *args), or forward(*args) beside a setup_context: the computation, run without recording."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    @with_any_parameters
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """setup_context(ctx, inputs, output): optional. With it forward takes no ctx, and this is called afterwards."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    @with_any_parameters
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """backward(ctx, *grad_outputs): the gradients of the arguments of forward, from those of its results."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    @staticmethod
    @with_any_parameters
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """jvp(ctx, *grad_inputs): the tangents of the results of forward, from those of its arguments."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    @with_any_parameters
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """vmap(info, in_dims, *args): forward for a whole batch; returns the results and where their batch lies."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def _gradient_rule(cls) -> Any:
        """The method that computes gradients, under one of its two names."""
        if cls.vjp is FunctionMethods.vjp:
            return cls.backward
        if cls.backward is not FunctionMethods.backward:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                f"implement one of them.\n  in {cls.__name__}"
            )
        return cls.vjp


# -- arguments --------------------------------------------------------------------------------------------------------


def arity(forward: Any) -> int:
    """How many arguments forward takes, if it takes just that many and by position; -1 if it is less simple."""
    code = getattr(forward, "__code__", None)
    if code is None or hasattr(forward, "__wrapped__") or code.co_kwonlyargcount:
        return -1
    return -1 if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) else code.co_argcount


def with_defaults(forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a forward beside a setup_context, which is given all of them."""
    given = inspect.signature(forward)
    known = [p.name for p in given.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    check_keywords([name for name in kwargs if name in given.parameters], known)
    arguments = given.bind(*args, **kwargs)
    arguments.apply_defaults()
    return arguments.args


def without_keywords(forward: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a forward that takes a ctx, all by position."""
    names = [p.name for p in inspect.signature(forward).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD][1:]
    check_keywords(kwargs, names)
    for name in names[: len(args)]:
        if name in kwargs:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    values = list(args)
    for position, name in enumerate(names[len(args) : len(args) + len(kwargs)], len(args)):
        if name not in kwargs:
            raise TypeError(f"forward() missing required argument: '{name}' (position {position})")
        values.append(kwargs[name])
    return tuple(values)


def check_keywords(kwargs: Iterable[str], allowed: list[str]) -> None:
    for name in kwargs:
        if name not in allowed:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
