"""A program with three mistakes, each marked, that a type checker has to find; it must complain of nothing else."""

from __future__ import annotations

import leafgrad as torch
from leafgrad import Tensor, nn, optim


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        product: Tensor = torch.matmull(self.layer(x), x)  # mistake: no such function
        return product


def train(model: nn.Module, x: Tensor) -> Tensor:
    optimizer = optim.SGD(model.parameters(), lrate=0.1)  # mistake: no such option
    loss: Tensor = model(x).sum()
    loss.backward()
    optimizer.step()
    return x.sum(dim="rows")  # mistake: a dimension is a number
