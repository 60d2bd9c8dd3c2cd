"""The nan that comes out of a mask: an operation has an infinite slope where its result is not used, `where` and its
like send it the gradient 0 there, and 0 * inf is nan. The cure is a second `where`, before the operation, so that it
never sees such an element:

    torch.where(x > 0, x.sqrt(), x)                                    nan at x = 0
    torch.where(x > 0, torch.where(x > 0, x, 1.).sqrt(), x)            right

The rewritten lines are made from the user's own source, and only if the values that are known confirm that the
replaced elements are unused.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

import numpy as np

from leafgrad._core.node import Node
from leafgrad._core.op import OUT
from leafgrad._explain.known_values import UNKNOWN, Values
from leafgrad._explain.source_edits import (
    Expression,
    Fix,
    Piece,
    assigned_between,
    encloses,
    expression_of,
    in_parentheses,
    is_module,
)
from leafgrad.errors.dataflow import names_in
from leafgrad.errors.naming import library, quietly
from leafgrad.ops.registry import registry

SAFE = (1.0, 0.5, 2.0, 0.0)  # numbers that may take the place of an unused element
SHIFTS = (1e-12, 1e-8, 1e-4)  # numbers that may keep an argument away from 0
ONE_SIDED = {">": np.greater, "!=": np.not_equal, "<": np.less}


class Unsafe(NamedTuple):
    """An operation, the input whose gradient is nan or inf, and where."""

    node: Node
    at: int
    bad: Any  # a mask of the elements
    g: Any  # the gradient that it was given
    values: Values

    def input(self) -> Any:
        """The value of the input, in the shape of the mask, or None."""
        value = self.values.inputs_of(self.node)[self.at]
        return None if value is None else np.broadcast_to(value, self.bad.shape)

    @quietly
    def gradients_with(self, x: Any, g: Any) -> list[Any] | None:
        """What the rule returns for all inputs if this one is `x`."""
        node = self.node
        places = self.values.saved_places(node)
        arrays = self.values.inputs_of(node)
        arrays[self.at] = x
        saved = []
        for place, old in places:
            if place == self.at:
                saved.append(x)
            elif place == OUT:
                options = self.values.options_of(node)
                if any([value is UNKNOWN for value in options]):
                    return None
                saved.append(np.asarray(node.op.kernel(*arrays, *options)))
            else:
                saved.append(old)
        results = node.op.backward(g, tuple(saved), node.inputs) if places else ()
        return [np.asarray(r) for r, source in zip(results, node.inputs, strict=False) if source is not None]

    def is_mended_by(self, x: Any, g: Any) -> bool:
        """Are all gradients finite if the input is `x`?"""
        found = self.gradients_with(x, g)
        return bool(found) and all([np.isfinite(r).all() for r in found or ()])

    def safe_number(self) -> str | None:
        """A number for unused elements at which the slope is finite."""
        ones = np.ones(self.bad.shape, self.node.dtype)
        for number in SAFE:
            if self.is_mended_by(np.full(self.bad.shape, number, self.node.dtype), ones):
                return f"{number:g}." if number == int(number) else f"{number:g}"
        return None

    def or_another_input(self) -> Unsafe:
        """The same with that of the inputs whose value is to blame: of a / b it is b, also if a's gradient is nan."""
        others = [i for i, value in enumerate(self.values.inputs_of(self.node)) if i != self.at and value is not None]
        candidates = [self, *[self._replace(at=i) for i in others]]
        return next((one for one in candidates if one.safe_number() is not None), self)


class Mask(NamedTuple):
    """The operation that does not use some elements, and which input of it leads to the unsafe one."""

    node: Node
    at: int
    unused: Any  # a mask of the elements whose gradient it makes 0; None if their shape is another


def rewrite(unsafe: Unsafe, mask: Mask) -> Fix | None:
    """What to write instead, or None."""
    inner, outer = expression_of(unsafe.node), expression_of(mask.node)
    if inner is None or outer is None:
        return None
    x = inner.operand(unsafe.at)
    number = unsafe.safe_number()
    if x is None or number is None:
        return None
    edits = with_its_condition(inner, outer, x, mask, number)
    edits = edits or with_own_condition(inner, outer, x, unsafe, mask, number)
    return Fix(inner.program, edits) if edits else None


def with_its_condition(
    inner: Expression, outer: Expression, x: ast.expr, mask: Mask, number: str
) -> list[Piece] | None:
    """The second `where` takes the condition of the first, if that is known where the unsafe operation stands."""
    found = condition(outer, mask, inner)
    if found is None or inner.code is not outer.code:
        return None
    tree, text, used_where_true = found
    if not outer.contains(inner):
        if inner.line >= outer.line or assigned_between(inner, outer.line - 1) & names_in([tree]):
            return None
    return inner.replacing(x, chosen(text, inner.of(x), number, used_where_true))


def chosen(condition: str, x: str, number: str, used_where_true: bool = True) -> str:
    first, second = (x, number) if used_where_true else (number, x)
    return f"{library()}.where({condition}, {first}, {second})"


def condition(outer: Expression, mask: Mask, inner: Expression) -> tuple[ast.expr, str, bool] | None:
    """The condition that a mask is made of, its text, and whether an element is used where it is true."""
    tree = outer.tree
    name = mask.node.op.name
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Mult):
        sides = [tree.left, tree.right]
        others = [side for side in sides if not outer.contains(inner) or not encloses(side, inner.tree)]
        other = others[0] if len(others) == 1 else sides[1 - mask.at]
        if isinstance(other, ast.Constant):
            return None
        text = outer.of(other)
        return other, text if isinstance(other, ast.Compare) else f"{in_parentheses(text, other)} != 0", True
    if isinstance(tree, ast.Subscript) and isinstance(tree.slice, ast.Compare):
        return tree.slice, outer.of(tree.slice), isinstance(tree.ctx, ast.Load)
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Attribute):
        return None
    inputs = registry[name].inputs if name in registry else ()
    method = not is_module(tree.func.value, outer.file)
    first = 0 if method else 1
    if "condition" in inputs:  # where(condition, input, other), input.where(condition, other)
        at = 0
    elif "mask" in inputs:  # masked_fill(input, mask, value)
        at = first
    else:
        return None
    given = dict(enumerate(tree.args)) | {one.arg: one.value for one in tree.keywords}
    found = given.get(at, given.get("condition", given.get("mask")))
    if not isinstance(found, ast.expr):
        return None
    return found, outer.of(found), mask.at == 1 if "condition" in inputs else False


def with_own_condition(
    inner: Expression, outer: Expression, x: ast.expr, unsafe: Unsafe, mask: Mask, number: str
) -> list[Piece] | None:
    """The second `where` asks the argument of the unsafe operation itself, if that picks unused elements only."""
    value = unsafe.input()
    if value is None or mask.unused is None or mask.unused.shape != value.shape or value.dtype.kind == "c":
        return None
    text = inner.of(x)
    operand = in_parentheses(text, x)
    for sign, holds in ONE_SIDED.items():
        used = holds(value, 0)
        if (used & unsafe.bad).any() or (~used & ~mask.unused).any():
            continue
        own = f"{operand} {sign} 0"
        safe = inner.replacing(x, chosen(own, text, number))
        known = condition(outer, mask, inner)
        if not safe or (known is not None and not changed_before(inner, outer) & names_in([known[0]])):
            return safe
        more = unless_changed(inner, outer, x) and mask_edits(inner, outer, unsafe, mask, own, used)
        return [*safe, *more] if more else None
    return None


def changed_before(inner: Expression, outer: Expression) -> set[str]:
    """The variables that may depend on the unsafe operation where the mask stands, as far as the lines between tell."""
    if inner.code is not outer.code or outer.contains(inner):
        return set()
    return assigned_between(inner, outer.line - 1)


def unless_changed(inner: Expression, outer: Expression, x: ast.expr) -> bool:
    """Do the variables of the argument still have their values where the mask stands?"""
    return inner.code is outer.code and not changed_before(inner, outer) & names_in([x])


def mask_edits(
    inner: Expression, outer: Expression, unsafe: Unsafe, mask: Mask, own: str, used: Any
) -> list[Piece] | None:
    """Where the mask itself depends on what the unsafe operation returns, it has to ask the argument as well: in the
    condition of a `where`, or, for `clamp` and its like, in a `where` around it with the number that they return."""
    known = condition(outer, mask, inner)
    if known is not None:
        same = np.array_equal(used, ~mask.unused) and known[2]
        return outer.replacing(known[0], own) if same else None
    result = unsafe.values.of(mask.node)
    if result is None or result.shape != used.shape or np.unique(result[~used]).size != 1:
        return None
    constant = f"{float(result[~used][0]):.9g}"
    constant = constant if set(constant) & set(".en") else f"{constant}."
    return outer.around(f"{library()}.where({own}, ", f", {constant})")


def shift(unsafe: Unsafe) -> Fix | None:
    """For an infinite slope at 0 that is used: the line with a small number added to the argument, if that is never
    negative."""
    inner = expression_of(unsafe.node)
    value = unsafe.input()
    if inner is None or value is None or value.dtype.kind == "c" or value.min() < 0 or (value[unsafe.bad] != 0).any():
        return None
    x = inner.operand(unsafe.at)
    if x is None:
        return None
    for number in SHIFTS:
        if unsafe.is_mended_by(value + np.asarray(number, value.dtype), unsafe.g):
            text = f"{in_parentheses(inner.of(x), x)} + {number:g}"
            called = isinstance(inner.tree, ast.Call) and x in inner.tree.args
            edits = inner.replacing(x, text if called else f"({text})")
            return Fix(inner.program, edits) if edits else None
    return None
