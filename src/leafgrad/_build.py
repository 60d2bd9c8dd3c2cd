"""What the compiled and the plain form of leafgrad share about how they were built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

C = TypeVar("C")

VERSION = "0.1.0"  # of leafgrad, also where `torch.__version__` is PyTorch's (leafgrad/_as_torch.py)


def mypyc_attr(*flags: str, **options: Any) -> Callable[[C], C]:
    """Marks a class for the compiler. Plain Python, which does not read the marks, needs no package for them."""
    return lambda cls: cls


def is_compiled() -> bool:
    """Do the hot modules run as machine code?"""
    from leafgrad._core import engine

    return not str(engine.__file__).endswith(".py")
