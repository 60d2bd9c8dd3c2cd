"""The methods of Tensor that are operations. `leafgrad._tensor.install` puts them on this class; what type checkers
know of them is in op_methods.pyi, which tools/make_stubs.py writes."""

from __future__ import annotations


class OpMethods:
    """A base of Tensor."""

    __slots__ = ()
