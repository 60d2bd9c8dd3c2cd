"""leafgrad._C._autograd: saved tensors and the hooks for them, and the backward pass that is running."""

from __future__ import annotations

from typing import Any

from leafgrad import _missing, errors
from leafgrad._core.modes import pop, push
from leafgrad._core.tensor import TensorBase
from leafgrad._core.thread_state import state
from leafgrad.autograd.function_node import RawSavedTensor
from leafgrad.autograd.function_saved import NO_RESULT, save
from leafgrad.autograd.public_nodes import SavedTensor
from leafgrad.autograd.saved_tensor_hooks import innermost, saved_tensors_hooks

__all__ = [
    "SavedTensor",
    "_get_current_graph_task_keep_graph",
    "_make_saved_tensor",
    "_pop_saved_tensors_default_hooks",
    "_push_saved_tensors_default_hooks",
    "_saved_tensors_hooks_disable",
    "_saved_tensors_hooks_enable",
    "_saved_tensors_hooks_get_disabled_error_message",
    "_saved_tensors_hooks_is_enabled",
    "_unsafe_set_version_counter",
]
__getattr__ = _missing.attributes_of(__name__)


def _make_saved_tensor(tensor: Any, is_output: bool) -> SavedTensor:
    """Save a tensor as a node would, through the hooks that are in force. One that an operation has just made
    (`is_output`) is saved without its history, which would lead back here."""
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"_make_saved_tensor(): incompatible function arguments.\n  got a {type(tensor).__name__}")
    detached: Any = tensor.detach() if is_output and tensor.node is not None else tensor  # type: ignore[attr-defined]
    return RawSavedTensor(save(detached, NO_RESULT))


def _push_saved_tensors_default_hooks(pack_hook: Any, unpack_hook: Any) -> None:
    if state.saved_hooks_refused is not None:
        raise RuntimeError(state.saved_hooks_refused)
    push(saved_tensors_hooks(pack_hook, unpack_hook))


def _pop_saved_tensors_default_hooks() -> None:
    hooks = innermost()
    if hooks is not None:
        pop(hooks)


def _saved_tensors_hooks_is_enabled() -> bool:
    return state.saved_hooks_refused is None


def _saved_tensors_hooks_enable() -> None:
    state.saved_hooks_refused = None


def _saved_tensors_hooks_disable(error_message: str) -> None:
    state.saved_hooks_refused = error_message


def _saved_tensors_hooks_get_disabled_error_message() -> str | None:
    refusal: str | None = state.saved_hooks_refused
    return refusal


def _get_current_graph_task_keep_graph() -> bool:
    """Will the graph be kept by the backward pass that is running? Those that keep it say who they are."""
    return bool(state.passes[-1].keeps_graph) if state.passes else state.depth == 0


def _unsafe_set_version_counter(tensors: Any, versions: Any) -> None:
    for tensor, count in zip(tensors, versions, strict=True):
        if count < 0:
            raise RuntimeError(f"Cannot set a version_counter to a value below 0: {count}\n  at {errors.here()}")
        tensor.version[0] = count
