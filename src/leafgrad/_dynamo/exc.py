"""The errors of a compilation, for programs that catch them: none is ever raised."""

from __future__ import annotations

from leafgrad import _missing


class TorchDynamoException(RuntimeError):
    """A compilation failed."""


class TorchRuntimeError(TorchDynamoException):
    """A program failed while it was compiled."""


class Unsupported(TorchDynamoException):
    """A program does what cannot be compiled."""


__getattr__ = _missing.attributes_of(__name__)
