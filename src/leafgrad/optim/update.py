"""The update of an optimiser as an operation: one formula, two speeds.

    @op
    class descent_step(Update):
        \"\"\"descent_step(param, grad, lr): param - lr grad.\"\"\"

        inputs = ("param", "grad")
        options = ("lr",)

        def formula(p, g, lr):
            return (p - g * lr,)

        forward = in_blocks(formula, inputs)

The inputs are the parameter, its gradient, and what the optimiser keeps for the parameter from step to step (None for
what it does without). The formula returns new values for all of them but the gradient.

On tensors the formula runs as it stands, and is recorded. Its speed on arrays comes from `in_blocks`: there the formula
is run once on symbols, which write down what is done to them. The list of kernel calls becomes a Python function that
computes in place, in as little memory as possible. A large parameter is handed to it block by block, so that all
of them stay in the cache.
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

Array = Any
Formula = Callable[..., tuple[Any, ...]]

WHOLE = 131072  # elements up to which a parameter is worked on as a whole
BLOCK = 32768  # elements of a block otherwise: five or six of them fit into a second-level cache
LONGER = 4  # times that, if there is little else than the parameter and its gradient

_f32: Any = np.dtype(np.float32)
_f64: Any = np.dtype(np.float64)


class Update(Family, family=True):
    """One step of an optimiser. The kernel takes any number of parameters, the arrays of one after those of the other,
    and writes to `out`: all of these arrays but the gradients."""

    variadic = True
    method = False
    public_name = ""

    @staticmethod
    def public(operation: Operation, body: dict[str, Any]) -> Callable[..., Any]:
        formula, count = body["formula"], len(operation.inputs)

        def function(*args: Any) -> tuple[Any, ...]:
            if not args[0].is_complex():
                return formula(*args)  # type: ignore[no-any-return]
            pairs = [view_as_real.function(t) if isinstance(t, TensorBase) else t for t in args[:count]]
            results = formula(*pairs, *args[count:])
            return tuple([None if t is None else view_as_complex.function(t) for t in results])

        function.__doc__ = operation.doc
        return function


# -- running a formula on arrays --------------------------------------------------------------------------------------


def in_blocks(formula: Formula, inputs: Sequence[str]) -> Callable[..., Any]:
    """The kernel of an update."""
    count = formula.__code__.co_argcount - len(inputs)
    programs: list[Callable[..., Any]] = []
    last_kind: Any = None
    last_options: Any = None
    last_functions: Any = None
    before: Any = None

    def functions_for(kind: Any, options: tuple[Any, ...]) -> Any:
        nonlocal last_kind, last_options, last_functions, before
        real = _f64 if kind.char in "dD" else _f32
        for bind in programs:
            functions = bind(real, *options)
            if functions is not None:
                break
        else:
            bind = program(formula, len(inputs), options)
            programs.insert(0, bind)
            functions = bind(real, *options)
        # Coefficients that are the same in every step are kept. A tensor may be the same and have another value.
        if options == before and NUMBERS.issuperset(map(type, options)):
            last_kind, last_options, last_functions = kind, options, functions
        before = options
        return functions

    def kernel(*args: Any, out: Sequence[Any] | None = None) -> Sequence[Any]:
        kind, options = args[0].dtype, args[-count:]
        known = kind is last_kind and options == last_options
        run, run_single, width = last_functions if known else functions_for(kind, options)
        if out is None or out[0] is not args[0]:
            args, out = copied(args, out, width, count)
        usual = kind if kind is _f32 or kind is _f64 else None
        start, end = 0, len(args) - count
        while start < end:
            arrays = args[start : start + width]
            start += width
            p = arrays[0]
            size = p.size
            if size > WHOLE or p.dtype is not usual or arrays[1].dtype is not usual:
                run_in_blocks(run if p.dtype is kind else functions_for(p.dtype, options)[0], arrays)
            elif size == SINGLE:
                run_single(*arrays)
            else:
                run(*arrays)
        return out

    return kernel


NUMBERS = frozenset([bool, int, float])
# NumPy's ufuncs take three times as long for a single element if they are given an array for the result
SINGLE = -1 if kernels.NATIVE else 1


def copied(args: Sequence[Any], out: Sequence[Array] | None, width: int, count: int) -> tuple[Any, list[Array]]:
    """The arguments with other arrays in their places that hold the same values and may be overwritten."""
    copies = list(args)
    made: list[Array] = []
    for i, a in enumerate(args[:-count]):
        if i % width != 1:  # a gradient
            copies[i] = np.empty_like(a) if out is None else out[len(made)]
            copies[i][...] = a
            made.append(copies[i])
    return copies, made


def run_in_blocks(run: Callable[..., None], arrays: Sequence[Array]) -> None:
    """What is large or unusual: 16-bit floats are computed in float32, complex numbers as pairs of real ones, arrays
    that are no plain block of memory in a copy."""
    p, g, *kept = arrays
    vectors = [as_real_vector(a) for a in (p, g.astype(p.dtype, copy=False), *kept)]
    size = BLOCK if kept else LONGER * BLOCK
    for start in range(0, vectors[0].size, size):
        run(*[a[start : start + size] for a in vectors])
    del vectors[1]
    for array, vector in zip((p, *kept), vectors):
        if not np.may_share_memory(array, vector):
            write_back(vector, array)


def as_real_vector(array: Array) -> Array:
    """An array as a vector of float32 or float64: the same memory where that is possible, otherwise a copy."""
    vector = array.reshape(-1)
    if array.dtype.kind == "c":
        return vector.view(_f64 if array.dtype.char == "D" else _f32)
    return vector if array.dtype.itemsize > 2 else vector.astype(_f32)


def write_back(vector: Array, array: Array) -> None:
    """Undo `as_real_vector`."""
    if array.dtype.kind == "c":
        vector = vector.view(array.dtype)
    array[...] = vector.reshape(array.shape)


# -- from a formula to calls of kernels -------------------------------------------------------------------------------


class Symbol(NDArrayOperatorsMixin):
    """Stands for an array or a number while a formula is traced."""

    def __init__(self, trace: Trace, name: str, is_array: bool, truth: bool | None = None) -> None:
        self.trace = trace
        self.name = name
        self.is_array = is_array
        self.truth = truth

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any) -> Symbol:
        return self.trace.note(ufunc, operands)

    def __bool__(self) -> bool:
        if self.truth is None:
            raise TypeError(f"what a formula does may depend on whether an option is zero, but not on {self.name}")
        self.trace.asked[self.name] = self.truth
        return self.truth

    def sqrt(self) -> Any:
        return np.sqrt(self)

    def maximum(self, other: Any) -> Any:
        return np.maximum(self, other)

    def detach(self) -> Symbol:
        return self

    def clone(self) -> Any:
        return np.positive(self)


# What symbols can do: as a kernel, and as Python for numbers.
KERNELS: dict[np.ufunc, tuple[str, Any, str]] = {
    np.add: ("add", kernels.add, "{} + {}"),
    np.subtract: ("subtract", kernels.subtract, "{} - {}"),
    np.multiply: ("multiply", kernels.multiply, "{} * {}"),
    np.true_divide: ("divide", kernels.divide, "{} / {}"),
    np.negative: ("negative", kernels.negative, "-{}"),
    np.power: ("power", np.power, "{} ** {}"),
    np.sqrt: ("square_root", kernels.square_root, "sqrt({})"),
    np.maximum: ("maximum", kernels.maximum, "max({}, {})"),
    np.positive: ("positive", np.positive, "+{}"),
}


class Trace:
    """What a formula does: lines of Python for the numbers, and calls of kernels."""

    def __init__(self) -> None:
        self.asked: dict[str, bool] = {}  # the options that decide about its way, and how they did
        self.lines: list[str] = []
        self.calls: list[tuple[str, list[str], str]] = []
        self.numbers: dict[str, str] = {}  # what kernels are called with, and as what

    def note(self, ufunc: np.ufunc, operands: Sequence[Any]) -> Symbol:
        kernel, _, python = KERNELS[ufunc]
        names = [o.name if isinstance(o, Symbol) else repr(o) for o in operands]
        is_array = [isinstance(o, Symbol) and o.is_array for o in operands]
        if any(is_array):
            result = Symbol(self, f"array{len(self.calls)}", True)
            for i, array in enumerate(is_array):
                if not array:
                    names[i] = self.numbers.setdefault(names[i], f"constant{len(self.numbers)}")
            self.calls.append((kernel, names, result.name))
        else:
            result = Symbol(self, f"number{len(self.lines)}", False)
            self.lines.append(f"{result.name} = {python.format(*names)}")
        return result


def program(formula: Formula, width: int, options: Sequence[Any]) -> Callable[..., Any]:
    """A function that takes a dtype and options. If the formula does the same with them as with these options, it
    returns functions that do that to arrays in place, and which inputs they use; otherwise None."""
    trace = Trace()
    names = formula.__code__.co_varnames[: formula.__code__.co_argcount]
    inputs = [Symbol(trace, name, True) for name in names[:width]]
    numbers = [Symbol(trace, name, False, bool(value)) for name, value in zip(names[width:], options)]
    results = formula(*inputs, *numbers)
    homes = {r.name: name for r, name in zip(results, [names[0], *names[2:width]]) if r.name != name}
    read = {name for _, operands, _ in trace.calls for name in operands}
    used = [name for i, name in enumerate(names[:width]) if i < 2 or name in read or name in homes.values()]
    parameters = ", ".join(used)
    source = [
        f"def bind({', '.join(['kind', *names[width:]])}):",
        f"    if {' or '.join([f'not {name}' if truth else name for name, truth in trace.asked.items()])}:",
        "        return None",
        *[f"    {line}" for line in trace.lines],
        *[f"    {name} = array({value}, kind)" for value, name in trace.numbers.items()],
        f"    def run({parameters}):",
        *[f"        {line}" for line in in_place(trace.calls, homes)],
        "    run_single = run",
    ]
    if SINGLE == 1:
        source.append(f"    def run_single({parameters}):")
        source += [f"        {line}" for line in separate(trace.calls, homes)]
    source.append(f"    return run, run_single, {len(used)}")
    scope: Any = {name: kernel for name, kernel, _ in KERNELS.values()}
    scope.update(sqrt=math.sqrt, array=np.array)
    exec("\n".join(source), scope)
    return scope["bind"]


def separate(calls: Sequence[Any], homes: dict[str, str]) -> list[str]:
    """The calls, each with a new array for its result."""
    lines = [f"{result} = {kernel}({', '.join(operands)})" for kernel, operands, result in calls]
    return lines + [f"{home}[...] = {result}" for result, home in homes.items()]


def in_place(calls: Sequence[Any], homes: dict[str, str]) -> list[str]:
    """The same in the memory of the inputs and of values that are no longer needed."""
    made = {result for _, _, result in calls}
    last = {name: i for i, (_, operands, _) in enumerate(calls) for name in operands}
    last.update(dict.fromkeys(homes, len(calls)))
    places: dict[str, str] = {}  # where a value is, if not in a variable of its own
    free: list[str] = []
    lines = []
    for i, (kernel, operands, result) in enumerate(calls):
        given = [places.get(name, name) for name in operands]
        free += {place for name, place in zip(operands, given) if name in made and last[name] == i}
        home = homes.get(result)
        if home is not None and last.get(home, -1) <= i:
            places[result] = home
        elif free:
            places[result] = free.pop()
        if result in places:
            where = "out=" if kernel == "maximum" else ""  # NumPy wants to be told here
            lines.append(f"{kernel}({', '.join(given)}, {where}{places[result]})")
        else:
            lines.append(f"{result} = {kernel}({', '.join(given)})")
    return lines + [f"{home}[...] = {places.get(r, r)}" for r, home in homes.items() if places.get(r, r) != home]
