"""Writes the files in op_values/: what PyTorch computes for every sample of every operation, with gradients of first
and second order, for tests that run without PyTorch. tests/support/op_values.py says what they hold.

Run it with PyTorch and leafgrad installed: ``python tests/data/make_op_values.py``.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from op_checks import Case, Entry, entries
from op_torch import NO_GRADIENT, NO_SECOND_GRADIENT, array_of, array_to_torch, in_torch, never
from op_values import FOLDER, ORDERS, Library, Values, computed, dtypes_of, file_of, samples_of, write

PYTORCH = Library(torch, array_to_torch, lambda t: np.array(array_of(t)), in_torch, torch.autograd.grad)


def values(case: Case, dtype: str) -> Values | None:
    """One sample, as far as PyTorch computes it. In double precision that is everything, but for results that do not
    fit into the tensor that is changed; in other dtypes it may refuse the operation or its derivatives."""
    name = case.entry.name.removesuffix("_")  # what is said of a function holds for its in-place form
    order = int(min(ORDERS[dtype], case.entry.derivatives))
    if NO_GRADIENT.get(name, never)(case):
        order = 0
    elif NO_SECOND_GRADIENT.get(name, never)(case):
        order = min(order, 1)
    while True:
        try:
            return computed(PYTORCH, case, order)
        except (RuntimeError, TypeError, ValueError, NotImplementedError):
            if dtype == "float64" and name == case.entry.name:
                raise
            if order == 0:
                return None
            order -= 1


def is_trivial(case: Case) -> bool:
    return case.tensors[0].numel() == 0 or case.tensors[0].dim() == 0


def values_of(entry: Entry) -> dict[str, list[Values | None]]:
    """All samples of an operation, in all dtypes."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in dtypes_of(entry):
            samples = samples_of(entry, dtype)
            known = [values(case, dtype) for case in samples]
            # a dtype that is refused wherever there is something to compute is not looked at where there is not
            refused = all([v is None or is_trivial(case) for v, case in zip(known, samples, strict=True)])
            found[dtype] = [None] * len(known) if refused and None in known else known
    return found


if __name__ == "__main__":
    found: dict[Path, dict[str, dict[str, list[Values | None]]]] = {}
    for entry in entries():
        found.setdefault(file_of(entry), {})[entry.name] = values_of(entry)
    for file in FOLDER.glob("*.json.gz"):
        file.unlink()
    for file, values_there in found.items():
        write(file, values_there)
