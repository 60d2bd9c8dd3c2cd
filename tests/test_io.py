"""leafgrad.io: files of other libraries, which may not be installed."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import leafgrad as torch
from leafgrad import io

TENSORS = {
    "float32": torch.arange(6.0).reshape(2, 3).t(),
    "float64": torch.ones(2, dtype=torch.float64, requires_grad=True),
    "float16": torch.ones(3).half(),
    "int64": torch.arange(4),
    "bool": torch.tensor([True, False]),
    "empty": torch.empty(0, 2),
    "one": torch.tensor(3.0),
}


def check_equal(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert found[name].dtype is tensor.dtype and not found[name].requires_grad
        assert torch.equal(found[name], tensor) and found[name].shape == tensor.shape
        found[name].zero_()  # the memory is its own


def test_npz(tmp_path: Path) -> None:
    for compressed in (False, True):
        io.save_npz(TENSORS, tmp_path / "x.npz", compressed)
        check_equal(io.load_npz(tmp_path / "x.npz"), TENSORS)
    np.savez(tmp_path / "objects.npz", x=np.array([None], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        io.load_npz(tmp_path / "objects.npz")
    with pytest.raises(TypeError, match="no bfloat16"):
        io.save_npz({"x": torch.ones(1, dtype=torch.bfloat16)}, tmp_path / "y.npz")
    assert sorted(os.listdir(tmp_path)) == ["objects.npz", "x.npz"]


def test_a_file_is_kept_if_saving_fails(tmp_path: Path) -> None:
    io.save_npz({"x": torch.ones(1)}, tmp_path / "x.npz")
    with pytest.raises(TypeError, match=r"Key `y` is invalid, expected torch\.Tensor but received <class 'int'>"):
        io.save_npz({"y": 3}, tmp_path / "x.npz")
    assert list(io.load_npz(tmp_path / "x.npz")) == ["x"]


def test_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    tensors = {**TENSORS, "bfloat16": torch.ones(2, dtype=torch.bfloat16)}
    io.save_safetensors(tensors, path, {"made": "here"})
    check_equal(io.load_safetensors(path), tensors)
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        io.load_safetensors(path, device="cuda")


def test_safetensors_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == "safetensors"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(ImportError, match=r"fix: pip install 'leafgrad\[safetensors\]'"):
        io.save_safetensors(TENSORS, tmp_path / "x.safetensors")


def test_storages_of_files(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(bytes(range(8)))
    storage = torch.UntypedStorage.from_file(str(tmp_path / "x"), shared=False, nbytes=8)
    tensor = torch.empty(0, dtype=torch.uint8).set_(storage)
    tensor += 1
    assert tensor.tolist() == list(range(1, 9)) and (tmp_path / "x").read_bytes() == bytes(range(8))
    shared = torch.UntypedStorage.from_file(str(tmp_path / "x"), shared=True, nbytes=10)
    shared[9] = 7
    assert len(shared) == 10 and (tmp_path / "x").read_bytes() == bytes([*range(8), 0, 7])
    # the file that changes go into
    assert (shared.filename, storage.filename) == (str(tmp_path / "x"), None)
    assert torch.zeros(3).untyped_storage().filename is None
    view = torch.from_file(str(tmp_path / "x"), shared=True, size=2).view(2, 1)
    assert view.untyped_storage().filename == str(tmp_path / "x")


def test_tensors_of_files(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert torch.from_file(str(tmp_path / "x"), size=3, dtype=torch.uint8).tolist() == [97, 98, 99]
    with pytest.raises(RuntimeError, match="size <3> is smaller than the required mapping size <5>"):
        torch.from_file(str(tmp_path / "x"), size=5, dtype=torch.uint8)
    torch.from_file(str(tmp_path / "x"), shared=True, size=1, dtype=torch.uint8).fill_(65)
    assert (tmp_path / "x").read_bytes() == b"Abc" and torch.from_file(str(tmp_path / "x")).tolist() == []


def test_tensorboard_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith("leafgrad.utils.tensorboard")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ImportError, match=r"fix: pip install 'leafgrad\[tensorboard\]'"):
        import_module("leafgrad.utils.tensorboard")


EINOPS = """
import sys
import {first}
import {second}
import leafgrad as torch
from einops import einsum, rearrange, reduce

x = torch.arange(6.0).reshape(2, 3).requires_grad_()
y = rearrange(x, "a b -> b a")
reduce(y, "b a -> b", "sum").prod().backward()
print(type(y) is torch.Tensor, tuple(einsum(x, x, "a b, c b -> a c").shape), x.grad.tolist())
print([type(finder).__name__ for finder in sys.meta_path].count("Waiting"))
"""


@pytest.mark.parametrize("order", [("leafgrad", "einops"), ("einops", "leafgrad")])
def test_einops_knows_tensors(tmp_path: Path, order: tuple[str, str]) -> None:
    program = EINOPS.format(first=order[0], second=order[1])
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    result = subprocess.run([sys.executable, "-c", program], env=paths, capture_output=True, text=True, timeout=120)
    if find_spec("einops") is None:
        assert "No module named 'einops'" in result.stderr
    else:
        assert result.stdout == "True (2, 2) [[35.0, 21.0, 15.0], [35.0, 21.0, 15.0]]\n0\n", result.stderr
