"""Linear regression, which leaves got which gradient, and a picture of the graph: `make demo`.

The data is what makes this a lesson. `X` requires a gradient, so targets computed from `X` would hang on its graph: the
first backward frees that part, and the second epoch would go back through it again and be refused. `X.detach()` shares
the numbers and leaves the graph behind.
"""

import leafgrad as torch
import leafgrad.nn as nn
import leafgrad.optim as optim

PICTURE = "regression_graph.html"


class LinearRegression(nn.Module):
    def __init__(self, input_size, output_size):
        super().__init__()
        self.linear = nn.Linear(input_size, output_size)

    def forward(self, x):
        return self.linear(x)


def describe_gradient(tensor):
    """The size of the gradient, or why there is none."""
    if not tensor.requires_grad:
        return "None (does not require grad)"
    if not tensor.is_leaf:
        return "None (not a leaf)"
    if tensor.grad is None:
        return "None (no backward reached it)"
    return f"norm {tensor.grad.norm().item():.4f}"


torch.manual_seed(0)
X = torch.randn(100, 1, requires_grad=True)
y = 2 * X.detach() + 1 + torch.randn(100, 1) * 0.1

model = LinearRegression(1, 1)
criterion = nn.MSELoss()
optimizer = optim.SGD(model.parameters(), lr=0.01)

for epoch in range(100):
    outputs = model(X)
    loss = criterion(outputs, y)

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    if (epoch + 1) % 10 == 0:
        print(f"Epoch: {epoch + 1}, Loss: {loss.item():.4f}")

print("\nFinal parameters after training:")
for name, param in model.named_parameters():
    print(f"{name}: {param.data.item():.4f}")

# The optimizer clears the gradients of the parameters it was given. X is not one of them: its gradient is the sum over
# all epochs.
print("\nWhich leaves got which gradient:")
leaves = {**dict(model.named_parameters()), "X": X, "y": y}
print(f"{'name':<14} {'shape':<10} gradient")
for name, leaf in leaves.items():
    print(f"{name:<14} {tuple(leaf.shape)!s:<10} {describe_gradient(leaf)}")

# A graph is best looked at before backward(), which frees what it has saved.
loss = criterion(model(X), y)
graph = torch.graph(loss, model)
print("\nThe graph of the loss:")
print(graph)
print(f"\nThe same as a picture, for a browser: {graph.save(PICTURE)}")
