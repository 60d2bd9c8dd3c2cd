"""What can go wrong with a Function: gradients of the wrong number or form, marks that do not fit, saved tensors that
were changed."""

from __future__ import annotations

from typing import Any

from leafgrad._core.node import Node
from leafgrad._core.tensor import TensorBase
from leafgrad.errors.form import Row, describe, mistake, output_of, recorded, saved_was_changed, size
from leafgrad.errors.naming import Place, as_code, find, name_of, place_of


def written(ctx: Any, name: str) -> Place | None:
    """Where a method of the Function of a context is written."""
    code = getattr(getattr(ctx._forward_cls, name, None), "__code__", None)
    return None if code is None else place_of(code, -1)


def wrong_gradient(ctx: Any, first: str, *rows: Row, fix: str) -> RuntimeError:
    return mistake(RuntimeError, first, *rows, ("backward", written(ctx, "backward")), fix=fix)


def gradient_count(ctx: Any, expected: int, got: int) -> RuntimeError:
    return wrong_gradient(
        ctx,
        f"function {type(ctx).__name__} returned an incorrect number of gradients (expected {expected}, got {got})",
        fix="return one for each argument of forward but ctx, in a tuple; None for what has no gradient",
    )


def gradient_unasked(ctx: Any, position: int) -> RuntimeError:
    return wrong_gradient(
        ctx,
        f"function {type(ctx).__name__} returned a gradient different than None at position {position + 1}, but the "
        "corresponding forward input was not a Variable",
        fix=f"return None at position {position + 1}",
    )


def gradient_kind(ctx: Any, position: int, value: Any) -> RuntimeError:
    return wrong_gradient(
        ctx,
        f"expected Variable or None (got {type(value).__name__})",
        ("gradient", f"number {position + 1} of what {ctx._forward_cls.__name__}.backward returned"),
        fix="return tensors or None, several of them in a tuple",
    )


def gradient_shape(ctx: Any, number: int, position: int, got: Any, expected: Any) -> RuntimeError:
    return wrong_gradient(
        ctx,
        f"Function {type(ctx).__name__} returned an invalid gradient at index {number} - got {size(got)} but expected "
        f"shape compatible with {size(expected)}",
        ("argument", f"number {position + 1} of forward, shape {size(expected)}"),
        fix="a gradient has the shape of its argument, or one that the argument was broadcast to",
    )


def gradient_complex(ctx: Any, position: int) -> RuntimeError:
    return wrong_gradient(
        ctx,
        "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but got "
        "false.",
        ("gradient", f"number {position + 1} of {ctx._forward_cls.__name__}.backward: complex, for a real argument"),
        fix="g.real   # the gradient of a real argument is real",
    )


def saved_kind(ctx: Any, position: int, value: Any) -> TypeError:
    return mistake(
        TypeError,
        f"save_for_backward can only save variables, but argument {position} is of type {type(value).__name__}",
        ("forward", written(ctx, "forward")),
        fix="ctx.name = value   # for what is no tensor; save_for_backward takes tensors one by one, not in a list",
    )


def saved_twice() -> RuntimeError:
    return mistake(
        RuntimeError,
        "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
        "autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False.",
    )


def saved_changed(node: Any, saved: Any) -> RuntimeError:
    """A tensor that was given to save_for_backward was changed in place before backward asked for it."""
    version = saved.version
    found = find(lambda t: t.version is version)
    array = saved.leaf.array if saved.leaf is not None else saved.array
    made: Any = found.tensor.node if found is not None else saved.node
    index = None
    if saved.result >= 0:
        made, index = node, saved.result
    name = f"'{found.name}', " if found else ""
    function = node.context._forward_cls.__name__ if node is not None else "forward"
    return saved_was_changed(
        array,
        output_of(made, index) if isinstance(made, Node) else "",
        version,
        saved.count,
        ("tensor", f"{name}shape {size(array.shape)}: saved by {function} with save_for_backward"),
        ("saved", None if node is None else place_of(node.code, node.lasti)),
        fix="ctx.save_for_backward(x.clone())   # or use the out-of-place form of the operation that changes it",
    )


def dirty_not_returned(function: str, t: TensorBase) -> RuntimeError:
    return mistake(
        RuntimeError,
        "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
        "modified inplace must all be outputs of the Function.",
        ("tensor", f"{describe(t)}: marked by {function}"),
        fix="return it from forward, or do not mark it if it was not changed",
    )


def dirty_view_of_several(function: str, t: TensorBase) -> RuntimeError:
    return mistake(
        RuntimeError,
        "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more "
        "than one Tensor. This is not supported by the current autograd engine. You should either make sure the input "
        "is not a view (using .clone() for example) or make your Function only return one Tensor (potentially "
        "splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that "
        "does the other operations).",
        ("tensor", f"{describe(t)}: changed by {function}"),
        fix=f"{function}.apply(x.clone(), ...)   # a copy is no view",
    )


def view_of_function(view: TensorBase, changed: str) -> RuntimeError:
    """A view that came out of a Function was changed in place, or its base was; `changed` says which."""
    if view.node is None:
        what = f"A view was created in no_grad mode and {changed} with grad mode enabled."
    else:
        what = f"Output {output_of(view.node)} is a view and {changed}."
    return mistake(
        RuntimeError,
        f"{what} This "
        "view was created inside a custom Function (or because an input was returned as-is) and the autograd logic to "
        "handle view+inplace would override the custom backward associated with the custom Function, leading to "
        "incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
        "Function.",
        ("view", describe(view)),
        ("recorded", recorded(view)),
        fix=f"{as_code(name_of(view), 'y')} = {as_code(name_of(view), 'y')}.clone()   # before anything is changed",
    )
