"""The gradient of every single sample, at once: vmap(grad(...)) over a small network.

A batch's gradient is the mean of its samples' gradients, and most of the time that is all one needs. The single ones
tell which samples pull hardest, and they are what private training (DP-SGD) clips, so that no sample can pull much.
"""

import leafgrad as torch
import leafgrad.nn as nn
import leafgrad.nn.functional as F
from leafgrad.func import functional_call, grad, vmap

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)

model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 3))
parameters = {name: p.detach() for name, p in model.named_parameters()}
data = torch.randn(12, 2)
labels = torch.randint(0, 3, (12,))


def loss_of_one(parameters, x, label):
    scores = functional_call(model, parameters, (x.unsqueeze(0),))
    return F.cross_entropy(scores, label.unsqueeze(0))


# The parameters are shared (None), samples and labels lie along dimension 0.
gradients_of_all = vmap(grad(loss_of_one), in_dims=(None, 0, 0))
gradients = gradients_of_all(parameters, data, labels)
print("one gradient for each of the 12 samples:")
for name, g in gradients.items():
    print(f"  {name:<9} {tuple(g.shape)}")

# The same one by one, and their mean in the ordinary way.
worst = 0.0
for i in range(len(data)):
    single = grad(loss_of_one)(parameters, data[i], labels[i])
    worst = max([worst] + [(single[name] - gradients[name][i]).abs().max().item() for name in single])
print(f"largest difference from a loop over the samples: {worst:.4f}")
F.cross_entropy(model(data), labels).backward()
difference = max((p.grad - gradients[name].mean(0)).abs().max().item() for name, p in model.named_parameters())
print(f"largest difference of their mean from backward(): {difference:.4f}")


def norms(gradients):
    """How long the gradient of each sample is, over all parameters."""
    return sum(g.flatten(1).square().sum(1) for g in gradients.values()).sqrt()


print("\nhow hard each sample pulls:", [round(n, 4) for n in norms(gradients).tolist()])
print("the hardest:", norms(gradients).argmax().item())

LIMIT = 1.0
for _ in range(30):
    gradients = gradients_of_all(parameters, data, labels)
    scale = (LIMIT / norms(gradients)).clamp(max=1.0)  # none may be longer than the limit
    for name, g in gradients.items():
        clipped = g * scale.view(-1, *[1] * (g.dim() - 1))
        parameters[name] = parameters[name] - 0.5 * clipped.mean(0)
losses = vmap(loss_of_one, in_dims=(None, 0, 0))(parameters, data, labels)
print(f"mean loss after 30 clipped steps: {losses.mean().item():.4f}, largest {losses.max().item():.4f}")
