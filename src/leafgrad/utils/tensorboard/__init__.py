"""leafgrad.utils.tensorboard: numbers, pictures and texts of a training, for TensorBoard, whose package it needs.

May import `_core`, `_missing`, `autograd` and `utils`.
"""

from __future__ import annotations

from leafgrad import _missing

try:
    import tensorboard.summary.writer
except ImportError as error:
    raise ImportError(
        "torch.utils.tensorboard needs the package tensorboard, which is not installed\n"
        "  fix: pip install 'leafgrad[tensorboard]'   (or: pip install tensorboard)"
    ) from error

from leafgrad.utils.tensorboard.writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]

__getattr__ = _missing.attributes_of(__name__, {"summary": "summary"})
