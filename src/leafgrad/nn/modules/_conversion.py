"""How a module replaces its parameters when it is converted or loaded: by default they get new values. What is set here
is public as leafgrad.__future__."""

from __future__ import annotations

from typing import Any

from leafgrad._core.tensor import is_meta
from leafgrad._tensor.swapping import swap_tensors
from leafgrad.nn.parameter import Parameter

_swaps = False
_overwrites = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """set_overwrite_module_params_on_conversion(value): whether `module.to(...)` makes new parameters, in place of new
    values for the ones that are there."""
    global _overwrites
    _overwrites = value


def get_overwrite_module_params_on_conversion() -> bool:
    """get_overwrite_module_params_on_conversion(): what was set last; False at first."""
    return _overwrites


def set_swap_module_params_on_conversion(value: bool) -> None:
    """set_swap_module_params_on_conversion(value): whether `module.to(...)` and `load_state_dict` exchange parameters
    with new ones by utils.swap_tensors."""
    global _swaps
    _swaps = value


def get_swap_module_params_on_conversion() -> bool:
    """get_swap_module_params_on_conversion(): what was set last; False at first."""
    return _swaps


def swapped(tensor: Any, value: Any) -> None:
    """Let a parameter or buffer change places with a new one of this value."""
    if isinstance(tensor, Parameter) and not isinstance(value, Parameter):
        value = Parameter(value, tensor.requires_grad)
    value.requires_grad_(tensor.requires_grad)
    swap_tensors(tensor, value)


def replaced(parameter: Any, value: Any, gradient: Any) -> Any:
    """A parameter with another value and gradient: the same object, unless `__future__` says otherwise."""
    if get_swap_module_params_on_conversion():
        swapped(parameter, value)
        parameter._grad = gradient
    elif get_overwrite_module_params_on_conversion() or is_meta(parameter.array) != is_meta(value.array):
        parameter = Parameter(value, parameter.requires_grad)
        parameter._grad = gradient
    else:
        parameter.data = value
        if gradient is not None:
            parameter._grad.data = gradient
    return parameter
