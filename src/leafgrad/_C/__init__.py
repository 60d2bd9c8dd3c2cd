"""leafgrad._C: the names of PyTorch's compiled part that programs use all the same, where leafgrad has what is behind
them: `__torch_function__`, the switches of a thread, the backward pass that runs in it, saved tensors and nodes
(`_autograd`, `_functions`).

May import `_absent`, `_core`, `_device`, `_library`, `_missing`, `_tensor`, `autograd`, `errors` and `ops`.
"""

from __future__ import annotations

import weakref
from typing import Any

from leafgrad import _absent, _missing
from leafgrad._C._dispatch import (
    _add_cached_tensor,
    _AutoDispatchBelowAutograd,
    _get_autograd_fallback_mode,
    _is_cached_tensor,
    _remove_cached_tensor,
    _set_autograd_fallback_mode,
    _set_cached_tensors_enabled,
)
from leafgrad._C._dispatch_keys import DispatchKey, DispatchKeySet, _ExcludeDispatchKeyGuard
from leafgrad._C._running_pass import (
    _current_autograd_node,
    _current_graph_task_execution_order,
    _current_graph_task_id,
    _will_engine_execute_node,
)
from leafgrad._core.overrides import DisableTorchFunction, DisableTorchFunctionSubclass
from leafgrad._core.overrides import disabled as _disabled_torch_function_impl
from leafgrad._core.thread_state import state
from leafgrad._tensor.tensor import Tensor
from leafgrad.autograd.forward_ad import _is_fwd_grad_enabled
from leafgrad.autograd.grad_mode import (
    is_grad_enabled,
    is_inference_mode_enabled,
    set_grad_enabled,
)
from leafgrad.autograd.grad_mode import is_multithreading_enabled as _is_multithreading_enabled
from leafgrad.autograd.grad_mode import is_view_replay_enabled as _is_view_replay_enabled
from leafgrad.ops.linalg.matrices import _LinAlgError

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "DispatchKey",
    "DispatchKeySet",
    "_AutoDispatchBelowAutograd",
    "_ExcludeDispatchKeyGuard",
    "_LinAlgError",
    "_TensorMeta",
    "_WeakTensorRef",
    "_add_cached_tensor",
    "_current_autograd_node",
    "_current_graph_task_execution_order",
    "_current_graph_task_id",
    "_disabled_torch_function_impl",
    "_get_autograd_fallback_mode",
    "_get_obj_in_tls",
    "_get_tracing_state",
    "_is_cached_tensor",
    "_is_fwd_grad_enabled",
    "_is_grad_layout_enforcement_enabled",
    "_is_key_in_tls",
    "_is_multithreading_enabled",
    "_is_view_replay_enabled",
    "_log_api_usage_once",
    "_remove_cached_tensor",
    "_remove_obj_from_tls",
    "_set_autograd_fallback_mode",
    "_set_cached_tensors_enabled",
    "_set_fwd_grad_enabled",
    "_set_grad_enabled",
    "_set_grad_layout_enforcement_enabled",
    "_set_multithreading_enabled",
    "_set_view_replay_enabled",
    "_stash_obj_in_tls",
    "_will_engine_execute_node",
    "has_lapack",
    "is_grad_enabled",
    "is_inference_mode_enabled",
]
__getattr__ = _missing.attributes_of(__name__, {name: name for name in ("_autograd", "_functions", "_nn")})

_TensorMeta = type(Tensor)
SENTENCE = "leafgrad does not have {name}: torch.load and torch.save read and write its files"
globals().update(_absent.refused(__name__, SENTENCE, "PyTorchFileReader PyTorchFileWriter"))
has_lapack = True  # NumPy's


# -- switches of this thread ------------------------------------------------------------------------------------------


def _set_grad_enabled(enabled: bool) -> None:
    set_grad_enabled(enabled)


def _set_fwd_grad_enabled(enabled: bool) -> None:
    state.forward_mode = enabled


def _set_multithreading_enabled(enabled: bool) -> None:
    state.multithreading = enabled


def _set_view_replay_enabled(enabled: bool) -> None:
    state.replay_views = enabled


def _set_grad_layout_enforcement_enabled(enabled: bool) -> None:
    state.keep_layout = enabled


def _is_grad_layout_enforcement_enabled() -> bool:
    return bool(state.keep_layout)


# -- what programs keep for this thread -------------------------------------------------------------------------------


def _get_tracing_state() -> None:
    """None: programs are not traced."""


def _log_api_usage_once(event: str) -> None:
    """Nothing is logged."""


def _stash_obj_in_tls(key: str, value: Any) -> None:
    state.stash[key] = value


def _get_obj_in_tls(key: str) -> Any:
    return state.stash.get(key)


def _is_key_in_tls(key: str) -> bool:
    return key in state.stash


def _remove_obj_from_tls(key: str) -> None:
    state.stash.pop(key, None)


class _WeakTensorRef:
    """_WeakTensorRef(tensor): does not keep the tensor; `expired()` tells whether it is gone."""

    def __init__(self, tensor: Any) -> None:
        self._reference = weakref.ref(tensor)

    def expired(self) -> bool:
        return self._reference() is None
