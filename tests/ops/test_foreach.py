"""Functions of lists of tensors do to each tensor what the function of the same name does to one."""

from __future__ import annotations

from typing import Any

import pytest

import leafgrad as lg
from foreach_cases import ARGUMENTS, CASES, IN_PLACE_ONLY, WITHOUT_IN_PLACE, tensors


def item(value: Any, i: int) -> Any:
    """Of an argument what belongs to the i-th tensor."""
    return value[i] if isinstance(value, list) or (isinstance(value, lg.Tensor) and value.ndim) else value


def alone(name: str, x: Any, args: tuple[Any, ...]) -> Any:
    """The same for one tensor."""
    if name == "powsum":
        return (x.abs() ** (args[0] if args else 2)).sum()
    if name == "copy":
        return args[0]
    if name == "zero":
        return lg.zeros_like(x)
    if name in ("maximum", "minimum") and not isinstance(args[0], lg.Tensor):
        args = (lg.full_like(x, args[0]),)
    if name.startswith("addc") and len(args) == 3:
        return getattr(x, name)(*args[:2], value=float(args[2]))
    return getattr(x, name)(*args)


@pytest.mark.parametrize(("name", "number"), CASES)
def test_each_tensor_by_itself(name: str, number: int) -> None:
    args = ARGUMENTS[name][number](lg)
    expected = [alone(name, x, tuple([item(a, i) for a in args])) for i, x in enumerate(tensors(lg))]
    if name not in IN_PLACE_ONLY:
        given = [x.requires_grad_() for x in tensors(lg)]
        results = getattr(lg, f"_foreach_{name}")(given, *args)
        assert isinstance(results, tuple) and all([r.requires_grad for r in results])
        assert all([lg.equal(a.detach(), b) for a, b in zip(results, expected, strict=True)])
    if name not in WITHOUT_IN_PLACE:
        given = tensors(lg)
        before = [*given]
        assert getattr(lg, f"_foreach_{name}_")(given, *args) is given
        assert all([a is b for a, b in zip(given, before, strict=True)])
        assert all([lg.equal(a, b) for a, b in zip(given, expected, strict=True)])


def test_matrices() -> None:
    (product,) = lg._foreach_mm([lg.ones(2, 3)], [lg.ones(3, 1)])
    assert product.tolist() == [[3.0], [3.0]]


def test_a_number_to_the_powers() -> None:
    assert [p.tolist() for p in lg._foreach_pow(2.0, [lg.tensor([1.0, 3.0]), lg.tensor(2.0)])] == [[2.0, 8.0], 4.0]


def test_norms_in_another_dtype() -> None:
    (norm,) = lg._foreach_norm([lg.tensor([3.0, 4.0])], 2, lg.float64)
    assert norm.dtype is lg.float64 and norm.item() == 5.0
