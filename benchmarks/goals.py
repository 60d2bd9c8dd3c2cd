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
OF_LBFGS = "the history is gone through twice, 160 MB, which takes 3.3 to 3.8 of {} ms on two idle cores; {} in Python."
PROFILES: dict[str, str] = {
    "(x * x).backward()": "3.6 us, of which x * x takes 0.6 and the two uses of x.grad 0.2. Seven tenths of the "
    "samples are in the interpreter and its objects, a tenth in the engine; the ratio is 5.9 to 6.3 from run to run.",
    "nn.LSTM over 50 steps, Adam": "105 million floating point operations, which one core does in 1.0 ms at the speed "
    "of its vector units. On two idle cores all of it takes 0.90 ms: half of the samples are in BLAS, a sixth in "
    "threads that wait for each other, a seventh in Python, a tenth in the fused cells. Where lines of the cache "
    "travel slowly between the cores both libraries take 1.7 times as long.",
    "tanh-gelu by operators, 4,194,304": "seven tenths of the samples are in NumPy's loops, a tenth in the system, "
    "which clears pages: the time is that of the memory. The ratio is 1.3 to 1.7 from run to run.",
    "layer norm, 4,096x256": "three quarters of the samples are in the two fused kernels, which read and write 20 MB "
    "in 0.34 ms. The ratio is 1.1 to 1.35 from run to run.",
    "Hessian-vector product, 1,000 variables": "120 us. Six tenths of the samples are in the interpreter and its "
    "objects, a tenth in the compiled core, and no function but the interpreter's loop has more than a twenty-fifth: "
    "look-ups, tuples, rules in Python, and one tensor for each recorded step. The ratio is 2.3 to 2.45.",
    "second derivatives by the input, Adam": "315 us. Six tenths of the samples are in the interpreter and its "
    "objects, a tenth each in the compiled core, in NumPy and in the products. The ratio is 2.75 to 3.1.",
    "vmap over grad, 16 tasks, Adam": "2.0 ms, half of it in the backward pass through 70 recorded operations on many "
    "samples, a sixth in their forward kernels, the rest in Python: modes, promotion, replaced parameters. PyTorch "
    "takes 2.4 to 2.8 ms from run to run, so that the ratio is 1.2 to 1.4.",
    "matrix product, 64x64": "24 us, three products, their graph and two gradients. The ratio is 1.95 to 2.03.",
    "SGD, 4 tensors": "three quarters of the samples are in one loop, which reads 8 MB and writes 4 in 58 us, 200 "
    "GB/s.",
    "Muon, 4 tensors": "seven tenths of the samples are in the products of bfloat16, nearly all of them in tiles that "
    "multiply as fast as the processor can; two products of three are computed by half. On two idle cores a step "
    "takes 34 ms, and 40 in PyTorch.",
    "LBFGS, 4 tensors": OF_LBFGS.format("4.2 to 5.3", "a tenth of the samples is"),
    "LBFGS, 400 tensors": OF_LBFGS.format("7.2", "a quarter of the samples is"),
}
