"""What vmap (`leafgrad.func.functions`) calls of a `Function`, in place of `forward`, for arguments that are batches:

    check_transformable(cls), has_own_vmap(cls)     refuse a Function that cannot be mapped
    apply_to_batches(cls, info, in_dims, args)      -> (results, out_dims), out_dims in the structure of the results

A Function without a vmap of its own is mapped as any other code is: its methods are run on samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from leafgrad import errors
from leafgrad.autograd.function_methods import FunctionMethods

NOTES = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What the user's vmap is told of the batch."""

    batch_size: int
    randomness: str


def check_transformable(cls: type[FunctionMethods]) -> None:
    """Function transforms (vmap, func.grad, ...) need the form of forward that takes no ctx."""
    if cls.setup_context is FunctionMethods.setup_context:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must "
            f"override the setup_context staticmethod. {NOTES}\n  in {cls.__name__}, at {errors.here()}"
        )


def has_own_vmap(cls: type[FunctionMethods]) -> bool:
    """Has the Function a vmap of its own? If not, its forward, backward and jvp are to be mapped as they are, which
    `generate_vmap_rule` allows. Refuses a Function that says neither, or both."""
    overridden = cls.vmap is not FunctionMethods.vmap
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


def apply_to_batches(
    cls: type[FunctionMethods], info: VmapInfo, in_dims: tuple[Any, ...], args: tuple[Any, ...]
) -> Any:
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
