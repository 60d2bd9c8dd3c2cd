"""All parameters of a model as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from leafgrad._core.tensor import TensorBase
from leafgrad._settings import typename


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """parameters_to_vector(parameters): the elements of all parameters, one after the other."""
    import leafgrad

    return leafgrad.cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """vector_to_parameters(vec, parameters): let the parameters be pieces of a vector."""
    if not isinstance(vec, TensorBase):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view(parameter.shape)  # type: ignore[index]
        start = end
