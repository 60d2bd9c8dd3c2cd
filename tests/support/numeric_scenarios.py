"""Scenarios of numbers that are easily wrong: complex numbers seen as real ones, long sums, half precision, nan and inf
at the edges of reductions. See scenarios.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scenarios import attempt, collection

SCENARIOS, scenario = collection()

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
