"""Scenarios of numbers that are easily wrong: complex numbers seen as real ones, long sums, half precision, nan and inf
at the edges of reductions. See scenarios.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scenarios import attempt, collection, leaf

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


# -- nan and inf at the edges of reductions and powers ----------------------------------------------------------------


def two_gradients(T: Any, f: Callable[[Any], Any], values: Any, shape: tuple[int, ...]) -> Any:
    """A result, its gradient, and the gradient of that."""
    x = T.tensor(values, dtype=T.float64).reshape(shape).requires_grad_()
    y = f(x)
    (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
    weights = T.arange(1.0, 1 + g.numel(), dtype=T.float64).reshape(g.shape)
    return y, g, attempt(lambda: T.autograd.grad((g * weights).sum(), x, allow_unused=True))


@scenario
def reductions_of_one_number(T: Any) -> Any:
    functions: tuple[Callable[[Any], Any], ...] = (
        lambda x: T.softmax(x, 0),
        lambda x: T.log_softmax(x, 0),
        lambda x: T.logsumexp(x, 0),
        lambda x: x.prod(),
        lambda x: x.prod(0),
        lambda x: x.sum(),
        lambda x: x.mean(0),
        lambda x: x.cumsum(0),
    )
    return [
        attempt(two_gradients, T, f, [value], shape)
        for f in functions
        for value in (NAN, INF, -INF, 0.0, 2.0)
        for shape in ((), (1,))
    ]


@scenario
def products_among_zeros_and_infinities(T: Any) -> Any:
    return [
        attempt(
            lambda f=f, values=values, shape=shape: two_gradients(T, f, values, shape)[: 2 + (values == [0.0, 0.0])]
        )
        for f in (lambda x: x.prod(), lambda x: x.prod(-1))
        for values in ([INF, 0.0], [INF, 2.0], [0.0, 0.0], [NAN, 0.0])
        for shape in ((2,), (1, 2), (2, 1))
    ]


@scenario
def variances_without_a_degree_of_freedom(T: Any) -> Any:
    calls: list[dict[str, Any]] = [
        *[{"correction": c} for c in (0, 1, 2, 3, 6, 7, -1, 2.5)],
        *[{"dim": 0, "correction": c} for c in (0, 1, 2, 3)],
        *[{"dim": (0, 1), "correction": c, "keepdim": True} for c in (5, 6, 7)],
        *[{"dim": None, "correction": c, "keepdim": True} for c in (1, 6, 7)],
    ]
    return [
        attempt(two_gradients, T, lambda x, f=f, call=call: getattr(T, f)(x, **call), values[:count], shape)
        for f in ("var", "std")
        for call in calls
        for shape, count in (((), 1), ((1,), 1), ((2,), 2), ((0,), 0), ((2, 3), 6), ((0, 3), 0))
        for values in ([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], [0.25] * 6, [INF, 1.0, 2.0, 3.0, 4.0, 5.0])
    ]


@scenario
def powers_of_zero_and_of_negative_numbers(T: Any) -> Any:
    def gradients(base: Any, exponent: Any) -> Any:
        inputs = [t for t in (base, exponent) if t.requires_grad]
        y = base**exponent
        first = T.autograd.grad(y.sum(), inputs, create_graph=True)
        total = T.stack([g.double().sum() for g in first]).sum()
        return y, first, T.autograd.grad(total, inputs, allow_unused=True)

    bases, exponents = (0.0, -0.0, -2.0, 2.0, -INF), (0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.5)
    return [
        attempt(
            gradients,
            T.tensor(bases, dtype=first).reshape(-1, 1).requires_grad_(),
            T.tensor(exponents if many else e, dtype=second).requires_grad_(),
        )
        for first in (T.float32, T.float64)
        for second in (T.float32, T.float64)
        for many, e in ((True, 0.0), (False, 0.5), (False, 0.0), (False, 2.0))
    ]


@scenario
def roots_in_half_precision(T: Any) -> Any:
    x = T.tensor([0.0, -0.0, -INF, 2.0], dtype=T.float16)
    return [wide(T, 1 / x**e) for e in (0.5, -0.5, 2.5)]


@scenario
def powers_of_unsigned_integers(T: Any) -> Any:
    e = T.tensor([0, 1, 2, 3], dtype=T.uint8)
    return [attempt(lambda n=n: (n**e, str((n**e).dtype))) for n in (-1, -2, 2, 300, 2.5)]


@scenario
def spread_of_equal_numbers(T: Any) -> Any:
    seen = []
    for shape, dim in (((7, 3), 0), ((3, 7), 1), ((5, 7, 3), (0, 1)), ((7, 3, 5), (0, 2))):
        x = T.full(shape, 0.1).requires_grad_()
        y = x.std(dim)
        seen.append((y == 0).all().item() and (T.autograd.grad(y.sum(), x)[0] == 0).all().item())
        y = x.var(dim)
        seen.append((y == 0).all().item())
    return seen


@scenario
def medians_of_equals_and_of_what_is_no_number(T: Any) -> Any:
    seen = []
    nan = float("nan")
    for name in ("median", "nanmedian"):
        median = getattr(T, name)
        for numbers in ([1.0, 2.0, 2.0, 3.0], [2.0, 2.0, 1.0], [nan, 1.0, 2.0], [nan, nan]):
            x = leaf(T, numbers)
            out = median(x)
            out.backward()
            seen += [repr(out.item()), out.grad_fn.name(), x.grad]
        x = leaf(T, [[1.0, nan, 3.0, nan], [4.0, 3.0, 2.0, 1.0]])
        out = median(x, 1)
        out.values.sum().backward()
        seen += [repr(out.values.tolist()), out.indices, out.values.grad_fn.name(), x.grad]
        seen += [repr(median(T.ones(0)).item()), median(T.ones(0, dtype=T.int64)), median(T.ones(0, 3), 1).values]
        seen += [attempt(lambda: median(T.ones(0, 3), 0)), attempt(lambda: median(T.ones(2, dtype=T.bool)))]  # noqa: B023
        seen += [attempt(lambda: median(T.ones(2, dtype=T.complex64), 0)), median(T.tensor([3, 1, 2], dtype=T.uint8))]  # noqa: B023
    return seen


@scenario
def angles_and_signs(T: Any) -> Any:
    y, x = leaf(T, [1.0, 0.0, -2.0, 0.0]), leaf(T, [0.0, 0.0, 1.0, -3.0])
    out = T.atan2(y, x)
    out.sum().backward()
    seen = [out, y.grad, x.grad, out.grad_fn.name(), T.atan2(T.tensor([1]), T.tensor([2])), T.arctan2(y, x)]
    seen += [attempt(lambda: T.atan2(y, 1.0)), attempt(lambda: T.atan2(T.tensor([1j]), T.tensor([1j])))]
    seen += [attempt(lambda: T.tensor([1]).atan2_(T.tensor([2]))), T.tensor([1.0]).atan2_(T.tensor([2]))]
    signs = T.signbit(leaf(T, [1.0, -1.0, 0.0, -0.0]))
    seen += [signs, T.signbit(T.tensor([1, -1, 0])), T.signbit(T.tensor([True])), T.tensor([-2.0]).signbit()]
    return [*seen, attempt(lambda: T.signbit(T.tensor([1j])))]
