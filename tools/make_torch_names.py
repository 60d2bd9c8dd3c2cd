"""Writes src/leafgrad/torch_names.txt: the public names of PyTorch, for what is said of those that leafgrad lacks.

Needs PyTorch. A line of the file is a namespace, those below it, further in, are its names;
tests/torch/test_names_torch.py compares it with the PyTorch that is installed.
"""

from __future__ import annotations

import sys
import textwrap
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import torch

FILE = Path(__file__).parents[1] / "src" / "leafgrad" / "torch_names.txt"

NAMESPACES = """
    torch torch.Tensor torch.accelerator torch.amp torch.autograd torch.backends torch.compiler torch.cpu
    torch.cuda torch.distributed torch.distributed.fsdp torch.distributions torch.export torch.fft torch.func
    torch.functional torch.fx torch.hub torch.jit torch.library torch.linalg torch.masked torch.mps
    torch.mtia torch.multiprocessing torch.nested torch.nn torch.nn.functional torch.nn.init torch.nn.parallel
    torch.nn.utils torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.utils.rnn torch.onnx
    torch.optim torch.optim.lr_scheduler torch.profiler torch.quantization torch.signal torch.signal.windows
    torch.sparse torch.special
    torch.testing torch.utils torch.utils.collect_env torch.utils.cpp_extension torch.utils.data
    torch.utils.mobile_optimizer torch.utils.model_zoo torch.xpu
"""


def main() -> None:
    FILE.write_text("".join(lines()), encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes", file=sys.stderr)


def lines() -> list[str]:
    wrapped = {name: textwrap.wrap(" ".join(public_names(name)), 116) for name in NAMESPACES.split()}
    return [line + "\n" for name, found in wrapped.items() for line in (name, *[f"    {names}" for names in found])]


def public_names(namespace: str) -> list[str]:
    owner = torch.Tensor if namespace == "torch.Tensor" else import_module(namespace)
    names = [name for name in dir(owner) if not name.startswith("_") and name != "reduce_op"]  # asking for it warns
    if owner is torch.Tensor:
        return names
    listed = set(getattr(owner, "__all__", ()))
    modules = [found.name for found in iter_modules(getattr(owner, "__path__", ())) if found.name[0] != "_"]
    return sorted({*modules, *[n for n in names if n in listed or is_pytorchs(getattr(owner, n, None), n)]})


def is_pytorchs(value: Any, name: str) -> bool:
    """Is this a name that programs use, rather than something that a module of PyTorch has imported for itself?"""
    if isinstance(value, ModuleType):
        return value.__name__.startswith("torch.") and value.__name__.endswith(f".{name}")
    if isinstance(value, type) and hasattr(torch._C, name) and name not in torch.__all__:  # the types of its compiler
        return False
    home = getattr(value, "__module__", "torch") or "torch"
    return home.partition(".")[0] in ("torch", "_VariableFunctions")


if __name__ == "__main__":
    main()
