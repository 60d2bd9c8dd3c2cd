"""The update of a parameter as an operation: one formula, two speeds.

The inputs are the parameter, its gradient, and what an optimiser keeps for the parameter from step to step: names in
its state. The formula returns new values for all of them but the gradient. What it does may depend on whether an option
is zero, and on nothing else; an input that it then has no use for is None.

On tensors the formula runs as it stands, and is recorded. Its speed on arrays comes from tracing: the formula runs once
on symbols, which write down what is done to them, and the list becomes a Python function that calls one kernel after
the other, in the memory of the inputs and of values that are no longer needed. Large parameters are handed to it block
by block, so that everything stays in the cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from leafgrad import kernels
from leafgrad._core.tensor import TensorBase
from leafgrad.ops.pointwise.complex import view_as_complex, view_as_real
from leafgrad.ops.registry import Family, Operation
from leafgrad.ops.samples import S, ValuesOnly

Array = Any
Formula = Callable[..., tuple[Any, ...]]

WHOLE = 131072  # elements up to which a parameter is worked on as a whole
BLOCK = 32768  # elements of a block otherwise: five or six of them fit into a second-level cache
# NumPy's ufuncs take three times as long for a single element if they are given an array for the result
SINGLE = -1 if kernels.NATIVE else 1
NUMBERS = frozenset([bool, float, int])
_f32: Any = np.dtype(np.float32)
_f64: Any = np.dtype(np.float64)


class Update(Family, family=True):
    """One step of an optimiser. The kernel takes any number of parameters, each with its gradient and what is kept for
    it, then the options, and as one more argument a list of arrays for the results: these arrays, or others of their
    kind. What it returns has the gradients in their places, as they were."""

    variadic = True
    writes_into = True
    differentiable = False  # the formula is, which an optimiser runs where that is wanted
    derivatives = 0
    method = False
    public_name = ""

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        formula: Formula = body["formula"]

        def function(*args: Any) -> tuple[Any, ...]:
            pairs = [view_as_real.function(a) if is_complex(a) else a for a in args]
            results = formula(*pairs)
            if not is_complex(args[0]):
                return results
            return tuple([None if new is None else view_as_complex.function(new) for new in results])

        function.__doc__ = operation.doc
        return function


def is_complex(value: Any) -> bool:
    return isinstance(value, TensorBase) and value.array.dtype.kind == "c"


def steps(name: str, *cases: dict[str, Any]) -> ValuesOnly:
    """Samples of an update: two steps of its optimiser."""

    def run(torch: Any, p: Any, *gradients: Any, **options: Any) -> list[Any]:
        optimizer = getattr(torch.optim, name)([p], **options)
        for p.grad in gradients:
            optimizer.step()
        return [p, *[value for _, value in sorted(optimizer.state[p].items())]]

    shapes = [(3, 4), ()]
    return ValuesOnly("changes its inputs", lambda t: [S(t(*s), t(*s), t(*s), **c) for c in cases for s in shapes], run)


def in_place(formula: Formula, inputs: Sequence[str]) -> Callable[..., Any]:
    """The kernel of an update with this formula."""
    count = formula.__code__.co_argcount - len(inputs)
    programs: list[Callable[..., Any]] = []
    last: tuple[Any, Any, Any] = (None, None, None)
    before: Any = None

    def functions_for(kind: Any, options: tuple[Any, ...]) -> Any:
        """What a program returns for a dtype and options."""
        nonlocal last, before
        real = _f64 if kind.char in "dD" else _f32
        for program in programs:
            if (functions := program(real, *options)) is not None:
                break
        else:
            programs.insert(0, traced(formula, len(inputs), options, unusual))
            functions = programs[0](real, *options)
        # Those for options that are the same in every step are kept. A tensor is the same although its value changes.
        if options == before and NUMBERS.issuperset(map(type, options)):
            last = (kind, options, functions)
        before = options
        return functions

    def unusual(options: tuple[Any, ...], *arrays: Array) -> None:
        """The update of one parameter that is large, or of an unusual dtype."""
        run_in_blocks(functions_for(arrays[0].dtype, options)[1], *arrays)

    def kernel(*args: Any) -> list[Array]:
        out: Any = args[-1] if args[-1].__class__ is list else None
        end = len(args) - count - (out is not None)
        options = args[end : end + count]
        if out is None or out[0] is not args[0]:
            out = [np.empty_like(a) for a in args[:end]] if out is None else out
            for target, a in zip(out, args):
                target[...] = a
        last_kind, last_options, functions = last  # at once, because other threads may exchange it
        if args[0].dtype is not last_kind or options != last_options:
            functions = functions_for(args[0].dtype, options)
        functions[0](out)
        return out  # type: ignore[no-any-return]

    return kernel


def run_in_blocks(run: Callable[..., None], p: Array, g: Array, *kept: Array) -> None:
    """What is large or unusual: 16-bit floats are computed in float32, complex numbers as pairs of real ones, arrays
    that are no plain block of memory in a copy."""
    real = _f64 if p.dtype.char in "dD" else _f32
    vectors = [a.reshape(-1) for a in (p, g.astype(p.dtype, copy=False), *kept)]
    vectors = [v.view(real) if v.dtype.kind == "c" else v if v.itemsize > 2 else v.astype(real) for v in vectors]
    size = BLOCK if kept else 4 * BLOCK
    for start in range(0, vectors[0].size, size):
        run(*[v[start : start + size] for v in vectors])
    for a, v in zip((p, *kept), (vectors[0], *vectors[2:])):
        if not np.may_share_memory(a, v):
            a[...] = (v.view(a.dtype) if a.dtype.kind == "c" else v).reshape(a.shape)


# -- tracing ----------------------------------------------------------------------------------------------------------

LOOPS = (
    kernels.add, kernels.subtract, kernels.multiply, kernels.divide, kernels.negative, kernels.square_root,
    kernels.maximum, kernels.minimum, kernels.absolute, np.positive, np.sign,
)  # fmt: skip
SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "power": "**"}  # of numbers


class Symbol(NDArrayOperatorsMixin):
    """Stands for an array or a number in a formula."""

    def __init__(self, trace: Trace, name: str, is_array: bool, truth: bool | None = None) -> None:
        self.trace, self.name, self.is_array, self.truth = trace, name, is_array, truth

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any) -> Symbol:
        return self.trace.note(ufunc.__name__, operands)

    def __bool__(self) -> bool:
        if self.truth is None:
            raise TypeError("what a formula does may depend on its options only")
        self.trace.asked[self.name] = self.truth
        return self.truth

    # methods of tensors
    sqrt: Any = lambda self: np.sqrt(self)
    maximum: Any = lambda self, other: np.maximum(self, other)
    clone: Any = lambda self: np.positive(self)
    abs: Any = lambda self: np.absolute(self)
    sign: Any = lambda self: np.sign(self)
    relu: Any = lambda self: np.maximum(self, 0.0)
    clamp: Any = lambda self, low, high: np.minimum(np.maximum(self, low), high)
    detach: Any = lambda self: self


class Trace:
    """What a formula does: lines of Python for the numbers, and calls of kernels: (name, operands, result)."""

    def __init__(self) -> None:
        self.asked: dict[str, bool] = {}  # the options that decide about its way, and how they do
        self.lines: list[str] = []
        self.calls: list[tuple[str, list[str], str]] = []
        self.constants: dict[str, str] = {}  # numbers that kernels are called with, as arrays

    def symbol(self, name: str, value: Any) -> Any:
        """What stands for an option, a number or several."""
        if isinstance(value, tuple):
            return [self.symbol(f"{name}[{i}]", part) for i, part in enumerate(value)]
        return Symbol(self, name, False, bool(value))

    def note(self, kernel: str, operands: Sequence[Any]) -> Symbol:
        names = [o.name if isinstance(o, Symbol) else repr(o) for o in operands]
        arrays = [isinstance(o, Symbol) and o.is_array for o in operands]
        if not any(arrays):
            value = f" {SIGNS[kernel]} ".join(names) if kernel in SIGNS else f"math.{kernel}({names[0]})"
            self.lines.append(f"number{len(self.lines)} = {value}")
            return Symbol(self, f"number{len(self.lines) - 1}", False)
        for i, name in enumerate(names):
            if not arrays[i]:
                names[i] = self.constants.setdefault(name, f"constant{len(self.constants)}")
        self.calls.append((kernel, names, f"array{len(self.calls)}"))
        return Symbol(self, self.calls[-1][2], True)

    def for_single(self, param: str, homes: dict[str, str]) -> list[str]:
        """The calls for a single element: a new array for each result, and copies to where results belong."""
        if SINGLE != 1:
            return []
        lines = [f" {result} = {kernel}({', '.join(operands)})" for kernel, operands, result in self.calls]
        return [f"elif {param}.size == 1:", *lines, *[f" {home}[...] = {result}" for result, home in homes.items()]]

    def calls_in_place(self, homes: dict[str, str]) -> list[str]:
        """The calls with results where they belong, as soon as the old values are not needed, and otherwise in memory
        that has become free."""
        last_use = {name: i for i, (_, operands, _) in enumerate(self.calls) for name in operands}
        last_use.update(dict.fromkeys(homes, len(self.calls)))
        places: dict[str, str] = {}  # where a result is
        free: list[str] = []
        lines = []
        for i, (kernel, operands, result) in enumerate(self.calls):
            given = ", ".join([places.get(name, name) for name in operands])
            free += dict.fromkeys([places[name] for name in operands if name in places and last_use[name] == i])
            if result in homes and last_use.get(homes[result], -1) <= i:
                places[result] = homes[result]
            elif free:
                places[result] = free.pop()
            else:
                places[result] = result
                lines.append(f"{result} = {kernel}({given})")
                continue
            by_name = "out=" if kernel in ("maximum", "minimum") else ""  # NumPy wants it so
            lines.append(f"{kernel}({given}, {by_name}{places[result]})")
        return lines + [f"{home}[...] = {places[r]}" for r, home in homes.items() if places[r] != home]


def traced(formula: Formula, count: int, options: Sequence[Any], unusual: Callable[..., None]) -> Callable[..., Any]:
    """A program: given a dtype and options, it returns a function of a list of arrays (parameters, each with its
    gradient and what is kept for it) that does in place what the formula does, and another one for the arrays of one
    parameter; None if the formula takes another way than with the options here."""
    trace = Trace()
    names = formula.__code__.co_varnames[: formula.__code__.co_argcount]
    symbols = [Symbol(trace, name, True) for name in names[:count]]
    symbols += [trace.symbol(name, value) for name, value in zip(names[count:], options)]
    updated = (names[0], *names[2:count])
    homes = {result.name: name for result, name in zip(formula(*symbols), updated) if result.name != name}
    param, grad = names[:2]
    used = [name for name in names[:count] if name == grad or name in homes.values()]
    in_place = trace.calls_in_place(homes)
    source = [
        f"def program({', '.join(['kind', *names[count:]])}):",
        f" if {' or '.join(['False', *[f'not {name}' if truth else name for name, truth in trace.asked.items()]])}:",
        "  return None",
        *[f" {line}" for line in trace.lines],
        *[f" {name} = array({number}, kind)" for number, name in trace.constants.items()],
        f" def run({', '.join(used)}):",
        *[f"  {line}" for line in in_place],
        " def run_all(arrays):",  # with the calls written out again: a sixth of the time of a step of few elements
        "  each = iter(arrays)",
        f"  for {', '.join(used)} in zip({', '.join(['each'] * len(used))}):",
        f"   if {param}.size > {WHOLE} or {param}.dtype is not kind or {grad}.dtype is not kind:",
        f"    unusual(({', '.join(names[count:])},), {', '.join(used)})",
        *[f"   {line}" for line in trace.for_single(param, homes)],
        "   else:",
        *[f"    {line}" for line in in_place],
        " return run_all, run",
    ]
    scope: Any = {**{loop.__name__: loop for loop in LOOPS}, "array": np.array, "math": math, "unusual": unusual}
    exec("\n".join(source), scope)
    return scope["program"]  # type: ignore[no-any-return]
