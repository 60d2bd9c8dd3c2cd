"""A variational autoencoder of small pictures: reparametrised samples, Bernoulli likelihood, annealed divergence, and a
walk through the latent space."""

import argparse

import torch
from torch import nn
from torch.distributions import Normal, kl_divergence
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset, random_split

SIDE = 8


def make_pictures(count, seed):
    """Soft blobs of different sizes at different places."""
    generator = torch.Generator().manual_seed(seed)
    grid = torch.linspace(-1, 1, SIDE)
    y, x = torch.meshgrid(grid, grid, indexing="ij")
    centre = torch.rand(count, 2, 1, 1, generator=generator) * 1.2 - 0.6
    width = 0.2 + 0.2 * torch.rand(count, 1, 1, generator=generator)
    distance = (x - centre[:, 0]) ** 2 + (y - centre[:, 1]) ** 2
    return torch.exp(-distance / (2 * width**2)).clamp(0.01, 0.99).flatten(1)


class Encoder(nn.Module):
    def __init__(self, hidden, latent):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, kernel_size=3, stride=2, padding=1)
        self.fc = nn.Linear(4 * (SIDE // 2) ** 2, hidden)
        self.mean = nn.Linear(hidden, latent)
        self.log_variance = nn.Linear(hidden, latent)

    def forward(self, x):
        h = F.elu(self.conv(x.view(-1, 1, SIDE, SIDE)))
        h = F.elu(self.fc(h.flatten(1)))
        return self.mean(h), self.log_variance(h)


class Decoder(nn.Module):
    def __init__(self, hidden, latent):
        super().__init__()
        self.fc1 = nn.Linear(latent, hidden)
        self.fc2 = nn.Linear(hidden, 4 * (SIDE // 2) ** 2)
        self.up = nn.ConvTranspose2d(4, 1, kernel_size=4, stride=2, padding=1)

    def forward(self, z):
        h = F.softplus(self.fc2(F.elu(self.fc1(z))))
        return self.up(h.view(-1, 4, SIDE // 2, SIDE // 2)).flatten(1)


class VAE(nn.Module):
    def __init__(self, hidden=48, latent=3):
        super().__init__()
        self.encoder = Encoder(hidden, latent)
        self.decoder = Decoder(hidden, latent)
        self.register_buffer("prior_mean", torch.zeros(latent))
        self.register_buffer("prior_scale", torch.ones(latent))

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def forward(self, x):
        mu, logvar = self.encoder(x)
        return self.decoder(self.reparameterize(mu, logvar)), mu, logvar

    def loss(self, x, beta):
        logits, mu, logvar = self(x)
        reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
        divergence = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp(), dim=1)
        return (reconstruction + beta * divergence).mean(), reconstruction.mean(), divergence.mean()

    @torch.no_grad()
    def bound(self, x, samples):
        """A tighter bound, from several samples with their importance."""
        mu, logvar = self.encoder(x)
        posterior = Normal(mu, torch.exp(0.5 * logvar))
        prior = Normal(self.prior_mean, self.prior_scale)
        z = posterior.rsample((samples,))
        logits = self.decoder(z.flatten(0, 1)).view(samples, x.size(0), -1)
        likelihood = -F.binary_cross_entropy_with_logits(logits, x.expand_as(logits), reduction="none").sum(-1)
        weights = likelihood + prior.log_prob(z).sum(-1) - posterior.log_prob(z).sum(-1)
        return (torch.logsumexp(weights, 0) - torch.log(torch.tensor(float(samples)))).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--pictures", type=int, default=320)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=4e-3)
    args = parser.parse_args()

    torch.manual_seed(11)
    pictures = TensorDataset(make_pictures(args.pictures, 5))
    train, test = random_split(pictures, [args.pictures * 4 // 5, args.pictures // 5])
    loader = DataLoader(train, args.batch_size, shuffle=True)
    held_out = torch.stack([x for (x,) in test])

    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, amsgrad=True)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=args.lr, epochs=args.epochs, steps_per_epoch=len(loader)
    )
    for epoch in range(args.epochs):
        model.train()
        beta = min(1.0, (epoch + 1) / 3)
        totals = torch.zeros(3)
        for (x,) in loader:
            losses = model.loss(x, beta)
            optimizer.zero_grad()
            losses[0].backward()
            optimizer.step()
            scheduler.step()
            totals += torch.stack([part.detach() for part in losses]) * len(x)
        total, reconstruction, divergence = (totals / len(train)).tolist()
        print(f"epoch {epoch}: loss {total:.4f} = {reconstruction:.4f} + {beta:.2f} * {divergence:.4f}")

    model.eval()
    with torch.no_grad():
        mu, logvar = model.encoder(held_out)
        exact = (
            kl_divergence(Normal(mu, (0.5 * logvar).exp()), Normal(model.prior_mean, model.prior_scale)).sum(1).mean()
        )
        rebuilt = torch.sigmoid(model.decoder(mu))
        error = F.mse_loss(rebuilt, held_out)
        between = torch.lerp(mu[0].expand(5, -1), mu[1].expand(5, -1), torch.linspace(0, 1, 5).unsqueeze(1))
        brightness = torch.sigmoid(model.decoder(between)).mean(1)
    print(f"held out: bound {model.bound(held_out, 8):.4f}  divergence {exact:.4f}  error {error:.5f}")
    print("brightness on the way:", " ".join(f"{b:.4f}" for b in brightness))


if __name__ == "__main__":
    main()
