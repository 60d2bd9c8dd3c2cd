"""Layers that switch elements off at random."""

from __future__ import annotations

from module_cases import Case

ROWS = {
    "Dropout": Case(lambda nn: nn.Dropout(0.3), (4, 5)),
    "Dropout in place": Case(lambda nn: nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.5, inplace=True)), (4, 3)),
}
