"""Samples to batches: containers stay what they are, and what is in them is stacked."""

from __future__ import annotations

import collections.abc
import copy
from collections.abc import Callable
from typing import Any

import numpy as np

import leafgrad as torch
from leafgrad._core.tensor import TensorBase

Map = dict[Any, Callable[..., Any]]


def default_convert(data: Any) -> Any:
    """default_convert(data): NumPy arrays and numbers in a sample become tensors; the rest stays."""
    if isinstance(data, TensorBase):
        return data
    if isinstance(data, np.ndarray | np.generic) and not isinstance(data, np.str_ | np.bytes_):
        return data if data.dtype.kind in "SUO" else torch.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return mapping_like(data, {key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple):
        return list_or_named(data, [default_convert(each) for each in data])
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, str | bytes):
        return sequence_like(data, [default_convert(each) for each in data])
    return data


def collate(batch: Any, *, collate_fn_map: Map | None = None) -> Any:
    """collate(batch, *, collate_fn_map=None): samples as one batch; the map says what is done with which type."""
    first = batch[0]
    if collate_fn_map is not None:
        if type(first) in collate_fn_map:
            return collate_fn_map[type(first)](batch, collate_fn_map=collate_fn_map)
        for kind, function in collate_fn_map.items():
            if isinstance(first, kind):
                return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, collections.abc.Mapping):
        parts = {key: collate([each[key] for each in batch], collate_fn_map=collate_fn_map) for key in first}
        return mapping_like(first, parts)
    if isinstance(first, collections.abc.Sequence):
        if not hasattr(first, "_fields") and any([len(each) != len(first) for each in batch]):
            raise RuntimeError("each element in list of batch should be of equal size")
        made = [collate(samples, collate_fn_map=collate_fn_map) for samples in zip(*batch)]
        return list_or_named(first, made) if isinstance(first, tuple) else sequence_like(first, made)
    found = f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}"
    raise TypeError(found)


def mapping_like(data: Any, parts: dict[Any, Any]) -> Any:
    """A mapping of the same class, with other values."""
    try:
        if not isinstance(data, collections.abc.MutableMapping):
            return type(data)(parts)
        clone = copy.copy(data)  # which may have more to it than its items
        clone.update(parts)
        return clone
    except TypeError:  # it cannot be copied, or made of a dictionary
        return parts


def list_or_named(data: Any, parts: list[Any]) -> Any:
    """A list in the place of a tuple, as in PyTorch; a named tuple stays one."""
    return type(data)(*parts) if hasattr(data, "_fields") else parts


def sequence_like(data: Any, parts: list[Any]) -> Any:
    """A sequence of the same class, with other elements."""
    try:
        if not isinstance(data, collections.abc.MutableSequence):
            return type(data)(parts)
        clone = copy.copy(data)
        for i, part in enumerate(parts):
            clone[i] = part
        return clone
    except TypeError:
        return parts


def collate_tensor_fn(batch: Any, *, collate_fn_map: Map | None = None) -> Any:
    return torch.stack(list(batch), 0)


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: Map | None = None) -> Any:
    kind = batch[0].dtype
    if kind.kind in "SUO":
        raise TypeError(
            f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}"
        )
    return collate([torch.as_tensor(each) for each in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: Map | None = None) -> Any:
    return torch.as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: Map | None = None) -> Any:
    return torch.tensor(batch, dtype=torch.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: Map | None = None) -> Any:
    return torch.tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: Map | None = None) -> Any:
    return batch


default_collate_fn_map: Map = {
    TensorBase: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """default_collate(batch): the samples of a list as one batch: tensors and arrays stacked, numbers as a tensor,
    texts as a list, and containers of these as containers of batches."""
    return collate(batch, collate_fn_map=default_collate_fn_map)
