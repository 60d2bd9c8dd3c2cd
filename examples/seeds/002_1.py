import torch

x = torch.randn(3, requires_grad=True)
y = torch.randn(3, requires_grad=True)
z = torch.dot(x, y)  # Dot product resulting in a scalar

z.backward()

print(x.grad)
print(y.grad)
