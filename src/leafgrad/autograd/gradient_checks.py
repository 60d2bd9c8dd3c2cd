"""The checks that gradcheck is made of: each raises a GradcheckError that tells what is wrong, and where."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.refused_gradient import undefined_gradient
from leafgrad._core.tensor import wrap
from leafgrad.autograd import jacobians
from leafgrad.autograd.gradcheck import GradcheckError, as_tuple
from leafgrad.autograd.jacobians import IMAGINARY, REAL, Array, Jacobians, Problem, is_differentiable


def checked_variables(inputs: tuple[Any, ...]) -> list[Any]:
    """Those inputs that the function is differentiated by."""
    variables = []
    for i, x in enumerate(inputs):
        if not (is_differentiable(x) and x.requires_grad):
            continue
        variables.append(x)
        if x.array.dtype not in (np.float64, np.complex128):
            errors.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. "
            )
        if x.array.size and any([s == 0 and n > 1 for s, n in zip(x.array.strides, x.array.shape, strict=True)]):
            raise errors.mistake(
                RuntimeError,
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck.",
                ("input", errors.describe(x)),
            )
    if not variables:
        raise errors.mistake(
            ValueError,
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True.",
            fix="x.requires_grad_()",
        )
    return variables


class Check:
    """One call of gradcheck. Each method raises a GradcheckError if it finds something wrong."""

    def __init__(
        self,
        func: Callable[..., Any],
        inputs: tuple[Any, ...],
        eps: float,
        atol: float,
        rtol: float,
        nondet_tol: float,
        check_dtypes: bool,
        fast: bool,
    ) -> None:
        self.atol, self.rtol, self.nondet_tol = atol, rtol, nondet_tol
        self.check_dtypes = check_dtypes
        self.variables = checked_variables(inputs)
        outputs = as_tuple(func(*inputs))
        chosen = [i for i, o in enumerate(outputs) if o.requires_grad]
        self.is_constant = not chosen
        self.problem = Problem(func, inputs, self.variables, chosen or range(len(outputs)), eps)
        self.outputs = [outputs[i] for i in self.problem.chosen]
        self.whole = Jacobians(self.problem, self.outputs, False)
        self.jacobians = Jacobians(self.problem, self.outputs, True) if fast else self.whole

    def constant(self) -> None:
        """A function whose outputs do not require grad must not depend on its variables."""
        for i, x in enumerate(self.variables):
            for unit in jacobians.units(x):
                for o, jacobian in zip(self.outputs, self.whole.numerical(i, unit), strict=True):
                    if jacobian.any():
                        raise GradcheckError(
                            "Numerical gradient for function expected to be zero\n"
                            + errors.explain(
                                f"numerical:{shown(jacobian)}",
                                ("input", f"{i}, {errors.describe(x)}"),
                                ("output", f"{errors.describe(o)}, which does not require grad"),
                            )
                        )

    def parts(self) -> list[tuple[int, str, str]]:
        """What is compared: output, part of it, and how the message starts."""
        complex_ones = [i for i, o in enumerate(self.outputs) if jacobians.is_complex(o)]
        labelled = [
            (i, which, f"While considering the {which} part of complex outputs only, ")
            for which in (IMAGINARY, REAL)
            for i in complex_ones
        ]
        return labelled + [(i, REAL, "") for i in range(len(self.outputs)) if i not in complex_ones]

    # -- backward mode ------------------------------------------------------------------------------------------------

    def backward_mode(self) -> None:
        by_differences = [self.jacobians.numerical_of_part(i) for i in range(len(self.variables))]
        for output, which, label in self.parts():
            found = self.twice(functools.partial(self.jacobians.backward, output, which))
            for index, (got, numerical) in enumerate(zip(found, by_differences, strict=True)):
                expected = numerical(output, which)
                if not self.close(got, expected, self.jacobians.weight(index, output)):
                    whole = expected, got
                    if self.jacobians.fast:
                        by_slow = self.whole.numerical_of_part(index)(output, which)
                        whole = by_slow, self.whole.backward(output, which)[index]
                    raise self.mismatch(f"{label}Jacobian mismatch", output, index, (expected, got), whole)

    def twice(self, compute: Callable[[], list[Array]]) -> list[Array]:
        """What backward passes give, which must be the same when they are run again."""
        first, second = compute(), compute()
        for a, b in zip(first, second, strict=True):
            different = ~((a == b) | (np.isnan(a) & np.isnan(b)))
            difference = np.asarray(np.abs(a - b))[different].max(initial=0.0)
            if not difference <= self.nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                    "gives different values, although analytical gradient matches numerical gradient."
                    f"The tolerance for nondeterminism was {self.nondet_tol}.\n\n"
                    + errors.explain(
                        "Two equal backward passes differed.",
                        ("difference", f"at most {difference}"),
                        ("fix", "gradcheck(..., nondet_tol=...)   # if that is meant"),
                    )
                )
        return first

    def zero_gradients(self) -> None:
        """A backward pass is linear, so it turns zeros into zeros."""
        found = jacobians.gradients(self.outputs, self.variables, [np.zeros_like(o.array) for o in self.outputs])
        for i, (g, x) in enumerate(zip(found, self.variables, strict=True)):
            if g is None:
                continue
            if g.array.any():
                raise GradcheckError(
                    errors.explain(
                        "backward not multiplied by grad_output",
                        ("input", f"{i}, {errors.describe(x)}"),
                        ("gradient", f"{shown(g.array)}, though all outputs have a gradient of zeros"),
                    )
                )
            if self.check_dtypes and g.array.dtype != x.array.dtype:
                raise GradcheckError(f"Gradient has dtype mismatch: {g.dtype} for input {i}, which has {x.dtype}")
            if g.array.shape != x.array.shape:
                raise GradcheckError(f"Gradient has incorrect size: {g.shape} for input {i}, which has {x.shape}")

    def undefined_gradients(self) -> None:
        """An output that gets no gradient counts as one whose gradient is zero: none of them, and each by itself."""
        advice = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
        try:
            found = []
            for absent in (None, *range(len(self.outputs) if len(self.outputs) > 1 else 0)):
                outputs = [
                    undefined_gradient(o) if absent is None or i == absent else o
                    for i, o in enumerate(self.problem.outputs())
                ]
                found += jacobians.gradients(outputs, self.variables, [np.zeros_like(o.array) for o in outputs])
        except RuntimeError as error:
            warn_of_undefined_check()
            sentence = "Expected backward function to handle undefined output grads."
            raise GradcheckError(errors.explain(f"{sentence} {advice}", ("got", repr(error)))) from error
        for g in found:
            if g is not None and g.array.any():
                warn_of_undefined_check()
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                    + errors.explain(advice, ("gradient", shown(g.array)))
                )

    def batched_backward(self) -> None:
        for index, output in enumerate(self.outputs):

            def gradients(start: Any, output: Any = output) -> tuple[Any, ...]:
                return jacobians.or_zeros(jacobians.gradients([output], self.variables, [start]), self.variables)

            self.compare_batch(gradients, output, "check_batched_grad", output_number=index)

    def compare_batch(
        self,
        function: Callable[[Any], tuple[Any, ...]],
        like: Any,
        option: str,
        output_number: int | None = None,
        input_number: int | None = None,
    ) -> None:
        """A function has to make of a batch what it makes of each of its parts alone. It is given what belongs to one
        output and returns something for each input, or the other way round."""
        from leafgrad.func.vmap import map_of_gradients

        batch = np.random.default_rng(0).uniform(-1, 1, (2, *like.array.shape)).astype(like.array.dtype)
        one_by_one = [function(wrap(part)) for part in batch]
        fix = ("fix", f"gradcheck(..., {option}=False)")
        try:
            found = map_of_gradients(function)(wrap(batch))
        except RuntimeError as error:
            row = ("output", output_number) if input_number is None else ("input", input_number)
            place = (row[0], f"{row[1]}, {errors.describe(like)}")
            first = f"While computing batched gradients, got: {error}"
            raise GradcheckError(errors.explain(first, place, fix)) from error
        for i, (batched, alone) in enumerate(zip(found, zip(*one_by_one, strict=True), strict=True)):
            got, expected = batched.array, np.stack([each.array for each in alone])
            if not self.close(got, expected):
                output = i if output_number is None else output_number
                index = i if input_number is None else input_number
                raise GradcheckError(
                    f"For output {output} and input {index}:\n\nGot:\n{shown(got)}\n\nExpected:\n{shown(expected)}\n\n"
                    + errors.explain("A batch of gradients gave something else than each of them alone.", fix)
                )

    # -- forward mode -------------------------------------------------------------------------------------------------

    def forward_mode(self) -> None:
        for index, x in enumerate(self.variables):
            for unit in reversed(jacobians.units(x)):
                label = "Jacobian computed with forward mode mismatch"
                if jacobians.is_complex(x):
                    which = REAL if unit == 1 else IMAGINARY
                    label = f"While considering the {which} part of complex inputs only, {label}"
                by_differences = self.jacobians.numerical(index, unit)
                found = self.jacobians.forward(index, unit)
                for output, (got, expected) in enumerate(zip(found, by_differences, strict=True)):
                    if not self.close(got, expected, self.jacobians.weight(index)):
                        whole = expected, got
                        if self.jacobians.fast:
                            by_slow = self.whole.numerical(index, unit)[output]
                            whole = by_slow, self.whole.forward(index, unit)[output]
                        raise self.mismatch(label, output, index, (expected, got), whole)

    def zero_tangents(self) -> None:
        """An input without a tangent counts as one whose tangent is zero."""
        changes = {i: wrap(self.jacobians.direction(i)) for i in range(len(self.variables))}
        for i, x in enumerate(self.variables):
            with_zeros = jacobians.tangents(self.problem, {**changes, i: wrap(np.zeros_like(x.array))})
            without = jacobians.tangents(self.problem, {k: v for k, v in changes.items() if k != i})
            pairs = [jacobians.or_zeros(found, self.outputs) for found in (with_zeros, without)]
            for index, (a, b) in enumerate(zip(*pairs, strict=True)):
                if not np.allclose(a.array, b.array, equal_nan=True):
                    raise GradcheckError(
                        errors.explain(
                            f"Mismatch in tangent values for output with index: {index} when input: {i} has an "
                            "undefined tangent value.",
                            ("with zeros", shown(a.array)),
                            ("without", shown(b.array)),
                        )
                    )

    def batched_forward(self) -> None:
        for index, x in enumerate(self.variables):

            def changed(change: Any, index: int = index) -> tuple[Any, ...]:
                return jacobians.or_zeros(jacobians.tangents(self.problem, {index: change}), self.outputs)

            self.compare_batch(changed, x, "check_batched_forward_grad", input_number=index)

    # -- comparing and telling ----------------------------------------------------------------------------------------

    def close(self, found: Array, expected: Array, weight: float = 1.0) -> bool:
        """Is the difference within tolerance everywhere? Not a number never is."""
        room = self.atol * weight + self.rtol * np.abs(expected)
        return bool(np.all((np.abs(found - expected) <= room) | ((found == expected) & np.isfinite(expected))))

    def mismatch(
        self, what: str, output: int, index: int, compared: tuple[Array, Array], whole: tuple[Array, Array]
    ) -> GradcheckError:
        """The error that shows what was compared, by differences and found, and the Jacobians if that is not these."""
        expected, found = whole
        text = (
            f"{what} for output {output} with respect to input {index},\n"
            f"numerical:{shown(compared[0])}\nanalytical:{shown(compared[1])}\n"
        )
        if self.jacobians.fast:
            difference = np.abs(expected - found).max(initial=0.0)
            text += (
                "\nThese are sums over both Jacobians with random factors, which is what fast_mode compares.\n\n"
                f"Numerical:\n {shown(expected)}\nAnalytical:\n{shown(found)}\n\n"
                f"The max per-element difference (slow mode) is: {difference}.\n"
            )
            if self.close(found, expected):
                text += "Fast gradcheck failed but element-wise differences are small. Try fast_mode=False.\n"
        return GradcheckError(text + self.whereabouts(output, index, expected, found))

    def whereabouts(self, output: int, index: int, expected: Array, found: Array) -> str:
        """Where the two differ most, and which tensors these are."""
        difference = np.abs(np.where(np.isfinite(found - expected), found - expected, np.inf))
        row, column = np.unravel_index(int(difference.argmax()), difference.shape)
        x, o = self.variables[index], self.outputs[output]
        place = [list(map(int, np.unravel_index(int(i), t.array.shape))) for i, t in ((row, x), (column, o))]
        return errors.explain(
            "",
            ("input", errors.describe(x)),
            ("output", errors.describe(o)),
            ("recorded", errors.recorded(o)),
            ("worst", f"d output{place[1]} / d input{place[0]} is {expected[row, column]}, not {found[row, column]}"),
        )


def shown(array: Array) -> str:
    return str(wrap(array)) if isinstance(array, np.ndarray) else str(array.item())


def warn_of_undefined_check() -> None:
    errors.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
        "break existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature'
    )
