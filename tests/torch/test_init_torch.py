"""Initial numbers that are drawn or built in several steps, beside PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from both_libraries import LIBRARIES, same_error, values

CALLS = [
    "init.orthogonal_(lib.empty(4, 3))",
    "init.orthogonal_(lib.empty(2, 3, 2), gain=2)",
    "init.orthogonal_(lib.empty(0, 3))",
    "init.sparse_(lib.empty(5, 3), 0.5)",
    "init.dirac_(lib.empty(4, 2, 3), 2)",
    "init.dirac_(lib.empty(2, 3, 3, 2))",
    "init.trunc_normal_(lib.empty(50))",
    "init.trunc_normal_(lib.empty(50, dtype=lib.float64), std=0.02, a=-0.01, b=0.04)",
    "init.trunc_normal_(lib.empty(50), mean=1.0, a=2.0, b=2.5)",
]


@pytest.mark.parametrize("call", CALLS)
def test_numbers(call: str) -> None:
    found = []
    for lib in LIBRARIES:
        lib.manual_seed(0)
        filled = eval(call, {"lib": lib, "init": lib.nn.init})
        found.append([values(filled), values(lib.rand(2))])  # as many numbers were drawn
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        "init.orthogonal_(lib.empty(3))",
        "init.sparse_(lib.empty(3), 0.1)",
        "init.dirac_(lib.empty(3, 2))",
        "init.dirac_(lib.empty(3, 2, 1), 2)",
    ],
)
def test_errors(call: str) -> None:
    def program(lib: Any) -> Any:
        return eval(call, {"lib": lib, "init": lib.nn.init})

    same_error(program)
