"""Linear layers, tables of vectors, and the layer that does nothing."""

from __future__ import annotations

from module_cases import Case

ROWS = {
    "Linear": Case(lambda nn: nn.Linear(3, 2), (4, 3)),
    "Linear without bias": Case(lambda nn: nn.Linear(3, 2, bias=False), (2, 2, 3)),
    "LazyLinear": Case(lambda nn: nn.LazyLinear(2), (4, 3)),
    "Bilinear": Case(lambda nn: nn.Bilinear(3, 2, 4), (5, 3), (5, 2)),
    "Bilinear without bias": Case(lambda nn: nn.Bilinear(3, 2, 2, bias=False), (2, 2, 3), (2, 2, 2)),
    "Identity": Case(lambda nn: nn.Identity(54, unused=True), (4, 3)),
    "Flatten": Case(lambda nn: nn.Flatten(1, 2), (2, 3, 2, 2)),
}
