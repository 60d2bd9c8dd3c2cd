"""Warnings, which point at the user's line wherever in leafgrad they are given."""

from __future__ import annotations

import warnings

from leafgrad.errors.naming import users_frame

HISTORY_LOST = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)
said: set[str] = set()  # what is to be said once in a program


def warn_once(message: str) -> None:
    """Warn at the first time that a program does something, or each time after set_warn_always(True)."""
    if message not in said or _always:
        said.add(message)
        warn(message)


_always = False


def always_warn(wanted: bool) -> None:
    global _always
    _always = wanted


def warn(message: str, category: type[Warning] = UserWarning, further: int = 0) -> None:
    """warnings.warn(message, category) as if the user's line had called it, or the line that called that one, and so
    on, `further` times. A number of frames to skip would not do: compiled functions and shortcuts have none."""
    frame = users_frame()
    while further > 0 and frame.f_back is not None:
        frame, further = frame.f_back, further - 1
    space = frame.f_globals
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=space.get("__name__") or "<string>",
        registry=space.setdefault("__warningregistry__", {}),
    )
