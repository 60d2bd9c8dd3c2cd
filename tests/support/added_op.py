"""The op that CONTRIBUTING.md adds as an example."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import leafgrad as lg
from leafgrad._tensor import install
from leafgrad._tensor.op_methods import OpMethods
from leafgrad.ops.registry import Operation, registry

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"


def imported(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def known(name: str) -> list[str]:
    """What is called so, in all that knows ops by name."""
    return [other for place in (registry, vars(lg), vars(OpMethods)) for other in place if name in other]


@contextlib.contextmanager
def example() -> Iterator[Operation]:
    """The block of the page, registered and put where leafgrad puts ops when it is imported; afterwards it is gone."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lean_block.py"
        file.write_text(block, encoding="utf-8")
        module = imported(file, "lean_block")
    made: Operation = module.lean
    install.install(module)
    try:
        yield made
    finally:
        for name in install.functions_in(module):
            delattr(lg, name)
        for name in install.methods_in(module):
            delattr(OpMethods, name)
        del registry[made.name]
        assert known(made.name) == []
