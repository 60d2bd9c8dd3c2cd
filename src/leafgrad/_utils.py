"""torch._utils: small helpers that libraries import from PyTorch's inside."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import leafgrad as torch
from leafgrad import _missing
from leafgrad._files.rebuilding import (
    _rebuild_meta_tensor_no_storage,
    _rebuild_parameter,
    _rebuild_parameter_with_state,
    _rebuild_sparse_tensor,
    _rebuild_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
)
from leafgrad.utils.data._utils.worker import Failure
from leafgrad.utils.data._utils.worker import Multiline as KeyErrorMessage

__all__ = [
    "ExceptionWrapper", "KeyErrorMessage", "_element_size", "_flatten_dense_tensors", "_get_all_device_indices",
    "_get_available_device_type", "_get_device_index", "_rebuild_meta_tensor_no_storage",
    "_rebuild_parameter", "_rebuild_parameter_with_state", "_rebuild_sparse_tensor", "_rebuild_tensor",
    "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_reorder_tensors_as", "_take_tensors", "_unflatten_dense_tensors",
    "classproperty",
]  # fmt: skip


def _flatten_dense_tensors(tensors: Sequence[Any]) -> Any:
    """_flatten_dense_tensors(tensors): all elements, one tensor after the other, as a vector."""
    return torch.cat([t.contiguous().view(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """_unflatten_dense_tensors(flat, tensors): views of such a vector in the shapes of tensors."""
    parts = flat.split([t.numel() for t in tensors])
    return tuple([part.view_as(t) for part, t in zip(parts, tensors, strict=True)])


def _take_tensors(tensors: Sequence[Any], size_limit: int) -> Iterator[list[Any]]:
    """_take_tensors(tensors, size_limit): groups of tensors of one type, each of at most so many bytes."""
    groups: dict[str, tuple[list[Any], int]] = defaultdict(lambda: ([], 0))
    for t in tensors:
        kind, size = t.type(), t.numel() * t.element_size()
        group, total = groups[kind]
        if total + size > size_limit and group:
            yield group
            group, total = [], 0
        groups[kind] = [*group, t], total + size
    for group, _ in groups.values():
        if group:
            yield group


def _reorder_tensors_as(tensors: Sequence[Any], ordered_tensors: Sequence[Any]) -> tuple[Any, ...]:
    """_reorder_tensors_as(tensors, ordered_tensors): tensors in groups of one type, in the order of others."""
    by_kind: dict[str, list[Any]] = defaultdict(list)
    for t in tensors:
        by_kind[t.type()].append(t)
    waiting = {kind: iter(found) for kind, found in by_kind.items()}
    return tuple([next(waiting[t.type()]) for t in ordered_tensors])


def _element_size(dtype: Any) -> int:
    """_element_size(dtype): how many bytes an element has."""
    return int(dtype.itemsize)


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> Any:
    """_get_device_index(device, optional=False, allow_cpu=False): the number of a device; -1 for the CPU."""
    found = torch.device(device) if isinstance(device, str) else device
    if isinstance(found, torch.device):
        if found.type == "cpu":
            if not allow_cpu:
                raise ValueError(f"Expected a non cpu device, but got: {found}")
            return -1
        found = found.index
    if found is None and not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    return found


def _get_all_device_indices() -> None:
    """_get_all_device_indices(): those of accelerators; there are none."""
    return None


def _get_available_device_type() -> None:
    """_get_available_device_type(): that of accelerators; there are none."""
    return None


class classproperty:
    """classproperty(func): an attribute of a class that a function computes."""

    def __init__(self, func: Any) -> None:
        self.func = func

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self.func(owner)


class ExceptionWrapper(Failure):
    """ExceptionWrapper(exc_info=None, where="in background"): an exception as it can be sent to another process, where
    `reraise` raises it with the text of its traceback."""

    def __init__(self, exc_info: Any = None, where: str = "in background") -> None:
        info: Any = sys.exc_info() if exc_info is None else exc_info
        super().__init__(where, info[1])

    @property
    def exc_type(self) -> Any:
        return self.kind

    @property
    def exc_msg(self) -> str:
        return self.text


__getattr__ = _missing.attributes_of(__name__)
