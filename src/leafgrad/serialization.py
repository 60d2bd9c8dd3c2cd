"""torch.serialization: files with tensors in them, and what a file may contain that is loaded without running it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import _missing, errors
from leafgrad._device import device
from leafgrad._files import restricted
from leafgrad._files.legacy import SourceChangeWarning as SourceChangeWarning
from leafgrad._files.locations import default_restore_location as default_restore_location
from leafgrad._files.locations import location_tag as location_tag
from leafgrad._files.locations import register_package as register_package
from leafgrad._files.options import LoadEndianness as LoadEndianness
from leafgrad._files.options import get_crc32_options as get_crc32_options
from leafgrad._files.options import get_default_load_endianness as get_default_load_endianness
from leafgrad._files.options import get_default_mmap_options as get_default_mmap_options
from leafgrad._files.options import set_crc32_options as set_crc32_options
from leafgrad._files.options import set_default_load_endianness as set_default_load_endianness
from leafgrad._files.options import set_default_mmap_options as set_default_mmap_options
from leafgrad._files.options import skip_data as skip_data
from leafgrad._files.reading import get_unsafe_globals_in_checkpoint as get_unsafe_globals_in_checkpoint
from leafgrad._files.reading import load as load
from leafgrad._files.writing import save as save
from leafgrad.types import Storage

__all__ = [
    "LoadEndianness", "SourceChangeWarning", "add_safe_globals", "check_module_version_greater_or_equal",
    "clear_safe_globals", "default_restore_location", "get_crc32_options", "get_default_load_endianness",
    "get_default_mmap_options", "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load", "location_tag",
    "register_package", "safe_globals", "save", "set_crc32_options", "set_default_load_endianness",
    "set_default_mmap_options", "skip_data",
]  # fmt: skip

DEFAULT_PROTOCOL = 2  # of pickled data
MAP_LOCATION = (
    Callable[[Storage, str], Storage] | device | str | dict[str, str] | None
)  # what load(map_location=) takes

Global = Callable[..., Any] | tuple[Callable[..., Any], str]


def add_safe_globals(safe_globals: list[Global]) -> None:
    """add_safe_globals(safe_globals): classes and functions that `load` may use; or pairs of one and its
    name in files."""
    restricted.allowed_by_user.update(safe_globals)


def get_safe_globals() -> list[Global]:
    """get_safe_globals(): what `load` may use, beside what it may anyway."""
    return list(restricted.allowed_by_user)


def clear_safe_globals() -> None:
    """clear_safe_globals(): take back what was allowed."""
    restricted.allowed_by_user.clear()


class safe_globals:
    """safe_globals(safe_globals): a context in which `load` may use these classes and functions."""

    def __init__(self, safe_globals: list[Global]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        add_safe_globals(self.safe_globals)

    def __exit__(self, *exception: object) -> None:
        restricted.allowed_by_user.difference_update(self.safe_globals)


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True
) -> bool:
    """check_module_version_greater_or_equal(module, req_version_tuple, error_if_malformed=True): is a module at
    least of this version?"""
    parts = module.__version__.split(".")
    try:
        return tuple([type(wanted)(parts[i]) for i, wanted in enumerate(req_version_tuple)]) >= req_version_tuple
    except Exception as error:
        message = (
            f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be compared "
            f"with tuple {req_version_tuple}"
        )
        if error_if_malformed:
            raise errors.mistake(RuntimeError, message) from error
        errors.warn(f"{message}, but continuing assuming that requirement is met")
        return True


__getattr__ = _missing.attributes_of(__name__)
