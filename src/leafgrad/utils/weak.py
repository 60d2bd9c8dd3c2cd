"""torch.utils.weak: dictionaries whose keys are tensors, or other objects, told apart by identity and held weakly."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any
from weakref import ref

from leafgrad import _missing

WeakRef = ref

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):  # type: ignore[type-arg]
    """WeakIdRef(key, callback=None): a weak reference that is equal to others of the same object, and of no other. The
    `==` of the object itself, which is that of elements if it is a tensor, is not asked."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Callable[[Any], None] | None = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __call__(self) -> Any:
        return super().__call__()

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, weakref.ref):
            return False
        own, others = self(), other()
        return self is other if own is None or others is None else own is others

    def __ne__(self, other: object) -> bool:
        return not self == other


class _WeakHashRef(weakref.ref):  # type: ignore[type-arg]
    """The same for objects that are compared by `==`."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Callable[[Any], None] | None = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = hash(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, weakref.ref):
            return False
        own, others = self(), other()
        return self is other if own is None or others is None else bool(own == others)

    def __ne__(self, other: object) -> bool:
        return not self == other


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """WeakIdKeyDictionary(dict=None, ref_type=WeakIdRef): a dictionary by the identity of its keys, with which entries
    go."""

    def __init__(self, dict: Any = None, ref_type: Any = WeakIdRef) -> None:
        self.data: Any = {}
        self.ref_type = ref_type
        own = weakref.ref(self)

        def remove(key: Any) -> None:
            found = own()
            if found is not None:
                found.data.pop(key, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def _living(self) -> list[tuple[Any, Any, Any]]:
        """The entries whose keys are alive, and stay so while the list does: (reference, key, value)."""
        found = [(reference, reference(), value) for reference, value in list(self.data.items())]
        return [entry for entry in found if entry[1] is not None]

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:
            return False

    def __len__(self) -> int:
        return len(self._living())

    def __iter__(self) -> Iterator[Any]:
        for reference in list(self.data):
            key = reference()
            if key is not None:
                yield key

    def items(self) -> Any:
        """items(): the keys that are alive, with their values."""
        return ((key, value) for _, key, value in self._living())

    def values(self) -> Any:
        """values(): the values of the keys that are alive."""
        return (value for _, _, value in self._living())

    def keyrefs(self) -> list[Any]:
        """keyrefs(): the weak references to the keys."""
        return list(self.data)

    def popitem(self) -> tuple[Any, Any]:
        while True:
            reference, value = self.data.popitem()
            key = reference()
            if key is not None:
                return key, value

    def pop(self, key: Any, *default: Any) -> Any:
        return self.data.pop(self.ref_type(key), *default)

    def get(self, key: Any, default: Any = None) -> Any:
        return self.data.get(self.ref_type(key), default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self.data.setdefault(self.ref_type(key, self._remove), default)

    def update(self, other: Any = (), /, **named: Any) -> None:
        for key, value in [(key, other[key]) for key in other.keys()] if hasattr(other, "keys") else other:  # noqa: SIM118
            self[key] = value
        for name, value in named.items():
            self[name] = value

    def copy(self) -> WeakIdKeyDictionary:
        """copy(): another dictionary with the same keys and values."""
        made = WeakIdKeyDictionary(ref_type=self.ref_type)
        for _, key, value in self._living():
            made[key] = value
        return made

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> WeakIdKeyDictionary:
        from copy import deepcopy

        made = type(self)(ref_type=self.ref_type)
        for _, key, value in self._living():
            made[key] = deepcopy(value, memo)
        return made

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        own = {id(key): value for _, key, value in self._living()}
        return own == {id(key): value for key, value in other.items()}

    def __or__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: Any) -> Any:
        if not isinstance(other, Mapping):
            return NotImplemented
        made = WeakIdKeyDictionary(other, self.ref_type)
        made.update(self)
        return made

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """TensorWeakRef(tensor): a weak reference to a tensor, called like other ones."""

    ref: Any

    def __init__(self, tensor: Any) -> None:
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Any:
        return self.ref()


__getattr__ = _missing.attributes_of(__name__)
