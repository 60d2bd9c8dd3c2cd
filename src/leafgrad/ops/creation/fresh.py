"""New arrays: every array that does not come out of another operation is made here, so that modes see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.bind import execute, out_of_memory
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._core.thread_state import state
from leafgrad._dtypes import INTEGER, bool_, from_numpy_dtype, iinfo
from leafgrad._missing import part
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import ValuesOnly, real

A = Any  # an array, or a tensor under create_graph


@op
class create(Family):
    """create(name, make, args): the array `make(*args)`; `name` is that of the public function."""

    inputs = ()
    options = ("name", "make", "args")
    public_name = ""
    differentiable = False

    @staticmethod
    def kernel(name: str, make: Callable[..., Any], args: tuple[Any, ...]) -> A:
        return make(*args)

    @staticmethod
    def call(name: str, make: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        return create.record(name, make, args)

    samples = ValuesOnly("makes arrays of nothing", real(), lambda torch, x: torch.ones(2, 1, 1, dtype=x.dtype) * x)


def fresh(name: str, make: Callable[..., Any], *args: Any) -> Any:
    """The array `make(*args)`, made for the function `name`."""
    recording = state.recording  # first of all, see bind.execute
    try:
        if recording is True or recording is False:  # no mode wants to see it
            array = make(*args)
        else:
            array = execute(create.core, (), (name, make, args))
    except MemoryError as error:
        raise out_of_memory(error) from error
    except ValueError as error:  # perhaps NumPy's about its size
        raise errors.too_large(name, args, error) from None
    if deterministic and "empty" in name:
        fill_unset(array)
    return array


deterministic: list[bool] = []  # holds something while use_deterministic_algorithms is on


def fill_unset(array: Any) -> None:
    """Memory that nobody has set shall not be the cause of results that vary: nan, or the largest integer, shows it."""
    if part("utils.deterministic").fill_uninitialized_memory:
        kind = from_numpy_dtype(array.dtype)
        value = True if kind is bool_ else iinfo(kind).max if kind.category == INTEGER else np.nan
        array[...] = complex(np.nan, np.nan) if kind.is_complex else value


def zeros_like(g: A) -> A:
    """Zeros in the shape of a gradient: not 0 * g, which is nan where g is infinite."""
    if isinstance(g, TensorBase):
        return wrap(fresh("zeros", np.zeros_like, g.array, None, "C"))
    return np.zeros(g.shape, g.dtype)


def zero_like(g: A) -> A:
    """A zero of the dtype of a gradient, so that `where` does not change it."""
    return wrap(fresh("zeros", np.zeros, (), g.array.dtype)) if isinstance(g, TensorBase) else np.zeros((), g.dtype)
