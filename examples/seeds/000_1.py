import torch

# Initialize a linear layer with requires_grad=True for parameters
linear = torch.nn.Linear(10, 1, bias=True)

# Input tensor
x = torch.randn(1, 10, requires_grad=True)

# Forward pass
output = linear(x)
loss = output.mean() # Our quantity: mean of the output

# Backward pass
loss.backward()

# Accessing gradients
print(linear.weight.grad)  # Gradient of the weights
print(linear.bias.grad)   # Gradient of the bias
print(x.grad)             # Gradient of the input
