"""torch.functional: some of the functions of `torch`, under the name of the file that PyTorch has written them in."""

from __future__ import annotations

from typing import Any

import leafgrad
from leafgrad import _missing


def __getattr__(name: str) -> Any:
    if name in _missing.torch_names()["torch.functional"]:
        return getattr(leafgrad, name)
    raise _missing.missing_attribute(__name__, name)
