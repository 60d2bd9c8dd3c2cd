"""Matrix products and layers, forward and backward."""

from __future__ import annotations

from typing import Any

from benchmarks.workload import Step, gradient_step, sizes, workload

LAYERS = "Matrix products and layers, forward and backward"


@workload(LAYERS, "matrix product, {n}x{n}", *sizes("n", 64, 128, 256, 512, 1024, 2048), tiny={"n": 3})
def product(torch: Any, n: int) -> Step:
    torch.manual_seed(0)
    a, b = torch.randn(n, n, requires_grad=True), torch.randn(n, n, requires_grad=True)
    return gradient_step(lambda: a @ b, a, b)


@workload(
    LAYERS, "{batch} products, {n}x{n}", {"batch": 256, "n": 32}, {"batch": 32, "n": 128}, tiny={"batch": 2, "n": 3}
)
def batched_product(torch: Any, batch: int, n: int) -> Step:
    torch.manual_seed(0)
    a, b = torch.randn(batch, n, n, requires_grad=True), torch.randn(batch, n, n, requires_grad=True)
    return gradient_step(lambda: a @ b, a, b)


@workload(
    LAYERS, "embedding, {tokens:,} of {words:,}x{width}", {"tokens": 4096, "words": 30_000, "width": 128},
    tiny={"tokens": 4, "words": 5, "width": 3},
)  # fmt: skip
def embedding(torch: Any, tokens: int, words: int, width: int) -> Step:
    torch.manual_seed(0)
    layer = torch.nn.Embedding(words, width)
    index = torch.randint(0, words, (tokens,))
    return gradient_step(lambda: layer(index), layer.weight)


@workload(
    LAYERS, "convolution 3x3, {batch}x{channels}x{side}x{side}", {"batch": 16, "channels": 64, "side": 32},
    tiny={"batch": 2, "channels": 3, "side": 4},
)  # fmt: skip
def convolution(torch: Any, batch: int, channels: int, side: int) -> Step:
    torch.manual_seed(0)
    layer = torch.nn.Conv2d(channels, channels, 3, padding=1)
    x = torch.randn(batch, channels, side, side, requires_grad=True)
    return gradient_step(lambda: layer(x), x, *layer.parameters())
