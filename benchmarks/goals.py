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
    "(x * x).backward()": "3.7 us, of which x * x takes 0.6 and the two uses of x.grad 0.2. Seven tenths of the "
    "samples are in the interpreter and its objects, a tenth in the engine; the ratio is 5.9 to 6.1 from run to run.",
    "nn.LSTM over 50 steps, Adam": "105 million floating point operations, which one core does in 1.0 ms at the speed "
    "of its vector units. On two cores the steps take 0.34 and 0.16 ms, the gradients of the weights 0.23, and Python "
    "0.2. Where lines of the cache travel slowly between the cores both libraries take 1.7 times as long.",
    "tanh-gelu by operators, 4,194,304": "three quarters of the samples are in NumPy's loops, more than half in "
    "multiplications of arrays of 16 MB: the time is that of the memory. The ratio is 1.4 to 1.7 from run to run.",
    "layer norm, 4,096x256": "four fifths of the samples are in the two fused kernels, which read and write 20 MB in "
    "0.38 ms. The ratio is 1.26 to 1.5 from round to round.",
    "Hessian-vector product, 1,000 variables": "a tenth of the samples is in the interpreter, and no other function "
    "has more than a twenty-fifth: look-ups, tuples, rules in Python, and one tensor for each recorded step.",
    "second derivatives by the input, Adam": "three fifths of the samples are in the interpreter and its objects, a "
    "tenth each in the compiled core and in NumPy, a twentieth in the products.",
    "SGD, 4 tensors": "four fifths of the samples are in one loop, which reads 8 MB and writes 4 in 58 us, 200 GB/s.",
    "Muon, 4 tensors": "three fifths are the products of bfloat16, a tenth the packing of their operands.",
    "LBFGS, 4 tensors": OF_LBFGS,
    "LBFGS, 400 tensors": OF_LBFGS,
}
