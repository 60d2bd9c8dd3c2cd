"""The same program with leafgrad and with PyTorch: equal results, equal errors. Needs PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import leafgrad

LIBRARIES = (leafgrad, torch)
torch.set_num_threads(1)  # the tests are small, and several of them run at the same time


def values(tensor: Any) -> Any:
    return np.array(tensor.detach().tolist())


def same(program: Callable[[Any], Any]) -> Any:
    """Run a program with either library; what it returns must be equal. Tensors are compared exactly."""
    ours, theirs = (program(library) for library in LIBRARIES)
    check_equal(ours, theirs)
    return ours


def check_equal(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, torch.Tensor):
        assert str(ours.dtype) == str(theirs.dtype) and tuple(ours.shape) == tuple(theirs.shape)
        np.testing.assert_array_equal(values(ours), values(theirs))
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            check_equal(ours[key], theirs[key])
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            check_equal(a, b)
    else:
        assert ours == theirs


def outcome(program: Callable[[Any], Any], library: Any) -> tuple[str, str]:
    """What a program ends with: the class and message of its exception. Only the first sentence counts, since
    leafgrad goes on to explain; names of modules are brought to PyTorch's."""
    try:
        program(library)
    except Exception as error:
        text = str(error.args[0]) if error.args else ""
        text = text.replace("leafgrad.", "torch.").replace("torch.nn.modules.", "torch.nn.")
        for ours, theirs in (("containers", "container"), ("activations", "activation")):
            text = text.replace(f"torch.nn.{ours}.", f"torch.nn.{theirs}.")
        return type(error).__name__, text
    return "no error", ""


def same_error(program: Callable[[Any], Any]) -> None:
    ours, theirs = outcome(program, leafgrad), outcome(program, torch)
    assert theirs[0] != "no error"
    assert ours[0] == theirs[0]
    assert ours[1] == theirs[1] or ours[1].startswith(theirs[1] + "\n"), f"\n{ours[1]}\n{theirs[1]}"


def model_of(lib: Any) -> Any:
    """A model with something of everything: containers, a tied layer, buffers that are saved or not, absent parts."""
    nn = lib.nn

    class Block(nn.Module):
        def __init__(self, n: int) -> None:
            super().__init__()
            self.linear = nn.Linear(n, n)
            self.tied = self.linear
            self.register_buffer("mean", lib.zeros(n))
            self.register_buffer("scratch", lib.ones(2), persistent=False)
            self.scale = nn.Parameter(lib.ones(1))
            self.missing = None
            self.register_parameter("absent", None)

        def forward(self, x: Any) -> Any:
            return self.linear(x) * self.scale + self.mean

        def extra_repr(self) -> str:
            return "of a test"

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), Block(3))
            self.blocks = nn.ModuleList([Block(3), Block(3), nn.Identity()])
            self.named = nn.ModuleDict({"a": nn.Linear(3, 2, bias=False), "b": nn.Tanh()})
            self.head = nn.Linear(3, 1)

        def forward(self, x: Any) -> Any:
            x = self.body(x)
            for block in self.blocks:
                x = block(x)
            return self.head(x) + self.named["b"](self.named["a"](x)).sum()

    lib.manual_seed(0)
    return Model()
