"""A `Function` of the user inside of a transform. Without a vmap of its own it is mapped as any other code is: its
methods are run on samples."""

from __future__ import annotations

from typing import Any, NamedTuple

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, links
from leafgrad._core.thread_state import state
from leafgrad.autograd.function_methods import FunctionMethods
from leafgrad.func import trees
from leafgrad.func.levels import Derivative, Map, running
from leafgrad.func.many_samples import highest, size_at
from leafgrad.func.map_boundary import enter, leave

NOTES = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What the user's vmap is told of the batch."""

    batch_size: int
    randomness: str


def apply_in_transform(cls: Any, args: tuple[Any, ...]) -> tuple[Any] | None:
    """The result of a Function whose arguments hold many samples, if it has a vmap of its own; None if it is to be
    applied as it is."""
    if all([isinstance(transform, Map) and transform.of_gradients for transform in running()]):
        return None  # nobody here transforms, but perhaps another thread does
    if cls.setup_context is FunctionMethods.setup_context:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must "
            f"override the setup_context staticmethod. {NOTES}\n  in {cls.__name__}, at {errors.here()}"
        )
    leaves, spec = trees.flatten(args)
    arrays = [t.array for t in leaves if isinstance(t, TensorBase)]
    level = highest(arrays)
    if not level or not has_own_vmap(cls) or isinstance(running()[-1], Derivative):
        return None  # a derivative that is taken for each sample is recorded for each sample
    size = size_at(arrays, level)
    assert size is not None
    dims = [place_at(t.array, level) if isinstance(t, TensorBase) else None for t in leaves]
    outside = [t if dim is None else leave(t, dim, level) for t, dim in zip(leaves, dims, strict=True)]
    mode = next((m.randomness for m in running() if isinstance(m, Map) and m.level == level), "error")
    info = VmapInfo(size, mode)
    returned = cls.vmap(info, trees.unflatten(dims, spec), *trees.unflatten(outside, spec))
    results, places, out_spec = checked_results(cls, returned)
    inside = [
        t if dim is None or not isinstance(t, TensorBase) else enter(t, dim % t.array.ndim, level)
        for t, dim in zip(results, places, strict=True)
    ]
    return (trees.unflatten(inside, out_spec),)


def place_at(array: Any, level: int) -> int | None:
    """Along which dimension the samples of a level lie, None if there are none of it."""
    if size_at(array, level) is None:
        return None
    return array.place if array.level == level else 0


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


def checked_results(cls: Any, returned: Any) -> tuple[list[Any], list[Any], trees.Spec]:
    """What the vmap of a Function returned: results, where the batch lies in each of them, and their structure."""
    first = (
        "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible "
        "with the output."
    )
    if not isinstance(returned, tuple):
        raise RuntimeError(f"{first} Got a {type(returned)} instead\n  in {cls.__name__}.vmap")
    if len(returned) != 2:
        raise RuntimeError(f"{first} Got {len(returned)} returns instead\n  in {cls.__name__}.vmap")
    output, out_dims = returned
    results, spec = trees.flatten(output)
    places = trees.broadcast_to(out_dims, spec)
    if places is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
            f"{trees.flatten(out_dims)[1]} but output has structure {spec}. {NOTES}\n  in {cls.__name__}.vmap"
        )
    return results, places, spec


def forward_in_transform(cls: Any, args: tuple[Any, ...]) -> Any:
    """The values of a Function that is being differentiated inside of a map: computed by its own vmap, if it has one.
    Nothing is recorded meanwhile, so the derivatives that are running have no part in it."""
    arrays = [t.array for t in trees.flatten(args)[0] if isinstance(t, TensorBase)]
    if not running() or not highest(arrays) or not has_own_vmap(cls):
        return cls.forward(*args)
    modes: list[Any] = state.modes
    before = list(modes)
    maps = [i for i, mode in enumerate(modes) if isinstance(mode, Map)]
    modes[:] = [mode for i, mode in enumerate(modes) if not (isinstance(mode, Derivative) and i > maps[-1])]
    try:
        return cls.apply(*args)
    finally:
        modes[:] = before


links.apply_in_transform = apply_in_transform
links.forward_in_transform = forward_in_transform
