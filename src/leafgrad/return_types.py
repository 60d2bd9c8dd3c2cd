"""leafgrad.return_types: the classes of results with several named parts, printed as PyTorch prints them. They are made
by the blocks of the ops (`result_names`)."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from operator import itemgetter
from typing import Any, ClassVar

from leafgrad import _missing


class NamedResult(tuple[Any, ...]):
    """A tuple whose parts have names. Unlike a namedtuple it is made from one sequence, as PyTorch's are; and its
    class without `exec`, which would be felt at import."""

    __slots__ = ()
    __match_args__: ClassVar[tuple[str, ...]] = ()
    n_fields: ClassVar[int] = 0
    n_sequence_fields: ClassVar[int] = 0
    n_unnamed_fields: ClassVar[int] = 0

    def __new__(cls, sequence: Iterable[Any], dict: Any = None) -> NamedResult:  # PyTorch's files have an empty one
        made = super().__new__(cls, sequence)
        if len(made) != cls.n_fields:
            raise TypeError(f"{_full_name(cls)}() takes a {cls.n_fields}-sequence ({len(made)}-sequence given)")
        return made

    def __repr__(self) -> str:
        parts = [f"{field}={value!r}" for field, value in zip(self.__match_args__, self, strict=True)]
        return f"{_full_name(type(self))}(\n" + ",\n".join(parts) + ")"

    def __reduce__(self) -> Any:
        return _restored, (type(self).__name__, tuple(self))


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__name__}"


def _restored(name: str, parts: tuple[Any, ...]) -> NamedResult:
    return __getattr__(name)(parts)


def named_result(name: str, *fields: str) -> type[NamedResult]:
    """The class of the results of the function `name`, which this module then has."""
    members: dict[str, Any] = {
        "__slots__": (),
        "__module__": "torch.return_types",
        "__match_args__": fields,
        "n_fields": len(fields),
        "n_sequence_fields": len(fields),
    }
    members.update({field: property(itemgetter(i)) for i, field in enumerate(fields)})
    made = globals()[name] = type(name, (NamedResult,), members)
    return made


def __getattr__(name: str) -> type[NamedResult]:
    """The class for a function that nobody has called before."""
    getattr(sys.modules["leafgrad"], name, None)
    if name.startswith("linalg_"):
        getattr(sys.modules["leafgrad"].linalg, name.removeprefix("linalg_"), None)
    found: Any = globals().get(name)
    if found is None:
        raise _missing.missing_attribute(__name__, name)
    return found  # type: ignore[no-any-return]
