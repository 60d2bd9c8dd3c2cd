"""A mistake that was found in the user's program: the line, the evidence, and the fix as code."""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

from leafgrad.errors.naming import Place

WIDTH = 100  # columns of the evidence


class Fix(NamedTuple):
    """An edit of the user's program: `code` in the place of a line, before it or after it; without code the line is to
    be removed."""

    code: str
    place: Place | None = None  # the line of the finding itself, if there is no other
    where: str = ""  # "before", "after", or in its place

    def __str__(self) -> str:
        if not self.code:
            return f"remove {self.place}"
        where = f"{self.where} {self.place.spot}".strip() if self.place else ""
        return f"{self.code}   # {where}" if where else self.code


class Finding(NamedTuple):
    """What is wrong (`kind`, a few words for programs), where, why we say so, and what to do about it."""

    kind: str
    place: Place | None
    evidence: str
    fixes: tuple[Fix | str, ...] = ()  # a text is code with its place behind it

    def __str__(self) -> str:
        lines = [f"{self.place.spot}  {self.place.source}".rstrip() if self.place else "somewhere in the program"]
        lines += textwrap.wrap(self.evidence, WIDTH, initial_indent="  ", subsequent_indent="  ")
        own = None if self.place is None else self.place.spot
        for number, fix in enumerate(self.fixes):
            if isinstance(fix, Fix) and fix.place and fix.place.spot == own and fix.code and not fix.where:
                fix = Fix(fix.code)
            lines.append(f"  {'' if number else 'fix':<5} {fix}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The finding as data."""
        place = None if self.place is None else self.place._asdict()
        return {"kind": self.kind, "place": place, "evidence": self.evidence, "fixes": [str(fix) for fix in self.fixes]}
