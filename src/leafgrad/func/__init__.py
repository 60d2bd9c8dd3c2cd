"""leafgrad.func: function transforms, as in torch.func: vmap, and the derivatives of a function as a function.

May import `_build`, `_core`, `kernels`, `ops`, `autograd`, `errors`, `_dtypes`, `_device` and `return_types`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafgrad import _missing
from leafgrad.func import functions as functions  # tells autograd.Function what it is inside of a transform
from leafgrad.func.derivatives import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from leafgrad.func.modules import functional_call, stack_module_state
from leafgrad.func.rearrange import rearrange
from leafgrad.func.tools import debug_unwrap, functionalize, replace_all_batch_norm_modules_
from leafgrad.func.vmap import vmap

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "linearize", "rearrange", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


if not TYPE_CHECKING:  # for which what is not there is a mistake
    __getattr__ = _missing.attributes_of(__name__)
