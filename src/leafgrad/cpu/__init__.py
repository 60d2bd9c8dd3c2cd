"""leafgrad.cpu: torch.cpu, the one device there is, with the interface of the modules of devices.

May import `_absent`, and `amp`, `errors` and `_dtypes` for mixed precision by its old names.
"""

from __future__ import annotations

from typing import Any

from leafgrad import _absent

globals().update(
    _absent.answers(
        __name__, is_available=True, is_initialized=True, device_count=1, current_device="cpu", synchronize=None,
        set_device=None,
    )
)  # fmt: skip


class Stream:
    """Stream(): operations run one after the other; a stream has nothing to wait for."""

    def __init__(self, priority: int = -1) -> None: ...

    def wait_stream(self, stream: Any) -> None: ...

    def record_event(self) -> None: ...

    def wait_event(self, event: Any) -> None: ...


class Event:
    """Event(): has always happened."""

    def query(self) -> bool:
        return True

    def record(self, stream: Any = None) -> None: ...

    def synchronize(self) -> None: ...

    def wait(self, stream: Any = None) -> None: ...


class StreamContext:
    """StreamContext(stream): nothing changes in it."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


_stream = Stream()


def current_stream(device: Any = None) -> Stream:
    """current_stream(device=None): the one stream there is."""
    return _stream


def stream(stream: Stream) -> StreamContext:
    """stream(stream): a context in which nothing changes."""
    return StreamContext(stream)


__getattr__ = _absent.names_refused(__name__, "leafgrad does not have {name}", later={"amp": "amp"})
