"""The first operation of a backward pass that makes nan or inf, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from leafgrad._core.node import Node, Output
from leafgrad._core.tensor import TensorBase
from leafgrad._explain.known_values import Values, first_bad, is_finite, public_name
from leafgrad._explain.masked_nan import Mask, Unsafe, rewrite, shift
from leafgrad._explain.quantities import number, plural
from leafgrad._explain.source_edits import Fix, expression_of, lines_of
from leafgrad.errors.form import size
from leafgrad.errors.naming import Place, find, name_of, place_of
from leafgrad.ops.registry import registry

GRADIENT, VALUE, INPUT = "gradient", "value", "input"
LONGEST = 10_000  # steps back to the loss
MOST = 5  # operations that are blamed in one report


class Input(NamedTuple):
    """One input of the operation: what the program calls it, and in which range its values lie."""

    name: str
    shape: tuple[int, ...]
    lowest: float
    highest: float
    nonfinite: int

    def __str__(self) -> str:
        if self.lowest > self.highest:  # nothing is finite
            return f"{self.name} {size(self.shape)}, all nan or inf"
        low, high = number(self.lowest), number(self.highest)
        lies = f"{self.name} {size(self.shape)} " + (f"from {low} to {high}" if low != high else f"= {low}")
        return lies + (f" and {plural(self.nonfinite, 'nan or inf', 'nan or inf')}" if self.nonfinite else "")


class Culprit(NamedTuple):
    """The operation that made the first nan or inf."""

    what: str  # "nan" or "inf"
    operation: str
    place: Place
    made_by: str  # "gradient": its rule; "value": the operation itself; "input": neither, it was given to it
    inputs: list[Input]
    reasons: list[str]
    fix: Fix | None

    def first_line(self, also: bool = False) -> str:
        when, how = "also" if also else "first", "seen" if self.made_by == INPUT else "made"
        return f"{self.what} {when} {how} at {self.place}"

    def lines(self) -> list[str]:
        """The rest: the inputs' ranges and the reason."""
        result = [f"{self.operation} of {one}" if i == 0 else f"  and {one}" for i, one in enumerate(self.inputs)]
        return result + self.reasons

    def to_dict(self) -> dict[str, Any]:
        return {
            "what": self.what,
            "operation": self.operation,
            "line": self.place.spot,
            "source": self.place.source,
            "made_by": self.made_by,
            "inputs": [one._asdict() for one in self.inputs],
            "reasons": self.reasons,
            "fix": [] if self.fix is None else [str(line) for line in lines_of([self.fix])],
        }


class Arrival(NamedTuple):
    """A gradient on its way: who sent it, which input of the sender it was for, what the sender itself was given."""

    sender: Node
    at: int
    given: Any
    sent: Any


class Finder:
    """Looks at a backward pass, node by node, for rules that make nan or inf of finite gradients: `culprits`."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.arrivals: dict[Any, list[Arrival]] = {}
        self.culprits: list[Culprit] = []
        self.seen: set[tuple[Any, int]] = set()  # where they were recorded: a line in a loop is one

    def visit(self, node: Node, g: Any, results: Sequence[Any]) -> bool:
        """Look at one node; True if nothing more has to be looked at."""
        given = array_of(g)
        if self.culprits and not all(map(is_finite, given if isinstance(given, list) else [given])):
            return False  # it follows from what was found before
        sent = [array_of(r) for r in results]
        for i, (target, r) in enumerate(zip(node.inputs, sent, strict=False)):
            if target is None or not isinstance(r, np.ndarray | np.generic):  # absent, or of a vmap
                continue
            if not is_finite(r):
                if (node.code, node.lasti) not in self.seen:
                    self.seen.add((node.code, node.lasti))
                    self.culprits.append(self.explained(node, i, given, r))
                return len(self.culprits) >= MOST
            place = target.parent if isinstance(target, Output) else target
            self.arrivals.setdefault(place, []).append(Arrival(node, i, given, r))
        return False

    def explained(self, node: Node, index: int, g: Any, r: Any) -> Culprit:
        what = "nan" if np.isnan(r).any() else "inf"
        bad = ~np.isfinite(r)
        unsafe = Unsafe(node, index, bad, g, self.values).or_another_input()
        if g.__class__ is list:
            return self.culprit_of(node, what, GRADIENT, [], None)
        if not is_finite(np.asarray(g)):
            return self.culprit_of(node, what, INPUT, ["backward() was given a gradient that is not finite"], None)
        mask = None
        if np.shape(g) == bad.shape and not np.asarray(g)[bad].any():
            mask = self.mask_of(node, bad)
            if mask is not None and len(mask.node.inputs) == 1 and not self.is_finite_at(mask.node, bad):
                mask = None  # not used, but not hidden either: log(exp(200)) is inf
        if (at := first_bad(self.values.inputs_of(node))) is not None and not self.is_meant(node):
            return self.in_forward(node, at, what, mask)
        if mask is not None:
            return self.masked(unsafe, what, mask)
        result = self.values.of(node)
        where = self.where_bad(unsafe)
        if result is not None and not is_finite(result):
            held = "nan" if np.isnan(result).any() else "inf" if (result == np.inf).any() else "-inf"
            return self.culprit_of(node, held, VALUE, [f"its result is {held}{where}"], shift(unsafe))
        reasons = [f"{public_name(node)}'s slope{where} is {self.slope(unsafe)}"]
        return self.culprit_of(node, what, GRADIENT, reasons, shift(unsafe))

    def silenced_at(self, place: Any) -> Node | None:
        """The operation that made the gradient of a leaf nothing but zeros: the first on the way back to the loss that
        was given something else itself. None if there are several ways, or if that is not known."""
        for _ in range(LONGEST):
            arrivals = self.arrivals.get(place, ())
            if len(arrivals) != 1 or arrivals[0].given is None or isinstance(arrivals[0].given, list):
                return None
            if np.any(arrivals[0].given):
                return arrivals[0].sender
            place = arrivals[0].sender
        return None

    # -- values that were nan or inf before ---------------------------------------------------------------------------

    def in_forward(self, node: Node, at: int, what: str, mask: Mask | None) -> Culprit:
        """The value of an input is nan or inf: go back to where it became so."""
        chain = [node]
        while True:
            source = node.inputs[at]
            value = self.values.inputs_of(node)[at]
            kind = "nan" if np.isnan(value).any() else "inf"
            if not isinstance(source, Node):
                return self.given(node, at, kind)
            source = source.parent if isinstance(source, Output) else source
            behind = first_bad(self.values.inputs_of(source))
            if behind is None or self.is_meant(source):
                break
            node, at = source, behind
            chain.append(node)
        if self.is_meant(source):  # an inf that the program put there: what was made of it is the point
            reason = f"the inf in its input {'were' if value.size > 1 else 'was'} put there by {place(source)}"
            return self.culprit_of(node, what, VALUE, [reason], None)
        unsafe = self.unsafe_in(source, value)
        if unsafe is not None and mask is not None and mask.unused is not None and mask.unused.shape == value.shape:
            return self.masked(unsafe, what, mask, chain[0])
        where = "" if unsafe is None else self.where_bad(unsafe)
        reasons = [f"its result is {kind}{where}"]
        if kind != what:
            turned = [one for one in reversed(chain) if (v := self.values.of(one)) is not None and np.isnan(v).any()]
            last = turned[0] if turned else chain[0]
            reasons[0] += f", and {public_name(last)} makes {what} of it: {place(last)}"
        return self.culprit_of(source, kind, VALUE, reasons, None if unsafe is None else shift(unsafe))

    def unsafe_in(self, node: Node, result: Any) -> Unsafe | None:
        """The input that made a result nan or inf: the only one, or the one that is the same wherever it is so."""
        bad = ~np.isfinite(result)
        for i, value in enumerate(self.values.inputs_of(node)):
            if value is not None and fits(value.shape, bad.shape):
                found = np.broadcast_to(value, bad.shape)[bad]
                if len(node.inputs) == 1 or np.unique(found).size == 1:
                    return Unsafe(node, i, bad, np.ones(bad.shape, result.dtype), self.values)
        return None

    def given(self, node: Node, at: int, kind: str) -> Culprit:
        """What is not finite is a leaf, or data."""
        source, value = node.inputs[at], self.values.inputs_of(node)[at]
        count = int((~np.isfinite(value)).sum())
        name = name_of(source) if isinstance(source, TensorBase) else name_of_array(value)
        held = f"{name or 'an input'} {size(value.shape)} holds {count:,} nan or inf before anything is computed"
        return self.culprit_of(node, kind, INPUT, [held], None)

    def is_meant(self, node: Node) -> bool:
        """Did the program give this operation an infinite number, as masked_fill(mask, -inf) does?"""
        operation = registry.get(node.op.name)
        if operation is None:
            return False
        inputs = self.values.inputs_of(node)
        if "mask" in operation.inputs or "condition" in operation.inputs:
            # the number is not saved, but these make no infinite ones of finite ones
            result = self.values.of(node)
            tensors = [value for value, source in zip(inputs, node.inputs, strict=True) if source is not None]
            return result is not None and not is_finite(result) and first_bad(tensors) is None
        constants = [value for value, source in zip(inputs, node.inputs, strict=True) if source is None]
        options = [value for value in self.values.options_of(node) if isinstance(value, float | np.ndarray)]
        numbers = [np.asarray(v) for v in (*constants, *options) if v is not None and np.ndim(v) == 0]
        return any([not is_finite(v) for v in numbers])

    # -- masks --------------------------------------------------------------------------------------------------------

    def mask_of(self, node: Node, bad: Any) -> Mask | None:
        """The operation that made the gradient of the bad elements 0: the first on the way back to the loss that was
        given something else itself."""
        for _ in range(LONGEST):
            arrivals = self.arrivals.get(node, ())
            if len(arrivals) != 1:
                return None
            sender, index, given, sent = arrivals[0]
            if given is None or given.__class__ is list:
                return None
            if np.shape(given) != np.shape(sent):  # a selection, if what it leaves out can be told
                unused = np.asarray(sent == 0) if np.shape(sent) == bad.shape else None
                return Mask(sender, index, unused) if np.any(given) and unused is not None else None
            if not fits(bad.shape, np.shape(given)):
                return None
            stretched = np.shape(given) != bad.shape  # one element is used or not in several places
            bad = np.broadcast_to(bad, np.shape(given))
            if np.asarray(given)[bad].any():
                return Mask(sender, index, None if stretched else np.asarray((sent == 0) & (given != 0)))
            if stretched:
                return None
            node = sender
        return None

    def is_finite_at(self, node: Node, bad: Any) -> bool:
        """Is the result of an operation finite at some elements, as far as that is known?"""
        result = self.values.of(node)
        return result is None or result.shape != bad.shape or is_finite(result[bad])

    def masked(self, unsafe: Unsafe, what: str, mask: Mask, by: Node | None = None) -> Culprit:
        """An operation whose result is not used where its slope is infinite; or where its result is, of which the
        rule of another one, `by`, makes nan."""
        node, name = unsafe.node, public_name(mask.node)
        slope, of = (self.slope(unsafe), "slope") if by is None else ("inf", "result")
        result = None if by is None else self.values.of(node)
        if result is not None:
            slope = number(result[unsafe.bad].ravel()[0])
        entry = registry.get(mask.node.op.name)
        flat = entry is not None and entry.jvp == "elementwise" and len(mask.node.inputs) == 1
        zero = f"{name}'s slope there is 0" if flat else f"{name} does not use these elements: their gradient is 0"
        reasons = [
            f"{public_name(node)}'s {of}{self.where_bad(unsafe)} is {slope}; {zero}, and 0 * {slope} is {what}",
        ]
        if place(mask.node) != place(node):
            reasons.append(f"{name}   {place(mask.node)}")
        return self.culprit_of(node, what, GRADIENT, reasons, rewrite(unsafe, mask))

    def where_bad(self, unsafe: Unsafe) -> str:
        """` at x = 0`: the values at which it happens."""
        value = unsafe.input()
        if value is None or not value.size:
            return ""
        found = np.unique(value[unsafe.bad])
        expression = expression_of(unsafe.node)
        operand = None if expression is None else expression.operand(unsafe.at)
        name = "its input" if expression is None or operand is None else expression.of(operand)
        if found.size == 1:
            return f" at {name} = {number(found[0])}"
        return f" at {name} from {number(found[0])} to {number(found[-1])}"

    def slope(self, unsafe: Unsafe) -> str:
        value = unsafe.input()
        ones = np.ones(unsafe.bad.shape, unsafe.node.dtype)
        found = None if value is None else unsafe.gradients_with(value, ones)
        slopes = np.concatenate([r[unsafe.bad] for r in found or () if r.shape == unsafe.bad.shape] or [[np.inf]])
        return "nan" if np.isnan(slopes).any() else "-inf" if (slopes == -np.inf).all() else "inf"

    # -- the result ---------------------------------------------------------------------------------------------------

    def culprit_of(self, node: Node, what: str, made_by: str, reasons: list[str], fix: Fix | None) -> Culprit:
        at = place_of(node.code, node.lasti)
        return Culprit(what, public_name(node), at, made_by, self.ranges(node), reasons, fix)

    def ranges(self, node: Node) -> list[Input]:
        expression = expression_of(node)
        found = []
        for i, value in enumerate(self.values.inputs_of(node)):
            source = node.inputs[i]
            if value is None or not value.size or value.dtype.kind not in "fiu" or (source is None and not value.ndim):
                continue
            operand = None if expression is None else expression.operand(i)
            if expression is not None and operand is not None:
                name = expression.of(operand)
            else:
                name = (name_of(source) if isinstance(source, TensorBase) else None) or f"input {i}"
            finite = value[np.isfinite(value)]
            low, high = (float(finite.min()), float(finite.max())) if finite.size else (np.inf, -np.inf)
            found.append(Input(name, tuple(value.shape), low, high, int(value.size - finite.size)))
        return found


def array_of(g: Any) -> Any:
    if isinstance(g, list):
        return [array_of(one) for one in g]
    return g.array if isinstance(g, TensorBase) else g


def place(node: Node) -> Place:
    return place_of(node.code, node.lasti)


def name_of_array(array: Any) -> str | None:
    found = find(lambda t: t.array is array)
    return None if found is None else found.name


def fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Can a value of this shape be stretched to another?"""
    return len(shape) <= len(whole) and all([a in (1, b) for a, b in zip(shape[::-1], whole[::-1], strict=False)])
