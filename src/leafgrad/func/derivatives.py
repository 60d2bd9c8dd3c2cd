"""grad, grad_and_value and vjp: the derivatives of a function, as functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import autograd
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.autograd import grad_mode
from leafgrad.func import trees
from leafgrad.func.grad_aliases import Aliases, recording_outside
from leafgrad.func.levels import Derivative

Argnums = int | tuple[int, ...]

# -- arguments --------------------------------------------------------------------------------------------------------


def checked_argnums(argnums: Any, count: int) -> tuple[int, ...]:
    """Which positional arguments to differentiate by, counted from the front."""
    if isinstance(argnums, int) and not isinstance(argnums, bool):
        return (_checked(argnums, count),)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    for argnum in argnums:
        if not isinstance(argnum, int):
            raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if len(set(argnums)) != len(argnums):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return tuple([_checked(argnum, count) for argnum in argnums])


def _checked(argnum: int, count: int) -> int:
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def with_arguments(args: tuple[Any, ...], numbers: tuple[int, ...], values: Any) -> tuple[Any, ...]:
    """Positional arguments with some of them replaced."""
    made = list(args)
    for number, value in zip(numbers, values, strict=True):
        made[number] = value
    return tuple(made)


def split_aux(result: Any, who: str) -> tuple[Any, Any]:
    """(output, aux) of a function that returns both."""
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{who}: output of function f should be a tuple: (output, aux) if has_aux is True")
    output, aux = result
    for leaf in trees.flatten(aux)[0]:
        if not isinstance(leaf, TensorBase):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
    return output, aux


def zeros_for(t: Any) -> Any:
    return wrap(np.zeros_like(t.array))


# -- grad -------------------------------------------------------------------------------------------------------------


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """grad(func, argnums=0, has_aux=False): the gradient of a function that returns one number.

        grad(torch.sin)(x)                  cos(x)
        grad(grad(torch.sin))(x)            -sin(x)
        vmap(grad(loss), (None, 0))(w, xs)  one gradient for each sample

    `argnums` names the arguments to differentiate by. With `has_aux`, func returns (output, aux) and aux is passed on.
    """

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        results = _grad_and_value(func, argnums, has_aux, args, kwargs)
        return (results[0], results[1][1]) if has_aux else results[0]

    return gradient


def grad_and_value(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """grad_and_value(func, argnums=0, has_aux=False): as grad, but returns (gradient, output), or (gradient, (output,
    aux))."""

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return _grad_and_value(func, argnums, has_aux, args, kwargs)

    return gradient


def _grad_and_value(
    func: Callable[..., Any], argnums: Argnums, has_aux: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any]:
    aliases = Aliases(recording_outside())
    with Derivative(func), grad_mode.enable_grad():
        numbers = checked_argnums(argnums, len(args))
        chosen = args[argnums] if isinstance(argnums, int) else tuple([args[n] for n in numbers])
        flat, spec = trees.flatten(chosen)
        inside = [aliases.of(t) for t in flat]
        values = trees.unflatten(inside, spec)
        output = func(*with_arguments(args, numbers, (values,) if isinstance(argnums, int) else values), **kwargs)
        aux = None
        if has_aux:
            output, aux = split_aux(output, "grad_and_value(f)(*args)")
        if not isinstance(output, TensorBase):
            raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}")
        if output.array.ndim != 0:
            raise RuntimeError(
                "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                f"{output.array.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        gradients = gradients_of([output], inside, None, aliases, retain_graph=False)
    gradients = [aliases.released(g) for g in gradients]
    value = aliases.released(output)
    return trees.unflatten(gradients, spec), (value, aliases.released_all(aux)) if has_aux else value


def gradients_of(
    outputs: list[Any], inside: list[Any], cotangents: list[Any] | None, aliases: Aliases, retain_graph: bool
) -> list[Any]:
    """The gradients at the aliases, zeros where nothing arrives; recorded only if somebody else may want them to be."""
    known = [i for i, t in enumerate(outputs) if t.needs_grad]
    if not known or not inside:
        return [zeros_for(t) for t in inside]
    given = None if cotangents is None else [cotangents[i] for i in known]
    roots = [outputs[i] for i in known]
    recorded = aliases.lead_elsewhere([*roots, *(given or [])])
    found = autograd.grad(
        roots, inside, given, retain_graph=retain_graph or recorded, create_graph=recorded, allow_unused=True
    )
    return [zeros_for(t) if g is None else g for t, g in zip(inside, found, strict=True)]


# -- vjp --------------------------------------------------------------------------------------------------------------


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """vjp(func, *primals, has_aux=False): (func(*primals), vjp_fn), where vjp_fn(cotangents) returns the product of
    the cotangents with the Jacobian, one gradient for each primal; with has_aux (output, vjp_fn, aux)."""
    return vjp_by(func, None, primals, has_aux, {})


def vjp_by(
    func: Callable[..., Any], argnums: Argnums | None, args: tuple[Any, ...], has_aux: bool, kwargs: dict[str, Any]
) -> Any:
    """vjp with respect to some of the arguments; None: to all."""
    aliases = Aliases(recording_outside())
    with Derivative(func), grad_mode.enable_grad():
        numbers = tuple(range(len(args))) if argnums is None else checked_argnums(argnums, len(args))
        single = isinstance(argnums, int)
        chosen = args[numbers[0]] if single else tuple([args[n] for n in numbers])
        flat, spec = trees.flatten(chosen)
        inside = [aliases.of(t) for t in flat]
        values = trees.unflatten(inside, spec)
        result = func(*with_arguments(args, numbers, (values,) if single else values), **kwargs)
        aux = None
        if has_aux:
            result, aux = split_aux(result, "vjp(f, *primals)")
        outputs, out_spec = trees.flatten(result)
        for t in outputs:
            if not isinstance(t, TensorBase):
                raise RuntimeError(
                    f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type {type(t)}"
                )

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, given_spec = trees.flatten(cotangents)
        if given_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {given_spec.short()}, primal output: {out_spec.short()}"
            )
        with grad_mode.set_grad_enabled(recording_outside()):
            later = Aliases(recording_outside() if create_graph is None else create_graph)
            later.leaves = aliases.leaves
            found = gradients_of(outputs, inside, given, later, retain_graph)
        return trees.unflatten([later.released(g) for g in found], spec)

    released = trees.unflatten([aliases.released(t) for t in outputs], out_spec)
    return (released, vjp_fn, aliases.released_all(aux)) if has_aux else (released, vjp_fn)
