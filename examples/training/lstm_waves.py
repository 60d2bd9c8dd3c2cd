"""lstm_waves: an LSTM learns to predict the next value of a wave, and then goes on by itself.

python examples/training/lstm_waves.py
"""

from data import waves
from running import Progress, arguments, save_plot

import leafgrad as torch
import leafgrad.nn as nn
import leafgrad.nn.functional as F


class Predictor(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.lstm = nn.LSTM(1, width, batch_first=True)
        self.out = nn.Linear(width, 1)

    def forward(self, x, state=None):
        hidden, state = self.lstm(x, state)
        return self.out(hidden), state


def train(steps, show=False):
    """The model, and its loss in each step."""
    model = Predictor()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    progress = Progress(steps, show)
    for _ in progress:
        batch = waves(16, 65)
        predicted, _ = model(batch[:, :-1])
        loss = F.mse_loss(predicted, batch[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress.note(loss.item())
    return model, progress.losses


@torch.no_grad()
def continued(model, wave, count):
    """A wave with as many values more, each predicted from the one before."""
    predicted, state = model(wave)
    values = [predicted[:, -1:]]
    for _ in range(count - 1):
        predicted, state = model(values[-1], state)
        values.append(predicted)
    return torch.cat([wave, *values], 1)


def main():
    given = arguments(__doc__, steps=1000)
    model, losses = train(given.steps, show=True)
    wave = waves(1, 160)
    found = continued(model, wave[:, :100], 60)
    print(f"mean error of 60 values it went on by itself: {(found - wave)[:, 100:].abs().mean().item():.3f}")

    def both(axes):
        axes.plot(wave[0, :, 0].tolist(), label="the wave")
        axes.plot(range(100, 160), found[0, 100:, 0].tolist(), label="predicted")
        axes.legend()

    save_plot(given.plot, losses, both, "waves")


if __name__ == "__main__":
    main()
