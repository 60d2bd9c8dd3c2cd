"""Other parameters and another state for an optimiser, for a while."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from leafgrad.optim.optimizer import Optimizer


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: Mapping[str, Any], swapin_optim_state: Mapping[str, Any]
) -> Iterator[None]:
    """swap_in_optimizer_params_and_state(optimizer, swapin_parameters, swapin_optim_state): a context in which an
    optimiser has these parameters, in the order of its own, and the state and options of a `state_dict`, whose tensors
    it changes in place."""
    state, groups = optimizer.state, optimizer.param_groups
    given = list(swapin_parameters.values())
    count = sum([len(group["params"]) for group in groups])
    others = swapin_optim_state["param_groups"]
    if len(given) != count or [len(g["params"]) for g in others] != [len(g["params"]) for g in groups]:
        raise ValueError(f"expected {count} parameters in {len(groups)} groups, as the optimizer has them")
    numbers = [number for group in others for number in group["params"]]
    parameters = dict(zip(numbers, given))
    optimizer.state = defaultdict(dict)
    for number, values in swapin_optim_state["state"].items():
        optimizer.state[parameters[number]] = dict(values)
    optimizer.param_groups = [{**g, "params": [parameters[number] for number in g["params"]]} for g in others]
    try:
        yield
    finally:
        optimizer.state, optimizer.param_groups = state, groups
