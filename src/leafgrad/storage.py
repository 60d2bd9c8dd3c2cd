"""torch.storage: the memory behind tensors."""

from __future__ import annotations

from leafgrad import _missing
from leafgrad.ops.shape.storage import TYPES
from leafgrad.ops.shape.storage import TypedStorage as TypedStorage
from leafgrad.ops.shape.storage import UntypedStorage as UntypedStorage

_CLASSES = {"Storage": TYPES["FloatStorage"], **TYPES}
_missing_name = _missing.attributes_of(__name__)


def __getattr__(name: str) -> type:
    return _CLASSES[name] if name in _CLASSES else _missing_name(name)
