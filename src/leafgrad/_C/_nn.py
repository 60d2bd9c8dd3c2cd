"""leafgrad._C._nn: how the arguments of `to` are read, for programs that have a `to` of their own."""

from __future__ import annotations

from typing import Any

from leafgrad import _missing
from leafgrad._device import device
from leafgrad._tensor.conversions import asked_of_to, to
from leafgrad.ops.arguments import matched


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """_parse_to(*args, **kwargs): the device, the dtype, non_blocking and the memory format; None for what `to` was
    not asked for."""
    asked, dtype, layout, _ = asked_of_to(args, kwargs, takes_copy=False)
    given = matched(to, args, kwargs)
    return None if asked is None else device(asked), dtype, given["non_blocking"], layout


__getattr__ = _missing.attributes_of(__name__)
