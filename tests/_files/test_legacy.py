"""The format of before PyTorch 1.6, and the settings of `torch.serialization`."""

from __future__ import annotations

import io
import mmap
import pickle
import struct
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest

import leafgrad as torch
from leafgrad.serialization import LoadEndianness
from leafgrad.utils.serialization import config
from stored_objects import OBJECTS, described

STORED = Path(__file__).parents[1] / "data" / "files"
OLD: dict[str, Any] = {"_use_new_zipfile_serialization": False}


def saved(obj: Any, **options: Any) -> io.BytesIO:
    buffer = io.BytesIO()
    torch.save(obj, buffer, **options)
    buffer.seek(0)
    return buffer


class Doubled(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return 2 * x


def test_a_file_of_pytorch() -> None:
    for weights_only in (True, False):
        assert torch.load(STORED / "old_format.pt", weights_only=weights_only).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("name", OBJECTS)
def test_there_and_back(name: str, protocol: int, weights_only: bool, tmp_path: Path) -> None:
    torch.save(OBJECTS[name](torch), tmp_path / "a.pt", pickle_protocol=protocol, **OLD)
    loaded = torch.load(tmp_path / "a.pt", weights_only=weights_only)
    assert described(loaded) == described(OBJECTS[name](torch))


def test_tensors_share_their_memory_again() -> None:
    whole = torch.arange(6.0)
    first, second = torch.load(saved([whole, whole[2:]], **OLD))
    first[3] = 10.0
    assert second.tolist() == [2.0, 10.0, 4.0, 5.0]


def test_a_conjugate_is_computed_when_its_memory_is_there() -> None:
    content = saved(torch.tensor([1 + 2j]), **OLD).getvalue()
    hooks = b")Rq\x09"  # the last argument of a tensor: put one behind it
    found = content.replace(hooks, hooks + b"}X\x04\x00\x00\x00conj\x88s")
    assert found != content
    assert torch.load(io.BytesIO(found)).resolve_conj().tolist() == [1 - 2j]


def test_one_object_after_the_other() -> None:
    buffer = io.BytesIO()
    for number in (1.0, 2.0):
        torch.save(torch.full((3,), number), buffer, **OLD)
    buffer.seek(0)
    assert [torch.load(buffer)[0].item() for _ in range(2)] == [1.0, 2.0]


def test_texts_of_python_2() -> None:
    content = saved(["ż", torch.ones(1)], **OLD).getvalue()
    old = content.replace(b"X\x02\x00\x00\x00\xc5\xbc", b"U\x02\xc5\xbc")
    old = old.replace(b"X\x07\x00\x00\x00stor", b"U\x07stor")
    assert old != content
    for weights_only in (True, False):
        for encoding, text in (("utf-8", "ż"), ("bytes", b"\xc5\xbc")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                loaded = torch.load(io.BytesIO(old), weights_only=weights_only, encoding=encoding)
            assert loaded[0] == text and loaded[1].tolist() == [1.0]


def test_modules_and_their_source() -> None:
    file = saved(torch.nn.Sequential(torch.nn.Linear(2, 2), Doubled()), **OLD)
    with pytest.raises(pickle.UnpicklingError, match="was not an allowed global by default"):
        torch.load(file)
    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.load(file, weights_only=False)(torch.ones(1, 2)).shape == (1, 2)
    changed = file.getvalue().replace(b"return 2 * x", b"return 3 * x")
    with pytest.warns(torch.serialization.SourceChangeWarning, match="Doubled' has changed"):
        torch.load(io.BytesIO(changed), weights_only=False)


def test_what_is_wrong_with_a_file() -> None:
    whole = saved(torch.arange(100.0), **OLD).getvalue()
    for length in range(1, len(whole), 7):
        with pytest.raises((pickle.UnpicklingError, RuntimeError)):
            torch.load(io.BytesIO(whole[:length]))
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        torch.load(io.BytesIO(whole), mmap=True)
    with pytest.raises(RuntimeError, match="Invalid magic number; corrupt file"):
        torch.load(io.BytesIO(pickle.dumps(1, 2)))
    with pytest.raises(RuntimeError, match="Invalid protocol version: 7"):
        torch.load(io.BytesIO(whole[:15] + pickle.dumps(7, 2)))
    with pytest.raises(RuntimeError, match=r"legacy .tar format"):
        torch.load(io.BytesIO(bytes(257) + b"ustar" + bytes(250)))
    with pytest.raises(RuntimeError, match="more than the file has"):
        torch.load(io.BytesIO(whole.replace(b"cpuq\x04Kd", b"cpuq\x04J\x00\x00\x00\x7f")))


def test_no_checksums() -> None:
    torch.serialization.set_crc32_options(False)
    try:
        assert torch.serialization.get_crc32_options() is False is config.save.compute_crc32
        file = saved(torch.ones(2))
    finally:
        torch.serialization.set_crc32_options(True)
    assert {info.CRC for info in zipfile.ZipFile(file).infolist()} == {0}
    file.seek(0)
    assert torch.load(file).tolist() == [1.0, 1.0]


def test_alignment() -> None:
    config.save.storage_alignment = 4096
    try:
        file = saved(torch.ones(2))
    finally:
        config.save.storage_alignment = 64
    assert file.getvalue().find(struct.pack("<2f", 1, 1)) % 4096 == 0
    assert torch.load(file).tolist() == [1.0, 1.0]


def test_without_the_content() -> None:
    with torch.serialization.skip_data():
        file = saved({"w": torch.ones(3)})
    assert torch.load(file)["w"].tolist() == [0.0, 0.0, 0.0]
    for full in (saved(torch.ones(3)), saved(torch.ones(3), **OLD)):
        with torch.serialization.skip_data():
            assert torch.load(full).shape == (3,)
    assert len(file.getvalue()) == len(saved({"w": torch.ones(3)}).getvalue())


def test_changes_of_a_mapped_file(tmp_path: Path) -> None:
    torch.save(torch.ones(3), tmp_path / "a.pt")
    torch.load(tmp_path / "a.pt", mmap=True).add_(1)
    assert torch.load(tmp_path / "a.pt").tolist() == [1.0, 1.0, 1.0]
    with torch.serialization.set_default_mmap_options(mmap.MAP_SHARED):
        assert torch.serialization.get_default_mmap_options() == mmap.MAP_SHARED
        torch.load(tmp_path / "a.pt", mmap=True).add_(1)
    assert torch.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    assert torch.load(tmp_path / "a.pt").tolist() == [2.0, 2.0, 2.0]
    config.load.mmap = True
    try:
        assert torch.load(tmp_path / "a.pt").tolist() == [2.0, 2.0, 2.0]
    finally:
        config.load.mmap = False
    with pytest.raises(ValueError, match=r"expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got 7"):
        torch.serialization.set_default_mmap_options(7)


def test_the_order_of_bytes_of_files_that_do_not_say_it() -> None:
    file = saved(torch.tensor([1], dtype=torch.int16), _disable_byteorder_record=True)
    assert torch.serialization.get_default_load_endianness() is None
    torch.serialization.set_default_load_endianness(LoadEndianness.BIG)
    try:
        assert torch.load(file).tolist() == [256]
    finally:
        torch.serialization.set_default_load_endianness(None)
    file.seek(0)
    assert torch.load(file).tolist() == [1]
    with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
        torch.serialization.set_default_load_endianness("big")


def test_names_that_a_file_would_look_up() -> None:
    unsafe = torch.serialization.get_unsafe_globals_in_checkpoint
    assert unsafe(saved({"w": torch.ones(2)})) == []
    for protocol in (2, 4):
        file = saved([torch.nn.ReLU(), Doubled()], pickle_protocol=protocol)
        assert unsafe(file) == [f"{__name__}.Doubled", "torch.nn.modules.activation.ReLU"]
        file.seek(0)
        with torch.serialization.safe_globals([Doubled]):
            assert unsafe(file) == ["torch.nn.modules.activation.ReLU"]
    with pytest.raises(ValueError, match=r"Expected input to be a checkpoint returned by torch.save"):
        unsafe(saved(1, **OLD))


def test_packages_say_where_storages_go() -> None:
    from leafgrad._files import locations

    before = list(locations._packages)
    torch.serialization.register_package(
        5, lambda storage: "moon", lambda storage, location: storage.clone() if location == "moon" else None
    )
    try:
        file = saved(torch.ones(2))
        assert b"moon" in file.getvalue()
        assert torch.load(file).tolist() == [1.0, 1.0]
    finally:
        locations._packages[:] = before
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"don't know how to restore data location of .* \(tagged with moon\)"):
        torch.load(file)


def test_versions_of_modules() -> None:
    module = type("m", (), {"__version__": "1.10.2"})
    check = torch.serialization.check_module_version_greater_or_equal
    assert check(module, (1, 9)) and check(module, (1, 10, 2)) and not check(module, (2,))
    with pytest.raises(RuntimeError, match="version string is malformed"):
        check(module, (1, 10, 2, 0))
