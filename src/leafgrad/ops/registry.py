"""One op, one block: how a class body under `@op` becomes an operation.

    @op
    class exp(Unary):
        \"\"\"exp(input): e to the power of each element.\"\"\"
        forward = np.exp
        def vjp(g, out): return g * out
        samples = real(-3, 3)

`forward` works on arrays: the inputs, then the options, all positional. Rules name what they need, and that is what
is saved: an input, an option, `out` for the result (`out1`, ... for further results), `<input>_shape` for a shape.

    vjp(g, ...)            the gradient of the one input
    vjp_<input>(g, ...)    the gradient of one input of several; an input without one is not differentiable
    vjp_all(g, needs, ...) all gradients in one go, where they share work; `needs` tells which are wanted

Rules run on plain arrays in an ordinary backward pass and on tensors under create_graph, so they use operators and
other ops (calling an op with arrays computes on arrays). They are written for real numbers: for complex ones the
recorder uses a twin of the op that conjugates what goes in and comes out, which is right for every holomorphic
function; the few others say `holomorphic = False` and deal with it themselves. A rule returns new arrays, or `g`, or
a view of `g`, but never a saved array, because the engine adds to arrays it considers its own.

    consume(g, saved, inputs)   optional, for large arrays: all gradients, where g itself may be overwritten

    jvp = "elementwise"    a tangent is treated as a gradient is (diagonal Jacobian)
    jvp = "linear"         forward, applied to the tangent
    jvp = "transpose"      derived from the vjp: the default, always right, not always fastest
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from leafgrad import _core
from leafgrad._core import TensorBase, late, wrap
from leafgrad.autograd.operation import NOTHING, OPTION, OUT, SHAPE, Op

registry: dict[str, Operation] = {}


def in_row_major(forward: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel whose results lie in memory row by row, whatever the layout of its input."""

    def dense(out: Any) -> Any:
        return out if out.__class__ is not np.ndarray or out.flags.c_contiguous else out.copy()

    def kernel(*args: Any) -> Any:
        out = forward(*args)
        return [dense(o) for o in out] if isinstance(out, (tuple, list)) else dense(out)

    return kernel


class Operation:
    """An operation with all that is known of it. Calling it is meant for rules: normalised arguments only; users
    call `.function`, which has PyTorch's signature."""

    def __init__(self, name: str, family: type, body: dict[str, Any]) -> None:
        body = {key: value.__func__ if isinstance(value, staticmethod) else value for key, value in body.items()}

        def get(key: str) -> Any:
            return body.get(key, getattr(family, key, None))

        self.name = name
        self.doc: str = body.get("__doc__") or ""
        self.forward: Callable[..., Any] = in_row_major(get("forward")) if get("row_major") else get("forward")
        self.inputs: tuple[str, ...] = get("inputs")
        self.options: tuple[str, ...] = get("options")
        self.results: int = get("results")
        self.variadic: bool = get("variadic")
        self.single = len(self.inputs) == 1 and self.results == 1 and not self.variadic
        self.holomorphic: bool = get("holomorphic")
        self.differentiable: bool = get("differentiable")
        self.jvp: Any = get("jvp")
        self.samples: Any = get("samples")
        self.method: bool = get("method")
        self.in_place: bool = get("in_place")
        self.public_name: str = name if get("public_name") is None else get("public_name")
        self.is_pair: bool = get("pair")
        self.rules: Any = None  # which dtypes a binary op takes
        if not self.doc:
            raise TypeError(f"op {name} has no documentation")
        if self.samples is None:
            raise TypeError(f"op {name} has no samples for the tests")
        self.hidden: tuple[int, ...] = ()  # inputs that have no rule: indices, masks
        self.saved: tuple[str, ...] = ()  # what the rules ask for
        node_name = get("node_name") or "".join(part.capitalize() for part in name.split("_")) + "Backward0"
        backward, saves = self._rules(body) if self.differentiable else (no_rule, lambda mask: ())
        self.core = Op(name, node_name, self.forward, backward, saves)
        self.core.consume = body.get("consume")
        self.core.hidden, self.core.saved_names = self.hidden, tuple(map(name_in_pytorch, self.saved))
        if self.holomorphic and self.differentiable:
            twin = Op(name, node_name, self.forward, conjugated(backward), saves)
            twin.hidden, twin.saved_names = self.hidden, self.core.saved_names
            self.core.conjugated = twin
        if self.is_pair and self.differentiable:
            plans = [saves(mask) for mask in range(4)]
            keeps = [sum([1 << i for i, place in enumerate(plan) if place != NOTHING]) for plan in plans]
            self.core.keeps = keeps
            if self.core.conjugated is not None:
                self.core.conjugated.keeps = keeps
        # what is recorded if the second operand is a number, where PyTorch has another name for that
        self.by_number = renamed(self.core, body["number_name"]) if "number_name" in body else self.core
        self.function: Callable[..., Any] = family.public(self, body)  # type: ignore[attr-defined]

    def __call__(self, *args: Any) -> Any:
        n = len(args) - len(self.options)
        for value in args[:n]:
            if isinstance(value, TensorBase):
                return self.record(*args)
        return self.forward(*args) if late.batched is None else late.batched(self.core, args[:n], args[n:])

    def record(self, *args: Any) -> Any:
        """Apply to tensors and normalised options; what is no tensor among the inputs becomes one."""
        if self.single and isinstance(args[0], TensorBase):
            return _core.single(self.core, args[0], args[1:])
        n = len(args) - len(self.options)
        tensors = tuple([t if t is None or isinstance(t, TensorBase) else wrap(t) for t in args[:n]])
        if self.results == 1:
            return _core.apply(self.core, tensors, args[n:])
        return _core.apply_many(self.core, tensors, args[n:])

    # -- reading the rules of a block ---------------------------------------------------------------------------------

    def _rules(self, body: dict[str, Any]) -> tuple[Callable[..., Any], Callable[[int], tuple[int, ...]]]:
        if "vjp_all" in body:
            rule = body["vjp_all"]
            self.saved = parameters(rule)[2:]
            places = tuple(self._place(p) for p in self.saved)
            return together(rule), lambda mask: places
        rules = [body.get("vjp" if len(self.inputs) == 1 else f"vjp_{name}") for name in self.inputs]
        if not any(rules):
            raise TypeError(f"op {self.name} has no gradient rule; say differentiable = False if that is meant")
        self.hidden = tuple(i for i, rule in enumerate(rules) if rule is None)
        needs = [() if r is None else parameters(r)[1:] for r in rules]
        names = list(dict.fromkeys(n for need in needs for n in need))
        if self.is_pair:
            names = [*self.inputs, "out"]  # the fixed places of the recorder's shortcut for two operands
        self.saved = tuple(names)
        places = tuple(self._place(n) for n in names)

        def saves(mask: int) -> tuple[int, ...]:
            used = {n for i, need in enumerate(needs) if mask >> i & 1 for n in need}
            return tuple(place if n in used else NOTHING for n, place in zip(names, places, strict=True))

        return one_by_one(rules, [[names.index(n) for n in need] for need in needs]), saves

    def _place(self, name: str) -> int:
        if name in self.inputs:
            return self.inputs.index(name)
        if name in self.options:
            return OPTION + self.options.index(name)
        if name.startswith("out") and (name == "out" or name[3:].isdigit()):
            return OUT - int(name[3:] or 0)
        if name.endswith("_shape") and name[:-6] in self.inputs:
            return SHAPE + self.inputs.index(name[:-6])
        raise TypeError(f"op {self.name}: a rule asks for {name!r}, which is no input, option or result")


def name_in_pytorch(saved: str) -> str:
    """What a node's attribute `_saved_...` is called there."""
    if saved.endswith("_shape"):
        return name_in_pytorch(saved[:-6]) + "_sym_sizes"
    return {"input": "self", "out": "result", "out1": "indices"}.get(saved, saved)


def parameters(rule: Callable[..., Any]) -> tuple[str, ...]:
    return rule.__code__.co_varnames[: rule.__code__.co_argcount]


def op(cls: type) -> Any:
    """Register the class body as an operation of its family (its base class)."""
    operation = Operation(cls.__name__.rstrip("_"), cls.__mro__[1], dict(vars(cls)))
    registry[operation.name] = operation
    return operation


class Family:
    """What all families have in common, and the defaults a block may override."""

    if TYPE_CHECKING:  # what `@op` turns the class into, for the type checker

        def __new__(cls, *args: Any) -> Any: ...

        function: Callable[..., Any]
        record: Callable[..., Any]
        core: Op
        rules: Any

    inputs: tuple[str, ...] = ("input",)
    options: tuple[str, ...] = ()
    results = 1
    variadic = False
    holomorphic = True
    differentiable = True
    jvp: Any = "transpose"
    samples: Any = None
    node_name: str | None = None
    row_major = False  # as in PyTorch, do results lie in memory row by row, so that view() always works on them?
    pair = False  # does the recorder's shortcut for two operands apply?
    method = True  # is it a method of Tensor as well?
    in_place = False  # does it have an in-place form?
    public_name: str | None = None  # what users call it, if not by the name of the block; "" for ops of our own

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        """The function users call: the block's own `call`, which ends in `<op>.record(...)`."""
        function: Callable[..., Any] = body["call"]
        function.__name__ = function.__qualname__ = operation.name
        function.__doc__ = operation.doc
        return function


# -- putting rules together -------------------------------------------------------------------------------------------


def renamed(core: Op, node_name: str) -> Op:
    """The same operation under the name that PyTorch's graph has for it in another case."""
    twin = Op(core.name, node_name, core.forward, core.backward, core.saves)
    twin.hidden, twin.keeps, twin.consume = core.hidden, core.keeps, core.consume
    twin.saved_names = core.saved_names
    if core.conjugated is not None:
        twin.conjugated = renamed(core.conjugated, node_name)
    return twin


def zeros_like(g: Any) -> Any:
    """Zeros in the shape of a gradient, also where that is infinite."""
    return wrap(zeros_like(g.array)) if isinstance(g, TensorBase) else np.zeros(g.shape, g.dtype)


def no_rule(g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> Sequence[Any]:
    raise AssertionError("an operation that is not differentiable was recorded")


def one_by_one(
    rules: Sequence[Callable[..., Any] | None], positions: Sequence[Sequence[int]]
) -> Callable[..., Sequence[Any]]:
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
        if rule is None:
            parts.append("None")
        else:
            parts.append(f"None if inputs[{i}] is None else {call}")
    source = f"lambda g, saved, inputs: ({', '.join(parts)},)"
    code = _compiled.get(source)  # many ops have rules of the same form, and compiling is what takes time at import
    if code is None:
        code = _compiled[source] = compile(source, "<backward>", "eval")
    function: Callable[..., Sequence[Any]] = eval(code, {f"rule{i}": rule for i, rule in enumerate(rules)})
    return function


_compiled: dict[str, Any] = {}


def together(rule: Callable[..., Any]) -> Callable[..., Sequence[Any]]:
    return lambda g, saved, inputs: rule(g, [edge is not None for edge in inputs], *saved)


def conjugated(backward: Callable[..., Sequence[Any]]) -> Callable[..., Sequence[Any]]:
    """A rule written for real numbers, made right for complex ones: conj(rule(conj(g)))."""

    def conj(value: Any) -> Any:
        if isinstance(value, list):
            return [conj(v) for v in value]
        return None if value is None else value.conj()

    def rule(g: Any, saved: tuple[Any, ...], inputs: tuple[Any, ...]) -> Sequence[Any]:
        return [conj(r) for r in backward(conj(g), saved, inputs)]

    return rule


class Composite:
    """A public function that is composed of other ops and so needs no rule of its own."""

    def __init__(self, function: Callable[..., Any], samples: Any, method: bool, in_place: bool) -> None:
        self.name = function.__name__
        self.function = function
        self.samples = samples
        self.method = method
        self.in_place = in_place


composites: dict[str, Composite] = {}


def composite(
    samples: Any, *, method: bool = True, in_place: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function composed of ops: public, tested with `samples`, a method of Tensor if `method`, with an
    in-place form if `in_place`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if not function.__doc__:
            raise TypeError(f"function {function.__name__} has no documentation")
        composites[function.__name__] = Composite(function, samples, method, in_place)
        return function

    return register
