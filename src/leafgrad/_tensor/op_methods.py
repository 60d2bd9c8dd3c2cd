"""The methods of Tensor that are operations. `leafgrad._tensor.install` puts them on this class when they are first
used; what type checkers know of them is in op_methods.pyi, which tools/make_stubs.py writes."""

from __future__ import annotations

from typing import Any

from leafgrad._missing import Absent, Later
from leafgrad.ops import names

_body: dict[str, Any] = {"__slots__": (), "__module__": __name__, "__doc__": "A base of Tensor."}
_body.update([(name, Absent(name)) for name in names.ABSENT.split()])
_body.update([(name, Later(name)) for name in " ".join(names.METHODS.values()).split()])
# At once: to set one attribute after the other on a class that is there already takes three times as long.
OpMethods = type("OpMethods", (), _body)
del OpMethods.__hash__  # None, because there is an `__eq__`; tensors are compared by identity in dictionaries
