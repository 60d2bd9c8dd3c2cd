"""torch.utils._device: the device on which functions make tensors if they are not told where."""

from __future__ import annotations

import functools
from inspect import signature
from typing import Any

from leafgrad import _missing
from leafgrad._core.overrides import handling, public_function
from leafgrad._device import device as Device
from leafgrad._tensor import overridable
from leafgrad.autograd.grad_mode import _DecoratorContextManager
from leafgrad.overrides import TorchFunctionMode

CONSTRUCTORS = """arange as_tensor asarray bartlett_window blackman_window empty empty_permuted empty_strided eye full
hamming_window hann_window kaiser_window linspace logspace ones rand randint randn randperm range scalar_tensor
sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor
tensor tril_indices triu_indices zeros"""


@functools.cache
def _device_constructors() -> set[Any]:
    """The functions that make tensors of nothing but numbers."""
    fft = _missing.part("fft")
    return {public_function(name) for name in CONSTRUCTORS.split()} | {fft.fftfreq, fft.rfftfreq}


def by_position(func: Any, args: tuple[Any, ...]) -> bool:
    """Is the device among the arguments that were not given by name?"""
    named = [p.name for p in signature(func).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    return "device" in named[: len(args)]


class DeviceContext(TorchFunctionMode):
    """While it is on, these functions make tensors on its device if they are not told otherwise."""

    def __init__(self, device: Any) -> None:
        self.device = Device(device)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _device_constructors() and kwargs.get("device") is None and not by_position(func, args):
            kwargs = {**kwargs, "device": self.device}
        return func(*args, **kwargs)


def current() -> DeviceContext | None:
    """The innermost of this thread."""
    return next((mode for mode in reversed(handling.modes) if isinstance(mode, DeviceContext)), None)


def set_default(device: Any) -> None:
    """Put a context under all modes of this thread, in place of the one that this has put there before."""
    before = handling.modes[0] if handling.modes and getattr(handling.modes[0], "is_default", False) else None
    if before is not None:
        overridable.remove_mode(before)
    if device is not None and Device(device).type != "cpu":
        mode: Any = DeviceContext(device)
        mode.is_default = True
        overridable.push_mode(mode)
        handling.modes.insert(0, handling.modes.pop())


class OnDevice(_DecoratorContextManager):
    """`with device:` as a decorator of functions, generators and classes."""

    def __init__(self, device: Any) -> None:
        self.device = Device(device)

    def __enter__(self) -> None:
        self.device.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self.device.__exit__(*exception)

    def clone(self) -> OnDevice:
        return OnDevice(self.device)


def device_decorator(device: Any, func: Any) -> Any:
    """device_decorator(device, func): the function, called with this device as the context."""
    return OnDevice(device)(func)


def set_device(device: Any) -> Any:
    """set_device(device): a decorator that makes a device the context of a function."""
    return OnDevice(device)


__getattr__ = _missing.attributes_of(__name__)
