"""A public name of leafgrad is one of PyTorch, so that a program written for one runs with the other."""

from __future__ import annotations

import torch

import leafgrad

OWN_NAMES = {"errors", "io", "kernels", "memory_stats", "show_config"}
OWN_NAMES |= {name for name, place in leafgrad._LATER.items() if place.startswith("_explain.")}  # reports

# Names that should get an underscore, or go.
TO_GO = {"Any", "annotations", "absolute_"}


def test_public_names_are_pytorchs() -> None:
    others = {name for name in dir(leafgrad) if not name.startswith("_") and not hasattr(torch, name)} - OWN_NAMES
    assert others - TO_GO == set(), "PyTorch does not have them"
    assert TO_GO - others == set(), "gone: take them out of TO_GO"
