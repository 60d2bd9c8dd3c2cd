"""A mode that observes finds every kernel of a training step, each once, and the list can be run again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad._core.bind import run
from leafgrad._core.modes import Observer
from leafgrad._core.op import Op
from leafgrad._core.thread_state import state

F = torch.nn.functional


class Call:
    """One kernel that ran: what it was given, and what came out."""

    def __init__(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, result: Any) -> None:
        self.op = op
        self.arrays = list(arrays)
        self.options = options
        self.out = out
        self.results = list(result) if isinstance(result, (list, tuple)) else [result]


class Listing(Observer):
    """The list of all kernels, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []

    def observe(self, op: Op, arrays: Sequence[Any], options: tuple[Any, ...], out: Any, below: Any) -> Any:
        result = below(op, arrays, options, out)
        self.calls.append(Call(op, arrays, options, out, result))
        return result

    @property
    def names(self) -> list[str]:
        return [call.op.name for call in self.calls]


class Fresh:
    """Other arrays in place of those that were seen. What is no array stays as it is, and so do constants."""

    def __init__(self, given: Sequence[Any]) -> None:
        self.arrays: dict[int, Any] = {id(array): array.copy() for array in given}
        self.seen = list(given)  # so that no id is used twice
        self.unknown: list[Any] = []

    def __getitem__(self, value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return type(value)([self[v] for v in value])
        if not isinstance(value, np.ndarray):
            return value
        if id(value) not in self.arrays:
            if value.ndim and value.size:  # else it is a number of the program, or nothing
                self.unknown.append(value)
            self.arrays[id(value)] = value.copy()
            self.seen.append(value)
        return self.arrays[id(value)]

    def keep(self, seen: Any, value: Any) -> None:
        if isinstance(seen, (tuple, list)):
            for each, new in zip(seen, value, strict=True):
                self.keep(each, new)
        elif isinstance(seen, np.ndarray):
            self.arrays[id(seen)] = value
            self.seen.append(seen)


def replay(calls: list[Call], fresh: Fresh) -> None:
    """Run the kernels again, on the other arrays."""
    for call in calls:
        out = None if call.out is None else fresh[call.out]
        result = run(call.op, fresh[call.arrays], fresh[call.options], out)
        fresh.keep(call.results, list(result) if isinstance(result, (list, tuple)) else [result])


class Training:
    """A model, data and one step that uses a bit of everything."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
        self.scale = torch.nn.Parameter(torch.ones(3))
        self.parameters = [*self.model.parameters(), self.scale]
        self.optimizer = torch.optim.Adam(self.parameters, lr=0.1)
        self.x, self.y = torch.randn(5, 6), torch.tensor([0, 2, 1, 1, 0])
        self.seen = torch.zeros(5)

    def step(self) -> Any:
        hidden = F.dropout(self.model(self.x), 0.5) * self.scale + torch.rand(3)
        hidden[0, 1] = 0.5
        hidden[1:3].mul_(2.0)
        loss = F.cross_entropy(hidden, self.y) + hidden[self.y > 0].pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.seen.zero_()
        self.seen[2] = 1
        self.seen.add_(loss.detach()).fill_(3).uniform_()
        return loss

    def arrays(self) -> list[Any]:
        states = [value for s in self.optimizer.state.values() for value in s.values()]
        return [t.array for t in [*self.parameters, *states, self.x, self.y, self.seen]]


def test_a_training_step_is_a_list_of_kernels_that_can_be_run_again() -> None:
    training = Training()
    training.step()  # which makes the state of the optimiser
    given = training.arrays()
    fresh = Fresh(given)
    generator = torch.get_rng_state()
    with Listing() as listing:
        loss = training.step()
    assert not state.modes
    after = torch.get_rng_state()
    torch.set_rng_state(generator)
    replay(listing.calls, fresh)
    assert torch.equal(torch.get_rng_state(), after)
    assert fresh.unknown == [], "an array that no kernel made"
    np.testing.assert_array_equal(fresh[loss.array], loss.array)
    for own, array in zip(training.arrays(), given, strict=True):
        assert own is array
        np.testing.assert_array_equal(fresh[array], array)


def test_the_list_holds_all_parts_of_a_step_each_once() -> None:
    training = Training()
    training.step()
    with Listing() as listing:
        training.step()
    names = listing.names
    linear, layers = names.count("linear"), 2
    assert linear == layers and names.count("relu") == 1
    assert names.count("cross_entropy") == 1 and names.count("dropout_mask") == 1 and names.count("create") >= 1
    assert names.count("adam_step") == 1, "all parameters in one kernel"
    assert names.count("write_slice") == 2 and names.count("random_fill") == 1
    assert names.count("copy_like") + names.count("assign") >= len(training.parameters)
    assert names.index("cross_entropy") < names.index("adam_step")
    backward = names[names.index("cross_entropy") + 1 : names.index("adam_step")]
    assert {"mm", "sum"} <= set(backward), backward


def test_what_an_observer_sees_changes_nothing() -> None:
    watched, unwatched = Training(), Training()
    for training in (watched, unwatched):
        torch.manual_seed(1)
        training.losses = []  # type: ignore[attr-defined]
        for _ in range(3):
            if training is watched:
                with Listing():
                    training.losses.append(training.step().item())  # type: ignore[attr-defined]
            else:
                training.losses.append(training.step().item())  # type: ignore[attr-defined]
    np.testing.assert_allclose(watched.losses, unwatched.losses, rtol=1e-6)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "call"),
    {
        "select": lambda x: x[0],
        "write_slice": lambda x: x.__setitem__(0, 1.0),
        "assign": lambda x: x.fill_(2.0),
        "random_fill": lambda x: x.uniform_(),
        "create": lambda x: torch.rand(2),
        "mul": lambda x: x.requires_grad_().mul(2).sum().backward(),
        "add": lambda x: x.add_(1),
        "index_write": lambda x: x.__setitem__(x > 0, 0.0),
        "to_dtype": lambda x: x + torch.ones(2, dtype=torch.float64),
    }.items(),
)
def test_nothing_is_computed_behind_the_back_of_modes(name: str, call: Any) -> None:
    x = torch.ones(2, 2)
    with Listing() as listing:
        call(x)
    assert name in listing.names


def test_modes_nest_in_any_order() -> None:
    def f(x: Any) -> Any:
        return (x * x).sin().sum()

    x = torch.arange(6, dtype=torch.float64).reshape(3, 2)
    expected = torch.func.vmap(torch.func.grad(f))(x)
    with Listing() as outside:
        inside = torch.func.vmap(torch.func.grad(f))(x)
    np.testing.assert_allclose(inside.numpy(), expected.numpy())
    assert "sin" in outside.names

    def observed(x: Any) -> Any:
        with Listing() as listing:
            result = f(x)
        assert listing.names == ["mul", "sin", "sum"]
        return result

    np.testing.assert_allclose(torch.func.vmap(torch.func.grad(observed))(x).numpy(), expected.numpy())
    with torch.autograd.forward_ad.dual_level(), Listing() as listing:
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones_like(x))
        tangent = torch.autograd.forward_ad.unpack_dual(f(dual)).tangent
    np.testing.assert_allclose(tangent.numpy(), expected.numpy().sum())
    assert listing.names.count("sin") >= 1 and "cos" in listing.names


def test_the_tangent_of_a_product_takes_a_product_for_each_factor_that_changes() -> None:
    a, b = torch.rand(2, 3), torch.rand(3, 2)
    with Listing() as listing:
        torch.func.jvp(lambda a: a @ b, (a,), (a,))
    assert listing.names.count("mm") == 2
    with Listing() as listing:
        torch.func.jvp(torch.matmul, (a, b), (a, b))
    assert listing.names.count("mm") == 3


@pytest.mark.parametrize(
    ("name", "args"),
    [("t", ()), ("transpose", (0, 1)), ("squeeze", (0,)), ("unsqueeze", (0,)), ("as_strided", ((2,), (1,)))],
)
def test_views_in_place_are_seen_as_the_views_are(name: str, args: tuple[Any, ...]) -> None:
    listings = []
    for form in (name, f"{name}_"):
        x = torch.ones(1, 3, requires_grad=True).clone()
        with Listing() as listing:
            getattr(x, form)(*args)
        listings.append(listing.names)
    assert listings == [[name], [name]]
