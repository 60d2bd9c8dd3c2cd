"""Tables and reports: aligned in a terminal, the same in a notebook."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable

import pytest

from leafgrad._explain.table import Report, Table


def example() -> Table:
    table = Table("parameter", "norm", "zeros", "remark", right=["norm"])
    table.add("fc.weight", "1.25")
    table.add("conv.0.bias", 12, None, "vanishing", mark="bad")
    table.below("a line of its own")
    table.add("x")
    return table


def test_columns_are_aligned_and_empty_ones_left_out() -> None:
    assert str(example()).splitlines() == [
        "parameter     norm   remark",
        "fc.weight     1.25",
        "conv.0.bias     12   vanishing",
        "  a line of its own",
        "x",
    ]
    assert repr(example()) == str(example())
    assert len(example()) == 3


def test_too_many_cells_are_refused() -> None:
    with pytest.raises(ValueError, match="3 cells for 2 columns"):
        Table("a", "b").add(1, 2, 3)


def test_html_is_well_formed_and_shows_text_as_it_is() -> None:
    table = example()
    table.add("<b>&", '"')
    found = ET.fromstring(table._repr_html_())
    rows = [["".join(cell.itertext()) for cell in row] for row in found.findall("tr")]
    assert rows[0] == ["parameter", "norm", "remark"]
    assert rows[3] == ["a line of its own"]
    assert rows[-1] == ["<b>&", '"', ""]


def test_a_report_is_its_parts() -> None:
    class Two(Report):
        def parts(self) -> Iterable[str | Table]:
            return ["2 < 3", "", example()]

    assert str(Two()).startswith("2 < 3\n\nparameter ")
    found = ET.fromstring(Two()._repr_html_())
    assert [part.tag for part in found] == ["style", "pre", "table"]
    assert found[1].text == "2 < 3"
