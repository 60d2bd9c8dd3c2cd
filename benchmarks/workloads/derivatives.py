"""Derivatives of derivatives, and of functions over many tasks at once."""

from __future__ import annotations

from typing import Any

from benchmarks.workload import Step, sizes, training_step, workload

DERIVATIVES = "Higher derivatives"


@workload(DERIVATIVES, "Hessian-vector product, {n:,} variables", *sizes("n", 1_000), tiny={"n": 4})
def hessian_vector(torch: Any, n: int) -> Step:
    """Of Rosenbrock's function: the gradient, then the gradient of its product with a vector."""
    torch.manual_seed(0)
    x, v = torch.rand(n, requires_grad=True), torch.rand(n)

    def step() -> Any:
        value = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        (slope,) = torch.autograd.grad(value, x, create_graph=True)
        (product,) = torch.autograd.grad(slope @ v, x)
        return product

    return step


@workload(
    DERIVATIVES, "second derivatives by the input, Adam", {"points": 64, "width": 32},
    tiny={"points": 3, "width": 4}, trains=True,
)  # fmt: skip
def physics_informed(torch: Any, points: int, width: int) -> Step:
    """A network u(x), 1-32-32-1 with tanh, is trained to fulfil u'' + u = x at 64 points."""
    torch.manual_seed(0)
    nn, grad = torch.nn, torch.autograd.grad
    model = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
    x = torch.rand(points, 1, requires_grad=True)

    def loss() -> Any:
        u = model(x)
        (slope,) = grad(u.sum(), x, create_graph=True)
        (bend,) = grad(slope.sum(), x, create_graph=True)
        return ((bend + u - x) ** 2).mean()

    return training_step(torch, loss, model.parameters())


@workload(
    DERIVATIVES, "vmap over grad, {tasks} tasks, Adam", {"tasks": 16, "points": 10, "width": 40},
    tiny={"tasks": 2, "points": 3, "width": 4}, trains=True,
)  # fmt: skip
def meta_learning(torch: Any, tasks: int, points: int, width: int) -> Step:
    """Each task takes a step of its own from common weights (1-40-40-1, 10 points); these learn from the outcome."""
    torch.manual_seed(0)
    nn, func = torch.nn, torch.func
    model = nn.Sequential(nn.Linear(1, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
    x, y, new_x, new_y = (torch.randn(tasks, points, 1) for _ in range(4))

    def error(weights: Any, x: Any, y: Any) -> Any:
        return ((func.functional_call(model, weights, (x,)) - y) ** 2).mean()

    def error_after_a_step(weights: Any, x: Any, y: Any, new_x: Any, new_y: Any) -> Any:
        slopes = func.grad(error)(weights, x, y)
        return error({name: weight - 0.1 * slopes[name] for name, weight in weights.items()}, new_x, new_y)

    def loss() -> Any:
        weights = dict(model.named_parameters())
        return func.vmap(error_after_a_step, in_dims=(None, 0, 0, 0, 0))(weights, x, y, new_x, new_y).mean()

    return training_step(torch, loss, model.parameters())
