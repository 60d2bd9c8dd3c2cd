"""lbfgs_fit: L-BFGS fits a small network to two moons and three spirals, in few steps with a line search.

python examples/training/lbfgs_fit.py
"""

from data import spirals, two_moons
from running import Progress, arguments, save_plot

import leafgrad as torch
import leafgrad.nn as nn
import leafgrad.nn.functional as F


def fit(points, labels, steps, width=24, show=False):
    """A network that tells the points apart, and its loss in each step."""
    classes = int(labels.max()) + 1
    model = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, classes))
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=5, history_size=20, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        smooth = sum([(w**2).sum() for w in model.parameters()])
        loss = F.cross_entropy(model(points), labels) + 1e-4 * smooth
        loss.backward()
        return loss

    progress = Progress(steps, show)
    for _ in progress:
        progress.note(optimizer.step(closure).item())
    return model, progress.losses


def train(steps, show=False):
    return fit(*two_moons(200), steps, show=show)


def right(model, points, labels):
    return (model(points).argmax(1) == labels).double().mean().item()


def main():
    given = arguments(__doc__, steps=40)
    moons, losses = train(given.steps, show=True)
    points, labels = spirals(300)
    arms, _ = fit(points, labels, given.steps, show=True)
    print(f"right on new points: moons {right(moons, *two_moons(1000)):.1%}, spirals {right(arms, *spirals(999)):.1%}")

    def regions(axes):
        steps = torch.linspace(-1.2, 1.2, 80)
        grid = torch.stack([torch.stack([x, y]) for y in steps for x in steps])
        found = arms(grid).argmax(1).reshape(80, 80)
        axes.imshow(found.tolist(), extent=(-1.2, 1.2, -1.2, 1.2), origin="lower", alpha=0.4)
        axes.scatter(points[:, 0].tolist(), points[:, 1].tolist(), c=labels.tolist(), s=8)

    save_plot(given.plot, losses, regions, "two moons")


if __name__ == "__main__":
    main()
