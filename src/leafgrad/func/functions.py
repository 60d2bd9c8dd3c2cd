"""A `Function` of the user inside of a transform."""

from __future__ import annotations

from typing import Any

from leafgrad._core.tensor import TensorBase, links
from leafgrad._core.thread_state import state
from leafgrad.autograd.function_transforms import VmapInfo, apply_to_batches, check_transformable, has_own_vmap
from leafgrad.func import trees
from leafgrad.func.batched_array import highest, size_at
from leafgrad.func.levels import Derivative, Map, running
from leafgrad.func.map_boundary import enter, leave


def apply_in_transform(cls: Any, args: tuple[Any, ...]) -> tuple[Any] | None:
    """The result of a Function whose arguments hold many samples, if it has a vmap of its own; None if it is to be
    applied as it is."""
    if not running.stack:
        return None  # another thread transforms
    check_transformable(cls)
    leaves, spec = trees.flatten(args)
    arrays = [t.array for t in leaves if isinstance(t, TensorBase)]
    level = highest(arrays)
    if not level or not has_own_vmap(cls) or isinstance(running.stack[-1], Derivative):
        return None  # a derivative that is taken for each sample is recorded for each sample
    size = size_at(arrays, level)
    assert size is not None
    dims = [0 if isinstance(t, TensorBase) and size_at(t.array, level) is not None else None for t in leaves]
    outside = [t if dim is None else leave(t, 0, level) for t, dim in zip(leaves, dims, strict=True)]
    mode = next((m.randomness for m in running.stack if isinstance(m, Map) and m.level == level), "error")
    info = VmapInfo(size, mode)
    output, out_dims = apply_to_batches(cls, info, trees.unflatten(dims, spec), trees.unflatten(outside, spec))
    results, out_spec = trees.flatten(output)
    places = trees.broadcast_to(out_dims, out_spec)
    if places is None:
        raise RuntimeError(f"{cls.__name__}.vmap returned out_dims={out_dims}, which do not fit its output")
    inside = [
        t if dim is None or not isinstance(t, TensorBase) else enter(t, dim % t.array.ndim, level)
        for t, dim in zip(results, places, strict=True)
    ]
    return (trees.unflatten(inside, out_spec),)


def forward_in_transform(cls: Any, args: tuple[Any, ...]) -> Any:
    """The values of a Function that is being differentiated inside of a map: computed by its own vmap, if it has one.
    Nothing is recorded meanwhile, so the derivatives that are running have no part in it."""
    arrays = [t.array for t in trees.flatten(args)[0] if isinstance(t, TensorBase)]
    if not running.stack or not highest(arrays) or not has_own_vmap(cls):
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
