"""torch.version: the PyTorch whose interface leafgrad has. Its own version is `leafgrad.__version__`; programs that are
run with `python -m leafgrad run` ask `torch.__version__` for PyTorch's, and get this one."""

from __future__ import annotations

from leafgrad.torch_version import TorchVersion

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]

__version__ = TorchVersion("2.13.0+leafgrad")
debug = False
cuda: str | None = None
git_version = ""
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
