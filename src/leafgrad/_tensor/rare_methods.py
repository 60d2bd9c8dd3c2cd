"""Methods of Tensor that few programs use: layouts, files as vectors, other devices."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from leafgrad._core.tensor import wrap
from leafgrad._device import check_device, memory_format
from leafgrad._dtypes import dtype as DtypeClass
from leafgrad._dtypes import get_default_dtype
from leafgrad._layouts import lies_in_format, steps_of
from leafgrad.ops.public_forms import checked_functions, checked_methods
from leafgrad.ops.shape.storage import UntypedStorage, shown_by
from leafgrad.ops.signature import Device, Dtype, Tensor, by_name, declared


@declared()
def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """module_load(other, assign=False): what takes the place of this parameter or buffer when `load_state_dict` swaps
    tensors: the other one, or this one with its values. Subclasses may return something else."""
    return other.detach() if assign else self.copy_(other).detach()


@declared()
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """dim_order(*, ambiguity_check=False): the dimensions as they lie in memory, the one with the largest step first.
    With the check it is an error if others would do as well: any others, or other formats of a list."""
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if not (isinstance(ambiguity_check, (bool, list)) and all([isinstance(f, memory_format) for f in formats])):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    steps, shape = steps_of(self.array), self.array.shape
    if ambiguity_check is not False and (1 in shape or any([a == b for a, b in pairwise(steps)])):
        if sum([lies_in_format(self.array, f) for f in formats]) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
            )
    return tuple(sorted(range(len(steps)), key=lambda dim: -steps[dim]))


def xpu(self: Tensor, device: Device | None = None, non_blocking: bool = False) -> Tensor:
    """xpu(...): refused, leafgrad computes on the CPU only."""
    check_device("xpu")


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Dtype | None = None,
    layout: Any = None,
    device: Device | None = None,
    pin_memory: bool | None = False,
    requires_grad: bool | None = False,
) -> Tensor:
    """from_file(filename, shared=None, size=0, *, dtype=None): a vector of the elements in a file, which is read when
    they are used; if it is shared, changes go into the file."""
    check_device(device)
    kind = get_default_dtype() if dtype is None else dtype
    assert isinstance(kind, DtypeClass)
    nbytes = (size or 0) * kind.itemsize
    try:
        with open(filename, "ab" if shared else "rb") as file:
            found = file.seek(0, 2)
    except OSError as error:
        mode = "read-write mode" if shared else "read-only mode"
        raise RuntimeError(f"unable to open file <{filename}> in {mode}: {error.strerror} ({error.errno})") from None
    if not shared and found < nbytes:
        raise RuntimeError(f"file <{filename}> size <{found}> is smaller than the required mapping size <{nbytes}>")
    if not nbytes:
        return wrap(np.empty(0, kind.np))
    made = wrap(shown_by(UntypedStorage.from_file(filename, bool(shared), nbytes), kind))
    return made.requires_grad_() if requires_grad else made


METHODS: dict[str, Callable[..., Any]] = {
    **by_name(dim_order, module_load),
    **checked_methods(xpu),
}

FUNCTIONS: dict[str, Callable[..., Any]] = checked_functions(from_file)
