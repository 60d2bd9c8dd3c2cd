"""leafgrad.optim beside torch.optim: the same training curves, states, printed forms and errors."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import leafgrad
import leafgrad.nn
import leafgrad.optim
from optim_cases import ALL, CASES, precision_of, training, twenty_steps

LIBRARIES = (leafgrad, torch)
NAMES = sorted({name for name, _ in CASES.values()})
torch.set_num_threads(1)  # the tests are small, and several of them run at the same time


def values(tensor: Any) -> Any:
    return np.array(tensor.detach().tolist())


def check_states(ours: Any, theirs: Any, rtol: float, atol: float) -> None:
    ours, theirs = ours.state_dict(), theirs.state_dict()
    assert ours["param_groups"] == theirs["param_groups"]
    assert list(ours["state"]) == list(theirs["state"])
    for number, state in theirs["state"].items():
        assert list(ours["state"][number]) == list(state)
        for name, value in state.items():
            mine = ours["state"][number][name]
            assert str(mine.dtype) == str(value.dtype) and tuple(mine.shape) == tuple(value.shape)
            np.testing.assert_allclose(values(mine), values(value), rtol=rtol, atol=atol)


@pytest.mark.parametrize("case", CASES)
def test_training_curves(case: str) -> None:
    ours, theirs = training(leafgrad, case), training(torch, case)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=2e-5, atol=2e-7)
    # Where a unit is switched off its gradients fade to eps, and their last bits decide about steps of full length:
    # with these betas soon. In double precision, below, such steps are the same.
    atol = 2e-4 if case == "nadam betas" else 2e-5
    for mine, their in zip(ours[1], theirs[1], strict=True):
        np.testing.assert_allclose(mine, their, rtol=2e-5, atol=atol)
    # The centered form divides by the root of a difference of nearly equal numbers: the last bits of a gradient, which
    # depend on the BLAS of the machine, show in the fifth digit of its momentum, whose elements are about one.
    centered = CASES[case][1].get("centered", False)
    check_states(ours[2], theirs[2], rtol=1e-3, atol=1e-4 if centered else 1e-6)
    assert repr(ours[2]) == repr(theirs[2])


@pytest.mark.parametrize("case", CASES)
def test_training_curves_in_double_precision(case: str) -> None:
    ours, theirs = training(leafgrad, case, dtype="float64"), training(torch, case, dtype="float64")
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-11)
    for mine, their in zip(ours[1], theirs[1], strict=True):
        np.testing.assert_allclose(mine, their, rtol=1e-10, atol=1e-11)
    check_states(ours[2], theirs[2], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", ALL)
def test_twenty_steps(case: str, dtype: str) -> None:
    precision = precision_of(case, dtype)
    np.testing.assert_allclose(
        twenty_steps(leafgrad, case, dtype), twenty_steps(torch, case, dtype), rtol=precision, atol=precision
    )


def one_parameter(lib: Any, array: Any, gradient: Any) -> Any:
    parameter = lib.nn.Parameter(lib.from_numpy(array.copy()))
    parameter.grad = lib.from_numpy(gradient.copy())
    return parameter


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (0,), (0, 3), (2, 3), (150_001,), (3, 50_000)])
def test_shapes(case: str, shape: tuple[int, ...]) -> None:
    name, options = CASES[case]
    rng = np.random.default_rng(0)
    start, gradient = (np.asarray(a) for a in rng.standard_normal((2, *shape)).astype(np.float32))
    results = []
    for lib in LIBRARIES:
        parameter = one_parameter(lib, start, gradient)
        optimizer = getattr(lib.optim, name)([parameter], **options)
        for _ in range(3):
            optimizer.step()
        results.append(parameter.detach().numpy())
        assert results[-1].shape == shape
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_parameters_that_are_no_plain_block_of_memory(case: str) -> None:
    name, options = CASES[case]
    start, gradient = np.random.default_rng(0).standard_normal((2, 300, 500)).astype(np.float32)
    results = []
    for lib in LIBRARIES:
        memory = lib.from_numpy(np.repeat(start, 2, axis=1))
        parameter = lib.nn.Parameter(memory[:, ::2])
        parameter.grad = lib.from_numpy(gradient.T.copy()).t()
        small = lib.nn.Parameter(lib.from_numpy(start[:4, :3].copy()).t())
        small.grad = lib.from_numpy(gradient[:3, :4].copy())
        optimizer = getattr(lib.optim, name)([parameter, small], **options)
        for _ in range(3):
            optimizer.step()
        results.append(np.concatenate([memory.numpy().ravel(), small.detach().numpy().ravel()]))
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", ["sgd all", "adam", "adamw", "rmsprop all"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(case: str, dtype: str) -> None:
    name, options = CASES[case]
    start, gradient = np.random.default_rng(0).standard_normal((2, 4, 3))
    results = []
    for lib in LIBRARIES:
        kind = getattr(lib, dtype)
        parameter = lib.nn.Parameter(lib.tensor(start.tolist(), dtype=kind))
        parameter.grad = lib.tensor(gradient.tolist(), dtype=kind)
        optimizer = getattr(lib.optim, name)([parameter], **{**options, "eps": 1e-4} if "sgd" not in case else options)
        for _ in range(3):
            optimizer.step()
        assert parameter.dtype == kind
        assert all(v.dtype == kind for k, v in optimizer.state[parameter].items() if k != "step")
        results.append(values(parameter))
    # PyTorch rounds to 16 bits after each operation, leafgrad at the end of the step
    np.testing.assert_allclose(*results, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_parameters(case: str, dtype: str) -> None:
    name, options = CASES[case]
    rng = np.random.default_rng(0)
    start, gradient = rng.standard_normal((2, 3, 4)) + 1j * rng.standard_normal((2, 3, 4))
    results = []
    for lib in LIBRARIES:
        kind = getattr(lib, dtype)
        parameter = lib.nn.Parameter(lib.tensor(start.tolist(), dtype=kind))
        parameter.grad = lib.tensor(gradient.tolist(), dtype=kind)
        optimizer = getattr(lib.optim, name)([parameter], **options)
        for _ in range(3):
            optimizer.step()
        results.append(values(parameter))
    np.testing.assert_allclose(*results, rtol=1e-5, atol=1e-6)


# -- groups, states ---------------------------------------------------------------------------------------------------


def two_layers(lib: Any) -> Any:
    lib.manual_seed(0)
    return lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.Tanh(), lib.nn.Linear(4, 2))


def train(lib: Any, model: Any, optimizer: Any, steps: int) -> None:
    lib.manual_seed(1)
    inputs = lib.randn(6, 3)
    for _ in range(steps):
        optimizer.zero_grad()
        (model(inputs) ** 2).mean().backward()
        optimizer.step()


def check_parameters(*models: Any) -> None:
    ours, theirs = ([values(p) for p in model.parameters()] for model in models)
    for mine, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, their, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_groups(name: str) -> None:
    models, texts = [], []
    for lib in LIBRARIES:
        model = two_layers(lib)
        optimizer = getattr(lib.optim, name)(
            [
                {"params": model[0].parameters(), "lr": 0.05},
                {"params": [model[2].weight], "weight_decay": 0.1},
            ],
            lr=0.01,
        )
        train(lib, model, optimizer, 5)
        optimizer.add_param_group({"params": model[2].bias, "lr": 0.5, "extra": "kept"})
        optimizer.param_groups[0]["lr"] = 0.001
        model[0].bias.requires_grad_(False)
        train(lib, model, optimizer, 5)
        models.append(model)
        texts.append(repr(optimizer) + str(optimizer.state_dict()["param_groups"]) + str(optimizer.defaults))
    check_parameters(*models)
    assert texts[0] == texts[1]


STATES: list[tuple[str, dict[str, Any]]] = [
    (name, options)
    for name in NAMES
    for options in ({}, {"momentum": 0.9}, {"amsgrad": True}, {"centered": True, "momentum": 0.5})
    if set(options) <= set(inspect.signature(getattr(torch.optim, name)).parameters)
]


@pytest.mark.parametrize(("name", "options"), STATES)
def test_states_go_from_one_library_to_the_other(name: str, options: dict[str, Any]) -> None:
    def convert(state: Any, make: Callable[[Any], Any]) -> Any:
        states = {
            number: {k: make(v.numpy().copy()) if hasattr(v, "numpy") else v for k, v in entry.items()}
            for number, entry in state["state"].items()
        }
        return {"state": states, "param_groups": state["param_groups"]}

    models = [two_layers(lib) for lib in LIBRARIES]
    optimizers = [
        getattr(lib.optim, name)(model.parameters(), lr=0.01, **options) for lib, model in zip(LIBRARIES, models)
    ]
    for lib, model, optimizer in zip(LIBRARIES, models, optimizers):
        train(lib, model, optimizer, 5)
    fresh = [getattr(lib.optim, name)(model.parameters(), lr=9.0) for lib, model in zip(LIBRARIES, models)]
    fresh[0].load_state_dict(convert(optimizers[1].state_dict(), leafgrad.from_numpy))
    fresh[1].load_state_dict(convert(optimizers[0].state_dict(), torch.from_numpy))
    for lib, model, optimizer in zip(LIBRARIES, models, fresh):
        train(lib, model, optimizer, 5)
    check_parameters(*models)
    check_states(*fresh, rtol=1e-4, atol=1e-4)


def test_loading_casts_to_the_parameters() -> None:
    found = []
    for lib in LIBRARIES:
        single, double = two_layers(lib), two_layers(lib).double()
        optimizer = lib.optim.Adam(single.parameters())
        train(lib, single, optimizer, 2)
        other = lib.optim.Adam(double.parameters())
        other.load_state_dict(optimizer.state_dict())
        found.append([{k: str(v.dtype) for k, v in state.items()} for state in other.state.values()])
    assert found[0] == found[1]


@pytest.mark.parametrize("name", NAMES)
def test_named_parameters(name: str) -> None:
    texts = []
    for lib in LIBRARIES:
        model = two_layers(lib)
        optimizer = getattr(lib.optim, name)(model.named_parameters(), lr=0.01)
        train(lib, model, optimizer, 2)
        state = optimizer.state_dict()
        optimizer.load_state_dict(state)
        texts.append(repr(optimizer) + str(optimizer.state_dict()["param_groups"]))
    assert texts[0] == texts[1]


def test_copies_keep_the_state() -> None:
    for lib in LIBRARIES:
        model = two_layers(lib)
        optimizer = lib.optim.Adam(model.parameters())
        train(lib, model, optimizer, 2)
        twin = copy.deepcopy(optimizer)
        assert repr(twin) == repr(optimizer) and len(twin.state) == len(optimizer.state)
        twin.step()


def test_closure_and_hooks() -> None:
    found = []
    for lib in LIBRARIES:
        seen: list[Any] = []
        p = lib.nn.Parameter(lib.ones(2))
        optimizer = lib.optim.SGD([p], lr=0.1)

        def closure(lib: Any = lib, p: Any = p, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            assert lib.is_grad_enabled()
            loss = (p**2).sum()
            loss.backward()
            return loss

        with lib.no_grad():
            seen.append(optimizer.step(closure).item())
        before = optimizer.register_step_pre_hook(lambda o, args, kwargs, seen=seen: seen.append(("pre", len(args))))
        after = optimizer.register_step_post_hook(lambda o, args, kwargs, seen=seen: seen.append(("post", len(kwargs))))
        optimizer.step(closure)
        optimizer.step(closure=closure)
        before.remove()
        after.remove()
        optimizer.step()
        found.append((seen, p.tolist()))
    assert found[0][0] == found[1][0]
    assert found[0][1] == pytest.approx(found[1][1])


def test_zero_grad() -> None:
    found = []
    for lib in LIBRARIES:
        p, q = lib.nn.Parameter(lib.ones(2)), lib.nn.Parameter(lib.ones(2))
        optimizer = lib.optim.SGD([p, q], lr=0.1)
        (p * 2).sum().backward()
        optimizer.zero_grad(set_to_none=False)
        first = [p.grad.tolist(), q.grad is None]
        optimizer.zero_grad()
        found.append([*first, p.grad is None])
    assert found[0] == found[1]


def test_data_may_be_replaced() -> None:
    models = []
    for lib in LIBRARIES:
        model = two_layers(lib)
        optimizer = lib.optim.Adam(model.parameters(), lr=0.1)
        train(lib, model, optimizer, 2)
        for p in model.parameters():
            p.data = p.data * 2
        train(lib, model, optimizer, 2)
        with lib.no_grad():
            for p in model.parameters():
                p.mul_(0.5)
        train(lib, model, optimizer, 2)
        models.append(model)
    check_parameters(*models)


def test_learning_rate_as_a_tensor() -> None:
    models = []
    for lib in LIBRARIES:
        model = two_layers(lib)
        rate = lib.tensor(0.1)
        optimizer = lib.optim.SGD(model.parameters(), lr=rate, momentum=0.5)
        train(lib, model, optimizer, 2)
        rate.fill_(0.2)
        train(lib, model, optimizer, 2)
        models.append(model)
    check_parameters(*models)


def test_a_step_is_an_in_place_change() -> None:
    for lib in LIBRARIES:
        w = lib.nn.Parameter(lib.ones(2))
        x = lib.ones(2, requires_grad=True)
        loss = (w * x * x).sum()
        w.grad = lib.ones(2)
        before = w._version
        lib.optim.SGD([w], lr=0.1).step()
        assert w._version == before + 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            loss.backward()


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "optim.SGD([p], lr=-1)",
        "optim.SGD([p], lr=-0.5, momentum=-1)",
        "optim.SGD([p], momentum=-1)",
        "optim.SGD([p], weight_decay=-1)",
        "optim.SGD([p], nesterov=True)",
        "optim.SGD([p], momentum=0.9, dampening=0.1, nesterov=True)",
        "optim.SGD([p], lr=lib.ones(2))",
        "optim.Adam([p], lr=-1)",
        "optim.Adam([p], eps=-1)",
        "optim.Adam([p], betas=(1.0, 0.5))",
        "optim.Adam([p], betas=(0.5, -0.1))",
        "optim.Adam([p], betas=(0, 0.9))",
        "optim.Adam([p], weight_decay=-1)",
        "optim.AdamW([p], lr=-1)",
        "optim.AdamW([p], betas=(1.0, 0.5))",
        "optim.AdamW([p], weight_decay=-1)",
        "optim.RMSprop([p], lr=-1)",
        "optim.RMSprop([p], eps=-1)",
        "optim.RMSprop([p], momentum=-1)",
        "optim.RMSprop([p], weight_decay=-1)",
        "optim.RMSprop([p], alpha=-1)",
        "optim.SGD(p, lr=0.1)",
        "optim.SGD([], lr=0.1)",
        "optim.SGD(3, lr=0.1)",
        "optim.SGD([3], lr=0.1)",
        "optim.SGD([[p]], lr=0.1)",
        "optim.SGD([p * 2], lr=0.1)",
        "optim.SGD({p}, lr=0.1).add_param_group(3)",
        "optim.SGD([{'params': {p}}], lr=0.1)",
        "optim.SGD([{'params': [p]}, {'params': [p]}], lr=0.1)",
        "optim.SGD([{'params': [p]}, [q]], lr=0.1)",
        "optim.SGD([('p', p), q], lr=0.1)",
        "optim.SGD([('p', p)], lr=0.1).add_param_group({'params': [q]})",
        "optim.SGD([p], lr=0.1).add_param_group({'params': [('q', q)]})",
        "optim.SGD([p], lr=0.1).load_state_dict(optim.SGD([{'params': [p]}, {'params': [q]}], lr=0.1).state_dict())",
        "optim.SGD([p], lr=0.1).load_state_dict(optim.SGD([p, q], lr=0.1).state_dict())",
        "optim.Adam([p], foreach=True, fused=True)",
        "optim.Optimizer([p], {}).step()",
    ],
)
def test_errors(statement: str) -> None:
    outcomes = []
    for lib in LIBRARIES:
        p, q = lib.nn.Parameter(lib.ones(2)), lib.nn.Parameter(lib.ones(2))
        p.grad = lib.ones(2)
        with pytest.raises(Exception) as caught:
            exec(statement, {"lib": lib, "optim": lib.optim, "p": p, "q": q})
        outcomes.append((caught.type, str(caught.value)))
    assert outcomes[0][0] is outcomes[1][0]
    assert outcomes[0][1].startswith(outcomes[1][1].split("\n")[0])


def test_duplicate_parameters_are_warned_of() -> None:
    for lib in LIBRARIES:
        p = lib.nn.Parameter(lib.ones(2))
        with pytest.warns(UserWarning, match="optimizer contains a parameter group with duplicate parameters"):
            lib.optim.SGD([p, p], lr=0.1)


def test_hints_of_speed_are_accepted() -> None:
    for hint in ({"foreach": True}, {"foreach": False}, {"fused": True}, {"fused": False}):
        leafgrad.optim.SGD([leafgrad.nn.Parameter(leafgrad.ones(1))], lr=0.1, **hint)
        leafgrad.optim.AdamW([leafgrad.nn.Parameter(leafgrad.ones(1))], lr=0.1, **hint)


def test_constructors_take_the_same_arguments() -> None:
    for name in ("SGD", "Adam", "AdamW", "RMSprop", "Optimizer"):
        ours, theirs = inspect.signature(getattr(leafgrad.optim, name)), inspect.signature(getattr(torch.optim, name))
        assert list(ours.parameters) == list(theirs.parameters)
        for parameter in ours.parameters.values():
            assert parameter.default == theirs.parameters[parameter.name].default
            assert parameter.kind == theirs.parameters[parameter.name].kind
