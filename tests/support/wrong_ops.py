"""Operations made wrong from outside: kernels that return other numbers, rules that return other gradients."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
from leafgrad._core.modes import Mode, Observer
from leafgrad._core.tensor import as_array, wrap
from leafgrad.func.batched_array import BatchedArray
from leafgrad.ops.registry import Composite, registry
from leafgrad.ops.sparse.arrays import AnySparse


def changed(out: Any) -> Any:
    """Another result of the same shape and dtype: one percent more, and a bit, so that zeros change as well."""
    if isinstance(out, BatchedArray):
        return BatchedArray(changed(out.value), out.level)
    if isinstance(out, AnySparse):
        return out.with_values(changed(out.values))
    out = np.asarray(out)
    if out.dtype.kind == "b":
        return ~out
    return out + 1 if out.dtype.kind in "iu" else (out * 1.01 + 0.015625).astype(out.dtype)


class WrongKernel(Observer):
    """While it is active, the kernel of one operation returns something else, wherever it is used."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def observe(self, op: Any, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Any) -> Any:
        written, out = out, below(op, arrays, options, out)
        if op.name != self.name:
            return out
        if written is not None:
            for each in written if isinstance(written, list) else [written]:
                each[...] = changed(each)
            return out
        if registry[self.name].finds:
            return changed(out[0]), out[1]
        return [changed(o) for o in out] if isinstance(out, (list, tuple)) else changed(out)


@contextmanager
def wrong_function(composite: Composite) -> Iterator[None]:
    """The same for a function composed of operations."""

    def change(result: Any) -> Any:
        if isinstance(result, lg.Tensor):
            return wrap(changed(result.array))
        return [change(one) for one in result] if isinstance(result, (list, tuple)) else result

    function, name = composite.function, composite.name
    for place in (
        lg,
        lg.Tensor,
    ):  # all its forms are made when the first of them is used, which must not be a wrong one
        getattr(place, name, None)
    wrong = lambda *args, **kwargs: change(function(*args, **kwargs))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(composite, "function", wrong)
        if getattr(getattr(lg.Tensor, name, None), "__wrapped__", None) is function:
            patch.setattr(lg.Tensor, name, wrong)
        for module in (lg, lg.nn.functional):
            if name in vars(module):
                patch.setattr(module, name, wrong)
        for place in composite.places:
            operator.attrgetter(place)(lg)
            patch.setattr(f"leafgrad.{place}", wrong)
        yield


class WrongRule(Mode):
    """While it is active, gradients that the rule of one operation computes are changed, wherever it is used."""

    def __init__(self, name: str, change: Callable[[Any], Any]) -> None:
        super().__init__()
        self.name = name
        self.change = change

    def run_rule(self, node: Any, g: Any, saved: Any, inputs: Any, below: Any) -> Sequence[Any]:
        results = below(node, g, saved, inputs)
        if node.op.name != self.name:
            return results  # type: ignore[no-any-return]
        tensors = [None if r is None or at is None else raw_tensor(r) for r, at in zip(results, inputs, strict=True)]
        changed = [None if t is None else self.changed(t) for t in tensors]
        return [c if c is None or isinstance(r, lg.Tensor) else c.array for c, r in zip(changed, results, strict=True)]

    def changed(self, t: Any) -> Any:
        """Of a sparse gradient the values are changed."""
        if not isinstance(t.array, AnySparse):
            return self.change(t)
        return wrap(t.array.with_values(self.change(wrap(t.array.values)).array))


def raw_tensor(value: Any) -> Any:
    return value if isinstance(value, lg.Tensor) else wrap(as_array(value))


def wrong_rule(name: str, change: Callable[[Any], Any]) -> Callable[..., Any]:
    """`autograd.grad`, with a wrong rule."""

    def grad(*args: Any, **kwargs: Any) -> Any:
        with WrongRule(name, change):
            return lg.autograd.grad(*args, **kwargs)

    return grad
