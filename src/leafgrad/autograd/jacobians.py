"""The Jacobians that gradcheck compares: by finite differences, by backward passes, by forward mode.

A Jacobian has one row for each number of the input and one column for each number of the output. Where a number is
complex, its real and its imaginary part are looked at one at a time:

    outputs   backward mode differentiates a real quantity, so that is made of each part of a complex output
    inputs    backward mode gives both derivatives as one complex number, that by the real part + 1j * that by the
              imaginary part; forward mode moves along one of them
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.autograd.gradcheck import as_tuple

Array = Any
REAL, IMAGINARY = "real", "imaginary"


def part(array: Array, which: str) -> Array:
    """The real or the imaginary part of an array; real numbers are their own real part."""
    return (array.real if which == REAL else array.imag) if array.dtype.kind == "c" else array


def is_complex(t: TensorBase) -> bool:
    return bool(t.array.dtype.kind == "c")


def is_differentiable(value: Any) -> bool:
    return isinstance(value, TensorBase) and value.array.dtype.kind not in "biu"


class Problem:
    """A function at a place: `variables` are those of the `inputs` that it is differentiated by, and `chosen` tells
    which of its outputs are looked at."""

    def __init__(
        self,
        func: Callable[..., Any],
        inputs: tuple[Any, ...],
        variables: Sequence[Any],
        chosen: Sequence[int],
        eps: float,
    ) -> None:
        self.func, self.inputs, self.variables, self.chosen, self.eps = func, inputs, variables, chosen, eps

    def outputs(self) -> list[Any]:
        """The outputs, computed anew."""
        found = as_tuple(self.func(*self.inputs))
        if self.chosen and max(self.chosen) >= len(found):
            raise AssertionError("Expected `func` to return as many outputs when inputs are perturbed.")
        return [found[i] for i in self.chosen]

    def slopes(self, variable: Any, place: Any, direction: Any) -> list[Array]:
        """How fast each output changes while `direction` is added to a variable at a place, by central differences.

        The variable itself is changed and put back, because the function may also see it by another way than as its
        argument; nothing is told of the change, so what was saved for backward stays usable.
        """
        array = variable.array
        before = np.array(array[place])
        ends = []
        try:
            for step in (-self.eps, self.eps):
                array[place] = before + step * direction
                ends.append([np.array(o.array) for o in self.outputs()])
        finally:
            array[place] = before
        where = "" if place is ... else f" on index {place}"
        return [self.quotient(low, high, where) for low, high in zip(*ends, strict=True)]

    def quotient(self, low: Array, high: Array, where: str) -> Array:
        for what, ours, other in (("dtype", low.dtype, high.dtype), ("shape", low.shape, high.shape)):
            if ours != other:
                shown = [wrap(low).dtype, wrap(high).dtype] if what == "dtype" else [wrap(low).shape, wrap(high).shape]
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are perturbed{where} by "
                    f"{self.eps}, but got: {what}s {shown[0]} and {shown[1]}."
                )
        if low.dtype.kind == "b":
            wrap(high) - wrap(low)  # which says that bools cannot be subtracted
        return np.asarray((high - low) / (2 * self.eps)).astype(low.dtype if low.dtype.kind in "fcV" else np.float64)


# -- by differences ---------------------------------------------------------------------------------------------------


def numerical(problem: Problem, variable: Any, unit: complex = 1) -> list[Array]:
    """The Jacobian of each output by one variable, along `unit` in each of its numbers."""
    rows: list[list[Array]] = []
    for place in np.ndindex(variable.array.shape):
        rows.append([slope.reshape(-1) for slope in problem.slopes(variable, place, unit)])
    if not rows:
        return [np.zeros((0, o.array.size), o.array.dtype) for o in problem.outputs()]
    return [np.stack(of_output) for of_output in zip(*rows, strict=True)]


def numerical_of_part(problem: Problem, variable: Any) -> Callable[[int, str], Array]:
    """The Jacobians by one variable in the form that backward mode has: asked for by output and part of the output."""
    along_real = numerical(problem, variable)
    along_imaginary = numerical(problem, variable, 1j) if is_complex(variable) else []

    def of_part(output: int, which: str) -> Array:
        jacobian = part(along_real[output], which)
        if along_imaginary:
            jacobian = (jacobian + 1j * part(along_imaginary[output], which)).astype(variable.array.dtype)
        return jacobian

    return of_part


# -- by backward passes -----------------------------------------------------------------------------------------------


def gradients(outputs: Sequence[Any], variables: Sequence[Any], starts: Sequence[Array]) -> list[Any]:
    """The gradients by each variable, as tensors, or None; the graph is kept."""
    from leafgrad.autograd import grad

    given = [wrap(np.asarray(start)) for start in starts]
    return list(grad(outputs, variables, given, retain_graph=True, allow_unused=True))


def start(output: Any, values: Array, which: str) -> Array:
    """The gradient that makes a backward pass differentiate the sum of `values` times one part of an output."""
    return (values * (1j if which == IMAGINARY else 1)).astype(output.array.dtype)


def unit_starts(output: Any, which: str) -> Iterator[Array]:
    """The starts that ask for the numbers of an output one by one."""
    for place in range(output.array.size):
        values = np.zeros(output.array.size)
        values[place] = 1
        yield start(output, values.reshape(output.array.shape), which)


def analytical(output: Any, variables: Sequence[Any], which: str) -> list[Array]:
    """The Jacobian of one part of one output by each variable: a backward pass for each column."""
    columns: list[list[Array]] = [[] for _ in variables]
    for each in unit_starts(output, which):
        found = gradients([output], variables, [each])
        for of_variable, x, g in zip(columns, variables, found, strict=True):
            of_variable.append(np.zeros(x.array.size, x.array.dtype) if g is None else g.array.reshape(-1))
    return [
        np.stack(of_variable, axis=1) if of_variable else np.zeros((x.array.size, 0), x.array.dtype)
        for of_variable, x in zip(columns, variables, strict=True)
    ]


# -- by forward mode --------------------------------------------------------------------------------------------------


def tangents(problem: Problem, changes: dict[int, Any]) -> list[Any]:
    """How fast each output changes along the changes of some variables (by their index), by forward mode; as tensors,
    None where an output has no tangent."""
    from leafgrad.autograd import forward_ad

    with forward_ad.dual_level():
        duals = {}
        for i, change in changes.items():
            variable = problem.variables[i]
            duals[id(variable)] = forward_ad.make_dual(variable, change)
        inputs = [duals.get(id(x), x) for x in problem.inputs]
        found = as_tuple(problem.func(*inputs))
        return [forward_ad.unpack_dual(found[i]).tangent for i in problem.chosen]


def forward(problem: Problem, index: int, unit: complex, outputs: Sequence[Any]) -> list[Array]:
    """The Jacobian of each output by one variable, along `unit` in each of its numbers: forward mode for each row."""
    variable = problem.variables[index].array
    rows: list[list[Array]] = [[] for _ in outputs]
    for place in range(variable.size):
        change = np.zeros(variable.size, variable.dtype)
        change[place] = unit
        found = tangents(problem, {index: wrap(change.reshape(variable.shape))})
        for of_output, o, t in zip(rows, outputs, found, strict=True):
            of_output.append(np.zeros(o.array.size, o.array.dtype) if t is None else t.array.reshape(-1))
    return [
        np.stack(of_output) if of_output else np.zeros((0, o.array.size), o.array.dtype)
        for of_output, o in zip(rows, outputs, strict=True)
    ]


# -- one random direction instead of all ------------------------------------------------------------------------------


class Directions:
    """Random directions for the fast mode: for each variable (one for each part if it is complex), then for each
    output. All numbers are positive, so that an error cannot vanish in the sum unless errors cancel each other."""

    def __init__(self, variables: Sequence[Any], outputs: Sequence[Any]) -> None:
        from leafgrad.ops.random.distributions import Generator

        generator = Generator()  # our own, so that it does not disturb that of the user; and the same each time
        self.of_variable = [
            [unit_vector(x.array.shape, generator) for _ in range(2 if is_complex(x) else 1)] for x in variables
        ]
        self.of_output = [unit_vector(o.array.shape, generator) for o in outputs]

    def weight(self, variable: int, output: int | None = None) -> float:
        """By how much an error of one in each number of the Jacobian shows in the product with these directions."""
        of_input = math.hypot(*[float(u.sum()) for u in self.of_variable[variable]])
        return of_input if output is None else of_input * float(self.of_output[output].sum())

    def numerical(self, problem: Problem, variable: int) -> Callable[[int, str], complex]:
        """The product of the Jacobian with the directions of a variable and an output, by differences."""
        x, (along, *imaginary) = problem.variables[variable], self.of_variable[variable]
        slopes = problem.slopes(x, ..., along)
        slopes_imaginary = problem.slopes(x, ..., 1j * imaginary[0]) if imaginary else []

        def of_part(output: int, which: str) -> complex:
            product = inner(self.of_output[output], part(slopes[output], which))
            if slopes_imaginary:
                return complex(product, inner(self.of_output[output], part(slopes_imaginary[output], which)))
            return product

        return of_part

    def analytical(self, output: Any, index: int, variables: Sequence[Any], which: str) -> list[complex]:
        """The same by a backward pass: for one output, and each variable."""
        found = gradients([output], variables, [start(output, self.of_output[index], which)])
        products: list[complex] = []
        for g, (along, *imaginary) in zip(found, self.of_variable, strict=True):
            if g is None:
                products.append(0j if imaginary else 0.0)
            elif imaginary:
                products.append(complex(inner(along, g.array.real), inner(imaginary[0], g.array.imag)))
            else:
                products.append(inner(along, g.array))
        return products


def unit_vector(shape: tuple[int, ...], generator: Any) -> Array:
    from leafgrad.ops.random.functions import rand

    values = rand(int(np.prod(shape)), generator=generator).array.astype(np.float64)
    length = np.linalg.norm(values)
    return (values / length if length else values).reshape(shape)


def inner(a: Array, b: Array) -> float:
    return float(np.sum(a * b))
