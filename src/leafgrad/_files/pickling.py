"""Objects as PyTorch pickles them: tensors as calls of its rebuilding functions, memory by number, everything under its
name in PyTorch. Python's pickler in C insists on importing what it names, so this is the one in Python."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from leafgrad import _dtypes, errors
from leafgrad._core.tensor import SparseArrayBase, is_meta, links, wrap
from leafgrad._device import Size, device, layout
from leafgrad._files import rebuilding
from leafgrad._files.locations import location_tag
from leafgrad._files.rebuilding import _rebuild_parameter as rebuild_parameter
from leafgrad._layouts import steps_of
from leafgrad._tensor.tensor import Tensor
from leafgrad._torch_places import place_of_class
from leafgrad.nn.parameter import Parameter
from leafgrad.ops.shape.storage import TYPES, StorageBase, TypedStorage, UntypedStorage, storage_of
from leafgrad.ops.shape.strides import memory_of

RESULTS = "torch.return_types"  # the module of the classes of named results, in both libraries

# What Python's pickler does with the types that it knows. Its own table, `_Pickler.dispatch`, is shared by all of the
# process, and `import dill` fills it with functions that write names of dill's into the file.
_PYTHONS_TYPES: list[tuple[type, str]] = [
    (type(None), "save_none"), (bool, "save_bool"), (int, "save_long"), (float, "save_float"), (bytes, "save_bytes"),
    (bytearray, "save_bytearray"), (pickle.PickleBuffer, "save_picklebuffer"), (str, "save_str"),
    (tuple, "save_tuple"), (list, "save_list"), (dict, "save_dict"), (set, "save_set"),
    (frozenset, "save_frozenset"), (FunctionType, "save_global"), (type, "save_type"),
]  # fmt: skip


class Storages:
    """The memory that tensors show, numbered as it is met."""

    def __init__(self) -> None:
        self.contents: dict[str, UntypedStorage] = {}
        self.dtypes: dict[str, Any] = {}  # of their elements
        self._keys: dict[int, str] = {}
        self._dtypes: dict[int, Any] = {}

    def entry(self, storage: Any) -> Any:
        """What stands for a storage in the pickle; None for everything else."""
        if not isinstance(storage, StorageBase):
            return None
        if isinstance(storage, TypedStorage):
            untyped, kind = storage.untyped(), storage.dtype
            cls: Any = TYPES[storage.pickle_storage_type()]
        else:
            assert isinstance(storage, UntypedStorage)
            untyped, kind, cls = storage, _dtypes.uint8, UntypedStorage
        key = untyped._cdata
        if len(untyped) and self._dtypes.setdefault(key, kind) is not kind:
            first = "Cannot save multiple tensors or storages that view the same data as different types"
            raise errors.mistake(RuntimeError, first, fix="clone() one of them first")
        name = self._keys.setdefault(key, str(len(self._keys)))
        self.contents[name] = untyped  # keeps it alive, and with it the number
        self.dtypes.setdefault(name, kind)
        return ("storage", cls, name, location_tag(untyped), len(storage))


def reduced_tensor(t: Any) -> Any:
    """A tensor as the call that makes it again."""
    if isinstance(t.array, SparseArrayBase):
        parts = [wrap(part) if isinstance(part, np.ndarray) else part for part in t.array.parts()]  # type: ignore[attr-defined]
        return rebuilding._rebuild_sparse_tensor, (t.array.layout, tuple(parts))  # type: ignore[attr-defined]
    if is_meta(t.array):
        form = _dtypes.from_numpy_dtype(t.array.dtype), tuple(t.array.shape), steps_of(t.array)
        return rebuilding._rebuild_meta_tensor_no_storage, (*form, bool(t.requires_grad))
    array = t._memory("save")
    kind = _dtypes.from_numpy_dtype(array.dtype)
    try:
        start = memory_of(array)[1]
    except NotImplementedError:  # memory of another library's, with gaps
        start = 1
    if start % kind.itemsize or not array.dtype.isnative:
        array, start = array.astype(kind.np), 0
    storage = storage_of(array)
    place = (start // kind.itemsize, tuple(array.shape), steps_of(array))
    hooks: OrderedDict[Any, Any] = OrderedDict()
    if kind in _dtypes.UNSIGNED:  # which have no class of storages
        return rebuilding._rebuild_tensor_v3, (storage, *place, bool(t.requires_grad), hooks, kind)
    typed = TypedStorage(wrap_storage=storage, dtype=kind)
    return rebuilding._rebuild_tensor_v2, (typed, *place, bool(t.requires_grad), hooks)


def class_with_data(cls: type) -> type:
    """The class of a tensor as users know it: those without data have others."""
    return getattr(cls, "plain_class", cls)


def reduces_itself(cls: type) -> bool:
    """Does a subclass of Tensor say how it is pickled?"""
    own = [each for each in class_with_data(cls).__mro__ if issubclass(each, Tensor)]
    own = [each for each in own if each not in (Tensor, Parameter)]
    return any(["__reduce_ex__" in vars(each) or "__reduce__" in vars(each) for each in own])


def reduced(obj: Any) -> Any:
    """How an object of leafgrad's is pickled; NotImplemented for all others."""
    if isinstance(obj, Tensor) and not reduces_itself(type(obj)):
        state = dict(vars(obj))
        is_sparse = isinstance(obj.array, SparseArrayBase)
        cls = class_with_data(type(obj))
        if cls is Parameter or (is_sparse and state.pop("_is_param", False)):
            args: tuple[Any, ...] = (obj.data, obj.requires_grad, OrderedDict())
            return (rebuilding._rebuild_parameter_with_state, (*args, state)) if state else (rebuild_parameter, args)
        made = reduced_tensor(obj)
        if (cls is Tensor or is_sparse) and not state:
            return made
        return rebuilding._rebuild_from_type_v2, (made[0], cls, made[1], state)
    if isinstance(obj, Size):
        return Size, (tuple(obj),)
    if isinstance(obj, tuple) and type(obj).__module__ == RESULTS:
        return type(obj), (tuple(obj), {})
    if isinstance(obj, device):
        return device, (obj.type,) if obj.index is None else (obj.type, obj.index)
    if isinstance(obj, layout):
        return rebuilding._get_layout, (repr(obj),)
    if isinstance(obj, _dtypes.dtype):
        return obj.name
    if isinstance(obj, type | FunctionType) and place_in_torch(obj) is not None:
        return obj.__qualname__
    return NotImplemented


def place_in_torch(obj: Any) -> tuple[str, str] | None:
    """The module and the name under which PyTorch has an object of leafgrad's."""
    found = rebuilding.PLACES.get(id(obj))
    if found is not None:
        return found[0], found[1]
    name = getattr(obj, "__qualname__", "")
    if isinstance(obj, FunctionType) and links.functions.get(name) is obj:
        return "torch", name
    module = getattr(obj, "__module__", None) or ""
    if module == RESULTS and isinstance(obj, type):
        return module, name
    if module.startswith("leafgrad.") and not module.partition(".")[2].startswith("_"):
        own = "torch" + module.removeprefix("leafgrad")
        return place_of_class(module, name) if isinstance(obj, type) else own, name
    return None


def pickler_of(pickle_module: Any) -> Any:
    """A class of picklers that writes as PyTorch does, based on that of a module."""
    base: Any = getattr(pickle_module, "_Pickler", None) or pickle_module.Pickler
    if not issubclass(base, pickle._Pickler):
        raise errors.mistake(
            NotImplementedError,
            f"leafgrad can save with picklers that are written in Python, and {base.__module__}.{base.__name__} is not",
            ("why", "PyTorch's names for what a file contains have to be written without importing PyTorch"),
            fix="leave out pickle_module=",
        )

    class TorchPickler(base):  # type: ignore[misc]
        dispatch = (
            {cls: getattr(base, name) for cls, name in _PYTHONS_TYPES} if base is pickle._Pickler else base.dispatch
        )

        def __init__(self, file: Any, protocol: int, storages: Storages) -> None:
            super().__init__(file, protocol)
            self._storages = storages

        def persistent_id(self, obj: Any) -> Any:
            return self._storages.entry(obj)

        def reducer_override(self, obj: Any) -> Any:
            found = reduced(obj)
            if found is NotImplemented and hasattr(base, "reducer_override"):
                return super().reducer_override(obj)
            return found

        def save_global(self, obj: Any, name: Any = None) -> None:
            place = place_in_torch(obj)
            if place is None:
                super().save_global(obj, name)
            elif self.proto >= 4:
                self.save(place[0])
                self.save(place[1])
                self.write(pickle.STACK_GLOBAL)
                self.memoize(obj)
            else:
                self.write(pickle.GLOBAL + "{}\n{}\n".format(*place).encode())
                self.memoize(obj)

    return TorchPickler


def pickled(write: Callable[[Any], Any], obj: Any, pickle_module: Any, protocol: int) -> dict[str, UntypedStorage]:
    """Pickle an object; the memory that it refers to, by key."""

    class Output:
        """What a pickler needs of a file."""

        def write(self, data: Any) -> Any:
            return write(data)

    storages = Storages()
    pickler_of(pickle_module)(Output(), protocol, storages).dump(obj)
    return storages.contents
