"""A program as users write them, without a mistake: a network of their own with a function of their own, trained."""

from __future__ import annotations

from collections.abc import Iterator

import leafgrad as torch
from leafgrad import Tensor, nn, optim
from leafgrad.autograd import Function
from leafgrad.autograd.function import FunctionCtx
from leafgrad.nn import functional as F


class Cube(Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad


class Network(nn.Module):
    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(4, width)
        self.scale = nn.Parameter(torch.ones(width))
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(width, classes))

    def forward(self, x: Tensor) -> Tensor:
        h: Tensor = self.hidden(x) * self.scale
        return F.log_softmax(self.head(Cube.apply(h)), dim=-1)


def batches(count: int) -> Iterator[tuple[Tensor, Tensor]]:
    for _ in range(count):
        x = torch.randn(8, 4, dtype=torch.float32)
        yield x, x.sum(dim=1).gt(0).long()


@torch.no_grad()
def accuracy(model: nn.Module, x: Tensor, y: Tensor) -> float:
    values, indices = model(x).max(dim=1)
    assert values.shape == indices.shape
    return float((indices == y).float().mean())


def train(steps: int = 5) -> list[float]:
    torch.manual_seed(0)
    model = Network(16, classes=2)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = optim.lr_scheduler.StepLR(optimizer, step_size=2)
    losses: list[float] = []
    for x, y in batches(steps):
        optimizer.zero_grad()
        loss = F.nll_loss(model(x), y) + 1e-4 * sum_of_squares(model)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        with torch.no_grad():
            model.scale.clamp_(min=0.5)
    (slope,) = torch.autograd.grad(model(torch.ones(1, 4)).sum(), [model.scale])
    assert slope.shape == torch.Size([16]) and model.scale.grad is not None
    x, y = next(batches(1))
    print(accuracy(model, x, y), model.scale.grad.norm(), torch.cat([x, x.T.reshape(8, 4)])[0, ::2])
    return losses


def sum_of_squares(model: nn.Module) -> Tensor:
    return torch.stack([p.pow(2).sum() for p in model.parameters()]).sum()


if __name__ == "__main__":
    print(train())
