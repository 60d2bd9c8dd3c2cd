"""Functions that PyTorch has written in Python, which those who take calls over can tell."""

from __future__ import annotations

import functools

from leafgrad.ops.public_forms import overridable_function

__all__: list[str] = []

overridable = functools.partial(overridable_function, in_python=True)
