"""torch.utils._foreach_utils: lists of tensors in groups that one call can take, for optimisers of a program's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leafgrad import _missing

Lists = Sequence[Sequence[Any]]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Lists, with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
    """_group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False): the lists cut into groups, by device and
    dtype of the tensors in the first one; with their positions in it. A list may be empty."""
    if not tensorlistlist[0]:
        raise RuntimeError("Expected !nested_tensorlist[0].empty() to be true, but got false.")
    groups: dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]] = {}
    for position, first in enumerate(tensorlistlist[0]):
        key = first.device, first.dtype
        lists, positions = groups.setdefault(key, ([[] for _ in tensorlistlist], []))
        for part, whole in zip(lists, tensorlistlist):
            if whole:
                part.append(whole[position])
        if with_indices:
            positions.append(position)
    return groups


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Devices other than the CPU that have functions of lists."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """Devices that have optimisers in one call."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _device_has_foreach_support(device: Any) -> bool:
    """Can functions of lists be called with tensors of this device?"""
    return device.type in ("cpu", *_get_foreach_kernels_supported_devices())


def _has_foreach_support(tensors: Sequence[Any], device: Any) -> bool:
    """The same for a list that may contain None."""
    return _device_has_foreach_support(device) and all(
        t is None or _missing.part("overrides").is_tensor_like(t) for t in tensors
    )


__getattr__ = _missing.attributes_of(__name__)
