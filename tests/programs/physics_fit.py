"""A damped oscillation from a few noisy measurements: a network that has to obey the equation of motion, whose
constants are found at the same time. First Adam, then LBFGS, in double precision."""

import argparse
import math

import torch
import torch.nn as nn

torch.set_default_dtype(torch.float64)


def exact(t, damping, frequency):
    """x'' + 2 d x' + w0² x = 0 with x(0) = 1 and x'(0) = 0."""
    w = math.sqrt(frequency**2 - damping**2)
    phase = math.atan(-damping / w)
    amplitude = 1 / (2 * math.cos(phase))
    return torch.exp(-damping * t) * 2 * amplitude * torch.cos(phase + w * t)


class Sine(nn.Module):
    def forward(self, x):
        return torch.sin(x)


class FCN(nn.Module):
    """A fully connected network that also owns the unknown constants, as logarithms."""

    def __init__(self, width, layers):
        super().__init__()
        self.start = nn.Sequential(nn.Linear(1, width), Sine())
        self.hidden = nn.Sequential(*[nn.Sequential(nn.Linear(width, width), nn.Tanh()) for _ in range(layers - 1)])
        self.end = nn.Linear(width, 1)
        self.log_damping = nn.Parameter(torch.tensor(0.0))
        self.log_frequency = nn.Parameter(torch.tensor(1.0))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight, gain=1.5)
                nn.init.zeros_(module.bias)

    def forward(self, t):
        return self.end(self.hidden(self.start(3 * t)))


def derivatives(model, t):
    x = model(t)
    (velocity,) = torch.autograd.grad(x, t, torch.ones_like(x), create_graph=True)
    (acceleration,) = torch.autograd.grad(velocity, t, torch.ones_like(velocity), create_graph=True)
    return x, velocity, acceleration


class Problem:
    def __init__(self, points, noise, seed):
        generator = torch.Generator().manual_seed(seed)
        self.damping, self.frequency = 0.6, 4.0
        self.t_data = torch.linspace(0, 2, points).unsqueeze(1)
        clean = exact(self.t_data, self.damping, self.frequency)
        self.x_data = clean + noise * torch.randn(points, 1, generator=generator)
        self.t_physics = torch.linspace(0, 3, 24).unsqueeze(1).requires_grad_(True)
        self.t_test = torch.linspace(0, 3, 50).unsqueeze(1)

    def losses(self, model):
        data = ((model(self.t_data) - self.x_data) ** 2).mean()
        x, velocity, acceleration = derivatives(model, self.t_physics)
        damping, frequency = model.log_damping.exp(), model.log_frequency.exp()
        residual = acceleration + 2 * damping * velocity + frequency**2 * x
        origin = torch.zeros(1, 1, requires_grad=True)
        x0, v0, _ = derivatives(model, origin)
        boundary = ((x0 - 1) ** 2 + 0.1 * v0**2).squeeze()
        return data, 1e-3 * (residual**2).mean(), 0.1 * boundary

    @torch.inference_mode()
    def error(self, model):
        return (model(self.t_test) - exact(self.t_test, self.damping, self.frequency)).abs().max().item()


def report(name, problem, model):
    data, physics, boundary = (part.item() for part in problem.losses(model))
    damping, frequency = model.log_damping.exp().item(), model.log_frequency.exp().item()
    print(f"{name}: data {data:.4f}  physics {physics:.4f}  boundary {boundary:.4f}")
    print(f"    damping {damping:.3f}  frequency {frequency:.3f}  largest error {problem.error(model):.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--adam-steps", type=int, default=150)
    parser.add_argument("--lbfgs-steps", type=int, default=6)
    parser.add_argument("--noise", type=float, default=0.01)
    args = parser.parse_args()

    torch.manual_seed(123)
    problem = Problem(points=12, noise=args.noise, seed=9)
    model = FCN(args.width, args.layers)
    report("start", problem, model)

    constants = [model.log_damping, model.log_frequency]
    weights = [p for p in model.parameters() if all(p is not c for c in constants)]
    optimizer = torch.optim.Adam([{"params": weights}, {"params": constants, "lr": 2e-2}], lr=1e-2)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[100], gamma=0.3)
    for _ in range(args.adam_steps):
        optimizer.zero_grad()
        loss = sum(problem.losses(model))
        loss.backward()
        optimizer.step()
        scheduler.step()
    report(f"after {args.adam_steps} steps of Adam", problem, model)

    optimizer = torch.optim.LBFGS(
        model.parameters(), lr=1.0, max_iter=8, history_size=20, line_search_fn="strong_wolfe", tolerance_grad=1e-9
    )
    evaluations = 0

    def closure():
        nonlocal evaluations
        evaluations += 1
        optimizer.zero_grad()
        loss = sum(problem.losses(model))
        loss.backward()
        return loss

    for _ in range(args.lbfgs_steps):
        loss = optimizer.step(closure)
    print(f"LBFGS: {evaluations > args.lbfgs_steps}, loss before the last step {loss.item():.4f}")
    report("after LBFGS", problem, model)


if __name__ == "__main__":
    main()
