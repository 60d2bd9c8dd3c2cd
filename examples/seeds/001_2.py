import torch

# Create tensors with requires_grad=True
x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)

# Perform computations
z = x * y
w = z + x

# Calculate the gradient
w.backward()

# Inspect the gradients
print(f"Gradient of x: {x.grad}")
print(f"Gradient of y: {y.grad}")
print(f"Gradient of z: {z.grad}")
print(f"Gradient of w: {w.grad}") # Implicit gradient of w itself

# Check if leaf nodes (x,y) have stored gradients
print(f"\nis_leaf for x: {x.is_leaf}")
print(f"is_leaf for y: {y.is_leaf}")
print(f"is_leaf for z: {z.is_leaf}")
print(f"is_leaf for w: {w.is_leaf}")


