"""How the gradient rules of a block become what recorder and engine use: what they ask for is found from the names of
their parameters, and the rules of several inputs are put together to one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from leafgrad._core.op import NOTHING, OPTION, OUT, SHAPE, Backward, GradientRules
from leafgrad._core.tensor import TensorBase
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
    found.saved_names = tuple([name_in_pytorch(operation, name) for name in found.saved_names])
    return found


def no_rule(g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> Sequence[Any]:
    raise AssertionError("an operation that is not differentiable was recorded")


def shared_rule(operation: Operation, body: dict[str, Any]) -> GradientRules:
    """One rule computes the gradients of all inputs."""
    rule = body["vjp_all"]

    def backward(g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> Sequence[Any]:
        return rule(g, [edge is not None for edge in inputs], *saved)  # type: ignore[no-any-return]

    names = parameters(rule)[2:]
    places = tuple([place(operation, name) for name in names])
    return GradientRules(backward, lambda mask: places, names, (), body.get("vjp_in_place"))


def separate_rules(operation: Operation, body: dict[str, Any]) -> GradientRules:
    """There is one rule for each input that has a gradient."""
    each = [body.get("vjp" if len(operation.inputs) == 1 else f"vjp_{name}") for name in operation.inputs]
    if not any(each):
        raise TypeError(f"op {operation.name} has no gradient rule; say differentiable = False if that is meant")
    needs = [() if rule is None else parameters(rule)[1:] for rule in each]
    names = list(dict.fromkeys(n for need in needs for n in need))
    if operation.is_pair:
        names = [*operation.inputs, "out"]  # the fixed places of `binary` in leafgrad/_core/bind.py
    places = [place(operation, name) for name in names]

    def saves(mask: int) -> tuple[int, ...]:
        used = {n for i, need in enumerate(needs) if mask >> i & 1 for n in need}
        return tuple([where if n in used else NOTHING for n, where in zip(names, places, strict=True)])

    backward = one_by_one(each, [[names.index(n) for n in need] for need in needs])
    numbers = operation.hides.get(operation.core.node_name, ())
    hidden = tuple([i for i, rule in enumerate(each) if rule is None or operation.inputs[i] in numbers])
    return GradientRules(backward, saves, tuple(names), hidden, body.get("vjp_in_place"))


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


def one_by_one(rules: Sequence[Callable[..., Any] | None], positions: Sequence[Sequence[int]]) -> Backward:
    """A backward function that asks one rule for each input that needs a gradient; `positions` tells which of the
    saved values each rule takes. Written out as source, because the calls in between would cost as much as the
    rules: for mul it reads

        lambda g, saved, inputs: (None if inputs[0] is None else rule0(g, saved[1]), None if ... rule1(g, saved[0]))
    """
    if len(rules) == 1:
        only: Any = rules[0]  # takes all that was saved
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

    return GradientRules(backward, rules.saves, rules.saved_names, rules.hidden)
