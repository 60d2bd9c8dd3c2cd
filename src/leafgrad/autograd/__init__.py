"""leafgrad.autograd: gradients of tensors with respect to other tensors.

May import `_core` and `errors`; inside functions also `ops`, `_device`, `_dtypes` and `func`, which computes batches of
gradients.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

from leafgrad import _missing, errors
from leafgrad._core import engine, overrides
from leafgrad._core.reachable import last_uses
from leafgrad._core.recorder import edge
from leafgrad._core.tensor import TensorBase, is_silent, wrap
from leafgrad.autograd import graph
from leafgrad.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from leafgrad.autograd.grad_mode import (
    _force_original_view_tracking,
    _unsafe_preserve_version_counter,
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_grad_enabled,
    is_multithreading_enabled,
    is_view_replay_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from leafgrad.autograd.gradcheck import gradcheck, gradgradcheck
from leafgrad.autograd.graph import GradientEdge
from leafgrad.autograd.public_nodes import SavedTensor

__all__ = [
    "Function",
    "SavedTensor",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_grad_enabled",
    "is_multithreading_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

if TYPE_CHECKING:
    from leafgrad._tensor.tensor import Tensor

    Tensors: TypeAlias = Tensor | GradientEdge | Sequence[Tensor] | Sequence[GradientEdge]
    Named: TypeAlias = dict[Any, Tensor]
    Gradients: TypeAlias = Tensor | Sequence[Tensor | None] | None


def backward(
    tensors: Tensors,
    grad_tensors: Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Gradients = None,
    inputs: Tensors | Named | None = None,
) -> None:
    """backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None): add the gradient of
    `tensors` to `.grad` of the leaves behind them.

    Tensors with more than one element need their entry in `grad_tensors`, the gradient of the final quantity with
    respect to them. `inputs`, one tensor, several, or a dictionary of them, restricts which tensors get a gradient.
    """
    if grad_variables is not None:
        errors.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only "
                f"use `grad_tensors`.\n  at {errors.here()}"
            )
        grad_tensors = grad_variables
    chosen = None if inputs is None else values_of(inputs, "backward")
    if chosen is not None and len(chosen) == 0:
        raise RuntimeError(f"`inputs` argument to `backward()` cannot be empty.\n  at {errors.here()}")
    roots = as_tuple(tensors)
    asked = [t for t in (*roots, *(chosen or ())) if t.__class__ is not GradientEdge]
    if asked and (overrides.modes_of_all_threads or not overrides.plain.issuperset(map(type, asked))):
        options = {
            "grad_tensors": grad_tensors, "retain_graph": retain_graph, "create_graph": create_graph, "inputs": chosen,
        }  # fmt: skip
        if overrides.overridden(lambda: backward, (roots,), options, asked, in_python=True) is not overrides.UNCHANGED:
            return
    gradients = starting_gradients(roots, as_tuple(grad_tensors, len(roots)), create_graph)
    if len(roots) == 1 and chosen is None and not create_graph and isinstance(roots[0], TensorBase):
        engine.backward_from(roots[0], gradients[0], bool(retain_graph))
        return
    wanted = None
    if chosen is not None:
        wanted = checked_inputs(chosen, "can't retain_grad on Tensor that has requires_grad=False")
        for t in wanted:
            if not isinstance(t, GradientEdge):
                t.retain_grad()
    if create_graph:
        warn_of_cycle()
    roots = places(roots)
    wanted = None if wanted is None else current(roots, wanted)
    engine.backward(roots, gradients, keep(retain_graph, create_graph), create_graph, wanted)


@overload
def grad(
    outputs: Tensors,
    inputs: Tensors,
    grad_outputs: Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...]: ...
@overload
def grad(
    outputs: Tensors,
    inputs: Named,
    grad_outputs: Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Named: ...
def grad(
    outputs: Tensors,
    inputs: Tensors | Named,
    grad_outputs: Gradients = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor, ...] | Named:
    """grad(outputs, inputs, grad_outputs=None, ...): the gradients of the sum of `outputs` with respect to `inputs`,
    returned, not accumulated: a tuple, or a dictionary if `inputs` is one."""
    named = not isinstance(inputs, (TensorBase, tuple, list)) and isinstance(inputs, Mapping)  # which takes long to ask
    roots = as_tuple(outputs)
    tensors = (*roots, *(inputs.values() if named else as_tuple(inputs)))  # type: ignore[union-attr]
    if overrides.modes_of_all_threads or not overrides.plain.issuperset(map(type, tensors)):
        options = {
            "grad_outputs": grad_outputs, "retain_graph": retain_graph, "create_graph": create_graph,
            "only_inputs": only_inputs, "allow_unused": allow_unused, "is_grads_batched": is_grads_batched,
            "materialize_grads": materialize_grads,
        }  # fmt: skip
        args = roots, inputs if named else as_tuple(inputs)
        taken = overrides.overridden(lambda: grad, args, options, tensors, in_python=True)
        if taken is not overrides.UNCHANGED:
            return taken  # type: ignore[no-any-return]
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if not only_inputs:
        errors.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
        )
    wanted = values_of(inputs, "grad") if named else tensors[len(roots) :]
    if not wanted:
        raise RuntimeError(f"`inputs` argument to `grad()` cannot be empty.\n  at {errors.here()}")
    unused = bool(allow_unused or materialize_grads)
    if is_grads_batched:
        from leafgrad.autograd.functional import grad_of_batch

        def one(*gradients: Any) -> tuple[Any, ...]:
            return grad(roots, wanted, gradients, retain_graph, create_graph, allow_unused=unused)

        results = list(grad_of_batch(one, roots, as_tuple(grad_outputs, len(roots))))
    else:
        kept = keep(retain_graph, create_graph)
        results = single_gradients(roots, wanted, grad_outputs, kept, create_graph, unused)
    if materialize_grads:
        results = [zeros_for(t, create_graph) if g is None else g for g, t in zip(results, wanted, strict=True)]
    return dict(zip(inputs, results, strict=True)) if isinstance(inputs, dict) else tuple(results)


def single_gradients(
    roots: Sequence[Any], inputs: Sequence[Any], grad_outputs: Any, keep_graph: bool, create_graph: bool, unused: bool
) -> list[Any]:
    """The gradients of one backward pass; None for inputs that are not in the graph."""
    wanted = checked_inputs(inputs)
    gradients = starting_gradients(roots, as_tuple(grad_outputs, len(roots)), create_graph)
    starts = places(roots)
    found = engine.grad(starts, gradients, current(starts, wanted), keep_graph, create_graph)
    results: list[Any] = []
    for index, (t, g) in enumerate(zip(wanted, found, strict=True)):
        if g is None or (isinstance(t, TensorBase) and is_silent(t)):
            g = None
            if not unused:
                raise errors.unused_input(index, t)
        results.append(g if g is None or isinstance(g, TensorBase) else wrap(g))
    results = separate(results, create_graph)
    return results if grad_outputs is None else [as_given(t, as_tuple(grad_outputs)) for t in results]


def as_given(result: Any, given: Sequence[Any]) -> Any:
    """A gradient that went through the graph unchanged is the very tensor that was given."""
    if result is not None:
        for t in given:
            if isinstance(t, TensorBase) and not t.needs_grad and is_all_of(result.array, t.array):
                return t
    return result


def is_all_of(array: Any, other: Any) -> bool:
    """Is an array another one, or a view of all of it?"""
    if array is other or array.__class__ is not np.ndarray or other.__class__ is not np.ndarray:
        return array is other
    memory = other if other.base is None else other.base
    same = array.base is memory and array.ctypes.data == other.ctypes.data and array.dtype == other.dtype
    return same and bool(array.shape == other.shape and array.strides == other.strides)


def zeros_for(t: Any, create_graph: bool) -> Any:
    """The gradient of a tensor that is not in the graph, for those who want zeros there."""
    if isinstance(t, GradientEdge):
        first = "materialize_grads cannot be used when the given input is a GradientEdge"
        raise RuntimeError(f"{first}\n  at {errors.here()}")
    made = wrap(np.zeros_like(t.array))
    made.needs_grad = create_graph
    return made


def warn_of_cycle() -> None:
    errors.warn(
        "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
        "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
        "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
        f"the cycle and avoid the leak.\n  at {errors.here()}"
    )


def as_tuple(value: Any, count: int = 0) -> tuple[Any, ...]:
    """One tensor, several, or none: always as a tuple."""
    if value is None:
        return (None,) * count
    single = isinstance(value, (TensorBase, GradientEdge)) or hasattr(value, "__torch_function__")
    return (value,) if single else tuple(value)


def _calculate_shape(output: Any, grad: Any, is_grads_batched: bool) -> tuple[Any, Any]:
    """The shapes that must be the same: of a result, or of an edge, and of the gradient that is given for it."""
    if isinstance(output, GradientEdge):
        if is_grads_batched:
            raise RuntimeError("Batched grads are not supported with GradientEdge")
        return type(grad.shape)(output.node._input_metadata[output.output_nr].shape), grad.shape
    return output.shape, grad.shape[1:] if is_grads_batched else grad.shape


def values_of(inputs: Any, function: str) -> tuple[Any, ...]:
    """The tensors that a gradient is asked for."""
    if isinstance(inputs, (TensorBase, tuple, list)):  # first, because the last question takes long
        return as_tuple(inputs)
    if type(inputs) is dict:
        return tuple(inputs.values())
    if isinstance(inputs, Mapping):
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. Other Mapping types "
            f"are not supported.\n  at {errors.here()}"
        )
    return as_tuple(inputs)


def current(roots: Sequence[Any], wanted: Sequence[Any]) -> Sequence[Any]:
    """The places that gradients are asked for; in the place of a leaf that was used only before it was given other
    memory (`set_`), one that no edge leads to."""
    found = places(wanted)
    since = [graph.accumulates_since(value) for value in wanted]
    if all([order == 1 for order in since]):
        return found
    uses = last_uses([edge(root) for root in roots])
    return [
        place if order == 1 or uses.get(place, 1) < order else unused_like(place) for place, order in zip(found, since)
    ]


def unused_like(leaf: Any) -> Any:
    other = wrap(leaf.array)
    other.needs_grad = True
    return other


def places(values: Sequence[Any]) -> tuple[Any, ...]:
    """Tensors as they are, gradient edges as the places in the graph that they name."""
    if overrides.plain.issuperset(map(type, values)):
        return tuple(values)
    return tuple([graph.place_of(v) if isinstance(v, GradientEdge) else v for v in values])


def keep(retain_graph: bool | None, create_graph: bool) -> bool:
    """A graph that will be differentiated again must be kept, unless the user says otherwise."""
    return create_graph if retain_graph is None else retain_graph


def checked_inputs(inputs: Sequence[Any], refusal: str = errors.NO_GRAD_INPUT) -> Sequence[Any]:
    for t in inputs:
        if isinstance(t, GradientEdge):
            continue
        if not isinstance(t, TensorBase):
            got = type(t).__name__
            raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {got}\n  at {errors.here()}")
        if t.rare is not None:
            edge(t)  # a view whose memory was changed gets its history brought up to date
        if not t.needs_grad:
            raise errors.needs_graph(refusal, t)
    return inputs


# what a loss starts with; read-only, so nobody can change it for the next one
ONES = {kind: np.broadcast_to(np.ones((), kind), ()) for kind in (np.dtype(np.float32), np.dtype(np.float64))}


def starting_gradients(roots: Sequence[Any], given: Sequence[Any], create_graph: bool) -> list[Any]:
    """The gradient that each root starts with: what the user gave, or one for a single number."""
    gradients: list[Any] = []
    for index, (root, g) in enumerate(zip(roots, given, strict=False)):
        if isinstance(root, GradientEdge):
            gradients.append(gradient_at(root, g, index, create_graph))
            continue
        if not isinstance(root, TensorBase):
            got = type(root).__name__
            raise AssertionError(f"Expected output to be a torch.Tensor\n  got {got}, at {errors.here()}")
        if root.rare is not None:
            edge(root)
        if not root.needs_grad or is_silent(root):
            raise errors.no_graph(root, index)
        array = root.array
        if g is None:
            if array.size != 1:
                raise errors.not_scalar(root)
            if array.dtype.kind == "c":
                raise errors.complex_root(root)
            one = None if create_graph or array.ndim else ONES.get(array.dtype)
            if one is None:
                one = np.ones(array.shape, array.dtype) if array.ndim else np.array(1, array.dtype)  # in less time
            gradients.append(wrap(one) if create_graph else one)
        elif not isinstance(g, TensorBase):
            got = type(g).__name__
            raise TypeError(f"gradients can be either Tensors or None, but got {got}\n  at {errors.here()}")
        elif g.array.shape != array.shape:
            raise errors.gradient_mismatch(g, root, index)
        elif (g.array.dtype.kind == "c") != (array.dtype.kind == "c"):
            raise errors.gradient_kind(g, root, index)
        else:
            gradients.append(g if create_graph else g.array)
    if len(given) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients\n  at {errors.here()}")
    return gradients


def gradient_at(root: GradientEdge, g: Any, index: int, create_graph: bool) -> Any:
    """The gradient that starts at a place in the graph whose tensor may be gone."""
    place = graph.place_of(root)
    form = place.array if isinstance(place, TensorBase) else place
    if g is None:
        if math.prod(form.shape) != 1:
            raise RuntimeError(f"grad can be implicitly created only for scalar outputs\n  at {errors.here()}")
        g = wrap(np.ones(form.shape, form.dtype))
    elif g.array.shape != form.shape or (g.array.dtype.kind == "c") != (form.dtype.kind == "c"):
        stand_in = wrap(np.zeros(form.shape, form.dtype))
        wrong = errors.gradient_mismatch if g.array.shape != form.shape else errors.gradient_kind
        raise wrong(g, stand_in, index)
    return g if create_graph else g.array


def separate(results: list[Any], create_graph: bool) -> list[Any]:
    """Two results must not be the same memory, or a change of one would show in the other; nor is one a view, or shows
    an element of memory several times."""
    seen: set[int] = set()
    for i, t in enumerate(results):
        if t is None or t.needs_grad:
            continue
        expanded = t.array.__class__ is np.ndarray and 0 in t.array.strides and t.array.size > 1
        if t.rare is not None:
            if create_graph or t.rare.tangents is not None:
                continue
            if t.rare.view is None and not expanded:  # it may be a tensor of the user
                continue
            results[i] = wrap(t.array)
        owner = id(t.array if t.array.base is None else t.array.base)
        if owner in seen or expanded or not t.array.flags.writeable:
            results[i] = wrap(t.array.copy())
        seen.add(owner)
    return results


# Imported when they are first asked for, because they are built on modules that import this one: name -> the module
# that is it, or has it.
_LATER = {
    **{name: name for name in ("forward_ad", "function", "functional", "profiler", "profiler_util", "variable")},
    "Function": "function", "Variable": "variable", "_functions": "_functions", "_profiler_enabled": "profiler",
    "kineto_available": "profiler",
}  # fmt: skip


if TYPE_CHECKING:
    from leafgrad.autograd import forward_ad as forward_ad
    from leafgrad.autograd import function as function
    from leafgrad.autograd import functional as functional
    from leafgrad.autograd import profiler as profiler
    from leafgrad.autograd import profiler_util as profiler_util
    from leafgrad.autograd import variable as variable
    from leafgrad.autograd.function import Function as Function
    from leafgrad.autograd.variable import Variable as Variable

else:
    __getattr__ = _missing.attributes_of(__name__, _LATER)
