"""Forward mode through a `Function`: its jvp, which is called after `forward` if arguments have tangents, and whether
what it returns fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.autograd import forward_ad


def tangents_of_results(
    ctx: Any, tangents: Sequence[Any], arguments: Sequence[Any], results: Sequence[Any]
) -> list[Any]:
    """Run the user's jvp. `tangents` has a tensor or None for each of the `arguments` of forward, `results` is what
    apply is about to return. The context is the one of that call."""
    record = ctx._record
    given = []
    for tangent, argument in zip(tangents, arguments, strict=True):
        if tangent is None and isinstance(argument, TensorBase) and record.materialize:
            tangent = wrap(np.zeros(argument.array.shape, argument.array.dtype))
        given.append(tangent)
    record.for_jvp = record.saved_for_forward or ()
    ctx.saved_for_forward = record.saved_for_forward
    try:
        returned = ctx._forward_cls.jvp(ctx, *given)
    finally:
        record.for_jvp = ctx.saved_for_forward = None
    found = returned if isinstance(returned, tuple) else (returned,)
    if len(found) != len(results):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(results)} but got "
            f"{len(found)})\n  in {ctx._forward_cls.__name__}.jvp"
        )
    for index, (tangent, result) in enumerate(zip(found, results, strict=True)):
        check_tangent(ctx, index, tangent, result, [g for g, a in zip(given, arguments, strict=True) if a is result])
    return list(found)


def give_tangents(ctx: Any, arguments: Sequence[Any], results: Sequence[Any]) -> None:
    """Forward mode: if arguments of a Function have tangents, so have its results."""
    of_arguments = [forward_ad.tangents_of(a) if isinstance(a, TensorBase) else {} for a in arguments]
    if not forward_ad._is_fwd_grad_enabled():
        return
    for level in sorted({level for found in of_arguments for level in found}):
        given = [found.get(level) for found in of_arguments]
        for result, tangent in zip(results, tangents_of_results(ctx, given, arguments, results), strict=True):
            if tangent is not None:
                forward_ad.set_tangent(result, level, tangent)


def check_tangent(ctx: Any, index: int, tangent: Any, result: Any, of_argument: list[Any]) -> None:
    """Refuse a tangent that is none, or that does not follow its result in what memory it shares. `of_argument` is
    the tangent of the argument that this result is, if it is one."""
    where = f"\n  in {ctx._forward_cls.__name__}.jvp"
    if tangent is None:
        return
    if not isinstance(tangent, TensorBase):
        got = type(tangent).__name__
        raise RuntimeError(f"expected Variable or None (got {got}) for grad output {index}.{where}")
    if index in ctx._record.without_gradient:
        raise RuntimeError(
            f"Function's jvp returned a gradient at position {index}, but  the corresponding forward output is not a "
            f"differentiable Tensor.You should return None at that position instead.{where}"
        )
    if tangent.array.shape != result.array.shape:
        own, got = errors.size(result.array.shape), errors.size(tangent.array.shape)
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {own} while the given forward gradient is of size {got}.{where}"
        )
    if of_argument:
        if tangent is not of_argument[0]:
            raise RuntimeError(
                "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
                f"modifying an input inplace, then the jvp function must modify the corresponding gradient "
                f"inplace.{where}"
            )
        return
    is_view = result.rare is not None and result.rare.view is not None
    if is_view and (tangent.rare is None or tangent.rare.view is None):
        raise RuntimeError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a "
            f"view.{where}"
        )
