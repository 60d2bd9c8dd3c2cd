"""The stream of random numbers: native where the extension `_random` was built, by NumPy otherwise. The numbers are
the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafgrad.kernels import _random_numpy

if TYPE_CHECKING:
    Stream = _random_numpy.Stream
else:
    try:
        from leafgrad.kernels._random import Stream
    except ImportError:  # not built, or built for another NumPy
        Stream = _random_numpy.Stream
