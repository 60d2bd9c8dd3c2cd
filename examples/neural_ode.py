"""A neural ODE: dz/dt = f(z) with a small network f, trained by the adjoint method as a custom Function.

Backpropagation would remember every step of the solver. The adjoint method remembers only the end: it solves the
equation backward in time, with one for a(t), the gradient with respect to z(t), and one for that of the weights:
    dz/dt = f(z)     da/dt = -a df/dz     dg/dt = -a df/dw
"""

import leafgrad as torch
import leafgrad.optim as optim

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
STEPS, END = 20, 1.0


def f(z, w1, b1, w2):
    return torch.tanh(z**3 @ w1 + b1) @ w2


def runge_kutta(derivative, state, h):
    """One step of size h for a list of tensors."""
    move = lambda size, slopes: [s + size * k for s, k in zip(state, slopes)]
    k1 = derivative(state)
    k2 = derivative(move(h / 2, k1))
    k3 = derivative(move(h / 2, k2))
    k4 = derivative(move(h, k3))
    return [s + h / 6 * (a + 2 * b + 2 * c + d) for s, a, b, c, d in zip(state, k1, k2, k3, k4)]


def solve(z, *weights):
    """z(END) from z(0). Called as it is, every step becomes part of the graph."""
    for _ in range(STEPS):
        (z,) = runge_kutta(lambda state: [f(state[0], *weights)], [z], END / STEPS)
    return z


class Solve(torch.autograd.Function):
    """The same with nothing saved but z(END): inside of forward, nothing is recorded."""

    @staticmethod
    def forward(ctx, z, *weights):
        z = solve(z, *weights)
        ctx.save_for_backward(z, *weights)
        return z

    @staticmethod
    def backward(ctx, a):
        z, *weights = [t.detach().requires_grad_() for t in ctx.saved_tensors]

        def backward_in_time(state):
            point = state[0].detach().requires_grad_()
            with torch.enable_grad():
                slope = f(point, *weights)
            products = torch.autograd.grad(slope, [point, *weights], state[1])
            return [-slope.detach(), *products]  # minus everything, because time runs backward

        state = [z, a, *[torch.zeros_like(w) for w in weights]]
        for _ in range(STEPS):
            state = runge_kutta(backward_in_time, state, END / STEPS)
        return tuple(state[1:])


weights = [(0.5 * torch.randn(shape)).requires_grad_() for shape in ((2, 16), (16,), (16, 2))]
start = 1.5 * torch.rand(40, 2) - 0.75
field = [0.1 * torch.eye(2), torch.zeros(2), torch.tensor([[-1.0, 20.0], [-20.0, -1.0]])]  # the one to be learned
target = solve(start, *field)

for name, solver in (("adjoint", Solve.apply), ("remembered", solve)):
    gradients = torch.autograd.grad((solver(start, *weights) - target).square().mean(), weights)
    print(f"{name:<11} gradients: {[round(g.norm().item(), 4) for g in gradients]}")

optimizer = optim.Adam(weights, lr=0.02)
for epoch in range(31):
    optimizer.zero_grad()
    loss = (Solve.apply(start, *weights) - target).square().mean()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print(f"epoch {epoch:2d}: loss {loss.item():.4f}")
