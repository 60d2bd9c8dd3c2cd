"""torch.compile and torch.compiler: programs that ask for compilation get what they gave, and are told so once. The
hot parts of leafgrad are compiled when it is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from leafgrad import _absent, errors

_told: set[str] = set()


def told_once(name: str) -> None:
    """One honest word in a process."""
    if name not in _told:
        _told.add(name)
        errors.warn(f"leafgrad does not compile programs: {name} returns what it was given, which runs as it is")


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    name: str | None = None,
    disable: bool = False,
    recompile_limit: int | None = None,
    isolate_recompiles: bool = False,
    shapes_spec: Any = None,
) -> Any:
    """compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, disable=False): the
    model or function itself; without one, a decorator. leafgrad does not compile, whatever the options are."""
    if mode is not None and options is not None:
        first = "Either mode or options can be specified, but both can't be specified at the same time."
        raise errors.mistake(RuntimeError, first)
    if not disable:
        told_once("torch.compile")
    return same if model is None else model


def same(fn: Any) -> Any:
    return fn


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """disable(fn=None, recursive=True): the function itself; without one, a decorator."""
    return same if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """allow_in_graph(fn): the function itself."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """assume_constant_result(fn): the function itself."""
    return fn


class set_stance:
    """set_stance(stance="default"): nothing is compiled in any stance. As a context, nothing changes in it."""

    def __init__(self, stance: str = "default", **options: Any) -> None:
        self.stance = stance

    def __call__(self, fn: Any) -> Any:
        return fn

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


globals().update(
    _absent.answers(
        __name__, is_compiling=False, is_dynamo_compiling=False, is_exporting=False, reset=None, list_backends=[],
        cudagraph_mark_step_begin=None,
    )
)  # fmt: skip
__getattr__ = _absent.names_refused(__name__, "leafgrad does not have {name}: it does not compile programs")
