"""LBFGS: steps along directions that take the curvature into account, as far as the last gradients show it.

The direction is -H g, where H is an estimate of the inverse of the Hessian: it maps the differences of the last
gradients to the differences of the parameters, and is never written down. Two loops over the last steps compute it
(Nocedal, 1980). What these need of the vectors, which are long, are their products with each other; so they are run on
the products (Byrd, Nocedal and Schnabel, 1994), of which a step adds a row. The vectors are gone through twice, for
their products with the gradient and for the sum that is the direction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad._core.bind import execute
from leafgrad._core.fused import change_together
from leafgrad._core.tensor import wrap
from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd.grad_mode import enable_grad, no_grad
from leafgrad.kernels.fused.in_place import advanced
from leafgrad.kernels.products import two_products, weighted
from leafgrad.ops.pointwise.complex import view_as_real
from leafgrad.ops.registry import op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.shape.join import cat
from leafgrad.optim.matrix import PartOfAStep
from leafgrad.optim.optimizer import Group, Optimizer, Params, State, check_options
from leafgrad.optim.wolfe import strong_wolfe

Number = Any  # a number, or a tensor of one element
Vector = Any  # all parameters or gradients in a row
Vectors = list[Vector]


def three_steps(torch: Any, p: Any, **options: Any) -> list[Any]:
    optimizer = torch.optim.LBFGS([p], max_iter=1, **options)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p**4 + p * p.cos()).sum()
        loss.backward()
        return loss

    p.requires_grad_()
    for _ in range(3):
        optimizer.step(closure)
    return [p.detach()]


OF_STEPS = ValuesOnly(
    "is a part of a step", lambda t: [S(t(3, 4), lr=0.1), S(t(5), lr=0.1, history_size=1)], three_steps
)


@op
class lbfgs_products(PartOfAStep):
    """lbfgs_products(grad, change, *vectors): the products of each vector with a gradient and with a change of it."""

    inputs = ("grad", "change")
    options = ()

    def kernel(*args: Any) -> Any:
        return two_products(*args)

    samples = OF_STEPS


@op
class lbfgs_direction(PartOfAStep):
    """lbfgs_direction(grad, *vectors, factor, weights): factor grad + weights[0] vectors[0] + ..."""

    inputs = ("grad",)
    options = ("factor", "weights")

    def kernel(*args: Any) -> Any:
        return weighted(args[0], args[-2], np.array(args[-1]), *args[1:-2])

    samples = OF_STEPS


class LBFGS(Optimizer):
    """LBFGS(params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-07, tolerance_change=1e-09, history_size=100,
    line_search_fn=None): `step(closure)` makes up to `max_iter` steps, and calls the closure about as often. With
    line_search_fn='strong_wolfe' the length of a step is searched for; otherwise it is the learning rate."""

    def __init__(
        self,
        params: Params,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_options(lr)
        defaults = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]  # the state is that of the first of them

    def _start(self) -> None:
        super()._start()
        # The history of which products are known, with versions, and the products. No part of the state: whoever loads
        # that can compute them.
        self._known: list[tuple[Vector, Vector, int, int]] = []
        self._squares = self._crossed = np.zeros((0, 0))

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """step(closure): several steps. The closure computes the loss and its gradients."""
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        def evaluate() -> tuple[float, Vector]:
            with enable_grad():
                value = closure()
            return float(value), self._gradient()

        with enable_grad():
            first = closure()
        loss, gradient = float(first), self._gradient()
        state["func_evals"] += 1
        if gradient.abs().max() > group["tolerance_grad"]:
            self._iterate(group, state, evaluate, loss, gradient)
        return first

    def _iterate(
        self, group: Group, state: State, evaluate: Callable[[], tuple[float, Vector]], loss: float, gradient: Vector
    ) -> None:
        lr, limit, tolerance = float(group["lr"]), group["max_iter"], group["tolerance_change"]
        evaluations = 1
        for iteration in range(1, limit + 1):
            state["n_iter"] += 1
            direction = self._direction(group, state, gradient)
            t: Number = lr if state["n_iter"] > 1 else min(1.0, 1.0 / gradient.abs().sum()) * lr
            state.update(d=direction, t=t, prev_flat_grad=gradient, prev_loss=loss)
            slope = gradient.dot(direction)
            if slope > -tolerance:
                return
            before, calls = loss, 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                at = self._evaluated_at(evaluate, direction)
                most = group["max_eval"] - evaluations
                loss, gradient, t, calls = strong_wolfe(at, direction, t, loss, gradient, slope, most)
                state["t"] = t
                self._move(t, direction)
            else:
                self._move(t, direction)
                if iteration != limit:  # after the last step nobody asks for the loss
                    loss, gradient = evaluate()
                    calls = 1
            evaluations += calls
            state["func_evals"] += calls
            if (
                evaluations >= group["max_eval"]
                or gradient.abs().max() <= group["tolerance_grad"]
                or abs(t) * direction.abs().max() <= tolerance
                or abs(loss - before) < tolerance
            ):
                return

    def _direction(self, group: Group, state: State, gradient: Vector) -> Vector:
        """-H g."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return gradient.neg()
        changes, moves, ro = state["old_dirs"], state["old_stps"], state["ro"]
        change, move = gradient.sub(state["prev_flat_grad"]), state["d"].mul(state["t"])
        square, curvature = self._curvature(change, move)
        if curvature > 1e-10:
            if len(changes) == group["history_size"]:
                for entries in (changes, moves, ro):
                    entries.pop(0)
            changes.append(change)
            moves.append(move)
            ro.append(1.0 / curvature)
            state["H_diag"] = curvature / square
        if not changes:
            return gradient.neg()
        scale = float(state["H_diag"])
        parts, weights = self._weights(scale, gradient, changes, moves, ro)
        numbers = [wrap(np.asarray(part, gradient.array.dtype)) for part in parts]
        state["al"] = [*numbers, *[None] * (group["history_size"] - len(parts))]
        arrays = [t.array for t in (gradient, *changes, *moves)]
        return wrap(execute(lbfgs_direction.core, arrays, (-scale, tuple(weights))))

    def _curvature(self, change: Vector, move: Vector) -> tuple[Number, Number]:
        """The products of a change with itself and with a move."""
        ((square, curvature),) = execute(lbfgs_products.core, [change.array, move.array, change.array], ())
        kind = change.array.dtype
        return wrap(np.asarray(square, kind)), wrap(np.asarray(curvature, kind))

    def _weights(self, scale: float, gradient: Vector, changes: Vectors, moves: Vectors, ro: list[Number]) -> Any:
        """The parts of the changes that the first loop takes away from -g, and the weights of changes and moves in the
        direction. A loop takes its numbers one by one, each from those before: that is to solve a triangular system."""
        by_changes, by_moves = self._products(gradient, changes, moves)
        diagonal = 1 / np.array([float(each) for each in ro])
        upper = np.triu(self._crossed, 1) + np.diag(diagonal)
        parts = np.linalg.solve(upper, -by_moves)
        left = -by_changes - self._squares @ parts  # products of the changes with what the first loop leaves of -g
        added = np.linalg.solve(upper.T, diagonal * parts - scale * left)
        return parts, np.concatenate([-scale * parts, added])

    def _products(self, gradient: Vector, changes: Vectors, moves: Vectors) -> Any:
        """The products of changes and moves with the gradient. Those of changes with each other, and of moves with
        changes that are not older, are brought up to date: new ones are those of the last step, unless the history was
        loaded."""
        count = len(changes)
        now = [(c, m, c.version[0], m.version[0]) for c, m in zip(changes, moves, strict=True)]
        start = next((i for i, pair in enumerate(self._known) if pair[0] is changes[0]), len(self._known))
        same = 0
        for (c, m, *versions), pair in zip(self._known[start:], now):
            if c is not pair[0] or m is not pair[1] or versions != [*pair[2:]]:
                break
            same += 1
        squares, crossed = np.zeros((count, count)), np.zeros((count, count))
        old = slice(start, start + same)
        squares[:same, :same], crossed[:same, :same] = self._squares[old, old], self._crossed[old, old]
        vectors = [t.array for t in (*changes, *moves)]
        found: Any = None
        for i in range(same, count):
            found = execute(lbfgs_products.core, [gradient.array, changes[i].array, *vectors], ())
            squares[:, i] = squares[i] = found[:count, 1]
            crossed[:, i] = found[count:, 1]
        if found is None:
            found = execute(lbfgs_products.core, [gradient.array, gradient.array, *vectors], ())
        self._known, self._squares, self._crossed = now, squares, crossed
        return found[:count, 0], found[count:, 0]

    def _gradient(self) -> Vector:
        """The gradients of all parameters in one row; complex numbers are pairs."""
        params = self.param_groups[0]["params"]
        gradients = [p.new_zeros(p.shape) if p._grad is None else p._grad for p in params]
        arrays = [g.array for g in gradients]
        kinds = {(a.__class__, a.dtype) for a in arrays}
        if len(kinds) == 1 and kinds <= USUAL:  # without a view of each: a third of the time of a step for many of them
            rows = [a.reshape(-1) for a in arrays]
            return wrap(execute(cat.core, rows, (0, tuple([row.size for row in rows]))))
        return cat.function([as_real(g).reshape(-1) for g in gradients])

    def _move(self, t: Number, direction: Vector) -> None:
        """Go a part of the way in a direction."""
        start, pairs, way = 0, [], direction.array
        for p in self.param_groups[0]["params"]:
            numbers = as_real(p)
            end = start + numbers.array.size
            pairs.append((numbers, wrap(way[start:end].reshape(numbers.array.shape))))
            start = end
        for numbers, part in change_together(advanced, pairs, float(t)):
            numbers.add_(part, alpha=float(t))

    def _evaluated_at(
        self, evaluate: Callable[[], tuple[float, Vector]], direction: Vector
    ) -> Callable[[Number], tuple[float, Vector]]:
        """A function that says what the loss and the gradient are after a part of the way, and stays here."""
        params = self.param_groups[0]["params"]
        start = [p.clone() for p in params]

        def at(t: Number) -> tuple[float, Vector]:
            self._move(t, direction)
            result = evaluate()
            for p, old in zip(params, start, strict=True):
                p.copy_(old)
            return result

        return at


def as_real(t: Any) -> Any:
    return view_as_real.function(t) if t.array.dtype.kind == "c" else t


USUAL = {(np.ndarray, np.dtype(kind)) for kind in (np.float32, np.float64)}
