"""leafgrad.io: tensors in the files of others: safetensors, and NumPy's .npz. PyTorch's own are `save` and `load`.

As with `save`, a file is replaced as a whole or not at all.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from leafgrad import _missing, errors
from leafgrad._core.tensor import TensorBase, wrap
from leafgrad._device import check_device
from leafgrad._dtypes import bfloat16, from_numpy_dtype
from leafgrad._files.atomic import replaced

__all__ = ["load_npz", "load_safetensors", "save_npz", "save_safetensors"]


def arrays_of(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """The arrays of a dictionary of tensors, row by row in memory."""
    found: dict[str, Any] = {}
    for name, value in tensors.items():
        if not isinstance(value, TensorBase):
            raise errors.mistake(
                TypeError,
                f"Key `{name}` is invalid, expected torch.Tensor but received {type(value)}",
                fix="only tensors: numbers and settings go into another file, or into save()",
            )
        array = value.detach().resolve_conj().array  # type: ignore[attr-defined]
        found[name] = np.ascontiguousarray(array).reshape(array.shape)
    return found


# -- safetensors -------------------------------------------------------------------------------------------------------


def library() -> Any:
    """The package that knows the format."""
    try:
        from safetensors import numpy as found
    except ImportError as error:
        raise ImportError(
            "files of safetensors need the package safetensors, which is not installed\n"
            "  fix: pip install 'leafgrad[safetensors]'   (or: pip install safetensors)"
        ) from error
    return found


def save_safetensors(tensors: Mapping[str, Any], filename: Any, metadata: Mapping[str, str] | None = None) -> None:
    """save_safetensors(tensors, filename, metadata=None): a dictionary of tensors, as a state_dict is, into a file."""
    content = library().save(arrays_of(tensors), metadata=None if metadata is None else dict(metadata))
    with replaced(os.fspath(filename)) as file:
        file.write(content)


def load_safetensors(filename: Any, device: Any = "cpu") -> dict[str, Any]:
    """load_safetensors(filename, device="cpu"): the dictionary of tensors in a file."""
    check_device(device)
    return {name: wrap(known(array)) for name, array in library().load_file(os.fspath(filename)).items()}


def known(array: Any) -> Any:
    """An array of a dtype that tensors have, which may be written to."""
    from_numpy_dtype(array.dtype)
    return array if array.flags.writeable else array.copy()


# -- .npz --------------------------------------------------------------------------------------------------------------


def save_npz(tensors: Mapping[str, Any], filename: Any, compressed: bool = False) -> None:
    """save_npz(tensors, filename, compressed=False): a dictionary of tensors into a file that NumPy reads."""
    arrays = arrays_of(tensors)
    for name, array in arrays.items():
        if from_numpy_dtype(array.dtype) is bfloat16:
            raise errors.mistake(
                TypeError, f"NumPy's files have no bfloat16, which `{name}` is", fix="convert it first: x.float()"
            )
    content = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(content, **arrays)
    with replaced(os.fspath(filename)) as file:
        file.write(content.getbuffer())


def load_npz(filename: Any) -> dict[str, Any]:
    """load_npz(filename): the arrays of NumPy's file as tensors, by their names. What is no array of numbers is an
    error, and nothing in the file is run."""
    with np.load(os.fspath(filename), allow_pickle=False) as file:
        return {name: wrap(known(file[name])) for name in file.files}


__getattr__ = _missing.attributes_of(__name__)
