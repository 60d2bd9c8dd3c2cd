"""Losses as modules."""

from __future__ import annotations

from module_cases import Case

ROWS = {
    "MSELoss": Case(lambda nn: nn.MSELoss(), (4, 3), (4, 3)),
    "L1Loss": Case(lambda nn: nn.L1Loss(reduction="sum"), (4, 3), (4, 3)),
    "NLLLoss": Case(lambda nn: nn.NLLLoss(), (4, 3), lambda torch: torch.tensor([0, 2, 1, 1])),
    "CrossEntropyLoss": Case(
        lambda nn: nn.CrossEntropyLoss(label_smoothing=0.1), (4, 3), lambda torch: torch.tensor([0, 2, 1, 1])
    ),
}
