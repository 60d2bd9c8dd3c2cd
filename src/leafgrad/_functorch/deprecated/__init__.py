"""functorch, the package that torch.func came from: its names still work, and say which to use instead. Where `import
torch` means leafgrad, `import functorch` finds it (_as_torch.py).

May import what `_functorch` may.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from leafgrad import _missing, errors, func
from leafgrad._functorch import make_functional as modules
from leafgrad._functorch.make_functional import FunctionalModule, FunctionalModuleWithBuffers

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "functionalize", "grad",
    "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "make_functional", "make_functional_with_buffers", "vjp",
    "vmap",
]  # fmt: skip


def deprecated(function: Callable[..., Any], instead: str = "") -> Callable[..., Any]:
    """The function, which says at each call what to use `instead`."""
    name = function.__name__
    message = (
        f"We've integrated functorch into PyTorch. As the final step of the integration, `functorch.{name}` is "
        "deprecated as of PyTorch 2.0 and will be deleted in a future version of PyTorch >= 2.3. "
        f"Please use `{instead or f'torch.func.{name}'}` instead; see the PyTorch 2.0 release notes and/or the "
        "`torch.func` migration guide for more details https://pytorch.org/docs/main/func.migrating.html"
    )

    @functools.wraps(function)
    def warning(*args: Any, **kwargs: Any) -> Any:
        errors.warn(message, FutureWarning)
        return function(*args, **kwargs)

    return warning


vmap = deprecated(func.vmap, "torch.vmap")
grad = deprecated(func.grad)
grad_and_value = deprecated(func.grad_and_value)
vjp = deprecated(func.vjp)
jvp = deprecated(func.jvp)
jacrev = deprecated(func.jacrev)
jacfwd = deprecated(func.jacfwd)
hessian = deprecated(func.hessian)
functionalize = deprecated(func.functionalize)
make_functional = deprecated(modules.make_functional, "torch.func.functional_call")
make_functional_with_buffers = deprecated(modules.make_functional_with_buffers, "torch.func.functional_call")
combine_state_for_ensemble = deprecated(modules.combine_state_for_ensemble, "torch.func.stack_module_state")

__getattr__ = _missing.attributes_of(__name__)
