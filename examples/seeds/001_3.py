import torch

x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = x * y

# First backward pass
z.backward()
print(f"Gradient of x after 1st backward: {x.grad}")
print(f"Gradient of y after 1st backward: {y.grad}")

# Second backward pass
z = x * y  #Recreate the node as z is now detached from computational graph after the first backward.
z.backward()  #Note that in most practical case, backward() is called on the loss.
print(f"Gradient of x after 2nd backward: {x.grad}")
print(f"Gradient of y after 2nd backward: {y.grad}")

# Manually zero the gradient
x.grad.zero_()
y.grad.zero_()

z = x*y
z.backward()

print(f"Gradient of x after 3nd backward: {x.grad}")
print(f"Gradient of y after 3nd backward: {y.grad}")
