"""The workloads, by subject; importing this registers all of them in `WORKLOADS`, in the order of the tables."""

from __future__ import annotations

from benchmarks.workload import WORKLOADS

from benchmarks.workloads import chains, training, functions, derivatives, layers, calls, optimizers  # isort: skip

# The rows of the table in README.md.
HEADLINES = (
    "chain of 20, 1,000",
    "chain of 20, 1,048,576",
    "regression",
    "784-128-10, batch 32, Adam",
    "784-1024-1024-10, batch 256, Adam",
    "LeNet, 28x28, batch 32, Adam",
    "transformer block, 12x64x128, AdamW",
    "second derivatives by the input, Adam",
)

__all__ = ["HEADLINES", "WORKLOADS", "calls", "chains", "derivatives", "functions", "layers", "optimizers", "training"]
