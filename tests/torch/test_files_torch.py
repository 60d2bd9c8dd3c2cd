"""Files between leafgrad and PyTorch, both ways."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import leafgrad
from module_cases import CASES, numbers, prepared, tensors_in
from stored_objects import OBJECTS, described


def saved(library: Any, obj: Any, **options: Any) -> io.BytesIO:
    buffer = io.BytesIO()
    library.save(obj, buffer, **options)
    buffer.seek(0)
    return buffer


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("mmap", [False, True])
def test_pytorch_loads_what_leafgrad_saves(name: str, mmap: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    leafgrad.save(OBJECTS[name](leafgrad), path)
    assert described(torch.load(path, weights_only=True, mmap=mmap)) == described(OBJECTS[name](torch))


@pytest.mark.parametrize("name", OBJECTS)
def test_leafgrad_loads_what_pytorch_saves(name: str) -> None:
    assert described(leafgrad.load(saved(torch, OBJECTS[name](torch)))) == described(OBJECTS[name](leafgrad))


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("source, target", [(torch, leafgrad), (leafgrad, torch)])
@pytest.mark.parametrize("name", sorted(set(OBJECTS) - {"dtypes"}))  # PyTorch cannot load its own old files with uint16
def test_the_format_of_before_1_6(name: str, source: Any, target: Any, weights_only: bool) -> None:
    file = saved(source, OBJECTS[name](source), _use_new_zipfile_serialization=False)
    assert described(target.load(file, weights_only=weights_only)) == described(OBJECTS[name](source))


@pytest.mark.parametrize("source, target", [(torch, leafgrad), (leafgrad, torch)])
def test_sharing(source: Any, target: Any) -> None:
    loaded = target.load(saved(source, OBJECTS["views"](source)))
    loaded["base"][3] = 100.0
    assert loaded["part"][0] == 100.0 and loaded["transposed"][3, 0] == 100.0


@pytest.mark.parametrize("source, target", [(torch, leafgrad), (leafgrad, torch)])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_whole_modules(name: str, source: Any, target: Any) -> None:
    """A module of every kind, by the names of its classes and the attributes that the other library looks for."""
    case = CASES[name]
    module, inputs = prepared(source, case, "float64")
    module.eval()
    expected = numbers(tensors_in(case.call(module, *inputs)))
    loaded = target.load(saved(source, module), weights_only=False)
    assert repr(loaded) == repr(module)
    _, inputs = prepared(target, case, "float64")
    np.testing.assert_allclose(numbers(tensors_in(case.call(loaded, *inputs))), expected, 1e-9, 1e-11)


@pytest.mark.parametrize("source, target", [(torch, leafgrad), (leafgrad, torch)])
def test_functions_named_results_and_classes_in_files_of_their_own(source: Any, target: Any) -> None:
    made = [
        source.tanh,
        source.nn.functional.relu,
        source.max(source.eye(2), 0),
        source.nn.DataParallel(source.nn.ReLU()),
    ]
    tanh, relu, largest, parallel = target.load(saved(source, made), weights_only=False)
    assert tanh is target.tanh and relu is target.nn.functional.relu
    assert type(largest) is target.return_types.max and largest.indices.tolist() == [0, 1]
    assert isinstance(parallel, target.nn.DataParallel) and isinstance(parallel.module, target.nn.ReLU)


@pytest.mark.parametrize("source, target", [(torch, leafgrad), (leafgrad, torch)])
def test_the_rng_state_goes_on(source: Any, target: Any) -> None:
    source.manual_seed(7)
    source.randn(3)
    state = target.load(saved(source, source.get_rng_state()))
    target.set_rng_state(state)
    assert target.randn(20).tolist() == source.randn(20).tolist()


MISTAKES = {
    "cuda": lambda t: t.load(saved(t, t.ones(1)), map_location="cuda"),
    "unknown device": lambda t: t.load(saved(t, t.ones(1)), map_location="xyz"),
    "module": lambda t: t.load(saved(t, t.nn.ReLU())),
    "empty": lambda t: t.load(io.BytesIO()),
    "truncated": lambda t: t.load(io.BytesIO(saved(t, t.ones(1)).getvalue()[:-50])),
    "no file": lambda t: t.load(3),
    "nothing to write to": lambda t: t.save(1, 3),
    "no folder": lambda t: t.save(1, "/no/such/folder/a.pt"),
    "dtypes": lambda t: t.save([x := t.ones(1), x.view(t.int32)], io.BytesIO()),
    "pickle_module": lambda t: t.load(saved(t, 1), pickle_module=pickle, weights_only=True),
    "mmap": lambda t: t.load(saved(t, 1), mmap=True),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    raised = []
    for library in (torch, leafgrad):
        with pytest.raises(Exception) as error:
            MISTAKES[name](library)
        raised.append((type(error.value), str(error.value).split(". ")[0].splitlines()[:1]))
    theirs, ours = raised
    assert theirs[0] is ours[0]
    assert name == "empty" or theirs[1] == ours[1]  # PyTorch says nothing about an empty file
