"""Functions on large tensors, forward and backward."""

from __future__ import annotations

from typing import Any

from benchmarks.workload import Step, gradient_step, sizes, workload

FUNCTIONS = "Functions, forward and backward"
TABLE = {"rows": 4096, "columns": 256}
TINY_TABLE = {"rows": 3, "columns": 4}


@workload(FUNCTIONS, "tanh-gelu by operators, {n:,}", *sizes("n", 4_194_304), tiny={"n": 5})
def gelu_by_operators(torch: Any, n: int) -> Step:
    """Seven operations on large tensors, as people write them down."""
    torch.manual_seed(0)
    x = torch.randn(n, requires_grad=True)
    return gradient_step(lambda: 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x**3))), x)


@workload(
    FUNCTIONS, "gelu(approximate={approximate!r}), {n:,}",
    {"n": 4_194_304, "approximate": "tanh"}, {"n": 4_194_304, "approximate": "none"}, tiny={"n": 5},
)  # fmt: skip
def gelu(torch: Any, n: int, approximate: str) -> Step:
    torch.manual_seed(0)
    x = torch.randn(n, requires_grad=True)
    return gradient_step(lambda: torch.nn.functional.gelu(x, approximate=approximate), x)


@workload(
    FUNCTIONS, "cross-entropy, {rows:,}x{columns:,}", {"rows": 512, "columns": 10_000}, tiny={"rows": 3, "columns": 5}
)
def cross_entropy(torch: Any, rows: int, columns: int) -> Step:
    torch.manual_seed(0)
    x = torch.randn(rows, columns, requires_grad=True)
    labels = torch.randint(0, columns, (rows,))
    return gradient_step(lambda: torch.nn.functional.cross_entropy(x, labels), x)


@workload(FUNCTIONS, "layer norm, {rows:,}x{columns:,}", TABLE, tiny=TINY_TABLE)
def layer_norm(torch: Any, rows: int, columns: int) -> Step:
    torch.manual_seed(0)
    x = torch.randn(rows, columns, requires_grad=True)
    layer = torch.nn.LayerNorm(columns)
    return gradient_step(lambda: layer(x), x, *layer.parameters())


@workload(FUNCTIONS, "softmax, {rows:,}x{columns:,}", TABLE, tiny=TINY_TABLE)
def softmax(torch: Any, rows: int, columns: int) -> Step:
    torch.manual_seed(0)
    x = torch.randn(rows, columns, requires_grad=True)
    return gradient_step(lambda: torch.softmax(x, 1), x)


@workload(FUNCTIONS, "dropout, {rows:,}x{columns:,}", TABLE, tiny=TINY_TABLE)
def dropout(torch: Any, rows: int, columns: int) -> Step:
    torch.manual_seed(0)
    x = torch.randn(rows, columns, requires_grad=True)
    return gradient_step(lambda: torch.nn.functional.dropout(x, 0.5), x)
