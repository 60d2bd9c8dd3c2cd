"""save: an object into a file."""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Callable
from typing import Any

from leafgrad import errors
from leafgrad._files import options
from leafgrad._files.archive import ArchiveWriter
from leafgrad._files.atomic import replaced
from leafgrad._files.legacy import write_legacy
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
    in PyTorch's format; with `_use_new_zipfile_serialization=False` in the one of before PyTorch 1.6. What is at a path
    is replaced as a whole: a process that dies leaves the old file or the new one."""
    if not isinstance(f, str | os.PathLike) and not hasattr(f, "write"):
        first = "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        raise errors.mistake(AttributeError, first)
    if not _use_new_zipfile_serialization:
        output = io.BytesIO()
        write_legacy(output.write, obj, pickle_module, pickle_protocol)
        written(f, lambda write, folder: write(output.getbuffer()))
        return
    content = io.BytesIO()  # pickled before any file is touched: an object that cannot be leaves no trace
    storages = pickled(content.write, obj, pickle_module, pickle_protocol)

    def write_records(write: Callable[[Any], Any], folder: str) -> None:
        archive = ArchiveWriter(write, folder)
        archive.add("data.pkl", content.getbuffer())
        archive.add(".format_version", b"1")
        archive.add(".storage_alignment", str(options.save.storage_alignment).encode())
        if not _disable_byteorder_record:
            archive.add("byteorder", sys.byteorder.encode())
        for key, storage in storages.items():
            if options.skipping.on:
                archive.reserve(f"data/{key}", storage.nbytes())
            else:
                archive.add(f"data/{key}", storage._elements())
        archive.close()

    written(f, write_records)


def written(f: Any, write_content: Callable[[Callable[[Any], Any], str], Any]) -> None:
    """Write to a file, or replace what is at a path. The content is told its name."""
    if isinstance(f, str | os.PathLike):
        path = os.fspath(f)
        with replaced(path) as file:
            write_content(file.write, os.path.splitext(os.path.basename(path))[0] or "archive")
        return
    write_content(f.write, "archive")
    if hasattr(f, "flush"):
        f.flush()
