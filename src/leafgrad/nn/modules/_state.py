"""What a module remembers between programs: `state_dict` and `load_state_dict`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from leafgrad import errors
from leafgrad._core.tensor import TensorBase, is_meta
from leafgrad.autograd.grad_mode import no_grad
from leafgrad.autograd.hooks import RemovableHandle, registered
from leafgrad.nn.modules import _conversion
from leafgrad.nn.parameter import Parameter, is_lazy

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(NamedTuple):
    """What `load_state_dict` returns: the keys that were expected and not there, and those that nobody wanted."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class Stateful:
    """The part of Module that saves and loads. Keys are dotted paths: `layers.0.weight`."""

    _version = 1  # of the layout of this class's state; saved along, for classes that change it
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    def get_extra_state(self) -> Any:
        """get_extra_state(): override it, with set_extra_state, to save more than tensors."""
        raise RuntimeError("get_extra_state() is to be overridden by a module that has extra state")

    def set_extra_state(self, state: Any) -> None:
        """set_extra_state(state): take back what get_extra_state returned."""
        raise RuntimeError("set_extra_state() is to be overridden by a module that has extra state")

    # -- saving -------------------------------------------------------------------------------------------------------

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """state_dict(*, destination=None, prefix='', keep_vars=False): parameters and persistent buffers by name.

        The tensors share memory with the module's own; they are detached from the graph unless `keep_vars`.
        """
        if args:
            errors.warn(
                "Positional args are being deprecated, use kwargs instead. Refer to "
                "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details.",
                FutureWarning,
            )
            destination, prefix, keep_vars = args + (destination, prefix, keep_vars)[len(args) :]
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, metadata)
            if replaced is not None:
                if getattr(hook, "_from_public_api", False):
                    raise RuntimeError("state_dict post-hook must return None")
                destination = replaced
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put what this module itself owns into `destination`."""
        for name, tensor in self._own_state().items():
            if tensor is not None:
                destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if self._has_extra_state("get_extra_state"):
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def _own_state(self) -> dict[str, Any]:
        """Parameters and persistent buffers of this module, without its children's."""
        buffers = {n: b for n, b in self._buffers.items() if n not in self._non_persistent_buffers_set}
        return {**self._parameters, **buffers}

    def _has_extra_state(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(Stateful, method)

    # -- loading ------------------------------------------------------------------------------------------------------

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """load_state_dict(state_dict, strict=True, assign=False): copy the tensors of `state_dict` into this module.

        With `strict` the keys must be exactly the module's own. With `assign` the module takes the tensors themselves.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata: Any = getattr(state_dict, "_metadata", None)
        entries: Any = OrderedDict(state_dict)  # hooks may change it
        if metadata is not None:
            entries._metadata = metadata

        load(self, entries, "", metadata, assign, missing, unexpected, errors)
        if strict and unexpected:
            errors.insert(0, f"Unexpected key(s) in state_dict: {quoted(unexpected)}. ")
        if strict and missing:
            errors.insert(0, f"Missing key(s) in state_dict: {quoted(missing)}. ")
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Take what belongs to this module itself, and note what is missing, not known or does not fit."""
        for hook, with_module in self._load_state_dict_pre_hooks.values():
            module = (self,) if with_module else ()
            hook(*module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = {name: tensor for name, tensor in self._own_state().items() if tensor is not None}
        for name, tensor in own.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
            elif (problem := self._take(name, tensor, key, state_dict[key], assign)) is not None:
                error_msgs.append(problem)
        extra = prefix + _EXTRA_STATE_KEY_SUFFIX
        if self._has_extra_state("set_extra_state"):
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    name, _, rest = key[len(prefix) :].partition(".")
                    if name not in (self._modules if rest else own):
                        unexpected_keys.append(key)

    def _take(self, name: str, tensor: Any, key: str, value: Any, assign: bool) -> str | None:
        """Make `value` the value of this module's `tensor`, or return why that cannot be."""
        if not isinstance(value, TensorBase):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(value)}"
            )
        incoming: Any = value
        waits = is_lazy(tensor)  # for a shape that `incoming` does not have either: others have been given theirs
        if not waits and tensor.ndim == 0 and len(incoming.shape) == 1:  # PyTorch once had no such tensors
            incoming = incoming[0]
        if not waits and incoming.shape != tensor.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {incoming.shape} from checkpoint, the shape in "
                f"current model is {tensor.shape}."
            )
        if is_meta(tensor.array) and not is_meta(incoming.array) and not assign:
            errors.warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta parameter in the current "
                "model, which is a no-op. (Did you mean to pass `assign=True` to assign items in the state dictionary "
                "to their corresponding key in the module instead of copying them in place?)"
            )
        if assign and _conversion.get_swap_module_params_on_conversion():
            _conversion.swapped(tensor, tensor.module_load(incoming, assign=True))
            return None
        if assign:
            if isinstance(tensor, Parameter) and not isinstance(incoming, Parameter):
                incoming = Parameter(incoming, requires_grad=tensor.requires_grad)
            elif isinstance(tensor, Parameter):
                incoming.requires_grad_(tensor.requires_grad)
            setattr(self, name, incoming)
            return None
        try:
            with no_grad():
                if _conversion.get_swap_module_params_on_conversion():
                    _conversion.swapped(tensor, tensor.module_load(incoming))
                else:
                    tensor.copy_(incoming)
        except Exception as error:
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.size()} and '
                f"whose dimensions in the checkpoint are {incoming.size()}, an exception occurred : {error.args}."
            )
        return None

    # -- hooks --------------------------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """register_state_dict_pre_hook(hook): call `hook(module, prefix, keep_vars)` before saving."""
        return registered(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """register_state_dict_post_hook(hook): call `hook(module, state_dict, prefix, local_metadata)` after saving."""
        hook._from_public_api = True  # type: ignore[attr-defined]
        return registered(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The same for a hook that may return another dictionary."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously registered via "
                "register_state_dict_post_hook"
            )
        return registered(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """register_load_state_dict_pre_hook(hook): call `hook(module, state_dict, prefix, local_metadata, strict,
        missing_keys, unexpected_keys, error_msgs)` before loading."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        return registered(self._load_state_dict_pre_hooks, (hook, with_module))

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """register_load_state_dict_post_hook(hook): call `hook(module, incompatible_keys)` after loading."""
        return registered(self._load_state_dict_post_hooks, hook)


def load(
    module: Any,
    entries: Any,
    prefix: str,
    metadata: Any,
    assign: bool,
    missing: list[str],
    unexpected: list[str],
    errors: list[str],
) -> None:
    """Load a module and all below it, whose entries begin with `prefix`."""
    local = {} if metadata is None else dict(metadata.get(prefix[:-1], {}))
    if assign:
        local["assign_to_params_buffers"] = True
    module._load_from_state_dict(entries, prefix, local, True, missing, unexpected, errors)
    for name, child in module._modules.items():
        if child is not None:
            start = f"{prefix}{name}."
            own = {key: value for key, value in entries.items() if key.startswith(start)}
            load(child, own, start, metadata, assign, missing, unexpected, errors)
    keys = _IncompatibleKeys(missing, unexpected)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, "
                "if incompatible_keys need to be modified, it should be done inplace."
            )


def quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)
