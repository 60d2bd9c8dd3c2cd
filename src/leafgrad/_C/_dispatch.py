"""Switches for operators that programs define (torch.library), and tensors that somebody says are kept in a cache."""

from __future__ import annotations

import weakref
from typing import Any

from leafgrad._library.operators import fallback, settings
from leafgrad.autograd.grad_mode import no_grad


class _AutoDispatchBelowAutograd:
    """with _AutoDispatchBelowAutograd(): operators of libraries go straight to their kernels, and nothing is
    recorded."""

    def __enter__(self) -> None:
        self._before = settings.below_autograd
        self._quiet = no_grad()
        settings.below_autograd = True
        self._quiet.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._quiet.__exit__(*error)
        settings.below_autograd = self._before


def _get_autograd_fallback_mode() -> str:
    """What becomes of operators for which nothing was registered for autograd."""
    return fallback["mode"]


def _set_autograd_fallback_mode(mode: str) -> None:
    if mode not in ("nothing", "warn", "error"):
        raise RuntimeError(f"Unsupported AutogradFallbackMode: {mode}")
    fallback["mode"] = mode


class _Cache:
    """Which tensors are said to be kept in a cache, while anybody asks."""

    on = False
    tensors: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def _set_cached_tensors_enabled(enabled: bool) -> None:
    _Cache.on = enabled


def _add_cached_tensor(tensor: Any) -> None:
    _Cache.tensors[id(tensor)] = tensor


def _remove_cached_tensor(tensor: Any) -> None:
    _Cache.tensors.pop(id(tensor), None)


def _is_cached_tensor(tensor: Any) -> bool:
    return _Cache.on and id(tensor) in _Cache.tensors
