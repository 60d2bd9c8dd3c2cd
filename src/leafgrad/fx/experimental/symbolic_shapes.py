"""Questions about sizes that a tracer may not know. Here every size is a number, so a condition holds or does not."""

from __future__ import annotations

from leafgrad import _missing

__all__ = ["guard_or_false", "guard_or_true", "guard_size_oblivious", "is_concrete_int", "statically_known_true"]


def statically_known_true(x: object) -> bool:
    """statically_known_true(x): does x hold?"""
    return bool(x)


guard_or_false = guard_or_true = guard_size_oblivious = statically_known_true


def is_concrete_int(a: object) -> bool:
    """is_concrete_int(a): is a a number, and no symbol?"""
    if not isinstance(a, int):
        raise AssertionError(f"expected an int, got {type(a)}")
    return True


__getattr__ = _missing.attributes_of(__name__)
