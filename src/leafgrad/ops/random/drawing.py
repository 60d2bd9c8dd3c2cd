"""How random numbers get into arrays, inside of vmap for all samples at once, and what operations that draw share.

`distributions` is imported when the first number is drawn, so that `import leafgrad` does not wait for it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad._core.modes import in_vmap
from leafgrad._core.tensor import is_batched
from leafgrad.ops.registry import Family, Operation, op
from leafgrad.ops.samples import S, ValuesOnly

if TYPE_CHECKING:
    from leafgrad.ops.random.distributions import Generator


@functools.cache
def distributions() -> ModuleType:
    """The distributions on arrays. An import statement takes longer than drawing a few numbers."""
    from leafgrad.ops.random import distributions

    return distributions


def numbers(*parameters: Any) -> Any:
    """The distributions; inside of vmap those for all samples. Numbers that shall be the same for all must not depend
    on `parameters` that are not."""
    samples = for_samples()
    if samples is None:
        return distributions()
    samples.check_parameters(parameters)
    return samples


def for_samples() -> Any:
    """Inside of vmap, what draws for all samples at once; otherwise None."""
    if not in_vmap():
        return None
    from leafgrad.func import randomness

    return randomness.for_samples(distributions())


def for_each_sample(array: Any) -> Any:
    """New memory, inside of vmap as much of it as different numbers for each sample need."""
    samples = for_samples()
    return array if samples is None else samples.repeated(array)


def drawn(array: Any, distribution: str, generator: Generator | None, *parameters: Any) -> Any:
    """Fill `array` with random numbers, in the order in which its elements lie in memory, and return it."""
    samples = for_samples()
    if samples is not None and is_batched(array):
        whole = samples.whole(array)
        if whole is None:
            array[...] = getattr(samples, distribution)(generator, array.shape, array.dtype, *parameters)
        else:
            fill(distributions(), whole, distribution, generator, *parameters)
        return array
    return fill(samples or distributions(), array, distribution, generator, *parameters)


def fill(source: Any, array: Any, distribution: str, generator: Generator | None, *parameters: Any) -> Any:
    """`drawn` by the functions of `source`."""
    draw = getattr(source, distribution)
    if array.flags.carray:  # as most are: they are filled directly
        return draw(generator, array.shape, array.dtype, *parameters, out=array)
    in_order = in_memory_order(array)
    options: dict[str, Any] = {}
    if distribution == "normal":
        options["contiguous"] = bool(array.flags.c_contiguous)
    in_order[...] = draw(generator, in_order.shape, array.dtype, *parameters, **options)
    return array


def in_memory_order(array: Any, like: Any = None) -> Any:
    """An array with the dimensions in the order in which those of `like`, or its own, lie in memory."""
    strides = (array if like is None else like).strides
    return array.transpose(sorted(range(array.ndim), key=lambda d: -strides[d]))


# -- operations -------------------------------------------------------------------------------------------------------


class Drawing(Family, family=True):
    """Operations that draw: what their kernels compute depends on the state of a generator, and has no gradient."""

    public_name = ""
    differentiable = False

    def meta(*values: Any) -> Any:
        return np.broadcast_shapes(*[value.shape for value in values if hasattr(value, "shape")])

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        function = lambda *args: operation.record(*args)
        function.__doc__ = operation.doc
        return function


def program(run: Callable[..., Any], samples: Any = lambda t: [S(t(3, 4)), S(t(20))]) -> ValuesOnly:
    """Samples: a program that draws, from the same state of the generator."""

    def seeded(torch: Any, *args: Any) -> Any:
        torch.manual_seed(0)
        return run(torch, *args)

    return ValuesOnly("draws", samples, seeded)


@op
class random_fill(Drawing):
    """random_fill(fill, args): let fill(out, *args) draw."""

    inputs = ()
    options = ("fill", "args")
    writes_into = True
    samples = program(lambda torch, x: x.clone().uniform_())

    @staticmethod
    def kernel(fill: Callable[..., Any], args: tuple[Any, ...], out: Any) -> Any:
        fill(out, *args)
        return out
