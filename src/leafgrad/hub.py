"""torch.hub for programs that import it: where its files lie. leafgrad fetches nothing from the network."""

from __future__ import annotations

import os
import re
from urllib.parse import urlparse

from leafgrad import _absent

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # in the names of files of weights: resnet18-f37072fd.pth

_hub_dir: str | None = None


def _get_torch_home() -> str:
    """The directory of what programs keep for the next time: $TORCH_HOME, or `torch` in that of the user's caches."""
    caches = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(caches, "torch")))


def get_dir() -> str:
    """get_dir(): the directory of models and weights, `hub` in $TORCH_HOME unless set_dir chose another."""
    return _hub_dir if _hub_dir is not None else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """set_dir(d): keep models and weights in this directory."""
    global _hub_dir
    _hub_dir = os.path.expanduser(d)


__all__ = ["get_dir", "set_dir", "urlparse"]
__getattr__ = _absent.names_refused(
    __name__, "leafgrad does not have {name}: it fetches nothing from the network; torch.load reads files of weights"
)
