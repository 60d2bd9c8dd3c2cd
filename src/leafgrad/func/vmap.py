"""vmap: a function of one sample, run once for all of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from leafgrad._core.tensor import TensorBase
from leafgrad.func import levels, trees
from leafgrad.func.batching import batching
from leafgrad.func.many_samples import size_at
from leafgrad.func.map_boundary import view_in_map, view_outside
from leafgrad.ops.dimensions import wrap_dim
from leafgrad.ops.random import distributions
from leafgrad.ops.shape.join import cat

InDims = Any  # int | None | nested tuple, list, dict of these
OutDims = Any


def vmap(
    func: Callable[..., Any],
    in_dims: InDims = 0,
    out_dims: OutDims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """vmap(func, in_dims=0, out_dims=0, randomness='error', *, chunk_size=None): func for each sample, all at once.

    `in_dims` says along which dimension of each argument the samples lie (None: the argument is the same for all),
    `out_dims` where they shall lie in the results. `randomness`: may func draw random numbers, and are they the
    'same' or 'different' for each sample? With `chunk_size` no more than that many samples are computed at a time.

        per_sample = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, inputs, targets)
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    return _mapped(func, in_dims, out_dims, randomness, chunk_size, of_gradients=False)


def chunk_vmap(
    func: Callable[..., Any], in_dims: InDims = 0, out_dims: OutDims = 0, randomness: str = "error", chunks: int = 2
) -> Callable[..., Any]:
    """chunk_vmap(func, in_dims=0, out_dims=0, randomness='error', chunks=2): vmap of so many portions of the samples,
    one after the other."""
    vmap(func, in_dims, out_dims, randomness)  # which refuses what it does not know

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        size = _inputs(func, in_dims, args)[-1]
        chunk_size = max(1, -(-size // chunks))
        return vmap(func, in_dims, out_dims, randomness, chunk_size=chunk_size)(*args, **kwargs)

    return mapped


def map_of_gradients(func: Callable[..., Any]) -> Callable[..., Any]:
    """vmap for a function that goes through a graph with many gradients, or tangents, at once. That is no transform of
    the user's, so Functions need not be made for one."""
    return _mapped(func, 0, 0, "error", None, of_gradients=True)


def _mapped(
    func: Callable[..., Any],
    in_dims: InDims,
    out_dims: OutDims,
    randomness: str,
    chunk_size: int | None,
    of_gradients: bool,
) -> Callable[..., Any]:
    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        dims, flat, spec, size = _inputs(func, in_dims, args)

        def run(leaves: list[Any], count: int) -> Any:
            with levels.Map(count, randomness, of_gradients) as level, batching():
                pairs = zip(leaves, dims, strict=True)
                inside = [leaf if dim is None else view_in_map(leaf, dim, level) for leaf, dim in pairs]
                outputs = func(*trees.unflatten(inside, spec), **kwargs)
                # what comes out as it went in is that very tensor, changed in place or not
                came_in = {id(t): (t, dim, leaf) for t, dim, leaf in zip(inside, dims, leaves, strict=True)}
                return _outputs(func, outputs, out_dims, level, count, came_in)

        if chunk_size is None or chunk_size >= size:
            return run(flat, size)
        return _in_chunks(run, dims, flat, size, out_dims, randomness, chunk_size)

    return mapped


def _name(func: Any) -> str:
    return getattr(func, "__name__", None) or repr(func)


# -- arguments --------------------------------------------------------------------------------------------------------


def _inputs(func: Any, in_dims: Any, args: tuple[Any, ...]) -> tuple[list[Any], list[Any], Any, int]:
    """(dimension of each leaf, leaves, their structure, number of samples)."""
    called = f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, int) and not isinstance(in_dims, tuple):
        raise ValueError(
            f"{called}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if len(args) == 0:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap "
            "over a function with no inputs. The latter is unsupported."
        )
    flat, spec = trees.flatten(args)
    spread = trees.broadcast_to(in_dims, spec)
    if spread is None:
        raise ValueError(
            f"{called}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{trees.flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    dims: list[Any] = []
    for leaf, dim in zip(flat, spread, strict=True):
        if not isinstance(dim, int) and dim is not None:
            raise ValueError(
                f"{called}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
            )
        if isinstance(dim, int) and not isinstance(leaf, TensorBase):
            raise ValueError(
                f"{called}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over "
                "non-Tensor arguments, please use None as the respective in_dim"
            )
        if dim is not None:
            ndim = leaf.array.ndim
            if not -ndim <= dim < ndim:
                raise ValueError(
                    f"{called}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {ndim} so "
                    f"expected in_dim to satisfy -{ndim} <= in_dim < {ndim}."
                )
            dim %= ndim
        dims.append(dim)
    sizes = [leaf.array.shape[dim] for leaf, dim in zip(flat, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any([size != sizes[0] for size in sizes]):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return dims, flat, spec, sizes[0]


# -- results ----------------------------------------------------------------------------------------------------------


def _outputs(
    func: Any, outputs: Any, out_dims: Any, level: int, size: int, came_in: dict[int, tuple[Any, Any, Any]]
) -> Any:
    name = _name(func)
    flat, spec = trees.flatten(outputs)
    for dim in trees.flatten(out_dims)[0]:
        if not isinstance(dim, int) and dim is not None:
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of "
                "ints representing where in the outputs the vmapped dimension should appear."
            )
    if isinstance(out_dims, tuple) and len(out_dims) == 1 and isinstance(outputs, TensorBase):
        out_dims = out_dims[0]
    dims = trees.broadcast_to(out_dims, spec)
    if dims is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {trees.flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    results = [_out(name, t, dim, level, size, came_in.get(id(t))) for t, dim in zip(flat, dims, strict=True)]
    return trees.unflatten(results, spec)


def _out(name: str, t: Any, dim: Any, level: int, size: int, came_in: tuple[Any, Any, Any] | None) -> Any:
    """One result outside of the map."""
    is_mapped = isinstance(t, TensorBase) and size_at(t.array, level) is not None
    if dim is None:
        if is_mapped:
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return t
    if not isinstance(t, TensorBase):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(t)}. Did you mean to set out_dims= "
            "to None for output?"
        )
    dim = wrap_dim(dim, t.array.ndim + 1)
    if came_in is not None and came_in[1] == dim:
        return came_in[2]
    return view_outside(t, dim, level, size)


def _in_chunks(
    run: Any, dims: list[Any], flat: list[Any], size: int, out_dims: Any, randomness: str, chunk_size: int
) -> Any:
    """The samples in portions, whose results are joined."""
    parts: list[list[Any]] = []
    out_spec: Any = None
    draws = distributions.get_rng_state()
    for start in range(0, size, chunk_size):
        if randomness == "same":
            distributions.set_rng_state(draws)  # every portion draws what the first one did
        count = min(chunk_size, size - start)
        portion = [
            leaf if dim is None else leaf.narrow(dim, start, count) for leaf, dim in zip(flat, dims, strict=True)
        ]
        leaves, out_spec = trees.flatten(run(portion, count))
        parts.append(leaves)
    spread = trees.broadcast_to(out_dims, out_spec)
    assert spread is not None
    joined = [
        parts[0][i] if dim is None else cat.function([part[i] for part in parts], dim) for i, dim in enumerate(spread)
    ]
    return trees.unflatten(joined, out_spec)


__all__ = ["chunk_vmap", "vmap"]
