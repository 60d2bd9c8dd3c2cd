"""The former place of `func.functional_call`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from leafgrad import _missing, errors

__all__ = ["functional_call"]


def functional_call(
    module: Any,
    parameters_and_buffers: Any,
    args: Any = None,
    kwargs: Any = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False): call
    a module with other tensors in the place of its own."""
    errors.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a future "
        "version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in replacement.",
        FutureWarning,
    )
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)


def _functional_call(*args: Any, **options: Any) -> Any:
    """The same without a warning."""
    return _missing.part("func").functional_call(*args, **options)


def _reparametrize_module(
    module: Any,
    parameters_and_buffers: Any,
    tie_weights: bool = False,
    strict: bool = False,
    stack_weights: bool = False,
) -> AbstractContextManager[None]:
    """_reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False): a context in which the
    module has other tensors in the place of its own. (They are put back one by one, in whichever order.)"""
    made: AbstractContextManager[None] = _missing.part("func.modules").replaced(
        module, parameters_and_buffers, tie_weights, strict
    )
    return made
