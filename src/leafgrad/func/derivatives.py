"""The derivatives of a function, as functions: grad, vjp, jvp, and whole Jacobians and Hessians made of these."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from leafgrad import autograd
from leafgrad._core.tensor import TensorBase
from leafgrad.autograd import forward_ad, grad_mode
from leafgrad.autograd.functional import as_columns, as_rows, standard_basis
from leafgrad.autograd.saved_tensor_hooks import disable_saved_tensors_hooks
from leafgrad.autograd.tangent_rules import zeros_like
from leafgrad.func import messages, trees
from leafgrad.func.grad_aliases import Aliases, same_value
from leafgrad.func.level_marks import SharedMemory
from leafgrad.func.levels import Derivative
from leafgrad.func.map_boundary import for_each_sample, with_levels_of
from leafgrad.func.vmap import vmap
from leafgrad.ops.shape.join import stack

Argnums = int | tuple[int, ...]

# -- arguments --------------------------------------------------------------------------------------------------------


class Call:
    """A call of `func` by transform `who`, which differentiates by some of the arguments; `argnums` None: by all. They
    are taken apart: `leaves` are the tensors in them."""

    def __init__(
        self,
        who: str,
        func: Callable[..., Any],
        argnums: Argnums | None,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        has_aux: bool,
    ) -> None:
        self.who, self.func, self.args, self.kwargs, self.has_aux = who, func, args, kwargs, has_aux
        self.numbers = tuple(range(len(args))) if argnums is None else checked_argnums(argnums, len(args))
        self.single = isinstance(argnums, int)
        self.may_be_empty = False  # may there be no output?
        chosen = tuple([args[n] for n in self.numbers])
        self.leaves, self.spec = trees.flatten(chosen[0] if self.single else chosen)

    def arguments(self, leaves: list[Any]) -> tuple[Any, ...]:
        """All positional arguments, with other tensors in these."""
        values = trees.unflatten(leaves, self.spec)
        args = list(self.args)
        for number, value in zip(self.numbers, (values,) if self.single else values, strict=True):
            args[number] = value
        return tuple(args)

    def run(self, leaves: list[Any]) -> tuple[Any, Any]:
        """(output, aux) of the function with other tensors in these arguments."""
        result = self.func(*self.arguments(leaves), **self.kwargs)
        if not self.has_aux:
            return result, None
        if not (isinstance(result, tuple) and len(result) == 2):
            raise RuntimeError(f"{self.who}: output of function f should be a tuple: (output, aux) if has_aux is True")
        for leaf in trees.flatten(result[1])[0]:
            if not isinstance(leaf, TensorBase):
                raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
        return result

    def tensors(self, output: Any) -> tuple[list[Any], trees.Spec]:
        """The output taken apart."""
        leaves, spec = trees.flatten(output)
        if output is None or not (leaves or self.may_be_empty):
            raise RuntimeError(
                f"{self.who}: Expected f to be a function that has non-empty output (got output = {leaves})"
            )
        for t in leaves:
            if not isinstance(t, TensorBase):
                raise RuntimeError(
                    f"{self.who}: expected f(*primals) to return only tensors, got unsupported type {type(t)}"
                )
        return leaves, spec


def refuse_complex(who: str, what: str, values: Any) -> None:
    """Jacobians are those of real functions."""
    for i, t in enumerate(trees.flatten(values)[0]):
        if isinstance(t, TensorBase) and t.array.dtype.kind == "c":
            raise RuntimeError(
                f"{who}: Expected all {what} to be real but received complex tensor at flattened input idx: {i}"
            )


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
    places = tuple([_checked(argnum, count) for argnum in argnums])
    if len(set(places)) != len(places):
        raise RuntimeError(f"argnums elements must be unique, got {places}")
    return places


def _checked(argnum: int, count: int) -> int:
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


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
    aliases = Aliases()
    with disable_saved_tensors_hooks(messages.SAVED_TENSOR_HOOKS), Derivative(func) as here, grad_mode.enable_grad():
        call = Call("grad_and_value(f)(*args)", func, argnums, args, kwargs, has_aux)
        inside = here.arguments = [aliases.of(t) for t in call.leaves]
        output, aux = call.run(inside)
        if not isinstance(output, TensorBase):
            raise RuntimeError(f"{call.who}: Expected f(*args) to return a Tensor, got {type(output)}")
        if output.array.ndim != 0:
            raise RuntimeError(
                f"{call.who}: Expected f(*args) to return a scalar Tensor, got tensor with {output.array.ndim} dims. "
                "Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        gradients = gradients_of([output], inside, None, aliases, retain_graph=False)
    gradients = [aliases.released(g) for g in gradients]
    value = aliases.released(output)
    return trees.unflatten(gradients, call.spec), (value, aliases.released_all(aux)) if has_aux else value


def gradients_of(
    outputs: list[Any], inside: list[Any], cotangents: list[Any] | None, aliases: Aliases, retain_graph: bool
) -> list[Any]:
    """The gradients at the aliases, zeros where nothing arrives; recorded only if somebody else may want them to be."""
    known = [i for i, t in enumerate(outputs) if t.needs_grad]
    if not known or not inside:
        return [zeros_like(t) for t in inside]
    given = None if cotangents is None else [cotangents[i] for i in known]
    roots = [outputs[i] for i in known]
    recorded = aliases.lead_elsewhere([*roots, *(given or [])])
    found = autograd.grad(
        roots, inside, given, retain_graph=retain_graph or recorded, create_graph=recorded, allow_unused=True
    )
    return [zeros_like(t) if g is None else g for t, g in zip(inside, found, strict=True)]


# -- vjp --------------------------------------------------------------------------------------------------------------


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """vjp(func, *primals, has_aux=False): (func(*primals), vjp_fn), where vjp_fn(cotangents) returns the product of
    the cotangents with the Jacobian, one gradient for each primal; with has_aux (output, vjp_fn, aux)."""
    return vjp_by(Aliases(), func, None, primals, has_aux)


def vjp_by(
    aliases: Aliases,
    func: Callable[..., Any],
    argnums: Argnums | None,
    args: tuple[Any, ...],
    has_aux: bool = False,
    kwargs: dict[str, Any] | None = None,
    linearizes: bool = False,
) -> Any:
    """vjp with respect to some of the arguments; None: to all. `linearizes`: by whom less is refused."""
    refusal = contextlib.nullcontext() if linearizes else disable_saved_tensors_hooks(messages.SAVED_TENSOR_HOOKS)
    with refusal, Derivative(func) as here, grad_mode.enable_grad():
        call = Call("vjp(f, *primals)", func, argnums, args, kwargs or {}, has_aux)
        call.may_be_empty = linearizes
        inside = here.arguments = [aliases.of(t) for t in call.leaves]
        output, aux = call.run(inside)
        outputs, out_spec = call.tensors(output)

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, given_spec = trees.flatten(cotangents)
        if given_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {given_spec.short()}, primal output: {out_spec.short()}"
            )
        later = Aliases(create_graph, aliases.leaves)
        found = gradients_of(outputs, inside, given, later, retain_graph)
        return trees.unflatten([later.released(g) for g in found], call.spec)

    released = aliases.released_all(output)
    return (released, vjp_fn, aliases.released_all(aux)) if has_aux else (released, vjp_fn)


# -- jvp --------------------------------------------------------------------------------------------------------------


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple[Any, ...]:
    """jvp(func, primals, tangents, *, strict=False, has_aux=False): (func(*primals), the product of the Jacobian with
    the tangents); with has_aux (output, tangent, aux)."""
    return jvp_by(func, None, primals, tangents, {}, strict, has_aux)


def jvp_by(
    func: Callable[..., Any],
    argnums: Argnums | None,
    primals: Any,
    tangents: Any,
    kwargs: dict[str, Any],
    strict: bool,
    has_aux: bool,
    always_recorded: bool = False,
) -> tuple[Any, ...]:
    who = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{who}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    call = Call(who, func, argnums, primals, kwargs, has_aux)
    call.may_be_empty = always_recorded
    given, given_spec = trees.flatten(tangents)
    if call.spec != given_spec:
        raise RuntimeError(
            f"{who}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {call.spec} and tangents with "
            f"structure {given_spec}"
        )
    for name, leaves in (("primals", call.leaves), ("tangents", given)):
        for leaf in leaves:
            if not isinstance(leaf, TensorBase):
                raise RuntimeError(f"{who}: Expected {name} to only contain Tensors, got {type(leaf)}")
        if not leaves:
            raise RuntimeError(f"{who}: Expected {name} to contain at least one Tensor.")
    level = forward_ad.open_level()
    if always_recorded:
        forward_ad.always_recorded.add(level)
    try:
        with Derivative(func), forward_ad._set_fwd_grad_enabled(True):
            duals = [forward_ad.make_dual(p, t, level=level) for p, t in zip(call.leaves, given, strict=True)]
            output, aux = call.run(duals)
            aux = trees.mapped(lambda t: forward_ad.unpack_dual(t, level=level).primal, aux) if has_aux else None
            outputs, out_spec = call.tensors(output)
            pairs = [forward_ad.unpack_dual(t, level=level) for t in outputs]
    finally:
        forward_ad.close_level(level)
    if strict and any([tangent is None for _, tangent in pairs]):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
            "allowed with strict=True."
        )
    values = trees.unflatten([primal for primal, _ in pairs], out_spec)
    changes = [zeros_like(primal) if tangent is None else tangent for primal, tangent in pairs]
    found = trees.unflatten(changes, out_spec)
    return (values, found, aux) if has_aux else (values, found)


def savable(t: Any) -> Any:
    """A tensor, or another of the same value if that is an inference tensor."""
    return same_value(t) if isinstance(t, TensorBase) and t.rare is not None and t.rare.inference else t


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """linearize(func, *primals): (func(*primals), jvp_fn), where jvp_fn(*tangents) is the product of the Jacobian with
    tangents, for as many as one likes, while func runs only once.

    A jvp is linear in its tangents, so its vjp is the product with the transposed Jacobian, and the vjp of that the
    product with the transpose of the transpose.
    """
    flat, spec = trees.flatten(primals)
    aliases = Aliases()
    # the products are recorded at the values of the primals, so these must not be tensors that cannot be saved
    primals = trees.mapped(savable, primals)

    def changes(*tangents: Any) -> tuple[Any, Any]:
        values, found = jvp_by(func, None, primals, tangents, {}, False, False, always_recorded=True)
        return found, values

    unmoved = trees.unflatten([zeros_like(t) for t in flat], spec)
    _, vjp_fn, output = vjp_by(aliases, changes, None, unmoved, has_aux=True, linearizes=True)
    outputs, out_spec = trees.flatten(output)
    known = [i for i, t in enumerate(outputs) if t.array.dtype.kind not in "biu"]

    def pulled_back(*cotangents: Any) -> Any:
        given = list(outputs)
        for i, u in zip(known, cotangents, strict=True):
            given[i] = u
        return vjp_fn(trees.unflatten(given, out_spec))

    cotangents = tuple([zeros_like(outputs[i]) for i in known])
    _, transposed = vjp_by(Aliases(leaves=set(aliases.leaves)), pulled_back, None, cotangents, linearizes=True)

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
        results = [zeros_like(t) for t in outputs]
        for i, t in zip(known, transposed(tangents), strict=True):
            results[i] = t
        return trees.unflatten(results, out_spec)

    return output, jvp_fn


# -- whole Jacobians ---------------------------------------------------------------------------------------------------


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
    mapped = functools.partial(vmap, chunk_size=chunk_size)

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        refuse_complex("jacrev", "inputs", args)
        output, vjp_fn, *aux = vjp_by(Aliases(), func, argnums, args, has_aux, kwargs)
        refuse_complex("jacrev", "outputs", output)
        outputs, spec = trees.flatten(output)
        basis = standard_basis(outputs)

        def row(cotangents: tuple[Any, ...]) -> Any:
            return vjp_fn(trees.unflatten(list(cotangents), spec))

        if basis and basis[0].array.shape[0]:
            found, in_spec = trees.flatten(one_by_one(row, basis) if chunk_size == 1 else mapped(row)(tuple(basis)))
        else:  # an output without elements has no rows
            found, in_spec = trees.flatten(vjp_fn(output))
            found = [t.unsqueeze(0)[:0] for t in found]
        parts = [as_rows(rows_of, outputs) for rows_of in found]
        blocks = [trees.unflatten([part[i] for part in parts], in_spec) for i in range(len(outputs))]
        result = trees.unflatten(blocks, spec)
        return (result, aux[0]) if has_aux else result

    return jacobian


def one_by_one(row: Callable[[tuple[Any, ...]], Any], basis: tuple[Any, ...]) -> Any:
    """Rows of a Jacobian without vmap, so that they may be computed by what cannot be mapped."""
    found = [trees.flatten(row(tuple([t[i] for t in basis]))) for i in range(basis[0].array.shape[0])]
    leaves = [stack.function([each[i] for each, _ in found]) for i in range(len(found[0][0]))]
    return trees.unflatten(leaves, found[0][1])


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """jacfwd(func, argnums=0, has_aux=False, *, randomness='error'): the Jacobian of func, column by column: for each
    element of the inputs one product with the Jacobian, all of them at once."""

    @functools.wraps(func)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        call = Call("jvp(f, primals, tangents)", func, argnums, args, kwargs, has_aux)
        for t in call.leaves:
            if not isinstance(t, TensorBase):
                raise RuntimeError(f"{call.who}: Expected primals to only contain Tensors, got {type(t)}")
        refuse_complex("jacfwd", "inputs", args)
        basis = standard_basis(call.leaves)

        def column(tangents: tuple[Any, ...], shared: bool = True) -> tuple[Any, ...]:
            given = args
            if not shared:
                given = trees.mapped(lambda t: for_each_sample(t).clone() if isinstance(t, TensorBase) else t, args)
                primals = Call(call.who, func, argnums, given, kwargs, has_aux).leaves
                tangents = tuple([with_levels_of(p, t).clone() for p, t in zip(primals, tangents, strict=True)])
            return jvp_by(func, argnums, given, trees.unflatten(list(tangents), call.spec), kwargs, False, has_aux)

        try:
            results = vmap(column, randomness=randomness)(tuple(basis))
        except SharedMemory:
            # func changes something in place, whose tangents are different for each column while its values are the
            # same: with values for each column they fit
            own_values = functools.partial(column, shared=False)
            results = vmap(own_values, randomness=randomness)(tuple(basis))
        refuse_complex("jacfwd", "outputs", results[1])
        columns, out_spec = trees.flatten(results[1])
        blocks = [trees.unflatten(as_columns(t, call.leaves), call.spec) for t in columns]
        result = trees.unflatten(blocks, out_spec)
        if not has_aux:
            return result
        return result, trees.mapped(lambda t: t[0], results[2])

    return jacobian


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """hessian(func, argnums=0): the matrix of second derivatives: jacfwd of jacrev."""
    return jacfwd(jacrev(func, argnums), argnums)
