"""Adafactor: Adam's division by the size of the gradients, with one row and one column for the squares of a matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from leafgrad import _dtypes
from leafgrad._core.bind import execute
from leafgrad._tensor.tensor import Tensor
from leafgrad.kernels.fused.in_place import advanced, moved_towards
from leafgrad.kernels.halves import at_least_single
from leafgrad.kernels.language import (
    Number,
    Total,
    Vector,
    column_sum,
    elementwise,
    maximum,
    row_mean,
    rowwise,
    sqrt,
    summed,
    total,
)
from leafgrad.ops.registry import op
from leafgrad.optim.functional import as_function
from leafgrad.optim.matrix import MatrixOptimizer, PartOfAStep
from leafgrad.optim.optimizer import Group, Params
from leafgrad.optim.states import count_in_tensors
from leafgrad.optim.update import steps

Array = Any

OF_A_MATRIX = ("row_var", "col_var")
OF_A_VECTOR = ("variance",)


@elementwise
def divided(g: Vector, of_rows: Vector, of_columns: Vector, mean: Vector, least: Number) -> Any:
    """A gradient divided by the root of its variance, which has two factors and is at least `least`."""
    return 1 / sqrt(maximum(of_rows * of_columns / mean, least)) * g


@elementwise
def divided_by_root(g: Vector, variance: Vector, least: Number) -> Any:
    return 1 / sqrt(maximum(variance, least)) * g


@rowwise
def squared(g: Vector) -> Any:
    """The mean of the squares in each row, and the sum of those in each column."""
    squares = g * g
    return row_mean(squares), column_sum(squares)


@summed
def squares_in_total(x: Vector) -> Total:
    return total(x * x)


def mean_squares(g: Array) -> tuple[Array, Array]:
    """The mean of the squares in each row and in each column; of a matrix in one pass over memory."""
    if g.ndim == 2 and g.size > 0:
        rows, columns = squared(g)
        return rows.reshape(-1, 1), columns.reshape(1, -1) / g.dtype.type(g.shape[0])
    squares = g * g
    return mean_along(squares, -1), mean_along(squares, -2)


def mean_along(x: Array, dim: int) -> Array:
    return at_least_single(x).mean(dim, keepdims=True).astype(x.dtype, copy=False)


def size_of(x: Array) -> float:
    """The root of the mean of the squares."""
    return math.sqrt(squares_in_total(at_least_single(x))) / math.sqrt(x.size)


def change(
    p: Array, g: Array, kept: list[Array], lr: float, beta2_decay: float, eps: Any, d: float, weight_decay: float,
    maximize: bool, step: float,
) -> None:  # fmt: skip
    """One step of a parameter, in its memory and in that of what is kept for it."""
    smallest, least = eps
    rate = max(least, size_of(p)) * min(lr, 1 / step**0.5)
    weight = step**beta2_decay
    if maximize:
        g = -g
    if weight_decay:
        p *= p.dtype.type(1 - lr * weight_decay)
    squares = mean_squares(g) if len(kept) == 2 else (g * g,)
    for average, new in zip(kept, squares, strict=True):
        moved_towards(average, new, weight, weight >= 0.5, average)
    if len(kept) == 1:
        update = divided_by_root(g, kept[0], smallest * smallest)
    else:
        rows, columns = kept
        mean = np.maximum(mean_along(rows, -2), rows.dtype.type(smallest))
        if g.itemsize > 2:
            update = divided(g, rows, columns, mean, smallest * smallest)
        else:  # every step is rounded, so that small variances become zero and then the smallest
            update = divided_by_root(g, rows * columns / mean, smallest * smallest)
    advanced(p, update, -rate / max(1.0, size_of(update) / d), p)


@op
class adafactor_step(PartOfAStep):
    """adafactor_step(param, grad, *kept, lr, beta2_decay, eps, d, weight_decay, maximize, step, each): one step of
    parameters, for each of which there are `each` arrays: it, its gradient, and means of squares of gradients, for rows
    and columns of a matrix, or for all elements of a vector."""

    writes_into = True
    inputs = ("param", "grad")
    options = ("lr", "beta2_decay", "eps", "d", "weight_decay", "maximize", "step", "each")

    def kernel(*args: Any) -> list[Array]:
        out: Any = args[-1] if args[-1].__class__ is list else None
        arrays, options = args[: -9 if out else -8], args[-9:-1] if out else args[-8:]
        if out is None or out[0] is not args[0]:
            out = [np.empty_like(a) for a in arrays] if out is None else out
            for target, a in zip(out, arrays):
                target[...] = a
        each = options[-1]
        for start in range(0, len(out), each):
            change(out[start], out[start + 1], out[start + 2 : start + each], *options[:-1])
        return out  # type: ignore[no-any-return]

    samples = steps("Adafactor", {"lr": 0.1}, {"weight_decay": 0.1, "maximize": True, "eps": (1e-3, 0.5)})


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

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        count_in_tensors(self.state)

    def _first(self, name: str, p: Any, group: Group) -> Any:
        g = p._grad
        if name == "row_var":
            return g.new_zeros((*g.shape[:-1], 1))
        return g.new_zeros((*g.shape[:-2], 1, g.shape[-1]) if name == "col_var" else g.shape)

    def _change(self, params: list[Any], group: Group) -> None:
        smallest, least = group["eps"]
        found: dict[tuple[Any, ...], list[Array]] = {}  # of parameters of a kind that have had equally many steps
        for p in params:
            kept = OF_A_MATRIX if p._grad.array.ndim > 1 else OF_A_VECTOR
            state, count = self._prepare(p, kept, group)
            arrays = found.setdefault((p.array.dtype, count, len(kept) + 2), [])
            arrays += [p.array, p._grad.array, *[state[name].array for name in kept]]
        self._note_change(params)
        d, weight_decay, maximize = group["d"], group["weight_decay"], group["maximize"]
        for (kind, count, each), arrays in found.items():
            eps = (_dtypes.finfo(_dtypes.from_numpy_dtype(kind)).eps if smallest is None else smallest, least)
            options = (float(group["lr"]), group["beta2_decay"], eps, d, weight_decay, maximize, count, each)
            execute(adafactor_step.core, arrays, options, arrays)


adafactor = as_function(
    Adafactor,
    {"row_vars": "row_var", "col_vars": "col_var", "variances": "variance", "state_steps": "step"},
    "foreach grad_scale found_inf has_complex",
    "d lr beta2_decay weight_decay eps1 eps2 maximize",
)
