"""The operations. Importing this package registers those that the core itself calls; the others are registered when a
program first asks for one of them (leafgrad/_tensor/install.py), so that `import leafgrad` does not load them.

May import `_core`, `kernels`, `errors`, `_dtypes`, `_device`, `_layouts` and `return_types`; inside functions also
`func`, for random numbers inside vmap. Never the engine.
"""

from typing import Any

from leafgrad.ops import inplace, promotion
from leafgrad.ops.pointwise import convert, elementwise, fill
from leafgrad.ops.reduce import reductions
from leafgrad.ops.shape import views


def load_library(path: Any) -> None:
    """load_library(path): an OSError. A library that was compiled for PyTorch cannot be used without it; packages
    such as torchvision go on, with what they have in Python."""
    refused.append(path)
    raise OSError(f"Could not load this library: {path}")


def __getattr__(name: str) -> Any:
    if name == "aten":  # PyTorch's names for them; imported when first asked for
        from importlib import import_module

        return import_module("leafgrad.ops.aten")
    if libraries is not None and not name.startswith("__"):
        return libraries(name)
    raise AttributeError(f"'_OpNamespace' object has no attribute '{name}'")


refused: list[Any] = []  # compiled libraries that a program wanted to load
libraries: Any = None  # the operators that a program has defined under a name, once it has imported torch.library
