"""What the functions of leafgrad.autograd.functional have in common: tensors or tuples of them going in and coming
out, derivatives that may not exist, and what strict mode refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.autograd import grad

Tensors = Any  # a tensor or a tuple of tensors
Found = Sequence[Any]  # a derivative for each place, None where there is none

STRICT = "This is not allowed in strict mode"
SINGLE_INPUT = "the input to the user-provided function is a single Tensor with a single element."
SINGLE_OUTPUT = "the user-provided function returns a single Tensor with a single element."


# -- going in and coming out ------------------------------------------------------------------------------------------


def as_tuple(value: Any, what: str, caller: str | None) -> tuple[tuple[Any, ...], bool]:
    """A tensor or a tuple of tensors as a tuple, and whether it was one."""
    several = isinstance(value, tuple)
    values = value if several else (value,)
    for i, t in enumerate(values):
        if not isinstance(t, TensorBase):
            which = f"value at index {i}" if several else f"given {what}"
            raise errors.mistake(
                TypeError,
                f"The {what} given to {caller} must be either a Tensor or a tuple of Tensors but the {which} has type "
                f"{type(t)}.",
            )
    return values, several


def prepared(inputs: Tensors, caller: str, create_graph: bool) -> tuple[tuple[Any, ...], bool]:
    """The inputs as places to differentiate at: new tensors on the same memory, connected to the inputs if the
    derivative is to be differentiated as well."""
    given, several = as_tuple(inputs, "inputs", caller)
    connected = [create_graph and x.requires_grad for x in given]
    points = [x.view_as(x) if c else x.detach().requires_grad_() for x, c in zip(given, connected, strict=True)]
    return tuple(points), several


def called(func: Callable[..., Any], points: Sequence[Any], caller: str) -> tuple[tuple[Any, ...], bool]:
    """What the function returns, as a tuple."""
    return as_tuple(func(*points), "outputs of the user-provided function", caller)


def single_number(func: Callable[..., Any], points: Sequence[Any], caller: str, strict: bool) -> Any:
    """What a function returns that must return a single number."""
    outputs, several = called(func, points, caller)
    if strict:
        check_outputs(outputs)
    if several:
        raise errors.mistake(RuntimeError, f"The function given to {caller} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise errors.mistake(
            RuntimeError,
            f"The Tensor returned by the function given to {caller} should contain a single element",
            ("tensor", errors.describe(outputs[0])),
            fix="return y.sum()",
        )
    return outputs[0]


def checked_vectors(v: Tensors, like: Sequence[Any], several: bool, caller: str, may_be_none_if: str) -> Sequence[Any]:
    """The vectors of a product: each in the shape of what it belongs to; a one where it may be left out."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise errors.mistake(RuntimeError, f"The vector v can only be None if {may_be_none_if}")
        return [wrap(np.ones_like(like[0].array))]
    vectors, _ = as_tuple(v, "v", caller)
    if len(vectors) != len(like):
        if several:
            raise errors.mistake(
                RuntimeError, f"v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}."
            )
        raise errors.mistake(RuntimeError, "The given v should contain a single Tensor.")
    for i, (vector, t) in enumerate(zip(vectors, like, strict=True)):
        if vector.shape != t.shape:
            entry = f"Entry {i} in " if several else ""
            raise errors.mistake(
                RuntimeError, f"{entry}v has invalid size: should be {t.shape} but got {vector.shape}."
            )
    return vectors


def derivative(
    outputs: Sequence[Any],
    places: Sequence[Any],
    starts: Sequence[Any],
    create_graph: bool,
    retain_graph: bool | None = None,
    batched: bool = False,
) -> Found:
    """autograd.grad, where neither every output nor every place needs to be part of a graph."""
    used = [(o, s) for o, s in zip(outputs, starts, strict=True) if o.requires_grad]
    wanted = [i for i, x in enumerate(places) if x.requires_grad]
    found: list[Any] = [None] * len(places)
    if used and wanted:
        roots, gradients = zip(*used, strict=True)
        results = grad(
            roots,
            [places[i] for i in wanted],
            gradients,
            retain_graph=retain_graph,
            create_graph=create_graph,
            allow_unused=True,
            is_grads_batched=batched,
        )
        for i, g in zip(wanted, results, strict=True):
            found[i] = g
    return found


def gradient_of_number(output: Any, points: Sequence[Any], strict: bool) -> list[Any]:
    """The gradient of a single number, recorded."""
    if output.requires_grad and output.is_complex():
        raise errors.complex_root(output)
    found = derivative([output], points, [wrap(np.ones_like(output.array))], create_graph=True)
    result = [filled(g, x, True, strict, i, independent) for i, (g, x) in enumerate(zip(found, points, strict=True))]
    if strict:
        check_gradient(result)
    return result


def filled(
    found: Any,
    like: Any,
    create_graph: bool,
    strict: bool,
    index: int,
    missing: Callable[[int], Exception] | None = None,
    constant: Callable[[int], Exception] | None = None,
) -> Any:
    """A derivative, with zeros in place of None; in strict mode, None and constants are errors."""
    if found is None:
        if strict and missing is not None:
            raise missing(index)
        return zeros_like(like)
    if strict and create_graph and constant is not None and not found.requires_grad:
        raise constant(index)
    return found


def packed(values: Sequence[Any], several: bool, create_graph: bool) -> Any:
    """Results in the form that the user knows, cut from the graph unless they shall be differentiated."""
    results = [t if create_graph else t.detach() for t in values]
    return tuple(results) if several else results[0]


def nested(parts: list[list[Any]], several_outputs: bool, several_inputs: bool, create_graph: bool) -> Any:
    """A Jacobian as the user sees it: tuples only where inputs or outputs were tuples."""
    rows = [packed(of_output, several_inputs, create_graph) for of_output in parts]
    return tuple(rows) if several_outputs else rows[0]


def zeros_like(t: Any) -> Any:
    return wrap(np.zeros(t.array.shape, t.array.dtype))


def one_hot(output: Any, place: int) -> Any:
    """A gradient that asks for one number of an output."""
    start = np.zeros(output.array.shape, output.array.dtype)
    start.reshape(-1)[place] = 1
    return wrap(start)


def is_differentiable(t: Any) -> bool:
    return bool(t.is_floating_point() or t.is_complex())


# -- what strict mode refuses -----------------------------------------------------------------------------------------


def check_outputs(outputs: Sequence[Any]) -> None:
    for i, o in enumerate(outputs):
        if not o.requires_grad:
            raise errors.mistake(
                RuntimeError,
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in "
                "a differentiable manner from the input when running in strict mode.",
                ("output", errors.describe(o)),
            )


def check_gradient(gradient: Any) -> None:
    for i, g in enumerate(gradient if isinstance(gradient, (tuple, list)) else (gradient,)):
        if not g.requires_grad:
            raise errors.mistake(
                RuntimeError,
                "While computing the hessian, found that the jacobian of the user-provided function with respect to "
                f"input {i} is independent of the input. {STRICT}.",
                fix="strict=False   # a function that is linear in this input has a Hessian of zeros",
            )


def check_strategy(strategy: str, hint: str = "") -> None:
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(f'Expected strategy to be either "forward-mode" or "reverse-mode".{hint}')


def independent(i: int) -> Exception:
    return errors.mistake(
        RuntimeError, f"The output of the user-provided function is independent of input {i}. {STRICT}."
    )


def independent_jacobian(i: int) -> Exception:
    return errors.mistake(
        RuntimeError, f"The jacobian of the user-provided function is independent of input {i}. {STRICT}."
    )


def constant_jacobian(i: int) -> Exception:
    return errors.mistake(
        RuntimeError,
        f"The jacobian of the user-provided function is independent of input {i}. {STRICT} when create_graph=True.",
    )


def constant_hessian(i: int) -> Exception:
    return errors.mistake(
        RuntimeError,
        f"The hessian of the user-provided function is independent of input {i}. {STRICT} when create_graph=True.",
    )


def no_way_back(i: int) -> Exception:
    return errors.mistake(
        RuntimeError,
        f"The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
        f"backward trick to compute forward mode gradients. {STRICT}.",
    )


def no_way_back_twice(i: int) -> Exception:
    return errors.mistake(
        RuntimeError,
        f"The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. {STRICT} as it "
        "prevents from using the double backward trick to replace forward mode AD.",
    )
