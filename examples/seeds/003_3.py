import torch

# Input Tensor
x = torch.tensor([2.0, 3.0], requires_grad=True)

# Tensor operation
y = x * x

# Loss is calculated using a tensor output
loss = y

# Define a gradient tensor for backpropagation
gradient = torch.tensor([1.0, 0.5])

# Compute Gradients with the specified gradient for the loss
loss.backward(gradient=gradient)

# Output the gradient of x after explicit weighting in the loss
print(f"Gradient of x with explicit gradient: {x.grad}")
