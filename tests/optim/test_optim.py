"""leafgrad.optim without PyTorch: each optimiser against its formula written out, curves against stored numbers."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import leafgrad as lg
import leafgrad.nn as nn
import leafgrad.optim as optim

Formula = Callable[[dict[str, Any], Any, Any, int], Any]

# Each formula, as the papers have it: (what it remembers, p, g, number of the step) -> the new p. In float64.


def sgd(
    lr: float = 0.1,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
    maximize: bool = False,
) -> Formula:
    def formula(memory: dict[str, Any], p: Any, g: Any, t: int) -> Any:
        g = (-g if maximize else g) + weight_decay * p
        v = momentum * memory["v"] + (1 - dampening) * g if t > 1 else g
        memory["v"] = v
        if momentum:
            g = g + momentum * v if nesterov else v
        return p - lr * g

    return formula


def adam(
    lr: float = 0.1,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    amsgrad: bool = False,
    maximize: bool = False,
    decoupled: bool = False,
) -> Formula:
    def formula(memory: dict[str, Any], p: Any, g: Any, t: int) -> Any:
        g = -g if maximize else g
        if decoupled:
            p = p - lr * weight_decay * p
        else:
            g = g + weight_decay * p
        m = memory["m"] = betas[0] * memory.get("m", 0) + (1 - betas[0]) * g
        v = memory["v"] = betas[1] * memory.get("v", 0) + (1 - betas[1]) * g**2
        if amsgrad:
            v = memory["largest"] = np.maximum(memory.get("largest", 0), v)
        return p - lr * (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps)

    return formula


def rmsprop(
    lr: float = 0.1,
    alpha: float = 0.99,
    eps: float = 1e-8,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    centered: bool = False,
    maximize: bool = False,
) -> Formula:
    def formula(memory: dict[str, Any], p: Any, g: Any, t: int) -> Any:
        g = (-g if maximize else g) + weight_decay * p
        v = memory["v"] = alpha * memory.get("v", 0) + (1 - alpha) * g**2
        m = memory["m"] = alpha * memory.get("m", 0) + (1 - alpha) * g
        root = np.sqrt(v - m**2 if centered else v) + eps
        b = memory["b"] = momentum * memory.get("b", 0) + g / root
        return p - lr * b

    return formula


FORMULAS: dict[str, tuple[type[optim.Optimizer], Callable[..., Formula], list[dict[str, Any]]]] = {
    "SGD": (
        optim.SGD,
        sgd,
        [
            {},
            {"momentum": 0.9},
            {"momentum": 0.9, "dampening": 0.2},
            {"momentum": 0.9, "nesterov": True},
            {"weight_decay": 0.1},
            {"maximize": True},
            {"momentum": 0.8, "weight_decay": 0.1, "maximize": True, "nesterov": True},
        ],
    ),
    "Adam": (
        optim.Adam,
        adam,
        [
            {},
            {"betas": (0.5, 0.7), "eps": 1e-3},
            {"weight_decay": 0.1},
            {"amsgrad": True},
            {"maximize": True},
            {"weight_decay": 0.1, "amsgrad": True, "maximize": True},
        ],
    ),
    "AdamW": (
        optim.AdamW,
        lambda **options: adam(decoupled=True, **{"weight_decay": 0.01, **options}),
        [{}, {"weight_decay": 0.3}, {"amsgrad": True, "maximize": True}],
    ),
    "RMSprop": (
        optim.RMSprop,
        rmsprop,
        [
            {},
            {"alpha": 0.7, "eps": 1e-3},
            {"weight_decay": 0.1},
            {"momentum": 0.9},
            {"centered": True},
            {"maximize": True},
            {"momentum": 0.5, "centered": True, "weight_decay": 0.1, "maximize": True},
        ],
    ),
}
CASES = [(name, options) for name, (_, _, cases) in FORMULAS.items() for options in cases]


@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
@pytest.mark.parametrize("shape", [(), (1, 1), (3, 2), (200_000,)])
def test_formulas(name: str, options: dict[str, Any], shape: tuple[int, ...]) -> None:
    cls, make, _ = FORMULAS[name]
    formula = make(lr=0.1, **options)
    rng = np.random.default_rng(0)
    expected = rng.standard_normal(shape)
    p = nn.Parameter(lg.tensor(expected))
    optimizer = cls([p], lr=0.1, **options)  # type: ignore[call-arg]
    memory: dict[str, Any] = {}
    for t in range(1, 6):
        g = np.asarray(rng.standard_normal(shape))
        p.grad = lg.tensor(g)
        optimizer.step()
        expected = formula(memory, expected, g, t)
        np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-10, atol=1e-12)
        assert p.grad.array is not None and np.array_equal(p.grad.array, g)  # the gradient stays as it is


# What PyTorch's training gives, for the same seed: the loss at steps 1, 10, 20 and 30.
CURVES: dict[str, tuple[Callable[[Any], optim.Optimizer], list[float]]] = {
    "SGD": (lambda p: optim.SGD(p, lr=0.1), [0.7276177, 0.6904061, 0.6555991, 0.621226]),
    "SGD with momentum": (
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
        [0.7276177, 0.5925202, 0.4260133, 0.4122338],
    ),
    "Adam": (lambda p: optim.Adam(p, lr=0.05), [0.7276177, 0.4449324, 0.3570091, 0.2714347]),
    "AdamW": (
        lambda p: optim.AdamW(p, lr=0.05, weight_decay=0.1, amsgrad=True),
        [0.7276177, 0.4479393, 0.3615901, 0.2845385],
    ),
    "RMSprop": (lambda p: optim.RMSprop(p, lr=0.01, momentum=0.5), [0.7276177, 0.3749538, 0.2367488, 0.0875811]),
}


@pytest.mark.parametrize("name", CURVES)
def test_same_seed_same_curve_as_pytorch(name: str) -> None:
    make, expected = CURVES[name]
    lg.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    inputs, labels = lg.randn(8, 4), lg.randint(0, 2, (8,))
    optimizer, criterion = make(model.parameters()), nn.CrossEntropyLoss()
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert [losses[i] for i in (0, 9, 19, 29)] == pytest.approx(expected, rel=1e-5)


def test_a_classifier_learns() -> None:
    lg.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 3))
    inputs = lg.randn(200, 20)
    labels = (inputs[:, :3] + 0.1 * lg.randn(200, 3)).argmax(1)
    optimizer, criterion = optim.Adam(model.parameters(), lr=0.01), nn.CrossEntropyLoss()
    for _ in range(60):
        optimizer.zero_grad()
        criterion(model(inputs), labels).backward()
        optimizer.step()
    model.eval()
    assert (model(inputs).argmax(1) == labels).float().mean().item() > 0.95


# -- what a step does to a parameter ----------------------------------------------------------------------------------


def with_gradient(*values: float) -> nn.Parameter:
    p: nn.Parameter = nn.Parameter(lg.tensor(list(values)))
    p.grad = lg.ones(len(values))
    return p


def test_a_step_happens_in_place() -> None:
    p = with_gradient(1.0, 2.0)
    data, version = p.data, p._version
    optim.SGD([p], lr=0.5).step()
    assert data.tolist() == [0.5, 1.5] and p._version == version + 1


def test_a_step_between_forward_and_backward_is_noticed() -> None:
    w, x = with_gradient(1.0, 2.0), lg.ones(2, requires_grad=True)
    loss = (w * x).sum()
    optimizer = optim.SGD([w], lr=0.5)
    optimizer.step()
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation(?s:.*)optimizer.step\(\)"):
        loss.backward()


def test_parameters_without_gradient_are_left_alone() -> None:
    p, q = with_gradient(1.0), nn.Parameter(lg.ones(1))
    optimizer = optim.Adam([p, q])
    optimizer.step()
    assert q.tolist() == [1.0] and q not in optimizer.state
    q.grad = lg.ones(1)
    optimizer.step()
    assert optimizer.state[p]["step"].item() == 2.0 and optimizer.state[q]["step"].item() == 1.0
    # the corrections go by each parameter's own number of steps
    assert q.item() == pytest.approx(1 - 0.001, abs=1e-6)


def test_data_may_be_replaced() -> None:
    p = with_gradient(1.0, 2.0)
    optimizer = optim.SGD([p], lr=0.5)
    optimizer.step()
    p.data = lg.zeros(2)
    optimizer.step()
    assert p.tolist() == [-0.5, -0.5]
    p.data = lg.zeros(2, dtype=lg.float64)
    p.grad = lg.ones(2, dtype=lg.float64)
    optimizer.step()
    assert p.tolist() == [-0.5, -0.5] and p.dtype is lg.float64


def test_half_precision_is_computed_in_single() -> None:
    p = nn.Parameter(lg.ones(3, dtype=lg.float16))
    p.grad = lg.ones(3, dtype=lg.float16)
    optimizer = optim.Adam([p], lr=0.001)  # eps = 1e-8 is zero in float16
    p.grad.zero_()
    optimizer.step()
    assert p.tolist() == [1.0, 1.0, 1.0] and p.dtype is lg.float16
    assert optimizer.state[p]["exp_avg"].dtype is lg.float16


def test_a_training_loop_leaves_nothing_behind() -> None:
    model = nn.Linear(3, 1)
    optimizer = optim.Adam(model.parameters())
    x = lg.randn(4, 3)

    def step() -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    step()
    gc.collect()
    gc.disable()
    try:
        for _ in range(300):
            step()
        assert gc.collect() == 0
    finally:
        gc.enable()


# -- groups, state ----------------------------------------------------------------------------------------------------


def test_groups_have_options_of_their_own() -> None:
    p, q, r = with_gradient(1.0), with_gradient(1.0), with_gradient(1.0)
    optimizer = optim.SGD([{"params": [p]}, {"params": q, "lr": 0.5}], lr=0.1)
    optimizer.add_param_group({"params": [r], "lr": 1.0, "maximize": True})
    optimizer.step()
    assert [p.item(), q.item(), r.item()] == pytest.approx([0.9, 0.5, 2.0])
    optimizer.param_groups[0]["lr"] = 0.2
    optimizer.step()
    assert p.item() == pytest.approx(0.7)


def test_printed_form() -> None:
    text = (
        "SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: False\n    foreach: None\n    fused: None\n"
        "    lr: 0.1\n    maximize: False\n    momentum: 0\n    nesterov: False\n    weight_decay: 0\n)"
    )
    assert repr(optim.SGD([with_gradient(1.0)], lr=0.1)) == text


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("through", [lambda state: state, lambda state: pickle.loads(pickle.dumps(state))])
def test_state_round_trip(name: str, through: Callable[[Any], Any]) -> None:
    cls = FORMULAS[name][0]
    p, q = with_gradient(1.0, 2.0), with_gradient(1.0, 2.0)
    one = cls([p], lr=0.1)  # type: ignore[call-arg]
    one.step()
    two = cls([q], lr=0.7)  # type: ignore[call-arg]
    two.load_state_dict(through(copy.deepcopy(one.state_dict())))
    with lg.no_grad():
        q.copy_(p)
    one.step()
    two.step()
    assert p.tolist() == q.tolist() and two.param_groups[0]["lr"] == 0.1
    assert list(one.state_dict()) == ["state", "param_groups"] and one.state_dict()["param_groups"][0]["params"] == [0]


def test_layout_of_the_state() -> None:
    def names(optimizer: optim.Optimizer) -> list[str]:
        optimizer.step()
        return list(optimizer.state_dict()["state"].get(0, {}))

    assert names(optim.SGD([with_gradient(1.0)])) == []
    assert names(optim.SGD([with_gradient(1.0)], momentum=0.9)) == ["momentum_buffer"]
    assert names(optim.Adam([with_gradient(1.0)])) == ["step", "exp_avg", "exp_avg_sq"]
    assert names(optim.AdamW([with_gradient(1.0)], amsgrad=True)) == ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"]
    everything = optim.RMSprop([with_gradient(1.0)], momentum=0.5, centered=True)
    assert names(everything) == ["step", "square_avg", "momentum_buffer", "grad_avg"]
    (state,) = everything.state.values()
    assert state["step"].dtype is lg.float32 and state["step"].shape == () and state["step"].item() == 1.0


def test_optimizers_are_copied_and_pickled_with_their_model() -> None:
    model = nn.Linear(2, 1)
    optimizer = optim.Adam(model.parameters(), lr=0.1)
    model(lg.ones(1, 2)).sum().backward()
    optimizer.step()
    for again in (copy.deepcopy((model, optimizer)), pickle.loads(pickle.dumps((model, optimizer)))):
        twin, other = again
        assert other.param_groups[0]["params"][0] is twin.weight
        twin(lg.ones(1, 2)).sum().backward()
        other.step()
        assert other.state[twin.weight]["step"].item() == 2.0


def test_closures_and_hooks() -> None:
    p = nn.Parameter(lg.ones(1))
    optimizer = optim.SGD([p], lr=0.25)
    seen: list[str] = []

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        seen.append("closure")
        return loss

    assert optimizer.step(closure).item() == 1.0 and p.item() == 0.5
    before = optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append("before"))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append("after"))
    optimizer.step(closure)
    before.remove()
    optimizer.step()
    assert seen == ["closure", "before", "closure", "after", "after"]


def test_an_optimizer_of_ones_own() -> None:
    class Signs(optim.Optimizer):
        """p = p - lr sign(g), in tensor operations."""

        def __init__(self, params: Any, lr: float) -> None:
            super().__init__(params, {"lr": lr})

        @lg.no_grad()
        def step(self, closure: Any = None) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(group["lr"] * p.grad.sign())

    p = with_gradient(1.0, 2.0)
    optimizer = Signs([p], lr=0.5)
    optimizer.step()
    assert p.tolist() == [0.5, 1.5]
    with pytest.raises(NotImplementedError):
        optim.Optimizer([p], {}).step()


# -- errors -----------------------------------------------------------------------------------------------------------


def test_errors() -> None:
    p = with_gradient(1.0)
    for make, error, message in [
        (lambda: optim.SGD([p], lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda: optim.SGD([p], momentum=-1), ValueError, "Invalid momentum value: -1"),
        (lambda: optim.SGD([p], nesterov=True), ValueError, "Nesterov momentum requires a momentum and zero dampening"),
        (lambda: optim.Adam([p], betas=(1.0, 0.9)), ValueError, "Invalid beta parameter at index 0: 1.0"),
        (lambda: optim.Adam([p], eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda: optim.RMSprop([p], alpha=-1), ValueError, "Invalid alpha value: -1"),
        (lambda: optim.SGD([]), ValueError, "optimizer got an empty parameter list"),
        (lambda: optim.SGD(p), TypeError, "params argument given to the optimizer should be an iterable"),
        (lambda: optim.SGD([p * 2]), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda: optim.SGD([3]), TypeError, "optimizer can only optimize Tensors, but one of the params is int"),
        (lambda: optim.SGD([{"params": p}, {"params": p}]), ValueError, "more than one parameter group"),
        (lambda: optim.Adam([p], capturable=True).step(), AssertionError, "capturable=True"),
    ]:
        with pytest.raises(error, match=message):
            make()
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([p, p])


class Counting(lg.optim.Optimizer):
    """Somebody's own, which keeps what it likes."""

    def __init__(self, params: Any) -> None:
        super().__init__(params, {"lr": 0.1})

    def step(self) -> None:  # type: ignore[override]
        for p in self.param_groups[0]["params"]:
            self.state[p] = {"step": 3, "moments": {"step": lg.ones(()), "first": lg.ones(1)}, "pair": (lg.ones(1), 2)}


def test_states_of_ones_own_are_loaded_as_they_are() -> None:
    source = Counting([lg.nn.Parameter(lg.ones(1))])
    source.step()
    target = Counting([lg.nn.Parameter(lg.ones(1, dtype=lg.float64))])
    target.load_state_dict(source.state_dict())
    state = target.state_dict()["state"][0]
    assert type(state["step"]) is int and state["moments"]["step"].dtype is lg.float32
    assert state["moments"]["first"].dtype is lg.float64
    assert type(state["pair"]) is tuple and state["pair"][0].dtype is lg.float64 and state["pair"][1] == 2
    assert target.defaults == {"lr": 0.1, "differentiable": False}  # as in PyTorch, for groups that are added later


def test_numbers_of_steps_from_long_ago_become_tensors() -> None:
    for kind in (lg.optim.Adam, lg.optim.Adafactor):
        p = lg.nn.Parameter(lg.ones(2))
        optimizer = kind([p])
        p.grad = lg.ones(2)
        optimizer.step()
        saved = optimizer.state_dict()
        saved["state"][0]["step"] = 3
        optimizer.load_state_dict(saved)
        assert lg.equal(optimizer.state[p]["step"], lg.tensor(3.0))
        optimizer.step()


def test_the_state_of_lbfgs_is_found_by_its_parameters() -> None:
    p = lg.nn.Parameter(lg.ones(2))
    optimizer = lg.optim.LBFGS([p], max_iter=1)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p**4).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert optimizer.state[optimizer._params[0]]["n_iter"] == 1
