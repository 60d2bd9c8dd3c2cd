"""Scenarios of numbers that are easily wrong: complex numbers seen as real ones, long sums, half precision, nan and inf
at the edges of reductions. See scenarios.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scenarios import attempt, collection

SCENARIOS, scenario = collection()

NAN, INF = float("nan"), float("inf")

# -- complex and real views of one memory -----------------------------------------------------------------------------

COMPLEX_VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "view_as_real.expand": lambda T, y: T.view_as_real(y).expand(3, 2, 3, 2),
    "imag.expand": lambda T, y: y.imag.expand(3, 2, 3),
    "real.expand": lambda T, y: y.real.expand(3, 2, 3),
    "expand.imag": lambda T, y: y.expand(3, 2, 3).imag,
    "view_as_real of expand": lambda T, y: T.view_as_real(y.expand(3, 2, 3)),
    "there and back": lambda T, y: T.view_as_complex(T.view_as_real(y).expand(3, 2, 3, 2)),
    "transposed": lambda T, y: T.view_as_real(y.t())[1].expand(4, 2, 2),
    "select, transposed": lambda T, y: T.view_as_real(y)[..., 1].t().expand(2, 3, 2),
    "part of imag": lambda T, y: y.t()[1:].imag.expand(3, 2, 2),
    "overlapping rows": lambda T, y: T.view_as_real(y).as_strided((3, 2), (1, 1)),
    "beyond the view": lambda T, y: T.view_as_real(y)[1:].as_strided((2, 2), (2, 1)),
    "imag.as_strided": lambda T, y: y.imag.as_strided((2, 2), (2, 0)),
}
REAL_VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "view_as_complex.expand": lambda T, y: T.view_as_complex(y).expand(2, 3, 2),
    "imag of view_as_complex": lambda T, y: T.view_as_complex(y).imag.expand(2, 3, 2),
    "transposed": lambda T, y: T.view_as_complex(y.transpose(0, 1)).expand(2, 2, 3),
    "as_strided": lambda T, y: T.view_as_complex(y[1:]).as_strided((2, 2), (0, 1)),
}


def after_a_change(T: Any, x: Any, see: Callable[[Any, Any], Any], through_a_view: bool, create_graph: bool) -> Any:
    x.requires_grad_()
    y = x * 1
    seen = see(T, y)
    (y[0] if through_a_view else y).mul_(2)
    total = (seen * T.arange(1.0, 1 + seen.numel()).reshape(seen.shape)).sum()
    if total.is_complex():
        total = total.real + 2 * total.imag
    (g,) = T.autograd.grad(total, x, create_graph=create_graph)
    return seen.grad_fn.name(), g.detach()


def of_all_views(T: Any, views: dict[str, Callable[[Any, Any], Any]], make: Callable[[], Any]) -> Any:
    return [
        (name, attempt(after_a_change, T, make(), see, through_a_view, create_graph))
        for name, see in views.items()
        for through_a_view in (False, True)
        for create_graph in (False, True)
    ]


@scenario
def real_numbers_of_a_complex_base_after_it_was_changed(T: Any) -> Any:
    return of_all_views(T, COMPLEX_VIEWS, lambda: T.tensor([[1 + 1j, 2 + 2j, 3 - 1j], [4, 5j, 6 + 0j]]))


@scenario
def complex_numbers_of_a_real_base_after_it_was_changed(T: Any) -> Any:
    return of_all_views(T, REAL_VIEWS, lambda: T.arange(12.0).reshape(3, 2, 2))


@scenario
def many_real_numbers_of_a_complex_base_after_it_was_changed(T: Any) -> Any:
    n = 20_000
    x = T.ones(n, dtype=T.complex64).requires_grad_()
    y = x * 1
    seen = T.view_as_real(y).expand(3, n, 2)
    y.mul_(2)
    seen.sum().backward()
    return bool((x.grad == 6 + 6j).all())


# -- numbers beside half precision ------------------------------------------------------------------------------------

NUMBERS = (65536, 65519.9, 1e5, -1e6, 1e-9, 1e39, 0.1, 3, 2049, 2**40, 10**20, INF, NAN)


def set_first(t: Any, number: Any) -> Any:
    t[0] = number
    return t


WITH_NUMBERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda T, x, n: x + n,
    "rsub": lambda T, x, n: n - x,
    "mul": lambda T, x, n: x * n,
    "rmul": lambda T, x, n: n * x,
    "div": lambda T, x, n: x / n,
    "rdiv": lambda T, x, n: n / x,
    "floor_divide": lambda T, x, n: x // n,
    "remainder": lambda T, x, n: (x % n, n % x),
    "trunc": lambda T, x, n: T.div(x, n, rounding_mode="trunc"),
    "alpha": lambda T, x, n: (T.add(x, x, alpha=n), T.sub(x, 2, alpha=n)),
    "comparisons": lambda T, x, n: (x < n, x >= n, x == n, n > x),
    "pow": lambda T, x, n: x**n,
    "rpow": lambda T, x, n: n**x,
    "clamp": lambda T, x, n: x.clamp(min=n),
    "clamp both": lambda T, x, n: x.clamp(-abs(n), abs(n)),
    "where": lambda T, x, n: (T.where(x > 0, x, n), T.where(x > 0, n, x)),
    "fill": lambda T, x, n: x.clone().fill_(n),
    "masked_fill": lambda T, x, n: x.masked_fill(x > 0, n),
    "setitem": lambda T, x, n: set_first(x.clone(), n),
    "full": lambda T, x, n: T.full((2,), n, dtype=x.dtype),
    "full_like": lambda T, x, n: T.full_like(x, n),
    "new_full": lambda T, x, n: (x.new_full((2,), n), x[:1].clone().fill_(n)),
    "one element": lambda T, x, n: (x.new_full((1,), n), x[:1].clone().fill_(n)),
    "mul_": lambda T, x, n: x.clone().mul_(n),
    "div_": lambda T, x, n: x.clone().div_(n),
    "add_ alpha": lambda T, x, n: x.clone().add_(x, alpha=n),
    "gradient of mul": lambda T, x, n: half_gradient(T, lambda y: y * n, x),
    "gradient of div": lambda T, x, n: half_gradient(T, lambda y: y / n, x),
    "gradient of rdiv": lambda T, x, n: half_gradient(T, lambda y: n / y, x),
    "gradient of pow": lambda T, x, n: half_gradient(T, lambda y: y**n, x),
}
WITH_SCALARS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "mul": lambda T, x, s: (x * s, s * x),
    "div": lambda T, x, s: (x / s, s / x),
    "mul_": lambda T, x, s: x.clone().mul_(s),
    "floor_divide": lambda T, x, s: x // s,
    "comparisons": lambda T, x, s: x < s,
    "gradients": lambda T, x, s: half_gradient(T, lambda y: y * s, x),
}


def half_gradient(T: Any, f: Callable[[Any], Any], x: Any) -> Any:
    y = x.clone().requires_grad_()
    (g,) = T.autograd.grad(f(y), y, T.full_like(x, 0.25), create_graph=True)
    return g.detach(), g.dtype == x.dtype


def half(T: Any, kind: str) -> Any:
    return T.tensor([0.5, 0, 1e-4, -2, 60000.0, 6e-8, INF], dtype=getattr(T, kind))


def wide(T: Any, seen: Any) -> Any:
    """Results in double precision, which NumPy and the stored values know."""
    if isinstance(seen, tuple):
        return [wide(T, s) for s in seen]
    return (str(seen.dtype), seen.double()) if hasattr(seen, "dtype") else seen


def beside_numbers(T: Any, kind: str) -> Any:
    x = half(T, kind)
    return [
        (name, str(n), attempt(lambda f=f, n=n: wide(T, f(T, x, n))))
        for name, f in WITH_NUMBERS.items()
        for n in NUMBERS
    ]


@scenario
def numbers_beside_float16(T: Any) -> Any:
    return beside_numbers(T, "float16")


@scenario
def numbers_beside_bfloat16(T: Any) -> Any:
    return beside_numbers(T, "bfloat16")


@scenario
def tensors_without_dimensions_beside_half_precision(T: Any) -> Any:
    return [
        (
            name,
            n,
            kind,
            attempt(lambda f=f, n=n, kind=kind, own=own: wide(T, f(T, half(T, own), T.tensor(n, dtype=kind)))),
        )
        for name, f in WITH_SCALARS.items()
        for n in (65536.0, 1e-9, 0.1, 2049.0)
        for kind in (T.float32, T.float64)
        for own in ("float16", "bfloat16")
    ]


@scenario
def numbers_that_single_precision_does_not_hold(T: Any) -> Any:
    uses: tuple[Callable[[Any, Any], Any], ...] = (
        lambda x, n: T.full((2,), n, dtype=x.dtype),
        lambda x, n: T.full_like(x, n),
        lambda x, n: x.clone().fill_(n),
        lambda x, n: T.add(x, x, alpha=n),
        lambda x, n: x.clone().add_(x, alpha=n),
        lambda x, n: x.clamp(max=n),
        lambda x, n: set_first(x.clone(), n),
    )
    return [
        attempt(use, T.ones(2, dtype=kind), n)
        for kind in (T.float32, T.float64, T.complex64)
        for n in (1e39, 3.4028234663852886e38, 3.4028235e38, INF)
        for use in uses
    ]
