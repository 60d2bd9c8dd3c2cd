"""Derivatives of functions: Jacobians, Hessians, and their products with vectors.

Each function here calls `func` on copies of the inputs that share their memory, and differentiates what comes back.
With `create_graph=True` the copies stay connected to the inputs, so that the derivative can be differentiated itself.

    vjp, jacobian   one backward pass, or one for each number of the output
    vhp             a backward pass through a backward pass
    jvp, hvp        a backward pass is linear in the gradient that it starts with, so its own derivative by that
                    gradient is the transposed product: two passes give what forward mode would
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import wrap
from leafgrad.autograd.functional_forms import (
    SINGLE_INPUT,
    SINGLE_OUTPUT,
    STRICT,
    as_tuple,
    called,
    check_gradient,
    check_outputs,
    check_strategy,
    checked_vectors,
    constant_hessian,
    constant_jacobian,
    derivative,
    filled,
    gradient_of_number,
    independent,
    independent_jacobian,
    is_differentiable,
    nested,
    no_way_back,
    no_way_back_twice,
    one_hot,
    packed,
    prepared,
    single_number,
    zeros_like,
)
from leafgrad.autograd.grad_mode import enable_grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = Any  # a tensor or a tuple of tensors


def vjp(
    func: Callable[..., Any], inputs: Tensors, v: Tensors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """vjp(func, inputs, v=None, create_graph=False, strict=False): func(*inputs), and v times the Jacobian of func
    there, which has the form of the inputs.

    `v` has the form of the output; it may be left out if that is a single number. With `strict`, an input that the
    output does not depend on is an error; otherwise its derivative is zero.
    """
    with enable_grad():
        points, several_inputs = prepared(inputs, "vjp", create_graph)
        outputs, several_outputs = called(func, points, "vjp")
        if strict:
            check_outputs(outputs)
        vectors = checked_vectors(v, outputs, several_outputs, "vjp", SINGLE_OUTPUT)
        found = derivative(outputs, points, vectors, create_graph)
        result = [
            filled(g, x, create_graph, strict, i, independent, constant_jacobian)
            for i, (g, x) in enumerate(zip(found, points, strict=True))
        ]
    return packed(outputs, several_outputs, create_graph), packed(result, several_inputs, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Tensors, v: Tensors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """jvp(func, inputs, v=None, create_graph=False, strict=False): func(*inputs), and the Jacobian of func there times
    v, which has the form of the output.

    `v` has the form of the inputs; it may be left out if they are a single number. It is how fast the output changes
    when the inputs move along v.
    """
    with enable_grad():
        points, several_inputs = prepared(inputs, "jvp", create_graph)
        vectors = checked_vectors(v, points, several_inputs, "jvp", SINGLE_INPUT)
        outputs, several_outputs = called(func, points, "jvp")
        if strict:
            check_outputs(outputs)
        starts = [zeros_like(o)._set_requires_grad(True, errors.CREATED) for o in outputs]
        first = derivative(outputs, points, starts, create_graph=True)
        first = [filled(g, x, True, strict, i, independent) for i, (g, x) in enumerate(zip(first, points, strict=True))]
        found = derivative(first, starts, vectors, create_graph)
        result = [
            filled(g, o, create_graph, strict, i, no_way_back, constant_jacobian)
            for i, (g, o) in enumerate(zip(found, outputs, strict=True))
        ]
    return packed(outputs, several_outputs, create_graph), packed(result, several_outputs, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Tensors, v: Tensors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """hvp(func, inputs, v=None, create_graph=False, strict=False): func(*inputs), a single number, and its Hessian
    there times v, which has the form of the inputs.

    `vhp` gives the same for every function whose second derivatives are continuous, with less work.
    """
    with enable_grad():
        points, several = prepared(inputs, "hvp", create_graph)
        vectors = checked_vectors(v, points, several, "hvp", SINGLE_INPUT)
        output = single_number(func, points, "hvp", strict)
        first = gradient_of_number(output, points, strict)
        starts = [zeros_like(x).requires_grad_() for x in points]
        second = derivative(first, points, starts, create_graph=True)
        second = [filled(g, x, True, False, i) for i, (g, x) in enumerate(zip(second, points, strict=True))]
        found = derivative(second, starts, vectors, create_graph)
        result = [
            filled(g, x, create_graph, strict, i, no_way_back_twice, constant_hessian)
            for i, (g, x) in enumerate(zip(found, points, strict=True))
        ]
    return packed([output], False, create_graph), packed(result, several, create_graph)


def vhp(
    func: Callable[..., Any], inputs: Tensors, v: Tensors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """vhp(func, inputs, v=None, create_graph=False, strict=False): func(*inputs), a single number, and v times its
    Hessian there, which has the form of the inputs."""
    with enable_grad():
        points, several = prepared(inputs, "vhp", create_graph)
        vectors = checked_vectors(v, points, several, "vhp", SINGLE_INPUT)
        output = single_number(func, points, "vhp", strict)
        first = gradient_of_number(output, points, strict)
        found = derivative(first, points, vectors, create_graph)
        result = [
            filled(g, x, create_graph, strict, i, independent_jacobian, constant_hessian)
            for i, (g, x) in enumerate(zip(found, points, strict=True))
        ]
    return packed([output], False, create_graph), packed(result, several, create_graph)


def jacobian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"): the
    derivative of every number of the output by every number of the input.

    Its shape is that of the output followed by that of the input; several outputs or inputs give tuples, outputs
    outside. `vectorize` computes all rows in one batch. `strategy="forward-mode"`, which needs `vectorize`, goes
    column by column, which is less work if there are more outputs than inputs.

    >>> jacobian(lambda x: x**2, torch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    check_strategy(
        strategy,
        ' Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. '
        'Otherwise, prefer to use "reverse-mode".',
    )
    if strategy == "forward-mode":
        for name, value in (("create_graph", create_graph), ("strict", strict)):
            if value:
                raise errors.mistake(
                    NotImplementedError if name == "create_graph" else RuntimeError,
                    f'torch.autograd.functional.jacobian: `{name}=True` and `strategy="forward-mode"` are not '
                    f'supported together (yet). Please either set `{name}=False` or `strategy="reverse-mode"`.',
                )
        if not vectorize:
            raise errors.mistake(
                NotImplementedError,
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
                "`vectorize=True`.",
                fix="jacobian(..., vectorize=True)",
            )
        return columns(func, inputs)
    with enable_grad():
        points, several_inputs = prepared(inputs, "jacobian", create_graph)
        outputs, several_outputs = called(func, points, "jacobian")
        if strict:
            check_outputs(outputs)
        if vectorize and strict:
            raise errors.mistake(
                RuntimeError,
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
                "Please either set `strict=False` or `vectorize=False`.",
            )
        if vectorize:
            rows = rows_in_one_batch(outputs, points, create_graph)
        else:
            rows = [rows_one_by_one(o, i, points, create_graph, strict) for i, o in enumerate(outputs)]
        parts = [
            [part.view(*o.shape, *x.shape) for part, x in zip(of_output, points, strict=True)]
            for of_output, o in zip(rows, outputs, strict=True)
        ]
    return nested(parts, several_outputs, several_inputs, create_graph)


def hessian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy=...): the
    second derivatives of a single number by every pair of numbers of the input.

    It is the Jacobian of the gradient. `vectorize` and `outer_jacobian_strategy` are for the outer of the two: see
    `jacobian`. Several inputs give a tuple of tuples.
    """
    given, several = as_tuple(inputs, "inputs", "hessian")
    check_strategy(outer_jacobian_strategy)

    def gradient(*points: Any) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            # not requires_grad_, which refuses to be called inside vmap, where a user cannot mean it
            points = tuple([x._set_requires_grad(True, errors.ASKED) for x in points])
        found = jacobian(lambda *xs: single_number(func, xs, "hessian", strict).squeeze(), points, create_graph=True)
        if strict:
            check_gradient(found)
        return found

    result = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if several else result[0][0]


# -- the rows and columns of a Jacobian -------------------------------------------------------------------------------


def rows_one_by_one(output: Any, index: int, points: Sequence[Any], create_graph: bool, strict: bool) -> list[Any]:
    """For each point, the gradients of all numbers of one output, stacked."""
    from leafgrad.ops.shape.join import stack

    rows: list[list[Any]] = [[] for _ in points]
    count = output.numel()
    if count and output.requires_grad and output.is_complex():
        raise errors.complex_root(output)
    for place in range(count):
        found = derivative([output], points, [one_hot(output, place)], create_graph, retain_graph=True)
        for i, (g, x) in enumerate(zip(found, points, strict=True)):
            if strict and g is None:
                raise errors.mistake(
                    RuntimeError, f"Output {index} of the user-provided function is independent of input {i}. {STRICT}."
                )
            if strict and create_graph and not g.requires_grad:
                raise constant_jacobian(index)
            rows[i].append(zeros_like(x) if g is None else g)
    return [stack.function(each) for each in rows]


def rows_in_one_batch(outputs: Sequence[Any], points: Sequence[Any], create_graph: bool) -> list[list[Any]]:
    """The same for all outputs, by one backward pass that carries a batch of gradients."""
    counts = [o.numel() for o in outputs]
    total, first = sum(counts), 0
    starts = []
    for o, count in zip(outputs, counts, strict=True):
        kind = o.array.dtype if o.array.dtype.kind in "fc" else np.dtype(np.float32)
        start = np.zeros((total, count), kind)
        start[first : first + count] = np.eye(count, dtype=kind)
        starts.append(wrap(start.reshape(total, *o.shape)))
        first += count
    found = derivative(outputs, points, starts, create_graph, batched=True)
    whole = [
        wrap(np.zeros((total, *x.shape), x.array.dtype)) if g is None else g for g, x in zip(found, points, strict=True)
    ]
    split = [each.split(counts, 0) for each in whole]
    return [[of_point[i] for of_point in split] for i in range(len(outputs))]


def columns(func: Callable[..., Any], inputs: Tensors) -> Any:
    """The Jacobian by forward mode: all columns in one batch, each the change along one number of the input."""
    from leafgrad.autograd import forward_ad
    from leafgrad.func import vmap

    points, several_inputs = as_tuple(inputs, "inputs", "jacobian")
    counts = [x.numel() for x in points]
    total, first = sum(counts), 0
    basis = []
    for x, count in zip(points, counts, strict=True):
        if not is_differentiable(x):
            raise ValueError(f"Expected primal to be floating point or complex, but got: {x.dtype}")
        change = np.zeros((total, count), x.array.dtype)
        change[first : first + count] = np.eye(count, dtype=x.array.dtype)
        basis.append(wrap(change.reshape(total, *x.shape)))
        first += count
    several_outputs = False

    def along(*changes: Any) -> tuple[Any, ...]:
        nonlocal several_outputs
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, c) for x, c in zip(points, changes, strict=True)]
            outputs, several_outputs = called(func, duals, "jacobian")
            pairs = [forward_ad.unpack_dual(o) for o in outputs]
            return tuple([zeros_like(p.primal) if p.tangent is None else p.tangent for p in pairs])

    parts = []
    for batch in vmap(along)(*basis):
        moved = batch.movedim(0, -1)
        pieces = zip(moved.split(counts, -1), points, strict=True)
        parts.append([piece.reshape(*moved.shape[:-1], *x.shape) for piece, x in pieces])
    return nested(parts, several_outputs, several_inputs, create_graph=True)
