"""The stream of random numbers: native where the extension `_random` was built, by NumPy otherwise. The numbers are
the same."""

from __future__ import annotations

from leafgrad.kernels._random_numpy import Stream as Stream
