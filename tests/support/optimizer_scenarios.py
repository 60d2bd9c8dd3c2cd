"""Scenarios of optimisers: their hooks, and which options go together. See scenarios.py."""

from __future__ import annotations

import pickle
from importlib import import_module
from typing import Any

from scenarios import attempt, collection

SCENARIOS, scenario = collection()

STEPPED = ["Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop", "SGD"]


def ready(T: Any, name: str = "SGD", **options: Any) -> Any:
    """An optimiser of one parameter that has a gradient."""
    p = T.nn.Parameter(T.tensor([1.0, -2.0]))
    p.grad = T.tensor([0.5, 1.0])
    return getattr(T.optim, name)([p], **options)


@scenario
def hooks_around_states(T: Any) -> Any:
    """In the order in which they are called, the first of them prepended."""
    optimizer, seen = ready(T, lr=0.5), []
    handles = [
        optimizer.register_state_dict_pre_hook(lambda o: seen.append("before saving")),
        optimizer.register_state_dict_pre_hook(lambda o: seen.append("even before"), prepend=True),
        optimizer.register_state_dict_post_hook(lambda o, state: seen.append(sorted(state))),
        optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1}),
        optimizer.register_load_state_dict_pre_hook(lambda o, state: seen.append(state.pop("more"))),
        optimizer.register_load_state_dict_post_hook(lambda o: seen.append(o.param_groups[0]["lr"])),
    ]
    state = optimizer.state_dict()
    state["param_groups"][0]["lr"] = 0.25
    optimizer.load_state_dict(state)
    seen.append(sorted(state))  # what was given is not changed
    for handle in handles:
        handle.remove()
    return [seen, sorted(optimizer.state_dict())]


@scenario
def hooks_of_all_optimizers(T: Any) -> Any:
    module = import_module(f"{T.__name__}.optim.optimizer")
    before, after = module.register_optimizer_step_pre_hook, module.register_optimizer_step_post_hook
    seen: list[Any] = []
    older = ready(T)
    handles = [
        before(lambda o, args, named: seen.append([type(o).__name__, len(args), len(named)])),
        after(lambda o, args, named: seen.append("after all")),
    ]
    younger, by_closure = ready(T, "Adam"), ready(T, "LBFGS")
    younger.register_step_pre_hook(lambda o, args, named: seen.append("its own"))
    younger.register_step_post_hook(lambda o, args, named: seen.append("after its own"))
    for optimizer in (older, younger):
        optimizer.step()
    by_closure.step(lambda: T.tensor(1.0))
    for handle in handles:
        handle.remove()
    seen.append("removed")
    for optimizer in (older, younger):
        optimizer.step()
    return [seen, older.param_groups[0]["params"][0]]


@scenario
def options_that_exclude_each_other(T: Any) -> Any:
    calls = [
        lambda: ready(T, "Adam", foreach=True, fused=True), lambda: ready(T, "Adam", fused=True, differentiable=True),
        lambda: ready(T, "Adam", lr=T.tensor(0.1), foreach=True), lambda: ready(T, "AdamW", lr=T.tensor([0.1, 0.2])),
        lambda: ready(T, "Adam", betas=(T.tensor(0.9), T.tensor(0.99)), foreach=True),
        lambda: ready(T, "Adam", betas=(0.9, T.tensor(0.99))),
    ]  # fmt: skip
    return [attempt(call) for call in calls]


@scenario
def options_of_other_devices(T: Any) -> Any:
    """Graphs are captured on GPUs, so a step on the CPU is refused; and lists of tensors are not differentiated."""
    seen = []
    for name in STEPPED:
        if "capturable" in ready(T, name).defaults:
            optimizer = ready(T, name, capturable=True)
            seen.append(attempt(optimizer.step).partition(": [")[0])
        if name != "SGD":
            seen.append(attempt(ready(T, name, differentiable=True, foreach=True).step))
    return seen


@scenario
def states_from_long_ago(T: Any) -> Any:
    """Optimisers whose groups do not know the younger options, and that counted steps by a plain number."""
    younger = ("maximize", "foreach", "capturable", "differentiable", "fused")
    seen = []
    for name in STEPPED:
        optimizer = ready(T, name)
        optimizer.step()
        old = pickle.loads(pickle.dumps(optimizer))
        groups = [{k: v for k, v in group.items() if k not in younger} for group in old.param_groups]
        state = old.state
        for values in state.values():
            if "step" in values:
                values["step"] = values["step"].item()
        old.__setstate__({"state": state, "param_groups": groups, "defaults": old.defaults})
        (p,) = old.param_groups[0]["params"]
        p.grad = T.tensor([0.5, 1.0])
        old.step()
        counted = [type(values["step"]).__name__ for values in state.values() if "step" in values]
        seen.append([name, p, sorted(old.param_groups[0]), counted])
    return seen
