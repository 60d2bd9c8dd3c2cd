"""The Jacobians that gradcheck compares: by finite differences, by backward passes, by forward mode.

A Jacobian has one row for each number of the input and one column for each number of the output. Where a number is
complex, its real and its imaginary part are looked at one at a time:

    outputs   backward mode differentiates a real quantity, so that is made of each part of a complex output
    inputs    backward mode gives both derivatives as one complex number, that by the real part + 1j * that by the
              imaginary part; forward mode moves along one of them
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import SparseArrayBase, TensorBase, wrap
from leafgrad.autograd import forward_ad, grad
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

    def slopes(self, variable: Any, change: Array, where: str) -> list[Array]:
        """How fast each output changes along a change of a variable, by central differences.

        The variable itself is changed and put back, because the function may also see it by another way than as its
        argument; nothing is told of the change, so what was saved for backward stays usable.
        """
        array = variable.array
        before = array.copy()
        ends = []
        try:
            for step in (-self.eps, self.eps):
                array[...] = before + step * change
                ends.append([np.array(o.array) for o in self.outputs()])
        finally:
            array[...] = before
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


def gradients(outputs: Sequence[Any], variables: Sequence[Any], starts: Sequence[Any]) -> list[Any]:
    """The gradients by each variable, as tensors, or None; the graph is kept."""
    given: list[Any] = [start if isinstance(start, TensorBase) else wrap(np.asarray(start)) for start in starts]
    found = grad(outputs, variables, given, retain_graph=True, allow_unused=True)
    return [g.to_dense() if g is not None and isinstance(g.array, SparseArrayBase) else g for g in found]


def tangents(problem: Problem, changes: dict[int, Any]) -> list[Any]:
    """How fast each output changes along the changes of some variables (by their index), by forward mode; as tensors,
    None where an output has no tangent."""
    with forward_ad.dual_level():
        duals = {}
        for i, variable in enumerate(problem.variables):  # without history: that is backward mode's
            inside: Any = variable.detach()
            duals[id(variable)] = forward_ad.make_dual(inside, changes[i]) if i in changes else inside
        inputs = [duals.get(id(x), x) for x in problem.inputs]
        found = as_tuple(problem.func(*inputs))
        return [forward_ad.unpack_dual(found[i]).tangent for i in problem.chosen]


def or_zeros(found: Sequence[Any], like: Sequence[Any]) -> tuple[Any, ...]:
    """Tensors, with zeros in place of None."""
    return tuple([wrap(np.zeros_like(x.array)) if t is None else t for t, x in zip(found, like, strict=True)])


class Jacobians:
    """The Jacobians of a problem, number by number; or, fast, their products with one random direction for each
    variable (one for each part if it is complex) and one for each output. All numbers of those are positive, so that an
    error cannot vanish in the sum unless errors cancel each other."""

    def __init__(self, problem: Problem, outputs: Sequence[Any], fast: bool) -> None:
        self.problem, self.outputs, self.fast = problem, outputs, fast
        if fast:
            from leafgrad.ops.random.distributions import Generator

            generator = Generator()  # our own, so that it does not disturb that of the user; and the same each time
            self.of_variable = [[unit_vector(x, generator) for _ in units(x)] for x in problem.variables]
            self.of_output = [unit_vector(o, generator) for o in outputs]

    def weight(self, variable: int, output: int | None = None) -> float:
        """By how much an error of one in each number of the Jacobian shows in the product with these directions."""
        if not self.fast:
            return 1.0
        of_input = sum([float(u.sum()) for u in self.of_variable[variable]])  # real and imaginary parts meet in one sum
        return of_input if output is None else of_input * float(self.of_output[output].sum())

    def direction(self, index: int) -> Array:
        """Any change of a variable but zero."""
        array = self.problem.variables[index].array
        return np.cos(np.arange(array.size)).reshape(array.shape).astype(array.dtype)

    def changes(self, index: int, unit: complex) -> Iterator[tuple[str, Array]]:
        """The changes of a variable that are tried, along `unit` in its numbers, and where they are."""
        array = self.problem.variables[index].array
        if self.fast:
            yield "", unit * self.of_variable[index][0 if unit == 1 else 1]
            return
        for place in np.ndindex(array.shape):
            change = np.zeros(array.shape, array.dtype)
            change[place] = unit
            yield f" on index {place}", change

    def matrices(self, rows: Sequence[Sequence[Array]], like: Sequence[Any]) -> list[Array]:
        """What was found for each change, as one array for each of the tensors that it was found of."""
        if self.fast:
            return list(rows[0])
        by_tensor = [[row[i].reshape(-1) for row in rows] for i in range(len(like))]
        return [
            np.stack(found) if found else np.zeros((0, x.array.size), x.array.dtype)
            for found, x in zip(by_tensor, like, strict=True)
        ]

    def numerical(self, index: int, unit: complex) -> list[Array]:
        """The Jacobian of each output by one variable, along `unit` in its numbers, by differences."""
        variable = self.problem.variables[index]
        rows = [self.problem.slopes(variable, change, where) for where, change in self.changes(index, unit)]
        return self.matrices(rows, self.outputs if rows else self.problem.outputs())

    def forward(self, index: int, unit: complex) -> list[Array]:
        """The same by forward mode. The other variables have tangents as well, of zeros."""
        kind = self.problem.variables[index].array.dtype
        still = {i: wrap(np.zeros_like(x.array)) for i, x in enumerate(self.problem.variables)}
        rows = []
        for _, change in self.changes(index, unit):
            found = tangents(self.problem, {**still, index: wrap(change.astype(kind))})
            rows.append([t.array for t in or_zeros(found, self.outputs)])
        return self.matrices(rows, self.outputs)

    def numerical_of_part(self, index: int) -> Callable[[int, str], Array]:
        """The Jacobians by one variable in the form that backward mode has: asked for by output and part of the
        output."""
        variable = self.problem.variables[index]
        along = [self.numerical(index, unit) for unit in units(variable)]

        def of_part(output: int, which: str) -> Array:
            jacobian, *imaginary = [part(found[output], which) for found in along]
            if self.fast:
                jacobian, *imaginary = [inner(self.of_output[output], one) for one in (jacobian, *imaginary)]
            return (jacobian + 1j * imaginary[0]).astype(variable.array.dtype) if imaginary else jacobian

        return of_part

    def backward(self, index: int, which: str) -> list[Array]:
        """The Jacobian of one part of one output by each variable: a backward pass for each column."""
        output, variables = self.outputs[index], self.problem.variables
        columns = []
        for values in [self.of_output[index]] if self.fast else unit_arrays(output.array.shape):
            # makes a backward pass differentiate the sum of `values` times this part of the output
            start = (values * (1j if which == IMAGINARY else 1)).astype(output.array.dtype)
            found = [g.array for g in or_zeros(gradients([output], variables, [start]), variables)]
            columns.append([self.product(i, g) for i, g in enumerate(found)] if self.fast else found)
        found = self.matrices(columns, variables)
        return found if self.fast else [matrix.T for matrix in found]

    def product(self, index: int, g: Array) -> Array:
        """The product of a gradient with the directions of its variable."""
        along, *imaginary = self.of_variable[index]
        if imaginary:
            return inner(along, g.real) + 1j * inner(imaginary[0], g.imag)
        return inner(along, g)


# -- what programs asked for before there was gradcheck's own ---------------------------------------------------------


def warn_of_private(name: str) -> None:
    errors.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it will be "
        "removed in a future version of PyTorch. If you have a specific use for this or feature request for this to be "
        "a stable API, please file us an issue at https://github.com/pytorch/pytorch/issues/new",
        FutureWarning,
    )


def check_real(name: str, output: Any, grad_out: float) -> None:
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")
    if output is not None and is_complex(output):
        raise ValueError(
            f"Expected output to be non-complex. {name} no longer supports functions that return complex outputs."
        )


def variables_among(values: Any) -> list[Any]:
    return [x for x in as_tuple(values) if isinstance(x, TensorBase) and x.requires_grad]  # type: ignore[attr-defined]


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Any, ...]:
    """get_numerical_jacobian(fn, inputs, target=None, eps=1e-3): the Jacobians of the first output of `fn(inputs)` by
    each tensor of `target` (the inputs), by differences."""
    warn_of_private("get_numerical_jacobian")
    check_real("get_numerical_jacobian", None, grad_out)
    given = as_tuple(inputs)
    problem = Problem(
        lambda *values: fn(values), given, variables_among(given if target is None else target), (0,), eps
    )
    outputs = problem.outputs()
    check_real("get_numerical_jacobian", outputs[0], 1.0)
    found = Jacobians(problem, outputs, fast=False)
    return tuple([wrap(found.numerical_of_part(i)(0, REAL)) for i in range(len(problem.variables))])


def get_analytical_jacobian(
    inputs: Any, output: Any, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Any, ...], bool, bool, bool]:
    """get_analytical_jacobian(inputs, output, nondet_tol=0.0): the Jacobians of an output by each input that requires
    grad, by backward passes; are they the same each time; have they the sizes and the dtypes of the inputs?"""
    warn_of_private("get_analytical_jacobian")
    check_real("get_analytical_jacobian", output, grad_out)
    problem = Problem(lambda: output, (), variables_among(inputs), (0,), 0.0)
    first, again = [Jacobians(problem, [output], fast=False).backward(0, REAL) for _ in range(2)]
    same = all([bool(np.all(np.abs(a - b) <= nondet_tol)) for a, b in zip(first, again, strict=True)])
    # the engine sees to sizes and dtypes
    return tuple([wrap(np.ascontiguousarray(jacobian)) for jacobian in first]), same, True, True


def units(variable: Any) -> tuple[complex, ...]:
    """What a number of a variable can be changed by: a real number, and an imaginary one if it is complex."""
    return (1, 1j) if is_complex(variable) else (1,)


def unit_arrays(shape: tuple[int, ...]) -> Iterator[Array]:
    """Arrays with a single one each, at every place."""
    for place in np.ndindex(shape):
        values = np.zeros(shape)
        values[place] = 1
        yield values


def unit_vector(t: Any, generator: Any) -> Array:
    from leafgrad.ops.random.functions import rand

    values = rand(t.array.size, generator=generator).array.astype(np.float64)
    length = np.linalg.norm(values)
    return (values / length if length else values).reshape(t.array.shape)


def inner(a: Array, b: Array) -> Array:
    return np.sum(a * b)  # a number, not an array
