"""The stored results of the scenarios are those of the installed PyTorch."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch

import leafgrad
from all_scenarios import ALL, STORED, as_json

EXPECTED: dict[str, Any] = json.loads(STORED.read_text())


@pytest.mark.parametrize("name", sorted(ALL))
def test_scenario(name: str) -> None:
    shown = as_json(ALL[name], torch)
    assert shown == EXPECTED[name]
    assert as_json(ALL[name], leafgrad) == shown
