"""What can go wrong with a backward pass: nothing to start from, no graph, a graph that was used or changed before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from leafgrad._core.node import Freed, Node, plan_of
from leafgrad._core.reachable import paths_to, reach
from leafgrad._core.tensor import TensorBase, links
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.errors.cuts import meant_as_leaf, why_no_graph
from leafgrad.errors.form import (
    changed_at,
    describe,
    describe_result,
    explain,
    mistake,
    noted,
    output_of,
    recorded,
    saved_was_changed,
    size,
)
from leafgrad.errors.naming import (
    Place,
    as_code,
    assignment,
    expression,
    expression_here,
    find,
    here,
    library,
    name_of,
    name_of_result,
    place_of,
    quietly,
    with_argument,
)

# -- starting ---------------------------------------------------------------------------------------------------------


def not_scalar(root: TensorBase) -> RuntimeError:
    call = expression_here() or ""
    name = call.removesuffix(".backward()") if call.endswith(".backward()") else as_code(name_of(root), "y")
    return mistake(
        RuntimeError,
        "grad can be implicitly created only for scalar outputs",
        ("tensor", describe(root)),
        ("recorded", recorded(root)),
        fix=(
            f"{name}.sum().backward()   # or {name}.mean().backward()",
            f"{name}.backward(gradient={library()}.ones_like({name}))   # how much each element counts",
        ),
    )


def complex_root(root: TensorBase) -> RuntimeError:
    name = as_code(name_of(root), "y")
    return mistake(
        RuntimeError,
        f"grad can be implicitly created only for real scalar outputs but got {from_numpy_dtype(root.array.dtype)}",
        ("tensor", describe(root)),
        ("recorded", recorded(root)),
        fix=(f"{name}.abs().backward()   # or another real number: {name}.real", f"{name}.backward(gradient=...)"),
    )


def gradient_mismatch(gradient: TensorBase, root: TensorBase, index: int) -> RuntimeError:
    given, own = size(gradient.array.shape), size(root.array.shape)
    shape = ", ".join(map(str, root.array.shape))
    return noted(
        RuntimeError,
        f"Mismatch in shape: grad_output[{index}] has a shape of torch.Size({given}) and output[{index}] has a shape "
        f"of torch.Size({own}).",
        ("gradient", describe(gradient)),
        ("tensor", describe(root)),
        ("recorded", recorded(root)),
        fix=f"{library()}.ones({shape or '()'})   # for instance: a gradient has the shape of its tensor",
    )


def gradient_kind(gradient: TensorBase, root: TensorBase, index: int) -> RuntimeError:
    given, own = from_numpy_dtype(gradient.array.dtype), from_numpy_dtype(root.array.dtype)
    return mistake(
        RuntimeError,
        "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
        f"grad_output[{index}] has a dtype of {given} and output[{index}] has a dtype of {own}.",
        ("gradient", describe(gradient)),
        ("tensor", describe(root)),
        ("recorded", recorded(root)),
        fix=f"{as_code(name_of(gradient), 'gradient')}.to({library()}.{own.name})",
    )


def no_graph(root: TensorBase, index: int) -> RuntimeError:
    return without_graph(f"element {index} of tensors does not require grad and does not have a grad_fn", root)


def needs_graph(first: str, tensor: TensorBase) -> RuntimeError:
    """For all that makes sense only for a tensor that requires grad: says why this one does not."""
    return without_graph(first, tensor, f"{as_code(name_of(tensor))}.requires_grad_()   # before {here().spot}")


def without_graph(first: str, tensor: TensorBase, otherwise: str = "") -> RuntimeError:
    why = why_no_graph(tensor)
    fix = why.fix or ([otherwise] if otherwise and not why.cuts else [])
    return mistake(
        RuntimeError,
        first,
        ("tensor", f"{describe(tensor)}: {why.sentence}"),
        *[("" if i else "cut", cut.place) for i, cut in enumerate(why.cuts[:2])],
        ("since", why.since),
        fix=fix[:3],
    )


def unused_input(index: int, tensor: TensorBase) -> RuntimeError:
    return mistake(
        RuntimeError,
        f"The differentiated Tensor at index {index} appears to not have been used in the graph. Set allow_unused=True "
        "if this is the desired behavior.",
        ("tensor", f"{describe(tensor)}: no path leads from the outputs back to it"),
        ("recorded", recorded(tensor)),
        fix=f"{with_argument(expression_here(), 'allow_unused=True')}   # None for it; materialize_grads=True: zeros",
    )


# -- a graph that was used before -------------------------------------------------------------------------------------


def saved_tensor_detached(node: Node | None) -> RuntimeError:
    return mistake(
        RuntimeError,
        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, "
        "please use out-of-place `.detach()` instead",
        *([] if node is None else [("recorded", place_of(node.code, node.lasti))]),
        fix="x = x.detach()   # in place of x.detach_()",
    )


def leaf_in_the_interior(leaf: TensorBase) -> RuntimeError:
    return mistake(
        RuntimeError,
        "leaf variable has been moved into the graph interior",
        ("tensor", f"{describe(leaf)}: a leaf when the graph was recorded, the result of a change in place now"),
        fix="x = x.detach().clone()   # and change that in place",
    )


FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
    "saved tensors after calling backward."
)


def graph_was_freed(node: Node | None, freed: Freed, roots: Sequence[Any] = ()) -> RuntimeError:
    if node is None:  # only its context is left
        return mistake(RuntimeError, FREED)
    kind, bridge = find_bridge(node, freed, roots) or ("bridge", node)
    known = name_of_result(bridge) or name_in_loop(bridge)
    stored, _ = assignment(bridge) or (None, False)
    name = as_code(known or stored)
    retain = with_argument(expression(freed.code, freed.lasti) or "loss.backward()", "retain_graph=True")
    if kind == "again":
        what = "its graph was used by an earlier backward, which freed it"
        fix = [f"{retain}   # in the first call; or compute it anew before the second"]
    elif kind == "shared":
        what = "both backward passes go through it"
        fix = [
            f"{name}.detach()   # in the second loss, if that one need not go through it",
            f"{retain}   # if both have to; or add the losses up and call backward once",
        ]
    else:
        what = "it belongs to a graph that an earlier backward has freed"
        fix = [
            f"{name} = {name}.detach()   # after it was made, if no gradient has to flow back through it",
            f"{retain}   # if gradients have to; or compute {name} anew each time",
        ]
    return mistake(
        RuntimeError,
        FREED,
        ("tensor", f"{describe_result(bridge, known)}: {what}"),
        ("recorded", place_of(bridge.code, bridge.lasti)),
        ("freed", place_of(freed.code, freed.lasti)),
        fix=fix,
    )


@quietly
def find_bridge(node: Node, freed: Freed, roots: Sequence[Any]) -> tuple[str, Node] | None:
    """How this backward came to `node`, whose values an earlier one has freed: it began at the same result ("again"),
    or somewhere else in the same graph ("shared"), or in a newer graph, from which it crossed over into the old one at
    a tensor that belongs to both ("bridge")."""
    ways = ways_to(node, [root for root in roots if isinstance(root, Node)])
    for root in roots:
        if root in ways and root.order > freed.order:  # numbers go down with time: this one is the older
            own = [place for place in ways if place.versions is not None and place.saved is not freed]
            return ("shared", node) if own else ("again", root)
    old = [place for place in ways if place.order > freed.order]
    return ("bridge", old[0]) if old else None


def name_in_loop(node: Node) -> str | None:
    """The variable that held the result of `node` in an earlier turn of a loop: it now holds what the same instruction
    has computed from that since."""

    def comes_later(t: TensorBase) -> bool:
        later = t.node
        if later is None or later.code is not node.code or later.lasti != node.lasti or later.op is not node.op:
            return False
        return later.order < node.order

    found = find(comes_later)
    computed_from_it = found is not None and found.tensor.node is not None and ways_to(node, [found.tensor.node])
    return found.name if found and computed_from_it else None


def ways_to(node: Node, roots: Sequence[Node]) -> list[Node]:
    """The nodes on the ways from `roots` to `node`, the most recent first."""
    return sorted(paths_to(roots, {node}, True)[0], key=lambda place: place.order)


# -- a graph whose values were changed --------------------------------------------------------------------------------


def saved_tensor_changed(node: Node, index: int) -> RuntimeError:
    assert node.versions is not None
    version, expected = node.versions[2 * index], node.versions[2 * index + 1]
    place, array = saved_place(node, index) or (0, None)
    source = node.inputs[place] if place >= 0 else None
    found = find(lambda t: t is source or (t.version is version and t.array is array))
    found = found or find(lambda t: t.version is version)
    shape = "?" if array is None else size(array.shape)
    name = f"'{found.name}', " if found else ""
    role = f"the result of {node.op.name}" if place < 0 else f"an input of {node.op.name}"
    changed = changed_at(version)
    return saved_was_changed(
        array,
        _producer(node, place, array, found and found.tensor),
        version,
        expected,
        ("tensor", f"{name}shape {shape}: {role}, whose gradient needs it unchanged"),
        ("saved", place_of(node.code, node.lasti)),
        fix="call backward() before that line, or compute the loss again after it"
        if isinstance(source, TensorBase)  # a leaf: what changes it is an update
        else on_a_copy(changed.source if changed else "", found.name if found else None),
    )


@quietly
def saved_place(node: Node, index: int) -> tuple[int, Any]:
    """Which input (or, if negative, result) of a node its version number `index` belongs to; and the saved array."""
    assert node.versions is not None and isinstance(node.saved, tuple)
    places = [p for p in zip(plan_of(node), node.saved) if -1000 < p[0] < 1000 and p[1] is not None]
    if len(places) > len(node.versions) // 2:  # Python numbers have no version
        places = [p for p in places if p[0] < 0 or p[1].ndim or node.inputs[p[0]] is not None]
    return places[index]


def _producer(node: Node, place: int, array: Any, tensor: TensorBase | None) -> str:
    """Which operation the changed tensor came from, as PyTorch names it."""
    from leafgrad.ops.registry import registry

    made: Any
    known = registry.get(node.op.name)  # a Function has none
    viewed = -1 if known is None or known.saves_view_of is None else known.inputs.index(known.saves_view_of)
    if place < 0:
        made = node if array is not None and array.dtype.kind not in "biu" else None
    elif place == viewed and node.inputs[place] is not None:
        return "0 of AsStrided"
    else:
        made = tensor.node if tensor is not None else node.inputs[place]
    return output_of(made, -1 - place if place < 0 else None) if isinstance(made, Node) else ""


def out_of_place(source: str) -> str:
    """A line that changes a tensor in place, written so that it makes a new one; nothing if it is of another form."""
    changed = re.match(r"([A-Za-z_][\w.]*)\s*(\*\*|//|<<|>>|[-+*/%@&|^])=(?!=)\s*([^;#]*[^;#\s])\s*(#.*)?$", source)
    if changed is not None:
        target, operator, value = changed[1], changed[2], changed[3]
        value = f"({value})" if re.search(r"\s[-+*/%@&|^]", value) else value
        return f"{target} = {target} {operator} {value}"
    changed = re.match(r"([A-Za-z_][\w.]*)\.([a-z]\w*)_(\([^;#]*\))\s*(#.*)?$", source)
    if changed is not None and hasattr(links.tensor_class, changed[2]):
        return f"{changed[1]} = {changed[1]}.{changed[2]}{changed[3]}"
    return ""


def on_a_copy(source: str, name: str | None) -> str:
    """The same, or a copy to be made before the line."""
    variable = as_code(name)
    return out_of_place(source) or f"{variable} = {variable}.clone()   # before the line that changes it"


# -- gradients --------------------------------------------------------------------------------------------------------


def gradient_of_wrong_shape(got: Any, expected: Any) -> RuntimeError:
    return RuntimeError(
        f"Function returned an invalid gradient: got {size(got)} but expected shape compatible with {size(expected)}"
    )


def hook_returned(hook: Any, value: Any) -> TypeError:
    return mistake(
        TypeError,
        f"expected Variable, but hook returned '{type(value).__name__}'",
        ("hook", _definition(hook)),
        fix="return a tensor, or None to leave the gradient as it is",
    )


def hook_returned_something(hook: Any) -> RuntimeError:
    return mistake(
        RuntimeError,
        "Tensor post accumulate grad hooks should return None.",
        ("hook", _definition(hook)),
        fix="change `.grad` of the tensor that the hook is given, and return nothing",
    )


def hook_changed(hook: Any, before: Any, after: Any) -> RuntimeError:
    name = hook.__name__ if isinstance(hook, FunctionType) else "<unknown>"
    kinds = [from_numpy_dtype(array.dtype) for array in (before, after)]
    if kinds[0] is not kinds[1]:
        what = f"type of value (was torch.{kinds[0].alias}Tensor got torch.{kinds[1].alias}Tensor)"
    else:
        what = "size of value"
    return mistake(
        RuntimeError,
        f"hook '{name}' has changed the {what}",
        ("hook", _definition(hook)),
        ("gradient", f"shape {size(before.shape)}, {kinds[0]}"),
        ("returned", f"shape {size(after.shape)}, {kinds[1]}"),
        fix="return a tensor of the gradient's shape and dtype, or None to leave it as it is",
    )


def _definition(hook: Any) -> Place | None:
    """Where a hook is written."""
    return place_of(hook.__code__, -1) if isinstance(hook, FunctionType) else None


def grad_of_non_leaf(tensor: TensorBase) -> str:
    """The warning that PyTorch gives, with the leaves that the tensor came from."""
    leaves = list(reach([tensor.node])[1])[::-1]  # which looks at the last inputs first
    name = as_code(name_of(tensor), "y")
    update = None if tensor.node is None else meant_as_leaf(tensor.node.code, tensor.node.lasti)
    return explain(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
        "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.",
        ("tensor", describe(tensor)),
        ("recorded", recorded(tensor)),
        ("leaves", "; ".join([describe(leaf) for leaf in leaves[:6]])),
        ("fix", update or f"{name}.retain_grad()   # before backward(); or read .grad of a leaf"),
    )
