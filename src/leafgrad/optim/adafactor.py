"""Adafactor: Adam's division by the size of the gradients, with one row and one column for the squares of a matrix."""

from __future__ import annotations

from typing import Any

from leafgrad import _dtypes
from leafgrad._tensor.tensor import Tensor
from leafgrad.kernels.language import Number, Vector, column_sum, elementwise, maximum, row_mean, rowwise, sqrt
from leafgrad.optim.functional import as_function
from leafgrad.optim.matrix import MatrixOptimizer
from leafgrad.optim.optimizer import Group, Params, State, step_counter


class Adafactor(MatrixOptimizer):
    """Adafactor(params, lr=0.01, beta2_decay=-0.8, eps=(None, 0.001), d=1.0, weight_decay=0.0, *, maximize=False):
    steps that are relative to the size of the parameter, at most `lr` of it, and clipped at `d`."""

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        self._check_rate(lr)
        if beta2_decay > 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and eps[0] < 0.0:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if eps[1] < 0.0:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if d < 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _change(self, params: list[Any], group: Group) -> None:
        for p in params:
            self._change_one(p, p.grad, self.state[p], group)

    def _change_one(self, p: Any, g: Any, state: State, group: Group) -> None:
        if not state:
            state["step"] = step_counter()
            if g.dim() > 1:
                state["row_var"] = g.new_zeros((*g.shape[:-1], 1))
                state["col_var"] = g.new_zeros((*g.shape[:-2], 1, g.shape[-1]))
            else:
                state["variance"] = g.new_zeros(g.shape)
        if group["maximize"]:
            g = -g
        state["step"] += 1
        t, lr = state["step"].item(), float(group["lr"])
        smallest, least = group["eps"]
        if smallest is None:
            smallest = _dtypes.finfo(p.dtype).eps
        rate = max(least, size_of(p)) * min(lr, 1 / t**0.5)
        if group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        weight = t ** group["beta2_decay"]
        if g.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            of_rows, of_columns = mean_squares(g)
            rows.lerp_(of_rows, weight)
            columns.lerp_(of_columns, weight)
            mean = rows.mean(-2, keepdim=True).clamp(min=smallest)
            if g.itemsize > 2:
                update = divided(g, rows, columns, mean, smallest * smallest)
            else:  # every step is rounded, so that small variances become zero and then the smallest
                update = (rows * columns / mean).clamp(min=smallest * smallest).rsqrt() * g
        else:
            update = state["variance"].lerp_(g * g, weight).clamp(min=smallest * smallest).rsqrt() * g
        p.add_(update, alpha=-rate / max(1.0, size_of(update) / group["d"]))


@elementwise
def divided(g: Vector, of_rows: Vector, of_columns: Vector, mean: Vector, least: Number) -> Any:
    """A gradient divided by the root of its variance, which has two factors and is at least `least`."""
    return 1 / sqrt(maximum(of_rows * of_columns / mean, least)) * g


@rowwise
def squared(g: Vector) -> Any:
    """The mean of the squares in each row, and the sum of those in each column."""
    squares = g * g
    return row_mean(squares), column_sum(squares)


def mean_squares(g: Any) -> tuple[Any, Any]:
    """The mean of the squares in each row and in each column; of a matrix in one pass over memory."""
    if g.dim() == 2 and g.numel() > 0:
        rows, columns = squared(g)
        return rows.reshape(-1, 1), columns.reshape(1, -1) / g.size(0)
    squares = g * g
    return squares.mean(-1, keepdim=True), squares.mean(-2, keepdim=True)


def size_of(t: Any) -> float:
    """The root of the mean of the squares."""
    size: float = t.norm(2).item() / t.numel() ** 0.5
    return size


adafactor = as_function(
    Adafactor,
    {"row_vars": "row_var", "col_vars": "col_var", "variances": "variance", "state_steps": "step"},
    "foreach grad_scale found_inf has_complex",
    "d lr beta2_decay weight_decay eps1 eps2 maximize",
)
