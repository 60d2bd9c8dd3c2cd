"""einops knows the tensors of the libraries that it was written for. When a program imports it, leafgrad's are added;
who says `import torch` by `python -m leafgrad run` needs nothing of this."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec


class Waiting:
    """Answers no import. When einops is imported, it lets leafgrad be added afterwards, and is gone."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name != "einops":
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            execute = loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                add_tensors()

            loader.exec_module = exec_module
        return spec


known: list[type] = []  # einops finds the subclasses of its own class that are alive


def add_tensors() -> None:
    """Make leafgrad's tensors known: what einops does with PyTorch's, with another module in its place."""
    from einops import _backends

    class LeafgradBackend(_backends.TorchBackend):  # type: ignore[misc]
        framework_name = "leafgrad"

        def __init__(self) -> None:
            self.torch = sys.modules["leafgrad"]

    known.append(LeafgradBackend)


def wait_for_einops() -> None:
    if "einops" in sys.modules:
        add_tensors()
    else:
        sys.meta_path.insert(0, Waiting())
