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
print("\nWhich leaves got a gradient, and by which way:")
print(torch.explain(loss, model))
print()
print(torch.why(X))

# A graph is best looked at before backward(), which frees what it has saved.
loss = criterion(model(X), y)
graph = torch.graph(loss, model)
print("\nThe graph of the next loss:")
print(graph)
print(f"\nThe same as a picture, for a browser: {graph.save(PICTURE)}")
