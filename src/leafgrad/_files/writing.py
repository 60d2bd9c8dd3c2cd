"""save: an object into a file."""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any

from leafgrad import errors
from leafgrad._files.archive import ALIGNMENT, ArchiveWriter
from leafgrad._files.atomic import replaced
from leafgrad._files.pickling import pickled


def save(
    obj: object,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """save(obj, f, pickle_module=pickle, pickle_protocol=2): write an object that contains tensors to a path or a file,
    in PyTorch's format. What is at a path is replaced as a whole: a process that dies leaves the old file or the new
    one."""
    is_path = isinstance(f, str | os.PathLike)
    if not is_path and not hasattr(f, "write"):
        first = "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        raise errors.mistake(AttributeError, first)
    if not _use_new_zipfile_serialization:
        raise errors.mistake(
            NotImplementedError,
            "leafgrad writes PyTorch's zip format, not the one of before PyTorch 1.6",
            fix="leave out _use_new_zipfile_serialization=False",
        )
    content = io.BytesIO()  # pickled before any file is touched: an object that cannot be leaves no trace
    storages = pickled(content.write, obj, pickle_module, pickle_protocol)

    def write_records(write: Callable[[Any], Any], folder: str) -> None:
        archive = ArchiveWriter(write, folder)
        archive.add("data.pkl", content.getbuffer())
        archive.add(".format_version", b"1")
        archive.add(".storage_alignment", str(ALIGNMENT).encode())
        if not _disable_byteorder_record:
            archive.add("byteorder", sys.byteorder.encode())
        for key, storage in storages.items():
            archive.add(f"data/{key}", storage._elements())
        archive.close()

    if is_path:
        path = os.fspath(f)
        with replaced(path) as file:
            write_records(file.write, os.path.splitext(os.path.basename(path))[0] or "archive")
    else:
        write_records(f.write, "archive")
        if hasattr(f, "flush"):
            f.flush()
