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


@contextmanager
def replaced(module: Any, tensors: Tensors, tie_weights: bool, strict: bool) -> Iterator[None]:
    """The module with other tensors, for a while. Buffers that it assigns meanwhile go to `tensors`."""
    places = places_of(module)
    groups = tied_names(places) if tie_weights else {}
    _check_tied(groups, tensors)
    if strict:
        _check_names(module, tensors, groups)
    before: dict[tuple[int, str], tuple[Any, str, Any]] = {}
    try:
        for name, value in tensors.items():
            if not isinstance(value, TensorBase):
                raise TypeError(f"{value} is not an instance of torch.Tensor")
            for same in groups.get(name, (name,)):
                if same not in places:
                    module.get_submodule(same.rpartition(".")[0])  # an error if there is none
                    continue  # PyTorch ignores names that the module does not have
                place, own = places[same]
                if (id(place), own) not in before:
                    before[id(place), own] = place, own, place[own]
                    place[own] = value
        yield
    finally:
        for name, value in tensors.items():
            if before and name in places:
                place, own = places[name]
                if place.get(own) is not value:
                    tensors[name] = place.get(own)
        for place, own, value in before.values():
            place[own] = value


def places_of(module: Any) -> dict[str, tuple[dict[str, Any], str]]:
    """For each name of a parameter or buffer the dictionary of a submodule that holds it, and its key there. What
    appears several times has several names."""
    found: dict[str, tuple[dict[str, Any], str]] = {}
    for path, each in module.named_modules(remove_duplicate=False):
        for place in (each._parameters, each._buffers):
            for own in place:
                found[f"{path}.{own}" if path else own] = place, own
    return found


def named_tensors(module: Any) -> Iterator[tuple[str, Any]]:
    """All names of all parameters and buffers, also of those that appear several times."""
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


def tied_names(places: dict[str, tuple[dict[str, Any], str]]) -> dict[str, tuple[str, ...]]:
    """For each name of a tensor that has several, all of them."""
    names: dict[int, list[str]] = {}
    for name, (place, own) in places.items():
        if place[own] is not None:
            names.setdefault(id(place[own]), []).append(name)
    return {name: tuple(same) for same in names.values() if len(same) > 1 for name in same}


def _check_tied(groups: dict[str, tuple[str, ...]], tensors: Tensors) -> None:
    for same in groups.values():
        given = [name for name in same if name in tensors]
        if len(given) > 1 and any([tensors[name] is not tensors[given[0]] for name in given]):
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(given)}, which are tied. Consider using "
                "tie_weights=False"
            )


def _check_names(module: Any, tensors: Tensors, groups: dict[str, tuple[str, ...]]) -> None:
    known = [name for name, _ in named_tensors(module)]
    given = {same for name in tensors for same in groups.get(name, (name,))}
    unexpected = [name for name in tensors if name not in known]
    missing = [name for name in known if name not in given]
    lines = []
    if unexpected:
        lines.append(f"\n\tUnexpected key(s): {', '.join(map(repr, unexpected))}.")
    if missing:
        lines.append(f"\n\tMissing key(s): {', '.join(map(repr, missing))}.")
    if lines:
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:{''.join(lines)}")


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
