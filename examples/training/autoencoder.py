"""autoencoder: a variational autoencoder finds two numbers that describe an image, and draws images from such numbers.

python examples/training/autoencoder.py
"""

from data import SIZE, glyphs
from running import Progress, arguments, save_plot

import leafgrad as torch
import leafgrad.nn as nn
from leafgrad.distributions import Bernoulli, Independent, Normal, kl_divergence


class Autoencoder(nn.Module):
    def __init__(self, width=64, numbers=2):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(SIZE * SIZE, width), nn.Tanh(), nn.Linear(width, 2 * numbers))
        self.decoder = nn.Sequential(nn.Linear(numbers, width), nn.Tanh(), nn.Linear(width, SIZE * SIZE))

    def encoded(self, images):
        """The distribution of the numbers behind images."""
        loc, log_scale = self.encoder(images).chunk(2, -1)
        return Independent(Normal(loc, log_scale.exp()), 1)

    def decoded(self, numbers):
        """The distribution of the images of numbers."""
        return Independent(Bernoulli(logits=self.decoder(numbers)), 1)

    def loss(self, images):
        """Minus a lower bound of log p(images): the distance to what is known before, less log p(images | numbers)."""
        posterior = self.encoded(images)
        numbers = posterior.rsample()
        prior = Independent(Normal(torch.zeros_like(numbers), torch.ones_like(numbers)), 1)
        return (kl_divergence(posterior, prior) - self.decoded(numbers).log_prob(images)).mean()


def pictures(count):
    """Digits 0 to 4 in the middle, with a pixel wrong here and there."""
    images = torch.zeros(count, SIZE, SIZE)
    images[:, 3:10, 4:9] = glyphs()[torch.randint(0, 5, (count,))]
    wrong = torch.rand(count, SIZE, SIZE) < 0.02
    return torch.where(wrong, 1 - images, images).flatten(1)


def train(steps, show=False):
    """The model, and its loss in each step."""
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    progress = Progress(steps, show)
    for _ in progress:
        loss = model.loss(pictures(64))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress.note(loss.item())
    return model, progress.losses


def main():
    given = arguments(__doc__, steps=800)
    model, losses = train(given.steps, show=True)
    print(f"bits for a new image: {model.loss(pictures(1000)).item() / 0.6931:.1f} of {SIZE * SIZE}")

    def some(axes):
        steps = torch.linspace(-1.5, 1.5, 7)
        grid = torch.stack([torch.stack([x, y]) for y in steps for x in steps])
        drawn = model.decoded(grid).mean.detach().reshape(7, 7, SIZE, SIZE)
        axes.imshow(drawn.transpose(1, 2).reshape(7 * SIZE, 7 * SIZE).tolist(), cmap="gray")
        axes.set(xticks=[], yticks=[], title="drawn from two numbers")

    save_plot(given.plot, losses, some, "digits")


if __name__ == "__main__":
    main()
