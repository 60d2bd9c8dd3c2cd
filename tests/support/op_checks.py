"""What every operation has to pass, whoever wrote it: the tensors and checks of the tests that walk the registry.

The checks know nothing of leafgrad's rules. Derivatives are measured by central differences of the values, results
are compared with the same call in double precision, in ordinary memory, or in another form.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import linecache
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ml_dtypes
import numpy as np

import leafgrad as lg
import leafgrad.func  # which registers operations of its own
import leafgrad.nn.functional
import leafgrad.optim
import sample_numbers as numbers
from leafgrad import _dtypes
from leafgrad._core.node import Node
from leafgrad._core.op import OPTION, OUT, SHAPE, GradientRules
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._core.unbroadcast import unbroadcast
from leafgrad.ops.registry import Composite, Operation
from leafgrad.ops.registry import entries as entries
from leafgrad.ops.samples import S, Samples

Array = Any
Entry = Operation | Composite

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def numpy_dtype(name: str) -> np.dtype[Any]:
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


def public_name(entry: Entry) -> str:
    """What users call it; "" for operations that only rules and other functions use."""
    return entry.public_name


def is_public(entry: Entry) -> bool:
    return bool(public_name(entry)) or entry.name in lg.nn.functional.__all__ or bool(entry.places)


# -- tensors ----------------------------------------------------------------------------------------------------------

LAYOUTS = ("contiguous", "transposed", "stepped", "expanded")


def maker(dtype: str, layout: str, seed: int, fixed: list[Any]) -> Callable[..., Any]:
    """The `t` of samples: random tensors of one dtype and memory layout, the same ones for the same seed. Those for
    which the samples ask for a dtype of their own are put into `fixed` as well."""
    default, count = dtype, itertools.count()

    def t(
        *shape: int,
        low: float | None = None,
        high: float | None = None,
        dtype: str | None = None,
        contiguous: bool = False,
    ) -> Any:
        values = drawn((seed, next(count)), shape, dtype or default, dtype is not None, low, high)
        made = wrap(laid_out(values, "contiguous" if contiguous else layout))
        if dtype is not None:
            fixed.append(made)
        return made

    return t


@functools.cache
def drawn(
    seed: tuple[int, ...], shape: tuple[int, ...], dtype: str, fixed: bool, low: float | None, high: float | None
) -> Array:
    """Random numbers between low and high. Floats are all different and well apart, so that a step of the central
    differences does not change which is the largest; `high` is excluded where an op's samples ask for integers."""
    kind = numpy_dtype(dtype)
    if kind.kind == "b":
        return numbers.integers(seed, shape, 0, 1).astype(kind)
    if kind.kind in "iu":
        first, last = (low or 0, (2 if high is None else high) - 1) if fixed else whole_numbers(low, high)
        return numbers.integers(seed, shape, int(first), int(last)).astype(kind)
    if kind.kind == "c":
        real, imaginary = [drawn((*seed, part), shape, "float64", False, low, high) for part in range(2)]
        return (real + 1j * imaginary).astype(kind)
    low = -2.0 if low is None else low
    high = max(2.0, low + 1) if high is None else high
    return numbers.spaced(seed, shape, low, high).astype(kind)


def whole_numbers(low: float | None, high: float | None) -> tuple[int, int]:
    """The integers of a range that was meant for floats; the nearest one if there is none."""
    first, last = int(np.ceil(-2.0 if low is None else low)), int(np.floor(2.0 if high is None else high))
    return first, max(first, last)


def laid_out(values: Array, layout: str) -> Array:
    """A copy of the values in memory of the given kind; "expanded" repeats the first of each row or column."""
    if layout == "transposed":
        return values.T.copy().T
    if layout == "stepped":
        room = np.zeros(tuple([2 * s + 1 for s in values.shape]), values.dtype)
        seen = room[tuple([slice(1, 2 * s, 2) for s in values.shape]) or ...]
        seen[...] = values
        return seen
    if layout == "expanded" and values.ndim and values.size:
        one = values[:, :1].copy() if values.ndim > 1 else values[:1].copy()
        strides = np.broadcast_to(one, values.shape).strides
        return np.lib.stride_tricks.as_strided(one, values.shape, strides)  # which can be written to
    return values.copy()


# -- calls ------------------------------------------------------------------------------------------------------------


class Case:
    """One sample of one operation, with its tensors apart from the rest so that they can be exchanged."""

    def __init__(self, entry: Entry, index: int, sample: S, fixed: Sequence[Any] = ()) -> None:
        self.entry = entry
        self.index = index
        self.exempt = sample.exempt
        self.tensors: list[Any] = []
        self.apart = apart((sample.args, sample.kwargs), self.tensors)
        self.fixed = [any([t is f for f in fixed]) for t in self.tensors]  # is its dtype part of the sample?

    def call(self, tensors: Sequence[Any], function: Callable[..., Any] | None = None) -> Any:
        args, kwargs = together(self.apart, tensors)
        return (function or self.entry.function)(*args, **kwargs)

    def outputs(self, tensors: Sequence[Any] | None = None) -> list[Any]:
        """The tensors among the results."""
        found: list[Any] = []
        apart(self.call(self.tensors if tensors is None else tensors), found)
        return found

    def leaves(self) -> list[Any]:
        """Those tensors that can have a gradient, made leaves that want one."""
        return [self.tensors[i].requires_grad_() for i in self.variable()]

    def variable(self) -> list[int]:
        """Which of the tensors can have a gradient."""
        args, kwargs = self.apart
        constants = []
        if self.entry.constants:
            given = inspect.signature(self.entry.function).bind(*args, **kwargs).arguments
            given = {"input" if name == "self" else name: value for name, value in given.items()}  # of methods
            constants = [given[name].index for name in self.entry.constants if isinstance(given.get(name), Slot)]
        return [i for i, t in enumerate(self.tensors) if t.array.dtype.kind not in "biu" and i not in constants]

    def at(self, arrays: Sequence[Array]) -> Case:
        """The same call for other values of its variable tensors."""
        there = Case(self.entry, self.index, S().exempt_from(*self.exempt))
        there.apart, there.tensors = self.apart, list(self.tensors)
        for i, x in zip(self.variable(), arrays, strict=True):
            there.tensors[i] = wrap(x)
        return there

    def casts(self, dtype: str) -> list[Any]:
        """The same tensors in another dtype (but for those whose dtype is part of the sample), in ordinary memory."""
        kind = numpy_dtype(dtype)
        return [
            wrap(np.array(t.array, t.array.dtype if fixed else kind, order="C"))
            for t, fixed in zip(self.tensors, self.fixed, strict=True)
        ]

    def __repr__(self) -> str:
        shown = together(self.apart, [f"<{t.array.dtype} {list(t.array.shape)}>" for t in self.tensors])
        return f"{self.entry.name}, sample {self.index}: {S(*shown[0], **shown[1])!r}"


class Slot:
    """Stands where a tensor was."""

    def __init__(self, index: int) -> None:
        self.index = index


def apart(value: Any, tensors: list[Any]) -> Any:
    """The value with every tensor in it, however deep, put into the list and replaced by its number there."""
    if isinstance(value, TensorBase):
        tensors.append(value)
        return Slot(len(tensors) - 1)
    if isinstance(value, dict):
        return {k: apart(v, tensors) for k, v in value.items()}
    if isinstance(value, (list, tuple)) and not isinstance(value, lg.Size):
        parts = [apart(v, tensors) for v in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def together(value: Any, tensors: Sequence[Any]) -> Any:
    """What `apart` took apart, with these tensors."""
    if isinstance(value, Slot):
        return tensors[value.index]
    if isinstance(value, dict):
        return {k: together(v, tensors) for k, v in value.items()}
    if isinstance(value, (list, tuple)) and not isinstance(value, lg.Size):
        parts = [together(v, tensors) for v in value]
        return parts if isinstance(value, list) else tuple(parts)
    return value


def cases(
    entry: Entry, dtype: str = "float64", layout: str = "contiguous", seed: int = 0, samples: Samples | None = None
) -> list[Case]:
    """The samples of an operation, or others."""
    fixed: list[Any] = []
    made = (samples or entry.samples)(maker(dtype, layout, seed, fixed))
    return [Case(entry, i, sample, fixed) for i, sample in enumerate(made)]


# -- comparing --------------------------------------------------------------------------------------------------------

# In units of the last digit of a dtype, relative to the largest number of an array. Single and double precision add up
# the roundings of a short sum and of two or three functions in a row: up to 3 were seen. The half precisions are
# computed in single precision and rounded where a rule has a step: up to 1.5 were seen.
DIGITS = {"float64": 8, "complex128": 8, "float32": 8, "complex64": 8, "float16": 2, "bfloat16": 2}


def tolerance(dtype: np.dtype[Any]) -> float:
    if dtype.kind in "biu":
        return 0.0
    return DIGITS[dtype.name] * _dtypes.finfo(_dtypes.from_numpy_dtype(dtype)).eps


def wide(array: Array) -> Array:
    """As double precision."""
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def assert_close(actual: Array, expected: Array, within: float, *what: object) -> None:
    """Equal shapes, and no element further apart than `within` times the largest finite number (or one)."""
    assert actual.shape == expected.shape, f"{said(what)}: shape {actual.shape}, expected {expected.shape}"
    if within == 0:  # also because large integers would lose digits as floats
        np.testing.assert_array_equal(actual, expected, err_msg=said(what))
        return
    a, b = wide(actual), wide(expected)
    if not np.array_equal(a, b):
        finite = np.abs(b[np.isfinite(b)])
        room = within * max(1.0, finite.max(initial=0.0))
        np.testing.assert_allclose(a, b, rtol=within, atol=room, equal_nan=True, err_msg=said(what))


def said(what: tuple[object, ...]) -> str:
    return " ".join(map(str, what))


def raised_by_leafgrad(error: BaseException) -> bool:
    """Did a `raise` of ours make this error, rather than NumPy on the inside?"""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    assert trace is not None
    line = linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return type(error).__module__ == "builtins" and line.strip().startswith("raise ")


# -- derivatives ------------------------------------------------------------------------------------------------------

STEP = 1e-5
# Central differences of step h are wrong by h**2 times a third derivative and by rounding, 1e-16 / h.
NUMERIC = 1e-7


def random_like(arrays: Sequence[Array], seed: int = 1) -> list[Array]:
    """Random numbers of the shapes and kinds (real or complex) of these arrays."""
    return [random_array((seed, i), x.shape, x.dtype.kind == "c").astype(x.dtype) for i, x in enumerate(arrays)]


@functools.cache
def random_array(seed: tuple[int, int], shape: tuple[int, ...], is_complex: bool) -> Array:
    real, imaginary = [numbers.uniform((*seed, part), shape, -1, 1) for part in range(2)]
    return real + 1j * imaginary if is_complex else real


def inner(a: Array, b: Array) -> float:
    """Re <a, b>, the product in which a gradient turns a change of the input into a change of the loss."""
    return float(np.sum(np.real(np.conj(a) * b)))


def numeric_slope(
    f: Callable[[list[Array]], list[Array]],
    at: Sequence[Array],
    cotangents: Sequence[Array],
    directions: Sequence[Array],
) -> float:
    """How fast L = Re <cotangents, f> changes at a place in a direction, by central differences."""
    ends = []
    for step in (STEP, -STEP):
        values = f([x + step * d for x, d in zip(at, directions, strict=True)])
        ends.append(sum([inner(c, y) for c, y in zip(cotangents, values, strict=True)]))
    return (ends[0] - ends[1]) / (2 * STEP)


def numeric_gradient(
    f: Callable[[list[Array]], list[Array]], at: Sequence[Array], cotangents: Sequence[Array]
) -> list[Array]:
    """The gradient of L, element by element: dL/dRe(x) + i dL/dIm(x), which is what PyTorch calls the gradient of a
    complex x (the conjugate of the Wirtinger derivative)."""
    gradients = [np.zeros_like(x) for x in at]
    for i, x in enumerate(at):
        for place in np.ndindex(x.shape):
            for unit in (1.0, 1j) if x.dtype.kind == "c" else (1.0,):
                directions = [np.zeros_like(y) for y in at]
                directions[i][place] = unit
                gradients[i][place] += unit * numeric_slope(f, at, cotangents, directions)
    return gradients


def differentiable(outputs: Sequence[Any]) -> list[Any]:
    return [t for t in outputs if t.array.dtype.kind not in "biu"]


def gradients(
    case: Case, leaves: Sequence[Any], cotangents: Sequence[Any] | None = None, create_graph: bool = False
) -> list[Any]:
    """The gradients of a call's float results with respect to its leaves, as tensors; zeros where nothing flows."""
    outputs = differentiable(case.outputs())
    given = [wrap(c) for c in random_like([t.array for t in outputs])] if cotangents is None else cotangents
    used = [(o, c) for o, c in zip(outputs, given, strict=True) if o.requires_grad]
    if not used:
        return [wrap(np.zeros_like(t.array)) for t in leaves]
    outs, cots = zip(*used, strict=True)
    return list(lg.autograd.grad(outs, leaves, cots, create_graph=create_graph, materialize_grads=True))


def values_at(case: Case, arrays: Sequence[Array]) -> list[Array]:
    """The call's float results for other values of its leaves, computed without recording."""
    return [t.array for t in differentiable(case.at(arrays).outputs())]


def check_gradient(case: Case) -> None:
    """First derivatives against central differences of the values."""
    leaves = case.leaves()
    cotangents = random_like([t.array for t in differentiable(case.outputs())])
    found = gradients(case, leaves, [wrap(c) for c in cotangents])
    expected = numeric_gradient(lambda xs: values_at(case, xs), [t.array for t in leaves], cotangents)
    for i, (g, e) in enumerate(zip(found, expected, strict=True)):
        assert_close(g.array, e, NUMERIC, "gradient", i, "of", case)


def check_second_gradient(case: Case) -> None:
    """Derivatives of the first gradient, with respect to inputs and cotangents, against its central differences."""
    leaves = case.leaves()
    cotangents = [wrap(c).requires_grad_() for c in random_like([t.array for t in differentiable(case.outputs())])]
    first = gradients(case, leaves, cotangents, create_graph=True)
    outer = random_like([g.array for g in first], seed=2)
    variables = [*leaves, *cotangents]
    used = [(g, wrap(c)) for g, c in zip(first, outer, strict=True) if g.requires_grad]
    found = [wrap(np.zeros_like(v.array)) for v in variables]
    if used:
        grads, cots = zip(*used, strict=True)
        found = list(lg.autograd.grad(grads, variables, cots, materialize_grads=True))

    def first_gradient(arrays: list[Array]) -> list[Array]:
        there = case.at(arrays[: len(leaves)])
        return [g.array for g in gradients(there, there.leaves(), [wrap(c) for c in arrays[len(leaves) :]])]

    at = [v.array for v in variables]
    for seed in (3, 4, 5):  # directions at random instead of every element: a wrong derivative shows in any of them
        directions = random_like(at, seed)
        slope = sum([inner(g.array, d) for g, d in zip(found, directions, strict=True)])
        expected = numeric_slope(first_gradient, at, outer, directions)
        assert_close(np.asarray(slope), np.asarray(expected), NUMERIC, "second gradient of", case)


# -- the rules themselves ---------------------------------------------------------------------------------------------


class Recorded:
    """One use of an operation's own rule: on which arrays and options, with which result, and the rule to call."""

    def __init__(self, rule: Callable[..., Any], saved: Any, arrays: Any, options: Any, edges: Any, g: Any) -> None:
        self.rule, self.saved, self.arrays, self.options, self.edges, self.g = rule, saved, arrays, options, edges, g

    def vjp(self, g: Any) -> list[Any]:
        """What the rule makes of a gradient, before the engine brings it to the form of the inputs."""
        results = self.rule(g, self.saved, self.edges)
        return [None if edge is None else r for r, edge in zip(results, self.edges, strict=True)]

    def fitted(self, g: Any) -> list[Any]:
        """The same, in the form of the inputs."""
        return [
            None if r is None else unbroadcast(r, x.shape, x.dtype)
            for r, x in zip(self.vjp(g), self.arrays, strict=True)
        ]


@contextmanager
def recording_everything(operation: Operation) -> Iterator[list[Recorded]]:
    """Let an operation save all its inputs and options, whatever its rules ask for, and note each use of its rule."""
    core, uses = operation.core, []
    rules = core.gradient_rules()
    for twin in operation.named.values():  # it has the same rules, and keeps them
        twin.gradient_rules()
    saves, rule, keeps, vjp_in_place = rules.saves, core.backward, core.keeps, core.vjp_in_place

    def save_all(mask: int) -> tuple[int, ...]:
        if operation.is_pair:
            return (0, 1, OUT)
        count = mask.bit_length() if operation.variadic else len(operation.inputs)
        return (*saves(mask), *range(count), *[OPTION + i for i in range(len(operation.options))])

    def noted(g: Any, saved: tuple[Any, ...], edges: tuple[Any, ...]) -> Any:
        count, plan = len(edges), saves(sum([1 << i for i, edge in enumerate(edges) if edge is not None]))
        if operation.is_pair:
            use = Recorded(rule, saved, saved[:2], (), edges, g)
        elif len(saved) == len(plan):  # recorded by hand, for speed: only the shape of its one input is known
            named = dict(zip(plan, saved, strict=True))
            options = tuple([named[OPTION + i] for i in range(len(operation.options))])
            use = Recorded(rule, saved, (np.zeros(named[SHAPE]),), options, edges, g)
        else:
            own = len(plan)
            use = Recorded(rule, saved[:own], saved[own : own + count], saved[own + count :], edges, g)
        uses.append(use)
        return rule(g, use.saved, edges)

    core.rules = GradientRules(noted, save_all, rules.saved_names, rules.hidden, None)
    core.backward, core.vjp_in_place, core.keeps = noted, None, [7] * len(keeps)
    core.plans.clear()
    try:
        yield uses
    finally:
        core.rules, core.backward, core.vjp_in_place, core.keeps = rules, rule, vjp_in_place, keeps
        core.plans.clear()


def uses_of(operation: Operation, case: Case) -> list[Recorded]:
    """Every use of an operation's rule in the backward pass of one call."""
    with recording_everything(operation) as uses:
        gradients(case, case.leaves())
    return uses


def nodes_behind(tensors: Sequence[Any]) -> list[Node]:
    """The graph behind these tensors."""
    found: dict[int, Node] = {}
    stack = [t.node for t in tensors]
    while stack:
        node = stack.pop()
        if isinstance(node, Node) and id(node) not in found:
            found[id(node)] = node
            stack += node.inputs
    return list(found.values())


def saved_arrays(tensors: Sequence[Any]) -> list[Array]:
    """Every array that the graph behind these tensors has saved."""
    saved = [node.saved for node in nodes_behind(tensors) if isinstance(node.saved, tuple)]
    return [value for values in saved for value in values if isinstance(value, np.ndarray)]


def overlap(a: Any, b: Any) -> bool:
    """Do two arrays share memory? NumPy scalars and empty arrays have none to share."""
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and bool(np.shares_memory(a, b))
