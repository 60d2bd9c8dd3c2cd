"""Where in the user's program are we? Every recorded operation knows the line it came from.

A code object and an offset are kept, never a frame: they cost little, hold nothing alive, and become a file and a line
only when somebody asks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from leafgrad._core.threads import get_ident

# Compiled functions have no Python frame, so the nearest frame is the caller's own; in plain Python the functions of
# the core lie between.
COMPILED: Final = not __file__.endswith(".py")
_getframe: Final[Callable[[int], Any]] = sys._getframe
this_thread: Final[Callable[[], int]] = get_ident
_PACKAGE = __file__[: __file__.rindex("_core")]
internal_files: Final[dict[str, bool]] = {}


class LastUser:
    """The code that recorded last: known to be the user's, and often the next as well."""

    __slots__ = ("code",)

    def __init__(self) -> None:
        self.code: Any = None


last_user: Final = LastUser()


class RecordedPass:
    """While a backward pass on tensors runs a gradient rule of leafgrad's own, which calls no code of the user's: the
    thread that runs it, and the user's frame that started the pass. Rules record nodes many frames below that one, and
    in plain Python to walk up to it each time takes a seventh of such a pass. Another thread may replace `rule` in
    between; then the stack is walked."""

    __slots__ = ("rule",)

    def __init__(self) -> None:
        self.rule: tuple[int, Any] | None = None


recorded_pass: Final = RecordedPass()


class NoFrame:
    """Stands for the user's frame where there is none at all."""

    def __init__(self) -> None:
        self.f_code: Any = compile("", "<no caller>", "exec")
        self.f_lasti: int = 0


NO_FRAME: Final = NoFrame()


def is_internal(filename: str) -> bool:
    """Is this file part of leafgrad? Answered once for each file."""
    known = internal_files.get(filename)
    if known is None:
        known = filename.startswith(_PACKAGE) or filename.startswith("<frozen ")
        internal_files[filename] = known
    return known


def user_frame(frame: Any = None, known: int = 1, methods: int = 0) -> Any:
    """The innermost frame that is not leafgrad's, beginning with `frame` if that is given. It is asked for by functions
    of leafgrad only: compiled functions that know so many of the callers, themselves included, step over them, and over
    so many `methods` behind those that are never compiled, because Python makes an object of every frame that is looked
    at."""
    rule = recorded_pass.rule
    if rule is not None and rule[0] == this_thread():
        return rule[1]
    if frame is None:
        try:
            frame = _getframe(methods if COMPILED else 1 + known + methods)
        except ValueError:  # nobody called: a thread began with a function of leafgrad
            return outermost_frame()
    while True:
        try:
            while internal_files[frame.f_code.co_filename]:
                frame = frame.f_back
            return frame
        except KeyError:
            is_internal(frame.f_code.co_filename)  # a new file, which is known from now on
        except AttributeError:  # no frame is left: all were leafgrad's. One of those, kept, would refer to itself
            return NO_FRAME


def outermost_frame() -> Any:
    try:
        return _getframe(0)
    except ValueError:
        return NO_FRAME


def line_of(code: Any, lasti: int) -> tuple[str, int]:
    """The file and line of a code object's instruction."""
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= lasti < end and number is not None:
            line = number
    return code.co_filename, line
