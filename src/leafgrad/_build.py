"""What the compiled and the plain form of leafgrad share about how they were built."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

VERSION = "0.1.0"  # of leafgrad, also where `torch.__version__` is PyTorch's (leafgrad/_as_torch.py)


if TYPE_CHECKING:  # the compiler knows its marks by the name of the package that has them
    from mypy_extensions import mypyc_attr as mypyc_attr
else:

    def mypyc_attr(*flags: str, **options: Any) -> Callable[[type], type]:
        """Marks a class for the compiler. Plain Python, which does not read the marks, needs no package for them, and
        each module that looked for it in vain would be felt at import."""
        return lambda cls: cls


def is_compiled() -> bool:
    """Do the hot modules run as machine code?"""
    from leafgrad._core import engine

    return not str(engine.__file__).endswith(".py")
