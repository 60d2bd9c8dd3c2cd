"""Sums of very many numbers, and scans over them, lose no digits, however the numbers lie in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leafgrad as torch

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "all": lambda full: full(100_000),
    "rows": lambda full: full(3, 30_000),
    "columns": lambda full: full(30_000, 3),
    "transposed": lambda full: full(30_000, 3).t(),
    "every second row": lambda full: full(60_000, 3)[::2],
    "every second column": lambda full: full(30_000, 6)[:, ::2],
    "every second of many columns": lambda full: full(3000, 400)[:, ::2],
    "part of a row": lambda full: full(30_000, 6)[:, 1:4],
    "permuted": lambda full: full(300, 3, 300).permute(1, 2, 0),
    "between": lambda full: full(4, 3_000, 5),
    "wide": lambda full: full(3000, 2, 100).transpose(0, 1),
    "expanded": lambda full: full(3, 1).expand(3, 30_000),
    "expanded and more": lambda full: full(300, 1, 3).expand(300, 300, 3),
    "expanded and kept": lambda full: full(3000, 1, 3).expand(3000, 30, 3),
}
CHOICES: dict[int, tuple[Any, ...]] = {
    1: (0, None),
    2: (0, 1, None),
    3: (0, 1, 2, (0, 1), (0, 2), (1, 2), None),
}
# how far, relative to the sum: equal numbers are the hardest, because every lost digit is lost in the same direction
NEAR = {
    torch.float32: 64 * 2**-24,
    torch.float64: 64 * 2**-53,
    torch.complex64: 64 * 2**-24,
    torch.float16: 1e-3,
    torch.bfloat16: 8e-3,
}


def near(found: Any, wanted: float, epsilon: float) -> bool:
    found = found.to(torch.complex128 if found.is_complex() else torch.float64)
    return bool(((found - wanted).abs() <= abs(wanted) * epsilon).all())


@pytest.mark.parametrize("kind", NEAR, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sums(layout: str, kind: Any) -> None:
    x = LAYOUTS[layout](lambda *shape: torch.full(shape, 0.1, dtype=kind))
    one = float(x.flatten()[0].real)
    for dims in CHOICES[x.ndim]:
        for keepdim in (False, True):
            added = x.sum(dims, keepdim)
            count = x.numel() // added.numel()
            if kind is not torch.float16 or one * count < 60_000:
                assert near(added, one * count, NEAR[kind])
                if not x.is_complex():
                    assert near(x.nansum(dims, keepdim), one * count, NEAR[kind])
            assert added.is_contiguous()
            assert near(x.mean(dims, keepdim), one, NEAR[kind])
            assert near(x.norm(2, dims, keepdim) / count**0.5, one, 2 * NEAR[kind])
            assert (x.var(dims, keepdim=keepdim) == 0).all()
            assert (x.std(dims, keepdim=keepdim) == 0).all()


ROWS = torch.full((30_000, 3), 0.1)
BROADCAST: dict[str, Callable[[Any], Any]] = {
    "rows": lambda b: (b + torch.zeros(30_000, 3), ROWS),
    "columns": lambda b: (b.view(3, 1) * torch.ones(3, 30_000), ROWS.t()),
    "several dimensions": lambda b: (b * torch.ones(30, 1000, 3), ROWS.view(30, 1000, 3)),
    "every second": lambda b: (torch.zeros(3, 30_000) + b.view(3, 1), torch.full((3, 60_000), 0.1)[:, ::2]),
    "expand": lambda b: (b.expand(30_000, 3), ROWS),
    "expand columns": lambda b: (b.view(3, 1).expand(3, 30_000), ROWS.t()),
    "repeat": lambda b: (b.repeat(30_000, 1), ROWS),
    "repeat each": lambda b: (b.view(3, 1).repeat(1, 30_000), ROWS.t()),
}


@pytest.mark.parametrize("case", BROADCAST)
def test_gradients_of_what_was_repeated(case: str) -> None:
    b = torch.zeros(3, requires_grad=True)
    y, g = BROADCAST[case](b)
    y.backward(g)
    assert near(b.grad, 3_000, 64 * 2**-24)


def test_gradients_of_what_was_repeated_before_a_change_in_place() -> None:
    b = torch.zeros(3, requires_grad=True)
    y = b * 1
    many = y.expand(30_000, 3)
    y.mul_(1)
    many.backward(ROWS)
    assert near(b.grad, 3_000, 64 * 2**-24)


@pytest.mark.parametrize("kind", NEAR, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_scans(layout: str, kind: Any) -> None:
    """Sums up to each element are as exact as the last of them; float64 and half precision are added in float64 and
    float32, one after the other, so there the numbers are such that nothing is lost."""
    small = kind in (torch.float16, torch.bfloat16)
    value = 2.0**-6 if small else 0.125 if kind is torch.float64 else 0.1
    x = LAYOUTS[layout](lambda *shape: torch.full(shape, value, dtype=kind)).detach().requires_grad_()
    one = float(x.detach().flatten()[0].real)
    for dim in range(x.ndim):
        y = x.cumsum(dim)
        (g,) = torch.autograd.grad(y, x, x.detach())
        wanted = torch.arange(1, x.shape[dim] + 1).to(torch.float64) * one
        for sums, order in ((y.detach(), wanted), (g, wanted.flip(0))):
            along = sums.movedim(dim, -1).reshape(-1, x.shape[dim])[0].to(torch.complex128).real
            epsilon = {torch.float16: 5e-4, torch.bfloat16: 4e-3, torch.float64: 0}.get(kind, 6e-8)
            assert bool(((along - order).abs() <= order.abs() * epsilon).all())
