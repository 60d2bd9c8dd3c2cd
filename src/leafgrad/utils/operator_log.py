"""The log of operations that `checkpoint(..., debug=True)` shows if the two runs of a function differ."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from leafgrad._core.modes import Below, Observer
from leafgrad._core.op import Op
from leafgrad._core.tensor import as_array
from leafgrad._dtypes import from_numpy_dtype
from leafgrad.autograd.anomaly_mode import forward_lines
from leafgrad.ops.aten import named


class OperatorLog(Observer):
    """Writes down each operation inside, as "$2: f32[3] = torch._ops.aten.exp.default($1)", and the lines of the
    program that led to it. $0, $1, ... are arrays in the order of their first appearance."""

    wants_tensors = False

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[str] = []
        self.stacks: list[list[str]] = []
        self._numbers: dict[int, tuple[Any, int]] = {}
        self._next = 0

    def __enter__(self) -> Any:
        self.__init__()  # type: ignore[misc]  # the latest run is the one to show
        return super().__enter__()

    def observe(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Below) -> Any:
        given = [self._name(a) if isinstance(a, np.ndarray) else repr(a) for a in arrays if a is not None]
        given += [repr(option) for option in options if option is not None]
        out = below(op, arrays, options, out)
        outs = [as_array(o) for o in out] if isinstance(out, (list, tuple)) else [as_array(out)]
        made = ", ".join([f"{self._name(o)}: {form(o)}" for o in outs])
        self.rows.append(f"{made} = torch._ops.{named(op)}({', '.join(given)})")
        self.stacks.append(forward_lines())
        return out if isinstance(out, (list, tuple)) else outs[0]

    def _name(self, array: Any) -> str:
        known = self._numbers.get(id(array))
        if known is None or known[0]() is not array:  # the same id again, after the first one has died
            known = self._numbers[id(array)] = (weakref.ref(array), self._next)
            self._next += 1
        return f"${known[1]}"


def form(array: Any) -> str:
    """dtype and shape in short: f32[3, 2]."""
    kind = from_numpy_dtype(array.dtype)
    letter = "b" if kind.np.kind == "b" else {"f": "f", "c": "c", "i": "i", "u": "u"}.get(kind.np.kind, "bf")
    return f"{letter}{kind.itemsize * 8}[{', '.join(map(str, array.shape))}]"


def mismatch_with_logs(forward: OperatorLog, again: OperatorLog) -> str:
    """The message for two runs that differ."""

    def traces(log: OperatorLog, which: str) -> str:
        parts = []
        for i, (row, stack) in enumerate(zip(log.rows, log.stacks, strict=True)):
            parts.append(f"{row}   ({i + 1} of {len(log.rows)} in {which})\n\n{''.join(stack)}")
        return "\n".join(parts)

    first = next((i for i, pair in enumerate(zip(forward.rows, again.rows)) if pair[0] != pair[1]), None)
    if first is None:
        where = "One of the runs goes on where the other ends."
    else:
        where = f"The first difference: {forward.rows[first]}   and then   {again.rows[first]}"
    nl = "\n"
    return (
        " An error happened while unpacking tensors; dumping logs of latest computation\nbecause you passed "
        "`debug=True` to `torch.utils.checkpoint.checkpoint()`.\n\n"
        f"1. Where the operations of the original forward were called\n\n{traces(forward, 'original')}\n"
        f"2. Where the operations of the recomputation were called\n\n{traces(again, 'recompute')}\n"
        f"3. Operations executed during the original forward:\n\n{nl.join(forward.rows)}\n\n"
        f"   Operations executed during recomputation:\n\n{nl.join(again.rows)}\n\n"
        "ERROR: Detected non-determinism while running activation checkpointing\n\n"
        f"You are seeing this error because you passed `debug=True` to checkpoint. {where}"
    )
