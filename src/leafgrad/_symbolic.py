"""Sizes that a compiler does not know yet, torch.SymInt and the like. Here every size is a number: the classes have no
objects, for programs that ask `isinstance(size, torch.SymInt)`, and the functions compute with numbers."""

from __future__ import annotations

import math
from typing import Any


class SymInt:
    """SymInt: a size that only a compiler has. There are none here."""

    def __init__(self, *args: Any) -> None:
        raise TypeError(f"leafgrad has no objects of {type(self).__name__}: every size is a number")


class SymFloat(SymInt):
    """SymFloat: a number that only a compiler has. There are none here."""


class SymBool(SymInt):
    """SymBool: a truth value that only a compiler has. There are none here."""


def sym_int(a: Any) -> int:
    """sym_int(a): the integer of a number, rounded towards zero."""
    return int(a)


def sym_float(a: Any) -> float:
    """sym_float(a): float(a)"""
    return float(a)


def sym_max(a: Any, b: Any) -> Any:
    """sym_max(a, b): the larger of two numbers; a float if one of them is."""
    return _alike(max(a, b), a, b)


def sym_min(a: Any, b: Any) -> Any:
    """sym_min(a, b): the smaller of two numbers; a float if one of them is."""
    return _alike(min(a, b), a, b)


def _alike(found: Any, *given: Any) -> Any:
    return float(found) if any(isinstance(number, float) for number in given) else found


def sym_not(a: Any) -> bool:
    """sym_not(a): not a"""
    return not a


def sym_sqrt(a: Any) -> float:
    """sym_sqrt(a): the square root of a number."""
    return math.sqrt(a)


def sym_sum(*args: Any) -> Any:
    """sym_sum(args): the sum of numbers, or of a list of them."""
    return sum(args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args)


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """sym_ite(b, t, f): t if b else f"""
    return t if b else f


def cond(pred: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
    """cond(pred, true_fn, false_fn, operands=()): true_fn(*operands) if pred is true, otherwise false_fn(*operands)."""
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"Expect operands to be a tuple of possibly nested dict/list/tuple, got {operands}.")
    return (true_fn if bool(pred) else false_fn)(*operands)
