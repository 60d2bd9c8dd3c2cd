"""LBFGS: steps along directions that take the curvature into account, as far as the last gradients show it.

The direction is -H g, where H is an estimate of the inverse of the Hessian: it maps the differences of the last
gradients to the differences of the parameters, and is never written down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad._core.bind import execute
from leafgrad._core.tensor import wrap
from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd.grad_mode import enable_grad, no_grad
from leafgrad.kernels import multiply
from leafgrad.kernels.products import moved_dot
from leafgrad.ops.pointwise.complex import view_as_real
from leafgrad.ops.registry import Family, op
from leafgrad.ops.samples import S, ValuesOnly
from leafgrad.ops.shape.join import cat
from leafgrad.optim.optimizer import Group, Optimizer, Params, State, check_options
from leafgrad.optim.wolfe import strong_wolfe

Number = Any  # a number, or a tensor of one element
Vector = Any  # all parameters or gradients in a row


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


@op
class lbfgs_direction(Family):
    """lbfgs_direction(grad, *changes, *moves, ro, scale): -H g, by two loops over the last steps, of which the first
    goes backwards; changes of the gradient, moves of the parameters, and ro = 1 / (change . move). Also the parts that
    the first loop has found."""

    inputs = ("grad",)
    options = ("ro", "scale")
    variadic = True
    results = 2
    differentiable = False
    derivatives = 0
    method = False
    public_name = ""

    def kernel(*args: Any) -> tuple[Any, list[float]]:
        grad, *vectors = args[:-2]
        ro, scale = args[-2:]
        count = len(ro)
        changes, moves = vectors[:count], vectors[count:]
        r, parts = np.negative(grad), [0.0] * count
        # each pass over the memory goes a step and finds out how far the next one is to go
        product = moved_dot(r, None, 0.0, moves[-1])
        for i in reversed(range(count)):
            parts[i] = ro[i] * product
            product = moved_dot(r, changes[i], -parts[i], moves[i - 1] if i else None)
        multiply(r, np.asarray(scale, r.dtype), r)
        product = moved_dot(r, None, 0.0, changes[0])
        for i in range(count):
            part = parts[i] - product * ro[i]
            product = moved_dot(r, moves[i], part, changes[i + 1] if i + 1 < count else None)
        return r, parts

    samples = ValuesOnly(
        "is a part of a step", lambda t: [S(t(3, 4), lr=0.1), S(t(5), lr=0.1, history_size=1)], three_steps
    )


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

    @no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """step(closure): several steps. The closure computes the loss and its gradients."""
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        def evaluate() -> tuple[float, Vector]:
            with enable_grad():
                value = float(closure())
            return value, self._gradient()

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
        """-H g, by two loops over the last steps, the first one backwards."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return gradient.neg()
        changes, moves, ro = state["old_dirs"], state["old_stps"], state["ro"]
        change, move = gradient.sub(state["prev_flat_grad"]), state["d"].mul(state["t"])
        curvature = change.dot(move)
        if curvature > 1e-10:
            if len(changes) == group["history_size"]:
                for entries in (changes, moves, ro):
                    entries.pop(0)
            changes.append(change)
            moves.append(move)
            ro.append(1.0 / curvature)
            state["H_diag"] = curvature / change.dot(change)
        if not changes:
            return gradient.neg()
        arrays = [t.array for t in (gradient, *changes, *moves)]
        options = (tuple([float(each) for each in ro]), float(state["H_diag"]))
        direction, parts = execute(lbfgs_direction.core, arrays, options)
        numbers = [wrap(np.asarray(part, direction.dtype)) for part in parts]
        state["al"] = [*numbers, *[None] * (group["history_size"] - len(parts))]
        return wrap(direction)

    def _gradient(self) -> Vector:
        """The gradients of all parameters in one row; complex numbers are pairs."""
        rows = []
        for p in self.param_groups[0]["params"]:
            gradient = p.new_zeros(p.shape) if p.grad is None else p.grad
            rows.append(as_real(gradient).reshape(-1))
        return cat.function(rows)

    def _move(self, t: Number, direction: Vector) -> None:
        """Go a part of the way in a direction."""
        start = 0
        for p in self.param_groups[0]["params"]:
            numbers = as_real(p)
            end = start + numbers.numel()
            numbers.add_(direction[start:end].reshape(numbers.shape) * t)
            start = end

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
    return view_as_real.function(t) if t.is_complex() else t
