"""Files that are replaced as a whole: whoever reads one, at any moment, finds the old content or the new."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from leafgrad import errors


@contextmanager
def replaced(path: str) -> Iterator[Any]:
    """A file to write to, which takes the place of `path` when everything is written and on the disk. If writing
    fails, `path` is what it was."""
    target = os.path.realpath(path)  # a link stays a link
    folder, name = os.path.split(target)
    if not os.path.isdir(folder):
        raise errors.mistake(RuntimeError, f"Parent directory {os.path.dirname(path) or folder} does not exist.")
    if os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode):  # a device or a pipe
        with open(target, "wb") as file:
            yield file
        return
    handle, temporary = tempfile.mkstemp(".tmp", f".{name[:80]}.", folder)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    _sync_folder(folder)


def _mode(target: str) -> int:
    """The permissions of the file that is replaced, or those that a new one gets."""
    if os.path.exists(target):
        return stat.S_IMODE(os.stat(target).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: str) -> None:
    """Have the new name on the disk as well, where folders can be opened."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
