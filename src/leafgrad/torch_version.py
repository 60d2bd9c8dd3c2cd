"""torch.torch_version: a version that is compared by its numbers, with strings and tuples as well."""

from __future__ import annotations

import re
from typing import Any

FORM = re.compile(r"v?(?P<numbers>\d+(\.\d+)*)[._-]?(?P<stage>[a-z]+)?[._-]?(?P<count>\d*)(\+(?P<local>[\w.-]+))?")
BEFORE_RELEASE = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "c": -1, "rc": -1, "pre": -1}


class TorchVersion(str):
    """TorchVersion("2.13.0"): a string that is compared as a version; with what is no version, as a string."""

    __slots__ = ()

    def _compared(self, other: Any, method: str) -> Any:
        text = ".".join(map(str, other)) if isinstance(other, tuple | list) else str(other)
        own, others = order_of(self), order_of(text)
        if own is None or others is None:
            return getattr(str, method)(self, text)
        return getattr(tuple, method)(own, others)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, "__lt__")

    def __le__(self, other: Any) -> Any:
        return self._compared(other, "__le__")

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, "__gt__")

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, "__ge__")

    def __eq__(self, other: Any) -> Any:
        return self._compared(other, "__eq__")

    def __ne__(self, other: Any) -> Any:
        return not self._compared(other, "__eq__")

    __hash__ = str.__hash__


def order_of(text: str) -> tuple[Any, ...] | None:
    """What versions are sorted by: numbers, without zeros at the end; the stage before or after a release; the local
    part, in which words come before numbers."""
    found = FORM.fullmatch(str.__str__(text).strip().lower())
    if found is None:
        return None
    numbers = [int(number) for number in found["numbers"].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    stage = found["stage"] or ""
    rank = BEFORE_RELEASE.get(stage, 1 if stage else 0)
    local = re.split(r"[._-]", found["local"]) if found["local"] else []
    return (
        tuple(numbers), rank, int(found["count"] or 0),
        tuple([(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in local]),
    )  # fmt: skip
