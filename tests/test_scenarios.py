"""Small programs must show with leafgrad what they show with PyTorch, whose results are stored."""

from __future__ import annotations

import json
from typing import Any

import pytest

import leafgrad
from all_scenarios import ALL, STORED, as_json

EXPECTED: dict[str, Any] = json.loads(STORED.read_text())


def test_every_scenario_is_stored() -> None:
    assert sorted(EXPECTED) == sorted(ALL)


@pytest.mark.parametrize("name", sorted(ALL))
def test_scenario(name: str) -> None:
    assert as_json(ALL[name], leafgrad) == EXPECTED[name]
