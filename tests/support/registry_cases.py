"""The differentiable samples of every operation, as functions of the tensors that they can be differentiated by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from op_checks import Case, Entry, cases, differentiable, entries
from op_promises import outputs_or_refusal


def differentiable_cases(entry: Entry) -> list[Case]:
    """The samples that have something to differentiate by: in double precision, and as complex numbers where the
    operation takes them."""
    accepted = cases(entry) + [c for c in cases(entry, "complex128") if outputs_or_refusal(c) is not None]
    return [c for c in accepted if c.variable() and not set(entry.pseudo_gradient) & set(c.apart[1])]


def as_function(case: Case) -> Callable[..., Any]:
    """The call as a function of its variable tensors, which returns all results that are no integers."""

    def function(*variables: Any) -> Any:
        tensors = list(case.tensors)
        for i, x in zip(case.variable(), variables, strict=True):
            tensors[i] = x
        return tuple(differentiable(case.outputs(tensors)))

    return function


candidates = [e for e in entries() if e.differentiable]
checked = [e for e in candidates if any([c.variable() for c in cases(e)])]
