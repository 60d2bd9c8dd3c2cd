"""Modules that hold other modules: Sequential, ModuleList, ModuleDict, DataParallel."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, ValuesView
from typing import Any, Self, overload

from leafgrad import errors
from leafgrad._missing import moved
from leafgrad.nn.modules.module import Module, indented

__all__ = ["Container", "DataParallel", "ModuleDict", "ModuleList", "Sequential"]


class Container(Module):
    """Container(**modules): modules under these names. Deprecated: any module can have them."""

    def __init__(self, **kwargs: Any) -> None:
        errors.warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that "
            "instead.",
            FutureWarning,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


def checked_index(index: Any, size: int) -> int:
    position = operator.index(index)
    if not -size <= position < size:
        raise IndexError(f"index {position} is out of range")
    return position % size


class _Numbered(Module):
    """Modules under the names '0', '1', ...: what Sequential and ModuleList have in common."""

    def _key(self, index: Any) -> str:
        """The name of the module at an index, which may count from the end. (A Sequential may have other names.)"""
        return list(self._modules)[checked_index(index, len(self))]

    def _renumber(self, modules: Iterable[Any]) -> None:
        self.__dict__["_modules"] = {str(i): module for i, module in enumerate(modules)}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._key(index), module)

    def append(self, module: Module) -> Self:
        """append(module): add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, index: Any) -> Any:
        """pop(index): take a module out."""
        module = self._modules[self._key(index)]
        del self[index]
        return module

    def __delitem__(self, index: Any) -> None:
        keys = list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]
        self._renumber([module for key, module in self._modules.items() if key not in keys])


class Sequential(_Numbered):
    """Sequential(*modules), Sequential(OrderedDict(name=module, ...)): one module after the other."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                self.add_module(str(i), module)

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    @overload
    def __getitem__(self, index: slice) -> Self: ...
    @overload
    def __getitem__(self, index: int) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.__class__(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def insert(self, index: int, module: Module) -> Self:
        """insert(index, module): put a module before the one at index."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """extend(modules): add modules at the end."""
        for module in list(sequential):  # it may be this one
            self.append(module)
        return self

    def __add__(self, other: Any) -> Sequential:
        self._check_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Self:
        self._check_sequential(other)
        return self.extend(other)

    def __mul__(self, times: Any) -> Sequential:
        self._check_factor(times)
        return Sequential(*(list(self) * times))

    __rmul__ = __mul__

    def __imul__(self, times: Any) -> Self:
        self._check_factor(times)
        return self.extend(list(self) * (times - 1))

    def _check_sequential(self, other: Any) -> None:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")

    def _check_factor(self, times: Any) -> None:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")


class ModuleList(_Numbered):
    """ModuleList(modules=None): a list whose modules belong to the module that has it."""

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    @overload
    def __getitem__(self, index: slice) -> ModuleList: ...
    @overload
    def __getitem__(self, index: int) -> Any: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.__class__(list(self)[index])
        return self._modules[self._key(index)]

    def insert(self, index: int, module: Module) -> None:
        """insert(index, module): put a module before the one at index."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self, modules: Iterable[Any]) -> Self:
        """extend(modules): add modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self

    def __iadd__(self, modules: Iterable[Any]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Any]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Neighbours that print the same are written once: (0-2): 3 x Linear(...)"""
        if not self._modules:
            return self._get_name() + "()"
        runs: list[tuple[int, int, str]] = []
        for i, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], i, text)
            else:
                runs.append((i, i, text))
        lines = [
            f"  ({first}): {indented(text)}"
            if first == last
            else f"  ({first}-{last}): {last - first + 1} x {indented(text)}"
            for first, last, text in runs
        ]
        return "\n".join([f"{self._get_name()}(", *lines, ")"])


class ModuleDict(Module):
    """ModuleDict(modules=None): a dictionary whose modules belong to the module that has it."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def keys(self) -> KeysView[str]:
        """keys(): the names."""
        return self._modules.keys()

    def values(self) -> ValuesView[Any]:
        """values(): the modules."""
        return self._modules.values()

    def items(self) -> ItemsView[str, Any]:
        """items(): names and modules."""
        return self._modules.items()

    def clear(self) -> None:
        """clear(): take all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """pop(key): take a module out."""
        return self._modules.pop(key)

    def update(self, modules: Any) -> None:
        """update(modules): add the modules of a mapping or of pairs (name, module)."""
        for key, module in named_pairs("ModuleDict", modules):
            self[key] = module


def named_pairs(name: str, values: Any) -> Iterator[tuple[str, Any]]:
    """The pairs (name, value) of a mapping or of an iterable of pairs."""
    if not isinstance(values, Iterable):
        raise TypeError(
            f"{name}.update should be called with an iterable of key/value pairs, but got {type(values).__name__}"
        )
    if hasattr(values, "items"):
        yield from values.items()
        return
    for i, pair in enumerate(values):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{name} update sequence element #{i} should be Iterable; is{type(pair).__name__}")
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(f"{name} update sequence element #{i} has length {len(pair)}; 2 is required")
        yield pair


class DataParallel(Module):
    """DataParallel(module, device_ids=None, output_device=None, dim=0): the module, with each batch spread over devices
    along `dim`. Where there are none but the CPU, as here, that is the module itself."""

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


__getattr__ = moved(__name__, dict.fromkeys(("ParameterDict", "ParameterList"), "nn.modules.parameter_container"))
