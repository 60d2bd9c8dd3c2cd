"""autocast: a part of a program in which some operations compute in half precision."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from leafgrad import errors
from leafgrad._core.modes import switches
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import every_thread, state
from leafgrad._device import device
from leafgrad._dtypes import bfloat16, dtype, float16, float32, from_numpy_dtype

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

SUPPORTED = (bfloat16, float16)  # on the CPU
AVAILABLE = ("cpu", "cuda", "mps", "xpu", "hpu", "mtia", "maia", "xla", "ipu", "privateuseone")  # in PyTorch


class Settings(threading.local):
    """What one thread has set: for each type of device whether autocast is on and in which dtype, how many of them are
    nested, and whether parameters in another dtype are kept. `state` has what operations look at."""

    def __init__(self) -> None:
        self.enabled: dict[str, bool] = {}
        self.dtypes: dict[str, dtype] = {"cpu": bfloat16}
        self.depth = 0
        self.keep = True

    def apply(self) -> None:
        """Let operations know."""
        before, now = state.autocast is not None, self.enabled.get("cpu", False)
        with every_thread:
            switches.autocasts += now - before
        state.autocast = self.dtypes["cpu"] if now else None
        if not self.keep:
            state.autocasted = None
        elif state.autocasted is None:
            state.autocasted = {}


settings = Settings()


def known_type(device_type: Any) -> str:
    """A type of devices, or the error for what is none."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    return device(device_type).type


class autocast:
    """autocast(device_type, dtype=None, enabled=True, cache_enabled=None): a context, or a decorator of functions, in
    which matrix products and the like compute in `dtype` (bfloat16, or float16), and losses in float32."""

    def __init__(
        self, device_type: str, dtype: dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        self.device = known_type(device_type)
        self.fast_dtype = get_autocast_dtype(self.device) if dtype is None else dtype
        self._cache_enabled = settings.keep if cache_enabled is None else bool(cache_enabled)
        if enabled and self.device == "cuda":
            errors.warn("CUDA is not available or torch_xla is imported. Disabling autocast.")
            enabled = False
        if enabled and self.device == "cpu" and self.fast_dtype not in SUPPORTED:
            kinds = ", ".join([str(kind) for kind in SUPPORTED])
            errors.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"CPU Autocast only supports dtypes of {kinds} currently."
            )
            enabled = False
        self._enabled = bool(enabled)
        self._before: list[tuple[bool, Any, bool]] = []  # a decorator may call itself

    def __enter__(self) -> autocast:
        kind = self.device
        self._before.append((is_autocast_enabled(kind), get_autocast_dtype(kind), settings.keep))
        settings.enabled[kind], settings.dtypes[kind], settings.keep = (
            self._enabled, self.fast_dtype, self._cache_enabled,
        )  # fmt: skip
        settings.depth += 1
        settings.apply()
        return self

    def __exit__(self, *error: object) -> None:
        settings.depth -= 1
        if settings.depth == 0:
            clear_autocast_cache()
        settings.enabled[self.device], settings.dtypes[self.device], settings.keep = self._before.pop()
        settings.apply()

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def decorate_autocast(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return decorate_autocast


def autocast_as_now() -> autocast:
    """What is set for the CPU, to be set again later: a checkpoint computes twice, and the same both times."""
    return autocast("cpu", settings.dtypes["cpu"], settings.enabled.get("cpu", False), settings.keep)


# -- the same as functions --------------------------------------------------------------------------------------------


def is_autocast_available(device_type: str) -> bool:
    """is_autocast_available(device_type): has PyTorch mixed precision for this type of devices?"""
    return known_type(device_type) in AVAILABLE


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """is_autocast_enabled(device_type="cuda"): is this thread inside `autocast` for this type of devices?"""
    return settings.enabled.get(known_type(device_type), False)


def set_autocast_enabled(device_type: str | bool, enabled: bool | None = None) -> None:
    """set_autocast_enabled(device_type, enabled): switch autocast on or off in this thread."""
    kind, on = ("cuda", device_type) if enabled is None else (known_type(device_type), enabled)
    settings.enabled[kind] = bool(on)
    settings.apply()


def get_autocast_dtype(device_type: str) -> dtype:
    """get_autocast_dtype(device_type): the dtype of fast operations."""
    return settings.dtypes.get(known_type(device_type), float16)


def set_autocast_dtype(device_type: str, dtype: dtype) -> None:
    """set_autocast_dtype(device_type, dtype): the dtype of fast operations."""
    settings.dtypes[known_type(device_type)] = dtype
    settings.apply()


def is_autocast_cache_enabled() -> bool:
    """is_autocast_cache_enabled(): are parameters in the dtype of fast operations kept until autocast ends?"""
    return settings.keep


def set_autocast_cache_enabled(enabled: bool) -> None:
    """set_autocast_cache_enabled(enabled): keep them, or not."""
    settings.keep = bool(enabled)
    settings.apply()


def clear_autocast_cache() -> None:
    """clear_autocast_cache(): forget them."""
    if state.autocasted:
        state.autocasted.clear()


def autocast_increment_nesting() -> int:
    """autocast_increment_nesting(): one more level, which keeps the parameters; returns how many there are."""
    settings.depth += 1
    return settings.depth


def autocast_decrement_nesting() -> int:
    """autocast_decrement_nesting(): one level less; returns how many there are."""
    settings.depth -= 1
    return settings.depth


def is_autocast_cpu_enabled() -> bool:
    """is_autocast_cpu_enabled(): is_autocast_enabled("cpu"), by its old name."""
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """set_autocast_cpu_enabled(enabled): set_autocast_enabled("cpu", enabled), by its old name."""
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> dtype:
    """get_autocast_cpu_dtype(): get_autocast_dtype("cpu"), by its old name."""
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: dtype) -> None:
    """set_autocast_cpu_dtype(dtype): set_autocast_dtype("cpu", dtype), by its old name."""
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> dtype:
    """get_autocast_gpu_dtype(): get_autocast_dtype("cuda"), by its old name."""
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: dtype) -> None:
    """set_autocast_gpu_dtype(dtype): set_autocast_dtype("cuda", dtype), by its old name."""
    set_autocast_dtype("cuda", dtype)


# -- functions of the user's own --------------------------------------------------------------------------------------


def _converted(value: Any, wanted: dtype) -> Any:
    """What is in an argument, its tensors of single and half precision in another dtype."""
    if isinstance(value, TensorBase):
        kind = from_numpy_dtype(value.array.dtype)
        return value.to(wanted) if kind in (float32, *SUPPORTED) else value  # type: ignore[attr-defined]
    if isinstance(value, str | bytes):
        return value
    if isinstance(value, dict):
        return {_converted(key, wanted): _converted(each, wanted) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_converted(each, wanted) for each in value])
    return value


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: dtype | None = None
) -> Callable[..., Any]:
    """custom_fwd(fwd=None, *, device_type, cast_inputs=None): for the `forward` of an autograd.Function: with
    `cast_inputs` it gets its tensors in that dtype and runs without autocast, whenever autocast is on."""
    known_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args: Any, **kwargs: Any) -> Any:
        ctx = args[0]
        on = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = on and cast_inputs is None
        if cast_inputs is None or not on:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*_converted(args, cast_inputs), **_converted(kwargs, cast_inputs))

    return decorate_fwd


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """custom_bwd(bwd=None, *, device_type): for the `backward` of an autograd.Function: it runs with autocast as its
    `forward` did."""
    known_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorate_bwd
