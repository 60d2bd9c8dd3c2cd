"""Scenarios of changes in place: through which views, with which hooks, of what kind of memory. See scenarios.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scenarios import attempt, collection
from view_scenarios import facts, leaf

SCENARIOS, scenario = collection()


def of_squares(T: Any, t: Any, x: Any) -> Any:
    """The gradient of the sum of squares."""
    squares = (t * t.conj()).real if t.is_complex() else t * t
    return attempt(lambda: T.autograd.grad(squares.sum(), x, retain_graph=True))


# -- complex numbers as pairs of real ones ----------------------------------------------------------------------------

PARTS: dict[str, Callable[[Any, Any], Any]] = {
    "real": lambda T, z: z.real,
    "imaginary": lambda T, z: z.imag,
    "a slice of the imaginary": lambda T, z: z.imag[1:],
    "the imaginary of a slice": lambda T, z: z[1:].imag,
    "pairs": lambda T, z: T.view_as_real(z),
    "one pair": lambda T, z: T.view_as_real(z)[1],
    "all imaginary": lambda T, z: T.view_as_real(z)[..., 1],
}


@scenario
def parts_of_complex_numbers(T: Any) -> Any:
    seen = []
    for make in PARTS.values():
        x = leaf(T, 4)
        z = T.complex(x, x * 2) * 1
        part = make(T, z)
        seen += [facts(part, z), facts(part.mul_(2)), facts(z), z, of_squares(T, z, x), of_squares(T, part, x)]
        z.mul_(2 + 1j)
        seen += [part, of_squares(T, part, x), of_squares(T, z, x)]
        part.add_(x[0])
        seen += [of_squares(T, z, x)]
        (g,) = T.autograd.grad((z * z.conj()).real.sum(), x, create_graph=True)
        seen += [g, T.autograd.grad((g**2).sum(), x)]
    x = leaf(T, 4)
    pairs = x * 1
    z = T.view_as_complex(pairs.view(2, 2))
    seen += [facts(z, pairs), facts(z.mul_(1j)), facts(pairs), pairs, of_squares(T, pairs, x), of_squares(T, z, x)]
    z.mul_(x[0] + 1j)
    return [*seen, of_squares(T, pairs, x), of_squares(T, z, x)]


@scenario
def other_dtypes_of_the_same_memory(T: Any) -> Any:
    a, x = T.arange(4.0), leaf(T, 4)
    view = a.view(T.int32)
    seen = [facts(view, a)]
    view[0] = 1
    view.add_(0)
    seen += [a._version, facts(view), facts(a.view(T.float64)), facts((x * 1).view(T.int32))]
    calls: list[Any] = [
        lambda: T.zeros(3).view(T.float64), lambda: T.zeros(2, 2).t().view(T.float64),
        lambda: T.tensor(1.0).view(T.float64), lambda: T.zeros(3, 3)[:, :2].view(T.float64),
        lambda: T.zeros(5)[1:].view(T.float64), lambda: T.tensor(1.0).view(T.int32), lambda: T.zeros(0).view(T.float64),
        lambda: T.zeros(2, 2).t().view(T.int32), lambda: T.zeros(2, 2, dtype=T.float64).t().view(T.float32),
        lambda: T.zeros(2, dtype=T.complex64).view(T.float32), lambda: T.zeros(2).view(dtype=T.int16),
    ]  # fmt: skip
    return [*seen, *[attempt(call) for call in calls]]


# -- hooks and retained gradients -------------------------------------------------------------------------------------


@scenario
def hooks_of_what_is_changed(T: Any) -> Any:
    x, seen = leaf(T, 4), []
    base = x * 1
    view = base[:2]
    base.retain_grad()
    view.retain_grad()
    base.register_hook(lambda g: seen.append(("base", g)))
    view.register_hook(lambda g: seen.append(("view", g)))
    view.mul_(2)
    view.register_hook(lambda g: seen.append(("changed view", g)))
    base.mul_(3)
    base.register_hook(lambda g: seen.append(("changed base", g)))
    ((base * base).sum() + view.sum()).backward()
    y = leaf(T, 2)
    z = y * 1
    z.register_hook(lambda g: g * 10)
    z.mul_(2)
    z.register_hook(lambda g: g * 100)
    z.sum().backward()
    return [*seen, base.grad, view.grad, x.grad, y.grad]


# -- assignment -------------------------------------------------------------------------------------------------------


@scenario
def assigned(T: Any) -> Any:
    seen = []
    indices: list[tuple[Any, Any]] = [
        (0, 1.0), (slice(1, 3), T.ones(2)), (T.tensor([0, 1]), 5.0), (T.tensor([True, False, True, False]), 7.0),
        (..., 0.0), (None, 2.0), (-1, T.tensor(3.0)), (slice(None, None, 2), T.tensor([3.0, 4.0])),
    ]  # fmt: skip
    for index, value in indices:
        x, w = leaf(T, 4), T.ones((), requires_grad=True)
        base = x * 1
        view = base.view(2, 2)
        base[index] = value
        seen += [facts(base), base, of_squares(T, base, x), facts(view), of_squares(T, view, x)]
        base = x * 1
        view = base.view(4)
        view[index] = w * value
        seen += [facts(base), base, facts(view), of_squares(T, base, (x, w)), of_squares(T, view, (x, w))]
        seen.append(attempt(lambda x=x, index=index, value=value: x.__setitem__(index, value)))
    return seen


# -- which tensor requires grad ---------------------------------------------------------------------------------------


@scenario
def views_that_begin_to_require_grad(T: Any) -> Any:
    base = T.zeros(4)
    view, other = base[:2], base.view(2, 2)
    view.requires_grad_()
    seen = [facts(view), facts(base), attempt(base.mul_, 2), facts(view), attempt(view.mul_, 2), facts(other)]
    seen.append(attempt(lambda: facts(view.requires_grad_(False))))
    base = T.zeros(4)
    view = base[:2]
    base.requires_grad_()
    seen += [facts(view), facts(base), attempt(lambda: (view * 2).sum().backward()), base.grad, attempt(view.mul_, 2)]
    base.requires_grad = False
    return [*seen, facts(view)]


# -- repeated memory, several views -----------------------------------------------------------------------------------


@scenario
def expanded_memory(T: Any) -> Any:
    x = leaf(T, 2)
    repeated = (x * 1)[:1].expand(3)
    calls: list[Any] = [
        lambda: repeated.mul_(2), lambda: repeated.copy_(T.ones(3)), lambda: repeated.zero_(),
        lambda: repeated.fill_(1.0), lambda: repeated.__setitem__(0, 5.0), lambda: facts(repeated[0].mul_(2)),
        lambda: repeated.add_(repeated),
    ]  # fmt: skip
    return [*[attempt(call) for call in calls], repeated]


SPLITS: dict[str, Callable[[Any, Any], Any]] = {
    "split": lambda T, t: t.split(2),
    "split into sizes": lambda T, t: t.split([2, 4]),
    "split columns": lambda T, t: t.view(2, 3).split(1, 1),
    "chunk": lambda T, t: t.chunk(2),
    "unbind": lambda T, t: t.unbind(),
    "tensor_split": lambda T, t: T.tensor_split(t, 3),
    "iteration": lambda T, t: list(t),
}


@scenario
def several_views_at_once(T: Any) -> Any:
    seen = []
    for split in SPLITS.values():
        x = leaf(T, 6)
        base = x * 1
        parts = split(T, base)
        inner = parts[1].view(-1)
        seen += [facts(parts[0], base), attempt(parts[0].mul_, 2), facts(inner, base), attempt(inner.mul_, 2)]
        base.mul_(2)
        seen += [attempt(lambda parts=parts: parts[0] + 1), attempt(lambda inner=inner: facts(inner))]
        constants = split(T, T.zeros(6))
        seen += [attempt(lambda parts=constants: facts(parts[0].mul_(2))), attempt(constants[1].mul_, x.sum())]
    return seen


@scenario
def a_chain_of_changes(T: Any) -> Any:
    x = leaf(T, 6)
    base = x * 1
    rows = base.view(2, 3)
    row = rows[0]
    end = row[1:]
    end.mul_(2)
    row.add_(x[:3])
    rows.t()[0].mul_(x[:2])
    base[3:].copy_(x[:3])
    end.sub_(1)
    rows.t_()
    end.mul_(x[0] + 2)
    seen = [facts(t) for t in (base, rows, row, end)] + [of_squares(T, t, x) for t in (base, rows, row, end)]
    (g,) = T.autograd.grad((base**3).sum(), x, create_graph=True)
    return [*seen, base, g, T.autograd.grad(g.sum(), x)]


@scenario
def assigned_through_views_of_a_reshaped_base(T: Any) -> Any:
    seen = []
    reshapes: list[Any] = [lambda t: t.t_(), lambda t: t.unsqueeze_(1), lambda t: t.transpose_(0, 1).unsqueeze_(0)]
    for reshape in reshapes:
        x, w = leaf(T, 12), T.tensor(2.0, requires_grad=True)
        base = x.view(3, 4) * 1
        repeated, column = base.unsqueeze(0).expand(2, 3, 4), base[:, 1]
        reshape(base)
        repeated[0, 1] = w * 3
        column[0] = w * w
        seen += [facts(t) for t in (base, repeated, column)] + [base, repeated]
        seen += [of_squares(T, t, (x, w)) for t in (base, repeated, column)]
        (g,) = T.autograd.grad((base**3).sum(), w, create_graph=True)
        seen += [g, T.autograd.grad(g, w)]
    return seen
