import torch

x = torch.randn(10, requires_grad=True)
y = torch.randn(10) # Notice: requires_grad=False by default

z = x + y  # y is detached; does not influence gradient computation

quantity = torch.sum(z)
quantity.backward()

print(x.grad) # x's gradient is calculated
print(y.grad) # y's gradient is None because it does not require gradient calculation.
