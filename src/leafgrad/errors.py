"""The error messages: PyTorch's type and first sentence, then what leafgrad knows and PyTorch does not say.

The further lines name the tensor and its shape, the line that recorded it and the line of the mistake, and the fix.
Everything here runs only when something has gone wrong, so it may look around in the caller's frames.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
from typing import Any

from leafgrad._core import Cut, TensorBase
from leafgrad.autograd.graph import Freed, Node, Output, plan_of
from leafgrad.autograd.origin import is_internal, line_of

# -- saying where and which -------------------------------------------------------------------------------------------


def size(shape: Any) -> str:
    """A shape as PyTorch writes it in messages: [2, 3]."""
    return "[" + ", ".join(map(str, shape)) + "]"


def where_is(code: Any, lasti: int) -> str:
    """`script.py:12` and the line itself, if its text can be had."""
    filename, line = line_of(code, lasti)
    text = linecache.getline(filename, line).strip()
    return f"{os.path.basename(filename)}:{line}" + (f"   {text}" if text else "")


def here() -> str:
    """The line of the user's program that is being executed."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    return where_is(frame.f_code, frame.f_lasti)


def name_of(tensor: Any, node: Any = None) -> str | None:
    """The name that the user's program has for a tensor (or for the result of a node), if it has one: a variable,
    or an attribute of a module, found in the frames that are being executed."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if not is_internal(frame.f_code.co_filename):
            for names in (frame.f_locals, frame.f_globals):
                for name, value in list(names.items()):
                    if name.startswith("_"):
                        continue
                    if isinstance(value, TensorBase):
                        if value is tensor or (node is not None and value.node is node):
                            return name
                    elif hasattr(value, "named_parameters") and tensor is not None and not isinstance(value, type):
                        for path, parameter in value.named_parameters():
                            if parameter is tensor:
                                return f"{name}.{path}"
        frame = frame.f_back
    return None


def assigned_name(node: Node) -> str | None:
    """The variable that the line which recorded `node` assigns to, read from its source."""
    text = linecache.getline(*line_of(node.code, node.lasti)).strip()
    found = re.match(r"(?:self\.)?([A-Za-z_]\w*)\s*(?::[^=]+)?[-+*/@]?=(?!=)", text)
    return found.group(1) if found else None


def describe(tensor: TensorBase) -> str:
    """`x`, shape [2, 3]: as much of a tensor as a person needs to recognise it."""
    name = name_of(tensor)
    return (f"'{name}', " if name else "") + f"shape {size(tensor.array.shape)}"


def describe_node(node: Node) -> str:
    name = name_of(None, node) or assigned_name(node)
    made = f"{node.op.name} of shape {size(node.shape)}, recorded at {where_is(node.code, node.lasti)}"
    return f"'{name}': {made}" if name else made


def lines(first: str, *more: str) -> str:
    return "\n  ".join([first, *[line for line in more if line]])


# -- backward ---------------------------------------------------------------------------------------------------------


def not_scalar(root: TensorBase) -> RuntimeError:
    made = f"it was recorded at {where_is(root.node.code, root.node.lasti)}" if root.node is not None else ""
    name = name_of(root) or "y"
    return RuntimeError(
        lines(
            "grad can be implicitly created only for scalar outputs",
            f"backward was called on {describe(root)}, which has {root.array.size} elements, at {here()}",
            made,
            f"fix: reduce it to one number, {name}.sum().backward() or {name}.mean().backward(),",
            f"     or say how much each element counts: {name}.backward(gradient=torch.ones_like({name}))",
        )
    )


def no_graph(root: TensorBase, index: int) -> RuntimeError:
    cut = root.extra.cut if root.extra is not None else None
    return RuntimeError(
        lines(
            f"element {index} of tensors does not require grad and does not have a grad_fn",
            f"backward was called on {describe(root)}, at {here()}",
            *why_no_graph(root, cut),
        )
    )


def why_no_graph(root: TensorBase, cut: Cut | None) -> list[str]:
    """Where the graph of a tensor was cut, and what to do about it."""
    if cut is not None:
        place = where_is(cut.code, cut.lasti)
        if cut.reason == "no_grad":
            return [
                f"its graph was cut under no_grad (or inference_mode) at {place}",
                "fix: compute it outside of `with no_grad():`, or under `with enable_grad():`",
            ]
        if cut.reason == "detach":
            return [f"its graph was cut by detach() at {place}", "fix: use the tensor itself, without detach()"]
        return [
            f"its graph was cut by {cut.reason}, which has no gradient, at {place}",
            "fix: integers, indices and comparisons have no gradient; build the loss from the floating values",
        ]
    if root.array.dtype.kind in "biu":
        return [f"it holds {root.array.dtype} values, and only floating point tensors have gradients"]
    return [
        "no input of its computation requires grad",
        "fix: make a leaf that does, torch.tensor(..., requires_grad=True) or x.requires_grad_(), before computing",
    ]


def gradient_mismatch(gradient_shape: Any, root_shape: Any, index: int) -> RuntimeError:
    return RuntimeError(
        lines(
            f"Mismatch in shape: grad_output[{index}] has a shape of torch.Size({size(gradient_shape)}) and "
            f"output[{index}] has a shape of torch.Size({size(root_shape)}).",
            f"at {here()}",
            f"fix: a gradient has the shape of the tensor it belongs to, here {size(root_shape)}",
        )
    )


def input_without_grad(tensor: TensorBase) -> RuntimeError:
    cut = tensor.extra.cut if tensor.extra is not None else None
    return RuntimeError(
        lines(
            "One of the differentiated Tensors does not require grad",
            f"it is {describe(tensor)}, at {here()}",
            *why_no_graph(tensor, cut),
        )
    )


def complex_root(root: TensorBase) -> RuntimeError:
    return RuntimeError(
        lines(
            "grad can be implicitly created only for real scalar outputs but got "
            f"torch.complex{8 * root.array.dtype.itemsize}",
            f"backward was called on {describe(root)}, at {here()}",
            "fix: a real loss, y.abs().backward() or y.real.backward(), or backward(gradient=...)",
        )
    )


def gradient_kind(root: TensorBase, gradient: TensorBase, index: int) -> RuntimeError:
    return RuntimeError(
        lines(
            f"For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[{index}] has a dtype of {gradient.array.dtype} and output[{index}] has a dtype of "
            f"{root.array.dtype}.",
            f"at {here()}",
        )
    )


def gradient_of_wrong_shape(got: Any, expected: Any) -> RuntimeError:
    return RuntimeError(
        f"Function returned an invalid gradient: got {size(got)} but expected shape compatible with {size(expected)}"
    )


def graph_was_freed(node: Node, freed: Freed) -> RuntimeError:
    bridge = find_bridge(node, freed)
    name = name_of(None, bridge) or assigned_name(bridge)
    fix = f"{name} = {name}.detach()" if name else "x = x.detach()"
    return RuntimeError(
        lines(
            "Trying to backward through the graph a second time (or directly access saved tensors after they have "
            "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
            "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
            "if you need to access saved tensors after calling backward.",
            f"the values saved by {describe_node(node)}",
            f"were freed by the backward at {where_is(freed.code, freed.lasti)}",
            f"the graph of this backward reaches back into that older one through {describe_node(bridge)}",
            f"fix: if no gradient has to flow through it, cut it off where it is made: {fix}",
            "     if it is needed, compute it anew each time, or call backward(retain_graph=True)",
        )
    )


def find_bridge(node: Node, freed: Freed) -> Node:
    """The newest tensor of the old graph that the user still holds in a variable and that leads to `node`; or else
    `node` itself."""
    held: list[Node] = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        if not is_internal(frame.f_code.co_filename):
            for names in (frame.f_locals, frame.f_globals):
                for value in list(names.values()):
                    if isinstance(value, TensorBase) and value.node is not None and value.node.order > freed.order:
                        held.append(value.node)
        frame = frame.f_back
    for candidate in sorted(held, key=lambda n: n.order):
        stack, seen = [candidate], set()
        while stack:
            place = stack.pop()
            if place is node:
                return candidate
            if isinstance(place, Node) and place.order not in seen:
                seen.add(place.order)
                stack.extend(i for i in place.inputs if isinstance(i, Node))
    return node


def saved_tensor_changed(node: Node, index: int) -> RuntimeError:
    assert node.versions is not None
    version, expected = node.versions[2 * index], node.versions[2 * index + 1]
    places = [p for p in zip(plan_of(node), node.saved, strict=True) if not (p[0] >= 1000 or p[0] <= -1000)]  # type: ignore[arg-type]
    places = [p for p in places if p[0] < 0 or not _is_number(p[1], node, p[0])]
    place, array = places[index] if index < len(places) else (0, None)
    role = "its result" if place < 0 else f"its input {place}"
    shape = size(array.shape) if array is not None else "?"
    alias = _type_name(array)
    output = f"output 0 of {node.op.node_name}" if place < 0 else _producer(node, place)
    changed = f"it was changed in place at {where_is(version[1], version[2])}" if len(version) > 2 else ""
    return RuntimeError(
        lines(
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[torch.{alias} {shape}], which is {output}, is at version {version[0]}; expected version {expected} "
            "instead. Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True).",
            f"{node.op.name} at {where_is(node.code, node.lasti)} saved {role} for its gradient",
            changed,
            "fix: use the out-of-place form (x = x + 1 instead of x += 1), or change a copy: x.clone().add_(1)",
        )
    )


def _is_number(array: Any, node: Node, place: int) -> bool:
    # a Python number saved as a constant has no version and cannot have changed
    return array is None or (array.ndim == 0 and not array.flags.writeable and node.inputs[place] is None)


def _type_name(array: Any) -> str:
    from leafgrad.dtypes import from_numpy_dtype

    return "FloatTensor" if array is None else f"{from_numpy_dtype(array.dtype).alias}Tensor"


def _producer(node: Node, place: int) -> str:
    source = node.inputs[place]
    if isinstance(source, Output):
        return f"output {source.index} of {source.op.node_name}"
    return f"output 0 of {source.op.node_name}" if isinstance(source, Node) else "output 0 of AsStridedBackward0"


def function_input_changed(name: str) -> RuntimeError:
    return RuntimeError(
        lines(
            "one of the variables needed for gradient computation has been modified by an inplace operation",
            f"it was saved by {name}.forward with save_for_backward, and read by backward",
            "fix: save a copy, ctx.save_for_backward(x.clone()), or use the out-of-place form of the operation",
        )
    )


def unused_input(index: int, tensor: TensorBase) -> RuntimeError:
    return RuntimeError(
        lines(
            "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if "
            "this is the desired behavior.",
            f"it is input {index}, {describe(tensor)}: no path leads from the outputs back to it, at {here()}",
            "fix: pass allow_unused=True to get None for it, or materialize_grads=True to get zeros",
        )
    )


def grad_of_non_leaf(tensor: TensorBase) -> str:
    """The warning that PyTorch gives, with the leaves that the tensor came from."""
    found: list[str] = []
    stack: list[Any] = [tensor.node]
    seen: set[int] = set()
    while stack and len(seen) < 10_000:
        place = stack.pop()
        if isinstance(place, Node):
            if place.order not in seen:
                seen.add(place.order)
                stack.extend(place.inputs)
        elif place is not None and (what := describe(place)) not in found:
            found.append(what)
    name = name_of(tensor) or "y"
    return lines(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
        "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more informations.",
        f"it is {describe(tensor)}, recorded at {where_is(tensor.node.code, tensor.node.lasti)}" if tensor.node else "",
        "the leaves it was computed from: " + ("; ".join(sorted(found)) or "none"),
        f"fix: read the leaf's .grad, or call {name}.retain_grad() before backward()",
    )


# -- in-place and conversions -----------------------------------------------------------------------------------------


def leaf_in_place(tensor: TensorBase, is_view: bool) -> RuntimeError:
    name = name_of(tensor) or "x"
    what = "a view of a leaf Variable" if is_view else "a leaf Variable"
    return RuntimeError(
        lines(
            f"{what} that requires grad is being used in an in-place operation.",
            f"the leaf is {describe(tensor)}, at {here()}",
            f"fix: if this is an update that must not be recorded, `with no_grad():` around it; "
            f"otherwise work on a copy: {name}.clone()",
        )
    )


def view_in_place(tensor: TensorBase, many: bool, indirect: bool = False) -> RuntimeError:
    """A view that must not be changed in place was changed, or (`indirect`) the memory behind it was, elsewhere."""
    changed = "is being modified inplace"
    if indirect:
        changed = "its base or another view of its base has been modified inplace"
    if tensor.node is None:
        what = f"A view was created in no_grad mode and {changed} with grad mode enabled."
    else:
        index = tensor.node.index if isinstance(tensor.node, Output) else 0
        name = re.sub(r"Backward\d*$", "", tensor.node.op.node_name)
        what = f"Output {index} of {name} is a view and {changed}."
        if not many:
            what = f"Output {index} of {name} is a view of a view which was created in no_grad mode and {changed} with grad mode enabled."
    why = (
        "This view is the output of a function that returns multiple views. Such functions do not allow the output "
        "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        if many
        else "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
        "moving both the view and the inplace either both inside the no_grad block (if you don't want the inplace to "
        "be tracked) or both outside (if you want the inplace to be tracked)."
    )
    fix = "fix: take the view again after the change" if indirect else "fix: change a copy: x.clone()"
    return RuntimeError(lines(f"{what} {why}", f"the view is {describe(tensor)}, at {here()}", fix))


def in_place_shape(op: str, own: Any, out: Any) -> RuntimeError:
    return RuntimeError(
        lines(
            f"output with shape {size(own)} doesn't match the broadcast shape {size(out)}",
            f"{op} in place, at {here()}",
            "fix: an in-place operation cannot change the shape; use the out-of-place form",
        )
    )


def in_place_dtype(op: str, source: Any, target: Any) -> RuntimeError:
    return RuntimeError(
        lines(
            f"result type {source.alias} can't be cast to the desired output type {target.alias}",
            f"{op} in place, at {here()}",
            f"fix: use the out-of-place form, or convert first: x.to(torch.{source.name})",
        )
    )


def integer_requires_grad(kind: Any) -> RuntimeError:
    return RuntimeError(
        lines(
            "Only Tensors of floating point and complex dtype can require gradients",
            f"this one is {kind}, at {here()}",
            "fix: make it floating: torch.tensor([1., 2.], requires_grad=True) or x.float().requires_grad_()",
        )
    )


def numpy_needs_detach(tensor: TensorBase) -> RuntimeError:
    name = name_of(tensor) or "tensor"
    return RuntimeError(
        lines(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
            f"it is {describe(tensor)}, at {here()}",
            f"fix: {name}.detach().numpy()",
        )
    )


# -- arguments --------------------------------------------------------------------------------------------------------


def not_a_tensor(op: str, argument: str, position: int, got: Any) -> TypeError:
    return TypeError(
        f"{op}(): argument '{argument}' (position {position}) must be Tensor, not {type(got).__name__}\n  at {here()}"
    )


def dtype_refused(op: str, tensor: TensorBase) -> NotImplementedError:
    from leafgrad.dtypes import from_numpy_dtype

    alias = from_numpy_dtype(tensor.array.dtype).alias
    return NotImplementedError(f'"{op}_cpu" not implemented for \'{alias}\'\n  at {here()}')


def broadcast_mismatch(op: str, arrays: Any) -> RuntimeError:
    a, b = arrays[0].shape, arrays[1].shape
    for back in range(1, min(len(a), len(b)) + 1):
        if a[-back] != b[-back] and 1 not in (a[-back], b[-back]):
            dim = max(len(a), len(b)) - back
            return RuntimeError(
                lines(
                    f"The size of tensor a ({a[-back]}) must match the size of tensor b ({b[-back]}) at non-singleton "
                    f"dimension {dim}",
                    f"{op} of shapes {size(a)} and {size(b)}, at {here()}",
                    "fix: bring both to shapes that agree, or are 1, in every dimension: see view(), unsqueeze()",
                )
            )
    return RuntimeError(f"{op}: shapes {size(a)} and {size(b)} cannot be broadcast, at {here()}")
