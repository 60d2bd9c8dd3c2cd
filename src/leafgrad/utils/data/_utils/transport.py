"""Objects between processes. Arrays are not copied into the pickle: the pickle comes first, then the memory of each
array as it is, which is read straight into the memory of the array at the other end."""

from __future__ import annotations

import io
import pickle
import struct
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

Message = list[Any]  # the pickle, with the lengths of what follows, and the memory of arrays


def packed(obj: Any) -> Message:
    """An object as what is to be sent."""
    buffers: list[pickle.PickleBuffer] = []
    content = io.BytesIO()
    ForkingPickler(content, 5, True, buffers.append).dump(obj)
    parts = [buffer.raw() for buffer in buffers]
    head = struct.pack(f"<I{len(parts)}Q", len(parts), *[part.nbytes for part in parts])
    return [head + content.getvalue(), *[part for part in parts if part.nbytes]]


def send(connection: Connection, message: Message) -> None:
    for part in message:
        connection.send_bytes(part)


def receive(connection: Connection) -> Any:
    """The object that was sent. EOFError if the other end is gone."""
    head = connection.recv_bytes()
    (count,) = struct.unpack_from("<I", head)
    lengths = struct.unpack_from(f"<{count}Q", head, 4)
    buffers = [np.empty(length, np.uint8) for length in lengths]
    for buffer in buffers:
        if buffer.nbytes:
            connection.recv_bytes_into(buffer)
    return pickle.loads(memoryview(head)[4 + 8 * count :], buffers=buffers)
