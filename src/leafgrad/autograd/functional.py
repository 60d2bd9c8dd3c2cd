"""Derivatives of functions: Jacobians, Hessians, and their products with vectors.

Each function here calls `func` on copies of the inputs that share their memory, and differentiates what comes back.
With `create_graph=True` the copies stay connected to the inputs, so that the derivative can be differentiated itself.

    vjp, jacobian   one backward pass, or one for each number of the output
    vhp             a backward pass through a backward pass
    jvp, hvp        a backward pass is linear in the gradient that it starts with, so its own derivative by that
                    gradient is the transposed product: two passes give what forward mode would
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.autograd import forward_ad, grad
from leafgrad.autograd.grad_mode import enable_grad
from leafgrad.autograd.tangent_rules import zeros_like

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Tensors = Any  # a tensor or a tuple of tensors

# What strict mode refuses, of the input, output or vector number {i}.
STRICT = "This is not allowed in strict mode"
INDEPENDENT = f"The output of the user-provided function is independent of input {{i}}. {STRICT}."
INDEPENDENT_JACOBIAN = f"The jacobian of the user-provided function is independent of input {{i}}. {STRICT}."
CONSTANT_JACOBIAN = INDEPENDENT_JACOBIAN[:-1] + " when create_graph=True."
CONSTANT_HESSIAN = CONSTANT_JACOBIAN.replace("jacobian", "hessian")
NO_WAY_BACK = (
    "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
    f"backward trick to compute forward mode gradients. {STRICT}."
)
NO_WAY_BACK_TWICE = (
    f"The hessian of the user-provided function is independent of entry {{i}} in the grad_jacobian. {STRICT} as it "
    "prevents from using the double backward trick to replace forward mode AD."
)
SINGLE_INPUT = "the input to the user-provided function is a single Tensor with a single element."
SINGLE_OUTPUT = "the user-provided function returns a single Tensor with a single element."


def vjp(
    func: Callable[..., Any], inputs: Tensors, v: Tensors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """vjp(func, inputs, v=None, create_graph=False, strict=False): func(*inputs), and v times the Jacobian of func
    there, which has the form of the inputs.

    `v` has the form of the output; it may be left out if that is a single number. With `strict`, an input that the
    output does not depend on is an error; otherwise its derivative is zero.
    """
    with enable_grad():
        points, several_inputs = prepared(inputs, "vjp", create_graph)
        outputs, several_outputs = called(func, points, "vjp")
        if strict:
            check_outputs(outputs)
        vectors = checked_vectors(v, outputs, several_outputs, "vjp", SINGLE_OUTPUT)
        result = derivative(outputs, points, vectors, create_graph, strict, INDEPENDENT, CONSTANT_JACOBIAN)
    return packed(outputs, several_outputs, create_graph), packed(result, several_inputs, create_graph)


def jvp(
    func: Callable[..., Any], inputs: Tensors, v: Tensors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """jvp(func, inputs, v=None, create_graph=False, strict=False): func(*inputs), and the Jacobian of func there times
    v, which has the form of the output.

    `v` has the form of the inputs; it may be left out if they are a single number. It is how fast the output changes
    when the inputs move along v.
    """
    with enable_grad():
        points, several_inputs = prepared(inputs, "jvp", create_graph)
        vectors = checked_vectors(v, points, several_inputs, "jvp", SINGLE_INPUT)
        outputs, several_outputs = called(func, points, "jvp")
        if strict:
            check_outputs(outputs)
        starts = [zeros_like(o)._set_requires_grad(True, errors.CREATED) for o in outputs]
        first = derivative(outputs, points, starts, True, strict, INDEPENDENT)
        result = derivative(first, starts, vectors, create_graph, strict, NO_WAY_BACK, CONSTANT_JACOBIAN)
    return packed(outputs, several_outputs, create_graph), packed(result, several_outputs, create_graph)


def hvp(
    func: Callable[..., Any], inputs: Tensors, v: Tensors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """hvp(func, inputs, v=None, create_graph=False, strict=False): func(*inputs), a single number, and its Hessian
    there times v, which has the form of the inputs.

    `vhp` gives the same for every function whose second derivatives are continuous, with less work.
    """
    with enable_grad():
        points, several = prepared(inputs, "hvp", create_graph)
        vectors = checked_vectors(v, points, several, "hvp", SINGLE_INPUT)
        output = single_number(func, points, "hvp", strict)
        first = gradient_of_number(output, points, strict)
        starts = [zeros_like(x).requires_grad_() for x in points]
        second = derivative(first, points, starts, create_graph=True)
        result = derivative(second, starts, vectors, create_graph, strict, NO_WAY_BACK_TWICE, CONSTANT_HESSIAN)
    return packed([output], False, create_graph), packed(result, several, create_graph)


def vhp(
    func: Callable[..., Any], inputs: Tensors, v: Tensors = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """vhp(func, inputs, v=None, create_graph=False, strict=False): func(*inputs), a single number, and v times its
    Hessian there, which has the form of the inputs."""
    with enable_grad():
        points, several = prepared(inputs, "vhp", create_graph)
        vectors = checked_vectors(v, points, several, "vhp", SINGLE_INPUT)
        output = single_number(func, points, "vhp", strict)
        first = gradient_of_number(output, points, strict)
        result = derivative(first, points, vectors, create_graph, strict, INDEPENDENT_JACOBIAN, CONSTANT_HESSIAN)
    return packed([output], False, create_graph), packed(result, several, create_graph)


def jacobian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"): the
    derivative of every number of the output by every number of the input.

    Its shape is that of the output followed by that of the input; several outputs or inputs give tuples, outputs
    outside. `vectorize` computes all rows in one batch. `strategy="forward-mode"`, which needs `vectorize`, goes
    column by column, which is less work if there are more outputs than inputs.

    >>> jacobian(lambda x: x**2, torch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    check_strategy(
        strategy,
        ' Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. '
        'Otherwise, prefer to use "reverse-mode".',
    )
    if strategy == "forward-mode":
        for name, value in (("create_graph", create_graph), ("strict", strict)):
            if value:
                raise errors.mistake(
                    NotImplementedError if name == "create_graph" else RuntimeError,
                    f'torch.autograd.functional.jacobian: `{name}=True` and `strategy="forward-mode"` are not '
                    f'supported together (yet). Please either set `{name}=False` or `strategy="reverse-mode"`.',
                )
        if not vectorize:
            raise errors.mistake(
                NotImplementedError,
                "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
                "`vectorize=True`.",
                fix="jacobian(..., vectorize=True)",
            )
        return columns(func, inputs)
    with enable_grad():
        points, several_inputs = prepared(inputs, "jacobian", create_graph)
        outputs, several_outputs = called(func, points, "jacobian")
        if strict:
            check_outputs(outputs)
        if vectorize and strict:
            raise errors.mistake(
                RuntimeError,
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
                "Please either set `strict=False` or `vectorize=False`.",
            )
        if vectorize:
            batch = standard_basis(outputs)
            whole = derivative(outputs, points, batch, create_graph, batched=True)
            parts: list[Sequence[Any]] = list(zip(*[as_rows(rows, outputs) for rows in whole], strict=True))
        else:
            parts = [rows_one_by_one(o, i, points, create_graph, strict) for i, o in enumerate(outputs)]
    return nested(parts, several_outputs, several_inputs, create_graph)


def hessian(
    func: Callable[..., Any],
    inputs: Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy=...): the
    second derivatives of a single number by every pair of numbers of the input.

    It is the Jacobian of the gradient. `vectorize` and `outer_jacobian_strategy` are for the outer of the two: see
    `jacobian`. Several inputs give a tuple of tuples.
    """
    given, several = as_tuple(inputs, "inputs", "hessian")
    check_strategy(outer_jacobian_strategy)

    def gradient(*points: Any) -> Any:
        if outer_jacobian_strategy == "forward-mode":
            # not requires_grad_, which refuses to be called inside vmap, where a user cannot mean it
            points = tuple([x._set_requires_grad(True, errors.ASKED) for x in points])
        found = jacobian(lambda *xs: single_number(func, xs, "hessian", strict).squeeze(), points, create_graph=True)
        if strict:
            check_gradient(found)
        return found

    result = jacobian(gradient, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return result if several else result[0][0]


# -- the rows and columns of a Jacobian -------------------------------------------------------------------------------


def rows_one_by_one(output: Any, index: int, points: Sequence[Any], create_graph: bool, strict: bool) -> Sequence[Any]:
    """For each point, the gradients of all numbers of one output."""
    from leafgrad.ops.shape.join import stack

    if output.numel() and output.requires_grad and output.is_complex():
        raise errors.complex_root(output)
    missing = INDEPENDENT.replace("The output", f"Output {index}")
    constant = CONSTANT_JACOBIAN.format(i=index)
    rows = [
        derivative([output], points, [one_hot(output, place)], create_graph, strict, missing, constant, True)
        for place in range(output.numel())
    ]
    stacked = [stack.function([row[i] for row in rows]) for i in range(len(points))]
    return [part.view((*output.shape, *x.shape)) for part, x in zip(stacked, points, strict=True)]


def one_hot(output: Any, place: int) -> Any:
    """A gradient that asks for one number of an output."""
    start = np.zeros(output.array.shape, output.array.dtype)
    start.reshape(-1)[place] = 1
    return wrap(start)


def columns(func: Callable[..., Any], inputs: Tensors) -> Any:
    """The Jacobian by forward mode: all columns in one batch, each the change along one number of the input."""
    from leafgrad.func import vmap

    points, several_inputs = as_tuple(inputs, "inputs", "jacobian")
    several_outputs = False

    def along(*changes: Any) -> tuple[Any, ...]:
        nonlocal several_outputs
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, c) for x, c in zip(points, changes, strict=True)]
            outputs, several_outputs = called(func, duals, "jacobian")
            pairs = [forward_ad.unpack_dual(o) for o in outputs]
            return tuple([zeros_like(p.primal) if p.tangent is None else p.tangent for p in pairs])

    parts = [as_columns(batch, points) for batch in vmap(along)(*standard_basis(points))]
    return nested(parts, several_outputs, several_inputs, create_graph=True)


def _construct_standard_basis_for(tensors: Sequence[Any], tensor_numels: Sequence[int]) -> tuple[Any, ...]:
    """_construct_standard_basis_for(tensors, tensor_numels): for each tensor a matrix, which has, one per row, the unit
    vectors of all tensors taken together. A name that PyTorch has, though it is private there."""
    if len(tensors) != len(tensor_numels) or not tensors:
        raise AssertionError(f"got {len(tensors)} tensors and {len(tensor_numels)} sizes\n  at {errors.here()}")
    total = sum(tensor_numels)
    made: list[Any] = []
    start = 0
    for t, count in zip(tensors, tensor_numels, strict=True):
        unit = np.zeros((total, count), t.array.dtype.type)
        unit[start : start + count] = np.eye(count)
        made.append(wrap(unit))
        start += count
    return tuple(made)


def standard_basis(tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The same in the shapes of the tensors."""
    flat = _construct_standard_basis_for(tensors, [t.array.size for t in tensors])
    return tuple([wrap(b.array.reshape((len(b.array), *t.array.shape))) for b, t in zip(flat, tensors, strict=True)])


def as_rows(batch: Any, tensors: Sequence[Any]) -> list[Any]:
    """What was computed for the standard basis of some tensors, as a Jacobian of each: its shape comes first."""
    pieces = batch.split([t.array.size for t in tensors], 0)
    return [piece.reshape((*t.array.shape, *batch.array.shape[1:])) for piece, t in zip(pieces, tensors, strict=True)]


def as_columns(batch: Any, tensors: Sequence[Any]) -> list[Any]:
    """The same with the shape of each tensor last."""
    moved = batch.movedim(0, -1)
    pieces = moved.split([t.array.size for t in tensors], -1)
    return [piece.reshape((*moved.array.shape[:-1], *t.array.shape)) for piece, t in zip(pieces, tensors, strict=True)]


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
    strict: bool = False,
    missing: str = "",
    constant: str = "",
    retain_graph: bool | None = None,
    batched: bool = False,
) -> list[Any]:
    """autograd.grad, where neither every output nor every place needs to be part of a graph: zeros where nothing
    arrives. In strict mode that is an error, `missing`, and so is a result that is to be differentiated and cannot be,
    `constant`, if there are messages for them."""
    used = [(o, s) for o, s in zip(outputs, starts, strict=True) if o.requires_grad]
    wanted = [x for x in places if x.requires_grad]
    arrived: dict[int, Any] = {}
    if used and wanted:
        roots, gradients = zip(*used, strict=True)
        found = grad(roots, wanted, gradients, retain_graph, create_graph, True, True, batched)
        arrived = {id(x): g for x, g in zip(wanted, found, strict=True)}
    results = []
    for i, x in enumerate(places):
        g = arrived.get(id(x))
        if strict and g is None and missing:
            raise errors.mistake(RuntimeError, missing.format(i=i))
        if strict and g is not None and constant and create_graph and not g.requires_grad:
            raise errors.mistake(RuntimeError, constant.format(i=i))
        if g is None:
            g = wrap(np.zeros((*starts[0].shape[:batched], *x.array.shape), x.array.dtype))
        results.append(g)
    return results


def gradient_of_number(output: Any, points: Sequence[Any], strict: bool) -> list[Any]:
    """The gradient of a single number, recorded."""
    if output.requires_grad and output.is_complex():
        raise errors.complex_root(output)
    result = derivative([output], points, [wrap(np.ones_like(output.array))], True, strict, INDEPENDENT)
    if strict:
        check_gradient(result)
    return result


def packed(values: Sequence[Any], several: bool, create_graph: bool) -> Any:
    """Results in the form that the user knows, cut from the graph unless they shall be differentiated."""
    results = [t if create_graph else t.detach() for t in values]
    return tuple(results) if several else results[0]


def nested(parts: Sequence[Sequence[Any]], several_outputs: bool, several_inputs: bool, create_graph: bool) -> Any:
    """A Jacobian as the user sees it: tuples only where inputs or outputs were tuples."""
    rows = [packed(of_output, several_inputs, create_graph) for of_output in parts]
    return tuple(rows) if several_outputs else rows[0]


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


# -- autograd.grad(is_grads_batched=True) -----------------------------------------------------------------------------


def grad_of_batch(
    backward: Callable[..., Sequence[Any]], outputs: Sequence[Any], grad_outputs: Sequence[Any]
) -> tuple[Any, ...]:
    """What `backward(*gradients)` returns for each of the gradients along the first dimension of `grad_outputs`,
    stacked; None where that gives None."""
    from leafgrad.func.vmap import map_of_gradients

    for i, (output, g) in enumerate(zip(outputs, grad_outputs, strict=False)):
        if isinstance(g, TensorBase):
            check_shape(i, output, g)
        elif g is not None:
            raise errors.mistake(TypeError, f"gradients can be either Tensors or None, but got {type(g).__name__}")
        elif output.numel() != 1:
            raise errors.not_scalar(output)
        else:
            raise errors.mistake(ValueError, f"grad_outputs[{i}] is None, which is no batch of gradients.")
    present: list[bool] = []

    def existing(*gradients: Any) -> tuple[Any, ...]:
        found = backward(*gradients)
        present[:] = [g is not None for g in found]
        # vmap wants tensors, and at least one
        return (*[g for g in found if g is not None], gradients[0])

    stacked = iter(map_of_gradients(existing)(*grad_outputs))
    return tuple([next(stacked) if is_there else None for is_there in present])


def check_shape(index: int, output: Any, g: Any) -> None:
    one = g[0]  # an error of its own if there is none
    if one.shape != output.shape:
        raise errors.mistake(
            RuntimeError,
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. "
            "The sizes of the remaining dimensions are expected to match the shape of corresponding output, but a "
            f"mismatch was detected: grad_output[{index}] has a shape of {g.shape} and output[{index}] has a shape of "
            f"{output.shape}.",
            ("output", errors.describe(output)),
            ("gradient", errors.describe(g)),
        )
