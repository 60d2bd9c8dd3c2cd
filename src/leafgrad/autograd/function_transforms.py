"""What forward mode and vmap call of a `Function`: one function each, which runs the user's method and checks it.

Forward mode, after `forward` has run for arguments of which some have tangents:

    tangents_of_results(ctx, tangents, results)     -> one tangent, or None, for each result

vmap (`leafgrad.func.functions`), in place of `forward`, for arguments that are batches:

    check_transformable(cls), has_own_vmap(cls)     refuse a Function that cannot be mapped
    apply_to_batches(cls, info, in_dims, args)      -> (results, out_dims), out_dims in the structure of the results

A Function without a vmap of its own is mapped as any other code is: its methods are run on samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.autograd.function import Function

NOTES = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


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
    from leafgrad.autograd import forward_ad

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
    is_view = result.extra is not None and result.extra.view is not None
    if is_view and (tangent.extra is None or tangent.extra.view is None):
        raise RuntimeError(
            "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a "
            f"view.{where}"
        )


# -- vmap -------------------------------------------------------------------------------------------------------------


class VmapInfo(NamedTuple):
    """What the user's vmap is told of the batch."""

    batch_size: int
    randomness: str


def check_transformable(cls: type[Function]) -> None:
    """Function transforms (vmap, func.grad, ...) need the form of forward that takes no ctx."""
    if cls.setup_context is Function.setup_context:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must "
            f"override the setup_context staticmethod. {NOTES}\n  in {cls.__name__}, at {errors.here()}"
        )


def has_own_vmap(cls: type[Function]) -> bool:
    """Has the Function a vmap of its own? If not, its forward, backward and jvp are to be mapped as they are, which
    `generate_vmap_rule` allows. Refuses a Function that says neither, or both."""
    overridden = cls.vmap is not Function.vmap
    if cls.generate_vmap_rule and overridden:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            f"ambiguity. {NOTES}\n  at {errors.here()}"
        )
    if not cls.generate_vmap_rule and not overridden:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement "
            f"the vmap staticmethod or set generate_vmap_rule=True. {NOTES}\n  at {errors.here()}"
        )
    return overridden


def apply_to_batches(cls: type[Function], info: VmapInfo, in_dims: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """Run the user's vmap. `in_dims` says for each argument in which dimension the batch lies, None if in none."""
    returned = cls.vmap(info, in_dims, *args)
    first = (
        "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible "
        "with the output."
    )
    if not isinstance(returned, tuple):
        raise RuntimeError(f"{first} Got a {type(returned)} instead\n  in {cls.__name__}.vmap")
    if len(returned) != 2:
        raise RuntimeError(f"{first} Got {len(returned)} returns instead\n  in {cls.__name__}.vmap")
    output, out_dims = returned
    if isinstance(out_dims, tuple):
        if not isinstance(output, tuple) or len(output) != len(out_dims):
            count = f"{len(output)} results" if isinstance(output, tuple) else "one result"
            raise RuntimeError(
                "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
                f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has {len(out_dims)} "
                f"entries but output has {count}. {NOTES}\n  in {cls.__name__}.vmap"
            )
        return output, out_dims
    return output, (out_dims,) * len(output) if isinstance(output, tuple) else out_dims
