"""Optimisers as functions: one step of given parameters, with given gradients and state, all in lists.

Programs that keep the state themselves call them, `leafgrad.optim.adam.adam(params, grads, exp_avgs, ...)`. Each is the
optimiser of its file, made for one call, with the lists in the place of its state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Any

from leafgrad._core.tensor import TensorBase
from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd.grad_mode import no_grad, set_grad_enabled

# options that are two numbers here and one of a pair in the optimiser, and the place in it
PAIRS = {
    "beta1": ("betas", 0), "beta2": ("betas", 1), "etaminus": ("etas", 0), "etaplus": ("etas", 1),
    "step_size_min": ("step_sizes", 0), "step_size_max": ("step_sizes", 1), "eps1": ("eps", 0), "eps2": ("eps", 1),
}  # fmt: skip
OPTIONAL: dict[str, Any] = {"foreach": None, "fused": None, "grad_scale": None, "found_inf": None}  # others are False
KNOWN_ANYWAY = {"has_complex", "has_sparse_grad"}  # which the gradients show


def as_function(
    optimizer: type[Any], lists: Mapping[str, str], optional: str, required: str, grads: str = "grads"
) -> Callable[..., None]:
    """The step of an optimiser as a function of parameters, gradients, `lists` (what each of them is in the state), and
    options, of which those that are required go by name."""
    kinds = {Parameter.POSITIONAL_OR_KEYWORD: ("params", grads, *lists), Parameter.KEYWORD_ONLY: required.split()}
    parameters = [Parameter(name, kind) for kind, names in kinds.items() for name in names]
    at = 2 + len(lists)
    parameters[at:at] = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=OPTIONAL.get(name, False)) for name in optional.split()
    ]
    signature = Signature(parameters)

    def function(*args: Any, **kwargs: Any) -> None:
        call = signature.bind(*args, **kwargs)
        call.apply_defaults()
        given = call.arguments
        kept = {key: given.pop(name) for name, key in lists.items()}
        one_step(optimizer, given.pop("params"), given.pop(grads), kept, given)

    name = optimizer.__name__.lower()
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name}{signature}: one step of {optimizer.__name__}. The tensors in the lists change in place."
    function.__module__ = optimizer.__module__
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def one_step(optimizer: type[Any], params: Any, grads: Any, kept: Mapping[str, Any], given: dict[str, Any]) -> None:
    if not all(isinstance(step, TensorBase) for step in kept.get("step", ())):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
    scale, infinite = given.pop("grad_scale", None), given.pop("found_inf", None)
    if (scale is not None or infinite is not None) and not given.get("fused"):
        raise AssertionError("Expected grad_scale and found_inf to be None")
    if infinite is not None and infinite.item():
        return
    runner = optimizer([Tensor([[0.0]])], **options_of(given))  # Muon's parameters are matrices
    runner.param_groups[0]["params"] = list(params)
    for i, p in enumerate(params):
        state = {key: values[i] for key, values in kept.items() if i < len(values) and values[i] is not None}
        if state:
            runner.state[p] = state
    before = [p._grad for p in params]
    try:
        for p, g in zip(params, grads):
            p._grad = g if scale is None else g / scale.item()
        with set_grad_enabled(True) if given.get("differentiable") else no_grad():
            runner.step()
    finally:
        for p, g in zip(params, before):
            p._grad = g
    for key, values in kept.items():
        for i, p in enumerate(params):
            if i < len(values) and values[i] is None:  # made at the first step
                values[i] = runner.state[p].get(key)


def options_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the optimiser: pairs instead of single numbers."""
    options: dict[str, Any] = {}
    for name, value in given.items():
        if name in PAIRS:
            pair, place = PAIRS[name]
            first, second = options.get(pair, (None, None))
            options[pair] = (value, second) if place == 0 else (first, value)
        elif name not in KNOWN_ANYWAY:
            options[name] = value
    return options
