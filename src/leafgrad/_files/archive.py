"""The container of PyTorch's files: a zip archive whose records are stored as they are, each at a multiple of 64 bytes,
so that a tensor can be shown straight from a mapped file.

It is read by a parser of its own, because every number in a file may be wrong or meant to do harm: a record lies inside
of the file, all of them together are no longer than the file, and nothing is decompressed.
"""

from __future__ import annotations

import hashlib
import io
import struct
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

from leafgrad import errors
from leafgrad._files import options

LIMIT = 0xFFFFFFFF  # what 32 bits cannot say stands in a field of 64 bits, and this in its place

NO_CHECKSUM = 0  # for records without one (`set_crc32_options`, `skip_data`)
_EMPTY = 1 << 20

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_END = struct.Struct("<4s4H2IH")
_LOCAL_CRC, _CENTRAL_CRC = 14, 16  # where the headers have the checksum
_UTF8 = 0x800
_ZIP64 = 1  # the kind of an extra field with sizes of 64 bits
_LONGEST_COMMENT = 0xFFFF


def broken(reason: str, *notes: tuple[str, str]) -> Exception:
    """The error for a file that is no archive of PyTorch's, or not any more."""
    first = f"PytorchStreamReader failed reading zip archive: {reason}"
    return errors.mistake(RuntimeError, first, *notes)


# -- writing ----------------------------------------------------------------------------------------------------------


class Written(NamedTuple):
    name: bytes
    crc: int
    size: int
    offset: int


class ArchiveWriter:
    """Writes records one after the other; `write` is that of a file, which need not be seekable."""

    def __init__(self, write: Callable[[Any], Any], folder: str) -> None:
        self._write = write
        self._folder = folder
        self._position = 0
        self._records: list[Written] = []

    def _put(self, data: Any) -> None:
        self._write(data)
        self._position += len(data)

    def add(self, name: str, content: Any) -> None:
        """Write a record: bytes, or an array of bytes."""
        view = memoryview(content)
        self._begin(name, len(view), zlib.crc32(view) if options.save.compute_crc32 else NO_CHECKSUM)
        if len(view):
            self._put(view)

    def reserve(self, name: str, size: int) -> None:
        """Write a record of zeros, which is meant to be filled by somebody else."""
        self._begin(name, size, NO_CHECKSUM)
        for done in range(0, size, _EMPTY):
            self._put(bytes(min(_EMPTY, size - done)))

    def _begin(self, name: str, size: int, crc: int) -> None:
        path = f"{self._folder}/{name}".encode()
        offset = self._position
        shown = min(size, LIMIT)
        extra = struct.pack("<HHQQ", _ZIP64, 16, size, size) if size >= LIMIT else b""
        # "FB" is PyTorch's own kind of extra field: padding, so that the content begins where it should
        begin = offset + _LOCAL.size + len(path) + len(extra) + 4
        padding = -begin % options.save.storage_alignment
        extra += b"FB" + struct.pack("<H", padding) + b"Z" * padding
        self._put(_LOCAL.pack(b"PK\x03\x04", 0, _UTF8, 0, 0, 0, crc, shown, shown, len(path), len(extra)))
        self._put(path)
        self._put(extra)
        self._records.append(Written(path, crc, size, offset))

    def close(self) -> None:
        """Write what PyTorch expects behind the records, and the directory."""
        self.add("version", b"3\n")
        self.add(".data/serialization_id", self._identity())
        start = self._position
        for record in self._records:
            wide = [number for number in (record.size, record.size, record.offset) if number >= LIMIT]
            extra = struct.pack(f"<HH{len(wide)}Q", _ZIP64, 8 * len(wide), *wide) if wide else b""
            size, offset = min(record.size, LIMIT), min(record.offset, LIMIT)
            lengths = (len(record.name), len(extra), 0, 0, 0)
            self._put(_CENTRAL.pack(b"PK\x01\x02", 0, 0, _UTF8, 0, 0, 0, record.crc, size, size, *lengths, 0, offset))
            self._put(record.name + extra)
        end, count = self._position, len(self._records)
        self._put(_END64.pack(b"PK\x06\x06", _END64.size - 12, 45, 45, 0, 0, count, count, end - start, start))
        self._put(_LOCATOR.pack(b"PK\x06\x07", 0, end, 1))
        few = min(count, 0xFFFF)
        self._put(_END.pack(b"PK\x05\x06", 0, 0, few, few, min(end - start, LIMIT), min(start, LIMIT), 0))

    def _identity(self) -> bytes:
        """40 digits that are the same for the same content: 20 for the names, 20 for the checksums."""
        names = b"\n".join([record.name.partition(b"/")[2] for record in self._records])
        sums = b"".join([struct.pack("<I", record.crc) for record in self._records])
        numbers = [int.from_bytes(hashlib.sha256(part).digest()[:8], "little") for part in (names, sums)]
        return "".join([f"{number:020d}" for number in numbers]).encode()


# -- reading ----------------------------------------------------------------------------------------------------------


class Record(NamedTuple):
    crc: int
    size: int
    offset: int  # of its header
    entry: int  # where its entry in the directory is


class Archive:
    """The records of an archive that begins where the file stands."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._start = file.tell()
        self.length = file.seek(0, io.SEEK_END) - self._start
        self._records: dict[str, Record] = {}
        first, count, size = self._directory()
        content = self._read(first, size)
        place = 0
        for _ in range(count):
            place = self._entry(content, place, first)
        if sum([record.size for record in self._records.values()]) > self.length:
            raise broken("records overlap", ("file", f"{self.length} bytes, less than its records together"))

    def _read(self, offset: int, size: int) -> bytes:
        if offset < 0 or size < 0 or offset + size > self.length:
            raise broken("a part lies outside of the file", ("wanted", f"{size} bytes at {offset} of {self.length}"))
        self._file.seek(self._start + offset)
        data: bytes = self._file.read(size)
        if len(data) != size:
            raise broken("the file ends too early")
        return data

    def _directory(self) -> tuple[int, int, int]:
        """Where the directory begins, how many entries and how many bytes it has."""
        tail_length = min(self.length, _END.size + _LONGEST_COMMENT)
        tail = self._read(self.length - tail_length, tail_length)
        found = tail.rfind(b"PK\x05\x06")
        if found < 0 or len(tail) - found < _END.size:
            raise broken("failed finding central directory", ("why", "the file is cut off, or no archive at all"))
        _, _, _, _, count, size, first, _ = _END.unpack_from(tail, found)
        before = self.length - tail_length + found - _LOCATOR.size
        if before >= 0 and (locator := self._read(before, _LOCATOR.size)).startswith(b"PK\x06\x07"):
            end = self._read(_LOCATOR.unpack(locator)[2], _END64.size)
            if not end.startswith(b"PK\x06\x06"):
                raise broken("invalid header or archive is corrupted")
            count, size, first = _END64.unpack(end)[7:]
        if count * _CENTRAL.size > size:
            raise broken("its directory is said to have more entries than fit into it")
        return first, count, size

    def _entry(self, content: bytes, place: int, first: int) -> int:
        """Read an entry of the directory, which is at `first`; where the next entry begins."""
        if content[place : place + 4] != b"PK\x01\x02" or len(content) - place < _CENTRAL.size:
            raise broken("invalid header or archive is corrupted")
        fields = _CENTRAL.unpack_from(content, place)
        method, crc, packed, size, name_length, extra_length, comment, offset = (
            *fields[4:5],
            *fields[7:13],
            fields[16],
        )
        begin = place + _CENTRAL.size
        end = begin + name_length + extra_length
        if end > len(content):
            raise broken("invalid header or archive is corrupted")
        name = content[begin : begin + name_length].decode("utf-8", "replace")
        size, packed, offset = _wide((size, packed, offset), content[begin + name_length : end])
        if method != 0 or packed != size:
            raise broken("records must be stored, not compressed", ("record", repr(name)))
        # names begin with the name of the folder, which is that of the file when it was written
        record = Record(crc, size, offset, first + place)
        if self._records.setdefault(name.partition("/")[2], record) is not record:
            raise broken("a record is there twice", ("record", repr(name)))
        return int(end + comment)

    def __contains__(self, name: str) -> bool:
        return name in self._records

    def place(self, name: str) -> tuple[int, int]:
        """Where in the file the content of a record begins, and how long it is."""
        record = self._records.get(name)
        if record is None:
            first = f"PytorchStreamReader failed locating file {name}: file not found"
            raise errors.mistake(RuntimeError, first, ("file", "it misses a part that files of PyTorch have"))
        header = self._read(record.offset, _LOCAL.size)
        if not header.startswith(b"PK\x03\x04"):
            raise broken("invalid header or archive is corrupted", ("record", repr(name)))
        begin = record.offset + _LOCAL.size + sum(_LOCAL.unpack(header)[9:])
        if begin + record.size > self.length:
            raise broken("a part lies outside of the file", ("record", repr(name)))
        return self._start + begin, record.size

    def read_into(self, name: str, target: Any) -> None:
        """Fill an array with the bytes of a record, as long as the record is."""
        begin, _ = self.place(name)
        view, done = memoryview(target), 0
        self._file.seek(begin)
        while done < len(view):
            if hasattr(self._file, "readinto"):
                count = self._file.readinto(view[done:])
            else:
                part = self._file.read(len(view) - done)
                count = len(part)
                view[done : done + count] = part
            if not count:
                raise broken("the file ends too early", ("record", repr(name)))
            done += count
        self._check(name, view)

    def drop_checksum(self, name: str, memory: Any) -> None:
        """Take the checksum of a record, which is going to change, out of the file that `memory` is the map of."""
        record = self._records[name]
        for place in (record.offset + _LOCAL_CRC, record.entry + _CENTRAL_CRC):
            memory[self._start + place : self._start + place + 4] = struct.pack("<I", NO_CHECKSUM)

    def read(self, name: str) -> bytes:
        """The bytes of a record."""
        begin, size = self.place(name)
        data = self._read(begin - self._start, size)
        self._check(name, data)
        return data

    def _check(self, name: str, data: Any) -> None:
        record = self._records[name]
        if record.crc != NO_CHECKSUM and zlib.crc32(data) != record.crc:
            raise broken("the checksum of a record does not fit its content", ("record", repr(name)))


def _wide(numbers: tuple[int, int, int], extra: bytes) -> list[int]:
    """Sizes and offset of an entry, where necessary from an extra field."""
    found = list(numbers)
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == _ZIP64:
            values = [struct.unpack_from("<Q", extra, 4 + at)[0] for at in range(0, min(length, len(extra) - 4) - 7, 8)]
            for i, number in enumerate(numbers):
                if number == LIMIT and values:
                    found[i] = values.pop(0)
            break
        extra = extra[4 + length :]
    return found
