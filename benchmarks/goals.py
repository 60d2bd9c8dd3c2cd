"""How much faster than PyTorch leafgrad is to be, and, where it is not yet, what a profile says about it."""

from __future__ import annotations

from benchmarks.workloads import WORKLOADS, optimizers

OF_OPTIMISERS = 2.0
OF_FASTEST_FORMS = 1.1  # that PyTorch's optimisers have
GOALS: dict[str, float] = {
    "chain of 20, 1": 4.0,
    "chain of 20, 1,000": 4.0,
    "chain of 20, 65,536": 1.5,
    "chain of 20, 1,048,576": 1.5,
    "(x * x).backward()": 6.0,
    "regression": 6.0,
    "784-128-10, batch 32, SGD": 1.5,
    "784-128-10, batch 32, Adam": 2.0,
    "784-1024-1024-10, batch 256, Adam": 1.1,
    "LeNet, 28x28, batch 32, Adam": 1.0,
    "transformer block, 12x64x128, AdamW": 1.2,
    "LSTMCell over 50 steps, Adam": 2.5,
    "nn.LSTM over 50 steps, Adam": 2.5,
    "tanh-gelu by operators, 4,194,304": 1.5,
    "gelu(approximate='tanh'), 4,194,304": 2.0,
    "gelu(approximate='none'), 4,194,304": 2.0,
    "cross-entropy, 512x10,000": 1.3,
    "layer norm, 4,096x256": 1.3,
    "softmax, 4,096x256": 1.3,
    "dropout, 4,096x256": 1.3,
    "Hessian-vector product, 1,000 variables": 2.5,
    "second derivatives by the input, Adam": 3.0,
    "vmap over grad, 16 tasks, Adam": 1.3,
    "matrix product, 64x64": 2.0,
    "matrix product, 128x128": 0.95,
    "matrix product, 256x256": 0.95,
    "matrix product, 512x512": 0.95,
    "matrix product, 1024x1024": 0.95,
    "matrix product, 2048x2048": 0.95,
    "256 products, 32x32": 0.95,
    "32 products, 128x128": 0.95,
    "embedding, 4,096 of 30,000x128": 2.0,
    "convolution 3x3, 16x64x32x32": 0.8,
    **{name: OF_OPTIMISERS for name, workload in WORKLOADS.items() if workload.group == optimizers.OPTIMIZERS},
}

# What a profile says of those that have missed their goal on the machines where they were looked at.
OF_LBFGS = "the history is gone through twice, 160 MB, which takes 4.1 to 4.4 ms of CPU time."
PROFILES: dict[str, str] = {
    "Hessian-vector product, 1,000 variables": "1.15 million instructions, 0.83 of them in the two passes, and no "
    "function has more than a twentieth: look-ups, tuples, rules in Python, and one tensor for each recorded step.",
    "Muon, 4 tensors": "three fifths are the products of bfloat16, a tenth the packing of their operands.",
    "LBFGS, 4 tensors": OF_LBFGS,
    "LBFGS, 400 tensors": OF_LBFGS,
}
