"""The update of a parameter as an operation: one formula, three speeds.

The inputs are the parameter, its gradient, and what an optimiser keeps for the parameter from step to step: names in
its state. The formula, a kernel (leafgrad/kernels/language.py), returns new values for all of them but the gradient.
What it does may depend on options only; an input that is there `only_if` an option is not zero is None otherwise.

On tensors the formula runs as it stands, and is recorded. On arrays it is one call for all parameters of a group: one
loop in machine code where leafgrad was compiled, otherwise a program of NumPy calls (leafgrad/optim/trace.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from leafgrad._core.tensor import TensorBase
from leafgrad.kernels.halves import converted
from leafgrad.kernels.language import as_written
from leafgrad.ops.pointwise.complex import view_as_complex, view_as_real
from leafgrad.ops.registry import Family, Operation
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.optim.trace import Formula, traced_updates

Array = Any

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


def in_place(formula: Formula, inputs: Sequence[str], only_if: Mapping[str, str] | None = None) -> Callable[..., Any]:
    """The kernel of an update with this formula."""
    function = as_written(formula)
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    count = len(names) - len(inputs)
    # for each input the number of the option on which it depends whether it is there
    asked = [names.index(only_if[name]) - len(inputs) if only_if and name in only_if else None for name in inputs]
    all_places = tuple(range(len(inputs)))
    native: Any = getattr(formula, "update", None)
    traced = traced_updates(function, len(inputs), as_vectors) if native is None else None

    def update_natively(arrays: list[Array], options: tuple[Any, ...]) -> None:
        places = all_places
        if only_if is not None:
            places = tuple([i for i, option in enumerate(asked) if option is None or options[option]])
        others = native(arrays, options, places)
        if others is None:  # a tensor among the options
            options = tuple([o if o.__class__ is tuple else float(o) for o in options])
            others = native(arrays, options, places)
        for number in others:
            own = arrays[number * len(places) : (number + 1) * len(places)]
            if own[0].__class__ is np.ndarray:
                as_vectors(lambda *vectors: natively_now([*vectors], options, places), *own)
            else:  # a batch of arrays, which computes as arrays do
                by_place = dict(zip(places, own))
                results = function(*[by_place.get(place) for place in all_places], *options)
                for place, new in zip((0, *all_places[2:]), results):
                    if place in by_place:
                        by_place[place][...] = new

    def natively_now(*args: Any) -> None:
        if native(*args):
            raise ValueError("output array is read-only")  # NumPy's words

    update = traced or update_natively

    def kernel(*args: Any) -> list[Array]:
        out: Any = args[-1]
        if out.__class__ is list:
            options = args[-1 - count : -1]
        else:  # not into given arrays
            end = len(args) - count
            options = args[end:]
            out = [np.empty_like(a) for a in args[:end]]
        if out[0] is not args[0]:
            for target, a in zip(out, args):
                target[...] = a
        update(out, options)
        return out  # type: ignore[no-any-return]

    kernel.formula, kernel.only_if = formula, only_if or {}  # type: ignore[attr-defined]
    return kernel


def as_vectors(run: Callable[..., Any], p: Array, g: Array, *kept: Array) -> None:
    """Run an update on vectors of float32 or float64 that stand for other arrays: 16-bit floats are computed in
    float32, complex numbers as pairs of real ones, arrays that are no plain block of memory in a copy."""
    real = _f64 if p.dtype.char in "dD" else _f32
    vectors = [a.reshape(-1) for a in (p, g.astype(p.dtype, copy=False), *kept)]
    # an array with even gaps has them as a vector, too
    vectors = [np.ascontiguousarray(v) if v.__class__ is np.ndarray else v for v in vectors]
    vectors = [v.view(real) if v.dtype.kind == "c" else v if v.itemsize > 2 else converted(v, real) for v in vectors]
    run(*vectors)
    for a, v in zip((p, *kept), (vectors[0], *vectors[2:])):
        if not np.may_share_memory(a, v):
            a[...] = (v.view(a.dtype) if a.dtype.kind == "c" else v).reshape(a.shape)
