"""In mixed precision, operations compute in the dtypes in which those of PyTorch do: what blocks say by `autocast`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import leafgrad as lg
from op_checks import cases, together
from op_torch import compared, counterpart, identity, to_torch

PUBLIC = [entry for entry in compared if entry.public_name or entry.places]

# what is otherwise, and why
OTHERWISE = {
    "linalg_pinv": "PyTorch composes it of products, which it computes in half precision; ours is one operation",
    "linalg_cond": "PyTorch refuses some of its norms in half precision before it converts",
    "mse_loss": "with weights PyTorch composes it of operations that keep their dtype",
}
NO_HALF = "half precision is refused where PyTorch's LAPACK functions take bfloat16"
OTHERWISE |= dict.fromkeys(
    ["linalg_det", "linalg_lu", "linalg_lu_factor", "linalg_lu_factor_ex", "linalg_lu_solve", "linalg_solve_ex"],
    NO_HALF,
)


def mapped(value: Any, kind: type, function: Callable[[Any], Any]) -> Any:
    """What is in arguments, with a function of its floating tensors."""
    if isinstance(value, kind):
        return function(value) if value.is_floating_point() else value
    if isinstance(value, dict):
        return {key: mapped(each, kind, function) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)([mapped(each, kind, function) for each in value])
    return value


def dtypes(library: Any, function: Callable[..., Any], args: Any, kwargs: Any, kind: str) -> list[str] | None:
    """The dtypes of floating results, under autocast; None if the call is refused."""
    given = mapped((args, kwargs), library.Tensor, lambda t: t.to(getattr(library, kind)))
    found: list[str] = []
    try:
        with library.autocast("cpu", library.bfloat16):
            result = function(*given[0], **given[1])
    except Exception:
        return None
    mapped(
        result if isinstance(result, library.Tensor) else list(result),
        library.Tensor,
        lambda t: found.append(str(t.dtype)),
    )
    return found


@pytest.mark.parametrize("entry", PUBLIC, ids=identity)
def test_dtypes_are_pytorchs(entry: Any) -> None:
    if entry.name in OTHERWISE:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases(entry)[:4]:
            args, kwargs = together(case.apart, case.tensors)
            theirs = to_torch((args, kwargs))
            if "dtype" in kwargs:
                continue
            for kind in ("float32", "bfloat16"):
                expected = dtypes(torch, counterpart(entry), *theirs, kind)
                ours = dtypes(lg, entry.function, args, kwargs, kind)
                if expected is not None:
                    assert ours == expected, f"{case} of {kind}"
