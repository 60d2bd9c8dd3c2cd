"""save and load: files of PyTorch's (tests/data/files, written by make_files.py), and leafgrad's own."""

from __future__ import annotations

import io
import os
import pickle
import subprocess
import sys
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import leafgrad as torch
from leafgrad._files.pickling import _PYTHONS_TYPES
from stored_objects import OBJECTS, described

STORED = Path(__file__).parents[1] / "data" / "files"


def saved(obj: Any, **options: Any) -> io.BytesIO:
    buffer = io.BytesIO()
    torch.save(obj, buffer, **options)
    buffer.seek(0)
    return buffer


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("name", OBJECTS)
def test_files_of_pytorch(name: str, mmap: bool) -> None:
    assert described(torch.load(STORED / f"{name}.pt", mmap=mmap)) == described(OBJECTS[name](torch))


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("name", OBJECTS)
def test_files_of_leafgrad(name: str, mmap: bool, tmp_path: Path) -> None:
    torch.save(OBJECTS[name](torch), tmp_path / "a.pt")
    assert described(torch.load(tmp_path / "a.pt", mmap=mmap)) == described(OBJECTS[name](torch))


@pytest.mark.parametrize("name", OBJECTS)
def test_the_container_is_that_of_pytorch(name: str, tmp_path: Path) -> None:
    """The same records in the same order, each stored at a multiple of 64 bytes."""
    torch.save(OBJECTS[name](torch), tmp_path / f"{name}.pt")
    contents = []
    for path in (STORED / f"{name}.pt", tmp_path / f"{name}.pt"):
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            records = {info.filename: archive.read(info) for info in archive.infolist()}
            raw = path.read_bytes()
            for info in archive.infolist():
                header = raw[info.header_offset :][:30]
                lengths = [int.from_bytes(header[i : i + 2], "little") for i in (26, 28)]
                assert (info.header_offset + 30 + sum(lengths)) % 64 == 0
        identity = records.pop(f"{name}/.data/serialization_id")
        assert len(identity) == 40 and identity.isdigit()
        contents.append(records)
    theirs, ours = contents
    assert list(theirs) == list(ours)
    if name in ("containers", "optimizer"):  # equal texts may be one object in one library and two in the other
        for records in contents:
            del records[f"{name}/data.pkl"]
    assert theirs == ours


def test_sharing_is_kept() -> None:
    loaded = torch.load(saved(OBJECTS["views"](torch)))
    loaded["base"][3] = 100.0
    assert loaded["part"][0] == 100.0 and loaded["transposed"][3, 0] == 100.0
    assert loaded["other"].tolist() == [1.0, 1.0]
    for mmap in (False, True):
        theirs = torch.load(STORED / "views.pt", mmap=mmap)
        theirs["part"].zero_()
        assert theirs["base"].tolist()[3:7] == [0.0] * 4
    assert torch.load(STORED / "views.pt")["base"].tolist() == list(range(12)), "a mapped file is not changed"


def test_the_same_tensor_twice() -> None:
    x = torch.ones(2)
    loaded = torch.load(saved([x, x, {"x": x}]))
    assert loaded[0] is loaded[1] is loaded[2]["x"]


def test_views_of_different_dtypes_are_refused() -> None:
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="Cannot save multiple tensors or storages that view the same data"):
        torch.save([x, x.view(torch.int32)], io.BytesIO())


def test_training_goes_on_after_a_checkpoint() -> None:
    def model_and_optimizer() -> Any:
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 1)
        return model, torch.optim.Adam(model.parameters(), lr=0.1)

    def steps(model: Any, optimizer: Any, count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            (model(torch.ones(2, 3)) ** 2).sum().backward()
            optimizer.step()

    model, optimizer = model_and_optimizer()
    steps(model, optimizer, 2)
    file = saved({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    steps(model, optimizer, 2)
    again, its_optimizer = model_and_optimizer()
    checkpoint = torch.load(file)
    again.load_state_dict(checkpoint["model"])
    its_optimizer.load_state_dict(checkpoint["optimizer"])
    steps(again, its_optimizer, 2)
    assert torch.equal(model.weight, again.weight)


def test_metadata_of_a_state_dict() -> None:
    state = torch.nn.Linear(1, 1).state_dict()
    loaded = torch.load(saved(state))
    assert type(loaded) is OrderedDict and loaded._metadata == state._metadata  # type: ignore[attr-defined]


def test_whole_modules() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.ReLU())
    file = saved(model)
    with pytest.raises(
        pickle.UnpicklingError, match=r"GLOBAL torch.nn.modules.container.Sequential was not an allowed"
    ):
        torch.load(file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert torch.equal(loaded(torch.ones(3)), model(torch.ones(3)))
    theirs = torch.load(STORED / "module.pt", weights_only=False)
    torch.manual_seed(0)
    expected = torch.nn.Linear(3, 2)
    assert torch.equal(theirs[0].weight, expected.weight) and theirs(torch.ones(3)).shape == (2,)


def test_functions_in_what_is_saved() -> None:
    loaded = torch.load(saved({"act": torch.relu, "f": torch.nn.functional.relu}), weights_only=False)
    assert loaded["act"] is torch.relu and loaded["f"] is torch.nn.functional.relu


def test_gradients_history_and_hooks_are_not_saved() -> None:
    x = torch.ones(2, requires_grad=True)
    (x * x).sum().backward()
    loaded, product = torch.load(saved([x, x * 2]))
    assert loaded.grad is None and loaded.requires_grad
    assert product.is_leaf and product.requires_grad


def test_subclasses() -> None:
    with torch.serialization.safe_globals([Marked]):
        loaded = torch.load(saved(torch.ones(2).as_subclass(Marked)))
    assert type(loaded) is Marked and loaded.tolist() == [1.0, 1.0]


class Marked(torch.Tensor):
    pass


def test_storages() -> None:
    loaded = torch.load(saved(torch.ones(2).untyped_storage()))
    assert type(loaded) is torch.TypedStorage and loaded.dtype is torch.uint8 and loaded.nbytes() == 8


def test_a_conjugate_is_saved_as_it_is_read() -> None:
    assert torch.load(saved(torch.tensor([1 + 2j]).conj())).tolist() == [1 - 2j]


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_protocols(protocol: int) -> None:
    content = {"x": torch.ones(2), "d": torch.float32, "s": {1, 2}, "b": b"x" * 300, "short": b"y"}
    file = saved(content, pickle_protocol=protocol)
    for weights_only in (True, False):
        file.seek(0)
        assert described(torch.load(file, weights_only=weights_only)) == described(content)


# -- files and paths --------------------------------------------------------------------------------------------------


def test_paths_and_files(tmp_path: Path) -> None:
    for path in (tmp_path / "a.pt", str(tmp_path / "b.x.pt"), str(tmp_path / "ünïcode")):
        torch.save(torch.ones(2), path)
        assert torch.load(path).tolist() == [1.0, 1.0]
    with open(tmp_path / "file", "w+b") as file:
        file.write(b"before")
        torch.save(torch.ones(2), file)
        file.seek(6)
        assert torch.load(file).tolist() == [1.0, 1.0]
    with zipfile.ZipFile(tmp_path / "b.x.pt") as archive:
        assert archive.namelist()[0] == "b.x/data.pkl"


def test_what_is_no_file() -> None:
    with pytest.raises(AttributeError, match="expected 'f' to be string, path, or a file-like object with a 'write'"):
        torch.save(1, 3)
    with pytest.raises(AttributeError, match=r"'int' object has no attribute 'seek'. You can only torch.load from"):
        torch.load(3)
    with pytest.raises(FileNotFoundError):
        torch.load("no such file")
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        torch.load(saved(1), mmap=True)


class Unseekable(io.BytesIO):
    def seek(self, *args: Any) -> int:
        raise io.UnsupportedOperation("seek")


def test_a_file_that_cannot_be_sought() -> None:
    buffer = Unseekable()
    torch.save(torch.ones(2), buffer)  # can be written
    with pytest.raises(io.UnsupportedOperation, match=r"seek. You can only torch.load from a file that is seekable"):
        torch.load(buffer)
    assert torch.load(io.BytesIO(buffer.getvalue())).tolist() == [1.0, 1.0]


def test_other_files() -> None:
    with pytest.raises(EOFError, match="Ran out of input"):
        torch.load(io.BytesIO())
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        torch.load(io.BytesIO(b"hello"))


def test_pickle_modules() -> None:
    class Mine:
        __name__ = "mine"
        Pickler = pickle._Pickler  # type: ignore[attr-defined]
        Unpickler = pickle.Unpickler

    file = saved(torch.ones(1), pickle_module=Mine)
    assert torch.load(file, pickle_module=Mine, weights_only=False).tolist() == [1.0]
    file.seek(0)
    assert torch.load(file, pickle_module=Mine).tolist() == [1.0]
    with pytest.raises(RuntimeError, match="Can not safely load weights when explicit pickle_module is specified"):
        torch.load(file, pickle_module=Mine, weights_only=True)
    with pytest.raises(NotImplementedError, match="written in Python"):
        torch.save(1, io.BytesIO(), pickle_module=type("C", (), {"Pickler": pickle.Pickler}))


def test_types_that_others_taught_pythons_pickler(monkeypatch: pytest.MonkeyPatch) -> None:
    """`import dill` replaces entries of the table of Python's pickler, for the whole process."""

    def foreign(pickler: Any, obj: Any) -> None:
        pickler.save_reduce(print, (), obj=obj)

    table: dict[type, Any] = pickle._Pickler.dispatch  # type: ignore[attr-defined]
    for cls in (dict, set, type, complex):
        monkeypatch.setitem(table, cls, foreign)
    saved_object = {"a": {1, 2}, "b": 1j, "c": torch.ones(2), "d": bytearray(b"e")}
    assert str(torch.load(saved(saved_object))) == str(saved_object)


def test_the_types_of_pythons_pickler() -> None:
    script = "import pickle; print(sorted([c.__name__, f.__name__] for c, f in pickle._Pickler.dispatch.items()))"
    fresh = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert fresh.strip() == str(sorted([cls.__name__, name] for cls, name in _PYTHONS_TYPES))


def test_switches_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    file = saved(torch.nn.ReLU())
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.warns(UserWarning, match="forcing weights_only=False"):
        assert type(torch.load(file)) is torch.nn.ReLU
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    file.seek(0)
    with pytest.raises(RuntimeError, match="should be set, but both were set"):
        torch.load(file)
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file, weights_only=False)


# -- places -----------------------------------------------------------------------------------------------------------


def on_cuda() -> io.BytesIO:
    """A file that says that its tensor was on a GPU."""
    plain = saved(torch.ones(2))
    changed = io.BytesIO()
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(changed, "w") as target:
        for info in source.infolist():
            content = source.read(info).replace(b"X\x03\x00\x00\x00cpu", b"X\x06\x00\x00\x00cuda:0")
            target.writestr(info.filename, content)
    changed.seek(0)
    return changed


@pytest.mark.parametrize(
    "where", ["cpu", torch.device("cpu"), b"cpu", {"cuda:0": "cpu"}, lambda storage, location: storage]
)
def test_map_location(where: Any) -> None:
    assert torch.load(on_cuda(), map_location=where).tolist() == [1.0, 1.0]


def test_map_location_as_a_function_is_told_where() -> None:
    seen = []
    torch.load(on_cuda(), map_location=lambda storage, location: seen.append(location) or storage)
    assert seen == ["cuda:0"]


@pytest.mark.parametrize("where", [None, "cuda", {"cpu": "cuda"}, lambda storage, location: None])
def test_cuda_is_refused(where: Any) -> None:
    with pytest.raises(RuntimeError, match=r"Attempting to deserialize object on a CUDA device but torch.cuda.is_av"):
        torch.load(on_cuda(), map_location=where)


def test_an_unknown_device_and_an_error_of_the_users() -> None:
    with pytest.raises(RuntimeError, match=r"don't know how to restore data location of torch.storage.UntypedStorage"):
        torch.load(on_cuda(), map_location="xyz")
    with pytest.raises(ZeroDivisionError):
        torch.load(on_cuda(), map_location=lambda storage, location: 1 / 0)
    with pytest.raises(KeyError, match="mine"):
        torch.load(on_cuda(), map_location=lambda storage, location: {}["mine"])


# -- writing ----------------------------------------------------------------------------------------------------------


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.pt"
    torch.save(torch.ones(2), path)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        torch.save(lambda: 0, path)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        torch.save(torch.zeros(2), path)
    assert torch.load(path).tolist() == [1.0, 1.0] and os.listdir(tmp_path) == ["a.pt"]


def test_links_and_permissions_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "a.pt", tmp_path / "link.pt"
    torch.save(1, path)
    assert path.stat().st_mode & 0o777 == 0o666 & ~current_umask()
    path.chmod(0o640)
    link.symlink_to(path)
    torch.save(2, link)
    assert link.is_symlink() and torch.load(path) == 2 and path.stat().st_mode & 0o777 == 0o640
    torch.save(3, os.devnull)
    with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist\."):
        torch.save(1, tmp_path / "none" / "a.pt")


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_classes_are_written_by_their_names_in_pytorch() -> None:
    """Also those that leafgrad has in files of their own; and they are found again."""
    made = [
        torch.nn.MultiheadAttention(2, 1),
        torch.nn.ParameterList([torch.ones(1)]),
        torch.nn.LinearCrossEntropyLoss(2, 3),
    ]
    for module, place in zip(made, ("activation", "container", "loss"), strict=True):
        content = zipfile.ZipFile(file := saved(module)).read("archive/data.pkl")
        assert b"leafgrad" not in content
        assert f"ctorch.nn.modules.{place}\n{type(module).__name__}\n".encode() in content
        file.seek(0)
        assert type(torch.load(file, weights_only=False)) is type(module)


def test_recurrent_modules_keep_their_weights_together() -> None:
    """Files have the lists that PyTorch keeps; the module that is loaded computes them from its own parameters."""
    loaded = torch.load(saved(torch.nn.GRU(2, 3)), weights_only=False)
    loaded.weight_ih_l0 = torch.nn.Parameter(torch.zeros(9, 2))
    assert loaded._flat_weights[0] is loaded.weight_ih_l0
    assert not [name for name in vars(loaded) if "flat" in name]
