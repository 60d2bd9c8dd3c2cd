"""The container: what is written can be read by others, and what others break is noticed."""

from __future__ import annotations

import io
import pickle
import struct
import sys
import zipfile
from typing import Any

import pytest

import leafgrad as torch
from leafgrad._files import archive as module
from leafgrad._files.archive import Archive, ArchiveWriter


def written(**records: bytes) -> bytes:
    buffer = io.BytesIO()
    archive = ArchiveWriter(buffer.write, "a")
    for name, content in records.items():
        archive.add(name, content)
    archive.close()
    return buffer.getvalue()


def test_python_reads_it() -> None:
    with zipfile.ZipFile(io.BytesIO(written(x=b"abc", y=b""))) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["a/x", "a/y", "a/version", "a/.data/serialization_id"]
        assert archive.read("a/x") == b"abc" and archive.read("a/version") == b"3\n"


def test_sizes_beyond_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fields of 64 bits are used as soon as a number reaches the limit, here lowered to a few bytes."""
    monkeypatch.setattr(module, "LIMIT", 90)
    content = written(x=b"abc" * 100, y=b"short")
    archive = Archive(io.BytesIO(content))
    assert archive.read("x") == b"abc" * 100 and archive.read("y") == b"short"
    # Python's module knows the true limit only: the fields are put where it looks for them
    wide = content.replace(struct.pack("<I", 90), struct.pack("<I", 0xFFFFFFFF))
    with zipfile.ZipFile(io.BytesIO(wide)) as python:
        assert python.testzip() is None and python.read("a/x") == b"abc" * 100


def test_the_identity_depends_on_the_content() -> None:
    identities = [Archive(io.BytesIO(written(x=x))).read(".data/serialization_id") for x in (b"1", b"1", b"2")]
    assert identities[0] == identities[1] != identities[2]


def saved(obj: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(obj, buffer)
    return buffer.getvalue()


def test_every_truncation_is_noticed() -> None:
    whole = saved(torch.arange(10.0))
    for length in range(len(whole)):
        with pytest.raises((RuntimeError, EOFError, pickle.UnpicklingError)):
            torch.load(io.BytesIO(whole[:length]))


def test_a_changed_bit_in_a_record_is_noticed() -> None:
    whole = bytearray(saved(torch.arange(1000.0)))
    whole[whole.index(b"data/0") + 2000] ^= 1
    with pytest.raises(RuntimeError, match="the checksum of a record does not fit its content"):
        torch.load(io.BytesIO(whole))


def with_directory(content: bytes, **changed: int) -> bytes:
    """An archive of one record, with other numbers in the directory."""
    start = content.index(b"PK\x01\x02")
    fields = list(module._CENTRAL.unpack_from(content, start))
    for name, value in changed.items():
        fields[{"method": 4, "packed": 8, "size": 9, "name_length": 10, "offset": 16}[name]] = value
    return content[:start] + module._CENTRAL.pack(*fields) + content[start + module._CENTRAL.size :]


@pytest.mark.parametrize(
    "changed, reason",
    [
        ({"size": 10**9, "packed": 10**9}, "records overlap"),
        ({"size": 1}, "not compressed"),
        ({"method": 8}, "not compressed"),
        ({"name_length": 60000}, "corrupted"),
        ({"offset": 10**9}, "outside of the file"),
        ({"offset": 3}, "corrupted"),
    ],
    ids=str,
)
def test_directories_that_lie(changed: dict[str, int], reason: str) -> None:
    content = with_directory(written(x=b"abc"), **changed)
    with pytest.raises(RuntimeError, match=f"^PytorchStreamReader failed reading zip archive: .*{reason}"):
        Archive(io.BytesIO(content)).read("x")


def test_more_entries_than_fit() -> None:
    content = bytearray(written(x=b"abc"))
    place = content.index(b"PK\x06\x06") + 24
    content[place : place + 16] = struct.pack("<QQ", 2**60, 2**60)
    with pytest.raises(RuntimeError, match="more entries than fit into it"):
        Archive(io.BytesIO(content))


def test_records_that_are_there_twice_or_not_at_all() -> None:
    buffer = io.BytesIO()
    archive = ArchiveWriter(buffer.write, "a")
    archive.add("x", b"1")
    archive.add("x", b"2")
    archive.close()
    buffer.seek(0)
    with pytest.raises(RuntimeError, match="a record is there twice"):
        Archive(buffer)
    with pytest.raises(RuntimeError, match=r"failed locating file data.pkl: file not found"):
        torch.load(io.BytesIO(written(x=b"1")))


def test_other_byte_orders() -> None:
    """A file of a machine that writes the other end first."""
    other = "big" if sys.byteorder == "little" else "little"
    numbers = {torch.float32: 1.5, torch.int64: -3, torch.complex64: 1 + 2j, torch.bfloat16: 2.0, torch.uint8: 7}
    for kind, number in numbers.items():
        tensor = torch.tensor([number], dtype=kind)
        item = kind.to_real().itemsize
        raw = tensor.untyped_storage()
        swapped = b"".join([bytes(raw[i] for i in range(at, at + item))[::-1] for at in range(0, len(raw), item)])
        records = Archive(io.BytesIO(saved(tensor)))
        buffer = io.BytesIO()
        archive = ArchiveWriter(buffer.write, "archive")
        archive.add("data.pkl", records.read("data.pkl"))
        archive.add("byteorder", other.encode())
        archive.add("data/0", swapped)
        archive.close()
        buffer.seek(0)
        assert torch.equal(torch.load(buffer), tensor)


def test_an_unknown_byte_order_and_torchscript() -> None:
    with pytest.raises(ValueError, match="Unknown endianness type: middle"):
        torch.load(io.BytesIO(written(**{"data.pkl": b"\x80\x02K\x01.", "byteorder": b"middle"})))
    with pytest.raises(RuntimeError, match="with TorchScript archives passed to"):
        torch.load(io.BytesIO(written(**{"data.pkl": b"\x80\x02K\x01.", "constants.pkl": b""})))
