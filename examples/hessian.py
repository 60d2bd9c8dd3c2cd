"""The Hessian of a function of 200 parameters, and what it tells: func.hessian.

The Rosenbrock function is a long bent valley. Its Hessian is tridiagonal, so there is a formula to compare with; its
eigenvalues say how much steeper the walls are than the floor, which is why gradient descent creeps along and Newton's
method, which solves a system with the Hessian, arrives after a few steps.
"""

import leafgrad as torch
from leafgrad.func import grad, hessian, jvp

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
SIZE = 200


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def rosenbrock_hessian(x):
    """The same by hand: each term of the sum couples two neighbours."""
    matrix = torch.zeros(SIZE, SIZE)
    matrix.diagonal()[:-1] += 1200 * x[:-1] ** 2 - 400 * x[1:] + 2
    matrix.diagonal()[1:] += 200
    matrix.diagonal(1)[:] = matrix.diagonal(-1)[:] = -400 * x[:-1]
    return matrix


def largest_eigenvalue(matrix, steps=200):
    """By power iteration: repeated multiplication turns any vector into the direction that grows most."""
    v = torch.randn(SIZE)
    for _ in range(steps):
        v = matrix @ v
        v = v / v.norm()
    return v @ (matrix @ v)


def solve(matrix, b, steps=400):
    """matrix x = b by conjugate gradients, for a positive definite matrix."""
    x, residual = torch.zeros(SIZE), b.clone()
    direction, size = residual.clone(), residual @ residual
    for _ in range(steps):
        if size < 1e-24:
            break
        image = matrix @ direction
        length = size / (direction @ image)
        x, residual = x + length * direction, residual - length * image
        size, before = residual @ residual, size
        direction = residual + size / before * direction
    return x


x = 1 + 0.1 * torch.randn(SIZE)
H = hessian(rosenbrock)(x)
print(f"Hessian {tuple(H.shape)}, {int((H != 0).sum())} of {H.numel()} elements are not zero")
print(f"largest difference from the formula:   {(H - rosenbrock_hessian(x)).abs().max().item():.4f}")
print(f"largest difference from its transpose: {(H - H.T).abs().max().item():.4f}")

# One product with the Hessian needs no Hessian: the derivative of the gradient in a direction.
v = torch.randn(SIZE)
_, product = jvp(grad(rosenbrock), (x,), (v,))
print(f"H v and the derivative of the gradient along v differ by {(H @ v - product).abs().max().item():.4f}")
print(f"largest eigenvalue at the start: {largest_eigenvalue(H).item():.2f}")

print("\nNewton's method:")
for step in range(8):
    gradient, H = grad(rosenbrock)(x), hessian(rosenbrock)(x)
    print(f"step {step}: value {rosenbrock(x).item():10.4f}, gradient {gradient.norm().item():10.4f}")
    x = x - solve(H, gradient)
print(f"distance from the minimum: {(x - 1).norm().item():.4f}")
