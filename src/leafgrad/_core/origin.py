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
    """The backward pass that is being recorded: a frame of leafgrad's that runs it, and the user's frame behind that.
    Rules record a node from far below, and the way up is the same each time: a third of the time of a node. Another
    thread may set its own in between; then the way is walked.

    While a rule of leafgrad's own runs, which calls nothing of the user's, there is no way to walk at all: `rule` is
    the thread that runs it and the user's frame."""

    __slots__ = ("frames", "rule")

    def __init__(self) -> None:
        self.frames: Any = (None, None)
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


def user_frame(frame: Any = None, known: int = 1) -> Any:
    """The innermost frame that is not leafgrad's, beginning with `frame` if that is given. It is asked for by functions
    of leafgrad only: compiled functions that know so many of the callers, themselves included, step over them, because
    plain Python makes an object of every frame that is looked at."""
    rule = recorded_pass.rule
    if rule is not None and rule[0] == this_thread():
        return rule[1]
    if frame is None:
        try:
            frame = _getframe(0 if COMPILED else 1 + known)
        except ValueError:  # nobody called: a thread began with a function of leafgrad
            return outermost_frame()
    running, behind = recorded_pass.frames
    while True:
        try:
            while internal_files[frame.f_code.co_filename]:
                if frame is running:
                    return behind
                caller = frame.f_back
                if caller is None:
                    return frame
                frame = caller
            return frame
        except KeyError:
            is_internal(frame.f_code.co_filename)  # a new file, which is known from now on


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
