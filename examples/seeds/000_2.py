import torch

x = torch.randn(10, requires_grad=True)
y = torch.randn(10, requires_grad=True)

# Conditional computation
if torch.mean(x) > 0:
    quantity = torch.sum(x * y)
else:
    quantity = torch.sum(x)

quantity.backward()

print(x.grad)
print(y.grad)
