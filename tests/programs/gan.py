"""A generator and a discriminator learn against each other: points on a ring, in two dimensions."""

import argparse
import math
from collections import deque

import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


def real_points(count, generator):
    """Eight clusters on a circle."""
    which = torch.randint(0, 8, (count,), generator=generator)
    angle = which.to(torch.float32) * (2 * math.pi / 8)
    centres = torch.stack([angle.cos(), angle.sin()], dim=1)
    return 2.0 * centres + 0.05 * torch.randn(count, 2, generator=generator)


class Generator(nn.Module):
    def __init__(self, noise, hidden):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(noise, hidden),
            nn.BatchNorm1d(hidden),
            nn.ReLU(True),
            nn.Linear(hidden, hidden),
            nn.BatchNorm1d(hidden),
            nn.ReLU(True),
            nn.Linear(hidden, 2),
        )

    def forward(self, z):
        return 3.0 * torch.tanh(self.net(z))


class Discriminator(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(hidden, hidden),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Dropout(0.1),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Linear") != -1:
        nn.init.normal_(m.weight, 0.0, 0.1)
        nn.init.zeros_(m.bias)
    elif classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.constant_(m.bias, 0)


def gradient_penalty(discriminator, real, fake):
    """How far the slope of the discriminator between real and made points is from one."""
    mix = torch.rand(real.size(0), 1)
    between = (mix * real + (1 - mix) * fake.detach()).requires_grad_(True)
    score = discriminator(between)
    (slope,) = torch.autograd.grad(score.sum(), between, create_graph=True)
    return ((slope.norm(2, dim=1) - 1) ** 2).mean()


def requires_grad(module, flag):
    for p in module.parameters():
        p.requires_grad_(flag)


@torch.no_grad()
def update_average(average, model, decay):
    for a, p in zip(average.parameters(), model.parameters()):
        a.lerp_(p, 1 - decay)
    for a, b in zip(average.buffers(), model.buffers()):
        a.copy_(b)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--points", type=int, default=512)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--noise", type=int, default=8)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--penalty", type=float, default=0.1)
    args = parser.parse_args()

    torch.manual_seed(7)
    dataset = TensorDataset(real_points(args.points, torch.Generator().manual_seed(3)))
    loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True, drop_last=True)

    netG, netD = Generator(args.noise, args.hidden), Discriminator(args.hidden)
    netG.apply(weights_init)
    netD.apply(weights_init)
    averaged = Generator(args.noise, args.hidden)
    averaged.load_state_dict(netG.state_dict())
    print(netD)

    criterion = nn.BCEWithLogitsLoss()
    optimizerD = optim.Adam(netD.parameters(), lr=2e-3, betas=(0.5, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=1e-3, betas=(0.5, 0.999))
    fixed_noise = torch.randn(256, args.noise)
    history = deque(maxlen=8)

    for epoch in range(args.epochs):
        for (real,) in loader:
            ones = torch.full((real.size(0),), 0.9)
            zeros = torch.zeros(real.size(0))

            requires_grad(netD, True)
            netD.zero_grad()
            fake = netG(torch.randn(real.size(0), args.noise))
            lossD = criterion(netD(real), ones) + criterion(netD(fake.detach()), zeros)
            lossD = lossD + args.penalty * gradient_penalty(netD, real, fake)
            lossD.backward()
            optimizerD.step()

            requires_grad(netD, False)
            optimizerG.zero_grad()
            lossG = criterion(netD(fake), torch.ones(real.size(0)))
            lossG.backward()
            optimizerG.step()
            update_average(averaged, netG, 0.9)
            history.append((lossD.item(), lossG.item()))
        mean_d = sum(d for d, _ in history) / len(history)
        mean_g = sum(g for _, g in history) / len(history)
        print(f"[{epoch + 1}/{args.epochs}] loss_D {mean_d:.4f}  loss_G {mean_g:.4f}")

    averaged.eval()
    with torch.no_grad():
        points = averaged(fixed_noise)
    radius = points.norm(dim=1)
    # two digits: two networks that play against each other make the last ones of their numbers large
    print(f"radius {radius.mean():.2f} +- {radius.std():.2f}, centre {points.mean(0).abs().max():.2f}")
    quadrant = (points[:, 0] > 0).long() * 2 + (points[:, 1] > 0).long()
    print("points in each quadrant:", torch.bincount(quadrant, minlength=4).sum().item())


if __name__ == "__main__":
    main()
