"""Devices, and shapes: the small types that PyTorch code passes around."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

from leafgrad._core.overrides import modes_of_all_threads
from leafgrad._core.threads import local
from leafgrad._missing import part

KNOWN = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, "
    "privateuseone"
)


class device:
    """device('cpu'): accepted wherever PyTorch takes a device, and as a context or decorator. Other devices than the
    CPU can be named and compared; what would have to compute on them is refused."""

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        if isinstance(type, int) and not isinstance(type, bool):
            raise RuntimeError("Cannot access accelerator device when none is available.")
        if not isinstance(type, str):
            raise TypeError(f"device(): argument 'device' must be torch.device, not {type.__class__.__name__}")
        kind, colon, number = type.partition(":")
        if not type:
            raise RuntimeError("Device string must not be empty")
        named = kind.isascii() and kind.replace("_", "a").isalpha()
        numbered = number.isdecimal() and (number == "0" or number[0] != "0")
        if not named or (colon and not numbered):
            raise RuntimeError(f"Invalid device string: '{type}'")
        if kind not in KNOWN.split(", "):
            raise refused(type, kind)
        self.type = kind
        self.index = int(number) if colon else index

    def __enter__(self) -> device:
        if self.type != "meta":
            check_device(self)
        context = None
        if self.type == "meta" or any([each is not None for each in entered.contexts]) or modes_of_all_threads:
            context = part("utils._device").DeviceContext(self)
            context.__enter__()
        entered.contexts.append(context)
        return self

    def __exit__(self, *exception: object) -> None:
        context = entered.contexts.pop()
        if context is not None:
            context.__exit__(*exception)

    def __call__(self, function: Any) -> Any:
        """The function, called with this device as the context."""
        if self.type == "meta":
            return part("utils._device").device_decorator(self, function)
        check_device(self)
        return function

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)


class Entered(local):
    """The contexts of a thread that `with device:` has opened; None for the CPU, where there is no other."""

    def __init__(self) -> None:
        self.contexts: list[Any] = []


entered = Entered()


def refused(name: str, kind: str) -> BaseException:
    """The error for a device that PyTorch may have and leafgrad has not."""
    from leafgrad import errors

    error: type[BaseException] = RuntimeError
    if kind in ("cuda", "xpu"):
        error, first = AssertionError, f"Torch not compiled with {kind.upper()} enabled"
    elif kind not in KNOWN.split(", "):
        first = f"Expected one of {KNOWN} device type at start of device string: {kind}"
    else:
        first = f"leafgrad computes on the CPU only, and device '{name}' was asked for"
    fix = f"device='cpu'   # or leave it out; {errors.library()}.cuda.is_available() is False"
    return errors.mistake(error, first, ("device", f"'{name}': leafgrad computes on the CPU only"), fix=fix)


def check_device(wanted: Any) -> None:
    """Refuse every device but the CPU, with the error above."""
    if wanted is not None and wanted != "cpu":
        found = device(wanted)
        if found.type != "cpu":
            raise refused(str(found), found.type)


def names_meta(wanted: Any) -> bool:
    """Is this the device of tensors without data? What is no device is refused."""
    if wanted.__class__ is device:
        return wanted.type == "meta"
    return wanted is not None and wanted != "cpu" and device(wanted).type == "meta"


# Of a shape, which needs no look: `made(Size, shape)`.
made: Callable[[type[Size], Iterable[int]], Size] = tuple.__new__


def checked_size(size: Any, place: int) -> int:
    """A number that is to be a size: a Python integer, or what can be one."""
    try:
        return operator.index(size)
    except TypeError:
        name = type(size).__name__
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {place} is '{name}')") from None


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple that prints as PyTorch's does and knows its number of elements."""

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        given = tuple(sizes)
        for place, size in enumerate(given):
            if size.__class__ is not int:
                return made(cls, [checked_size(size, place) for place, size in enumerate(given)])
        return made(cls, given)

    def numel(self) -> int:
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return made(Size, found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: Any) -> Size:
        return Size(tuple.__mul__(self, times))

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)


class layout:
    """How a tensor keeps its elements. The sparse ones are names: leafgrad has no such tensors."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class memory_format:
    """A wish about memory order. leafgrad keeps row-major order and accepts the names."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


strided = layout("strided")
sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc, jagged = [
    layout(name) for name in ("sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged")
]
contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
