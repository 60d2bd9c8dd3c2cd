"""What several tests of kernels ask for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from leafgrad import kernels


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Two threads, also where there is one core."""
    kernels.use_threads(2)
    yield
    kernels.use_threads(kernels.available_cores())


@pytest.fixture
def silent_numpy() -> Iterator[None]:
    """NumPy does not warn of nan or of divisions by zero."""
    with np.errstate(all="ignore"):
        yield
