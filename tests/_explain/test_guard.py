"""`leafgrad.guard`: mistakes are refused where they are made."""

from __future__ import annotations

import pytest

import leafgrad as torch
import leafgrad.nn.functional as F
from leafgrad import nn


def test_a_change_of_a_saved_tensor_is_refused_at_the_change() -> None:
    x = torch.ones(4, 2, requires_grad=True)
    with torch.guard():
        hidden = x.exp()
        with pytest.raises(RuntimeError, match="one of the variables needed for gradient computation") as error:
            hidden += 1
        assert hidden._version == 0
        hidden.sum().backward()  # nothing was changed
    assert "'hidden', shape [4, 2]: needed unchanged by the gradient of exp" in str(error.value)
    assert "hidden = x.exp()" in str(error.value)
    assert "fix     hidden = hidden + 1" in str(error.value)


def test_a_view_of_a_saved_tensor_counts() -> None:
    x = torch.ones(4, requires_grad=True)
    with torch.guard():
        y = x.exp()
        with pytest.raises(RuntimeError, match="would be modified"):
            y[0] = 3


def test_changes_that_no_gradient_minds_are_allowed() -> None:
    x = torch.ones(4, 2, requires_grad=True)
    with torch.guard():
        y = x + 1
        y += 1
        y.mul_(x.sum())
        y.relu_()
        y.sum().backward()
    assert x.grad is not None


def test_a_graph_that_is_gone_minds_no_change() -> None:
    w = torch.ones(2, requires_grad=True)
    with torch.guard():
        kept = (w * w).sum()
        kept.backward()  # which frees what was saved
        with torch.no_grad():
            w -= 1
        lost = (w * w).sum()
        del lost
        with torch.no_grad():
            w -= 1
        still = (w * w).sum()
        with torch.no_grad(), pytest.raises(RuntimeError, match="would be modified"):
            w -= 1
    assert still.item() == 2


def test_training_goes_on_as_usual() -> None:
    def train() -> torch.Tensor:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(3):
            optimizer.zero_grad()
            loss = F.mse_loss(model(torch.ones(2, 3)), torch.zeros(2, 1))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            model.state_dict()
        return loss

    with torch.guard():
        guarded = train()
    assert torch.equal(guarded, train())


@pytest.mark.parametrize(
    ("cut", "fix"),
    [
        (lambda x: x.exp().detach(), "detach"),
        (lambda x: x.exp().data, "data"),
        (lambda x: torch.tensor(x.exp()), "tensor"),
    ],
)
@pytest.mark.filterwarnings("ignore:To copy construct")
def test_a_cut_is_refused(cut: object, fix: str) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.guard(), pytest.raises(RuntimeError, match=f"the graph ends here: cut by .?{fix}"):
        cut(x)  # type: ignore[operator]
    with torch.guard(cuts=False):
        cut(x)  # type: ignore[operator]


def test_what_was_computed_under_no_grad_may_not_become_part_of_a_graph() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.guard():
        with torch.no_grad():
            y = x.exp()
        assert y.sum() > 0  # a test of a model, for instance
        with pytest.raises(RuntimeError, match=r"computed under no_grad\(\)") as error:
            x * y
        assert "y = x.exp()" in str(error.value)
        assert x.exp().argmax().item() == 0  # integers have no gradient anyway
        assert x.sum().item() == 2  # and a number may be looked at


def test_a_nan_is_refused_where_it_is_made() -> None:
    x = torch.tensor([1.0, -1.0], requires_grad=True)
    with torch.guard(), pytest.raises(RuntimeError, match="sqrt makes nan of numbers that are none") as error:
        x.sqrt()
    assert "lies between -1 and 1" in str(error.value)
    with torch.guard(nan=False):
        x.sqrt()
    with torch.guard():
        torch.tensor([float("nan")]).exp()  # not made here


def test_a_nan_in_a_gradient_is_refused() -> None:
    x = torch.zeros(2, requires_grad=True)
    with torch.guard(), pytest.raises(RuntimeError, match=r"Function 'SqrtBackward0' returned nan values"):
        torch.where(x > 0, x.sqrt(), x).sum().backward()
