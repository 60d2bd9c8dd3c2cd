"""Modules as functions of their parameters: functional_call, and the parameters of many modules as one set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from leafgrad._core.tensor import TensorBase
from leafgrad.ops.shape.join import stack

Tensors = dict[str, Any]


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Tensors | Sequence[Tensors],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    call the module with these tensors in place of its parameters and buffers.

    What is not named keeps its own value, or is an error if `strict`. With `tie_weights`, parameters that are one and
    the same tensor in the module are replaced together.
    """
    tensors = _merged(parameter_and_buffer_dicts)
    arguments = args if isinstance(args, tuple) else () if args is None else (args,)
    with replaced(module, tensors, tie_weights, strict):
        return module(*arguments, **(kwargs or {}))


def _merged(dicts: Any) -> Tensors:
    """One dictionary of several, in which no name may appear twice."""
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(dicts)}"
        )
    if not all([isinstance(d, dict) for d in dicts]):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    names = [name for d in dicts for name in d]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        raise ValueError(f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: value for d in dicts for name, value in d.items()}


MISSING: Any = object()  # in the place of an attribute that is not there


@contextmanager
def replaced(module: Any, tensors: Tensors, tie_weights: bool, strict: bool) -> Iterator[None]:
    """The module with other tensors, for a while: parameters, buffers and attributes. What it assigns to them meanwhile
    goes to `tensors`."""
    named = dict(named_tensors(module)) if tie_weights or strict else {}
    given = tensors
    if tie_weights:
        groups = tied_names(named)
        _check_tied(groups, tensors)
        given = tensors | {same: value for name, value in tensors.items() for same in groups.get(name, ())}
    if strict:
        _check_names(module, named, given)
    before: list[tuple[str, Any, str, Any]] = []
    try:
        for name, value in given.items():
            path, _, own = name.rpartition(".")
            owner = submodule(module, path)
            before.append((name, owner, own, swapped(owner, own, value)))
        yield
    finally:
        for name, owner, own, value in reversed(before):
            assigned = swapped(owner, own, value)
            if name in tensors and assigned is not MISSING:
                tensors[name] = assigned


def submodule(module: Any, path: str) -> Any:
    """The part of a module that has this name. (`get_submodule` says something else if there is none.)"""
    for name in path.split(".") if path else ():
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        module = getattr(module, name)
        if not hasattr(module, "_parameters"):
            raise TypeError(f"submodule `{path}`: {module} is not an instance of torch.nn.Module")
    return module


def swapped(module: Any, name: str, value: Any) -> Any:
    """Gives a module another tensor by a name, or MISSING, and returns what it had."""
    if value is not MISSING and value is not None and not isinstance(value, TensorBase):
        raise TypeError(f"{value} is not an instance of torch.Tensor")
    for place in (module._parameters, module._buffers):
        if name in place:
            old = place.pop(name) if value is MISSING else place[name]
            if value is not MISSING:
                place[name] = value
            return old
    old = getattr(module, name, MISSING)
    if old is not MISSING and old is not None and not isinstance(old, TensorBase):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    if value is not MISSING:
        setattr(module, name, value)
    elif old is not MISSING:
        delattr(module, name)
    return old


def named_tensors(module: Any) -> Iterator[tuple[str, Any]]:
    """All names of all parameters and buffers, also of those that appear several times."""
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def tied_names(named: Tensors) -> dict[str, tuple[str, ...]]:
    """For each name of a tensor that has several, all of them."""
    names: dict[int, list[str]] = {}
    for name, tensor in named.items():
        names.setdefault(id(tensor), []).append(name)
    return {name: tuple(same) for same in names.values() if len(same) > 1 for name in same}


def _check_tied(groups: dict[str, tuple[str, ...]], tensors: Tensors) -> None:
    for same in groups.values():
        given = [name for name in same if name in tensors]
        if len(given) > 1 and any([tensors[name] is not tensors[given[0]] for name in given]):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(same)}, which are tied. Consider using "
                "tie_weights=False"
            )


def _check_names(module: Any, named: Tensors, given: Tensors) -> None:
    lines = []
    if unexpected := sorted(given.keys() - named.keys()):
        lines.append(f"\n\tUnexpected key(s): {', '.join(map(repr, unexpected))}.")
    if missing := sorted(named.keys() - given.keys()):
        lines.append(f"\n\tMissing key(s): {', '.join(map(repr, missing))}.")
    if lines:
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:{''.join(lines)}")


def stack_module_state(models: Any) -> tuple[Tensors, Tensors]:
    """stack_module_state(models): (parameters, buffers) of several modules of one class, each name with the tensors of
    all modules along a new first dimension, so that `vmap` can run all of them at once:

        parameters, buffers = stack_module_state(models)
        vmap(lambda p, b, x: functional_call(models[0], (p, b), x), (0, 0, None))(parameters, buffers, x)
    """
    models = list(models)
    who = "stack_module_state"
    if not models:
        raise RuntimeError(f"{who}: Expected at least one model, got 0.")
    if any([m.training != models[0].training for m in models]):
        raise RuntimeError(f"{who}: Expected all models to have the same training/eval mode.")
    if any([type(m) is not type(models[0]) for m in models]):
        raise RuntimeError(f"{who}: Expected all models to be of the same class.")
    parameters = {name: _stacked(name, models, "named_parameters") for name, _ in models[0].named_parameters()}
    buffers = {name: _stacked(name, models, "named_buffers") for name, _ in models[0].named_buffers()}
    return parameters, buffers


def _stacked(name: str, models: list[Any], kind: str) -> Any:
    """The tensors of one name as a new leaf."""
    tensors = [dict(getattr(m, kind)())[name] for m in models]
    wanted = tensors[0].requires_grad
    if any([t.requires_grad != wanted for t in tensors]):
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return stack.function([t.detach() for t in tensors], 0).detach().requires_grad_(wanted)
