"""Functions of lists of tensors beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import leafgrad
from both_libraries import LIBRARIES, outcome, values
from foreach_cases import ARGUMENTS, CASES, IN_PLACE_ONLY, WITHOUT_IN_PLACE, tensors


def test_all_of_them() -> None:
    theirs = {name for name in dir(torch) if name.startswith("_foreach_")}
    assert {name for name in theirs if not hasattr(leafgrad, name)} == set()
    covered = {f"_foreach_{name}" for name in ARGUMENTS if name not in IN_PLACE_ONLY} | {"_foreach_mm"}
    covered |= {f"_foreach_{name}_" for name in ARGUMENTS if name not in WITHOUT_IN_PLACE}
    assert covered == theirs


# Not differentiated by PyTorch.
WITHOUT_GRADIENT = {("addcmul", 3), ("addcdiv", 3), ("powsum", 0), ("powsum", 1)}


@pytest.mark.parametrize(("name", "number"), CASES)
def test_values_and_gradients(name: str, number: int) -> None:
    def run(library: Any) -> list[Any]:
        found: list[Any] = []
        args = ARGUMENTS[name][number](library)
        if name not in IN_PLACE_ONLY:
            wanted = (name, number) not in WITHOUT_GRADIENT
            given = [x.requires_grad_(wanted) for x in tensors(library)]
            results = getattr(library, f"_foreach_{name}")(given, *args)
            found += results
            if wanted:
                sum([(r * r).sum() for r in results]).backward()
                found += [x.grad for x in given]
        if name not in WITHOUT_IN_PLACE:
            found += getattr(library, f"_foreach_{name}_")(tensors(library), *args)
        return [values(t) for t in found]

    for ours, theirs in zip(*[run(library) for library in LIBRARIES], strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-14, 1e-14)


ERRORS: list[Callable[[Any], Any]] = [
    lambda T: T._foreach_exp([]),
    lambda T: T._foreach_exp(T.ones(2)),
    lambda T: T._foreach_exp([1, 2]),
    lambda T: T._foreach_add([T.ones(2)], []),
    lambda T: T._foreach_add([T.ones(2)], [1, 2]),
    lambda T: T._foreach_add([T.ones(2)], [T.ones(2), T.ones(2)]),
    lambda T: T._foreach_add([T.ones(2)], T.ones(2)),
    lambda T: T._foreach_addcmul([T.ones(2)], [T.ones(2)], [T.ones(2)], [1, 2]),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number: int) -> None:
    ours, theirs = [outcome(ERRORS[number], library) for library in LIBRARIES]
    assert theirs[0] != "no error"
    assert ours[0] == theirs[0] and ours[1].split("\n")[0] == theirs[1].split("\n")[0]
