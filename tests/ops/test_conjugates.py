"""conj(), .H and .mH are copies, which PyTorch has as views: what would show the difference is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import leafgrad as torch

VALUES = [[1 + 2j, 3 - 1j], [0.5j, 2.0]]
TAKEN: dict[str, Callable[[Any], Any]] = {
    "conj": lambda x: x.conj(),
    "H": lambda x: x.H,
    "mH": lambda x: x.mH,
    "adjoint": lambda x: x.adjoint(),
    "conj of a view": lambda x: x[:, :1].conj(),
}
CHANGES: dict[str, Callable[[Any], Any]] = {
    "mul_": lambda c: c.mul_(2),
    "zero_": lambda c: c.zero_(),
    "setitem": lambda c: c.__setitem__(0, 1),
    "of a view": lambda c: c[0].zero_(),
    "of the imaginary part": lambda c: c.imag.add_(1),
    "of the real part": lambda c: c.real.fill_(1),
    "of a transposed view": lambda c: c.t().neg_(),
    "copy_": lambda c: c.copy_(torch.zeros(2, 1)),
    "twice": lambda c: c.conj().mul_(2),
    "out": lambda c: torch.add(c, c, out=c),
    "detached": lambda c: c.detach().mul_(2),
    "data": lambda c: c.data.mul_(2),
}


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("taken", TAKEN)
def test_what_pytorch_would_write_to_the_tensor_itself_is_refused(taken: str, change: str, mode: Any) -> None:
    x = torch.tensor(VALUES)
    with mode(), pytest.raises(RuntimeError, match=r"are copies in leafgrad.*refused(.|\n)*resolve_conj"):
        CHANGES[change](TAKEN[taken](x))
    assert x.tolist() == VALUES
    TAKEN[taken](x).resolve_conj().mul_(2)
    TAKEN[taken](x).clone().mul_(2)
    assert x.tolist() == VALUES


def assigned(values: Any) -> Any:
    made = torch.zeros(2, *values.shape, dtype=values.dtype)
    made[0] = values
    return made.tolist()


USES: dict[str, Callable[[Any], Any]] = {
    "add": lambda c: (c + 1).tolist(),
    "abs": lambda c: c.abs().tolist(),
    "tolist": lambda c: c.tolist(),
    "view": lambda c: c[0].tolist(),
    "resolve": lambda c: c.resolve_conj().tolist(),
    "detach": lambda c: c.detach().tolist(),
    "imag": lambda c: (c.imag + 0).tolist(),
    "copy_": lambda c: torch.zeros(c.shape, dtype=c.dtype).copy_(c).tolist(),
    "copy_ of a view": lambda c: torch.zeros(c[0].shape, dtype=c.dtype).copy_(c[0]).tolist(),
    "add_": lambda c: torch.zeros(c.shape, dtype=c.dtype).add_(c).tolist(),
    "setitem": lambda c: assigned(c[0]),
    "cat": lambda c: torch.cat([c, c]).tolist(),
    "mm": lambda c: (c @ c.mH).tolist(),
    "sum": lambda c: c.sum().item(),
    "stack": lambda c: torch.stack([c[0], c[0]]).tolist(),
    "where": lambda c: torch.where(c.real > 0, c, c.conj()).tolist(),
    "print": lambda c: repr(c),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("taken", TAKEN)
def test_a_change_of_the_tensor_shows_in_its_conjugate(taken: str, use: str) -> None:
    x = torch.tensor(VALUES)
    c = TAKEN[taken](x)
    kept, part, twice = c.resolve_conj(), c[0], c.conj()
    before = USES[use](c)
    x.mul_(2j)
    assert USES[use](c) == USES[use](TAKEN[taken](x)) and USES[use](kept) == before
    assert part.tolist() == TAKEN[taken](x)[0].tolist() and twice.tolist() == TAKEN[taken](x).conj().tolist()
    assert TAKEN[taken](x).numpy(force=True).tolist() == c.numpy(force=True).tolist()


def test_the_history_of_a_conjugate_does_not_follow_a_change() -> None:
    x = torch.tensor(VALUES, requires_grad=True)
    y = x * 1
    c = y.conj()
    y.mul_(2)
    with pytest.raises(RuntimeError, match=r"changed in place after(.|\n)*conj\(\) again"):
        c.abs()
    y.conj().abs().sum().backward()


def test_gradients_are_tensors_of_their_own() -> None:
    x = torch.tensor(VALUES, requires_grad=True)
    for create_graph in (False, True):
        (g,) = torch.autograd.grad((x.conj() * (1 + 1j)).sum().real, x, create_graph=create_graph)
        assert not g.is_conj()
        g.detach().numpy()
    x.conj().abs().sum().backward()
    x.grad.mul_(2)
