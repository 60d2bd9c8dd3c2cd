"""A signal and its spectrum: short-time transforms, a mel scale, phases found again, layers of complex numbers, and
causal convolutions that predict the next of sixteen levels."""

import math

import torch
import torch.nn.functional as F
from torch import nn

RATE, WINDOW, STEP = 800, 64, 16


def signal():
    t = torch.arange(RATE) / RATE
    return torch.sin(2 * math.pi * 50 * t) + 0.5 * torch.sin(2 * math.pi * 120 * t + 1) + 0.05 * torch.randn(RATE)


def transform(x, window):
    return torch.stft(x, WINDOW, STEP, window=window, return_complex=True)


def inverse(spectrum, window):
    return torch.istft(spectrum, WINDOW, STEP, window=window, length=RATE)


def mel_filters(bins, count):
    """Triangles of equal width on the mel scale."""
    mels = torch.linspace(0, 2595 * math.log10(1 + RATE / 2 / 700), count + 2)
    ends = 700 * (10 ** (mels / 2595) - 1)
    distance = ends[None] - torch.linspace(0, RATE / 2, bins)[:, None]
    width = ends[1:] - ends[:-1]
    return torch.minimum(-distance[:, :-2] / width[:-1], distance[:, 2:] / width[1:]).clamp(min=0)


def found_phases(size, window, rounds):
    """Griffin and Lim: the phases of a signal whose spectrum has these sizes."""
    phase = torch.polar(torch.ones_like(size), torch.rand(size.shape) * 2 * math.pi)
    for _ in range(rounds):
        again = transform(inverse(size * phase, window), window)
        phase = again / (again.abs() + 1e-8)
    return (again.abs() - size).norm() / size.norm()


class ComplexLinear(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_features, in_features, dtype=torch.cfloat) / in_features)
        self.bias = nn.Parameter(torch.zeros(out_features, dtype=torch.cfloat))

    def forward(self, z):
        return F.linear(z, self.weight, self.bias)


class CausalConv1d(nn.Conv1d):
    def __init__(self, in_channels, out_channels, kernel_size, dilation=1):
        super().__init__(in_channels, out_channels, kernel_size, dilation=dilation)
        self.before = (kernel_size - 1) * dilation

    def forward(self, x):
        return super().forward(F.pad(x, (self.before, 0)))


class WaveNet(nn.Module):
    def __init__(self, levels, channels):
        super().__init__()
        self.embedding = nn.Embedding(levels, channels)
        self.gates = nn.ModuleList([CausalConv1d(channels, 2 * channels, 2, 2**i) for i in range(3)])
        self.residuals = nn.ModuleList([nn.Conv1d(channels, channels, 1) for _ in range(3)])
        self.head = nn.Sequential(nn.ReLU(), nn.Conv1d(channels, levels, 1))

    def forward(self, x):
        h = self.embedding(x).transpose(1, 2)
        total = 0
        for gate, residual in zip(self.gates, self.residuals):
            a, b = gate(h).chunk(2, dim=1)
            found = torch.tanh(a) * torch.sigmoid(b)
            total = total + found
            h = h + residual(found)
        return self.head(total)


def train_complex(spectrum):
    first, last = ComplexLinear(spectrum.shape[0], 8), ComplexLinear(8, 1)
    optimizer = torch.optim.Adam([*first.parameters(), *last.parameters()], lr=1e-2)
    z = spectrum.T[:20]
    target = z.sum(1, keepdim=True) / 10
    for step in range(12):
        h = first(z)
        h = F.relu(h.real) + 1j * F.relu(h.imag)
        loss = (last(h) - target).abs().pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 3:
            print(f"complex {step} {loss.item():.4f} {first.weight.grad.abs().mean().item():.5f}")
    print(last.weight[0, :2], torch.view_as_real(last.bias))


def train_waves(x):
    levels = 16
    x = x[:200] / x[:200].abs().max()
    squeezed = torch.sign(x) * torch.log1p((levels - 1) * x.abs()) / math.log1p(levels - 1)
    classes = ((squeezed + 1) / 2 * (levels - 1) + 0.5).long().clamp(0, levels - 1)
    print(classes[:12], torch.bincount(classes, minlength=levels))
    model = WaveNet(levels, 8)
    print(model)
    optimizer = torch.optim.Adamax(model.parameters(), lr=1e-2)
    for step in range(12):
        loss = F.cross_entropy(model(classes[None, :-1]), classes[None, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 4 == 3:
            print(f"waves {step} {loss.item():.4f}")
    reach = torch.autograd.functional.jacobian(lambda h: model.gates[2](h)[0, 0], torch.randn(1, 8, 10))
    print("looks ahead:", bool((reach.abs().sum((1, 2)) > 0).triu(1).any()), tuple(reach.shape))


def main():
    torch.manual_seed(0)
    x, window = signal(), torch.hann_window(WINDOW)
    spectrum = transform(x, window)
    print(spectrum.shape, spectrum.dtype, spectrum.abs().argmax(0)[:6])
    print("inverse:", bool((inverse(spectrum, window) - x).abs().max() < 1e-5))
    filters = mel_filters(WINDOW // 2 + 1, 8)
    mels = (spectrum.abs().square().T @ filters).clamp(min=1e-10).log()
    print(filters.sum(0), mels[:2], sep="\n")
    print(f"phases {found_phases(spectrum.abs(), window, 10).item():.4f}")
    kernel = torch.randn(31)
    size = RATE + 30
    product = torch.fft.irfft(torch.fft.rfft(x, size) * torch.fft.rfft(kernel, size), size)
    direct = F.conv1d(F.pad(x[None, None], (30, 30)), kernel.flip(0)[None, None])[0, 0]
    print("convolution:", torch.allclose(product, direct, atol=1e-3), torch.fft.rfftfreq(6))
    train_complex(spectrum)
    train_waves(x)


if __name__ == "__main__":
    main()
