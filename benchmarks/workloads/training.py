"""Training steps of whole networks: forward, backward, and the optimiser's update."""

from __future__ import annotations

from typing import Any

from benchmarks.workload import Step, training_step, workload

TRAINING = "Training steps"


@workload(TRAINING, "regression", trains=True)
def regression(torch: Any) -> Step:
    """The linear regression of examples/regression.py: 100 points, SGD."""
    torch.manual_seed(0)
    inputs = torch.randn(100, 1, requires_grad=True)
    targets = (2 * inputs + 1 + torch.randn(100, 1) * 0.1).detach()
    model = torch.nn.Linear(1, 1)
    criterion = torch.nn.MSELoss()
    return training_step(torch, lambda: criterion(model(inputs), targets), model.parameters(), "SGD", lr=0.01)


@workload(
    TRAINING, "784-{shown}-10, batch {batch}, {optimizer}",
    {"shown": "128", "widths": (128,), "batch": 32, "optimizer": "SGD"},
    {"shown": "128", "widths": (128,), "batch": 32, "optimizer": "Adam"},
    {"shown": "1024-1024", "widths": (1024, 1024), "batch": 256, "optimizer": "Adam"},
    tiny={"widths": (4, 3), "batch": 2}, trains=True,
)  # fmt: skip
def classifier(torch: Any, shown: str, widths: tuple[int, ...], batch: int, optimizer: str) -> Step:
    """Images of 28x28 through linear layers and relu, cross-entropy of ten classes."""
    torch.manual_seed(0)
    nn = torch.nn
    layers: list[Any] = []
    for before, width in zip((784, *widths), widths, strict=False):
        layers += [nn.Linear(before, width), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(widths[-1], 10))
    images, labels = torch.rand(batch, 784), torch.randint(0, 10, (batch,))
    criterion = nn.CrossEntropyLoss()
    return training_step(torch, lambda: criterion(model(images), labels), model.parameters(), optimizer)


@workload(TRAINING, "LeNet, 28x28, batch {batch}, Adam", {"batch": 32}, tiny={"batch": 2}, trains=True)
def lenet(torch: Any, batch: int) -> Step:
    """Two convolutions with pooling, three linear layers."""
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip
    images, labels = torch.rand(batch, 1, 28, 28), torch.randint(0, 10, (batch,))
    criterion = nn.CrossEntropyLoss()
    return training_step(torch, lambda: criterion(model(images), labels), model.parameters())


@workload(
    TRAINING, "transformer block, {batch}x{tokens}x{width}, AdamW", {"batch": 12, "tokens": 64, "width": 128},
    tiny={"batch": 2, "tokens": 3, "width": 8}, trains=True,
)  # fmt: skip
def transformer(torch: Any, batch: int, tokens: int, width: int) -> Step:
    """Attention with four heads, a feed-forward part four times as wide, two layer norms, dropout."""
    torch.manual_seed(0)
    model = torch.nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.1, batch_first=True, norm_first=True)
    x, target = torch.randn(batch, tokens, width), torch.randn(batch, tokens, width)
    criterion = torch.nn.MSELoss()
    return training_step(torch, lambda: criterion(model(x), target), model.parameters(), "AdamW")


RECURRENT = {"steps": 50, "batch": 16, "inputs": 32, "width": 64}
TINY_RECURRENT = {"steps": 3, "batch": 2, "inputs": 3, "width": 4}


@workload(TRAINING, "LSTMCell over {steps} steps, Adam", RECURRENT, tiny=TINY_RECURRENT, trains=True)
def lstm_cell(torch: Any, steps: int, batch: int, inputs: int, width: int) -> Step:
    """A loop in Python over the steps of a sequence: batch 16, 32 features, 64 wide."""
    torch.manual_seed(0)
    cell, head = torch.nn.LSTMCell(inputs, width), torch.nn.Linear(width, 1)
    x, target = torch.randn(steps, batch, inputs), torch.randn(batch, 1)
    zeros = torch.zeros(batch, width)
    criterion = torch.nn.MSELoss()

    def loss() -> Any:
        hidden = zeros, zeros
        for at in range(steps):
            hidden = cell(x[at], hidden)
        return criterion(head(hidden[0]), target)

    return training_step(torch, loss, [*cell.parameters(), *head.parameters()])


@workload(TRAINING, "nn.LSTM over {steps} steps, Adam", RECURRENT, tiny=TINY_RECURRENT, trains=True)
def lstm(torch: Any, steps: int, batch: int, inputs: int, width: int) -> Step:
    """The same with the layer that takes the whole sequence."""
    torch.manual_seed(0)
    layer, head = torch.nn.LSTM(inputs, width), torch.nn.Linear(width, 1)
    x, target = torch.randn(steps, batch, inputs), torch.randn(batch, 1)
    criterion = torch.nn.MSELoss()
    return training_step(
        torch, lambda: criterion(head(layer(x)[0][-1]), target), [*layer.parameters(), *head.parameters()]
    )
