"""torch.types: names for the annotations of programs."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from os import PathLike
from typing import IO, Any

from leafgrad import _missing
from leafgrad._device import Size, device, layout
from leafgrad._dtypes import dtype
from leafgrad._tensor.tensor import Tensor

__all__ = ["Device", "FileLike", "Number", "Storage"]

_bool = builtins.bool
_complex = builtins.complex
_device = device
_dtype = dtype
_float = builtins.float
_int = builtins.int
_layout = layout
_size = Size | list[int] | tuple[int, ...]
_TensorOrTensors = Tensor | Sequence[Tensor]
Number = int | float | bool
Device = device | str | int | None
FileLike = str | PathLike[str] | IO[bytes]
Storage = Any

__getattr__ = _missing.attributes_of(__name__)
