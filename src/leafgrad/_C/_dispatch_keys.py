"""Keys of PyTorch's dispatcher, for programs that switch some of them off for a while. leafgrad has no dispatcher: of
what they stand for, autocast and recording can be switched."""

from __future__ import annotations

import enum
from contextlib import ExitStack
from typing import Any

from leafgrad import _missing
from leafgrad.autograd.grad_mode import no_grad

AUTOCAST = {"AutocastCPU": "cpu", "AutocastCUDA": "cuda", "AutocastXPU": "xpu", "AutocastMPS": "mps"}
RECORDING = ("AutogradCPU", "AutogradCUDA", "AutogradXPU", "AutogradMPS", "AutogradMeta", "AutogradOther")
OTHERS = """
    Undefined CPU CUDA XPU MPS Meta QuantizedCPU SparseCPU SparseCsrCPU NestedTensorCPU BackendSelect Python
    Functionalize ADInplaceOrView AutogradFunctionality AutogradNestedTensor Autograd PythonTLSSnapshot
    FuncTorchDynamicLayerFrontMode FuncTorchDynamicLayerBackMode FuncTorchBatched FuncTorchGradWrapper PreDispatch
    PythonDispatcher CompositeImplicitAutograd CompositeExplicitAutograd CompositeExplicitAutogradNonFunctional
"""

DispatchKey = enum.Enum("DispatchKey", [*OTHERS.split(), *AUTOCAST, *RECORDING])  # type: ignore[misc]


class DispatchKeySet:
    """DispatchKeySet(key): some keys, to be joined by `|`."""

    def __init__(self, *keys: Any) -> None:
        self._keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self._keys | other._keys))

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self._keys & other._keys))

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*(self._keys - other._keys))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(sorted([key.name for key in self._keys]))})"

    def has(self, key: Any) -> bool:
        """has(key): is it one of them?"""
        return key in self._keys


class _ExcludeDispatchKeyGuard:
    """with _ExcludeDispatchKeyGuard(keys): what they stand for is switched off. Keys of other devices and of what is
    never on here change nothing; the rest is refused."""

    def __init__(self, keys: DispatchKeySet) -> None:
        self._names = {key.name for key in keys._keys}
        refused = self._names - AUTOCAST.keys() - set(RECORDING) - {"Undefined"}
        if refused:
            raise NotImplementedError(f"leafgrad has no dispatcher: it cannot exclude {', '.join(sorted(refused))}")

    def __enter__(self) -> None:
        self._stack = ExitStack()
        for name, device in AUTOCAST.items():
            if name in self._names:
                self._stack.enter_context(_missing.part("amp").autocast(device, enabled=False))
        if "AutogradCPU" in self._names:
            self._stack.enter_context(no_grad())

    def __exit__(self, *error: Any) -> None:
        self._stack.close()
