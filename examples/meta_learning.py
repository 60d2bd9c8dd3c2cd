"""Learning to learn (MAML): weights from which one step of SGD fits any sine wave of a family.

The inner step is part of what is differentiated. With differentiable=True the optimiser's own operations are recorded,
so the outer gradient goes through the step: through the new weights, the old ones, and the gradient between them, which
create_graph=True has made a graph of its own.
"""

import math

import leafgrad as torch
import leafgrad.nn.functional as F
import leafgrad.optim as optim

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
POINTS, TASKS = 10, 5


def network(x, w1, b1, w2, b2, w3, b3):
    hidden = torch.tanh(x @ w1 + b1)
    return torch.tanh(hidden @ w2 + b2) @ w3 + b3


def sine_task():
    """Points of a wave to learn from, and others of the same wave to be judged by."""
    height, shift = 0.5 + 2 * torch.rand(1), math.pi * torch.rand(1)
    x = 10 * torch.rand(2, POINTS, 1) - 5
    y = height * torch.sin(x + shift)
    return x[0], y[0], x[1], y[1]


def adapted(weights, rates, x, y):
    """The weights after one inner step. They are clones: a recorded step changes no leaf."""
    fast = [w.clone() for w in weights]
    loss = F.mse_loss(network(x, *weights), y)
    gradients = torch.autograd.grad(loss, weights, create_graph=True)
    for w, g in zip(fast, gradients):
        w.grad = g
    groups = [{"params": [w], "lr": rate.exp()} for w, rate in zip(fast, rates)]
    optim.SGD(groups, differentiable=True).step()
    return fast


def judged(weights, rates, tasks):
    """The mean loss over tasks before and after the inner step."""
    before = after = 0.0
    for x, y, new_x, new_y in tasks:
        before = before + F.mse_loss(network(new_x, *weights), new_y) / len(tasks)
        after = after + F.mse_loss(network(new_x, *adapted(weights, rates, x, y)), new_y) / len(tasks)
    return before, after


shapes = ((1, 20), (20,), (20, 20), (20,), (20, 1), (1,))
weights = [(torch.randn(shape) / math.sqrt(shape[0])).requires_grad_() for shape in shapes]
rates = [torch.tensor(-3.0, requires_grad=True) for _ in weights]  # logarithms; learned as well, one for each tensor
outer = optim.Adam([*weights, *rates], lr=0.005)
test_tasks = [sine_task() for _ in range(50)]

for epoch in range(201):
    _, loss = judged(weights, rates, [sine_task() for _ in range(TASKS)])
    outer.zero_grad()
    loss.backward()
    outer.step()
    if epoch % 50 == 0:
        before, after = judged(weights, rates, test_tasks)
        print(f"epoch {epoch:3d}: loss on new waves {before.item():.4f}, after one step {after.item():.4f}")

print("learned rates:", [round(rate.exp().item(), 4) for rate in rates])
