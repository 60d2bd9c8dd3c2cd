"""The smaller parts of torch.func: functionalize, debug_unwrap, replace_all_batch_norm_modules_."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from leafgrad._core.tensor import TensorBase, wrap
from leafgrad.func.batched_array import BatchedArray


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """functionalize(func, *, remove='mutations'): func without changes in place, as far as a tracer can see.

    PyTorch rewrites the program for those who trace it. leafgrad traces no programs, so nothing is to be rewritten:
    the result computes what func computes, changes of its arguments included, as it does there.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
            "     remove='mutations': no operation in place is visible to a tracer\n"
            "     remove='mutations_and_views': nor are views\n"
        )
    return functools.wraps(func)(lambda *args, **kwargs: func(*args, **kwargs))


def debug_unwrap(tensor: Any, *, recurse: bool = True) -> Any:
    """debug_unwrap(tensor, *, recurse=True): what is behind a tensor inside vmap, to look at: all samples, or with
    recurse=False those of the innermost map only. Nothing is recorded of it."""
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"debug_unwrap(): argument 'tensor' (position 1) must be Tensor, not {type(tensor).__name__}")
    array = tensor.array
    if array.__class__ is BatchedArray:
        return wrap(array.memory() if recurse else array.value)
    if not tensor.needs_grad:
        return tensor
    return wrap(array)


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """replace_all_batch_norm_modules_(root): let the batch norm layers of a module keep no running statistics, which
    one sample must not change for the others. Changes the module, and returns it."""
    for module in root.modules():
        if type(module).__name__.startswith("BatchNorm") and getattr(module, "track_running_stats", False):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
