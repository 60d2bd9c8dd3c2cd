"""Whole Jacobians and Hessians, and products with the Jacobian in the other direction: jacrev, jvp, jacfwd, hessian."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import _dtypes, autograd, errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.autograd import forward_ad, grad_mode
from leafgrad.func import trees
from leafgrad.func.derivatives import Argnums, checked_argnums, split_aux, vjp_by, with_arguments, zeros_for
from leafgrad.func.grad_aliases import Aliases, recording_outside
from leafgrad.func.level_marks import SharedMemory
from leafgrad.func.levels import Derivative
from leafgrad.func.map_boundary import for_each_sample, with_levels_of
from leafgrad.func.vmap import vmap

# -- jacrev -----------------------------------------------------------------------------------------------------------


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """jacrev(func, argnums=0, *, has_aux=False, chunk_size=None): the Jacobian of func, row by row: for each element of
    the output one backward pass, all of them at once, or `chunk_size` at a time."""
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        output, vjp_fn, *aux = vjp_by(func, argnums, args, has_aux, kwargs)
        outputs, spec = trees.flatten(output)
        basis = standard_basis(outputs)
        rows = vmap(lambda cotangents: vjp_fn(trees.unflatten(list(cotangents), spec)), chunk_size=chunk_size)
        if basis and basis[0].array.shape[0]:
            found, in_spec = trees.flatten(rows(tuple(basis)))
        else:  # an output without elements has no rows
            found, in_spec = trees.flatten(vjp_fn(output))
            found = [t.unsqueeze(0)[:0] for t in found]
        blocks = []
        start = 0
        for t in outputs:
            shape, count = t.array.shape, t.array.size
            parts = [rows_of.narrow(0, start, count).reshape((*shape, *rows_of.array.shape[1:])) for rows_of in found]
            start += count
            blocks.append(trees.unflatten(parts, in_spec))
        result = trees.unflatten(blocks, spec)
        return (result, aux[0]) if has_aux else result

    return jacobian


def standard_basis(tensors: list[Any]) -> list[Any]:
    """For each tensor, one per row: the unit vectors of all tensors taken together."""
    total = sum([t.array.size for t in tensors])
    made, start = [], 0
    for t in tensors:
        shape, count = tuple(t.array.shape), t.array.size
        unit = np.zeros((total, count), _dtypes.from_numpy_dtype(t.array.dtype).np)
        unit[start : start + count] = np.eye(count)
        made.append(wrap(unit.reshape((total, *shape))))
        start += count
    return made


# -- jvp --------------------------------------------------------------------------------------------------------------


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, ...]:
    """jvp(func, primals, tangents, *, strict=False, has_aux=False): (func(*primals), the product of the Jacobian with
    the tangents); with has_aux (output, tangent, aux)."""
    return jvp_by(func, None, primals, tangents, strict, has_aux)


def jvp_by(
    func: Callable[..., Any], argnums: Any, primals: Any, tangents: Any, strict: bool, has_aux: bool
) -> tuple[Any, ...]:
    who = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{who}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    numbers = tuple(range(len(primals))) if argnums is None else checked_argnums(argnums, len(primals))
    chosen = tuple([primals[n] for n in numbers])
    flat, spec = trees.flatten(chosen)
    given, given_spec = trees.flatten(tangents)
    if spec != given_spec:
        raise RuntimeError(
            f"{who}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with structure "
            f"{given_spec}"
        )
    for name, leaves in (("primals", flat), ("tangents", given)):
        for leaf in leaves:
            if not isinstance(leaf, TensorBase):
                raise RuntimeError(f"{who}: Expected {name} to only contain Tensors, got {type(leaf)}")
        if not leaves:
            raise RuntimeError(f"{who}: Expected {name} to contain at least one Tensor.")
    for primal, tangent in zip(flat, given, strict=True):
        if primal.array.shape != tangent.array.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is "
                f"not supported. Tensor is of size {errors.size(primal.array.shape)} while the given forward gradient "
                f"is of size {errors.size(tangent.array.shape)}."
            )
    level = forward_ad.open_level()
    try:
        with Derivative(func):
            duals = [forward_ad.make_dual(p, t, level=level) for p, t in zip(flat, given, strict=True)]
            result = func(*with_arguments(primals, numbers, trees.unflatten(duals, spec)))
            aux = None
            if has_aux:
                result, aux = split_aux(result, who)
                aux = trees.mapped(lambda t: forward_ad.unpack_dual(t, level=level).primal, aux)
            outputs, out_spec = trees.flatten(result)
            pairs = [unpacked(t, level, strict, who) for t in outputs]
    finally:
        forward_ad.close_level(level)
    results = [trees.unflatten([pair[i] for pair in pairs], out_spec) for i in range(2)]
    return (*results, aux) if has_aux else tuple(results)


def unpacked(t: Any, level: int, strict: bool, who: str) -> tuple[Any, Any]:
    """(value, tangent) of a result."""
    if not isinstance(t, TensorBase):
        raise RuntimeError(f"{who}: expected f(*primals) to return only tensors, got unsupported type {type(t)}")
    primal, tangent = forward_ad.unpack_dual(t, level=level)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        tangent = zeros_for(primal)
    return primal, tangent


class Linearised:
    """A function at a point, recorded once: its output, and its Jacobian times any tangents.

    A vjp is linear in its cotangent u, so the derivative of <vjp(u), v> by u is the product of the Jacobian with v:
    two backward passes make a forward one.
    """

    def __init__(
        self, func: Any, args: tuple[Any, ...], numbers: tuple[int, ...], flat: list[Any], spec: Any, has_aux: bool,
        who: str,
    ) -> None:  # fmt: skip
        self.aliases = aliases = Aliases(recording_outside())
        with Derivative(func), grad_mode.enable_grad():
            self.inside = [aliases.of(t) for t in flat]
            result = func(*with_arguments(args, numbers, trees.unflatten(self.inside, spec)))
            self.aux = None
            if has_aux:
                result, aux = split_aux(result, who)
                self.aux = aliases.released_all(aux)
            self.outputs, self.spec = trees.flatten(result)
            for t in self.outputs:
                if not isinstance(t, TensorBase):
                    raise RuntimeError(
                        f"{who}: expected f(*primals) to return only tensors, got unsupported type {type(t)}"
                    )
            self.known = [i for i, t in enumerate(self.outputs) if t.needs_grad]
            self.cotangents = [zeros_for(self.outputs[i]) for i in self.known]
            for u in self.cotangents:
                u.needs_grad = True
                aliases.leaves.add(u)
            roots = [self.outputs[i] for i in self.known]
            found: Any = (None,) * len(self.inside)
            if roots:
                found = autograd.grad(roots, self.inside, self.cotangents, create_graph=True, allow_unused=True)
            # what depends on the cotangents, and which of the tangents it is multiplied with
            self.products = [(i, g) for i, g in enumerate(found) if g is not None and g.needs_grad]

    def output(self) -> Any:
        return trees.unflatten([self.aliases.released(t) for t in self.outputs], self.spec)

    def tangent(self, tangents: list[Any]) -> Any:
        results = [zeros_for(t) for t in self.outputs]
        if self.products:
            aliases = Aliases(recording_outside())
            aliases.leaves = self.aliases.leaves
            roots = [g for _, g in self.products]
            given = [fitting(tangents[i], g) for i, g in self.products]
            recorded = aliases.lead_elsewhere([*roots, *given])
            found = autograd.grad(
                roots, self.cotangents, given, retain_graph=True, create_graph=recorded, allow_unused=True
            )
            for i, t in zip(self.known, found, strict=True):
                if t is not None:
                    results[i] = aliases.released(t)
        return trees.unflatten(results, self.spec)


def fitting(tangent: Any, g: Any) -> Any:
    """A tangent in the dtype of what it is multiplied with, as far as complex and real are concerned."""
    return tangent if (tangent.array.dtype.kind == "c") == (g.array.dtype.kind == "c") else tangent.to(g.dtype)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """linearize(func, *primals): (func(*primals), jvp_fn), where jvp_fn(*tangents) is the product of the Jacobian with
    tangents, for as many as one likes, while func runs only once."""
    flat, spec = trees.flatten(primals)
    linear = Linearised(func, primals, tuple(range(len(primals))), flat, spec, False, "linearize(f, *primals)")

    def jvp_fn(*tangents: Any) -> Any:
        given, given_spec = trees.flatten(tangents)
        if given_spec != spec:
            raise RuntimeError(f"Expected the tangents {given_spec} to have the same argspec as the primals {spec}")
        for i, (t, primal) in enumerate(zip(given, flat, strict=True)):
            for what, found, wanted in (("shape", t.shape, primal.shape), ("dtype", t.dtype, primal.dtype)):
                if found != wanted:
                    raise RuntimeError(
                        f"tangent:{i} with {what} {found} in flattened pytree doesn't match the {what} {wanted} of the "
                        "corresponding primal."
                    )
        return linear.tangent(given)

    return linear.output(), jvp_fn


# -- jacfwd, hessian --------------------------------------------------------------------------------------------------


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """jacfwd(func, argnums=0, has_aux=False, *, randomness='error'): the Jacobian of func, column by column: for each
    element of the inputs one product with the Jacobian, all of them at once."""

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        numbers = checked_argnums(argnums, len(args))
        chosen = tuple([args[n] for n in numbers])
        flat, spec = trees.flatten(chosen)
        for t in flat:
            if not isinstance(t, TensorBase):
                raise RuntimeError(
                    f"jvp(f, primals, tangents): Expected primals to only contain Tensors, got {type(t)}"
                )
        basis = standard_basis(flat)

        def column(tangents: tuple[Any, ...], shared: bool = True) -> tuple[Any, ...]:
            whole = functools.partial(func, **kwargs) if kwargs else func
            if shared:
                return jvp_by(whole, numbers, args, trees.unflatten(list(tangents), spec), False, has_aux)
            primals = [for_each_sample(t) for t in flat]
            tangents = tuple([with_levels_of(p, t).clone() for p, t in zip(primals, tangents, strict=True)])
            given = with_arguments(args, numbers, trees.unflatten(primals, spec))
            return jvp_by(whole, numbers, given, trees.unflatten(list(tangents), spec), False, has_aux)

        try:
            results = vmap(column, randomness=randomness)(tuple(basis))
        except SharedMemory:
            # func changes something in place, whose tangents are different for each column while its values are the
            # same: with values for each column they fit
            own_values = functools.partial(column, shared=False)
            results = vmap(own_values, randomness=randomness)(tuple(basis))
        columns, out_spec = trees.flatten(results[1])
        blocks = []
        for t in columns:  # (columns, *output)
            start, parts = 0, []
            for x in flat:
                part = t.narrow(0, start, x.array.size).movedim(0, -1)
                parts.append(part.reshape((*t.array.shape[1:], *x.array.shape)))
                start += x.array.size
            block = trees.unflatten(parts, spec)
            blocks.append(block[0] if isinstance(argnums, int) else block)
        result = trees.unflatten(blocks, out_spec)
        if not has_aux:
            return result
        return result, trees.mapped(lambda t: t[0], results[2])

    return jacobian


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """hessian(func, argnums=0): the matrix of second derivatives: jacfwd of jacrev."""
    return jacfwd(jacrev(func, argnums), argnums)
