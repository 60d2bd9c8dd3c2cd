"""How the gradient rules of a block become what recorder and engine use: what they ask for is found from the names of
their parameters, and the rules of several inputs are put together to one function."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from leafgrad._core.node import plan_of
from leafgrad._core.op import NOTHING, OPTION, OUT, SHAPE, Backward, GradientRules
from leafgrad._core.tensor import TensorBase
from leafgrad._missing import part
from leafgrad.ops.pointwise.convert import conj

if TYPE_CHECKING:
    from leafgrad.ops.registry import Operation


def read(operation: Operation, body: dict[str, Any]) -> GradientRules:
    """The rules of an operation, from the body of its block."""
    if not operation.differentiable:
        return GradientRules(no_rule, lambda mask: ())
    found = shared_rule(operation, body) if "vjp_all" in body else separate_rules(operation, body)
    if (rule := operation.passes_on) is not None:
        places = [found.saved_names.index(name) for name in parameters(rule)[2:]]
        found.passed_on = lambda name, g, saved: rule(name, g, *[saved[at] for at in places])
    if operation.piecewise_linear:
        part("ops.pointwise.relu")
        found.piecewise_linear = operation.piecewise_linear
    found.saved_names = tuple([name_in_pytorch(operation, name) for name in found.saved_names])
    options = [name_in_pytorch(operation, option) for option in operation.options]
    for name, what in operation.shows.items():
        if what is not ...:
            found.shown[name] = what
        elif name not in options:
            found.shown[name] = form_of_input(operation, name)
    return found


FORMS: dict[str, Callable[[Any], Any]] = {
    "sizes": lambda array: tuple(array.shape),
    "numel": lambda array: math.prod(array.shape),
    "dim": lambda array: len(array.shape),
    "strides": lambda array: strides_of(array),
}


def strides_of(place: Any) -> tuple[int, ...]:
    """Counted in elements. Nodes know shapes only: what they made is taken to lie in order."""
    if hasattr(place, "strides"):
        return tuple([step // place.itemsize for step in place.strides])
    return tuple([math.prod(place.shape[i + 1 :]) for i in range(len(place.shape))])


def form_of_input(operation: Operation, name: str) -> Callable[[Any], Any]:
    """How a node finds what is known of one of its inputs: `mat1_sym_sizes`, `source_dim`. Where the input needs no
    gradient and was not saved there is nothing to find."""
    input_name, found, form = name.rpartition("_") if name.endswith("_dim") else name.partition("_sym_")
    known = [name_in_pytorch(operation, each) or each for each in operation.inputs]
    known = ["self" if each == "input" and "input" not in operation.saved_as else each for each in known]
    if not found or input_name not in known:
        raise TypeError(f"op {operation.name} shows {name!r}, which is no option, nor the form of an input")
    index = known.index(input_name)
    size = form.removeprefix("argsize_").replace("minus_", "-")

    def of_node(node: Any) -> Any:
        array = input_of(node, index)
        if array is None:
            return NotImplemented
        return FORMS[form](array) if form in FORMS else array.shape[int(size)]

    return of_node


def input_of(node: Any, index: int) -> Any:
    """One of the inputs of a node as it was saved, or what it came from: something that has its shape."""
    saved = node.saved if isinstance(node.saved, tuple) else ()
    for position, value in zip(plan_of(node), saved, strict=False):
        if position == index and value is not None:
            return value
    edge = node.inputs[index]
    return edge.array if isinstance(edge, TensorBase) else edge


def no_rule(g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> Sequence[Any]:
    raise AssertionError("an operation that is not differentiable was recorded")


def shared_rule(operation: Operation, body: dict[str, Any]) -> GradientRules:
    """One rule computes the gradients of all inputs."""
    rule = body["vjp_all"]

    def backward(g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> Sequence[Any]:
        return rule(g, [edge is not None for edge in inputs], *saved)  # type: ignore[no-any-return]

    asked = parameters(rule)[2:]
    names = with_shown(operation, asked)
    places = tuple([place(operation, name) for name in names])
    if len(names) > len(asked):

        def backward(g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> Sequence[Any]:
            return rule(g, [edge is not None for edge in inputs], *saved[: len(asked)])  # type: ignore[no-any-return]

    return GradientRules(backward, lambda mask: places, tuple(names), (), body.get("vjp_in_place"))


def separate_rules(operation: Operation, body: dict[str, Any]) -> GradientRules:
    """There is one rule for each input that has a gradient."""
    each = [body.get("vjp" if len(operation.inputs) == 1 else f"vjp_{name}") for name in operation.inputs]
    if not any(each):
        raise TypeError(f"op {operation.name} has no gradient rule; say differentiable = False if that is meant")
    needs = [() if rule is None else parameters(rule)[1:] for rule in each]
    names = list(dict.fromkeys(n for need in needs for n in need))
    if operation.is_pair:
        names = [*operation.inputs, "out"]  # the fixed places of `binary` in leafgrad/_core/bind.py
    asked, names = len(names), with_shown(operation, names)
    places = [place(operation, name) for name in names]
    always = shown_options(operation)

    def saves(mask: int) -> tuple[int, ...]:
        used = {n for i, need in enumerate(needs) if mask >> i & 1 for n in need} | always
        return tuple([where if n in used else NOTHING for n, where in zip(names, places, strict=True)])

    backward = one_by_one(each, [[names.index(n) for n in need] for need in needs], len(names) > asked)
    numbers = operation.hides.get(operation.core.node_name, ())
    hidden = tuple([i for i, rule in enumerate(each) if rule is None or operation.inputs[i] in numbers])
    return GradientRules(backward, saves, tuple(names), hidden, body.get("vjp_in_place"))


def shown_options(operation: Operation) -> set[str]:
    """The options that nodes show, whether or not a rule asks for them."""
    return {o for o in operation.options if operation.shows.get(name_in_pytorch(operation, o), o) is ...}


def with_shown(operation: Operation, asked: Sequence[str]) -> list[str]:
    """What the rules ask for, and after that what nodes show besides."""
    return [*asked, *[o for o in operation.options if o in shown_options(operation) and o not in asked]]


def parameters(rule: Callable[..., Any]) -> tuple[str, ...]:
    return rule.__code__.co_varnames[: rule.__code__.co_argcount]


def place(operation: Operation, name: str) -> int:
    """Where the value that a rule calls `name` is found when the operation is recorded."""
    if name in operation.inputs:
        return operation.inputs.index(name)
    if name in operation.options:
        return OPTION + operation.options.index(name)
    if name == operation.finds:
        return OPTION + len(operation.options)
    if name.startswith("out") and (name == "out" or name[3:].isdigit()):
        return OUT - int(name[3:] or 0)
    if name.endswith("_shape") and name[:-6] in operation.inputs:
        return SHAPE + operation.inputs.index(name[:-6])
    raise TypeError(f"op {operation.name}: a rule asks for {name!r}, which is no input, option or result")


def name_in_pytorch(operation: Operation, saved: str) -> str:
    """What a node's attribute `_saved_...` is called there; "" if there is none."""
    known: dict[str, str] = operation.saved_as
    if saved in known:
        return known[saved]
    if saved.endswith("_shape"):
        return name_in_pytorch(operation, saved[:-6]) + "_sym_sizes"
    return {"input": "self", "out": "result", "out1": "indices"}.get(saved, saved)


def one_by_one(
    rules: Sequence[Callable[..., Any] | None], positions: Sequence[Sequence[int]], saves_more: bool = False
) -> Backward:
    """A backward function that asks one rule for each input that needs a gradient; `positions` tells which of the
    saved values each rule takes. Written out as source, because the calls in between would cost as much as the
    rules: for mul it reads

        lambda g, saved, inputs: (None if inputs[0] is None else rule0(g, saved[1]), None if ... rule1(g, saved[0]))
    """
    if len(rules) == 1:
        only: Any = rules[0]  # takes all that was saved
        if saves_more:
            count = len(positions[0])
            return lambda g, saved, inputs: (only(g, *saved[:count]),)
        return lambda g, saved, inputs: (only(g, *saved),)
    parts = []
    for i, (rule, places) in enumerate(zip(rules, positions, strict=True)):
        call = f"rule{i}(g{''.join(f', saved[{p}]' for p in places)})"
        parts.append("None" if rule is None else f"None if inputs[{i}] is None else {call}")
    source = f"lambda g, saved, inputs: ({', '.join(parts)},)"
    # a file of leafgrad's, so that nobody takes it for the user's line
    code = compile(source, __file__.replace("gradient_rules", "<rules of an operation>"), "eval")
    function: Backward = eval(code, {f"rule{i}": rule for i, rule in enumerate(rules)})
    return function


def conjugated(rules: GradientRules) -> GradientRules:
    """Rules written for real numbers, made right for complex ones: conj(rule(conj(g)))."""
    real = rules.backward

    def conjugate(value: Any) -> Any:
        if isinstance(value, list):
            return [conjugate(v) for v in value]
        if isinstance(value, TensorBase):
            return value if value.array.dtype.kind != "c" else conj.record(value)
        return None if value is None else value.conj()

    def backward(g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> Sequence[Any]:
        return [conjugate(r) for r in real(conjugate(g), saved, inputs)]

    twin = GradientRules(backward, rules.saves, rules.saved_names, rules.hidden)
    twin.shown = rules.shown
    return twin
