"""Methods of Tensor that few programs use: functions of Python for each element, other devices, shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leafgrad import errors
from leafgrad._core.tensor import wrap
from leafgrad._device import check_device
from leafgrad._dtypes import dtype as DtypeClass
from leafgrad._dtypes import get_default_dtype
from leafgrad._layouts import steps_of
from leafgrad.ops.public_forms import checked_functions, checked_methods
from leafgrad.ops.shape.storage import UntypedStorage, shown_by
from leafgrad.ops.signature import Device, Dtype, Tensor, by_name, declared


def replaced(self: Any, name: str, others: tuple[Any, ...], function: Callable[..., Any]) -> Any:
    """Put what `function` makes of the elements, one after the other, in their place."""
    if self.requires_grad:
        first = f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead."
        raise errors.mistake(RuntimeError, first)
    for other in others:
        if other.array.dtype != self.array.dtype:
            raise TypeError(f"{name}: expected {self.type()} for 'other' (got {other.type()})")
    if not callable(function):
        raise TypeError(f"'{type(function).__name__}' object is not callable")
    rows = [self._memory("item"), *[other.expand_as(self).array for other in others]]
    made = [function(*each) for each in zip(*[row.reshape(-1).tolist() for row in rows])]
    kind = self.array.dtype
    # C++ cuts off the digits of a float that is put into an integer
    values = np.array(made).astype(kind) if made else np.empty(0, kind)
    return self.copy_(wrap(values.reshape(self.array.shape)))


@declared()
def apply_(self: Tensor, callable: Any) -> Tensor:
    """apply_(callable): replaces each element by what a function of Python makes of it. Slow; for large tensors there
    is always an operation that does the same."""
    return replaced(self, "apply_", (), callable)


@declared()
def map_(self: Tensor, tensor: Tensor, callable: Any) -> Tensor:
    """map_(tensor, callable): replaces each element by a function of it and that of another tensor."""
    return replaced(self, "map_", (tensor,), callable)


@declared()
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Any) -> Tensor:
    """map2_(x, y, callable): replaces each element by a function of it and those of two others."""
    return replaced(self, "map2_", (x, y), callable)


@declared()
def dim_order(self: Tensor) -> tuple[int, ...]:
    """dim_order(): the dimensions as they lie in memory, the one with the largest step first."""
    steps = steps_of(self.array)
    return tuple(sorted(range(len(steps)), key=lambda dim: -steps[dim]))


def to_dense(self: Tensor, dtype: Dtype | None = None, *, masked_grad: bool | None = None) -> Tensor:
    """to_dense(dtype=None): the tensor itself, which is dense, or in another dtype."""
    return self if dtype is None else self.to(dtype)


def xpu(self: Tensor, device: Device | None = None, non_blocking: bool = False) -> Tensor:
    """xpu(...): refused, leafgrad computes on the CPU only."""
    check_device("xpu")


@declared()
def share_memory_(self: Tensor) -> Tensor:
    """share_memory_(): refused, other processes get copies of tensors."""
    raise errors.mistake(
        NotImplementedError,
        "leafgrad does not share the memory of tensors with other processes",
        ("why", "a tensor that is sent to another process arrives there as a copy"),
        fix="send what has changed, say a state_dict, through a multiprocessing.Queue",
    )


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
    **by_name(apply_, map_, map2_, dim_order, share_memory_),
    **checked_methods(to_dense, xpu),
}

FUNCTIONS: dict[str, Callable[..., Any]] = checked_functions(from_file)
