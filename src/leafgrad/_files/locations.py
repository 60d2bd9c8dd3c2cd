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
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, bytes):
        map_location = map_location.decode("ascii")
    if isinstance(map_location, str | device):
        return lambda storage, location: default_restore_location(storage, str(map_location))

    def asked(storage: Any, location: str) -> Any:
        found = map_location(storage, location)
        return default_restore_location(storage, location) if found is None else found

    return asked


# -- where storages are, and how they get there ------------------------------------------------------------------------

Tagger = Callable[[Any], str | None]
Deserializer = Callable[[Any, str], Any]


def register_package(priority: int, tagger: Tagger, deserializer: Deserializer) -> None:
    """register_package(priority, tagger, deserializer): functions that say where a storage is, and put one there; those
    with the lowest number are asked first."""
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def location_tag(storage: Any) -> str:
    """location_tag(storage): the name that files have for the place of a storage."""
    for _, tagger, _ in _packages:
        if location := tagger(storage):
            return location
    raise errors.mistake(RuntimeError, f"don't know how to determine data location of {type(storage).__name__}")


def default_restore_location(storage: Any, location: Any) -> Any:
    """default_restore_location(storage, location): a storage at the place that a file names."""
    location = str(location)
    for _, _, deserializer in _packages:
        found = deserializer(storage, location)
        if found is not None:
            return found
    raise errors.mistake(
        RuntimeError,
        "don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
        f"{location if len(location) <= 100 else location[:100] + '...'})",
        ("why", "leafgrad computes on the CPU only"),
        fix="map_location='cpu'",
    )


def _no_accelerator(storage: Any, location: str) -> None:
    """Refuse the places of GPUs, in PyTorch's words for a machine that has none."""
    for kind in ("cuda", "xpu", "mtia"):
        if location.partition(":")[0] == kind:
            raise errors.mistake(
                RuntimeError,
                f"Attempting to deserialize object on a {kind.upper()} device but torch.{kind}.is_available() is "
                "False. If you are running on a CPU-only machine, please use torch.load with "
                "map_location=torch.device('cpu') to map your storages to the CPU.",
            )


def _tag_without_data(storage: Any) -> str | None:
    return "meta" if storage.device.type == "meta" else None


def _without_data(storage: Any, location: str) -> Any:
    """A storage of the same size that has no data."""
    return type(storage)(storage.nbytes(), device="meta") if location == "meta" else None


_packages: list[tuple[int, Tagger, Deserializer]] = []
register_package(
    10,
    lambda storage: storage.device.type if storage.device.type == "cpu" else None,
    lambda storage, location: storage if location == "cpu" else None,
)
register_package(22, _tag_without_data, _without_data)
register_package(20, lambda storage: None, _no_accelerator)
