"""On which device a file wants its tensors, and what `map_location` says to that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import errors
from leafgrad._device import device

Restore = Callable[[Any, str], Any]


def restoring(map_location: Any) -> Restore:
    """The function that puts a storage where it belongs, given where it was."""
    if map_location is None:
        return _restore
    if isinstance(map_location, dict):
        return lambda storage, location: _restore(storage, map_location.get(location, location))
    if isinstance(map_location, bytes):
        map_location = map_location.decode("ascii")
    if isinstance(map_location, str | device):
        return lambda storage, location: _restore(storage, str(map_location))

    def asked(storage: Any, location: str) -> Any:
        found = map_location(storage, location)
        return _restore(storage, location) if found is None else found

    return asked


def _restore(storage: Any, location: Any) -> Any:
    location = str(location)
    kind = location.partition(":")[0]
    if kind == "cpu":
        return storage
    if kind == "cuda":
        raise errors.mistake(
            RuntimeError,
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are "
            "running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
            "storages to the CPU.",
        )
    raise errors.mistake(
        RuntimeError,
        "don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
        f"{location if len(location) <= 100 else location[:100] + '...'})",
        ("why", "leafgrad computes on the CPU only"),
        fix="map_location='cpu'",
    )
