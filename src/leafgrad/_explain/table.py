"""Reports: text and aligned tables for a terminal, the same as HTML for a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

GAP = "   "


class Table:
    """Rows of cells below titles. The columns named in `right` are for numbers, which end at the same place.

    table = Table("parameter", "norm", right=["norm"])
    table.add("fc.weight", "1.2e+00")
    table.add("fc.bias", "nan", mark="bad")
    table.below("nan first made at model.py:14")   # a line of its own below the last row
    """

    def __init__(self, *titles: str, right: Iterable[str] = ()) -> None:
        self.titles = titles
        self.right = frozenset(right)
        self.rows: list[tuple[str, ...]] = []
        self.marks: list[str] = []  # for each row: "", or "good", "bad" or "quiet", which is its colour in HTML
        self.lines: dict[int, list[str]] = {}  # what stands below a row, which is no cell

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, *cells: Any, mark: str = "") -> None:
        """A row. The cells that are missing at its end are empty."""
        if len(cells) > len(self.titles):
            raise ValueError(f"{len(cells)} cells for {len(self.titles)} columns")
        empty = len(self.titles) - len(cells)
        self.rows.append((*["" if cell is None else str(cell) for cell in cells], *[""] * empty))
        self.marks.append(mark)

    def below(self, line: str) -> None:
        """A line of its own below the last row."""
        self.lines.setdefault(len(self.rows) - 1, []).append(line)

    def shown(self) -> list[int]:
        """The columns in which something stands."""
        return [i for i in range(len(self.titles)) if any(row[i] for row in self.rows)]

    def __str__(self) -> str:
        columns = self.shown()
        wide = {i: max(len(row[i]) for row in [self.titles, *self.rows]) for i in columns}

        def line(row: Sequence[str]) -> str:
            cells = [
                f"{row[i]:>{wide[i]}}" if self.titles[i] in self.right else f"{row[i]:<{wide[i]}}" for i in columns
            ]
            return GAP.join(cells).rstrip()

        result = [line(self.titles)]
        for number, row in enumerate(self.rows):
            result += [line(row), *[f"  {text}" for text in self.lines.get(number, ())]]
        return "\n".join(result)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        columns = self.shown()

        def cells(tag: str, row: Sequence[str]) -> str:
            side = ["right" if self.titles[i] in self.right else "left" for i in columns]
            return "".join(
                [f'<{tag} class="{s}">{as_html(row[i])}</{tag}>' for i, s in zip(columns, side, strict=True)]
            )

        body = [f"<tr>{cells('th', self.titles)}</tr>"]
        for number, row in enumerate(self.rows):
            body.append(f'<tr class="{self.marks[number]}">{cells("td", row)}</tr>')
            for text in self.lines.get(number, ()):
                body.append(f'<tr><td class="below" colspan="{len(columns)}">{as_html(text)}</td></tr>')
        return f"<table>{''.join(body)}</table>"


class Report:
    """What is printed from top to bottom: text and tables, a blank line between them.

    Subclasses are the results of `leafgrad.explain` and the like; they have the facts as attributes and return their
    parts from `parts`.
    """

    def parts(self) -> Iterable[str | Table]:
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n\n".join([text for text in map(str, self.parts()) if text])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = [part for part in self.parts() if part]
        parts = [part._repr_html_() if isinstance(part, Table) else f"<pre>{as_html(part)}</pre>" for part in shown]
        return f'<div class="leafgrad-report">{STYLE}{"".join(parts)}</div>'


def as_html(text: str) -> str:
    return html.escape(text, quote=True)


# Colours that can be read on a light and on a dark page; everything else is the page's own.
STYLE = """<style>
.leafgrad-report { font-family: ui-monospace, monospace; font-size: 0.9em; overflow-x: auto }
.leafgrad-report pre { margin: 0.4em 0; background: none; font: inherit; white-space: pre }
.leafgrad-report table { border-collapse: collapse; margin: 0.4em 0 }
.leafgrad-report th, .leafgrad-report td { padding: 0.1em 0.9em 0.1em 0; text-align: left; white-space: pre }
.leafgrad-report th { border-bottom: 1px solid #8888 }
.leafgrad-report .right { text-align: right }
.leafgrad-report .below { padding-left: 1.5em }
.leafgrad-report .good > td:first-child { border-left: 3px solid #2da44e; padding-left: 0.4em }
.leafgrad-report .bad > td:first-child { border-left: 3px solid #e5534b; padding-left: 0.4em }
.leafgrad-report .quiet { opacity: 0.65 }
</style>"""
