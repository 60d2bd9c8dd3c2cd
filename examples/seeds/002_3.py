import torch

x = torch.randn(3, requires_grad=True)
y = torch.randn(3, requires_grad=False) # Note: requires_grad=False
z = x * y

z.backward(torch.ones(3)) # Using gradient to allow for non-scalar
print(x.grad)

x.grad.zero_() #zero out the gradients

y2 = torch.randn(3, requires_grad=True)
z2 = x*y2
z2.backward()
print(x.grad)
print(y2.grad)

