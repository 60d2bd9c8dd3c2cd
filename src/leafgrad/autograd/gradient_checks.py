"""The checks that gradcheck is made of: each raises a GradcheckError that tells what is wrong, and where."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.function import CallNode
from leafgrad._core.node import Node, Output
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.autograd import jacobians
from leafgrad.autograd.gradcheck import GradcheckError, as_tuple
from leafgrad.autograd.jacobians import IMAGINARY, REAL, Array, Directions, Problem, is_differentiable
from leafgrad.autograd.public_nodes import is_several


def checked_variables(inputs: tuple[Any, ...]) -> list[Any]:
    """Those inputs that the function is differentiated by."""
    variables = []
    for i, x in enumerate(inputs):
        if not (is_differentiable(x) and x.requires_grad):
            continue
        variables.append(x)
        if x.array.dtype not in (np.float64, np.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=4,
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
        self.check_dtypes, self.fast = check_dtypes, fast
        self.variables = checked_variables(inputs)
        outputs = as_tuple(func(*inputs))
        chosen = [i for i, o in enumerate(outputs) if o.requires_grad]
        self.is_constant = not chosen
        self.problem = Problem(func, inputs, self.variables, chosen or range(len(outputs)), eps)
        self.outputs = [outputs[i] for i in self.problem.chosen]

    def constant(self) -> None:
        """A function whose outputs do not require grad must not depend on its variables."""
        for i, x in enumerate(self.variables):
            for unit in (1, 1j) if jacobians.is_complex(x) else (1,):
                for o, jacobian in zip(self.outputs, jacobians.numerical(self.problem, x, unit), strict=True):
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
        if self.fast:
            self.backward_fast()
            return
        by_differences = [jacobians.numerical_of_part(self.problem, x) for x in self.variables]
        for output, which, label in self.parts():

            def analytical(output: int = output, which: str = which) -> list[Array]:
                return jacobians.analytical(self.outputs[output], self.variables, which)

            found = self.twice(analytical)
            for index, (jacobian, numerical) in enumerate(zip(found, by_differences, strict=True)):
                expected = numerical(output, which)
                if not self.close(jacobian, expected):
                    raise GradcheckError(
                        self.mismatch(f"{label}Jacobian mismatch", output, index, shown(expected), shown(jacobian))
                        + self.whereabouts(output, index, expected, jacobian)
                    )

    def backward_fast(self) -> None:
        directions = Directions(self.variables, self.outputs)
        by_differences = [directions.numerical(self.problem, i) for i in range(len(self.variables))]
        for output, which, label in self.parts():

            def analytical(output: int = output, which: str = which) -> list[Array]:
                found = directions.analytical(self.outputs[output], output, self.variables, which)
                return [np.asarray(number) for number in found]

            for index, (product, numerical) in enumerate(zip(self.twice(analytical), by_differences, strict=True)):
                expected = numerical(output, which)
                if not self.close(product, np.asarray(expected), directions.weight(index, output)):
                    jacobian = jacobians.analytical(self.outputs[output], self.variables, which)[index]
                    by_slow = jacobians.numerical_of_part(self.problem, self.variables[index])(output, which)
                    raise GradcheckError(
                        self.mismatch(f"{label}Jacobian mismatch", output, index, str(expected), str(product.item()))
                        + self.slow_result(by_slow, jacobian)
                        + self.whereabouts(output, index, by_slow, jacobian)
                    )

    def twice(self, compute: Callable[[], list[Array]]) -> list[Array]:
        """What backward passes give, which must be the same when they are run again."""
        first, second = compute(), compute()
        for a, b in zip(first, second, strict=True):
            different = ~((a == b) | (np.isnan(a) & np.isnan(b)))
            difference = np.abs(a - b)[different].max(initial=0.0)
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
        outputs = self.problem.outputs()
        advice = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
        try:
            found = [g for node in functions_behind(outputs) for g in without_gradients(node)]
            for absent in range(len(outputs) if len(outputs) > 1 else 0):
                rest = [o for i, o in enumerate(outputs) if i != absent]
                found += jacobians.gradients(rest, self.variables, [np.zeros_like(o.array) for o in rest])
        except RuntimeError as error:
            warn_of_undefined_check()
            sentence = "Expected backward function to handle undefined output grads."
            raise GradcheckError(errors.explain(f"{sentence} {advice}", ("got", repr(error)))) from error
        for g in found:
            if g is not None and (g.array if isinstance(g, TensorBase) else g).any():
                warn_of_undefined_check()
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                    + errors.explain(advice, ("gradient", shown(g.array if isinstance(g, TensorBase) else g)))
                )

    def batched_backward(self) -> None:
        from leafgrad.autograd import grad

        for index, output in enumerate(self.outputs):
            batch = np.random.default_rng(0).uniform(-1, 1, (2, *output.array.shape)).astype(output.array.dtype)
            one_by_one = [jacobians.gradients([output], self.variables, [row]) for row in batch]
            try:
                found = grad(
                    output, self.variables, wrap(batch), retain_graph=True, allow_unused=True, is_grads_batched=True
                )
            except RuntimeError as error:
                raise GradcheckError(
                    errors.explain(
                        f"While computing batched gradients, got: {error}",
                        ("output", f"{index}, {errors.describe(output)}"),
                        ("fix", "gradcheck(..., check_batched_grad=False)"),
                    )
                ) from error
            expected = [stacked(rows, x) for rows, x in zip(zip(*one_by_one, strict=True), self.variables, strict=True)]
            self.compare_batches(index, found, expected, "check_batched_grad")

    def compare_batches(self, output: int, found: Sequence[Any], expected: Sequence[Array], option: str) -> None:
        for index, (g, e) in enumerate(zip(found, expected, strict=True)):
            got = np.zeros_like(e) if g is None else g.array
            if not self.close(got, e):
                raise GradcheckError(
                    f"For output {output} and input {index}:\n\nGot:\n{shown(got)}\n\nExpected:\n{shown(e)}\n\n"
                    + errors.explain(
                        "A batch of gradients gave something else than each of them alone.",
                        ("fix", f"gradcheck(..., {option}=False)"),
                    )
                )

    # -- forward mode -------------------------------------------------------------------------------------------------

    def forward_mode(self) -> None:
        directions = Directions(self.variables, self.outputs) if self.fast else None
        for index, x in enumerate(self.variables):
            units = [(1j, IMAGINARY), (1, REAL)] if jacobians.is_complex(x) else [(1, REAL)]
            for unit, which in units:
                label = f"While considering the {which} part of complex inputs only, " if len(units) == 2 else ""
                label += "Jacobian computed with forward mode mismatch"
                if directions is not None:
                    along = unit * directions.of_variable[index][0 if which == REAL else 1]
                    by_differences = self.problem.slopes(x, ..., along)
                    tangents = jacobians.tangents(self.problem, {index: wrap(along.astype(x.array.dtype))})
                    found = [
                        np.zeros_like(o.array) if t is None else t.array
                        for t, o in zip(tangents, self.outputs, strict=True)
                    ]
                    weight = directions.weight(index)
                else:
                    by_differences = jacobians.numerical(self.problem, x, unit)
                    found = jacobians.forward(self.problem, index, unit, self.outputs)
                    weight = 1.0
                for output, (got, expected) in enumerate(zip(found, by_differences, strict=True)):
                    if not self.close(got, expected, weight):
                        text = self.mismatch(label, output, index, shown(expected), shown(got))
                        if directions is not None:
                            expected = jacobians.numerical(self.problem, x, unit)[output]
                            got = jacobians.forward(self.problem, index, unit, self.outputs)[output]
                            text += self.slow_result(expected, got)
                        raise GradcheckError(text + self.whereabouts(output, index, expected, got))

    def zero_tangents(self) -> None:
        """Forward mode is linear as well: inputs that do not change leave the outputs unchanged."""
        changes = {i: wrap(np.zeros_like(x.array)) for i, x in enumerate(self.variables)}
        for given in [changes, *[{i: change} for i, change in changes.items()]]:
            for index, t in enumerate(jacobians.tangents(self.problem, given)):
                if t is not None and t.array.any():
                    raise GradcheckError(
                        errors.explain(
                            f"forward mode gave output {index} a tangent although no input has one but zeros",
                            ("tangent", shown(t.array)),
                        )
                    )

    def batched_forward(self) -> None:
        from leafgrad.func import vmap

        for index, x in enumerate(self.variables):
            batch = np.random.default_rng(0).uniform(-1, 1, (2, *x.array.shape)).astype(x.array.dtype)

            def changed(change: Any, index: int = index) -> tuple[Any, ...]:
                found = jacobians.tangents(self.problem, {index: change})
                both = zip(found, self.outputs, strict=True)
                return tuple([wrap(np.zeros_like(o.array)) if t is None else t for t, o in both])

            one_by_one = [changed(wrap(row)) for row in batch]
            try:
                found = vmap(changed)(wrap(batch))
            except RuntimeError as error:
                raise GradcheckError(
                    errors.explain(
                        f"While computing batched gradients, got: {error}",
                        ("input", f"{index}, {errors.describe(x)}"),
                        ("fix", "gradcheck(..., check_batched_forward_grad=False)"),
                    )
                ) from error
            for output, (got, rows) in enumerate(zip(found, zip(*one_by_one, strict=True), strict=True)):
                expected = np.stack([row.array for row in rows])
                self.compare_batches(output, [got], [expected], "check_batched_forward_grad")

    # -- comparing and telling ----------------------------------------------------------------------------------------

    def close(self, found: Array, expected: Array, weight: float = 1.0) -> bool:
        """Is the difference within tolerance everywhere? Not a number never is."""
        room = self.atol * weight + self.rtol * np.abs(expected)
        return bool(np.all((np.abs(found - expected) <= room) | ((found == expected) & np.isfinite(expected))))

    def mismatch(self, what: str, output: int, index: int, numerical: str, analytical: str) -> str:
        return (
            f"{what} for output {output} with respect to input {index},\n"
            f"numerical:{numerical}\nanalytical:{analytical}\n"
        )

    def slow_result(self, expected: Array, found: Array) -> str:
        """What the fast mode tells after a failure: the Jacobians themselves."""
        difference = np.abs(expected - found).max(initial=0.0)
        text = (
            "\nThese are sums over both Jacobians with random factors, which is what fast_mode compares.\n\n"
            f"Numerical:\n {shown(expected)}\nAnalytical:\n{shown(found)}\n\n"
            f"The max per-element difference (slow mode) is: {difference}.\n"
        )
        if self.close(found, expected):
            text += "Fast gradcheck failed but element-wise differences are small. Try fast_mode=False.\n"
        return text

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
    return str(wrap(np.asarray(array)))


def stacked(rows: Sequence[Any], like: Any) -> Array:
    return np.stack([np.zeros_like(like.array) if g is None else g.array for g in rows])


# -- functions of the user's own --------------------------------------------------------------------------------------


def functions_behind(outputs: Sequence[Any]) -> list[Any]:
    """The nodes of custom Functions in the graph behind these tensors. The engine never visits a node that has no
    gradient, but a Function may be called so in PyTorch, so they are asked one by one."""
    found, seen = [], set()
    stack: list[Any] = [o.node for o in outputs]
    while stack:
        node = stack.pop()
        if isinstance(node, Output):
            node = node.parent
        if isinstance(node, Node) and id(node) not in seen:
            seen.add(id(node))
            stack += node.inputs
            if isinstance(node, CallNode):
                found.append(node)
    return found


def without_gradients(node: Any) -> list[Any]:
    """What a Function makes of no gradients at all."""
    from leafgrad.autograd.grad_mode import no_grad

    with no_grad():
        return list(node.op.backward([None] * (len(node.shape) if is_several(node) else 1), node.saved, node.inputs))


def warn_of_undefined_check() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
        "break existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        stacklevel=4,
    )
