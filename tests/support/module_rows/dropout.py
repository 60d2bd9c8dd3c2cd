"""Layers that switch elements, or channels, off at random."""

from __future__ import annotations

from module_cases import Case

ROWS = {
    "Dropout": Case(lambda nn: nn.Dropout(0.3), (4, 5)),
    "Dropout in place": Case(lambda nn: nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.5, inplace=True)), (4, 3)),
    "Dropout of everything": Case(lambda nn: nn.Dropout(1.0), (4, 3)),
    "Dropout1d": Case(lambda nn: nn.Dropout1d(0.5), (3, 4, 2)),
    "Dropout1d of one sample": Case(lambda nn: nn.Dropout1d(0.5), (4, 2)),
    "Dropout1d in place": Case(lambda nn: nn.Sequential(nn.Linear(3, 2), nn.Dropout1d(0.5, inplace=True)), (2, 4, 3)),
    "Dropout2d": Case(lambda nn: nn.Dropout2d(0.4), (2, 4, 2, 2)),
    "Dropout3d": Case(lambda nn: nn.Dropout3d(0.4), (2, 4, 2, 1, 2)),
    "Dropout3d of one sample": Case(lambda nn: nn.Dropout3d(0.4), (4, 2, 1, 2)),
    "AlphaDropout": Case(lambda nn: nn.AlphaDropout(0.3), (4, 5)),
    "FeatureAlphaDropout": Case(lambda nn: nn.FeatureAlphaDropout(0.3), (2, 4, 3)),
}
