"""Changes in place inside of vmap, and views that leave it: the tensors outside get to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leafgrad as torch
from leafgrad.func import grad, hessian, jacfwd, jacrev, vmap


def overwrite(x: Any) -> Any:
    x[0] = x[1] * 2
    return x


def first_cubed(x: Any) -> Any:
    x[0].mul_(3)
    return x * x


# what is done to z = w * 1, and the derivative of (z ** 2).sum() by w after it, for w = [[0, 1], [2, 3], [4, 5]]
CHANGES: list[tuple[Callable[[Any], Any], list[list[float]]]] = [
    (lambda z: vmap(lambda x: x.mul_(3))(z), [[0, 18], [36, 54], [72, 90]]),
    (lambda z: vmap(lambda x: x.mul_(3), in_dims=1)(z), [[0, 18], [36, 54], [72, 90]]),
    (lambda z: vmap(vmap(lambda x: x.mul_(3)))(z), [[0, 18], [36, 54], [72, 90]]),
    (lambda z: vmap(lambda x: x[0].mul_(3))(z), [[0, 2], [36, 6], [72, 10]]),
    (lambda z: vmap(first_cubed)(z), [[0, 2], [36, 6], [72, 10]]),
    (lambda z: vmap(overwrite)(z), [[0, 10], [0, 30], [0, 50]]),
    (lambda z: vmap(vmap(overwrite))(z[None]), [[0, 10], [0, 30], [0, 50]]),
    (lambda z: vmap(lambda x: x.zero_())(z), [[0, 0], [0, 0], [0, 0]]),
    (lambda z: vmap(lambda x: x[0])(z).mul_(5), [[0, 2], [100, 6], [200, 10]]),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_a_change_inside_a_map_is_recorded_outside(number: int) -> None:
    change, wanted = CHANGES[number]
    w = torch.arange(6.0).reshape(3, 2).requires_grad_()
    z = w * 1
    before = z._version
    change(z)
    assert z._version > before
    (found,) = torch.autograd.grad((z**2).sum(), w)
    assert found.tolist() == wanted


def test_what_comes_out_as_it_went_in_is_that_tensor() -> None:
    y = torch.randn(3, 2, requires_grad=True)
    assert vmap(lambda x: x)(y) is y
    z = y * 1
    assert vmap(lambda x: x.mul_(2))(z) is z and vmap(vmap(lambda x: x.mul_(2)))(z) is z
    assert vmap(lambda x: x, in_dims=1, out_dims=1)(z) is z
    assert vmap(lambda x: x.mul_(2), out_dims=1)(z)._base is z
    assert vmap(lambda x: x * 2)(z)._base is None


def test_a_view_that_leaves_a_map_follows_its_base() -> None:
    w = torch.arange(6.0).reshape(3, 2).requires_grad_()
    z = w * 1
    seen = vmap(lambda x: x[1])(z)
    assert seen._base is z
    z.mul_(2)
    assert torch.autograd.grad((seen**2).sum(), w)[0].tolist() == [[0, 8], [0, 24], [0, 40]]
    saved = z.sin()
    vmap(lambda x: x[1])(z).mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()
    numbers = torch.zeros(2, 2, dtype=torch.complex64)
    vmap(lambda x: x.real)(numbers).add_(1)
    assert numbers.tolist() == [[1, 1], [1, 1]]


def test_views_of_a_map_do_not_keep_it_alive() -> None:
    from leafgrad._core.modes import switches

    before = switches.batched_graphs
    kept = vmap(lambda x: x[0])(torch.ones(3, 2))
    assert switches.batched_graphs == before and kept.tolist() == [1, 1, 1]


def test_derivatives_of_changes_inside_maps() -> None:
    def change(w: Any) -> Any:
        z = w * 2
        vmap(lambda x: x.mul_(3))(z)
        return (z**2).sum()

    w = torch.arange(4.0).reshape(2, 2)
    assert grad(change)(w).tolist() == (72 * w).tolist()
    assert jacrev(change)(w).tolist() == jacfwd(change)(w).tolist() == (72 * w).tolist()
    assert hessian(change)(w).reshape(4, 4).tolist() == (72 * torch.eye(4)).tolist()


@pytest.mark.parametrize("recorded", [False, True])
def test_arguments_of_a_derivative_are_leaves(recorded: bool) -> None:
    w = torch.ones(3, 2, requires_grad=recorded)
    for transform in (grad, lambda f: vmap(grad(f))):
        with pytest.raises(RuntimeError, match=r"^a leaf Variable that requires grad is being used in an in-place"):
            transform(lambda x: x.mul_(2).sum())(w * 1)
        with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad"):
            transform(lambda x: x[0].mul_(2).sum())(w * 1)
    leaf = torch.ones(3, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        vmap(lambda x: x.mul_(2))(leaf)
    with torch.no_grad():
        vmap(lambda x: x.mul_(2))(leaf)
    assert leaf.tolist() == [[2, 2], [2, 2], [2, 2]]


def test_one_number_for_one_result() -> None:
    assert vmap(lambda x: x * 2, out_dims=(1,))(torch.ones(2, 3)).shape == (3, 2)
    with pytest.raises(ValueError, match="not compatible with the structure"):
        vmap(lambda x: x * 2, out_dims=(1, 0))(torch.ones(2, 3))
