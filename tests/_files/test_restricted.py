"""What a file may do when it is loaded: nothing but make tensors and containers."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import leafgrad as torch
from leafgrad._files.archive import ArchiveWriter


def file_with(content: bytes, **records: bytes) -> io.BytesIO:
    """A file whose pickle is this one."""
    buffer = io.BytesIO()
    archive = ArchiveWriter(buffer.write, "archive")
    archive.add("data.pkl", content)
    for name, record in {"byteorder": sys.byteorder.encode(), **records}.items():
        archive.add(name.replace("__", "/"), record)
    archive.close()
    buffer.seek(0)
    return buffer


class Calls:
    """Pickled, it is a call."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = function, args

    def __reduce__(self) -> Any:
        return self.call


MALICIOUS = {
    "os.system": Calls(os.system, "touch HARM"),
    "eval": Calls(eval, "open('HARM', 'w')"),
    "exec": Calls(exec, "open('HARM', 'w')"),
    "getattr": Calls(getattr, torch.Tensor, "__class__"),
    "subprocess.Popen": Calls(subprocess.Popen, ["touch", "HARM"]),
    "__import__": Calls(__import__, "antigravity"),
    "open": Calls(open, "HARM", "w"),
}


@pytest.mark.parametrize("name", MALICIOUS)
@pytest.mark.parametrize("protocol", [2, 4])
def test_a_malicious_file_is_told_what_it_tried(
    name: str, protocol: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    torch.load(file_with(pickle.dumps(1, 2)))  # imports what it needs itself
    before = set(sys.modules)
    content = pickle.dumps([MALICIOUS[name]], protocol)
    with pytest.raises(pickle.UnpicklingError, match=name.replace("os.", "(posix|nt).")):
        torch.load(file_with(content))
    assert os.listdir(tmp_path) == []
    assert {module for module in set(sys.modules) - before if not module.startswith("leafgrad")} <= {"linecache"}


def test_blocked_modules_cannot_be_allowed() -> None:
    with torch.serialization.safe_globals([os.system]), pytest.raises(pickle.UnpicklingError, match="is blocked"):
        torch.load(file_with(pickle.dumps(MALICIOUS["os.system"], 2)))


# Instructions put together by hand: what a pickler would never write.
BAD = {
    "call of a number": b"\x80\x02K\x01)R.",
    "call of a dtype": b"\x80\x02ctorch\nfloat32\n)R.",
    "call of a class of storages": b"\x80\x02ctorch\nFloatStorage\nK\x01\x85R.",
    "call of Tensor": b"\x80\x02ctorch\nTensor\nK\x01\x85R.",
    "a storage of many bytes": b"\x80\x02ctorch.storage\nUntypedStorage\nJ\xff\xff\xff\x7f\x85R.",
    "bytearray of a number": b"\x80\x02c__builtin__\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
    "a codec": b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x05\x00\x00\x00rot13\x86R.",
    "empty stack": b"\x80\x02.",
    "append to nothing": b"\x80\x02K\x01a.",
    "append to a dictionary": b"\x80\x02}K\x01a.",
    "no mark": b"\x80\x02t.",
    "memo": b"\x80\x02h\x07.",
    "key without value": b"\x80\x02}(K\x01u.",
    "a list as a key": b"\x80\x02}]K\x01s.",
    "state of a list": b"\x80\x02]}b.",
    "state of an OrderedDict": b"\x80\x02ccollections\nOrderedDict\n)RK\x01b.",
    "new object": b"\x80\x02ccollections\nOrderedDict\n)\x81.",
    "truncated": b"\x80\x02X\xff\xff\xff\xff",
    "no stop": b"\x80\x02]",
    "text": b"\x80\x02X\x01\x00\x00\x00\xff.",
    "persistent number": b"\x80\x02K\x01Q.",
    "persistent other": b"\x80\x02X\x01\x00\x00\x00a\x85Q.",
    "complex": b"\x80\x02c__builtin__\ncomplex\nX\x01\x00\x00\x001\x85R.",
    "rebuilding with too few arguments": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.",
    "instance": b"\x80\x02(ios\nsystem\n.",
    "ext": b"\x80\x02\x82\x01.",
    "a name that is no text": b"\x80\x04K\x01K\x01\x93.",
    "items of a list": b"\x80\x04](K\x01\x90.",
    "frames": b"\x80\x04\x95\x01",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_instructions(name: str) -> None:
    with pytest.raises(pickle.UnpicklingError, match=r"^Weights only load failed\."):
        torch.load(file_with(BAD[name]))


def tensor_with(**changed: Any) -> io.BytesIO:
    """A file with a tensor of 4 floats, of which something is not as it should be."""
    fields: dict[str, Any] = {"offset": 0, "size": (2, 2), "stride": (2, 1), "key": "0", "count": 4, **changed}

    class Storage:
        pass

    class Pickler(pickle._Pickler):  # type: ignore[name-defined]
        def persistent_id(self, obj: Any) -> Any:
            return ("storage", MARK, fields["key"], "cpu", fields["count"]) if isinstance(obj, Storage) else None

    args = (Storage(), fields["offset"], fields["size"], fields["stride"], False, OrderedDict())
    buffer = io.BytesIO()
    Pickler(buffer, 2).dump(Calls(MARK, *args))
    mark = pickle.dumps(MARK, 2)[2:-1].partition(b"q\x00")[0]
    content = buffer.getvalue().replace(mark, b"ctorch._utils\n_rebuild_tensor_v2\n", 1)
    memo = content.partition(b"_rebuild_tensor_v2\n")[2][:2].replace(b"q", b"h")
    content = content.replace(memo, b"ctorch\nFloatStorage\n", 1) if memo in content else content
    return file_with(content, data__0=bytes(16))


def MARK() -> None: ...


def test_the_tensor_itself() -> None:
    assert torch.load(tensor_with()).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert torch.load(tensor_with(size=(2,), stride=(0,), offset=3)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "changed",
    [
        {"offset": 1}, {"offset": -1}, {"offset": 2**62}, {"offset": 2**70}, {"size": (4, 2)}, {"size": (-1, 2)},
        {"size": (2**40, 2**40)}, {"stride": (-2, 1)}, {"stride": (1,)}, {"stride": (2**62, 2**62)}, {"count": 5},
        {"count": -4}, {"count": 2**62}, {"key": "1"}, {"key": "../x"}, {"key": 0}, {"size": [2, 2]}, {"size": ("2",)},
        {"size": (True, 2)}, {"offset": 0.0},
    ],
    ids=str,
)  # fmt: skip
def test_tensors_that_cannot_be(changed: dict[str, Any]) -> None:
    with pytest.raises((RuntimeError, pickle.UnpicklingError)):
        torch.load(tensor_with(**changed))


def test_a_short_file_cannot_fill_the_memory() -> None:
    """A text that is made into bytes again and again."""
    text = b"X" + (10_000).to_bytes(4, "little") + b"a" * 10_000 + b"q\x00"
    latin = b"X\x06\x00\x00\x00latin1q\x01"
    again = b"c_codecs\nencode\nq\x02h\x00h\x01\x86R" + b"h\x02h\x00h\x01\x86R" * 100
    with pytest.raises(pickle.UnpicklingError, match="more than its length can be meant for"):
        torch.load(file_with(b"\x80\x02]" + text + latin + again + b"."))


def test_keys_that_take_forever() -> None:
    """Tuples of twice the same tuple: hashing the outermost takes 2**60 steps; 100,000 in each other end the stack."""
    doubled = b"\x80\x02}K\x01" + b"".join([b"q\x00h\x00\x86" for _ in range(60)]) + b"K\x01s."
    deep = b"\x80\x02}K\x01" + b"\x85" * 100_000 + b"K\x01s."
    for content in (doubled, deep, doubled.replace(b"}", b"c__builtin__\nset\n]", 1).replace(b"K\x01s.", b"a\x85R.")):
        with pytest.raises(pickle.UnpicklingError, match="too large for a key"):
            torch.load(file_with(content))


def test_messages_that_take_forever() -> None:
    """The same tuples in the place of an argument, where a message would have to show them."""
    doubled = b"K\x01" + b"".join([b"q\x00h\x00\x86" for _ in range(60)])
    for content in (b"ctorch.serialization\n_get_layout\n" + doubled + b"\x85R.", doubled + b")R.", doubled + b"Q."):
        with pytest.raises((RuntimeError, pickle.UnpicklingError), match="an object of <class 'tuple'>"):
            torch.load(file_with(b"\x80\x02" + content))


# -- what the user allows ---------------------------------------------------------------------------------------------


class Config:
    def __init__(self, value: int) -> None:
        self.value = value


class Slotted:
    __slots__ = ("value",)


def test_safe_globals() -> None:
    buffer = io.BytesIO()
    torch.save([Config(3)], buffer)

    def load() -> Any:
        buffer.seek(0)
        return torch.load(buffer)

    with pytest.raises(pickle.UnpicklingError, match=r"add_safe_globals\(\[.*Config\]\)"):
        load()
    with torch.serialization.safe_globals([Config]):
        assert torch.serialization.get_safe_globals() == [Config]
        assert load()[0].value == 3
    assert torch.serialization.get_safe_globals() == []
    torch.serialization.add_safe_globals([(Config, f"{Config.__module__}.Config")])
    assert load()[0].value == 3
    torch.serialization.clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError):
        load()


def test_safe_globals_with_slots_and_own_errors() -> None:
    made = Slotted()
    made.value = 5  # type: ignore[attr-defined]
    buffer = io.BytesIO()
    torch.save(made, buffer)
    buffer.seek(0)
    with torch.serialization.safe_globals([Slotted]):
        assert torch.load(buffer).value == 5
    with torch.serialization.safe_globals([Config]), pytest.raises(TypeError, match="missing 1 required positional"):
        torch.load(file_with(pickle.dumps(Calls(Config), 2)))
    for wrong, error in (((Config,), ValueError), ((Config, 1), TypeError)):
        with torch.serialization.safe_globals([wrong]), pytest.raises(error):
            torch.load(file_with(pickle.dumps(1, 2)))


def test_a_module_by_the_classes_it_consists_of() -> None:
    buffer = io.BytesIO()
    model = torch.nn.Linear(2, 1)
    torch.save(model, buffer)
    buffer.seek(0)
    with torch.serialization.safe_globals([torch.nn.Linear]):
        assert torch.equal(torch.load(buffer).weight, model.weight)


def test_import_leafgrad_loads_none_of_this() -> None:
    program = "import sys, leafgrad; print([n for n in sys.modules if '_files' in n or 'serialization' in n])"
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip() == "[]"
