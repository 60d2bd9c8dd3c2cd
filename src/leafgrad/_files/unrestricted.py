"""Python's own unpickler, which runs whatever a file says: for files that are trusted. PyTorch's names are looked up in
leafgrad."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from leafgrad import _missing
from leafgrad._files.rebuilding import NAMES
from leafgrad._torch_places import OTHER_PLACES, parts_of


def find_torch(module: str, name: str) -> Any:
    """What leafgrad has in the place of something of PyTorch's."""
    if (path := f"{module}.{name}") in NAMES:
        return NAMES[path]
    if path == "torch._C._VariableFunctionsClass":  # of which torch.sin and most functions are methods
        return sys.modules["leafgrad"]
    own, *others = parts_of(module)
    if OTHER_PLACES.get(name) == module:  # a class in a file of its own, which its package has too
        own = own.rpartition(".")[0]
    try:
        found: Any = _missing.part(own) if own else sys.modules["leafgrad"]
    except ModuleNotFoundError:
        raise _missing.missing_module(module) from None
    first = name.partition(".")[0]
    if not hasattr(found, first):
        found = next((other for other in map(_missing.part, others) if hasattr(other, first)), found)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def unpickled(file: Any, find_storage: Callable[[Any], Any], pickle_module: Any, options: Any) -> Any:
    """The object in a pickle, read from a file."""

    class TorchUnpickler(pickle_module.Unpickler):  # type: ignore[misc]
        def find_class(self, module: str, name: str) -> Any:
            if module == "torch" or module.startswith("torch."):
                return find_torch(module, name)
            return super().find_class(module, name)

        def persistent_load(self, entry: Any) -> Any:
            return find_storage(entry)

    return TorchUnpickler(file, **options).load()
