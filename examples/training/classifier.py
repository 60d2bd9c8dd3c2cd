"""classifier: a network of convolutions tells digits apart that are drawn by code, at random places and under noise.

python examples/training/classifier.py
"""

from data import digits
from running import Progress, arguments, save_plot

import leafgrad as torch
import leafgrad.nn as nn
import leafgrad.nn.functional as F


def network():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * 3 * 3, 10),
    )  # fmt: skip


def train(steps, show=False):
    """The network, and its loss on new images at each step."""
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(steps, 1))
    progress = Progress(steps, show)
    for _ in progress:
        images, labels = digits(32)
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        progress.note(loss.item())
    return model, progress.losses


def main():
    given = arguments(__doc__, steps=500)
    model, losses = train(given.steps, show=True)
    model.eval()
    images, labels = digits(1000)
    with torch.no_grad():
        found = model(images).argmax(1)
    print(f"right on new images: {(found == labels).double().mean().item():.1%}")

    def some(axes):
        rows = torch.cat([torch.cat(list(images[8 * i : 8 * i + 8, 0]), 1) for i in range(4)], 0)
        axes.imshow(rows.tolist(), cmap="gray")
        axes.set(xticks=[], yticks=[], title="seen as " + "".join([str(d) for d in found[:8].tolist()]) + " ...")

    save_plot(given.plot, losses, some, "digits")


if __name__ == "__main__":
    main()
